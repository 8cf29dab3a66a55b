"""Ids by their first digits, and what is remembered of a context."""

from __future__ import annotations

import pytest

from mgmtctl.domain.errors import MgmtctlError, NotFoundError, QuestionError
from mgmtctl.domain.request_log import printable_json
from mgmtctl.domain.sessions import MAX_KEYS, remembered, the_one

KNOWN = ["53a5d09f" + "0" * 24, "53a5d09f" + "1" * 24, "d8466023" + "f" * 24]


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        pytest.param("d8466023", KNOWN[2], id="the first eight digits"),
        pytest.param(" D8466023F ", KNOWN[2], id="capitals and blanks around"),
        pytest.param(KNOWN[0], KNOWN[0], id="all digits"),
        pytest.param("53a5d09f1", KNOWN[1], id="as many as it takes"),
    ],
)
def test_an_id_is_known_by_how_it_begins(reference: str, found: str) -> None:
    assert the_one("context", reference, KNOWN) == found


@pytest.mark.parametrize(
    ("reference", "kind"),
    [
        pytest.param("53a5d09f", QuestionError, id="it fits two"),
        pytest.param("d846602", QuestionError, id="seven digits"),
        pytest.param("", QuestionError, id="nothing"),
        pytest.param("%" * 8, QuestionError, id="a pattern"),
        pytest.param("ffffffff", NotFoundError, id="nobody has it"),
    ],
)
def test_what_names_no_single_id_is_refused(reference: str, kind: type[MgmtctlError]) -> None:
    with pytest.raises(kind) as raised:
        the_one("context", reference, KNOWN)
    assert "53a5d09f0" not in str(raised.value)


def test_of_a_context_its_name_and_keys_are_remembered() -> None:
    document = {"name": "ann", "auth": {"team": "ops", "password": "hunter2"}, "mail": "a@b.c"}
    assert remembered(document) == {
        "name": "ann",
        "auth": {"team": "****", "password": "****"},
        "mail": "****",
    }


@pytest.mark.parametrize(
    "document",
    [
        pytest.param({"name": "ann", **{f"{number}" * 90: 1 for number in range(100)}}, id="many keys"),
        pytest.param({"name": "ann", "auth": {"k" * 5000 + str(n): 1 for n in range(100)}}, id="long keys"),
        pytest.param({"name": "ann" * 100_000, "auth": {}}, id="a long name"),
    ],
)
def test_what_is_remembered_is_bounded(document: dict[str, object]) -> None:
    found = remembered(document)
    assert len(printable_json(found)) <= MAX_KEYS
    assert str(found["name"]).startswith("ann")
