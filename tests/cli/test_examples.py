"""Facts about the help: every example runs, in a service where it can work.

Examples that need a terminal, a prompt or no end are run with what stands for these (see `TURNED`).
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mgmtctl.cli.app import TREE, commands_of
from mgmtctl.cli.session_file import read_token, session_path, write_token
from mgmtctl.settings import Settings
from tests.cli.conftest import ADMIN_PASSWORD, run_here
from tests.conftest import ROOT

EXAMPLES = sorted({example for word in TREE for command in commands_of(word) for example in command.examples})
PASSWORDS = ("admin.password", "ci.password", "new.password", "portal.password", "wui.password")
FILES = {
    "account.json": '{"user_name": "ada", "backend_roles": ["web-operators"]}',
    "context.json": '{"name": "ada", "auth": {"groups": ["web"]}}',
    "one.json": '{"name": "ada", "auth": {"groups": ["web", "ops"]}}',
    "other.json": '{"name": "bob", "auth": {"groups": ["web"]}}',
    "visitor.json": '{"user_name": "eve", "backend_roles": []}',
    "ann.json": '{"allow_run_as": false}',
    "web-team.json": '{"policies": ["agents_read"]}',
    "web-team.yaml": "actions: [agent:read]\nresources: [agent:group:web]\neffect: allow\n",
    "new-web.yaml": "actions: [agent:read]\nresources: [agent:group:db]\neffect: allow\n",
    "staff.json": '{"FIND": {"groups": "web"}}',
    "access.yml": "cases:\n- {user: ann, action: agent:restart, resource: agent:id:web-1, expected: allow}\n",
    "team.yml": "cases:\n- {role: readonly, action: agent:restart, resource: 'agent:id:*', expected: deny}\n",
    "staff.yml": "rules: {staff: {FIND: {groups: web}}}\ncases: [{context_file: context.json, rules: [staff]}]\n",
    "fleet.csv": "name,groups\nnew-1,web\n",
    "fleet.ndjson": '{"name": "new-1", "groups": "web"}\n',
    "agent.conf": "<agent_config></agent_config>\n",
    "a.conf": "<agent_config><no_such_section/></agent_config>\n",
    "rules.txt": "one\n",
    "report.json": '{"event": "startup", "version": "Product v4.9.2"}\n',
}
WORLD = (
    *(f"groups create {name}" for name in ("web", "db", "pci", "base")),
    *(f"agents create {name} --group web" for name in ("web-1", "web-2", "db-02")),
    *(f"users create {name} --password-file portal.password" for name in ("ann", "bob", "portal")),
    "users add-role ann agents_admin",
    "users set-password wui --password-file wui.password",
    "run-as -u wui --password-file wui.password --context-file context.json --print-token",
    *(f"roles create {name}" for name in ("web-team", "team-101", "team-102")),
    *(f"policies create {name} --allow group:read --on group:id:db" for name in ("web-files", "web-team")),
    "policies add-entry web-files --allow agent:read --on agent:id:1",
    *(f"rules create {name} -f staff.json" for name in ("staff-of-web", "rule-101")),
    "files put web/agent.conf agent.conf",
    "files put web/old.txt rules.txt",
    "agents create base-1 --group base",
    "sync run --group base --canary 1",
)
# What an example takes for granted is not there yet: what it makes.
UNMADE = {
    "mgmtctl sync wait --group web --timeout 5m": "sync run --all",
    "mgmtctl sync wait db-02 && echo it is there": "sync run --all",
    "mgmtctl groups create web": "groups delete web --force -y",
    "mgmtctl agents create web-1 --group web": "agents delete web-1 -y",
    "mgmtctl roles create web-team": "roles delete web-team -y",
    "mgmtctl users create ann --role readonly": "users delete ann -y",
    "mgmtctl users create ann --generate": "users delete ann -y",
    "mgmtctl rules create staff-of-web -f staff.json": "rules delete staff-of-web -y",
    "mgmtctl policies create web-team -f web-team.yaml": "policies delete web-team -y",
}
# (words of an example, what is added to it or to its input) for what a test cannot be: a terminal, patient, new.
TURNED = (
    ("users create ann --role", " --password-file portal.password"),
    ("users set-password ann", " --password-file new.password"),
    ("login -u admin", " --password-file admin.password"),
    ("run-as -u wui", " --password-file wui.password"),
    ("recover", " --password-file new.password"),
    (" delete ", " --yes"),
    (" rm ", " --yes"),
    (" rollback ", " --yes"),
    ("logout --all", " --yes"),
    ("security set rbac_mode black", " --yes"),
)
NEEDS_A_TERMINAL = (" edit ",)
NEVER_ENDS = ("log tail -f",)
NEEDS_NO_SERVICE = ("mgmtctl init",)
# Nobody has synced, and no rule is true for the account.
ANSWERS_NO = {
    "mgmtctl policies lint": 1,
    "mgmtctl rules explain staff-of-web --context-file context.json --as portal": 1,
    "mgmtctl sync status --exit-code": 1,
    "mgmtctl files diff web": 1,
    "mgmtctl files diff web/agent.conf --revision 1 --to 2": 1,
    "mgmtctl can-i agent:read agent:id:001 --context-file account.json --wrap portal": 1,
}
SHELLS = {
    "completion zsh)": ("zsh", "autoload -U compinit; compinit -u; "),
    "completion fish |": ("fish", ""),
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a service, files and a session in it, as the examples take for granted."""
    folder = tmp_path_factory.mktemp("world")
    for name, content in FILES.items():
        (folder / name).write_text(content, encoding="utf-8")
    for name in PASSWORDS:
        (folder / name).write_text(ADMIN_PASSWORD + "\n", encoding="utf-8")
        (folder / name).chmod(0o600)
    with Inside(folder):
        for line in (
            "init --password-file admin.password",
            "login -u admin --password-file admin.password",
            *WORLD,
        ):
            result = run_here(*shlex.split(line))
            assert result.code == 0, (line, result.err)
    return folder


class Inside:
    """Work in a folder, on the service that lies in it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> None:
        self._before, self._here = dict(os.environ), Path.cwd()
        os.environ.update(
            MGMTCTL_HOME=str(self._folder / "service"),
            MGMTCTL_STATE=str(self._folder / "state"),
            HOME=str(self._folder),
            SHELL="/bin/bash",
            PATH=f"{self._folder}:{os.environ['PATH']}",
        )
        os.chdir(self._folder)

    def __exit__(self, *_: object) -> None:
        os.chdir(self._here)
        os.environ.clear()
        os.environ.update(self._before)


@pytest.fixture
def here(world: Path, tmp_path: Path) -> Iterator[Path]:
    """The present folder: a copy of the world, with a `mgmtctl` that runs this code."""
    folder = Path(shutil.copytree(world, tmp_path / "world", symlinks=True))
    # The session file is named by the path of the data folder: the copy needs one under its own name.
    with Inside(world):
        token = read_token(session_path(Settings()))
    with Inside(folder):
        write_token(session_path(Settings()), str(token))
        program = folder / "mgmtctl"
        program.write_text(
            f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m mgmtctl "$@"\n', encoding="utf-8"
        )
        program.chmod(0o755)
        yield folder


def _turned(example: str) -> str:
    for words, addition in TURNED:
        if words in example and addition.split()[0] not in example and "--generate" not in example:
            place = example.find(" -- ")
            return example + addition if place < 0 else example[:place] + addition + example[place:]
    return example


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_in_the_help_runs(example: str, here: Path) -> None:
    if any(words in example for words in NEEDS_A_TERMINAL):
        pytest.skip("needs a terminal; tests of the editor run it on one")
    if example.startswith(NEEDS_NO_SERVICE):
        shutil.rmtree(here / "service")
        example = example if "--" in example else f"{example} --password-file admin.password"
    if example in UNMADE:
        assert run_here(*shlex.split(UNMADE[example])).code == 0
    line = _turned(example)
    if line.startswith(tuple(f"mgmtctl {words}" for words in NEVER_ENDS)):
        line = f"timeout -s INT 1 {line} || test $? = 124 -o $? = 130"
    found = _run(line)
    assert found[0] == ANSWERS_NO.get(example, 0), (line, found[1])


def _run(line: str) -> tuple[int, str]:
    words = shlex.split(line)
    if words[0] == "mgmtctl" and not {"|", "<", ">", "&&", "||"}.intersection(words):
        result = run_here(*words[1:])
        return result.code, result.err
    shell, before = next((SHELLS[mark] for mark in SHELLS if mark in line), ("bash", ""))
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    done = subprocess.run([shell, "-c", before + line], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr
