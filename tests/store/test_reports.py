"""What agents reported, and the merged files that their checksums stand for, in the store."""

from __future__ import annotations

import pytest

from mgmtctl.domain.agents import Reports
from mgmtctl.domain.keepalives import Report
from mgmtctl.store import sync_state
from mgmtctl.store.agents import NewAgent
from mgmtctl.store.store import Store
from mgmtctl.store.sync_state import Merged, Written

NS = 1_000_000_000
SUM, DIGEST = "ab" * 16, "cd" * 32


@pytest.fixture
def store() -> Store:
    made = Store(":memory:", create=True)
    made.agents.add([NewAgent(n, f"host-{n}", "any", "k" * 64, "default") for n in (1, 2, 3)], 0)
    return made


def test_what_a_report_does_not_say_stays_as_it_was(store: Store) -> None:
    first = Report(version="v1", ip="10.0.0.7", os={"name": "Ubuntu", "major": "22"}, merged_sum=SUM)
    store.reports.record(1, first, Reports(100), 100 * NS)
    store.reports.record(1, Report(os={"name": "Debian"}), Reports(110), 110 * NS)
    agent = store.agents.get(1, 120)
    assert (agent.version, agent.ip, agent.merged_sum) == ("v1", "10.0.0.7", SUM)
    assert agent.os == {"name": "Debian"}
    known = store.reports.known(1)
    assert (known.state, known.reported, known.version) == (Reports(110), 110 * NS, "v1")


def test_reports_of_one_agent_or_group_are_asked_for(store: Store) -> None:
    store.agents.set_groups(["002"], ["web"])
    store.reports.record(2, Report(), Reports(100), 100 * NS + 5)
    assert list(store.reports.reported(None)) == [(1, None, 0), (2, None, 100 * NS + 5), (3, None, 0)]
    assert [row[0] for row in store.reports.reported(["001", "003"])] == [1, 3]
    assert [row[0] for row in store.reports.reported(None, "web")] == [2]
    assert list(store.reports.reported(["001"], "web")) == []


def test_times_that_lie_in_the_future_are_brought_back(store: Store) -> None:
    store.reports.record(1, Report(), Reports(100), 100 * NS)
    store.reports.record(2, Report(), Reports(9000, started=9000), 9000 * NS)
    store.reports.record(3, Report(), Reports(1060), 1060 * NS)
    assert store.reports.mend_times(1000.5) == 1
    assert [store.reports.known(number).state for number in (1, 2, 3)] == [
        Reports(100),
        Reports(1000, started=1000),
        Reports(1060),
    ]
    assert store.reports.known(2).reported == 1000 * NS


def test_future_times_are_found_without_a_look_at_every_agent(store: Store) -> None:
    plan = store.database.rows("EXPLAIN QUERY PLAN UPDATE agents SET started = 1 WHERE last_keep_alive > 5")
    assert any("agents_by_report" in str(row) for row in plan)


def test_a_checksum_of_either_kind_leads_to_its_merged_file(store: Store) -> None:
    store.sync_state.save_manifest(DIGEST, SUM, {"a": ("1", 1)}, {"web": 6})
    assert store.sync_state.known_digest(SUM) == DIGEST
    assert store.sync_state.known_digest(DIGEST) == DIGEST
    assert store.sync_state.known_digest("ef" * 32) is None
    assert store.sync_state.revisions(DIGEST) == {"web": 6}
    assert store.sync_state.revisions("ef" * 32) == {}


def test_an_md5_of_two_merged_files_leads_to_neither(store: Store) -> None:
    for digest in ("01" * 32, "02" * 32):
        store.sync_state.save_manifest(digest, SUM, {})
    assert store.sync_state.known_digest(SUM) is None


def test_the_last_revisions_that_gave_these_bytes_count(store: Store) -> None:
    store.sync_state.save_manifest(DIGEST, SUM, {"a": ("1", 1)}, {"web": 6})
    store.sync_state.save_manifest(DIGEST, SUM, {"a": ("1", 1)})
    assert store.sync_state.revisions(DIGEST) == {"web": 6}
    store.sync_state.save_manifest(DIGEST, SUM, {"a": ("1", 1)}, {"web": 8})
    assert store.sync_state.revisions(DIGEST) == {"web": 8}


def test_a_merged_file_that_nobody_needs_keeps_its_checksums_only(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = store.sync_state
    digests = [f"{number:064x}" for number in range(1, 7)]
    for number, digest in enumerate(digests):
        state.save_manifest(digest, f"{number:032x}", {"a": ("1", 1)}, {"web": number})
    state.save_merged(Merged("default", digests[0], "", 1, "", 0))
    state.begin([1, 2])
    state.record([Written(1, "default", digests[1], b"l", 0)], 50)
    state.record([Written(2, "default", digests[0], b"l", 0)], 50)
    state.set_running([(2, digests[2])])
    state.forget_unused()
    assert [state.manifest(digest) is not None for digest in digests] == [True] * 3 + [False] * 3
    assert state.known_digest(digests[4]) == digests[4]
    assert state.revisions(digests[4]) == {"web": 4}
    monkeypatch.setattr(sync_state, "_REMEMBERED", 2)
    state.forget_unused()
    assert [state.known_digest(digest) is not None for digest in digests] == [True] * 3 + [False, True, True]
    state.save_manifest(digests[4], f"{4:032x}", {"a": ("1", 1)}, {"web": 9})
    assert state.manifest(digests[4]) == {"a": ("1", 1)}


@pytest.mark.parametrize(
    ("applied", "running"),
    [pytest.param(True, DIGEST, id="restarts_by_itself"), pytest.param(False, "", id="has_to_be_restarted")],
)
def test_a_push_is_used_at_once_or_after_a_restart(store: Store, applied: bool, running: str) -> None:
    store.sync_state.begin([1])
    store.sync_state.record([Written(1, "default", DIGEST, b"l", 0, applied)], 50)
    (member,) = store.sync_state.members(["001"])
    assert (member.pushed_digest, member.running) == (DIGEST, running)


def test_a_look_that_is_doubted_is_not_trusted_and_one_that_is_missing_stays_so(store: Store) -> None:
    store.sync_state.begin([1, 2])
    store.sync_state.record([Written(1, "default", DIGEST, b"look", 0)], 50)
    store.sync_state.doubt([1, 2, 3])
    assert [member.look for member in store.sync_state.members(None)] == [sync_state.FRESH, None, None]
