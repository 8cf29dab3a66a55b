"""Man pages from the outline of the command tree (section 1) and from the topics (sections 5 and 7).

Rules: plain `man` macros, no date (a page changes when its content does), every `-` of an option a real minus, clean
under `groff -ww` and `man --warnings`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from mgmtctl import __version__
from mgmtctl.cli.exit_codes import MEANINGS
from mgmtctl.cli.outline import CommandOutline, Option, Word
from mgmtctl.cli.records import compact
from mgmtctl.cli.topics import Topic, topic

_ESCAPES = str.maketrans({"\\": "\\e", "-": "\\-", "'": "\\(aq", "^": "\\(ha", "~": "\\(ti"})


def pages(words: Sequence[Word]) -> dict[str, str]:
    """Every page by file name."""
    made = {"mgmtctl.1": _main(words)}
    made.update({f"mgmtctl-{word.name}.1": _noun(word) for word in words if word.is_noun})
    made["mgmtctl-config.5"] = _config()
    rules = topic("rules")
    made["mgmtctl-rules.7"] = _page("mgmtctl-rules", 7, rules.summary, [*_topic_body("DESCRIPTION", rules)])
    return made


def _main(words: Sequence[Word]) -> str:
    body = [".SH SYNOPSIS", ".B mgmtctl", r"\fINOUN VERB\fR [\fIOPTIONS\fR]", ".SH DESCRIPTION"]
    body += [
        text("Administer a fleet of monitored agents: log in, decide, configure groups, sync agent folders.")
    ]
    for heading in dict.fromkeys(word.heading for word in words):
        body.append(f".SS {text(heading)}")
        for word in words:
            if word.heading == heading:
                page = f"  See mgmtctl-{word.name}(1)." if word.is_noun else ""
                body += [".TP", f".B {text(word.name)}", text(word.summary + page)]
    body.append(".SH COMMANDS")
    for word in words:
        if not word.is_noun:
            body += [line for command in word.commands for line in _command(command)]
    for name, heading in (("output", "OUTPUT"), ("environment", "ENVIRONMENT"), ("cron", "UNATTENDED")):
        body += _topic_body(heading, topic(name))
    body += _exit_status(sorted(MEANINGS))
    nouns = [f"mgmtctl-{word.name}(1)" for word in words if word.is_noun]
    body += [".SH SEE ALSO", text(", ".join([*nouns, "mgmtctl-config(5)", "mgmtctl-rules(7)"]))]
    return _page("mgmtctl", 1, "administer a fleet of monitored agents", body)


def _noun(word: Word) -> str:
    body = [".SH SYNOPSIS"]
    for command in word.commands:
        body += [_usage(command), ".br"]
    body = [*body[:-1], ".SH DESCRIPTION", text(word.summary), ".SH COMMANDS"]
    body += [line for command in word.commands for line in _command(command)]
    body += _common_options(word)
    codes = {code for command in word.commands for code in command.declared.exit_codes}
    body += _exit_status(sorted(codes))
    body += [".SH SEE ALSO", "mgmtctl(1), mgmtctl\\-config(5), mgmtctl\\-rules(7)"]
    return _page(f"mgmtctl-{word.name}", 1, word.summary, body)


def _command(command: CommandOutline) -> list[str]:
    lines = [f".SS {text(command.path)}", _usage(command)]
    lines += _paragraphs(command.declared.description.split("\n\n"))
    for argument in command.arguments:
        lines += [".TP", rf"\fI{_bare(argument.metavar)}\fR", text(argument.help or "See above.")]
    lines += [line for option in command.options if not option.common for line in _option(option)]
    for example in command.declared.examples:
        lines += [".PP", ".RS 4", ".nf", text(example), ".fi", ".RE"]
    for code in command.declared.exit_codes:
        if command.declared.exits.get(code):
            lines += [".TP", f"exit code {code}", text(command.declared.meaning(code))]
    return lines


def _common_options(word: Word) -> list[str]:
    seen: dict[tuple[str, ...], Option] = {}
    for command in word.commands:
        for option in command.options:
            if option.common:
                seen.setdefault(option.names, option)
    return [".SH COMMON OPTIONS", *(line for option in seen.values() for line in _option(option))]


def _option(option: Option) -> list[str]:
    names = ", ".join(rf"\fB{_bare(name)}\fR" for name in option.flags)
    value = rf" \fI{_bare(option.metavar)}\fR" if option.metavar else ""
    return [".TP", names + value, text(option.help or "See above.")]


def _usage(command: CommandOutline) -> str:
    words = command.usage.split()
    count = 1 + len(command.declared.path)
    return rf"\fB{_bare(' '.join(words[:count]))}\fR {_bare(' '.join(words[count:]))}"


def _exit_status(codes: Iterable[int]) -> list[str]:
    lines = [".SH EXIT STATUS"]
    for code in codes:
        lines += [".TP", f".B {code}", text(MEANINGS[code])]
    return lines


def _config() -> str:
    from mgmtctl.domain.settings import STORE_SETTINGS
    from mgmtctl.settings import SETTINGS

    body = _paragraphs(
        [
            "A setting is taken from its variable, else from the user's file, else from /etc/mgmtctl/config.toml, "
            "else from its default. Unknown names are errors. `mgmtctl config list --origin` shows what holds and why.",
            "The user's file is $XDG_CONFIG_HOME/mgmtctl/config.toml, for root /etc/mgmtctl/config.toml, and with "
            "MGMTCTL_HOME the config.toml in that folder, and no other.",
            '  data_dir = "/srv/mgmtctl"\n  [logs]\n  format = "plain,json"',
        ]
    )
    body = [".SH DESCRIPTION", *body, ".SH SETTINGS"]
    for name, setting in SETTINGS.items():
        body += [".TP", rf"\fB{_bare(name)}\fR ({_bare(setting.variable)})", text(setting.summary + ".")]
    body += [".SH SETTINGS OF THE STORE"]
    body += _paragraphs(
        [
            "These decide what is allowed. They live in the store: they have no variable and no flag, and a file that "
            "names one is an error. This release works by the values in the store and has no command that changes them."
        ]
    )
    for name, stored in STORE_SETTINGS.items():
        default = stored.default if isinstance(stored.default, str) else compact(stored.default)
        explained = f"{stored.summary}; {stored.expected}; default `{default}`."
        body += [".TP", rf"\fB{_bare(name)}\fR", text(explained)]
    return _page("mgmtctl-config", 5, "settings of mgmtctl", body)


def _topic_body(heading: str, found: Topic) -> list[str]:
    return [f".SH {heading}", *_paragraphs([found.summary, *found.paragraphs])]


def _paragraphs(parts: Sequence[str]) -> list[str]:
    lines: list[str] = []
    for part in parts:
        if part.startswith("  "):
            lines += [".PP", ".RS 2", ".nf", *(text(line[2:]) for line in part.split("\n")), ".fi", ".RE"]
        else:
            lines += [".PP", text(" ".join(part.split()))]
    return lines


def _page(name: str, section: int, summary: str, body: Sequence[str]) -> str:
    head = [
        '.\\" made by `make docs`, not to be edited',
        f'.TH {_bare(name.upper())} {section} "" "mgmtctl {__version__}" "mgmtctl manual"',
        ".SH NAME",
        f"{_bare(name)} \\- {text(summary.rstrip('.'))}",
    ]
    return "\n".join([*head, *body]) + "\n"


def text(words: str) -> str:
    """Running text: what stands in backticks is bold, no line begins a macro."""
    parts = re.split(r"`([^`]*)`", words)
    line = "".join(rf"\fB{_bare(part)}\fR" if index % 2 else _bare(part) for index, part in enumerate(parts))
    return rf"\&{line}" if line.startswith((".", "'")) else line


def _bare(words: str) -> str:
    """Text without meaning to roff."""
    return words.translate(_ESCAPES)
