"""The checks of a file that is to enter a group, lies in one, or is to be pushed (D 5, D 6). No operation is here.

Rules: every file called agent.conf is checked, in sub-folders too, for the agents of the group; errors refuse it,
unless they were accepted for exactly these bytes. A document that cannot be read, or has no block, cannot be accepted.
Who puts or looks learns of the agents that he may read; a push rests on all of them and names none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from mgmtctl.domain.errors import InvalidError, MgmtctlError, QuestionError
from mgmtctl.domain.files import AGENT_CONF, MERGED
from mgmtctl.domain.findings import ERROR, WARNING, Finding, blocks
from mgmtctl.domain.groups import quoted
from mgmtctl.operations import access

if TYPE_CHECKING:
    from mgmtctl.domain.agent_facts import AgentFacts
    from mgmtctl.domain.scopes import Scope
    from mgmtctl.folders import Folders, GroupContent
    from mgmtctl.operations.context import Context
    from mgmtctl.store.accepted import Acceptance
    from mgmtctl.store.store import Store

LARGEST_FILE = 10_485_760  # bytes, as the service's own upload limit (reference/groups.md 1.7)
NO_VALIDATE = "no-validate"  # the risk that is accepted by name
_LONGEST_REASON = 1000
_UNACCEPTABLE = frozenset(("empty-document", "no-agent-config"))


class Checked(NamedTuple):
    """What is known of a file that may enter a group; `acceptance` is to be stored with it."""

    findings: tuple[Finding, ...] = ()
    acceptance: Acceptance | None = None


def is_agent_conf(name: str) -> bool:
    """Whether a shared file is one that is put together from several groups, and so checked (groups.md 2.4)."""
    return name.rpartition("/")[2] == AGENT_CONF


def check_content(
    ctx: Context, group: str, name: str, content: bytes, path: str = "", *, accept: bool = False
) -> Checked:
    """Check a file that is to enter a group; findings call it `path`. InvalidError for what must not (D 5, D 6).

    `accept`: errors are accepted, for the reason of the call (`ctx.reason`; QuestionError without one).
    """
    path = path or f"{group}/{name}"
    _check_bytes(content, path)
    if not is_agent_conf(name):
        return Checked()
    findings = group_findings(ctx, group, name, content, path)
    acceptance = _accepted_now(ctx, group, name, content) if accept else None
    if blocks(findings) and acceptance is None:
        raise InvalidError(
            f"{path}: refused, agents could not use it", fix="correct what is named", findings=findings
        )
    return Checked(tuple(_marked(findings, acceptance) if acceptance else findings), acceptance)


def group_findings(ctx: Context, group: str, name: str, content: bytes, path: str = "") -> list[Finding]:
    """What is wrong with a file of a group for those of its agents that the caller may read; accepted errors warn."""
    readable = access.scope(ctx, "agent:read", "agent:id")
    return _judged(ctx.store, ctx.folders, group, name, content, path, readable)


def document_findings(ctx: Context, group: str, content: bytes, path: str) -> list[Finding]:
    """What would be wrong with a document in a group, for those of its agents that the caller may read."""
    from mgmtctl.domain.agent_conf_check import check_agent_conf
    from mgmtctl.operations.conf_agents import facts_of_group

    readable = access.scope(ctx, "agent:read", "agent:id")
    agents = facts_of_group(ctx.store, ctx.folders, group, content, readable)
    return check_agent_conf(content, path, agents)


def conf_problem(store: Store, folders: Folders, group: str, content: GroupContent) -> InvalidError | None:
    """Why a group cannot be sent: an agent.conf of it cannot be read, or has findings that block (D 6).

    A NUL byte blocks here too. Any other file that holds one is merely left out (D 5), but without their agent.conf
    agents would lose the group's whole configuration; so they keep the last good one.
    """
    for name, why in content.unreadable:
        if is_agent_conf(name):
            fix = f"repair it, then mgmtctl files validate {group}"
            return InvalidError(f"{quoted(f'{group}/{name}')}: {why}", fix=fix)
    findings: list[Finding] = []
    faulty: list[str] = []
    for name in sorted(filter(_is_sent_conf, content.files)):
        found = _judged(store, folders, group, name, content.files[name], "", None)
        if blocks(found):
            faulty.append(f"{group}/{name}")
            findings += found
    if not faulty:
        return None
    return InvalidError(
        f"group `{group}` is invalid: {', '.join(quoted(path)[1:-1] for path in faulty)} has errors",
        fix=f"mgmtctl files validate {group}",
        findings=findings,
    )


def accepted_lines(store: Store, folders: Folders, groups: Iterable[str], readable: Scope) -> Iterator[str]:
    """What of these groups is sent although it has errors, and who accepted that; one line for each file."""
    for group in sorted(store.accepted.groups().intersection(groups)):
        if readable.covers(group):
            digests: dict[str, str | None] = {}
            for found in store.accepted.of_group(group):
                if found.file not in digests:
                    digests[found.file] = _digest_there(folders, group, found.file)
                if digests[found.file] == found.digest:
                    yield f"{quoted(f'{group}/{found.file}')} is sent with errors, {words(found)}"


def words(found: Acceptance) -> str:
    """Who accepted, and why."""
    return f"accepted by {quoted(found.user)}: {found.reason}"


def _judged(
    store: Store, folders: Folders, group: str, name: str, content: bytes, path: str, readable: Scope | None
) -> list[Finding]:
    from mgmtctl.domain.agent_conf_check import check_agent_conf
    from mgmtctl.operations.conf_agents import facts_of_group

    agents: Sequence[AgentFacts] = facts_of_group(store, folders, group, content, readable)
    findings = check_agent_conf(content, path or f"{group}/{name}", agents)
    if not blocks(findings):
        return findings
    found = store.accepted.find(group, name, _digest(content))
    if found is None or not _covers(found, findings):
        return findings
    return _marked(findings, found)


def _covers(found: Acceptance, findings: Sequence[Finding]) -> bool:
    """Whether all errors are of rules that had errors when it was accepted: others were not looked at."""
    return all(finding.rule in found.rules for finding in findings if finding.severity == ERROR)


def _marked(findings: Sequence[Finding], found: Acceptance) -> list[Finding]:
    """The findings, with accepted errors as warnings that say so."""
    return [
        replace(finding, severity=WARNING, message=f"{finding.message} ({words(found)})")
        if finding.severity == ERROR
        else finding
        for finding in findings
    ]


def _accepted_now(ctx: Context, group: str, name: str, content: bytes) -> Acceptance | None:
    """The caller's acceptance of the errors for all agents, as a push sees them; None when there are none.

    None for a document that nothing can be made of, too.
    """
    from mgmtctl.domain.agent_conf import read
    from mgmtctl.domain.agent_conf_check import check_agent_conf
    from mgmtctl.operations.conf_agents import facts_of_group
    from mgmtctl.store.accepted import Acceptance

    agents = facts_of_group(ctx.store, ctx.folders, group, content, None)
    errors = [found for found in check_agent_conf(content, name, agents) if found.severity == ERROR]
    rules = tuple(dict.fromkeys(finding.rule for finding in errors))
    if not rules or _UNACCEPTABLE.intersection(rules) or blocks(read(content).findings):
        return None
    reason = "".join(c for c in " ".join((ctx.reason or "").split()) if c.isprintable())
    if not reason:
        raise QuestionError(f"accepting `{NO_VALIDATE}` needs a reason", fix="say it with --reason TEXT")
    actor = access.current_actor(ctx)
    return Acceptance(
        group,
        name,
        _digest(content),
        rules,
        actor.user,
        actor.context_id if actor.run_as else None,
        reason[:_LONGEST_REASON],
        int(ctx.now()),
    )


def _check_bytes(content: bytes, path: str) -> None:
    if len(content) > LARGEST_FILE:
        raise InvalidError(
            f"{path}: {len(content)} bytes are too many, at most {LARGEST_FILE} (10 MiB) can be put"
        )
    if b"\0" in content:
        line = content.count(b"\n", 0, content.index(b"\0")) + 1
        raise InvalidError(f"{path}:{line}: a NUL byte, which agents cannot receive; only text can be put")


def _is_sent_conf(name: str) -> bool:
    """One below a hidden folder, or a folder called like a merged file, reaches no agent (groups.md 2.3)."""
    return is_agent_conf(name) and not any(part.startswith((".", MERGED)) for part in name.split("/"))


def _digest_there(folders: Folders, group: str, name: str) -> str | None:
    try:
        return _digest(folders.read_file(group, name))
    except MgmtctlError:
        return None


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
