"""What is known of an agent: never guessed."""

from __future__ import annotations

import pytest

from mgmtctl.domain.agent_facts import (
    MOST_PROFILES,
    agent_facts,
    agent_version,
    config_profiles,
    os_family,
    os_text,
)

UBUNTU = {
    "name": "Ubuntu",
    "platform": "ubuntu",
    "version": "22.04",
    "uname": "Linux |web01 |5.15 |#1 |x86_64",
}


@pytest.mark.parametrize(
    ("os", "family"),
    [
        pytest.param(UBUNTU, "linux", id="a distribution"),
        pytest.param({"platform": "opensuse-leap"}, "linux", id="a distribution alone"),
        pytest.param({"uname": "Linux |h |6.1"}, "linux", id="only the kernel"),
        pytest.param(
            {"platform": "windows", "name": "Microsoft Windows Server 2019"}, "windows", id="windows"
        ),
        pytest.param({"platform": "darwin", "name": "macOS"}, "macos", id="darwin"),
        pytest.param({"name": "Mac OS X"}, "macos", id="an old name"),
        pytest.param({"platform": "sunos"}, "solaris", id="sunos"),
        pytest.param({"uname": "HP-UX |h"}, "hpux", id="hp-ux"),
        pytest.param({"platform": "AIX"}, "aix", id="letter case does not count"),
        pytest.param({"platform": "newdistro"}, None, id="a word nobody knows"),
        pytest.param({"platform": "newdistro", "uname": "Linux |h"}, "linux", id="but its kernel tells"),
        pytest.param({}, None, id="nothing reported"),
        pytest.param({"platform": " "}, None, id="blank"),
    ],
)
def test_the_system_follows_from_what_was_reported(os: dict[str, str], family: str | None) -> None:
    assert os_family(os) == family


def test_the_text_of_the_system_holds_what_was_reported_and_nothing_else() -> None:
    whole = os_text(UBUNTU, "Product v4.9.2")
    assert whole == "Linux |web01 |5.15 |#1 |x86_64 [Ubuntu|ubuntu: 22.04] - Product v4.9.2"
    assert os_text({"name": "Ubuntu"}, None) == "[Ubuntu]"
    assert os_text({"uname": "Linux |h"}, None) == "Linux |h"
    assert os_text({}, "Product v4.9.2") is None, "a release is no system"


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("Product v4.9.2", (4, 9, 2)),
        ("v4.14.0", (4, 14, 0)),
        ("4.3", (4, 3)),
        ("Product 4.9.2-rc1", (4, 9, 2)),
        ("Product", None),
        ("", None),
        (None, None),
        ("v4", None),
        ("1.2.3.4.5", None),
    ],
)
def test_the_release_is_read_out_of_what_agents_report(
    text: str | None, version: tuple[int, ...] | None
) -> None:
    assert agent_version(text) == version


def test_profiles_are_split_at_commas_and_trimmed() -> None:
    assert config_profiles(" debian, debian12 ,,web") == ("debian", "debian12", "web")
    assert config_profiles("") == ()


def test_an_agent_cannot_make_the_list_of_its_profiles_long() -> None:
    assert config_profiles(",".join(map(str, range(100_000)))) == tuple(map(str, range(MOST_PROFILES)))


def test_an_agent_that_reported_nothing_is_unknown() -> None:
    facts = agent_facts("001", "web-01", {}, None)
    assert (facts.os, facts.os_text, facts.version, facts.profiles) == (None, None, None, None)
