# fish completion for mgmtctl; made by `make docs` from the command tree, not to be edited

function __mgmtctl_at --no-scope-shadowing # path: what can follow it
    switch "$argv[1]"
    case ''
        set commands 'init'\t'Make a data folder with one administrator.' 'recover'\t'Give the administrator a new password.' 'demo'\t'Tell the main job as a story, in a temporary folder.' 'config'\t'Settings of places and forms.' 'completion'\t'Completion scripts for bash, zsh and fish.' 'help'\t'Help on a topic.' 'login'\t'Log in with a user\'s own roles.' 'run-as'\t'Log in on behalf of somebody, by an authorization context.' 'logout'\t'End this session, or every session of the user.' 'whoami'\t'Show who is logged in, with which roles and rights.' 'sessions'\t'Sessions that live, and ending them.' 'users'\t'Users, their roles and passwords.' 'roles'\t'Roles, and the policies and rules they are linked to.' 'policies'\t'Policies: which actions on which resources.' 'rules'\t'Rules that map authorization contexts to roles.' 'security'\t'Settings that decide what is allowed, the key, and login limits.' 'actions'\t'The actions there are, and what they apply to.' 'can-i'\t'Ask whether an action is allowed, and why.' 'who-can'\t'Ask who may do an action, and by what.' 'agents'\t'Agents and the groups they are in.' 'groups'\t'Groups of agents.' 'files'\t'The shared files of a group, agent.conf among them.' 'sync'\t'Bring shared files into the agents\' folders.' 'options'\t'What is known of the sections and options of agent.conf.' 'log'\t'The request log.'
        set flags '--help'\t'Show the help.' '-h'\t'Show the help.' '--version'\t'Show the version.' '-V'\t'Show the version.'
        set takes 
        set arguments 
    case 'init'
        set commands 
        set flags '--password-file'\t'Read the password from a file of yours with mode 0600.' '--password-stdin'\t'Read the password from stdin.' '--generate-password'\t'Make up a password and print it, this once.' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--password-file:/' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '!'
    case 'recover'
        set commands 
        set flags '--password-file'\t'Read the password from a file of yours with mode 0600.' '--password-stdin'\t'Read the password from stdin.' '--generate-password'\t'Make up a password and print it, this once.' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--password-file:/' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '!'
    case 'demo'
        set commands 
        set flags '--keep'\t'Leave the folder here; it must not exist.' '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--keep:/' '--select:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '!'
    case 'config'
        set commands 'list'\t'List the settings that hold.' 'get'\t'Print the value of one setting.' 'set'\t'Set one setting in your config.toml; every other line of it is kept.' 'path'\t'Print where your config.toml is, whether it exists or not.'
        set flags '--help'\t'Show the help.' '-h'\t'Show the help.'
        set takes 
        set arguments 
    case 'config list'
        set commands 
        set flags '--origin'\t'Say where each value comes from.' '--where'\t'Only what matches, as `status=active;os.name~ubuntu`.' '--search'\t'Only what contains this; `-TEXT`: what does not.' '--sort'\t'Order by these fields; `-` before one: descending.' '--limit'\t'At most so many; 0: all.' '--select'\t'Only these fields, separated by commas.' '--envelope'\t'The service\'s envelope around a list (JSON).' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--where:-' '--search:-' '--sort:=name value' '--limit:-' '--select:=name value' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '!'
    case 'config get'
        set commands 
        set flags '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--select:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'settings' '!'
    case 'config set'
        set commands 
        set flags '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'settings' '-' '!'
    case 'config path'
        set commands 
        set flags '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--select:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '!'
    case 'completion'
        set commands 'bash'\t'Print the script for bash.' 'zsh'\t'Print the script for zsh.' 'fish'\t'Print the script for fish.' 'install'\t'Put the script where the shell looks for it, in your home folder.'
        set flags '--help'\t'Show the help.' '-h'\t'Show the help.'
        set takes 
        set arguments 
    case 'completion bash'
        set commands 
        set flags '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--select:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '!'
    case 'completion zsh'
        set commands 
        set flags '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--select:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '!'
    case 'completion fish'
        set commands 
        set flags '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--select:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '!'
    case 'completion install'
        set commands 
        set flags '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '=bash zsh fish' '!'
    case 'help'
        set commands 
        set flags '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--select:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'topics' '-' '!'
    case 'login'
        set commands 
        set flags '-u'\t'Name of the user.' '--user'\t'Name of the user.' '--password-file'\t'Read the password from a file of yours with mode 0600.' '--password-stdin'\t'Read the password from stdin.' '--print-token'\t'Print the token (for MGMTCTL_TOKEN) and store no session.' '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '-u:users' '--user:users' '--password-file:/' '--select:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '!'
    case 'run-as'
        set commands 
        set flags '--context-file'\t'The authorization context, a JSON object; `-` is stdin.' '-u'\t'Name of the user.' '--user'\t'Name of the user.' '--password-file'\t'Read the password from a file of yours with mode 0600.' '--password-stdin'\t'Read the password from stdin.' '--wrap'\t'The file is a raw account document: put it under `auth` of a context of this name.' '--explain'\t'Show rule by rule what was true, where, and which roles would come of it; no session is made.' '--print-token'\t'Print the token (for MGMTCTL_TOKEN) and store no session.' '--doctor'\t'Log nobody in: say where the chain from this user to rights is broken, and what mends it.' '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--context-file:/' '-u:users' '--user:users' '--password-file:/' '--wrap:-' '--doctor:users' '--select:=link ok why fix' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '-'
    case 'logout'
        set commands 
        set flags '--all'\t'End every session of the user.' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '!'
    case 'whoami'
        set commands 
        set flags '--permissions'\t'Show every right of the session.' '--check'\t'Say nothing on stdout; exit 1 without a session.' '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--select:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '!'
    case 'sessions'
        set commands 'list'\t'List the sessions that live: your own, and those of the users you may read.' 'revoke'\t'End sessions: those of the named users, of the named contexts and the named ones, or all.'
        set flags '--help'\t'Show the help.' '-h'\t'Show the help.'
        set takes 
        set arguments 
    case 'sessions list'
        set commands 
        set flags '--where'\t'Only what matches, as `status=active;os.name~ubuntu`.' '--search'\t'Only what contains this; `-TEXT`: what does not.' '--sort'\t'Order by these fields; `-` before one: descending.' '--limit'\t'At most so many; 0: all.' '--select'\t'Only these fields, separated by commas.' '--envelope'\t'The service\'s envelope around a list (JSON).' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--where:-' '--search:-' '--sort:=id user context_id context_name roles issued expires current' '--limit:-' '--select:=id user context_id context_name roles issued expires current' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '!'
    case 'sessions revoke'
        set commands 
        set flags '--user'\t'Every session of this user; repeatable.' '--context-id'\t'Every session that came by this context; repeatable.' '--session'\t'This session; repeatable.' '--all'\t'Every session of everybody; asks first.' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--user:users' '--context-id:-' '--session:-' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '!'
    case 'users'
        set commands 'list'\t'List the users you may read.' 'show'\t'Show users with their roles (as ids in JSON); never a password.' 'permissions'\t'List every action that a user may do after a login of his own: on what, except what, by which role and policy.' 'create'\t'Create a user.' 'set'\t'Rename a user, or give it exactly the roles and the run-as right of a file.' 'edit'\t'Edit name, run-as right and roles of a user as JSON in $VISUAL or $EDITOR.' 'delete'\t'Delete users and end their sessions.' 'add-role'\t'Give roles to a user; one it has already is no error.' 'remove-role'\t'Take roles from a user; one it has not is no error.' 'set-password'\t'Change the password of a user and end its sessions.' 'allow-run-as'\t'Allow a user to log in with authorization contexts, on behalf of others.'
        set flags '--help'\t'Show the help.' '-h'\t'Show the help.'
        set takes 
        set arguments 
    case 'users list'
        set commands 
        set flags '--where'\t'Only what matches, as `status=active;os.name~ubuntu`.' '--search'\t'Only what contains this; `-TEXT`: what does not.' '--sort'\t'Order by these fields; `-` before one: descending.' '--limit'\t'At most so many; 0: all.' '--select'\t'Only these fields, separated by commas.' '--envelope'\t'The service\'s envelope around a list (JSON).' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--where:-' '--search:-' '--sort:=id username allow_run_as roles' '--limit:-' '--select:=id username allow_run_as roles' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '!'
    case 'users show'
        set commands 
        set flags '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--select:=id username allow_run_as roles' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'users'
    case 'users permissions'
        set commands 
        set flags '--where'\t'Only what matches, as `status=active;os.name~ubuntu`.' '--search'\t'Only what contains this; `-TEXT`: what does not.' '--sort'\t'Order by these fields; `-` before one: descending.' '--limit'\t'At most so many; 0: all.' '--select'\t'Only these fields, separated by commas.' '--envelope'\t'The service\'s envelope around a list (JSON).' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--where:-' '--search:-' '--sort:=action resources except by' '--limit:-' '--select:=action resources except by' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'users' '!'
    case 'users create'
        set commands 
        set flags '--role'\t'Give it this role; may be repeated.' '--allow-run-as'\t'Allow it to use authorization contexts.' '--password-file'\t'Read the password from a file of yours with mode 0600.' '--password-stdin'\t'Read the password from stdin.' '--generate'\t'Make up a password and show it once, on stdout.' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--role:roles' '--password-file:/' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '-' '!'
    case 'users set'
        set commands 
        set flags '--name'\t'The new name.' '-f'\t'JSON with `allow_run_as` and `roles` to have; `-` is stdin.' '--file'\t'JSON with `allow_run_as` and `roles` to have; `-` is stdin.' '--accept-risk'\t'Do it although it has this risk: lockout (nobody could administer any more).' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--name:-' '-f:/' '--file:/' '--accept-risk:-' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'users' '!'
    case 'users edit'
        set commands 
        set flags '--accept-risk'\t'Do it although it has this risk: lockout (nobody could administer any more).' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--accept-risk:-' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'users' '!'
    case 'users delete'
        set commands 
        set flags '--accept-risk'\t'Do it although it has this risk: lockout (nobody could administer any more).' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--accept-risk:-' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'users'
    case 'users add-role'
        set commands 
        set flags '--accept-risk'\t'Do it although it has this risk: lockout (nobody could administer any more).' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--accept-risk:-' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'users' 'roles'
    case 'users remove-role'
        set commands 
        set flags '--accept-risk'\t'Do it although it has this risk: lockout (nobody could administer any more).' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--accept-risk:-' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'users' 'roles'
    case 'users set-password'
        set commands 
        set flags '--password-file'\t'Read the password from a file of yours with mode 0600.' '--password-stdin'\t'Read the password from stdin.' '--generate'\t'Make up a password and show it once, on stdout.' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--password-file:/' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'users' '!'
    case 'users allow-run-as'
        set commands 
        set flags '--off'\t'Forbid it instead.' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'users' '!'
    case 'roles'
        set commands 'list'\t'List the roles you may read.' 'show'\t'Show roles with their policies, users and rules (as ids in JSON).' 'create'\t'Create a role; link policies to it afterwards.' 'set'\t'Rename a role, or give it exactly the policies and rules of a file.' 'edit'\t'Edit name, policies and rules of a role as JSON in $VISUAL or $EDITOR.' 'delete'\t'Delete roles; users and rules that have them lose them.' 'add-policy'\t'Give policies to a role; one it has already is no error.' 'remove-policy'\t'Take policies from a role; one it has not is no error.' 'add-rule'\t'Let rules lead to a role: a context login for which one is true gets the role.' 'remove-rule'\t'Let rules lead to a role no more.'
        set flags '--help'\t'Show the help.' '-h'\t'Show the help.'
        set takes 
        set arguments 
    case 'roles list'
        set commands 
        set flags '--where'\t'Only what matches, as `status=active;os.name~ubuntu`.' '--search'\t'Only what contains this; `-TEXT`: what does not.' '--sort'\t'Order by these fields; `-` before one: descending.' '--limit'\t'At most so many; 0: all.' '--select'\t'Only these fields, separated by commas.' '--envelope'\t'The service\'s envelope around a list (JSON).' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--where:-' '--search:-' '--sort:=id name users rules policies' '--limit:-' '--select:=id name users rules policies' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '!'
    case 'roles show'
        set commands 
        set flags '--effective'\t'Show what they allow, and who gets it.' '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--select:=id name users rules policies' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'roles'
    case 'roles create'
        set commands 
        set flags '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '-' '!'
    case 'roles set'
        set commands 
        set flags '--name'\t'The new name.' '-f'\t'JSON with `policies` and `rules` to have; `-` is stdin.' '--file'\t'JSON with `policies` and `rules` to have; `-` is stdin.' '--accept-risk'\t'Do it although it has this risk: lockout (nobody could administer any more).' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--name:-' '-f:/' '--file:/' '--accept-risk:-' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'roles' '!'
    case 'roles edit'
        set commands 
        set flags '--accept-risk'\t'Do it although it has this risk: lockout (nobody could administer any more).' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--accept-risk:-' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'roles' '!'
    case 'roles delete'
        set commands 
        set flags '--accept-risk'\t'Do it although it has this risk: lockout (nobody could administer any more).' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--accept-risk:-' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'roles'
    case 'roles add-policy'
        set commands 
        set flags '--accept-risk'\t'Do it although it has this risk: lockout (nobody could administer any more).' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--accept-risk:-' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'roles' 'policies'
    case 'roles remove-policy'
        set commands 
        set flags '--accept-risk'\t'Do it although it has this risk: lockout (nobody could administer any more).' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--accept-risk:-' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'roles' 'policies'
    case 'roles add-rule'
        set commands 
        set flags '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'roles' 'rules'
    case 'roles remove-rule'
        set commands 
        set flags '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'roles' 'rules'
    case 'policies'
        set commands 'list'\t'List the policies you may read.' 'show'\t'Show policies with all their blocks, and the roles that have them (as ids in JSON).' 'create'\t'Create a policy from a file, or with one block from the command line.' 'set'\t'Rename a policy, or replace all its blocks by those of a file.' 'add-entry'\t'Let a policy allow or deny each of some actions on each of some resources, beside what it says.' 'remove-entry'\t'Let a policy no longer allow, or no longer deny, these actions on exactly these resources.' 'edit'\t'Edit name and blocks of a policy as JSON in $VISUAL or $EDITOR; it is checked before it is saved.' 'delete'\t'Delete policies; roles that have them lose them.' 'lint'\t'Find what is legal in policies and says something else than it seems, and what would be refused.' 'matrix'\t'Show what a role or a user may do: a row for each action, a column for each resource that its policies name and, before those of a kind, one for the whole kind (`agent:id:*`: on all agents).' 'impact'\t'Show who would gain and who would lose what if a policy had this document.' 'test'\t'Run tables of cases of who may do what, and show those that fail, with the reasons of the decision.'
        set flags '--help'\t'Show the help.' '-h'\t'Show the help.'
        set takes 
        set arguments 
    case 'policies list'
        set commands 
        set flags '--where'\t'Only what matches, as `status=active;os.name~ubuntu`.' '--search'\t'Only what contains this; `-TEXT`: what does not.' '--sort'\t'Order by these fields; `-` before one: descending.' '--limit'\t'At most so many; 0: all.' '--select'\t'Only these fields, separated by commas.' '--envelope'\t'The service\'s envelope around a list (JSON).' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--where:-' '--search:-' '--sort:=id name roles' '--limit:-' '--select:=id name roles' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '!'
    case 'policies show'
        set commands 
        set flags '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--select:=id name roles' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'policies'
    case 'policies create'
        set commands 
        set flags '-f'\t'The policy as JSON or YAML; `-` is stdin.' '--file'\t'The policy as JSON or YAML; `-` is stdin.' '--allow'\t'Allow these actions.' '--deny'\t'Deny these actions.' '--on'\t'The resources of the actions.' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '-f:/' '--file:/' '--allow:-' '--deny:-' '--on:-' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '-' '!'
    case 'policies set'
        set commands 
        set flags '--name'\t'The new name.' '-f'\t'The policy as JSON or YAML; `-` is stdin.' '--file'\t'The policy as JSON or YAML; `-` is stdin.' '--accept-risk'\t'Do it although it has this risk: lockout (nobody could administer any more).' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--name:-' '-f:/' '--file:/' '--accept-risk:-' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'policies' '!'
    case 'policies add-entry'
        set commands 
        set flags '--allow'\t'Allow these actions.' '--deny'\t'Deny these actions.' '--on'\t'The resources of the actions.' '--block'\t'Into this block, instead of one of its own.' '--accept-risk'\t'Do it although it has this risk: lockout (nobody could administer any more).' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--allow:-' '--deny:-' '--on:-' '--block:-' '--accept-risk:-' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'policies' '!'
    case 'policies remove-entry'
        set commands 
        set flags '--allow'\t'Allow these actions.' '--deny'\t'Deny these actions.' '--on'\t'The resources of the actions.' '--accept-risk'\t'Do it although it has this risk: lockout (nobody could administer any more).' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--allow:-' '--deny:-' '--on:-' '--accept-risk:-' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'policies' '!'
    case 'policies edit'
        set commands 
        set flags '--accept-risk'\t'Do it although it has this risk: lockout (nobody could administer any more).' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--accept-risk:-' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'policies' '!'
    case 'policies delete'
        set commands 
        set flags '--accept-risk'\t'Do it although it has this risk: lockout (nobody could administer any more).' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--accept-risk:-' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'policies'
    case 'policies lint'
        set commands 
        set flags '--exit-zero'\t'End with 0 whatever is found.' '--explain'\t'Say what a lint rule means, and lint nothing; `all`: each of them.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value, sarif.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value, sarif.' '--select'\t'Only these fields, separated by commas.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--explain:-' '-o:=table wide json ndjson yaml csv tsv id value sarif' '--output:=table wide json ndjson yaml csv tsv id value sarif' '--select:-' '--color:=auto always never'
        set arguments 'policies+'
    case 'policies matrix'
        set commands 
        set flags '--role'\t'What this role allows by itself.' '--user'\t'What this user\'s roles allow.' '--by'\t'Columns: `resource` (as policies name them) or `group`.' '--group'\t'By group, and of this one; may be repeated.' '--every'\t'Show actions that are allowed nowhere too.' '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--role:roles' '--user:users' '--by:=resource group' '--group:groups' '--select:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '!'
    case 'policies impact'
        set commands 
        set flags '-f'\t'The document, JSON or YAML; `-`: stdin.' '--file'\t'The document, JSON or YAML; `-`: stdin.' '--role'\t'As if the policy were linked to this role.' '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '-f:/' '--file:/' '--role:roles' '--select:=who name change actions resources except count' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'policies' '!'
    case 'policies test'
        set commands 
        set flags '--junit'\t'Write the results to this file as JUnit XML too.' '--coverage'\t'Say which policies, blocks and entries no case exercised.' '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--junit:/' '--select:=path line passed case mode expected got' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '/'
    case 'rules'
        set commands 'list'\t'List the rules you may read.' 'show'\t'Show rules with their expressions, and the roles they lead to (as ids in JSON).' 'create'\t'Create a rule from a file; then `mgmtctl roles add-rule ROLE RULE` lets it lead to a role.' 'set'\t'Rename a rule, or replace all its expressions by those of a file.' 'edit'\t'Edit name and expressions of a rule as JSON in $VISUAL or $EDITOR; it is checked before it is saved.' 'delete'\t'Delete rules; they lead to no role any more.' 'lint'\t'Find what is legal in rules and true of more people, or of fewer, than it seems.' 'explain'\t'Show what a rule makes of an authorization context: true or false, node by node.' 'suggest'\t'Draft the smallest expression that is true of some contexts and false of others, for `rules create`.' 'test'\t'Run tables of cases of which rules a context makes true, and show those that fail, with the tree of the rule.'
        set flags '--help'\t'Show the help.' '-h'\t'Show the help.'
        set takes 
        set arguments 
    case 'rules list'
        set commands 
        set flags '--where'\t'Only what matches, as `status=active;os.name~ubuntu`.' '--search'\t'Only what contains this; `-TEXT`: what does not.' '--sort'\t'Order by these fields; `-` before one: descending.' '--limit'\t'At most so many; 0: all.' '--select'\t'Only these fields, separated by commas.' '--envelope'\t'The service\'s envelope around a list (JSON).' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--where:-' '--search:-' '--sort:=id name roles' '--limit:-' '--select:=id name roles' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '!'
    case 'rules show'
        set commands 
        set flags '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--select:=id name roles' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'rules'
    case 'rules create'
        set commands 
        set flags '-f'\t'JSON or YAML: an expression, a list of them, or a record with `rule` or `rules`; `-` is stdin.' '--file'\t'JSON or YAML: an expression, a list of them, or a record with `rule` or `rules`; `-` is stdin.' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '-f:/' '--file:/' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '-' '!'
    case 'rules set'
        set commands 
        set flags '--name'\t'The new name.' '-f'\t'JSON or YAML: an expression, a list of them, or a record with `rule` or `rules`; `-` is stdin.' '--file'\t'JSON or YAML: an expression, a list of them, or a record with `rule` or `rules`; `-` is stdin.' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--name:-' '-f:/' '--file:/' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'rules' '!'
    case 'rules edit'
        set commands 
        set flags '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'rules' '!'
    case 'rules delete'
        set commands 
        set flags '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'rules'
    case 'rules lint'
        set commands 
        set flags '--exit-zero'\t'End with 0 whatever is found.' '--explain'\t'Say what a lint rule means, and lint nothing; `all`: each of them.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value, sarif.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value, sarif.' '--select'\t'Only these fields, separated by commas.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--explain:-' '-o:=table wide json ndjson yaml csv tsv id value sarif' '--output:=table wide json ndjson yaml csv tsv id value sarif' '--select:-' '--color:=auto always never'
        set arguments 'rules+'
    case 'rules explain'
        set commands 
        set flags '--context-file'\t'The authorization context, a JSON object; `-` is stdin.' '--wrap'\t'The file is a raw account document: put it under `auth` of a context of this name.' '--as'\t'Say whether a login of this user gets the roles.' '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--context-file:/' '--wrap:-' '--as:users' '--select:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'rules+' '!'
    case 'rules suggest'
        set commands 
        set flags '--from'\t'A context that the rule shall be true of; may be repeated.' '--not-like'\t'A context that it shall be false of; may be repeated.' '--wrap'\t'The files are raw account documents: put each under `auth` of a context of this name.' '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--from:/' '--not-like:/' '--wrap:-' '--select:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '!'
    case 'rules test'
        set commands 
        set flags '--junit'\t'Write the results to this file as JUnit XML too.' '--coverage'\t'Say which parts of rules were never true, or never false.' '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--junit:/' '--select:=path line passed case expected got' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '/'
    case 'security'
        set commands 'show'\t'Show the settings that live in the store: value, default and meaning.' 'set'\t'Change one setting of the store.' 'rotate-key'\t'Make a new key to sign tokens with; every session ends.' 'login-limit'\t'Failed logins that count, and who is blocked by them.'
        set flags '--help'\t'Show the help.' '-h'\t'Show the help.'
        set takes 
        set arguments 
    case 'security login-limit'
        set commands 'show'\t'List failed logins that count now, and who is blocked by them until when.' 'lift'\t'Forget failed logins, so that whoever is blocked can log in again.'
        set flags '--help'\t'Show the help.' '-h'\t'Show the help.'
        set takes 
        set arguments 
    case 'security show'
        set commands 
        set flags '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--select:=name value default meaning' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'store-settings'
    case 'security set'
        set commands 
        set flags '--accept-risk'\t'Do it although it has this risk: lockout (nobody could administer any more).' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--accept-risk:-' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'store-settings' '-' '!'
    case 'security rotate-key'
        set commands 
        set flags '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '!'
    case 'security login-limit show'
        set commands 
        set flags '--where'\t'Only what matches, as `status=active;os.name~ubuntu`.' '--search'\t'Only what contains this; `-TEXT`: what does not.' '--sort'\t'Order by these fields; `-` before one: descending.' '--limit'\t'At most so many; 0: all.' '--select'\t'Only these fields, separated by commas.' '--envelope'\t'The service\'s envelope around a list (JSON).' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--where:-' '--search:-' '--sort:=who user address failures limit blocked until' '--limit:-' '--select:=who user address failures limit blocked until' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '!'
    case 'security login-limit lift'
        set commands 
        set flags '-u'\t'Name of the user.' '--user'\t'Name of the user.' '--address'\t'An address, as `show` names it.' '--all'\t'Those of everybody.' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '-u:users' '--user:users' '--address:-' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '!'
    case 'actions'
        set commands 'list'\t'List the actions that policies may name.' 'show'\t'Show an action: what it is asked on, and the endpoints that ask for it.' 'resources'\t'List the kinds of resources that policies may name, and what a value of each is.'
        set flags '--help'\t'Show the help.' '-h'\t'Show the help.'
        set takes 
        set arguments 
    case 'actions list'
        set commands 
        set flags '--endpoint'\t'Only those that this endpoint asks for.' '--where'\t'Only what matches, as `status=active;os.name~ubuntu`.' '--search'\t'Only what contains this; `-TEXT`: what does not.' '--sort'\t'Order by these fields; `-` before one: descending.' '--limit'\t'At most so many; 0: all.' '--select'\t'Only these fields, separated by commas.' '--envelope'\t'The service\'s envelope around a list (JSON).' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--endpoint:-' '--where:-' '--search:-' '--sort:=name resources deprecated description' '--limit:-' '--select:=name resources deprecated description' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '!'
    case 'actions show'
        set commands 
        set flags '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--select:=name resources deprecated description' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'actions' '!'
    case 'actions resources'
        set commands 
        set flags '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--select:=name value description' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '-' '!'
    case 'can-i'
        set commands 
        set flags '--as'\t'Ask about this user.' '--role'\t'Ask about this role; may be repeated.' '--context-file'\t'The authorization context, a JSON object; `-` is stdin.' '--wrap'\t'The file is a raw account document: put it under `auth` of a context of this name.' '--explain'\t'Say why: who spoke, near misses, what would allow it.' '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--as:users' '--role:roles' '--context-file:/' '--wrap:-' '--select:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'actions' 'resources' '!'
    case 'who-can'
        set commands 
        set flags '--where'\t'Only what matches, as `status=active;os.name~ubuntu`.' '--search'\t'Only what contains this; `-TEXT`: what does not.' '--sort'\t'Order by these fields; `-` before one: descending.' '--limit'\t'At most so many; 0: all.' '--select'\t'Only these fields, separated by commas.' '--envelope'\t'The service\'s envelope around a list (JSON).' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--where:-' '--search:-' '--sort:=user via role policy block on' '--limit:-' '--select:=user via role policy block on' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'actions' 'resources' '!'
    case 'agents'
        set commands 'list'\t'List the agents you may read.' 'show'\t'Show agents by name or id.' 'create'\t'Register an agent and show its id and key.' 'import'\t'Register the agents of a file, all or none.' 'set'\t'Change an agent\'s name, address, folder or groups.' 'delete'\t'Delete agents; their folders stay.' 'summary'\t'Count the agents you may read, by connection and by configuration.' 'key'\t'Show the key of an agent.' 'add-group'\t'Put an agent into a group, after the groups it has: the last group wins.' 'remove-group'\t'Take an agent out of a group; without another it belongs to `default`.' 'config'\t'Show the configuration that an agent really gets.' 'files'\t'List the shared files that an agent is sent, from which group, and what is left out and why.' 'keepalive'\t'Record what agents report: that they are there, their system, and which files they use.' 'restart'\t'Restart agents: they use from then on what was written into their folders.'
        set flags '--help'\t'Show the help.' '-h'\t'Show the help.'
        set takes 
        set arguments 
    case 'agents list'
        set commands 
        set flags '--where'\t'Only what matches, as `status=active;os.name~ubuntu`.' '--search'\t'Only what contains this; `-TEXT`: what does not.' '--sort'\t'Order by these fields; `-` before one: descending.' '--limit'\t'At most so many; 0: all.' '--select'\t'Only these fields, separated by commas.' '--envelope'\t'The service\'s envelope around a list (JSON).' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--where:-' '--search:-' '--sort:=id name group group_config_status' '--limit:-' '--select:=id name group group_config_status' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '!'
    case 'agents show'
        set commands 
        set flags '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--select:=id name group group_config_status' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'agents'
    case 'agents create'
        set commands 
        set flags '--id'\t'Its id; without it the next free one.' '--ip'\t'Address or network it registers from, or `any`.' '--group'\t'A group; more than one in order.' '--folder'\t'Its folder, below one of the folder roots; without it one named by its id.' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--id:-' '--ip:-' '--group:groups' '--folder:/' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '-' '!'
    case 'agents import'
        set commands 
        set flags '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '/' '!'
    case 'agents set'
        set commands 
        set flags '--name'\t'Another name.' '--ip'\t'Address or network it registers from, or `any`.' '--groups'\t'Exactly these groups, separated by commas; the last one wins.' '--folder'\t'Its folder, below one of the folder roots; without it one named by its id.' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--name:-' '--ip:-' '--groups:-' '--folder:/' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'agents' '!'
    case 'agents delete'
        set commands 
        set flags '--purge'\t'Also remove what was put into their folders.' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'agents'
    case 'agents summary'
        set commands 
        set flags '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--select:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '!'
    case 'agents key'
        set commands 
        set flags '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--select:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'agents' '!'
    case 'agents add-group'
        set commands 
        set flags '--position'\t'Its place among the agent\'s groups, from 1; without it the last.' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--position:-' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'agents' 'groups' '!'
    case 'agents remove-group'
        set commands 
        set flags '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'agents' 'groups' '!'
    case 'agents config'
        set commands 
        set flags '--effective'\t'The values that count in the end.' '--origin'\t'Where each value stands, what it overrode, and what does not count.' '--get'\t'One option or section, as `syscheck.frequency`.' '--diff'\t'Only what differs from this agent.' '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--get:options' '--diff:agents' '--select:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'agents' '!'
    case 'agents files'
        set commands 
        set flags '--where'\t'Only what matches, as `status=active;os.name~ubuntu`.' '--search'\t'Only what contains this; `-TEXT`: what does not.' '--sort'\t'Order by these fields; `-` before one: descending.' '--limit'\t'At most so many; 0: all.' '--select'\t'Only these fields, separated by commas.' '--envelope'\t'The service\'s envelope around a list (JSON).' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--where:-' '--search:-' '--sort:=name size group sent why_not' '--limit:-' '--select:=name size group sent why_not' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'agents' '!'
    case 'agents keepalive'
        set commands 
        set flags '--collect'\t'Take the reports that agents left in their folders.' '--group'\t'Every agent of this group.' '--all'\t'Every agent.' '--push'\t'Also write to agents that report something else than their groups give.' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--group:groups' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'agents'
    case 'agents restart'
        set commands 
        set flags '--group'\t'Every agent of this group.' '--all'\t'Every agent.' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--group:groups' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'agents'
    case 'groups'
        set commands 'list'\t'List the groups you may read, with the number of agents you may read in each.' 'show'\t'Show groups: their members counted, and the checksums of merged.mg and agent.conf.' 'create'\t'Create a group, with an agent.conf that holds one empty block.' 'delete'\t'Delete groups with their files; members without another group fall back to `default`.' 'agents'\t'List the members of a group that you may read.' 'add-agents'\t'Put agents into a group, after the groups they have: the last group wins.' 'remove-agents'\t'Take agents out of a group; those without another belong to `default`.'
        set flags '--help'\t'Show the help.' '-h'\t'Show the help.'
        set takes 
        set arguments 
    case 'groups list'
        set commands 
        set flags '--hash'\t'Algorithm of the checksums: sha256, md5, ...' '--where'\t'Only what matches, as `status=active;os.name~ubuntu`.' '--search'\t'Only what contains this; `-TEXT`: what does not.' '--sort'\t'Order by these fields; `-` before one: descending.' '--limit'\t'At most so many; 0: all.' '--select'\t'Only these fields, separated by commas.' '--envelope'\t'The service\'s envelope around a list (JSON).' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--hash:-' '--where:-' '--search:-' '--sort:=name count' '--limit:-' '--select:=name count' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '!'
    case 'groups show'
        set commands 
        set flags '--hash'\t'Algorithm of the checksums: sha256, md5, ...' '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--hash:-' '--select:=name count' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'groups'
    case 'groups create'
        set commands 
        set flags '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '-' '!'
    case 'groups delete'
        set commands 
        set flags '--force'\t'Also when policies name the group.' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'groups'
    case 'groups agents'
        set commands 
        set flags '--where'\t'Only what matches, as `status=active;os.name~ubuntu`.' '--search'\t'Only what contains this; `-TEXT`: what does not.' '--sort'\t'Order by these fields; `-` before one: descending.' '--limit'\t'At most so many; 0: all.' '--select'\t'Only these fields, separated by commas.' '--envelope'\t'The service\'s envelope around a list (JSON).' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--where:-' '--search:-' '--sort:=id name group group_config_status' '--limit:-' '--select:=id name group group_config_status' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'groups' '!'
    case 'groups add-agents'
        set commands 
        set flags '--position'\t'Its place among each agent\'s groups, from 1; without it the last.' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--position:-' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'groups' 'agents'
    case 'groups remove-agents'
        set commands 
        set flags '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'groups' 'agents'
    case 'files'
        set commands 'list'\t'List the files of a group, and whether agents get each.' 'show'\t'Print a file of a group, byte for byte, as it is or as it was at a revision.' 'put'\t'Put a file into a group, checked and then stored byte for byte.' 'rm'\t'Remove a file from a group; agents lose it at the next sync.' 'validate'\t'Check the files of a group as they are on disk, or files anywhere.' 'history'\t'List the revisions of a group\'s files, the last first; or those that changed one file.' 'diff'\t'Show what the last revision changed, or another one, or what differs between two.' 'rollback'\t'Bring the files of a group, or one of them, back to a revision.' 'edit'\t'Edit a file of a group in $VISUAL or $EDITOR; a missing agent.conf is created.'
        set flags '--help'\t'Show the help.' '-h'\t'Show the help.'
        set takes 
        set arguments 
    case 'files list'
        set commands 
        set flags '--where'\t'Only what matches, as `status=active;os.name~ubuntu`.' '--search'\t'Only what contains this; `-TEXT`: what does not.' '--sort'\t'Order by these fields; `-` before one: descending.' '--limit'\t'At most so many; 0: all.' '--select'\t'Only these fields, separated by commas.' '--envelope'\t'The service\'s envelope around a list (JSON).' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--where:-' '--search:-' '--sort:=name size sent why_not' '--limit:-' '--select:=name size sent why_not' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'groups' '!'
    case 'files show'
        set commands 
        set flags '--revision'\t'As it was at this revision (7 or r7).' '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--revision:revisions' '--select:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'files' '!'
    case 'files put'
        set commands 
        set flags '--accept-risk'\t'Put it although it has this risk: no-validate (its errors are accepted; needs --reason).' '--if-match'\t'Only if the file still has this SHA-256, or is as in this revision, or is not there.' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--accept-risk:-' '--if-match:-' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'files' '/' '!'
    case 'files rm'
        set commands 
        set flags '--if-match'\t'Only if the file still has this SHA-256, or is as in this revision, or is not there.' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--if-match:-' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'files' '!'
    case 'files validate'
        set commands 
        set flags '--group'\t'Check the files for the agents of this group.' '--as'\t'What a PATH is: agent.conf or merged.mg.' '--strict'\t'End with 1 for warnings too.' '--explain'\t'Say what a lint rule means, and check nothing; `all`: each of them.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value, sarif.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value, sarif.' '--select'\t'Only these fields, separated by commas.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--group:groups' '--as:-' '--explain:-' '-o:=table wide json ndjson yaml csv tsv id value sarif' '--output:=table wide json ndjson yaml csv tsv id value sarif' '--select:-' '--color:=auto always never'
        set arguments 'files+'
    case 'files history'
        set commands 
        set flags '--where'\t'Only what matches, as `status=active;os.name~ubuntu`.' '--search'\t'Only what contains this; `-TEXT`: what does not.' '--sort'\t'Order by these fields; `-` before one: descending.' '--limit'\t'At most so many; 0: all.' '--select'\t'Only these fields, separated by commas.' '--envelope'\t'The service\'s envelope around a list (JSON).' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--where:-' '--search:-' '--sort:=revision time author how agents changes reason' '--limit:-' '--select:=revision time author how agents changes reason' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'files' '!'
    case 'files diff'
        set commands 
        set flags '--revision'\t'What this revision changed; with --to: from it.' '--to'\t'Compare with this revision.' '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--revision:revisions' '--to:revisions' '--select:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'files' '!'
    case 'files rollback'
        set commands 
        set flags '--to'\t'The revision to go back to; without it, undo the last change.' '--if-match'\t'Only if the file still has this SHA-256, or is as in this revision, or is not there.' '--accept-risk'\t'Put it although it has this risk: no-validate (its errors are accepted; needs --reason).' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--to:revisions' '--if-match:-' '--accept-risk:-' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'files' '!'
    case 'files edit'
        set commands 
        set flags '--if-match'\t'Only if the file still has this SHA-256, or is as in this revision, or is not there.' '--accept-risk'\t'Put it although it has this risk: no-validate (its errors are accepted; needs --reason).' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--if-match:-' '--accept-risk:-' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'files' '!'
    case 'sync'
        set commands 'run'\t'Write into the agents\' folders what their groups give.' 'status'\t'Say where each agent stands, and why.' 'explain'\t'Say where one agent stands, why, what it has and shall have, and what to do next.' 'plan'\t'Show what `sync run` would change, agent by agent and in all; `-o json` file by file.' 'promote'\t'Give what the canaries have to the agents that were held back, and end the rollout.' 'wait'\t'Wait until agents use what their groups give.'
        set flags '--help'\t'Show the help.' '-h'\t'Show the help.'
        set takes 
        set arguments 
    case 'sync run'
        set commands 
        set flags '--group'\t'Every agent of this group.' '--all'\t'Every agent.' '--canary'\t'Write to so many of the agents only, and hold the others back until `sync promote`.' '--abort-if'\t'With --canary: what must not be true of the canaries, as `disconnected>1 or failed>=10%`.' '--verify'\t'Read every byte in the agents\' folders, instead of trusting what looks untouched.' '--max-affected'\t'Ask before writing to more agents than this.' '--if-locked'\t'When another sync runs: fail or skip.' '--lock-timeout'\t'Wait so long for another sync.' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--group:groups' '--canary:-' '--abort-if:-' '--max-affected:-' '--if-locked:=fail skip' '--lock-timeout:-' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'agents'
    case 'sync status'
        set commands 
        set flags '--group'\t'Every agent of this group.' '--totals'\t'How many agents of each group are in each stage.' '--exit-code'\t'End with 1 unless every agent is synced or ignored.' '--where'\t'Only what matches, as `status=active;os.name~ubuntu`.' '--search'\t'Only what contains this; `-TEXT`: what does not.' '--sort'\t'Order by these fields; `-` before one: descending.' '--limit'\t'At most so many; 0: all.' '--select'\t'Only these fields, separated by commas.' '--envelope'\t'The service\'s envelope around a list (JSON).' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--group:groups' '--where:-' '--search:-' '--sort:=id name stage why' '--limit:-' '--select:=id name stage why' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'agents'
    case 'sync explain'
        set commands 
        set flags '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--select:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'agents' '!'
    case 'sync plan'
        set commands 
        set flags '--group'\t'Every agent of this group.' '--all'\t'Every agent.' '--verify'\t'Read every byte in the agents\' folders, instead of trusting what looks untouched.' '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--group:groups' '--select:=id name group summary' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'agents'
    case 'sync promote'
        set commands 
        set flags '--cancel'\t'End the rollout without writing to anybody.' '--verify'\t'Read every byte in the agents\' folders, instead of trusting what looks untouched.' '--max-affected'\t'Ask before writing to more agents than this.' '--if-locked'\t'When another sync runs: fail or skip.' '--lock-timeout'\t'Wait so long for another sync.' '-n'\t'Say what would be done, change nothing.' '--dry-run'\t'Say what would be done, change nothing.' '-y'\t'Do not ask.' '--yes'\t'Do not ask.' '--reason'\t'Why, for the log.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--max-affected:-' '--if-locked:=fail skip' '--lock-timeout:-' '--reason:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '-' '!'
    case 'sync wait'
        set commands 
        set flags '--group'\t'Every agent of this group.' '--all'\t'Every agent.' '--timeout'\t'Wait no longer: 30s, 5m, 1h.' '--interval'\t'Between two looks.' '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--group:groups' '--timeout:-' '--interval:-' '--select:=id name stage why' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'agents'
    case 'options'
        set commands 'list'\t'List the sections of agent.conf, or what is in one: options, their attributes, values and defaults.' 'show'\t'Show what is known of a section, a module, an option or an attribute of agent.conf.'
        set flags '--help'\t'Show the help.' '-h'\t'Show the help.'
        set takes 
        set arguments 
    case 'options list'
        set commands 
        set flags '--all'\t'Every option and attribute, not only the sections.' '--where'\t'Only what matches, as `status=active;os.name~ubuntu`.' '--search'\t'Only what contains this; `-TEXT`: what does not.' '--sort'\t'Order by these fields; `-` before one: descending.' '--limit'\t'At most so many; 0: all.' '--select'\t'Only these fields, separated by commas.' '--envelope'\t'The service\'s envelope around a list (JSON).' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--where:-' '--search:-' '--sort:=path values default since systems' '--limit:-' '--select:=path values default since systems' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'options' '!'
    case 'options show'
        set commands 
        set flags '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--select:=path values default since systems' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments 'options' '!'
    case 'log'
        set commands 'list'\t'List the logged requests, the newest first; with --context those made with this authorization context.' 'show'\t'Show what the id of an authorization context in the log stands for.' 'tail'\t'Show the last requests as lines, the newest last; with -o ndjson as objects.'
        set flags '--help'\t'Show the help.' '-h'\t'Show the help.'
        set takes 
        set arguments 
    case 'log list'
        set commands 
        set flags '--context'\t'The id of an authorization context, or its first 8 digits or more.' '--where'\t'Only what matches, as `status=active;os.name~ubuntu`.' '--search'\t'Only what contains this; `-TEXT`: what does not.' '--sort'\t'Order by these fields; `-` before one: descending.' '--limit'\t'At most so many; 0: all.' '--select'\t'Only these fields, separated by commas.' '--envelope'\t'The service\'s envelope around a list (JSON).' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--context:-' '--where:-' '--search:-' '--sort:=timestamp user status_code uri dry_run' '--limit:-' '--select:=timestamp user status_code uri dry_run' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '!'
    case 'log show'
        set commands 
        set flags '--context'\t'The id of an authorization context, or its first 8 digits or more.' '--context-file'\t'The authorization context, a JSON object; `-` is stdin.' '--wrap'\t'The file is a raw account document: put it under `auth` of a context of this name.' '--lines'\t'How many of the last requests.' '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--context:-' '--context-file:/' '--wrap:-' '--lines:-' '--select:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '!'
    case 'log tail'
        set commands 
        set flags '-f'\t'Go on with what is written from now on.' '--follow'\t'Go on with what is written from now on.' '--lines'\t'How many to begin with.' '--select'\t'Only these fields, separated by commas.' '-o'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--output'\t'table, wide, json, ndjson, yaml, csv, tsv, id, value.' '--no-headers'\t'Rows without a line of names.' '--color'\t'auto, always, never.' '-q'\t'Say nothing beside data, warnings and errors.' '--quiet'\t'Say nothing beside data, warnings and errors.' '--debug'\t'Show the traceback of a bug.' '-h'\t'Show the help.' '--help'\t'Show the help.'
        set takes '--lines:-' '--select:-' '-o:=table wide json ndjson yaml csv tsv id value' '--output:=table wide json ndjson yaml csv tsv id value' '--color:=auto always never'
        set arguments '!'
    case '*'
        return 1
    end
    return 0
end

function __mgmtctl_values # KIND, typed value, first argument
    switch $argv[1]
        case -
        case /
            __fish_complete_path $argv[2]
        case '=*'
            string split ' ' (string sub -s 2 -- $argv[1])
        case '*+'
            if string match -q -r '^[./]' -- $argv[2]
                __fish_complete_path $argv[2]
            else
                __mgmtctl_values (string sub -e -1 -- $argv[1]) "$argv[2]" "$argv[3]"
            end
        case '*'
            set -l program (commandline -opc)[1]
            $program --complete $argv[1] "$argv[2]" '' "$argv[3]" 2>/dev/null
    end
end

function __mgmtctl
    set -l typed (commandline -opc)
    set -l current (commandline -ct)
    set -l path ''
    set -l expecting ''
    set -l position 1
    set -l first
    set -l commands
    set -l flags
    set -l takes
    set -l arguments
    __mgmtctl_at ''
    for word in $typed[2..-1]
        if test -n "$expecting"
            set expecting ''
        else if test "$word" = --
            test "$path" = run-as; or return
            set path ''
            set position 1
            __mgmtctl_at ''
        else if string match -q -- '-*' $word
            if not string match -q -- '*=*' $word
                set expecting (string replace -f -- "$word:" '' (string match -- "$word:*" $takes))
            end
        else if test (count $commands) -gt 0
            set path (string trim "$path $word")
            __mgmtctl_at $path; or return
        else
            test $position = 1; and set first $word
            set position (math $position + 1)
        end
    end
    if test -n "$expecting"
        __mgmtctl_values $expecting "$current" "$first"
    else if string match -q -- '--*=*' $current
        set -l name (string split -m 1 = -- $current)
        set -l kind (string replace -f -- "$name[1]:" '' (string match -- "$name[1]:*" $takes))
        test -n "$kind"; and string replace -r -- '^' "$name[1]=" (__mgmtctl_values $kind "$name[2]" "$first")
    else if string match -q -- '-*' $current
        printf '%s\n' $flags
    else if test (count $commands) -gt 0
        printf '%s\n' $commands
    else if test (count $arguments) -gt 0
        test $position -le (count $arguments); or set position (count $arguments)
        test "$arguments[$position]" = '!'; or __mgmtctl_values $arguments[$position] "$current" "$first"
    end
end

complete -c mgmtctl -e
complete -c mgmtctl -f -k -a '(__mgmtctl)'
