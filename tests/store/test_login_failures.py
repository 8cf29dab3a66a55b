"""Failed logins: fixed windows, blocks that last from their beginning, a bounded table (D 1)."""

from __future__ import annotations

import pytest

from mgmtctl.store import login_failures
from mgmtctl.store.login_failures import Limits, LoginFailureStore, address_bucket, user_bucket
from mgmtctl.store.store import Store

LIMITS = Limits(attempts=3, window=300, block=120)
BUCKET = user_bucket(100, "local:7")


@pytest.fixture
def failures() -> LoginFailureStore:
    return Store(":memory:").login_failures


def fail(failures: LoginFailureStore, now: int, times: int = 1, bucket: str = BUCKET) -> None:
    for _ in range(times):
        assert failures.count(bucket, LIMITS, now)
        failures.block_if_spent(bucket, LIMITS, now)


def test_the_last_attempt_blocks_for_the_whole_time_from_that_moment(failures: LoginFailureStore) -> None:
    fail(failures, 1000, 2)
    assert failures.blocked_for(BUCKET, LIMITS, 1299) == 0
    fail(failures, 1299)
    assert failures.blocked_for(BUCKET, LIMITS, 1299) == 120
    assert failures.blocked_for(BUCKET, LIMITS, 1418) == 1
    assert failures.blocked_for(BUCKET, LIMITS, 1419) == 0


def test_after_a_block_counting_begins_anew(failures: LoginFailureStore) -> None:
    fail(failures, 1000, 3)
    assert not failures.count(BUCKET, LIMITS, 1119)
    fail(failures, 1120, 2)
    assert failures.blocked_for(BUCKET, LIMITS, 1120) == 0


def test_a_window_is_fixed_and_does_not_slide(failures: LoginFailureStore) -> None:
    fail(failures, 1000)
    fail(failures, 1299)
    fail(failures, 1300, 2)
    assert failures.blocked_for(BUCKET, LIMITS, 1300) == 0


def test_attempts_under_way_count_before_they_are_known_to_fail(failures: LoginFailureStore) -> None:
    assert [failures.count(BUCKET, LIMITS, 1000) for _ in range(5)] == [True, True, True, False, False]
    failures.take_back(BUCKET)
    assert failures.count(BUCKET, LIMITS, 1000)


def test_buckets_do_not_touch_each_other(failures: LoginFailureStore) -> None:
    fail(failures, 1000, 3)
    for other in (user_bucket(None, "local:7"), user_bucket(100, "local:8"), address_bucket("local:7")):
        assert failures.blocked_for(other, LIMITS, 1000) == 0
        assert failures.count(other, LIMITS, 1000)


def test_forgetting_a_user_lifts_it_at_every_address_and_nobody_else(failures: LoginFailureStore) -> None:
    others = (user_bucket(1001, "a"), user_bucket(10, "a"), user_bucket(None, "a"))
    for bucket in (user_bucket(100, "a"), user_bucket(100, "b"), *others):
        fail(failures, 1000, 3, bucket)
    failures.forget_user(100)
    assert [failures.blocked_for(user_bucket(100, address), LIMITS, 1000) for address in "ab"] == [0, 0]
    assert all(failures.blocked_for(bucket, LIMITS, 1000) == 120 for bucket in others)


def test_a_clock_set_back_never_makes_a_block_longer(failures: LoginFailureStore) -> None:
    fail(failures, 1_000_000, 3)
    assert failures.blocked_for(BUCKET, LIMITS, 1000) == 120


def test_what_no_longer_counts_is_dropped(failures: LoginFailureStore) -> None:
    fail(failures, 1000)
    fail(failures, 1000, 3, address_bucket("x"))
    failures.purge(LIMITS, 1119)
    assert failures.blocked_for(address_bucket("x"), LIMITS, 1119) == 1
    failures.purge(LIMITS, 1300)
    assert failures._database.value("SELECT count(*) FROM login_failures") == 0


def test_the_table_is_bounded_and_blocked_buckets_go_last(
    failures: LoginFailureStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(login_failures, "MOST_BUCKETS", 5)
    fail(failures, 1000, 3, address_bucket("blocked"))
    for number in range(20):
        fail(failures, 1001 + number, 1, address_bucket(str(number)))
    failures.purge(LIMITS, 1021)
    assert failures._database.value("SELECT count(*) FROM login_failures") == 5
    assert failures.blocked_for(address_bucket("blocked"), LIMITS, 1021) == 99
