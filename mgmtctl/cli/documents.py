"""Documents that commands read: policies, rules and records, as JSON or YAML, with places for what is wrong in them.

Rules: both forms are read strictly: no key twice, no anchors, no tags beyond plain values; a finding that names a JSON
path gets the file, line and column of it. A document is data: nothing in it is executed or expanded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from mgmtctl.domain.errors import InvalidError
from mgmtctl.domain.findings import ERROR, Finding

if TYPE_CHECKING:
    from mgmtctl.cli.session import CliSession
    from mgmtctl.domain.auth_context import AuthContext

MAX_BYTES = 256 * 1024
LONGEST_PLACED = 128 * 1024  # characters; finding the places of a longer text takes too long
MAX_LEVELS = 256
T = TypeVar("T")
_PLACE = re.compile(r"(?P<path>.*?): line (?P<line>\d+) column (?P<column>\d+): (?P<message>.*)", re.DOTALL)
_YAML_NAMES = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Document:
    """What a file holds: its plain value, its text, and the name that messages use."""

    value: Any
    text: str
    name: str

    def given_to(self, use: Callable[[Any], T]) -> T:
        """What `use` makes of the value; findings of an InvalidError get their place in the file."""
        try:
            return use(self.value)
        except InvalidError as error:
            raise self.placed(error) from None

    def placed(self, error: InvalidError) -> InvalidError:
        """The same error, each finding at its file, line and column."""
        if not error.findings:
            return error
        places = _places(self.text)
        findings = [self._placed(finding, places) for finding in error.findings]
        problem = f"{self.name} is refused" if len(findings) > 1 else error.problem
        return InvalidError(problem, why=error.why, fix=error.fix, code=error.code, findings=findings)

    def _placed(self, finding: Finding, places: Mapping[str, tuple[int, int]]) -> Finding:
        line, column = places.get(finding.path, (0, 0))
        message = f"{finding.path}: {finding.message}" if finding.path else finding.message
        return replace(finding, path=self.name, line=line, column=column, message=message)


def read_document(session: CliSession, path: str, *, yaml: bool = False) -> Document:
    """The document in a file, or on stdin for `-`; `yaml`: that form too. InvalidError with the place of the fault."""
    data, name = session.read_input(path, MAX_BYTES)
    return parse_document(data, name, yaml=yaml)


def parse_document(data: bytes, name: str, *, yaml: bool = False) -> Document:
    """The document in these bytes; YAML when allowed and the name ends so or the text does not begin as JSON."""
    if yaml and (
        name.endswith(_YAML_NAMES) or not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"["))
    ):
        return _yaml_document(data, name)
    from mgmtctl.domain.auth_context import load_json

    try:
        value = load_json(data, name, max_bytes=MAX_BYTES, max_levels=MAX_LEVELS)
    except InvalidError as error:
        raise _syntax_error(error) from None
    return Document(value, data.decode("utf-8-sig"), name)


def read_context(session: CliSession, path: str, wrapped_as: str | None) -> AuthContext:
    """The authorization context in a file, or on stdin for `-`; `wrapped_as`: its name, when the file is raw."""
    from mgmtctl.domain.auth_context import parse_context, wrap

    data, name = session.read_input(path)
    try:
        return parse_context(data, name) if wrapped_as is None else wrap(wrapped_as, data, name)
    except InvalidError as error:
        raise _syntax_error(error) from None


def fields(document: Document, known: Mapping[str, type], ignored: Sequence[str] = ()) -> dict[str, Any]:
    """The known fields of a record; InvalidError for unknown keys and wrong types, with their places."""
    from mgmtctl.domain.auth_context import json_type
    from mgmtctl.domain.resources import closest

    record = document.value
    if not isinstance(record, dict):
        raise InvalidError(f"{document.name}: expected an object, got {json_type(record)}")
    findings = []
    for key, value in record.items():
        if key in known and not _is(value, known[key]):
            expected = _EXPECTED[known[key]]
            message = f"expected {expected}, got {json_type(value)}"
            findings.append(Finding("wrong-type", ERROR, message, key))
        elif key not in known and key not in ignored:
            near = closest(key, known)
            hint = f"did you mean `{near}`?" if near else f"keys are {', '.join(known)}"
            findings.append(Finding("unknown-key", ERROR, f"key `{key}` is unknown", key, suggestion=hint))
    if findings:
        raise document.placed(InvalidError(f"{document.name} is refused", findings=findings))
    return {key: value for key, value in record.items() if key in known}


def text_field(document: Document, key: str) -> str | None:
    """One text of a record, None when it is not there; InvalidError with its place when it is no text."""
    if not isinstance(document.value, dict) or key not in document.value:
        return None
    picked = Document({key: document.value[key]}, document.text, document.name)
    return str(fields(picked, {key: str})[key])


_EXPECTED: dict[type, str] = {str: "text", bool: "true or false", list: "a list of names or ids"}


def _is(value: object, expected: type) -> bool:
    if expected is list:
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    return isinstance(value, expected)


def _syntax_error(error: InvalidError) -> InvalidError:
    found = _PLACE.fullmatch(error.problem)
    if found is None:
        return error
    line, column = int(found["line"]), int(found["column"])
    finding = Finding("syntax", ERROR, found["message"], found["path"], line, column)
    return InvalidError(f"{found['path']} is refused", code=error.code, findings=[finding])


def _yaml_document(data: bytes, name: str) -> Document:
    import yaml

    try:
        text = data.decode("utf-8-sig")
        value = yaml.load(text, Loader=_strict_loader())  # noqa: S506 - the loader makes plain values only
    except UnicodeDecodeError:
        raise InvalidError(f"{name}: expected UTF-8") from None
    except RecursionError:
        raise InvalidError(f"{name}: nested too deeply") from None
    except yaml.MarkedYAMLError as error:
        from mgmtctl.cli.yaml_places import syntax_finding

        raise InvalidError(f"{name} is refused", findings=[syntax_finding(error, name)]) from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise InvalidError(f"{name}: not YAML: {' '.join(str(error).split())}") from None
    return Document(value, text, name)


def _strict_loader() -> Any:
    """A loader of plain values that refuses what two readers could understand differently."""
    import yaml

    from mgmtctl.cli.yaml_places import QUOTES, require_short

    class Strict(yaml.SafeLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:
            event = self.peek_event()  # type: ignore[no-untyped-call]
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                raise yaml.composer.ComposerError(None, None, "anchors are not used here", event.start_mark)
            return super().compose_node(parent, index)

        def construct_object(self, node: Any, deep: bool = False) -> Any:
            if isinstance(node, yaml.ScalarNode):
                try:
                    require_short(node.tag, node.value)
                except ValueError as error:
                    problem = f"`{node.value[:40]}`: {error}"
                    raise yaml.constructor.ConstructorError(
                        None, None, problem, node.start_mark, QUOTES
                    ) from None
            return super().construct_object(node, deep)

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            seen: set[str] = set()
            for key, _ in node.value:
                if not isinstance(key, yaml.ScalarNode) or key.tag != "tag:yaml.org,2002:str":
                    said = f"key `{key.value[:40]}`" if isinstance(key, yaml.ScalarNode) else "a key"
                    problem = f"{said} is not text"
                    raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark, QUOTES)
                if key.value in seen:
                    problem = f"key `{key.value}` is given twice"
                    raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
                seen.add(key.value)
            return super().construct_mapping(node, deep)

    return Strict


def _places(text: str) -> dict[str, tuple[int, int]]:
    """(line, column) of every JSON path, both counted from 1; empty when the text cannot be read as YAML."""
    import yaml

    from mgmtctl.domain.rules import join

    found: dict[str, tuple[int, int]] = {}
    if len(text) > LONGEST_PLACED:
        return found
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        # A key that is no plain word is written in either of two ways in a path.
        _walk(root, "", found, _dotted)
        _walk(root, "", found, join)
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}
    return found


def _dotted(key: object, path: str) -> str:
    return f"{path}.{key}" if path else str(key)


def _walk(
    node: Any, path: str, found: dict[str, tuple[int, int]], join: Callable[[object, str], str]
) -> None:
    import yaml

    if node is None:
        return
    found.setdefault(path, (node.start_mark.line + 1, node.start_mark.column + 1))
    if isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            _walk(item, f"{path}[{number}]", found, join)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            _walk(value, join(key.value, path), found, join)
