"""What is generated: the reference, the completion scripts and the man pages. `python -m mgmtctl.cli.manual [--check]`.

Rules: everything is made from the declarations of commands, actions and settings, and the same declarations give the
same bytes. `--check` writes nothing and ends with 1 when a file is not what it would be written to, or is one too many.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from mgmtctl.cli import roff
from mgmtctl.cli.exit_codes import MEANINGS
from mgmtctl.cli.outline import CommandOutline, Word, outline
from mgmtctl.cli.shells import SCRIPTS

FOLDERS = ("completions", "docs/reference", "man")
_NOTE = "<!-- made by `make docs`, not to be edited -->\n"


def generated() -> dict[str, str]:
    """Every generated file: path below the project's folder to content."""
    words = list(outline())
    files = {f"completions/{name}": make(words) for name, make in SCRIPTS.values()}
    files.update({f"man/{name}": page for name, page in roff.pages(words).items()})
    files["docs/reference/cli.md"] = _commands(words)
    files["docs/reference/exit-codes.md"] = _exit_codes()
    files["docs/reference/actions.md"] = _actions()
    return files


def differences(root: Path) -> list[str]:
    """What is not current below `root`, one line each."""
    files = generated()
    found = [f"{path} is missing" for path in files if not (root / path).exists()]
    found += [
        f"{path} is not current"
        for path, content in files.items()
        if (root / path).exists() and (root / path).read_text(encoding="utf-8") != content
    ]
    return found + [f"{path} is generated no more" for path in _stale(root, files)]


def write(root: Path) -> None:
    """Write every generated file below `root`, and remove those that are generated no more."""
    files = generated()
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content, encoding="utf-8")
    for path in _stale(root, files):
        (root / path).unlink()


def _stale(root: Path, files: dict[str, str]) -> list[str]:
    present = [path for folder in FOLDERS for path in sorted((root / folder).glob("*")) if path.is_file()]
    return [name for name in (path.relative_to(root).as_posix() for path in present) if name not in files]


def _commands(words: Sequence[Word]) -> str:
    lines = ["# Commands", "", _NOTE]
    for word in words:
        lines += [f"## {word.name}", "", word.summary, ""]
        for command in word.commands:
            lines += _command(command, word.is_noun)
    return "\n".join(lines).rstrip() + "\n"


def _command(command: CommandOutline, below_noun: bool) -> list[str]:
    lines = [f"### {command.path}", ""] if below_noun else []
    lines += ["```", command.usage, "```", "", _markdown(command.declared.description), ""]
    rows = [(argument.metavar, argument.help) for argument in command.arguments]
    for option in command.options:
        if not option.common:
            value = f" {option.metavar}" if option.metavar else ""
            rows.append((", ".join(option.flags) + value, option.help))
    if rows:
        lines += ["| | |", "|---|---|", *(f"| `{_cell(name)}` | {_cell(text)} |" for name, text in rows), ""]
    common = [option.flags[-1] for option in command.options if option.common]
    lines += [f"Common options: {', '.join(f'`{name}`' for name in common)}", ""]
    lines += ["```", *command.declared.examples, "```", ""]
    codes = [f"{code} {_cell(command.declared.meaning(code))}" for code in command.declared.exit_codes]
    return [*lines, f"Exit codes: {'; '.join(codes)}", ""]


def _markdown(description: str) -> str:
    """Paragraphs; what is indented by two blanks as a block."""
    parts = [f"```\n{part}\n```" if part.startswith("  ") else part for part in description.split("\n\n")]
    return "\n\n".join(parts)


def _exit_codes() -> str:
    rows = [f"| {code} | {_cell(meaning)} |" for code, meaning in MEANINGS.items()]
    return "\n".join(["# Exit codes", "", _NOTE, "| | |", "|---|---|", *rows]) + "\n"


def _actions() -> str:
    from mgmtctl.domain.actions import ACTIONS

    lines = [
        "# Actions",
        "",
        _NOTE,
        "| action | what it allows | resources | endpoints |",
        "|---|---|---|---|",
    ]
    for action in ACTIONS.values():
        old = f" (deprecated since {action.deprecated})" if action.deprecated else ""
        endpoints = "<br>".join(f"`{endpoint}`" for endpoint in action.endpoints())
        kinds = ", ".join(f"`{kind}`" for kind in action.kinds)
        lines.append(f"| `{action.name}` | {_cell(action.description)}{old} | {kinds} | {endpoints} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main(arguments: Sequence[str]) -> int:
    """Write the files below the current folder, or check them; 1 when they are not current."""
    if list(arguments) != ["--check"]:
        write(Path.cwd())
        return 0
    found = differences(Path.cwd())
    for line in found:
        sys.stderr.write(f"{line}; run `make docs`\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
