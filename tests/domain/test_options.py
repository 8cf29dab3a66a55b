"""The vocabulary as entries: what is inherited, how an entry is called, and that every fact in it is understood."""

from __future__ import annotations

import pytest

from mgmtctl.domain import options
from mgmtctl.domain.options import ALLOWED, LOCAL_ONLY, MANAGER_ONLY, Entry


def entry(path: str) -> Entry:
    found = options.find(path)
    assert found is not None, path
    return found


@pytest.mark.parametrize(
    ("asked", "path"),
    [
        pytest.param("syscheck", "syscheck", id="a section"),
        pytest.param("syscheck.directories", "syscheck.directories", id="an option"),
        pytest.param(
            "syscheck.diff.disk_quota.limit", "syscheck.diff.disk_quota.limit", id="deep inside blocks"
        ),
        pytest.param("syscheck.directories@realtime", "syscheck.directories@realtime", id="an attribute"),
        pytest.param(
            "wodle.syscollector.hotfixes", "wodle.syscollector.hotfixes", id="an option of a module"
        ),
        pytest.param("syscollector.hotfixes", "wodle.syscollector.hotfixes", id="the module alone"),
        pytest.param("wodle.aws-cloudtrail", "wodle.aws-s3", id="an old name of a module"),
        pytest.param("command", "command", id="a section wins over a module of its name"),
        pytest.param("command.tag", "wodle.command.tag", id="but not when only the module has the option"),
        pytest.param("agent_config@profile", "agent_config@profile", id="a selector"),
        pytest.param("wodle", "wodle", id="the section of the modules itself"),
    ],
)
def test_an_entry_is_found_by_what_people_call_it(asked: str, path: str) -> None:
    assert entry(asked).path == path


@pytest.mark.parametrize(
    "path",
    [
        "",
        ".",
        "@",
        "syschek",
        "syscheck.nothing",
        "syscheck.directories@nothing",
        "wodle.",
        "wodle.x",
        "a@b@c",
        "x.y.z",
    ],
)
def test_what_nobody_knows_is_not_found(path: str) -> None:
    assert options.find(path) is None


def test_an_entry_inherits_from_what_it_lies_in() -> None:
    hotfixes = entry("syscollector.hotfixes")
    assert hotfixes.os == {"windows"}
    assert hotfixes.since == (3, 11, 0)
    assert (hotfixes.ref["bad_value"], hotfixes.ref["unknown_option"]) == ("unchecked", "rejected")
    assert entry("syscheck.synchronization.interval").since == (3, 12, 0), "of its block"
    assert entry("wodle.command.timeout").since == (3, 2, 2), "its own, which is higher than its module's"
    assert entry("active-response.disabled").agent_conf == LOCAL_ONLY
    assert entry("client.server.port").agent_conf == LOCAL_ONLY
    assert entry("client.force_reconnect_interval").agent_conf == ALLOWED
    assert entry("global").agent_conf == MANAGER_ONLY
    assert not entry("open-scap.timeout").certain, "its module is in doubt"
    assert entry("docker-listener.attempts").os == entry("docker-listener").os == options.systems("unix")


def test_a_module_is_found_by_its_old_name_and_sections_are_no_modules() -> None:
    assert options.module("aws-cloudtrail") is options.module("aws-cloudtrail")
    assert options.module("syscheck") is None
    assert options.section("syscollector") is None


def test_every_entry_has_facts_that_are_understood() -> None:
    found = list(options.every())
    assert len(found) > 500
    assert len({known.path for known in found}) == len(found), "no two have one path"
    data = options.data()
    for known in found:
        assert known.type in data["types"], known.path
        assert known.repeat in data["repeat_values"], known.path
        assert known.agent_conf in data["agent_conf_values"], known.path
        assert known.os, known.path
        assert known.facts.get("gate", "none") in data["gates"], known.path
        effects = [effect for key, effect in known.ref.items() if effect != "ok"]
        assert set(effects) <= set(data["effects"]), known.path
        assert options.find(known.path) is known or known.path == "wodle", known.path


def test_every_option_that_holds_a_secret_is_known_as_one() -> None:
    secret = {known.path for known in options.every() if known.secret}
    assert {
        "github.api_auth.api_token",
        "office365.api_auth.client_secret",
        "ms-graph.api_auth.secret_value",
        "fluent-forward.password",
        "fluent-forward.shared_key",
        "wodle.aws-s3.bucket.secret_key",
        "wodle.azure-logs.storage.account_key",
        "wodle.azure-logs.graph.application_key",
    } <= secret
    assert "office365.api_auth.client_secret_path" not in secret, "a path is no secret"


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("4.9.2", (4, 9, 2)),
        ("4.14", (4, 14)),
        ("10", (10,)),
        ("4.x", None),
        ("", None),
        ("4..2", None),
        ("٤.9", None),
    ],
)
def test_versions_are_numbers(text: str, version: tuple[int, ...] | None) -> None:
    assert options.read_version(text) == version


def test_releases_are_those_that_were_examined() -> None:
    base, horizon = map(options.read_version, options.releases())
    assert base is not None
    assert horizon is not None
    assert base < horizon
