"""What single conditions of the rule language can say about a context, and how long such a fact lasts (S 5.3, D 3).

A fact is one condition that is true of a context: an operator, a path of keys, a value. Facts of two contexts are
compared by equality, so which conditions tell them apart is a difference of sets and asks no evaluator. Lists are equal
in any order, as strict searches have it. What no condition can name (an empty object, alone or inside a list) is no
fact. What must hold of one object inside a list together is no fact either: see `object_patterns`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from mgmtctl.domain.patterns import is_pattern

GROUP, PLAIN, ODD, PERSONAL, CLIENT, FLEETING = range(6)

_GROUP_WORDS = re.compile(
    r"group|role|team|department|division|organi[sz]ation|permission|privilege|entitlement|member|tenant|realm|office"
)
_PERSONAL_KEYS = frozenset(
    {
        "name",
        "username",
        "login",
        "uid",
        "user",
        "sub",
        "subject",
        "mail",
        "email",
        "nickname",
        "picture",
        "id",
    }
)
_PERSONAL_ENDS = ("username", "user_name", "fullname", "mail", "phone", "phonenumber", "uuid", "guid", "dn")
_PERSONAL_WORDS = frozenset(
    {"name", "user", "nickname", "phone", "id", "uid", "email", "street", "birthdate"}
)
# Which application somebody came by, and who signed for it: the same for everybody who comes so.
_CLIENT_KEYS = frozenset({"aud", "audience", "iss", "issuer", "azp", "clientid", "appid", "cid"})
_STABLE_IDS = frozenset({"tenantid", "groupid", "roleid", "teamid", "organizationid", "orgid"})
_FLEETING_WORDS = frozenset(
    {
        "exp", "iat", "nbf", "jti", "sid", "nonce", "hash", "time", "timestamp", "date", "expires", "took", "seq",
        "token", "challenge", "assertion", "score", "version", "updated", "created", "remote", "session",
    }
)  # fmt: skip
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_FLEETING_TEXT = re.compile(r"\d{4}-\d\d-\d\d[T ].*|\d{1,3}(\.\d{1,3}){3}(:\d+)?|.{161,}", re.DOTALL)
_PERSONAL_TEXT = re.compile(r"[^\s@]+@[^\s@]+|[0-9A-Fa-f]{8}-[0-9A-Fa-f-]{27}|(?=.*\d)[0-9A-Za-z_-]{20,}")
_META = re.compile(r"[\\.^$|?*+()\[\]{}]")
_LARGE_NUMBER = 10**8


class Fact(NamedTuple):
    """One condition: `value` is the number of its value in the `Values` that made it.

    `listed`: it is wanted as an item of a list, so a value by itself is not enough.
    """

    operator: str
    path: tuple[str, ...]
    value: int
    listed: bool = False


class Values:
    """JSON values by number: equal numbers for values that are equal to strict searches, lists in any order."""

    def __init__(self) -> None:
        self._numbers: dict[object, int] = {}
        self._known: dict[int, int | None] = {}  # by identity; the documents outlive this
        self._given: list[Any] = []

    def __getitem__(self, number: int) -> Any:
        """The value as a rule writes it."""
        return literal(self._given[number])

    def number(self, value: Any) -> int | None:
        """The number of a value; None when no strict search can name it (it holds an empty object)."""
        if not isinstance(value, (dict, list)):
            # JSON equality: true is not 1, 1 is 1.0
            return self._number((isinstance(value, bool), isinstance(value, str), value), value)
        if id(value) not in self._known:
            self._known[id(value)] = self._inner(value)
        return self._known[id(value)]

    def _inner(self, value: Any) -> int | None:
        numbers = [self.number(item) for item in (value.values() if isinstance(value, dict) else value)]
        known = [number for number in numbers if number is not None]
        if len(known) < len(numbers) or value == {}:
            return None
        if isinstance(value, dict):
            return self._number(frozenset(zip(value, known, strict=True)), value)
        return self._number(("list", *sorted(known)), value)

    def _number(self, key: object, value: Any) -> int:
        number = self._numbers.setdefault(key, len(self._given))
        if number == len(self._given):
            self._given.append(value)
        return number


def facts_of(document: object, values: Values) -> set[Fact]:
    """Every single condition that is true of a context: by its whole path, and by its last key at any depth."""
    found: set[Fact] = set()
    rest: list[tuple[Any, tuple[str, ...] | None]] = [
        (document, ())
    ]  # None: inside a list, where no path leads
    while rest:
        value, path = rest.pop()
        if isinstance(value, list):
            rest.extend((item, None) for item in value)
        elif isinstance(value, dict):
            for key, item in value.items():
                below = None if path is None else (*path, key)
                for strict, number, listed in _said(item, values):
                    found.add(Fact(f"FIND{strict}", (key,), number, listed))
                    if below is not None:
                        found.add(Fact(f"MATCH{strict}", below, number, listed))
                rest.append((item, below))
    return found


def _said(value: Any, values: Values) -> Iterator[tuple[str, int, bool]]:
    """(strict or not, number, listed) of what a key with this value satisfies."""
    whole = None if isinstance(value, dict) else values.number(value)
    if whole is not None:
        yield "$", whole, False
    if isinstance(value, list):
        for item in _scalars(value):
            number = values.number(item)
            if number is not None:
                yield from (("", number, False), ("", number, True))
        inner = (values.number(item) for item in value if isinstance(item, (dict, list)))
        yield from (("", number, True) for number in inner if number is not None)
    elif whole is not None:
        yield "", whole, False


def _scalars(items: list[Any]) -> Iterator[Any]:
    """The scalars of a list and of the lists in it."""
    rest = [items]
    while rest:
        for item in rest.pop():
            if isinstance(item, list):
                rest.append(item)
            elif not isinstance(item, dict):
                yield item


def object_facts(document: object, values: Values) -> Iterator[list[Fact]]:
    """All there is to say of each object inside a list, partially and strictly: no search of it alone says more."""
    rest: list[tuple[Any, bool]] = [(document, False)]
    while rest:
        value, listed = rest.pop()
        if isinstance(value, dict):
            if listed:
                found = list(_inside(value, values))
                for operator in ("FIND", "FIND$"):
                    yield [fact for fact in found if fact.operator == operator]
            rest.extend((item, listed) for item in reversed(value.values()))
        elif isinstance(value, list):
            rest.extend((item, True) for item in reversed(value))


def _inside(value: dict[str, Any], values: Values) -> Iterator[Fact]:
    """What is true of one object, by the paths in it."""
    rest: list[tuple[dict[str, Any], tuple[str, ...]]] = [(value, ())]
    while rest:
        place, path = rest.pop()
        for key, item in place.items():
            if isinstance(item, dict):
                rest.append((item, (*path, key)))
            else:
                said = dict.fromkeys(_said(item, values))
                yield from (
                    Fact(f"FIND{mark}", (*path, key), number, listed) for mark, number, listed in said
                )


def search(facts: Iterable[Fact], values: Values) -> dict[str, Any]:
    """The search that asks several facts of one operator together; a key with several values wants each in its list."""
    pattern: dict[str, Any] = {}
    operator = ""
    asked: dict[tuple[str, ...], dict[int, bool]] = {}  # path -> number of a value -> listed
    for fact in facts:
        operator = fact.operator
        known = asked.setdefault(fact.path, {})
        known[fact.value] = known.get(fact.value, False) or fact.listed
    for path, wanted in asked.items():
        place = pattern
        for key in path[:-1]:
            place = place.setdefault(literal(key), {})
        items = [values[number] for number in wanted]
        place[literal(path[-1])] = items if len(items) > 1 or any(wanted.values()) else items[0]
    return {operator: pattern}


def literal(value: Any) -> Any:
    """The value as a rule must write it to mean just this: a text that looks like a pattern is quoted as one."""
    if is_pattern(value):
        quoted = _META.sub(lambda found: "\\" + found[0], value).replace("\0", "\\x00")
        return f"r'{quoted}'"
    if isinstance(value, dict):
        return {literal(key): literal(item) for key, item in value.items()}
    return [literal(item) for item in value] if isinstance(value, list) else value


def leaves(value: Any) -> int:
    """How many conditions a value stands for: one for each scalar in it, at least one."""
    if isinstance(value, dict):
        return max(1, sum(map(leaves, value.values())))
    return max(1, sum(map(leaves, value))) if isinstance(value, list) else 1


def lasting(path: Iterable[str], value: Any) -> int:
    """How long a condition will say the same about a person: GROUP (belongs to something) to FLEETING (this token).

    CLIENT lasts, and says nothing about the person.
    """
    keys = list(path)
    words = {word.casefold() for word in _WORDS.findall(keys[-1])}
    among = any(_GROUP_WORDS.search(key.casefold()) for key in keys)
    if words & _FLEETING_WORDS or _is_fleeting(value):
        return FLEETING
    if is_client_wide(keys[-1]):
        return CLIENT
    if isinstance(value, str) and _PERSONAL_TEXT.fullmatch(value):
        return PERSONAL
    own = _GROUP_WORDS.search(keys[-1].casefold()) or (among and keys[-1].casefold() == "name")
    if not own and _is_personal(keys[-1], words):
        return PERSONAL
    if value is None or value in ("", []) or isinstance(value, (dict, list)):
        return ODD
    return GROUP if among else PLAIN


def is_client_wide(key: str) -> bool:
    """Whether a key says by which application somebody logged in, not who he is."""
    return re.sub(r"[^a-z]", "", key.casefold()) in _CLIENT_KEYS


def _is_personal(key: str, words: set[str]) -> bool:
    plain = re.sub(r"[^a-z]", "", key.casefold())
    if plain in _STABLE_IDS:
        return False
    return plain in _PERSONAL_KEYS or plain.endswith(_PERSONAL_ENDS) or bool(words & _PERSONAL_WORDS)


def _is_fleeting(value: Any) -> bool:
    if isinstance(value, (dict, list)):
        inner = value.values() if isinstance(value, dict) else value
        return any(map(_is_fleeting, inner))
    if isinstance(value, str):
        return _FLEETING_TEXT.fullmatch(value) is not None
    return isinstance(value, (int, float)) and abs(value) >= _LARGE_NUMBER


def text(value: Any) -> str:
    """A stable text of a value, to order equals by."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
