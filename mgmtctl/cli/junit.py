"""Results of tables of cases as JUnit XML, which build servers read.

Rules: one suite for each table, one test for each case; a case that failed and one that could not be decided are told
apart; no time is said, because none is measured; what XML cannot hold is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mgmtctl.cli.text import clean, clean_lines
from mgmtctl.domain.errors import UnavailableError

if TYPE_CHECKING:
    from mgmtctl.cli.case_tables import Ran, Told


def write_junit(path: str, name: str, tables: Sequence[Ran]) -> None:
    """Write the file, replacing what is there. UnavailableError (io)."""
    data = junit(name, tables)
    try:
        with open(path, "wb") as file:
            file.write(data)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UnavailableError(f"cannot write `{path}`", "io", why=why) from None


def junit(name: str, tables: Sequence[Ran]) -> bytes:
    """The whole document."""
    from xml.etree import ElementTree

    told = [one for table in tables for one in table.told]
    root = ElementTree.Element("testsuites", {"name": name, **_counts(told)})
    for table in tables:
        suite = ElementTree.SubElement(root, "testsuite", {"name": clean(table.name), **_counts(table.told)})
        for one in table.told:
            _add(suite, one, ElementTree.SubElement)
    ElementTree.indent(root)
    document: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _counts(told: Sequence[Told]) -> dict[str, str]:
    errors = sum(one.result.error for one in told)
    failed = sum(not one.result.passed for one in told)
    return {"tests": str(len(told)), "failures": str(failed - errors), "errors": str(errors), "skipped": "0"}


def _add(suite: Any, one: Told, add: Any) -> None:
    result = one.result
    mode = f" (mode {result.mode})" if result.mode else ""
    test = add(
        suite,
        "testcase",
        {
            "name": clean(f"{result.title}{mode}"),
            "classname": clean(one.table),
            "file": clean(one.table),
            "line": str(one.place[0]),
        },
    )
    if result.passed:
        return
    message = f"expected {result.expected}, got {result.got}"
    kind = "error" if result.error else "failure"
    inner = add(test, kind, {"message": clean(message), "type": kind})
    inner.text = clean_lines("\n".join(one.lines()))
