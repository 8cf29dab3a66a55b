"""Facts about results: failures of one reason are one, and the envelope groups them by code as the service does."""

from __future__ import annotations

from mgmtctl.domain.errors import ConflictError, NotFoundError, UnavailableError
from mgmtctl.operations.results import Items, envelope, grouped


def test_texts_that_differ_only_by_the_item_are_one_failure() -> None:
    failures = grouped([(number, NotFoundError("agent", number, code=1701)) for number in ("001", "002")])
    assert [failure.ids for failure in failures] == [("001", "002")]


def test_texts_that_name_something_else_stay_apart() -> None:
    reserved = [
        ("1", ConflictError("user `admin` is reserved", code=4008)),
        ("2", ConflictError("user `wui` is reserved", code=4008)),
    ]
    assert [failure.ids for failure in grouped(reserved)] == [("1",), ("2",)]


def test_the_envelope_groups_by_code_and_counts_ids() -> None:
    failed = grouped(
        [
            ("2", ConflictError("user `wui` is reserved", code=5004)),
            ("1", ConflictError("user `admin` is reserved", code=5004)),
            ("9", NotFoundError("user", "9", code=5001)),
        ]
    )
    data = envelope(Items(["101"], failed))
    assert (data["error"], data["data"]["total_failed_items"]) == (2, 3)  # type: ignore[index]
    assert [(item["error"]["code"], item["id"]) for item in data["data"]["failed_items"]] == [  # type: ignore[index]
        (5001, ["9"]),
        (5004, ["2", "1"]),
    ]


def test_a_text_for_several_items_names_none_of_them() -> None:
    one, two = (
        UnavailableError(f"folder `agents/{number}`: it has 1001 files", "io") for number in ("001", "100")
    )
    (failure,) = grouped([("001", one), ("100", two)])
    assert failure.error.problem == "folder `agents/...`: it has 1001 files"
    assert isinstance(failure.error, UnavailableError)
    assert failure.error.reason == "io"
    assert one.problem == "folder `agents/001`: it has 1001 files"
    (single,) = grouped([("001", one)])
    assert single.error is one
    same = ConflictError("it is in 001 of them")
    (both,) = grouped([("001", same), ("001", same)])
    assert both.error is same
