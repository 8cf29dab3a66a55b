"""Results of tables of cases as JUnit XML, which build servers read.

Rules: one suite for each table, one test for each case; a case that failed and one that could not be decided are told
apart; no time is said, because none is measured; what XML cannot hold is escaped. A file is replaced whole, by one
rename; nothing is written into the data folder, or through a link.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mgmtctl.cli.text import clean, clean_lines
from mgmtctl.domain.errors import InvalidError, MgmtctlError, UnavailableError

if TYPE_CHECKING:
    from xml.etree import ElementTree

    from mgmtctl.cli.case_tables import Ran, Told


def require_replaceable(path: str, data: Path) -> None:
    """Refuse a path in the data folder, and a link to a file. UnavailableError (io)."""
    real, folder = os.path.realpath(path), os.path.realpath(data)
    if real == folder or real.startswith(os.path.join(folder, "")):
        raise _failed(path, "it lies in the data folder")
    if os.path.islink(path) and not _is_stream(path):
        raise _failed(path, "it is a symbolic link")


def write_junit(path: str, name: str, tables: Sequence[Ran]) -> None:
    """Write the file, replacing what is there. UnavailableError (io)."""
    _write(path, junit(name, tables))


def write_refusal(path: str, name: str, files: Sequence[str], error: MgmtctlError) -> None:
    """Write the file of a run that did not take place: one error, with its reasons. UnavailableError (io)."""
    from xml.etree import ElementTree

    counts = {"tests": "1", "failures": "0", "errors": "1", "skipped": "0"}
    suite_name = clean(", ".join(files))
    root = ElementTree.Element("testsuites", {"name": name, **counts})
    suite = ElementTree.SubElement(root, "testsuite", {"name": suite_name, **counts})
    test = ElementTree.SubElement(suite, "testcase", {"name": "nothing was run", "classname": suite_name})
    inner = ElementTree.SubElement(test, "error", {"message": clean(error.problem), "type": "error"})
    findings = error.findings if isinstance(error, InvalidError) else ()
    reasons = (f"{label}: {text}" for label, text in (("why", error.why), ("fix", error.fix)) if text)
    inner.text = clean_lines("\n".join([*(found.text() for found in findings), error.problem, *reasons]))
    _write(path, _written(root))


def _write(path: str, data: bytes) -> None:
    staged = path if _is_stream(path) else f"{path}.{os.urandom(6).hex()}"
    try:
        with open(staged, "wb" if staged == path else "xb") as file:
            file.write(data)
        if staged != path:
            os.replace(staged, path)
    except BaseException as error:
        if staged != path and os.path.exists(staged):
            os.unlink(staged)
        if isinstance(error, OSError):
            raise _failed(path, error.strerror or str(error)) from None
        raise


def _is_stream(path: str) -> bool:
    """Whether a device or a pipe is there, which is written to and never replaced."""
    return os.path.exists(path) and not os.path.isfile(path)


def _failed(path: str, why: str) -> UnavailableError:
    return UnavailableError(f"cannot write `{path}`", "io", why=why)


def junit(name: str, tables: Sequence[Ran]) -> bytes:
    """The whole document."""
    from xml.etree import ElementTree

    told = [one for table in tables for one in table.told]
    root = ElementTree.Element("testsuites", {"name": name, **_counts(told)})
    for table in tables:
        suite = ElementTree.SubElement(root, "testsuite", {"name": clean(table.name), **_counts(table.told)})
        for one in table.told:
            _add(suite, one, ElementTree.SubElement)
    return _written(root)


def _written(root: ElementTree.Element) -> bytes:
    from xml.etree import ElementTree

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
