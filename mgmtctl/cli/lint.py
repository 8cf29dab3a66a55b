"""What `policies lint` and `rules lint` have in common: arguments, files, forms of output, exit codes.

Rules: an argument that begins as a path (`/`, `./`, `../`, or `-` for stdin) is a file and is linted without login and
data folder; anything else names something stored. A file may hold one document or many, in the forms that people
really have: by themselves, in a list, by name, or as the answer of an API.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import typer

from mgmtctl.cli.documents import Document, read_document
from mgmtctl.cli.exit_codes import PARTLY
from mgmtctl.cli.sarif import SARIF, write_sarif
from mgmtctl.domain.errors import InvalidError, MgmtctlError
from mgmtctl.domain.findings import NOTE, Finding
from mgmtctl.domain.resources import one_line

if TYPE_CHECKING:
    from mgmtctl.cli.session import CliSession
    from mgmtctl.domain.lint_rules import LintRule
    from mgmtctl.operations.results import Items

PATH_BEGINNINGS = ("/", "./", "../")
EXITS = {
    1: "an error or a warning was found; notes alone end with 0",
    3: "some could not be linted (they are listed)",
    7: "a file cannot be read",
}
ExitZero = typer.Option("--exit-zero", help="End with 0 whatever is found.", show_default=False)
Explain = typer.Option(
    "--explain",
    metavar="RULE-NAME",
    help="Say what a lint rule means, and lint nothing; `all`: each of them.",
    show_default=False,
)
_BLOCK_KEYS = frozenset({"actions", "resources", "effect"})
# Linting of one document in a file: (value, JSON path, name or empty, description or empty) -> findings below the path.
LintOne = Callable[[Any, str, str, str], list[Finding]]


@dataclass(frozen=True, slots=True)
class Explanation:
    """A lint rule that is explained; as a page on request of no other form."""

    rule: LintRule

    def record(self) -> dict[str, object]:
        """That of the rule."""
        return self.rule.record()

    def text(self) -> str:
        """The page."""
        return self.rule.text() + "\n"


def explain(session: CliSession, name: str, about: str) -> None:
    """Show what a lint rule means."""
    from mgmtctl.domain.lint_rules import explained

    rules = [Explanation(rule) for rule in explained(name, about)]
    session.show(rules if name == "all" else rules[0])


def split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """(paths, names of stored things) of the arguments."""
    paths = [text for text in arguments if text == "-" or text.startswith(PATH_BEGINNINGS)]
    return paths, [text for text in arguments if text not in paths]


def stored(
    references: Sequence[str], ask: Callable[[Sequence[str] | None], Items[Finding]]
) -> Items[Finding]:
    """Findings of what is named, or of all; a refusal of one that is a file here says how files are named."""
    from mgmtctl.cli import single

    try:
        found = ask(list(references) or None)
        return single.settled(found) if len(references) == 1 else found
    except MgmtctlError as error:
        here = next((text for text in references if os.path.isfile(text)), None)
        if here is not None:
            meant = f"for the file here: ./{here}"
            error.fix = f"{error.fix}; or {meant}" if error.fix else meant
        raise


def show(
    session: CliSession,
    findings: Items[Finding],
    form: str | None,
    exit_zero: bool,
    asked: Sequence[str],
    what: str,
) -> None:
    """Show findings in the form that was asked for, and end with 1 for an error or a warning."""
    if form == SARIF:
        write_sarif(findings.affected)
        if findings.failed:
            session.show(replace(findings, affected=()))
    else:
        session.show(findings)
    if 0 < sum(len(failure.ids) for failure in findings.failed) < len(set(asked)):
        session.code = PARTLY  # the others were linted, whether or not something was found
    if not findings.affected and not findings.failed:
        session.say(f"{what}: no findings")
    if not exit_zero and any(finding.severity != NOTE for finding in findings.affected):
        session.code = session.code or 1


def in_file(session: CliSession, path: str, noun: str, lint_one: LintOne) -> list[Finding]:
    """The findings in a file, each at its line and column; InvalidError when it holds nothing that can be read."""
    document = read_document(session, path, yaml=True)
    # A tab is a blank in JSON and nothing in YAML, by which places are found.
    document = replace(document, text=document.text.replace("\t", " "))
    held = list(documents(document.value, noun))
    other = "rules" if noun == "policies" else "policies"
    if _plainly(document.value, other) and not _plainly(document.value, noun):
        fix = f"mgmtctl {other} lint {path}"
        raise InvalidError(f"{document.name}: these are {other}, not {noun}", fix=fix)
    if held and not any(_is_one(value, noun) for value, *_ in held):
        what = "policy" if noun == "policies" else "rule"
        raise InvalidError(
            f"{document.name}: no {what} in it", fix=f"mgmtctl {noun} lint --help says what can be read"
        )
    findings = [
        finding
        for value, place, name, description in held
        for finding in lint_one(value, place, name, description)
    ]
    return placed(document, findings)


def placed(document: Document, findings: Sequence[Finding]) -> list[Finding]:
    """The findings at their places in the file, in the order in which they stand there."""
    if not findings:
        return []
    error = document.placed(InvalidError(document.name, findings=findings))
    return sorted(error.findings, key=lambda finding: (finding.line, finding.column))


def documents(value: Any, noun: str) -> Iterator[tuple[Any, str, str, str]]:
    """(document, JSON path, name, description) of each policy or rule in what a file holds."""
    if isinstance(value, dict):
        for key, path in (("data", "data.affected_items"), ("affected_items", "affected_items")):
            held = value.get(key)
            items = held.get("affected_items") if key == "data" and isinstance(held, dict) else held
            if isinstance(items, list):
                yield from _listed(items, path)
                return
        for key in (f"default_{noun}", noun):
            held = value.get(key)
            if isinstance(held, dict) and (key != noun or noun == "policies"):
                yield from _by_name(held, key, noun)
                return
            if isinstance(held, list) and noun == "policies":
                yield from _listed(held, key)
                return
    if isinstance(value, list) and any(_is_record(item) for item in value):
        yield from _listed(value, "")
    else:
        yield value, "", _text(value, "name"), _text(value, "description")


def _listed(items: Sequence[Any], path: str) -> Iterator[tuple[Any, str, str, str]]:
    for number, item in enumerate(items):
        yield item, f"{path}[{number}]", _text(item, "name"), _text(item, "description")


def _by_name(held: dict[str, Any], path: str, noun: str) -> Iterator[tuple[Any, str, str, str]]:
    """Documents by name; each may hold its own below `policies` or `rules`, beside a description."""
    for name, item in held.items():
        place = f"{path}.{one_line(name)}"
        inner = item.get(noun) if isinstance(item, dict) and noun == "policies" else None
        if isinstance(inner, dict):
            yield inner, f"{place}.{noun}", name, _text(item, "description")
        else:
            yield item, place, name, _text(item, "description")


def _is_one(value: Any, noun: str) -> bool:
    """Whether a value is meant to be a policy or a rule, however wrong; one of something else is read as nothing."""
    if not isinstance(value, dict) or not value:
        return True
    if noun == "rules":
        return len(value) == 1 or bool({"rule", "rules"}.intersection(value))
    blocks = (value, *(item for item in value.values() if isinstance(item, dict)))
    return bool({"blocks", "policy"}.intersection(value)) or any(_BLOCK_KEYS.intersection(b) for b in blocks)


def _plainly(value: Any, noun: str) -> bool:
    """Whether all in what a file holds looks like policies, or like rules."""
    if isinstance(value, list):
        return bool(value) and all(_plainly(item, noun) for item in value)
    held = [item for item, *_ in documents(value, noun)]
    look = _like_policy if noun == "policies" else _like_rule
    return bool(held) and all(isinstance(item, dict) and look(item) for item in held)


def _like_policy(value: dict[str, Any]) -> bool:
    blocks = value.get("blocks")
    inner = (*value.values(), *(blocks.values() if isinstance(blocks, dict) else ()))
    return any(isinstance(part, dict) and len(_BLOCK_KEYS & part.keys()) > 1 for part in (value, *inner))


def _like_rule(value: dict[str, Any]) -> bool:
    from mgmtctl.domain.rules import OPERATORS

    held = value.get("rule", value.get("rules", value))
    known = held if isinstance(held, list) else [held]
    return bool(known) and all(
        isinstance(one, dict) and one and one.keys() <= set(OPERATORS) for one in known
    )


def _is_record(item: Any) -> bool:
    """Whether an item of a list is a policy or rule with what belongs to it, and not a block or an expression."""
    return isinstance(item, dict) and bool({"name", "policy", "blocks", "rule", "rules"}.intersection(item))


def _text(value: Any, key: str) -> str:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""
