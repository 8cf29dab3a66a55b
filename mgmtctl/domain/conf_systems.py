"""For which systems a block is, as its selector `os` tells: by trying it on what agents of each system report.

Rules: the texts are made from real reports and look as agents send them, old form and new; both readings of a selector
count, as a pattern and as a list of substrings. What matches none of them tells nothing, unless it names a system.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping

from mgmtctl.domain.agent_facts import os_family, os_text
from mgmtctl.domain.selectors import compiled, read_as_list

_RELEASE = "Agent v4.9.2"
_LINUX = (
    "Ubuntu|ubuntu|20.04.2 LTS|5.8.0-45-generic",
    "Ubuntu|ubuntu|22.04.3 LTS (Jammy Jellyfish)|6.2.0-39-generic",
    "Debian GNU/Linux|debian|12 (bookworm)|6.1.0-18-amd64",
    "Raspbian GNU/Linux|raspbian|11 (bullseye)|5.15.84-v7+",
    "Linux Mint|linuxmint|21.2|5.15.0-91-generic",
    "Kali GNU/Linux|kali|2023.4|6.5.0-kali3-amd64",
    "CentOS Linux|centos|7.9|3.10.0-1160.el7.x86_64",
    "CentOS Stream|centos|9|5.14.0-391.el9.x86_64",
    "Red Hat Enterprise Linux|rhel|8.8 (Ootpa)|4.18.0-477.el8.x86_64",
    "Red Hat Enterprise Linux Server|rhel|7.9|3.10.0-1160.el7.x86_64",
    "Rocky Linux|rocky|9.3 (Blue Onyx)|5.14.0-362.el9.x86_64",
    "AlmaLinux|almalinux|8.9 (Midnight Oncilla)|4.18.0-513.el8.x86_64",
    "Oracle Linux Server|ol|8.9|5.15.0-200.el8uek.x86_64",
    "Scientific Linux|scientific|7.9|3.10.0-1160.el7.x86_64",
    "Amazon Linux|amzn|2|4.14.336-253.554.amzn2.x86_64",
    "Amazon Linux|amzn|2023|6.1.72-96.166.amzn2023.x86_64",
    "Fedora Linux|fedora|39 (Server Edition)|6.6.8-200.fc39.x86_64",
    "SLES|sles|15.5|5.14.21-150500.55-default",
    "SUSE Linux Enterprise Server|suse|12.5|4.12.14-122-default",
    "openSUSE Leap|opensuse-leap|15.5|5.14.21-150500.55-default",
    "Alpine Linux|alpine|3.19.0|6.6.8-0-lts",
    "Arch Linux|arch||6.6.10-arch1-1",
    "Gentoo|gentoo|2.14|6.6.13-gentoo",
)
_WINDOWS = (
    "Microsoft Windows XP Professional|5.1.2600",
    "Microsoft Windows Vista Business|6.0.6002",
    "Microsoft Windows 7 Professional|6.1.7601",
    "Microsoft Windows 8.1 Pro|6.3.9600",
    "Microsoft Windows 10 Home Single Language|10.0.19045",
    "Microsoft Windows 10 Enterprise|10.0.19044",
    "Microsoft Windows 11 Pro|10.0.22631",
    "Microsoft Windows Server 2003 R2|5.2.3790",
    "Microsoft Windows Server 2008 R2 Standard|6.1.7601",
    "Microsoft Windows Server 2012 R2 Standard|6.3.9600",
    "Microsoft Windows Server 2016 Datacenter|10.0.14393",
    "Microsoft Windows Server 2019 Standard|10.0.17763.1",
    "Microsoft Windows Server 2022 Datacenter|10.0.20348",
)
# System -> (first part of what `uname` says, name, platform, version).
_OTHERS = (
    (
        "macos",
        "Darwin |mac.local |22.6.0 |Darwin Kernel Version 22.6.0 |arm64",
        "macOS|darwin|13.6 (Ventura)",
    ),
    (
        "macos",
        "Darwin |mac.local |23.2.0 |Darwin Kernel Version 23.2.0 |x86_64",
        "macOS|darwin|14.2.1 (Sonoma)",
    ),
    ("macos", "Darwin |mac.local |19.6.0 |Darwin Kernel Version 19.6.0 |x86_64", "Mac OS X|darwin|10.15.7"),
    ("solaris", "SunOS |unit |5.11 |11.4.0.15.0 |i86pc", "SunOS|sunos|11.4"),
    ("solaris", "SunOS |unit |5.10 |Generic_147147-26 |sun4v", "Solaris|solaris|10"),
    ("aix", "AIX |unit |2 |7 |00F84C0C4C00", "AIX|aix|7.2"),
    ("hpux", "HP-UX |unit |B.11.31 |U |ia64", "HP-UX|hp-ux|11.31"),
    ("freebsd", "FreeBSD |unit |13.2-RELEASE |FreeBSD 13.2-RELEASE GENERIC |amd64", "FreeBSD|freebsd|13.2"),
    ("openbsd", "OpenBSD |unit |7.4 |GENERIC.MP#1397 |amd64", "OpenBSD|openbsd|7.4"),
)


@functools.cache
def samples() -> Mapping[str, tuple[str, ...]]:
    """By system (`options.data()["os_names"]`): what agents of it report, as selectors see it."""
    found: dict[str, list[str]] = {}
    for system, text in _made():
        found.setdefault(system, []).append(text)
    return {system: tuple(texts) for system, texts in found.items()}


@functools.lru_cache(maxsize=4096)
def systems_of(value: str) -> frozenset[str] | None:
    """The systems that a selector `os` can be for; None when it does not tell."""
    pattern = compiled(value)
    negated = value.startswith("!")
    found = frozenset(
        system
        for system, texts in samples().items()
        if any(
            read_as_list(value, text) or (pattern is not None and bool(pattern.search(text)) != negated)
            for text in texts
        )
    )
    return found or _named(value)


def _named(value: str) -> frozenset[str] | None:
    """The systems that words of the value name: a release of one that is too new to be known here."""
    words = re.findall(r"[a-z][a-z-]+", value.casefold())
    found = frozenset(filter(None, (os_family({"name": word}) for word in words)))
    return found if found and not value.startswith("!") else None


def _made() -> Iterator[tuple[str, str]]:
    for line in _LINUX:
        system, _, kernel = line.rpartition("|")
        yield "linux", _text(f"Linux |unit |{kernel} |#1 SMP |x86_64", system)
    for line in _WINDOWS:
        name, _, version = line.partition("|")
        yield "windows", _text(name, f"{name}|windows|{version}")
        yield "windows", f"{name} [Ver: {version}] - {_RELEASE}"
    for system, uname, rest in _OTHERS:
        yield system, _text(uname, rest)


def _text(uname: str, system: str) -> str:
    name, platform, version = system.split("|")
    return os_text({"uname": uname, "name": name, "platform": platform, "version": version}, _RELEASE) or ""
