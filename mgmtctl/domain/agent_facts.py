"""What is known of one agent that decides which blocks of agent.conf it reads, and how (D 6, D 8).

Rules: what an agent did not report is unknown, never guessed, and unknown is neither yes nor no; what it left in its
folder says something about that agent only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from mgmtctl.domain.options import Version, read_version

_FAMILIES = {
    "windows": "windows",
    "microsoft windows": "windows",
    "darwin": "macos",
    "macos": "macos",
    "mac os x": "macos",
    "sunos": "solaris",
    "solaris": "solaris",
    "aix": "aix",
    "hp-ux": "hpux",
    "hpux": "hpux",
    "freebsd": "freebsd",
    "openbsd": "openbsd",
    "linux": "linux",
}
# Platforms that report the name of their distribution and may come without the word Linux.
_LINUX = frozenset(
    (
        *("almalinux", "alpine", "amzn", "arch", "buildroot", "centos", "debian", "fedora", "gentoo", "kali"),
        *(
            "linuxmint",
            "ol",
            "opensuse",
            "opensuse-leap",
            "opensuse-tumbleweed",
            "oracle",
            "raspbian",
            "redhat",
        ),
        *("rhel", "rocky", "scientific", "sled", "sles", "suse", "ubuntu", "void"),
    )
)
MOST_PROFILES = 1_000
_VERSION = re.compile(r"(?:^|[\sv])(\d{1,6}(?:\.\d{1,6}){1,3})(?![\d.])")


@dataclass(frozen=True, slots=True)
class AgentFacts:
    """One agent as blocks and options see it; None is what is not known.

    `os` is one of `options.data()["os_names"]`; `os_text` what the selector `os` is compared with; `version` the
    release of the agent; `profiles` those of its local configuration (empty: known to have none).
    """

    id: str
    name: str
    os: str | None = None
    os_text: str | None = None
    version: Version | None = None
    profiles: tuple[str, ...] | None = None


def agent_facts(
    identifier: str,
    name: str,
    os: Mapping[str, str],
    version: str | None,
    profiles: tuple[str, ...] | None = None,
) -> AgentFacts:
    """The facts of an agent from its record: `os` and `version` as in reference/groups.md 6.1."""
    return AgentFacts(identifier, name, os_family(os), os_text(os, version), agent_version(version), profiles)


def os_text(os: Mapping[str, str], version: str | None) -> str | None:
    """`uname [os.name|os.platform: os.version] - version`, without what was not reported (D 6); None: nothing was."""
    if not any(os.get(part) for part in ("uname", "name", "platform", "version")):
        return None
    inside = "|".join(filter(None, (os.get("name"), os.get("platform"))))
    inside += f": {os['version']}" if os.get("version") else ""
    text = " ".join(filter(None, (os.get("uname"), f"[{inside}]" if inside else "")))
    return f"{text} - {version}" if version else text


def os_family(os: Mapping[str, str]) -> str | None:
    """The system that the vocabulary of options knows, from what was reported; None when that does not tell."""
    for part in ("platform", "name", "uname"):
        text = os.get(part, "").casefold()
        found = next((family for word, family in _FAMILIES.items() if text.startswith(word)), None)
        if found or _LINUX.intersection(text.split()[:1]):
            return found or "linux"
    return None


def agent_version(text: str | None) -> Version | None:
    """The release in what an agent reports (`Product v4.9.2`); None when there is none."""
    found = _VERSION.search(text) if text else None
    return read_version(found[1]) if found else None


def config_profiles(text: str) -> tuple[str, ...]:
    """Each profile of a `<config-profile>` by itself (D 6); of a longer list the first MOST_PROFILES.

    The agent writes the list and we compare each with every block: it must not make that long.
    """
    return tuple(filter(None, (part.strip() for part in text.split(",", MOST_PROFILES)[:MOST_PROFILES])))
