"""The condition that stops a rollout: reading it with carets, and its reasons."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mgmtctl.domain.abort_conditions import METRICS, read_abort_if
from mgmtctl.domain.errors import QuestionError
from mgmtctl.domain.filters import FilterError

COUNTS = {"not-synced": 3, "disconnected": 1, "failed": 0}


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        pytest.param("not-synced>2", ("3 of 10 canaries not-synced (not-synced>2)",), id="more than"),
        pytest.param("not-synced > 3", (), id="not more than"),
        pytest.param("not-synced>=30%", ("3 of 10 canaries not-synced (not-synced>=30%)",), id="per cent"),
        pytest.param("not-synced>30%", (), id="not above per cent"),
        pytest.param("failed=0", ("0 of 10 canaries failed (failed=0)",), id="equal"),
        pytest.param("failed!=0", (), id="not unequal"),
        pytest.param(
            "pending-restart<1", ("0 of 10 canaries pending-restart (pending-restart<1)",), id="none counted"
        ),
        pytest.param(
            "failed>0 or disconnected>0", ("1 of 10 canaries disconnected (disconnected>0)",), id="one of two"
        ),
        pytest.param(
            "not-synced>2 and disconnected>0",
            (
                "3 of 10 canaries not-synced (not-synced>2) and 1 of 10 canaries disconnected (disconnected>0)",
            ),
            id="both",
        ),
        pytest.param("not-synced>2 AND failed>0", (), id="not both"),
        pytest.param(
            "failed>0 and failed>0 or disconnected=1",
            ("1 of 10 canaries disconnected (disconnected=1)",),
            id="and binds tighter",
        ),
    ],
)
def test_the_verdict_is_its_reasons(text: str, reasons: tuple[str, ...]) -> None:
    assert read_abort_if(text).reasons(COUNTS, 10) == reasons


@pytest.mark.parametrize(
    ("text", "column", "problem"),
    [
        pytest.param("", 1, "expected a metric, got the end", id="nothing"),
        pytest.param("not-synched>2", 1, "no metric `not-synched`", id="a misspelt metric"),
        pytest.param("failed", 7, "expected one of > >= < <= = !=, got the end", id="no operator"),
        pytest.param("failed ~ 2", 8, "no operator `~`", id="an unknown operator"),
        pytest.param("failed >", 9, "expected a whole number or per cent, got the end", id="no number"),
        pytest.param("failed > x", 10, "expected a whole number or per cent, got `x`", id="no digits"),
        pytest.param("failed > 1.5", 10, "expected a whole number or per cent", id="a part"),
        pytest.param(
            "failed>1 xor failed>2", 10, "expected `and`, `or` or the end, got `xor`", id="another word"
        ),
        pytest.param("failed>1 or", 12, "expected a metric, got the end", id="nothing after or"),
        pytest.param("(failed>1)", 1, "expected a metric, got `(`", id="parentheses"),
    ],
)
def test_a_fault_is_shown_with_its_column(text: str, column: int, problem: str) -> None:
    with pytest.raises(FilterError) as caught:
        read_abort_if(text)
    assert caught.value.problem.startswith(f"column {column}: {problem}")
    assert str(caught.value.why).endswith("^")


def test_a_misspelt_metric_is_suggested() -> None:
    with pytest.raises(FilterError) as caught:
        read_abort_if("not_synced>1")
    assert caught.value.fix == "did you mean `not-synced`?"


@given(st.text(max_size=60) | st.text(alphabet="notsyced-fail<>=!%0123456789 orand()", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        read = read_abort_if(text)
    except QuestionError:
        return
    assert read.any_of
    assert (
        read_abort_if(" or ".join(" and ".join(map(str, every)) for every in read.any_of)).any_of
        == read.any_of
    )


@given(st.sampled_from(METRICS), st.integers(0, 9), st.integers(0, 9))
def test_more_and_not_more_exclude_each_other(metric: str, count: int, number: int) -> None:
    counts = {metric: count}
    more, not_more = (read_abort_if(f"{metric}{sign}{number}").reasons(counts, 10) for sign in (">", "<="))
    assert bool(more) is not bool(not_more)
