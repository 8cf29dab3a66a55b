"""What `mgmtctl policies test` and `mgmtctl rules test` share: tables read from files, run, and told.

Rules: nothing runs while a table has a fault; a table with a world of its own needs no login and no data folder; stdout
has the failures, with -o every result; a context file is read from beside the table that names it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from mgmtctl.cli.exit_codes import DENIED, NO, NOT_FOUND, REFUSED, UNAUTHENTICATED
from mgmtctl.cli.text import clean
from mgmtctl.domain.errors import InvalidError, MgmtctlError

if TYPE_CHECKING:
    from mgmtctl.cli.session import CliSession
    from mgmtctl.cli.yaml_places import Place, PlacedDocument
    from mgmtctl.domain.auth_context import AuthContext
    from mgmtctl.domain.case_runs import Result, Run
    from mgmtctl.domain.case_tables import Table
    from mgmtctl.domain.findings import Finding

COLUMNS = ("path", "line", "passed", "case", "mode", "expected", "got")
EXITS: dict[int, str | None] = {
    0: "every case passed",
    NO: "a case failed, or could not be decided",
    REFUSED: "a table, or a context in it, is refused or cannot be read; nothing was run",
    UNAUTHENTICATED: "a table asks the stored service, and nobody is logged in",
    DENIED: "denied",
    NOT_FOUND: None,
}
_INDENT = "    "

Files = typer.Argument(
    metavar="FILE...", help="Tables of cases, in YAML or JSON; `-` is stdin.", show_default=False
)
Junit = typer.Option(
    "--junit", metavar="PATH", help="Write the results to this file as JUnit XML too.", show_default=False
)


@dataclass(frozen=True, slots=True)
class Told:
    """A result with its place: the table and where in it the case stands."""

    table: str
    place: Place
    result: Result

    def record(self) -> dict[str, object]:
        """Plain form."""
        line, column = self.place
        return {"path": self.table, "line": line, "column": column, **self.result.record()}

    def lines(self) -> Iterator[str]:
        """A failure, readable: what differs, then why it is so."""
        result = self.result
        mode = f" (mode {result.mode})" if result.mode else ""
        yield clean(f"{self.table}:{self.place[0]}:{self.place[1]}: {result.title}{mode}")
        yield f"  expected {result.expected}"
        yield f"  got      {result.got}"
        if result.note:
            yield f"  note     {result.note}"
        yield from (f"{_INDENT}{line}" for line in result.lines)


@dataclass(frozen=True, slots=True)
class Ran:
    """One table that was run."""

    name: str
    told: tuple[Told, ...]
    run: Run


def run_tables(
    session: CliSession,
    files: Sequence[str],
    kind: str,
    ask: Callable[[Any, bool], Run],
    junit: str | None,
    coverage: bool,
) -> None:
    """Run tables of one kind; `ask` runs the cases of those without a world on the stored service."""
    if junit is not None:
        from mgmtctl.cli.junit import require_replaceable

        require_replaceable(junit, session.settings.data)
    try:
        ran = [_run(document, table, ask, coverage) for document, table in _read(session, files, kind)]
    except MgmtctlError as error:
        if junit is not None:
            from mgmtctl.cli.junit import write_refusal

            # What an earlier run left there must not be taken for the results of this one.
            write_refusal(junit, f"mgmtctl {kind} test", files, error)
        raise
    if junit is not None:
        from mgmtctl.cli.junit import write_junit

        write_junit(junit, f"mgmtctl {kind} test", ran)
    told = [one for table in ran for one in table.told]
    failed = [one for one in told if not one.result.passed]
    _show(session, ran, told, failed, coverage)
    session.say(_summary(len(told), len(failed)))
    session.code = NO if failed else 0


def _summary(cases: int, failed: int) -> str:
    counted = f"{cases} case{'s' * (cases != 1)}"
    return f"{counted}: {cases - failed} passed, {failed} failed" if failed else f"{counted}: all passed"


def _show(
    session: CliSession, ran: Sequence[Ran], told: Sequence[Told], failed: Sequence[Told], coverage: bool
) -> None:
    seen = [(table.name, table.run.coverage) for table in ran if table.run.coverage is not None]
    if session.output.asked is None:
        session.output.page(line for one in failed for line in one.lines())
        for name, found in seen:
            session.output.page([f"{clean(name)}: " * (len(seen) > 1) + line for line in found.lines()])
    elif coverage and session.output.asked in ("json", "ndjson", "yaml"):
        records = [{"path": name, **found.record()} for name, found in seen]
        session.show({"results": [one.record() for one in told], "coverage": records})
    else:
        session.show(told)


# --- reading ------------------------------------------------------------------------------------------------------


def _read(session: CliSession, files: Sequence[str], kind: str) -> list[tuple[PlacedDocument, Table]]:
    """Every table; InvalidError with the faults of all of them."""
    tables, errors = [], []
    for file in files:
        try:
            tables.append(_table(session, file, kind))
        except InvalidError as error:
            errors.append(error)
    if len(errors) == 1:
        raise errors[0]
    if errors:
        findings = [finding for error in errors for finding in error.findings or _as_findings(error)]
        raise InvalidError(f"{len(errors)} of {len(files)} tables are refused", findings=findings)
    return tables


def _as_findings(error: InvalidError) -> list[Finding]:
    from mgmtctl.domain.findings import ERROR, Finding

    path, _, problem = error.problem.partition(": ")
    return [Finding("unreadable", ERROR, problem or "is refused", path, suggestion=error.why)]


def _table(session: CliSession, file: str, kind: str) -> tuple[PlacedDocument, Table]:
    from mgmtctl.cli.yaml_places import MAX_BYTES, read_yaml
    from mgmtctl.domain.case_tables import read_table

    data, name = session.read_input(file, MAX_BYTES)
    document = read_yaml(data, name)
    try:
        table = read_table(document.value, kind, _context_reader(session, file))
    except InvalidError as error:
        findings = [document.placed(finding) for finding in error.findings]
        count = f": {len(findings)} faults" if len(findings) > 1 else ""
        raise InvalidError(f"{name} is refused{count}", findings=findings) from None
    return document, table


def _context_reader(session: CliSession, file: str) -> Callable[[str, str | None], AuthContext]:
    """What reads the context files of a table, each once; a path is taken from the folder of the table."""
    from functools import cache

    from mgmtctl.cli.documents import read_context

    folder = "." if file == "-" else os.path.dirname(file) or "."

    @cache
    def read(path: str, name: str | None) -> AuthContext:
        return read_context(session, os.path.join(folder, path), name)

    return read


def _run(document: PlacedDocument, table: Table, ask: Callable[[Any, bool], Run], coverage: bool) -> Ran:
    if table.world is None:
        run = ask(table.cases, coverage)
    else:
        from mgmtctl.domain.case_runs import run_table

        run = run_table(table, table.world, coverage=coverage)
    places = (document.places.get(result.path, (0, 0)) for result in run.results)
    told = tuple(
        Told(document.name, place, result) for place, result in zip(places, run.results, strict=True)
    )
    return Ran(document.name, told, run)
