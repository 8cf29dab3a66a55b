"""Whether something that stands in a configuration counts for one agent: by its system, release and switches.

Rules: what is not known of the agent hinders nothing; facts come from the vocabulary, one function per question, each
answers with a reason in words. `stops` says that the agent stops reading the file there (`rejected`, and `unchecked`
where only the agent's own build knows the section) instead of passing over it.
"""

from __future__ import annotations

from typing import NamedTuple

from mgmtctl.domain import options
from mgmtctl.domain.agent_conf import Element
from mgmtctl.domain.agent_facts import AgentFacts
from mgmtctl.domain.conf_tree import option_of
from mgmtctl.domain.conf_values import value_fault
from mgmtctl.domain.effective_values import (
    BAD_VALUE,
    GATE,
    LOCAL_ONLY,
    MANAGER_ONLY,
    NO_EFFECT,
    TOO_NEW,
    UNKNOWN,
    WRONG_SYSTEM,
)
from mgmtctl.domain.local_files import LocalFiles
from mgmtctl.domain.options import Entry

# An empty number is 0 to them, and what follows a unit is not read.
_LENIENT = ("int", "time", "size")
_STOPPING = ("rejected", "unchecked")
# A block that is nothing without this option goes with it, though the option is not required in every block.
_CARRIERS = ("localfile.command",)
_POLICY = "sca.policies.policy"
COMMAND_FORMATS = ("command", "full_command")


class Misfit(NamedTuple):
    """Why something does not count, and whether reading stops there."""

    reason: str
    why: str
    stops: bool = False


def place_misfit(entry: Entry, shared: bool) -> Misfit | None:
    """Whether it stands in the wrong file: what agents only read from their own, what belongs to managers."""
    if entry.agent_conf == options.MANAGER_ONLY and not entry.retired:
        return Misfit(MANAGER_ONLY, "belongs to managers, agents do not read it", _stops(entry, shared))
    if shared and entry.agent_conf == options.LOCAL_ONLY:
        return Misfit(LOCAL_ONLY, "agents read it only from their local configuration", _stops(entry, shared))
    return None


def _stops(entry: Entry, shared: bool) -> bool:
    # An option of the local file inside a section that agents read is to agent.conf an unknown one.
    found = entry.ref.get("in_agent_conf", entry.ref.get("unknown_option", "ignored"))
    return shared and entry.kind == options.OPTION and found in _STOPPING


def agent_misfit(entry: Entry, inside: Entry | None, facts: AgentFacts) -> Misfit | None:
    """Whether the agent's system or release does not know it."""
    if facts.os is not None and facts.os not in entry.os:
        stops = entry.ref.get("wrong_os") in _STOPPING
        return Misfit(WRONG_SYSTEM, f"works on {_listed(entry.os)}, the agent is on {facts.os}", stops)
    if facts.version is not None and entry.since is not None and facts.version < entry.since:
        return Misfit(TOO_NEW, _needs(entry.since, facts.version), unknown_stops(entry.kind, inside))
    if entry.facts.get("no_effect"):
        return Misfit(NO_EFFECT, "has no effect any more")
    return None


def value_misfit(entry: Entry, value: str, facts: AgentFacts) -> Misfit | None:
    """Whether the agent's system or release does not know this value of a known option."""
    systems = entry.facts.get("value_os", {}).get(value)
    if systems is not None and facts.os is not None and facts.os not in options.systems(systems):
        why = f"`{value}` works on {_listed(options.systems(systems))}, the agent is on {facts.os}"
        return Misfit(WRONG_SYSTEM, why, entry.ref.get("wrong_os") in _STOPPING)
    since = options.read_version(entry.facts.get("value_since", {}).get(value, ""))
    if since is not None and facts.version is not None and facts.version < since:
        stops = entry.ref.get("bad_value") in _STOPPING
        return Misfit(TOO_NEW, f"`{value}` {_needs(since, facts.version)}", stops)
    return None


def empty(element: Element, entry: Entry) -> Misfit | None:
    """Whether it is a section or block without anything in it where that is a fault."""
    effect = entry.ref.get("empty", "ok")
    if element.children or effect == "ok":
        return None
    return Misfit(UNKNOWN, "nothing stands in it", effect in _STOPPING)


def bad_value(entry: Entry, value: str) -> Misfit | None:
    """Whether the agent does not take the value; not where readers take more than they should, nor of `$name`."""
    if "$" in value or (entry.type in _LENIENT and (value[:1].isdigit() or not value)):
        return None
    fault = value_fault(entry, value)
    effect = entry.ref.get("bad_value", "ignored")
    if fault is None or effect == "ok":
        return None
    return Misfit(BAD_VALUE, fault.problem, effect in _STOPPING)


def bad_attribute(entry: Entry, inside: Entry, value: str) -> Misfit | None:
    """The same for the value of an attribute, where what it stands at says what becomes of it."""
    found = bad_value(entry, value)
    return found and found._replace(stops=inside.ref.get("bad_attribute") in _STOPPING)


def unknown_stops(kind: str, inside: Entry | None) -> bool:
    """Whether agents stop reading at a name that they do not know."""
    if kind == options.MODULE:
        return False
    if inside is None:
        return True
    found = inside.ref.get("unknown_attribute" if kind == options.ATTRIBUTE else "unknown_option")
    return found in _STOPPING


def gate_misfit(entry: Entry, value: str, local: LocalFiles | None) -> tuple[Misfit | None, str | None]:
    """(why a command that came with agent.conf does not run, what one should know when it may run)."""
    gate = entry.facts.get("gate")
    if not entry.facts.get("runs_command") or gate in (None, "none"):
        return None, None
    switch = options.data()["gates"][gate]
    setting = f"{switch['setting']}={switch['value']}"
    opened = local.gate_open(gate) if local is not None else None
    if entry.path == _POLICY:
        # Its rules may hold commands; one that came with the shared files needs the switch for them.
        shut = not opened and "shared/" in value
        return None, f"command rules in it need {setting} on the agent" if shut else None
    if opened is None:
        return None, f"runs only with {setting} on the agent, which is not known"
    if opened:
        return None, None
    return Misfit(GATE, f"commands from agent.conf need {setting} on the agent, which is off"), None


def carries(entry: Entry) -> bool:
    """Whether a block is nothing without this option."""
    return entry.required or entry.path in _CARRIERS


def child_value(element: Element, name: str, inside: Entry) -> str | None:
    """The last value of an option of a block."""
    found = None
    for child in element.children:
        entry = option_of(child, inside)
        if entry is not None and entry.name == name:
            found = child.text
    return found


def _listed(systems: frozenset[str]) -> str:
    return ", ".join(sorted(systems)) or "no system"


def _needs(since: options.Version, has: options.Version) -> str:
    return f"needs release {_shown(since)}, the agent has {_shown(has)}"


def _shown(version: options.Version) -> str:
    return ".".join(map(str, version))
