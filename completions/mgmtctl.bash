# bash completion for mgmtctl; made by `make docs` from the command tree, not to be edited

_mgmtctl_at() { # path: what can follow it
    case "$1" in
    '')
        words='init recover demo config completion help login run-as logout whoami sessions users roles policies rules security actions can-i who-can agents groups files sync options log'
        flags='--help -h --version -V'
        takes=''
        arguments='' ;;
    'init')
        words=''
        flags='--password-file --password-stdin --generate-password -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--password-file:/| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='!' ;;
    'recover')
        words=''
        flags='--password-file --password-stdin --generate-password -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--password-file:/| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='!' ;;
    'demo')
        words=''
        flags='--keep --select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--keep:/| --select:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='!' ;;
    'config')
        words='list get set path'
        flags='--help -h'
        takes=''
        arguments='' ;;
    'config list')
        words=''
        flags='--origin --where --search --sort --limit --select --envelope -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--where:-| --search:-| --sort:=name value| --limit:-| --select:=name value| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='!' ;;
    'config get')
        words=''
        flags='--select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--select:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='settings|!' ;;
    'config set')
        words=''
        flags='-n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='settings|-|!' ;;
    'config path')
        words=''
        flags='--select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--select:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='!' ;;
    'completion')
        words='bash zsh fish install'
        flags='--help -h'
        takes=''
        arguments='' ;;
    'completion bash')
        words=''
        flags='--select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--select:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='!' ;;
    'completion zsh')
        words=''
        flags='--select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--select:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='!' ;;
    'completion fish')
        words=''
        flags='--select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--select:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='!' ;;
    'completion install')
        words=''
        flags='-n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='=bash zsh fish|!' ;;
    'help')
        words=''
        flags='--select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--select:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='topics|-|!' ;;
    'login')
        words=''
        flags='-u --user --password-file --password-stdin --print-token --select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='-u:users| --user:users| --password-file:/| --select:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='!' ;;
    'run-as')
        words=''
        flags='--context-file -u --user --password-file --password-stdin --wrap --explain --print-token --doctor --select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--context-file:/| -u:users| --user:users| --password-file:/| --wrap:-| --doctor:users| --select:=link ok why fix| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='-' ;;
    'logout')
        words=''
        flags='--all -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='!' ;;
    'whoami')
        words=''
        flags='--permissions --check --select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--select:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='!' ;;
    'sessions')
        words='list revoke'
        flags='--help -h'
        takes=''
        arguments='' ;;
    'sessions list')
        words=''
        flags='--where --search --sort --limit --select --envelope -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--where:-| --search:-| --sort:=id user context_id context_name roles issued expires current| --limit:-| --select:=id user context_id context_name roles issued expires current| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='!' ;;
    'sessions revoke')
        words=''
        flags='--user --context-id --session --all -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--user:users| --context-id:-| --session:-| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='!' ;;
    'users')
        words='list show permissions create set edit delete add-role remove-role set-password allow-run-as'
        flags='--help -h'
        takes=''
        arguments='' ;;
    'users list')
        words=''
        flags='--where --search --sort --limit --select --envelope -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--where:-| --search:-| --sort:=id username allow_run_as roles| --limit:-| --select:=id username allow_run_as roles| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='!' ;;
    'users show')
        words=''
        flags='--select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--select:=id username allow_run_as roles| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='users' ;;
    'users permissions')
        words=''
        flags='--where --search --sort --limit --select --envelope -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--where:-| --search:-| --sort:=action resources except by| --limit:-| --select:=action resources except by| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='users|!' ;;
    'users create')
        words=''
        flags='--role --allow-run-as --password-file --password-stdin --generate -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--role:roles| --password-file:/| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='-|!' ;;
    'users set')
        words=''
        flags='--name -f --file --accept-risk -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--name:-| -f:/| --file:/| --accept-risk:-| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='users|!' ;;
    'users edit')
        words=''
        flags='--accept-risk -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--accept-risk:-| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='users|!' ;;
    'users delete')
        words=''
        flags='--accept-risk -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--accept-risk:-| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='users' ;;
    'users add-role')
        words=''
        flags='--accept-risk -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--accept-risk:-| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='users|roles' ;;
    'users remove-role')
        words=''
        flags='--accept-risk -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--accept-risk:-| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='users|roles' ;;
    'users set-password')
        words=''
        flags='--password-file --password-stdin --generate -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--password-file:/| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='users|!' ;;
    'users allow-run-as')
        words=''
        flags='--off -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='users|!' ;;
    'roles')
        words='list show create set edit delete add-policy remove-policy add-rule remove-rule'
        flags='--help -h'
        takes=''
        arguments='' ;;
    'roles list')
        words=''
        flags='--where --search --sort --limit --select --envelope -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--where:-| --search:-| --sort:=id name users rules policies| --limit:-| --select:=id name users rules policies| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='!' ;;
    'roles show')
        words=''
        flags='--effective --select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--select:=id name users rules policies| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='roles' ;;
    'roles create')
        words=''
        flags='-n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='-|!' ;;
    'roles set')
        words=''
        flags='--name -f --file --accept-risk -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--name:-| -f:/| --file:/| --accept-risk:-| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='roles|!' ;;
    'roles edit')
        words=''
        flags='--accept-risk -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--accept-risk:-| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='roles|!' ;;
    'roles delete')
        words=''
        flags='--accept-risk -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--accept-risk:-| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='roles' ;;
    'roles add-policy')
        words=''
        flags='--accept-risk -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--accept-risk:-| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='roles|policies' ;;
    'roles remove-policy')
        words=''
        flags='--accept-risk -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--accept-risk:-| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='roles|policies' ;;
    'roles add-rule')
        words=''
        flags='-n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='roles|rules' ;;
    'roles remove-rule')
        words=''
        flags='-n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='roles|rules' ;;
    'policies')
        words='list show create set add-entry remove-entry edit delete lint matrix impact test'
        flags='--help -h'
        takes=''
        arguments='' ;;
    'policies list')
        words=''
        flags='--where --search --sort --limit --select --envelope -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--where:-| --search:-| --sort:=id name roles| --limit:-| --select:=id name roles| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='!' ;;
    'policies show')
        words=''
        flags='--select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--select:=id name roles| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='policies' ;;
    'policies create')
        words=''
        flags='-f --file --allow --deny --on -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='-f:/| --file:/| --allow:-| --deny:-| --on:-| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='-|!' ;;
    'policies set')
        words=''
        flags='--name -f --file --accept-risk -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--name:-| -f:/| --file:/| --accept-risk:-| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='policies|!' ;;
    'policies add-entry')
        words=''
        flags='--allow --deny --on --block --accept-risk -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--allow:-| --deny:-| --on:-| --block:-| --accept-risk:-| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='policies|!' ;;
    'policies remove-entry')
        words=''
        flags='--allow --deny --on --accept-risk -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--allow:-| --deny:-| --on:-| --accept-risk:-| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='policies|!' ;;
    'policies edit')
        words=''
        flags='--accept-risk -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--accept-risk:-| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='policies|!' ;;
    'policies delete')
        words=''
        flags='--accept-risk -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--accept-risk:-| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='policies' ;;
    'policies lint')
        words=''
        flags='--exit-zero --explain -o --output --select --no-headers --color -q --quiet --debug -h --help'
        takes='--explain:-| -o:=table wide json ndjson yaml csv tsv id value sarif| --output:=table wide json ndjson yaml csv tsv id value sarif| --select:-| --color:=auto always never|'
        arguments='policies+' ;;
    'policies matrix')
        words=''
        flags='--role --user --by --group --every --select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--role:roles| --user:users| --by:=resource group| --group:groups| --select:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='!' ;;
    'policies impact')
        words=''
        flags='-f --file --role --select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='-f:/| --file:/| --role:roles| --select:=who name change actions resources except count| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='policies|!' ;;
    'policies test')
        words=''
        flags='--junit --coverage --select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--junit:/| --select:=path line passed case mode expected got| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='/' ;;
    'rules')
        words='list show create set edit delete lint explain suggest test'
        flags='--help -h'
        takes=''
        arguments='' ;;
    'rules list')
        words=''
        flags='--where --search --sort --limit --select --envelope -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--where:-| --search:-| --sort:=id name roles| --limit:-| --select:=id name roles| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='!' ;;
    'rules show')
        words=''
        flags='--select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--select:=id name roles| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='rules' ;;
    'rules create')
        words=''
        flags='-f --file -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='-f:/| --file:/| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='-|!' ;;
    'rules set')
        words=''
        flags='--name -f --file -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--name:-| -f:/| --file:/| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='rules|!' ;;
    'rules edit')
        words=''
        flags='-n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='rules|!' ;;
    'rules delete')
        words=''
        flags='-n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='rules' ;;
    'rules lint')
        words=''
        flags='--exit-zero --explain -o --output --select --no-headers --color -q --quiet --debug -h --help'
        takes='--explain:-| -o:=table wide json ndjson yaml csv tsv id value sarif| --output:=table wide json ndjson yaml csv tsv id value sarif| --select:-| --color:=auto always never|'
        arguments='rules+' ;;
    'rules explain')
        words=''
        flags='--context-file --wrap --as --select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--context-file:/| --wrap:-| --as:users| --select:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='rules+|!' ;;
    'rules suggest')
        words=''
        flags='--from --not-like --wrap --select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--from:/| --not-like:/| --wrap:-| --select:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='!' ;;
    'rules test')
        words=''
        flags='--junit --coverage --select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--junit:/| --select:=path line passed case expected got| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='/' ;;
    'security')
        words='show set rotate-key login-limit'
        flags='--help -h'
        takes=''
        arguments='' ;;
    'security login-limit')
        words='show lift'
        flags='--help -h'
        takes=''
        arguments='' ;;
    'security show')
        words=''
        flags='--select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--select:=name value default meaning| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='store-settings' ;;
    'security set')
        words=''
        flags='--accept-risk -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--accept-risk:-| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='store-settings|-|!' ;;
    'security rotate-key')
        words=''
        flags='-n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='!' ;;
    'security login-limit show')
        words=''
        flags='--where --search --sort --limit --select --envelope -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--where:-| --search:-| --sort:=who user address failures limit blocked until| --limit:-| --select:=who user address failures limit blocked until| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='!' ;;
    'security login-limit lift')
        words=''
        flags='-u --user --address --all -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='-u:users| --user:users| --address:-| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='!' ;;
    'actions')
        words='list show resources'
        flags='--help -h'
        takes=''
        arguments='' ;;
    'actions list')
        words=''
        flags='--endpoint --where --search --sort --limit --select --envelope -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--endpoint:-| --where:-| --search:-| --sort:=name resources deprecated description| --limit:-| --select:=name resources deprecated description| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='!' ;;
    'actions show')
        words=''
        flags='--select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--select:=name resources deprecated description| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='actions|!' ;;
    'actions resources')
        words=''
        flags='--select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--select:=name value description| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='-|!' ;;
    'can-i')
        words=''
        flags='--as --role --context-file --wrap --explain --select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--as:users| --role:roles| --context-file:/| --wrap:-| --select:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='actions|resources|!' ;;
    'who-can')
        words=''
        flags='--where --search --sort --limit --select --envelope -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--where:-| --search:-| --sort:=user via role policy block on| --limit:-| --select:=user via role policy block on| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='actions|resources|!' ;;
    'agents')
        words='list show create import set delete summary key add-group remove-group config files keepalive restart'
        flags='--help -h'
        takes=''
        arguments='' ;;
    'agents list')
        words=''
        flags='--where --search --sort --limit --select --envelope -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--where:-| --search:-| --sort:=id name group group_config_status| --limit:-| --select:=id name group group_config_status| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='!' ;;
    'agents show')
        words=''
        flags='--select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--select:=id name group group_config_status| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='agents' ;;
    'agents create')
        words=''
        flags='--id --ip --group --folder -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--id:-| --ip:-| --group:groups| --folder:/| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='-|!' ;;
    'agents import')
        words=''
        flags='-n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='/|!' ;;
    'agents set')
        words=''
        flags='--name --ip --groups --folder -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--name:-| --ip:-| --groups:-| --folder:/| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='agents|!' ;;
    'agents delete')
        words=''
        flags='--purge -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='agents' ;;
    'agents summary')
        words=''
        flags='--select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--select:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='!' ;;
    'agents key')
        words=''
        flags='--select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--select:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='agents|!' ;;
    'agents add-group')
        words=''
        flags='--position -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--position:-| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='agents|groups|!' ;;
    'agents remove-group')
        words=''
        flags='-n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='agents|groups|!' ;;
    'agents config')
        words=''
        flags='--effective --origin --get --diff --select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--get:options| --diff:agents| --select:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='agents|!' ;;
    'agents files')
        words=''
        flags='--where --search --sort --limit --select --envelope -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--where:-| --search:-| --sort:=name size group sent why_not| --limit:-| --select:=name size group sent why_not| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='agents|!' ;;
    'agents keepalive')
        words=''
        flags='--collect --group --all --push -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--group:groups| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='agents' ;;
    'agents restart')
        words=''
        flags='--group --all -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--group:groups| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='agents' ;;
    'groups')
        words='list show create delete agents add-agents remove-agents'
        flags='--help -h'
        takes=''
        arguments='' ;;
    'groups list')
        words=''
        flags='--hash --where --search --sort --limit --select --envelope -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--hash:-| --where:-| --search:-| --sort:=name count| --limit:-| --select:=name count| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='!' ;;
    'groups show')
        words=''
        flags='--hash --select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--hash:-| --select:=name count| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='groups' ;;
    'groups create')
        words=''
        flags='-n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='-|!' ;;
    'groups delete')
        words=''
        flags='--force -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='groups' ;;
    'groups agents')
        words=''
        flags='--where --search --sort --limit --select --envelope -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--where:-| --search:-| --sort:=id name group group_config_status| --limit:-| --select:=id name group group_config_status| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='groups|!' ;;
    'groups add-agents')
        words=''
        flags='--position -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--position:-| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='groups|agents' ;;
    'groups remove-agents')
        words=''
        flags='-n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='groups|agents' ;;
    'files')
        words='list show put rm validate history diff rollback edit'
        flags='--help -h'
        takes=''
        arguments='' ;;
    'files list')
        words=''
        flags='--where --search --sort --limit --select --envelope -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--where:-| --search:-| --sort:=name size sent why_not| --limit:-| --select:=name size sent why_not| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='groups|!' ;;
    'files show')
        words=''
        flags='--revision --select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--revision:revisions| --select:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='files|!' ;;
    'files put')
        words=''
        flags='--accept-risk --if-match -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--accept-risk:-| --if-match:-| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='files|/|!' ;;
    'files rm')
        words=''
        flags='--if-match -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--if-match:-| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='files|!' ;;
    'files validate')
        words=''
        flags='--group --as --strict --explain -o --output --select --no-headers --color -q --quiet --debug -h --help'
        takes='--group:groups| --as:-| --explain:-| -o:=table wide json ndjson yaml csv tsv id value sarif| --output:=table wide json ndjson yaml csv tsv id value sarif| --select:-| --color:=auto always never|'
        arguments='files+' ;;
    'files history')
        words=''
        flags='--where --search --sort --limit --select --envelope -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--where:-| --search:-| --sort:=revision time author how agents changes reason| --limit:-| --select:=revision time author how agents changes reason| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='files|!' ;;
    'files diff')
        words=''
        flags='--revision --to --select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--revision:revisions| --to:revisions| --select:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='files|!' ;;
    'files rollback')
        words=''
        flags='--to --if-match --accept-risk -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--to:revisions| --if-match:-| --accept-risk:-| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='files|!' ;;
    'files edit')
        words=''
        flags='--if-match --accept-risk -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--if-match:-| --accept-risk:-| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='files|!' ;;
    'sync')
        words='run status explain plan promote wait'
        flags='--help -h'
        takes=''
        arguments='' ;;
    'sync run')
        words=''
        flags='--group --all --canary --abort-if --verify --max-affected --if-locked --lock-timeout -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--group:groups| --canary:-| --abort-if:-| --max-affected:-| --if-locked:=fail skip| --lock-timeout:-| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='agents' ;;
    'sync status')
        words=''
        flags='--group --totals --exit-code --where --search --sort --limit --select --envelope -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--group:groups| --where:-| --search:-| --sort:=id name stage why| --limit:-| --select:=id name stage why| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='agents' ;;
    'sync explain')
        words=''
        flags='--select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--select:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='agents|!' ;;
    'sync plan')
        words=''
        flags='--group --all --verify --select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--group:groups| --select:=id name group summary| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='agents' ;;
    'sync promote')
        words=''
        flags='--cancel --verify --max-affected --if-locked --lock-timeout -n --dry-run -y --yes --reason -o --output --color -q --quiet --debug -h --help'
        takes='--max-affected:-| --if-locked:=fail skip| --lock-timeout:-| --reason:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='-|!' ;;
    'sync wait')
        words=''
        flags='--group --all --timeout --interval --select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--group:groups| --timeout:-| --interval:-| --select:=id name stage why| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='agents' ;;
    'options')
        words='list show'
        flags='--help -h'
        takes=''
        arguments='' ;;
    'options list')
        words=''
        flags='--all --where --search --sort --limit --select --envelope -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--where:-| --search:-| --sort:=path values default since systems| --limit:-| --select:=path values default since systems| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='options|!' ;;
    'options show')
        words=''
        flags='--select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--select:=path values default since systems| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='options|!' ;;
    'log')
        words='list show tail'
        flags='--help -h'
        takes=''
        arguments='' ;;
    'log list')
        words=''
        flags='--context --where --search --sort --limit --select --envelope -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--context:-| --where:-| --search:-| --sort:=timestamp user status_code uri dry_run| --limit:-| --select:=timestamp user status_code uri dry_run| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='!' ;;
    'log show')
        words=''
        flags='--context --context-file --wrap --lines --select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--context:-| --context-file:/| --wrap:-| --lines:-| --select:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='!' ;;
    'log tail')
        words=''
        flags='-f --follow --lines --select -o --output --no-headers --color -q --quiet --debug -h --help'
        takes='--lines:-| --select:-| -o:=table wide json ndjson yaml csv tsv id value| --output:=table wide json ndjson yaml csv tsv id value| --color:=auto always never|'
        arguments='!' ;;
    *) return 1 ;;
    esac
}

_mgmtctl_reply() { # KIND, typed value
    case "$1" in
    -) ;;
    /) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
    '='*) mapfile -t COMPREPLY < <(compgen -W "${1:1}" -- "$2") ;;
    *+) if [[ $2 == [./]* ]]; then _mgmtctl_reply / "$2"; else _mgmtctl_reply "${1%+}" "$2"; fi; return ;;
    *) mapfile -t COMPREPLY < <("${typed[0]}" --complete "$1" "$2" bare "$first" 2>/dev/null) ;;
    esac
    [[ ${#COMPREPLY[@]} -gt 0 && ${COMPREPLY[0]} == *[/:] && $1 != / ]] && compopt -o nospace 2>/dev/null
    # What TAB inserts, ENTER runs: the name of a file may hold anything that a shell obeys.
    if [[ $1 == files ]]; then
        local place
        for place in "${!COMPREPLY[@]}"; do printf -v "COMPREPLY[place]" %q "${COMPREPLY[place]}"; done
    fi
    # Readline takes `:` for the end of a word and replaces only what follows it.
    if [[ $2 == *:* && $COMP_WORDBREAKS == *:* ]]; then
        local head="${2%"${2##*:}"}" index
        for index in "${!COMPREPLY[@]}"; do COMPREPLY[index]="${COMPREPLY[index]#"$head"}"; done
    fi
}

_mgmtctl() {
    local path='' words='' flags='' takes='' arguments='' word rest value='' expecting='' position=0 index=1
    local last first=''
    local -a typed kinds
    COMPREPLY=()
    read -ra typed <<<"${COMP_LINE:0:COMP_POINT}"
    [[ ${COMP_LINE:0:COMP_POINT} == *[[:space:]] ]] && typed+=('')
    last=$((${#typed[@]} - 1))
    _mgmtctl_at ''
    for ((; index < last; index++)); do
        word="${typed[index]}"
        if [[ -n $expecting ]]; then
            expecting=''
        elif [[ $word == -- ]]; then
            [[ $path == run-as ]] || return
            path='' position=0
            _mgmtctl_at ''
        elif [[ $word == -* ]]; then
            [[ $word != *=* && " $takes" == *" $word:"* ]] && expecting=1
        elif [[ -n $words ]]; then
            path="${path:+$path }$word"
            _mgmtctl_at "$path" || return
        else
            ((position++)) || first="$word"
        fi
    done
    word="${typed[last]}"
    if [[ -n $expecting ]]; then
        rest=" $takes" rest="${rest#*" ${typed[last - 1]}:"}"
        value="${rest%%|*}"
        _mgmtctl_reply "$value" "$word"
    elif [[ $word == --*=* ]]; then
        rest=" $takes"
        [[ $rest == *" ${word%%=*}:"* ]] || return
        rest="${rest#*" ${word%%=*}:"}"
        _mgmtctl_reply "${rest%%|*}" "${word#*=}"
    elif [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$flags" -- "$word")
    elif [[ -n $words ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    else
        IFS='|' read -ra kinds <<<"$arguments"
        ((${#kinds[@]} > 0)) || return
        ((position < ${#kinds[@]})) || position=$((${#kinds[@]} - 1))
        [[ ${kinds[position]} == '!' ]] && return
        _mgmtctl_reply "${kinds[position]}" "$word"
    fi
}
complete -F _mgmtctl mgmtctl
