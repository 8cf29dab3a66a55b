"""Facts about the tables of revisions: numbers, trees kept once, contents counted, who has what."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mgmtctl.domain.errors import NotFoundError
from mgmtctl.domain.revisions import Author, Intent, tree_of
from mgmtctl.domain.scopes import Scope
from mgmtctl.store.agents import NewAgent
from mgmtctl.store.store import Store


@pytest.fixture
def store() -> Iterator[Store]:
    found = Store(":memory:", create=True)
    yield found
    found.close()


def add(store: Store, *names: str, group: str = "web") -> int:
    with store.atomic():
        return store.revisions.add(group, tree_of({name: name.encode() for name in names}), how="put", time=1)


def uses(store: Store) -> dict[int, int]:
    """How many contents have so many uses."""
    rows = store.database.rows("SELECT uses, count(*) FROM blobs GROUP BY uses")
    return dict(rows)


def test_numbers_count_by_group(store: Store) -> None:
    assert [add(store, "a"), add(store, "a", "b"), add(store, "a", group="db"), add(store)] == [1, 2, 1, 3]
    head = store.revisions.head("web")
    assert head is not None
    assert (head.number, store.revisions.tree(head.tree)) == (3, {})
    assert store.revisions.head("nothing") is None


def test_a_revision_comes_back_as_it_was_added(store: Store) -> None:
    with store.atomic():
        store.revisions.add(
            "web",
            tree_of({"a": b"1"}),
            how="edit",
            time=7,
            author=Author("ann", "c" * 32),
            reason="r",
            written=(1, 2),
        )
    found = store.revisions.get("web", 1)
    assert (found.how, found.time, found.author, found.reason, found.written) == (
        *("edit", 7, Author("ann", "c" * 32)),
        *("r", (1, 2)),
    )
    assert [tuple(changed) for changed in found.changes] == [("created", "a")]
    assert store.revisions.list("web") == [found]


def test_a_tree_is_kept_once_and_goes_with_its_last_revision(store: Store) -> None:
    add(store, "a", "b")
    add(store, "a")
    add(store, "a", "b")
    assert store.database.value("SELECT count(*) FROM trees") == 2
    assert uses(store) == {1: 1, 2: 1}
    with store.atomic():
        store.revisions.drop("web", [1])
    assert uses(store) == {1: 1, 2: 1}
    with store.atomic():
        store.revisions.drop("web", [2, 3])
    assert store.database.value("SELECT count(*) FROM trees") == 0
    assert len(store.revisions.unused_blobs()) == 2
    with store.atomic():
        store.revisions.forget_blobs(store.revisions.unused_blobs())
    assert uses(store) == {}


def test_a_number_does_not_come_back_when_its_revision_was_dropped(store: Store) -> None:
    add(store, "a")
    add(store, "b")
    with store.atomic():
        store.revisions.drop("web", [1])
    assert store.revisions.numbers("web") == [2]
    assert add(store, "c") == 3
    with pytest.raises(NotFoundError) as caught:
        store.revisions.get("web", 1)
    assert "not kept" in str(caught.value.why)


def test_an_announced_change_needs_its_contents_until_it_is_settled(store: Store) -> None:
    intent = Intent("web", "put", Author("ann"), "why", 3, {}, tree_of({"a": b"1"}))
    with store.atomic():
        store.revisions.announce(intent)
    assert store.revisions.intent("web") == intent
    assert store.revisions.announced() == ["web"]
    assert store.revisions.needed_blobs() == {intent.after["a"][0]}
    with store.atomic():
        store.revisions.settle("web")
    assert (store.revisions.intent("web"), store.revisions.needed_blobs()) == (None, set())


def test_agents_are_counted_by_what_they_were_last_given_and_who_may_be_read(store: Store) -> None:
    state = store.sync_state
    with store.atomic():
        for number, group in ((1, "web"), (2, "web"), (3, "db")):
            store.agents.claim(number)
            store.agents.add([NewAgent(number, f"agent{number}", "any", "k" * 64, group)], 0)
        state.save_manifest("d1", "m1", {}, {"web": 4})
        state.save_manifest("d2", "m2", {}, {"web": 5, "db": 9})
        state.begin([1, 2, 3])
        for number, digest in ((1, "d1"), (2, "d2"), (3, "d2")):
            store.database.execute("UPDATE sync_state SET digest = ? WHERE agent_id = ?", (digest, number))
    assert store.revisions.agents("web", Scope(everything=True)) == {4: 1, 5: 2}
    assert store.revisions.agents("web", Scope(groups=frozenset(("web",)))) == {4: 1, 5: 1}
    assert store.revisions.agents("web", Scope()) == {}
    assert store.revisions.held("web") == {4, 5}
    assert store.revisions.held("db") == {9}
