"""Rules: the language that maps an authorization context to roles, and how it is checked on write (S 5.3, D 3).

Rules: an expression is an object with exactly one operator key; a rule is a list of expressions; text `r'...'` is a
pattern in RE2 syntax that must match the whole of a text. Checking is total (any JSON gives findings, never an
exception), finds every fault, and recurses only over what is known to be at most 200 levels deep. What is refused here
and evaluated all the same (`matching`) is undecided and grants nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from mgmtctl.domain.auth_context import cut, json_type
from mgmtctl.domain.errors import InvalidError
from mgmtctl.domain.findings import ERROR, Finding
from mgmtctl.domain.patterns import compiled, is_pattern, read_pattern

LOGICAL = ("AND", "OR")
SEARCHES = ("MATCH", "MATCH$", "FIND", "FIND$")
OPERATORS = ("AND", "OR", "NOT", *SEARCHES)
RECORD_KEYS = frozenset({"id", "name", "roles"})

MAX_BYTES = 64 * 1024  # of the expressions as they are stored
MAX_LEVELS = 200  # objects and lists inside each other, in one expression
MAX_PROGRAM = 50_000  # RE2 instructions, all patterns of a rule together: compiling them takes some 10 ms
_SAFE_LEVELS = MAX_LEVELS + 20  # of a document: what stands around its expressions included
_MAX_SAID = 80


def parse_rules(document: object, name: str = "") -> list[object]:
    """The list of expressions that `document` holds, as plain JSON; InvalidError with all findings.

    Forms (design: command line, fixed forms): one expression, a list of them, or a record with `rule` or `rules`, which
    may also hold id, name and roles, and both when they say the same (as a record of one expression shows them).
    """
    findings = check_rules(document)
    if findings:
        first = findings[0]
        raise InvalidError(
            f"rule{f' `{name}`' if name else ''} is refused: {first.path or 'document'}: {first.message}",
            fix=first.suggestion,
            findings=findings,
        )
    return [expression for expression, _ in _expressions(document)[0]]


def check_rules(document: object) -> list[Finding]:
    """Every fault of a rule document, each with its JSON path in that document; none: it can be stored."""
    if _levels(document) > _SAFE_LEVELS:
        return [_too_deep("")]
    if not is_unicode(document):
        return [_fault("invalid-text", "", "a text or a key is not valid Unicode")]
    expressions, findings = _expressions(document)
    size = _size(expressions)
    if size > MAX_BYTES:
        findings.append(_fault("too-large", "", f"at most {MAX_BYTES} bytes, got {size}", "write two rules"))
        return findings
    check = _Check(findings)
    for expression, path in expressions:
        if _levels(expression) > MAX_LEVELS:
            findings.append(_too_deep(path))
        else:
            check.expression(expression, path)
    return findings


Expressions = list[tuple[object, str]]


def _expressions(document: object) -> tuple[Expressions, list[Finding]]:
    """(expression, its path) for each expression of the document, and the faults around them."""
    if isinstance(document, list):
        return _listed(document, "")
    if isinstance(document, dict) and ("rules" in document or "rule" in document):
        return _recorded(document)
    return [(document, "")], []


def _recorded(record: Mapping[str, object]) -> tuple[Expressions, list[Finding]]:
    known = ("rule", "rules", *sorted(RECORD_KEYS))
    faults = [_unknown("key", key, known, join(key)) for key in record if key not in known]
    if "rules" not in record:
        return [(record["rule"], "rule")], faults
    if "rule" in record and record["rules"] != [record["rule"]]:
        faults.append(_fault("rule-and-rules", "rule", "`rule` and `rules` differ", "write one of them"))
    if not isinstance(record["rules"], list):
        return [], [*faults, _wrong_type("rules", "a list of expressions", record["rules"])]
    expressions, empty = _listed(record["rules"], "rules")
    return expressions, faults + empty


def _listed(items: list[object], path: str) -> tuple[Expressions, list[Finding]]:
    if not items:
        return [], [_fault("empty-list", path, "the list holds no expression", "write at least one")]
    return [(item, f"{path}[{number}]") for number, item in enumerate(items)], []


class _Check:
    """One pass over the expressions of a rule; faults are added to `findings`."""

    def __init__(self, findings: list[Finding]) -> None:
        self.findings = findings
        self._program = 0

    def expression(self, expression: object, path: str) -> None:
        if not isinstance(expression, dict):
            self._add(_wrong_type(path, "an object with one operator", expression))
            return
        if len(expression) != 1:
            self._add(_not_one_operator(path, expression))
        for operator, operand in expression.items():
            self._operator(operator, operand, join(operator, path))

    def _operator(self, operator: str, operand: object, path: str) -> None:
        if operator in SEARCHES:
            if isinstance(operand, dict):
                self._object(operand, path, strict=operator.endswith("$"))
            else:
                self._add(_wrong_type(path, "an object of keys and values", operand))
        elif operator in LOGICAL:
            self._operands(operand, path)
        elif operator == "NOT":
            self.expression(operand, path)
        else:
            self._add(_unknown("operator", operator, OPERATORS, path))

    def _operands(self, operand: object, path: str) -> None:
        if not isinstance(operand, list):
            self._add(_wrong_type(path, "a list of expressions", operand))
        elif not operand:
            self._add(_fault("empty-list", path, "the list holds no expression", "write at least one"))
        else:
            for number, item in enumerate(operand):
                self.expression(item, f"{path}[{number}]")

    def _object(self, wanted: Mapping[str, object], path: str, *, strict: bool) -> None:
        if not wanted:
            self._add(
                _fault(
                    "empty-object",
                    path,
                    "the object is empty and asks for nothing",
                    "name a key and its value",
                )
            )
        for key, value in wanted.items():
            place = join(key, path)
            if is_pattern(key):
                self._pattern(key, place)
            self._value(value, place, strict=strict)

    def _value(self, value: object, path: str, *, strict: bool) -> None:
        if isinstance(value, dict):
            self._object(value, path, strict=strict)
        elif isinstance(value, list):
            self._list(value, path, strict=strict)
        elif is_pattern(value):
            self._pattern(value, path)
        elif json_type(value) == "no JSON value" or value != value or value in (float("inf"), float("-inf")):
            self._add(_fault("wrong-type", path, "expected a JSON value, got something else"))

    def _list(self, items: list[object], path: str, *, strict: bool) -> None:
        if not items and not strict:
            hint = "write `MATCH$` or `FIND$` to ask for exactly the empty list"
            self._add(_fault("empty-list", path, "the list is empty and asks for nothing", hint))
        for number, item in enumerate(items):
            self._value(item, f"{path}[{number}]", strict=True)  # inside a list everything is compared whole

    def _pattern(self, text: str, path: str) -> None:
        pattern = read_pattern(text)
        if pattern is None:
            self._add(_broken_pattern(text, path))
        elif not pattern.is_simple and self._program <= MAX_PROGRAM:
            self._compile(pattern.source, path)

    def _compile(self, source: str, path: str) -> None:
        try:
            self._program += compiled(source).programsize
        except ValueError as error:
            self._add(_fault("invalid-pattern", path, f"{_said(source)}: {error}", "syntax is that of RE2"))
            return
        if self._program > MAX_PROGRAM:
            problem = f"the patterns of a rule are too large: at most {MAX_PROGRAM} instructions, got {self._program}"
            self._add(_fault("large-pattern", path, problem, "repeat less, or name fewer characters"))

    def _add(self, finding: Finding) -> None:
        self.findings.append(finding)


def join(key: object, path: str = "") -> str:
    """The JSON path of `key` below `path`; keys that are not plain words are quoted."""
    name = str(key)
    if name.replace("_", "a").replace("-", "a").removesuffix("$").isalnum() and name.isascii():
        return f"{path}.{name}" if path else name
    quoted = json.dumps(name, ensure_ascii=not name.isprintable()).replace("\x7f", "\\u007f")
    return f"{path}[{quoted}]"


def is_unicode(document: object) -> bool:
    """True when every text and key of a JSON value can be written as UTF-8."""
    try:
        for text in _texts(document):
            text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _texts(document: object) -> Iterator[str]:
    rest = [document]
    while rest:
        value = rest.pop()
        if isinstance(value, dict):
            yield from value
            rest.extend(value.values())
        elif isinstance(value, list):
            rest.extend(value)
        elif isinstance(value, str):
            yield value


def _levels(document: object) -> int:
    """How many objects and lists stand inside each other; does not count far beyond what is legal."""
    level, row = 0, [document]
    while level <= _SAFE_LEVELS and any(isinstance(value, (dict, list)) for value in row):
        level += 1
        row = [inner for value in row for inner in _inner(value)]
    return level


def _inner(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _size(expressions: Expressions) -> int:
    """Bytes of the expressions as they are stored."""
    plain = [expression for expression, _ in expressions]
    return len(json.dumps(plain, ensure_ascii=False, separators=(",", ":"), default=str).encode())


def _not_one_operator(path: str, expression: Mapping[str, object]) -> Finding:
    if not expression:
        return _fault("one-operator", path, "expected one operator, got an empty object", _OPERATORS_ARE)
    names = " and ".join(_said(str(key)) for key in list(expression)[:5])
    hint = "write an object for each, in a list under `AND` or `OR`"
    return _fault("one-operator", path, f"expected one operator, got {len(expression)}: {names}", hint)


def _broken_pattern(text: str, path: str) -> Finding:
    if text in ("r'", "r''"):
        return _fault("empty-pattern", path, "the pattern is empty", "write `r'.*'` for any text")
    return _fault(
        "unclosed-pattern", path, f"{_said(text)} starts a pattern and does not end it", "end it with `'`"
    )


def _unknown(what: str, name: object, known: Iterable[str], path: str) -> Finding:
    from mgmtctl.domain.resources import closest

    near = closest(str(name), known)
    hint = f"did you mean `{near}`?" if near else f"{what}s are {', '.join(known)}"
    return _fault(f"unknown-{what}", path, f"{what} {_said(str(name))} is unknown", hint)


def _too_deep(path: str) -> Finding:
    return _fault("too-deep", path, f"nested too deep: at most {MAX_LEVELS} levels", "write two rules")


def _wrong_type(path: str, expected: str, got: object) -> Finding:
    return _fault("wrong-type", path, f"expected {expected}, got {json_type(got)}")


def _fault(rule: str, path: str, message: str, suggestion: str | None = None) -> Finding:
    return Finding(rule, ERROR, message, path, suggestion=suggestion)


def _said(text: str) -> str:
    return f"`{cut(text, _MAX_SAID)}`"


_OPERATORS_ARE = f"operators are {', '.join(OPERATORS)}"
