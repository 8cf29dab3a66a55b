"""Facts about links: names in rows, either in questions, changes in words."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from mgmtctl.domain.fields import ID, NAMES
from mgmtctl.domain.links import Changed, asked, differences, named, renamed
from mgmtctl.domain.queries import ListQuery

NAMES_OF = {"roles": {"1": "admin", "2": "reader"}}
FIELDS = {"id": ID, "roles": NAMES}


@dataclass(frozen=True)
class Thing:
    id: int
    roles: tuple[str, ...]

    def record(self) -> dict[str, object]:
        return {"id": str(self.id), "roles": list(self.roles)}


THINGS = [Thing(1, ("1", "2")), Thing(2, ("2",)), Thing(3, ("9",)), Thing(4, ())]


def test_a_row_has_names_where_they_are_known_and_leaves_the_record_alone() -> None:
    record = THINGS[0].record()
    assert named(record, NAMES_OF) == {"id": "1", "roles": ["admin", "reader"]}
    assert record["roles"] == ["1", "2"]
    assert named(THINGS[2].record(), NAMES_OF)["roles"] == ["9"]


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        ("roles=reader", [1, 2]),
        ("roles=2", [1, 2]),
        ("roles!=reader", [3, 4]),
        ("roles=null", [4]),
        ("roles~min", [1]),
        ("roles=9", [3]),
    ],
)
def test_a_list_is_asked_for_by_id_or_name(where: str, ids: list[int]) -> None:
    found, total = asked(THINGS, ListQuery(where=where), FIELDS, NAMES_OF)
    assert ([thing.id for thing in found], total) == (ids, len(ids))


def test_without_a_query_everything_is_listed_and_not_counted() -> None:
    assert asked(THINGS, None, FIELDS, NAMES_OF) == (THINGS, None)


def test_differences_tell_what_came_before_what_went() -> None:
    assert differences("role", (1, 3), (2, 3), {"1": "admin"}) == ("role `2` added", "role `admin` removed")
    assert differences("role", (1, 2), (2, 1), {}) == ()


def test_a_name_that_stays_is_no_change() -> None:
    assert (renamed("a", "a"), renamed("a", "A")) == ((), ("name `a` -> `A`",))


def test_a_changed_value_has_the_record_of_the_value() -> None:
    assert Changed(THINGS[1], ("x",)).record() == THINGS[1].record()
