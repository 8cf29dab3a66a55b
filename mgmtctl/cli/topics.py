"""The texts of `mgmtctl help TOPIC`, as data; man pages and the reference show the same."""

from __future__ import annotations

from typing import NamedTuple

WIDEST = 80


class Topic(NamedTuple):
    """One topic: a line, and paragraphs; a paragraph whose lines begin with two blanks is shown as it is."""

    summary: str
    paragraphs: tuple[str, ...]

    def text(self) -> str:
        """The whole topic."""
        return "\n\n".join((self.summary, *self.paragraphs))


def _exit_codes() -> str:
    from mgmtctl.cli.exit_codes import MEANINGS
    from mgmtctl.cli.text import folded

    return "\n".join(folded(f"  {code:>3}  {meaning}", WIDEST, 7) for code, meaning in MEANINGS.items())


def topic(name: str) -> Topic:
    """A topic by name, with the tables that are kept elsewhere filled in; KeyError when there is none."""
    found = TOPICS[name]
    if name == "exit-codes":
        return Topic(found.summary, (*found.paragraphs, _exit_codes()))
    return found


TOPICS: dict[str, Topic] = {
    "exit-codes": Topic(
        "What the exit codes mean.",
        (
            "Scripts may rely on these. An empty list and a change that is there already are success.",
            "The help of a command lists those that tell something about it. Beside these, every command may end with "
            "70, 74 (a full disk, or stdout that cannot be written), 75 (another process is at work on the store), 78 "
            "(settings, a session file or a password file that cannot be trusted), 130 or 143.",
        ),
    ),
    "environment": Topic(
        "The environment variables that are read.",
        (
            "Nothing is read from the working directory. A flag wins over a variable, a variable over a file.",
            "  MGMTCTL_HOME            one folder for everything: store, key, shared\n"
            "                          files, agents, log, config.toml\n"
            "  MGMTCTL_DATA_DIR        the data folder\n"
            "  MGMTCTL_SHARED_DIR      the folder of the groups' shared files\n"
            "  MGMTCTL_LOG_DIR         the folder of the request log\n"
            "  MGMTCTL_LOGS_FORMAT     forms of the request log: plain, json or both\n"
            "  MGMTCTL_STATE           the folder of the session files\n"
            "  MGMTCTL_TOKEN           the token to act with; wins over everything else\n"
            "  MGMTCTL_USER            with MGMTCTL_PASSWORD_FILE: log in for this command\n"
            "  MGMTCTL_PASSWORD_FILE   a file of yours with mode 0600: the password\n"
            "  NO_COLOR, FORCE_COLOR   no colours; colours also where nobody looks\n"
            "  TERM=dumb               no colours\n"
            "  VISUAL, EDITOR          the editor of `edit` commands",
            "Settings that decide what is allowed live in the store and have no variable and no flag.",
        ),
    ),
    "output": Topic(
        "How results are written.",
        (
            "Stdout is the data asked for, stderr is everything else: `mgmtctl ... > file` is always valid data. On a "
            "terminal lists are tables; in a pipe they are rows separated by tabs, never cut, never wrapped.",
            "  -o table     a table (lists) or names with values\n"
            "  -o wide      a table of every field, never cut\n"
            "  -o json      one object, or a bare array; --envelope: the service's envelope\n"
            "  -o ndjson    one JSON object in each line\n"
            "  -o yaml      YAML\n"
            "  -o csv       comma-separated, every field\n"
            "  -o tsv       tab-separated\n"
            "  -o id        ids only (names where there is no id)\n"
            "  -o value     bare values; with --select just that field",
            "--select FIELDS takes only these fields, by their dotted names. Lists also have --where, --search, --sort "
            "and --limit. Nothing is cut silently: a list is whole unless --limit says otherwise.",
            "--where: `field op value`; `;` is and, `,` is or (and binds tighter), parentheses group; operators are "
            "= != < > ~ (contains). Letter case does not matter. A value with blanks or ;,() stands in double quotes. "
            "`null` is the absent value. Dates are 2026-01-31, 2026-01-31T12:00:00Z or an age: 7d.",
            "  mgmtctl agents list --where 'status=active;(group=web,group=db)' --sort -id",
            "A dry run of a change of access says on stderr who gains and who loses what; with -o json or yaml stdout "
            'is then {"result": ..., "impact": ...}, where `result` is what a real run prints.',
            "With -o json an error is one JSON object on stderr.",
        ),
    ),
    "rules": Topic(
        "The rule language: from an authorization context to roles.",
        (
            "A rule is one expression or a list of them (true when any is). An expression is an object with exactly "
            "one operator:",
            '  {"AND": [EXPRESSION, ...]}    {"OR": [EXPRESSION, ...]}    {"NOT": EXPRESSION}\n'
            '  {"MATCH": PATTERN}    the root of the context\n'
            '  {"MATCH$": PATTERN}   the same, strictly\n'
            '  {"FIND": PATTERN}     any object in the context\n'
            '  {"FIND$": PATTERN}    the same, strictly',
            "A pattern is an object; each of its keys must be satisfied, other keys of the context never matter. A "
            "scalar equals the value, or (not strictly) one item of a list. A list wants each of its items in the "
            'value\'s list; strictly, the same items in any order. Equality is by JSON type: 1 is not true, "1" is '
            "not 1.",
            "`r'...'` as a key or a value is a regular expression (RE2). It matches strings only and the whole string: "
            "write .* for a beginning.",
            '  {"AND": [{"MATCH": {"office": "r\'2[0-9]\'"}},\n'
            '           {"FIND": {"department": "operations"}}]}',
            "A context login (`mgmtctl run-as`) grants every role that is linked to a true rule, and nothing else. "
            "`mgmtctl run-as --explain` shows rule by rule what was true, and where.",
            "One rule node by node, a draft from examples, what looks wrong, what must hold, the first broken link:",
            "  mgmtctl rules explain web_people --context-file one.json\n"
            "  mgmtctl rules suggest --from one.json --not-like other.json\n"
            "  mgmtctl rules lint ./rules.yaml\n"
            "  mgmtctl rules test cases.yml --coverage\n"
            "  mgmtctl run-as --doctor wui",
            "A table of cases is YAML: each case is a context and the rules or the roles that are expected of it. "
            "Rules stand in the table itself, or are those of the service.",
            "  rules:\n"
            "    web: {FIND: {backend_roles: \"r'web-.*'\"}}\n"
            "  cases:\n"
            "    - {context_file: one.json, rules: [web]}\n"
            "    - {context: {name: x, auth: {}}, rules: []}",
        ),
    ),
    "policies": Topic(
        "Policies: which actions on which resources.",
        (
            "A policy has named blocks; each allows or denies its actions on its resources. A resource is "
            "kind:attribute:value; `*` stands for a whole value.",
            "  agent:id:001    agent:group:web    group:id:web    role:id:100    *:*:*",
            "`agent:group:web` is every agent that is in group web now. `*:*:*` stands for actions that have no "
            "resource, such as agent:create and manager:read, and for nothing else.",
            "Any deny wins over any allow; where no policy speaks the mode decides: `white` refuses, `black` permits. "
            "The order of roles, policies and blocks never matters. A session without any role is refused everything.",
            "  mgmtctl policies create web_read --allow agent:read,group:read \\\n"
            "      --on agent:group:web,group:id:web",
            "Why, who, all of it as a list and as a grid, who gains and who loses, what looks wrong, what must hold:",
            "  mgmtctl can-i agent:restart agent:id:004 --as ann --explain\n"
            "  mgmtctl who-can agent:restart agent:id:004\n"
            "  mgmtctl users permissions ann\n"
            "  mgmtctl policies matrix --user ann --by group\n"
            "  mgmtctl policies impact -f web.yaml web_read\n"
            "  mgmtctl roles add-policy web web_read -n\n"
            "  mgmtctl policies lint\n"
            "  mgmtctl policies test cases.yml",
            "Nobody can give what he does not hold: a change of users, roles, policies or rules that would give "
            "anybody a right the caller lacks is refused with that right.",
        ),
    ),
    "agent.conf": Topic(
        "The shared configuration of a group.",
        (
            "Each group may have a file agent.conf: one or more `agent_config` blocks, each for the agents of the "
            "group that match its attributes; all given ones must match, and a block without any is for all.",
            '  <agent_config os="Linux" profile="web">\n'
            "    <localfile>\n"
            "      <location>/var/log/syslog</location>\n"
            "      <log_format>syslog</log_format>\n"
            "    </localfile>\n"
            "  </agent_config>",
            "An attribute is a regular expression (RE2), searched without regard to letter case; a leading `!` negates "
            "it. `name` is the agent's name; `os` is what the agent reports of its system and release; `profile` each "
            "profile of its local configuration. What an agent never reported matches nothing.",
            "The document is not quite XML: several blocks stand side by side, `\\<` is a literal `<`, `&` and `>` are "
            "ordinary characters, blanks around a value belong to it.",
            "It is checked before it enters a group and again before it is pushed. An error is what an agent would "
            "refuse or silently pass over, a warning what applies otherwise than it reads, a note what is true and "
            "worth knowing. A group with an error is never pushed: its agents keep the last good files.",
            "  mgmtctl files validate ./agent.conf               no login, no store\n"
            "  mgmtctl files validate ./agent.conf --group web   for web's agents\n"
            "  mgmtctl files validate --explain too-new          what a rule means\n"
            "  mgmtctl options show syscheck.directories         what is known",
            "Change it, and see what comes of it. Every change is a numbered revision; what others change on disk is "
            "noticed and becomes one too.",
            "  mgmtctl files edit web/agent.conf --reason 'less load'\n"
            "  mgmtctl sync plan --group web\n"
            "  mgmtctl sync run --group web --canary 5% --abort-if 'not-synced>2'\n"
            "  mgmtctl sync promote\n"
            "  mgmtctl sync wait --group web --timeout 5m\n"
            "  mgmtctl files history web\n"
            "  mgmtctl files rollback web",
            "An agent reads its local configuration first, then the blocks that match it, in the order of its groups: "
            "the last group has the highest priority. A single value is replaced by a later one, lists grow. What "
            "counts in the end, from which line, and what it overrode:",
            "  mgmtctl agents config web-01 --effective --origin\n"
            "  mgmtctl agents config web-01 --get syscheck.frequency --origin\n"
            "  mgmtctl agents config web-01 --diff web-02\n"
            "  mgmtctl agents files web-01",
            "What a sync sends lands in the agent's own folder: `agents/<id>/shared/` below the data folder, with "
            "agent.conf, the other files of the groups, and merged.mg which holds them all. Beside `shared/` the agent "
            "may leave local.conf (its local configuration), local_internal_options.conf and keepalive.json (its last "
            "report), which are read and trusted for nothing but that agent.",
            "It uses new files when it restarts: at once, unless its local configuration says `auto_restart` no; then "
            "`mgmtctl agents restart` does it. `agent.remote_conf=0` in its internal options: it ignores them.",
        ),
    ),
    "cron": Topic(
        "Running unattended.",
        (
            "Without a terminal nothing is ever asked: a command that would have to ask ends with 2 and names the "
            "missing flag. Name a user and a file with its password (mode 0600, no link):",
            "  MGMTCTL_HOME=/srv/mgmtctl\n"
            "  MGMTCTL_USER=sync\n"
            "  MGMTCTL_PASSWORD_FILE=/etc/mgmtctl/sync.password\n"
            "  */5 * * * *  mgmtctl sync run --all -q --if-locked skip",
            "MGMTCTL_HOME says which service: cron knows nothing of your shell's variables. Without it the data folder "
            "is your XDG data folder, for root /var/lib/mgmtctl.",
            "Give that user a role with `agent:reconnect` on its agents and nothing more; `sync status`, `sync plan` "
            "and `sync explain` need `agent:read` beside it. -q keeps talk away; warnings "
            "and errors still come on stderr. Exit code 3 means that some items failed; they are listed.",
        ),
    ),
}
