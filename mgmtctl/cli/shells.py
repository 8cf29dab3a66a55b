"""Completion scripts for bash, zsh and fish, made from the outline of the command tree.

Rules: a script is static: words, options and fixed values stand in it; values of the service come from
`mgmtctl --complete KIND PREFIX FORM FIRST`, asked of the very program that is typed. No script needs a completion
library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from mgmtctl.cli.outline import PATHS, CommandOutline, Word

Values = str | tuple[str, ...] | None
Pairs = list[tuple[str, str]]
_COLON = "\\:"
_HEAD = "# {0} completion for mgmtctl; made by `make docs` from the command tree, not to be edited\n"

_BASH = r"""
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
"""

_ZSH = r"""
_mgmtctl_values() { # KIND
    local -a found
    local word
    case "$1" in
    -) return 1 ;;
    /) _files; return ;;
    '='*) found=(${=1[2,-1]}); compadd -a found; return ;;
    *+) if [[ $PREFIX == [./]* ]]; then _files; else _mgmtctl_values "${1%+}"; fi; return ;;
    esac
    found=("${(@f)$("${words[1]}" --complete "$1" "$PREFIX" '' "$first" 2>/dev/null)}")
    [[ -n ${found[1]} ]] || return 1
    word="${found[1]}"
    found=("${(@)found//:/\\:}")
    found=("${(@)found/$'\t'/:}")
    if [[ $word == *[/:] ]]; then
        _describe -V "$1" found -S ''
    else
        _describe "$1" found
    fi
}

_mgmtctl() {
    local where='' expecting='' word position=0 index=2 first=''
    local -a commands flags takes arguments
    local -A kinds
    _mgmtctl_at ''
    for ((; index < CURRENT; index++)); do
        word="${(Q)words[index]}"
        kinds=("${takes[@]}")
        if [[ -n $expecting ]]; then
            expecting=''
        elif [[ $word == -- ]]; then
            [[ $where == run-as ]] || return 1
            where='' position=0
            _mgmtctl_at ''
        elif [[ $word == -* ]]; then
            [[ $word != *=* && -n ${kinds[$word]} ]] && expecting="${kinds[$word]}"
        elif ((${#commands})); then
            where="${where:+$where }$word"
            _mgmtctl_at "$where" || return 1
        else
            ((position++)) || first="$word"
        fi
    done
    kinds=("${takes[@]}")
    if [[ -n $expecting ]]; then
        _mgmtctl_values "$expecting"
    elif [[ $PREFIX == --*=* ]]; then
        expecting="${kinds[${PREFIX%%=*}]}"
        [[ -n $expecting ]] || return 1
        compset -P '*='
        _mgmtctl_values "$expecting"
    elif [[ $PREFIX == -* ]]; then
        _describe -o option flags
    elif ((${#commands})); then
        _describe command commands
    else
        ((${#arguments})) || return 1
        ((position < ${#arguments})) || position=$((${#arguments} - 1))
        [[ ${arguments[position + 1]} == '!' ]] && return 1
        _mgmtctl_values "${arguments[position + 1]}"
    fi
}

if [[ ${funcstack[1]} == _mgmtctl ]]; then
    _mgmtctl "$@"
else
    compdef _mgmtctl mgmtctl
fi
"""

_FISH = r"""
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
"""


def bash(words: Iterable[Word]) -> str:
    """The script for bash 4.4 and newer."""
    tree = list(words)
    cases = [_bash_case("", " ".join(word.name for word in tree), "--help -h --version -V", "", "")]
    for word in tree:
        cases += [_bash_case(path, " ".join(table), "--help -h", "", "") for path, table in word.tables]
        cases += [_bash_command(command) for command in word.commands]
    table = "\n".join(cases)
    return (
        _HEAD.format("bash")
        + '\n_mgmtctl_at() { # path: what can follow it\n    case "$1" in\n'
        + table
        + "\n    *) return 1 ;;\n    esac\n}\n"
        + _BASH
    )


def _bash_command(command: CommandOutline) -> str:
    flags = " ".join(name for option in command.options for name in option.flags)
    takes = " ".join(
        f"{name}:{_code(option.values)}|"
        for option in command.options
        if option.metavar
        for name in option.flags
    )
    return _bash_case(command.path, "", flags, takes, "|".join(_argument_codes(command)))


def _bash_case(path: str, words: str, flags: str, takes: str, arguments: str) -> str:
    return (
        f"    {_quoted(path)})\n        words={_quoted(words)}\n        flags={_quoted(flags)}\n"
        f"        takes={_quoted(takes)}\n        arguments={_quoted(arguments)} ;;"
    )


def zsh(words: Iterable[Word]) -> str:
    """The script for zsh; to be sourced, or put into a folder of `fpath` as `_mgmtctl`."""
    return (
        "#compdef mgmtctl\n"
        + _HEAD.format("zsh")
        + '\n_mgmtctl_at() { # path: what can follow it\n    case "$1" in\n'
        + "\n".join(_zsh_case(*case) for case in _described_cases(words))
        + "\n    *) return 1 ;;\n    esac\n}\n"
        + _ZSH
    )


def _zsh_case(path: str, commands: Pairs, flags: Pairs, takes: Pairs, arguments: list[str]) -> str:
    def described(pairs: Pairs) -> str:
        return " ".join(_quoted(f"{name.replace(':', _COLON)}:{_line(text)}") for name, text in pairs)

    kinds = " ".join(f"{name} {_quoted(code)}" for name, code in takes)
    return (
        f"    {_quoted(path)})\n        commands=({described(commands)})\n        flags=({described(flags)})\n"
        f"        takes=({kinds})\n        arguments=({' '.join(map(_quoted, arguments))}) ;;"
    )


def fish(words: Iterable[Word]) -> str:
    """The script for fish 3 and newer."""
    return (
        _HEAD.format("fish")
        + '\nfunction __mgmtctl_at --no-scope-shadowing # path: what can follow it\n    switch "$argv[1]"\n'
        + "\n".join(_fish_case(*case) for case in _described_cases(words))
        + "\n    case '*'\n        return 1\n    end\n    return 0\nend\n"
        + _FISH
    )


def _fish_case(path: str, commands: Pairs, flags: Pairs, takes: Pairs, arguments: list[str]) -> str:
    def described(pairs: Pairs) -> str:
        return " ".join(f"{_fish(name)}\\t{_fish(text)}" for name, text in pairs)

    kinds = " ".join(_fish(f"{name}:{code}") for name, code in takes)
    return (
        f"    case {_fish(path)}\n        set commands {described(commands)}\n        set flags {described(flags)}\n"
        f"        set takes {kinds}\n        set arguments {' '.join(map(_fish, arguments))}"
    )


def _described_cases(words: Iterable[Word]) -> list[tuple[str, Pairs, Pairs, Pairs, list[str]]]:
    """For each path: what can follow it, with descriptions; options and the values they take; codes of arguments."""
    tree = list(words)
    help_names = [("--help", "Show the help."), ("-h", "Show the help.")]
    top = [*help_names, ("--version", "Show the version."), ("-V", "Show the version.")]
    cases: list[tuple[str, Pairs, Pairs, Pairs, list[str]]] = [
        ("", [(word.name, word.summary) for word in tree], top, [], [])
    ]
    for word in tree:
        cases += [(path, list(table.items()), help_names, [], []) for path, table in word.tables]
        for command in word.commands:
            flags = [(name, option.help) for option in command.options for name in option.flags]
            takes = [(name, _code(o.values)) for o in command.options if o.metavar for name in o.flags]
            cases.append((command.path, [], flags, takes, _argument_codes(command)))
    return cases


def _fish(text: str) -> str:
    escaped = _line(text).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _code(values: Values) -> str:
    """How a script names what a value may be: `-` anything, `/` a path, `=words`, or a kind of `--complete`."""
    if values is None:
        return "-"
    if values == PATHS:
        return "/"
    return "=" + " ".join(values) if isinstance(values, tuple) else values


def _argument_codes(command: CommandOutline) -> list[str]:
    """A code for each argument; `!` at the end when nothing may follow the last one."""
    codes = [_code(argument.values) for argument in command.arguments]
    return codes if codes and command.arguments[-1].many else [*codes, "!"]


def _line(text: str) -> str:
    return " ".join(text.split())


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


SCRIPTS: dict[str, tuple[str, Callable[[Iterable[Word]], str]]] = {
    "bash": ("mgmtctl.bash", bash),
    "zsh": ("_mgmtctl", zsh),
    "fish": ("mgmtctl.fish", fish),
}
