"""Facts about the vocabulary in the package: it says what its source says, and its entries are found as people call
them.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from mgmtctl.domain import options
from mgmtctl.domain.conf_facts import OptionFacts, facts_of, listed
from mgmtctl.domain.conf_words import in_words
from mgmtctl.domain.data import read_data
from mgmtctl.domain.errors import NotFoundError
from mgmtctl.domain.options import ALLOWED, Entry
from tests.conftest import CORPUS

SOURCE = CORPUS.parent / "spec" / "agent_options.yaml"


def _source() -> Any:
    if not SOURCE.is_file():
        pytest.skip("the source of the vocabulary is not here")
    return yaml.safe_load(SOURCE.read_text(encoding="utf-8"))


def test_every_fact_of_the_package_is_that_of_the_source() -> None:
    source, data = _source(), json.loads(read_data("agent_options.json"))
    del source["shared"], data["about"]
    assert data == json.loads(json.dumps(source))


def test_the_counts_are_those_of_the_page_about_the_source() -> None:
    entries = list(options.every())
    read = [entry for entry in entries if entry.kind == options.OPTION]
    assert len(options.sections()) == 38
    assert len(options.modules()) == 10
    assert sum(place == ALLOWED for place in options.sections().values()) == 15
    assert len(read) == 412
    assert sum(entry.kind == options.ATTRIBUTE for entry in entries) == 78
    assert sum(entry.facts.get("runs_command") is True for entry in read) == 8


@pytest.mark.parametrize("entry", list(options.every()), ids=lambda entry: entry.path)
def test_every_entry_is_found_by_its_path_and_told_in_words(entry: Entry) -> None:
    assert options.find(entry.path) is not None
    record = facts_of(entry.path).record()
    assert (record["path"], record["kind"]) == (entry.path, entry.kind)
    assert json.loads(json.dumps(record)) == record
    assert all(words for _, words in OptionFacts(entry).pairs())
    assert in_words(entry)


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("syscheck.directorys", "syscheck.directories"),
        ("syscheck.scan-on-start", "syscheck.scan_on_start"),
        ("wodle.cis-cat.scan_on_start", "wodle.cis-cat.scan-on-start"),
        ("directories", "syscheck.directories"),
        ("syscheck.audit_key", "syscheck.whodata.audit_key"),
        ("syschek", "syscheck"),
        ("localfile.query@typ", "localfile.query@type"),
        ("syscheck.directories@real_time", "syscheck.directories@realtime"),
    ],
)
def test_a_path_that_leads_nowhere_gets_a_suggestion(path: str, meant: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        facts_of(path)
    assert caught.value.fix == f"did you mean `{meant}`?"


@pytest.mark.parametrize("path", ["", ".", "@", "a.b.c.d", "x" * 10_000, "syscheck.", "é\n"])
def test_any_path_gets_an_answer(path: str) -> None:
    with pytest.raises(NotFoundError):
        facts_of(path)


def test_lists_are_sections_what_is_inside_one_or_everything() -> None:
    assert [found.entry.path for found in listed("sca.policies")] == [
        "sca.policies",
        "sca.policies.policy",
        "sca.policies.policy@enabled",
    ]
    assert {found.entry.kind for found in listed(None)} == {"section", "module"}
    assert len(listed(None, all_of_them=True)) == len(list(options.every()))
