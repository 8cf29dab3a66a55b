"""The effective configuration of one agent as a whole command, beside `agents show` of the same agent.

    python bench/effective.py [--agents 100000]

Uses the `mgmtctl` that is installed beside this Python, as a user would. The agent is in three groups whose agent.conf
hold 60 sections each, and leaves a local configuration; what its groups give was pushed to it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from startup import _service
from timing import in_process, report, side_by_side

GROUPS = ("group-2", "group-5", "group-7")
AGENT = "042"
LOCAL = """<local>
  <client><server><address>10.0.0.1</address></server><config-profile>web, linux</config-profile></client>
  <syscheck><frequency>600</frequency></syscheck>
</local>
"""


def main() -> None:
    """Make a store and groups, time the commands, then the parts in this process."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--agents", type=int, default=100_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = _service(folder / "service", arguments.agents)
        mgmtctl = str(Path(sys.executable).parent / "mgmtctl")
        _configure(folder, environment, mgmtctl)
        print(f"# {arguments.agents} agents")
        commands = {
            "mgmtctl agents show 042": ["show", AGENT],
            "mgmtctl agents config 042": ["config", AGENT],
            "mgmtctl agents config 042 --effective": ["config", AGENT, "--effective"],
            "mgmtctl agents config 042 --origin": ["config", AGENT, "--origin"],
            "mgmtctl agents config 042 --get OPTION": ["config", AGENT, "--get", "syscheck.frequency"],
            "mgmtctl agents config 042 -o json": ["config", AGENT, "-o", "json"],
        }
        found = side_by_side(
            {name: [mgmtctl, "agents", *words, "-q"] for name, words in commands.items()}, environment
        )
        report(found, "mgmtctl agents show 042")
    _in_process()


def agent_conf(number: int) -> str:
    """An agent.conf of 60 sections in four blocks, three of which are for the agent."""
    blocks = []
    for selector in ("", ' name="^host-"', ' profile="web"', ' os="windows"'):
        sections = [
            f"<syscheck><frequency>{number * 100 + place}</frequency>"
            f'<directories realtime="yes">/srv/{number}/{place}</directories></syscheck>'
            for place in range(8)
        ]
        sections += [
            f"<localfile><log_format>syslog</log_format><location>/var/log/{number}-{place}.log</location></localfile>"
            for place in range(7)
        ]
        blocks.append(f"<agent_config{selector}>\n" + "\n".join(sections) + "\n</agent_config>\n")
    return "".join(blocks)


def _configure(folder: Path, environment: dict[str, str], mgmtctl: str) -> None:
    home = Path(environment["MGMTCTL_HOME"])
    for number, group in enumerate(GROUPS):
        (home / "shared" / group / "agent.conf").write_text(agent_conf(number))
    own = home / "agents" / AGENT
    own.mkdir(parents=True)
    (own / "local.conf").write_text(LOCAL)
    for words in (
        ["agents", "set", AGENT, "--groups", ",".join(GROUPS)],
        ["sync", "run", AGENT],
    ):
        subprocess.run(
            [mgmtctl, *words], env={"PATH": "/usr/bin:/bin", **environment}, check=True, capture_output=True
        )


def _in_process() -> None:
    from mgmtctl.domain.agent_conf import read
    from mgmtctl.domain.agent_facts import AgentFacts
    from mgmtctl.domain.effective import effective
    from mgmtctl.domain.local_files import read_local

    texts = [agent_conf(number).encode() for number in range(len(GROUPS))]
    documents = [
        (group, f"{group}/agent.conf", read(text)) for group, text in zip(GROUPS, texts, strict=True)
    ]
    local = read_local(LOCAL.encode(), b"")
    facts = AgentFacts(
        AGENT, "host-000042", "linux", "Linux [Ubuntu|ubuntu: 24.04]", (4, 9, 2), local.profiles
    )
    in_process(
        {
            "read three agent.conf of 60 sections": lambda: [read(text) for text in texts],
            "effective configuration of them": lambda: effective(local, documents, facts),
        }
    )


if __name__ == "__main__":
    main()
