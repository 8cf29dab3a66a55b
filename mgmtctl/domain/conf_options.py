"""The names and values inside one section of an agent.conf against the vocabulary (S 2.10, D 6).

Rules: an element is looked up where it stands, as agents do; what lies in an unknown one is not judged, but letter
case hides no command. A value that holds a `$variable` of the document is not judged.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from mgmtctl.domain import options
from mgmtctl.domain.agent_conf import Attribute, Element
from mgmtctl.domain.conf_findings import at, at_value, consequence, gravest
from mgmtctl.domain.conf_names import Suggestions, folded
from mgmtctl.domain.conf_relations import relation_findings
from mgmtctl.domain.conf_repeats import Repeats
from mgmtctl.domain.conf_tree import attribute_of, option_of
from mgmtctl.domain.conf_values import blanks_around, known_problem, many_values, value_fault
from mgmtctl.domain.findings import ERROR, NOTE, WARNING, Finding
from mgmtctl.domain.groups import quoted
from mgmtctl.domain.options import ALLOWED, LOCAL_ONLY, MODULE, MODULE_SECTION, Entry

_BLOCK, _UNREAD = "block", "none"
# Types whose value may not be empty, though the vocabulary does not say so: nothing would be read.
_NEEDS_VALUE = frozenset(("path", "path_list", "registry_list"))
_KEPT_BLANKS = frozenset(("path",))
_SWITCHES = {"disabled": "yes", "enabled": "no"}  # what of them switches a section off
_NO = "no"
_POLICY = "policy"  # what came with the agent is run without a switch, and is nobody's from here
_POLICY_SWITCH = "sca.policies.policy@enabled"
_SHARED = re.compile(r"(?:^|[/\\])shared[/\\]")
_PLAIN_TYPES = frozenset(("command", "path", "path_list", "registry_list"))
_ENTITY = re.compile("&(?:amp|lt|gt|quot|apos);")
_DECODED = {"&amp;": "&", "&lt;": "\\<", "&gt;": ">", "&quot;": '"', "&apos;": "'"}


@dataclass(slots=True, eq=False)
class Judge:
    """What the judgement of one document carries from element to element."""

    variables: bool = False  # whether the document defines any
    off: bool = False  # whether the section says that it runs nothing
    suggestions: Suggestions = field(default_factory=Suggestions)
    repeats: Repeats = field(default_factory=Repeats)

    def unknown(self, value: str) -> bool:
        """Whether the value is only known where the file is read."""
        return self.variables and "$" in value


def section_findings(section: Element, entry: Entry, judge: Judge) -> Iterator[Finding]:
    """What is wrong in a section that is known, everything inside included; `judge.repeats` is told what it holds."""
    if entry.agent_conf != ALLOWED:
        yield _foreign(section, entry)
        return
    yield from _aged(section, entry)
    if entry.kind == MODULE:
        yield from _module_attributes(section, entry, judge)
    else:
        yield from _attributes(section, entry, judge)
    yield from judge.repeats.section(section, entry)
    judge.off = _switched_off(section)
    yield from _block(section, (entry,), judge)


def _module_attributes(section: Element, entry: Entry, judge: Judge) -> Iterator[Finding]:
    first, *others = section.attributes
    if first.value != entry.name:
        message = f"{quoted(first.value)} is an old name of the module `{entry.name}`"
        yield at(first, "deprecated", WARNING, message, f"write `{entry.name}`")
    for attribute in others:
        yield _unknown_attribute(attribute, section, entry, judge, ("name",))


def _block(element: Element, above: Sequence[Entry], judge: Judge) -> Iterator[Finding]:
    """What is wrong in something that holds options; `above` ends with its entry."""
    entry = above[-1]
    if not element.children and entry.ref.get("empty", "ok") != "ok":
        effect = consequence(entry.ref["empty"])
        yield at(element, "empty-section", gravest(entry), f"{_called(entry)} holds no option{effect}")
        return
    for child in element.children:
        found = option_of(child, entry)
        if found is None:
            yield from _unknown_option(child, above, judge)
        else:
            yield from _option(child, found, above, judge)
    yield from stray_text(element)
    yield from _missing_options(element, entry)
    yield from relation_findings(element, entry, judge.unknown)


def _option(element: Element, entry: Entry, above: Sequence[Entry], judge: Judge) -> Iterator[Finding]:
    if entry.agent_conf != above[-1].agent_conf and not entry.retired:
        yield _foreign(element, entry)
        return
    yield from _aged(element, entry)
    if entry.type == _UNREAD:
        return
    yield from _attributes(element, entry, judge)
    yield from judge.repeats.option(element, entry, above[-1])
    yield from _command(element, entry, judge)
    if entry.type == _BLOCK:
        yield from _block(element, (*above, entry), judge)
        judge.repeats.leave()
        return
    for child in element.children:
        yield _misplaced(child, element, above)
    yield from _value(element, entry, judge)


def _value(element: Element, entry: Entry, judge: Judge) -> Iterator[Finding]:
    value = element.text
    if entry.secret and value.strip():
        message = f"{_called(entry)} stands here in plain text, for everybody who may read the group"
        yield at_value(element, "plain-secret", WARNING, message, _hide(entry))
    if judge.unknown(value):
        return
    fault = value_fault(entry, value)
    if fault is not None:
        problem = f"{_called(entry)}: {_without_secret(entry, fault.problem)}"
        meant = None if entry.secret else _right_value(fault.meant, entry)
        effect = consequence(entry.ref.get("bad_value"))
        yield at_value(element, "bad-value", gravest(entry), problem + effect, meant)
    elif entry.type in _NEEDS_VALUE and not value.strip():
        yield at(element, "empty-value", WARNING, f"{_called(entry)} is empty, and names nothing")
    elif entry.type in _KEPT_BLANKS and blanks_around(value):
        message = f"{_called(entry)}: the blanks around the value are part of it"
        yield at_value(element, "blanks-around-value", WARNING, message, "write it without blanks around")
    elif entry.type in _PLAIN_TYPES and (entity := _ENTITY.search(value)):
        message = f"{_called(entry)}: `{entity[0]}` is not decoded, agents take it as it stands"
        yield at_value(element, "undecoded-entity", WARNING, message, f"write `{_DECODED[entity[0]]}`")
    elif problem_of_known := known_problem(entry, value):
        yield at_value(element, "unknown-value", WARNING, f"{_called(entry)}: {problem_of_known}")


def _attributes(element: Element, entry: Entry, judge: Judge) -> Iterator[Finding]:
    for attribute in element.attributes:
        known = attribute_of(attribute, entry)
        if known is None:
            yield _unknown_attribute(attribute, element, entry, judge, entry.attributes)
        else:
            yield from _attribute(attribute, known, entry, judge)
    for name, known in entry.attributes.items():
        if known.required and element.attribute(name) is None and not _excused(known, judge):
            effect = consequence(entry.ref.get("missing_attribute", entry.ref.get("bad_attribute")))
            message = f"{_called(entry)} has no `{name}`{effect}"
            yield at(
                element,
                "missing-attribute",
                gravest(known),
                message,
                f'write `<{element.name} {name}="...">`',
            )


def _attribute(attribute: Attribute, known: Entry, entry: Entry, judge: Judge) -> Iterator[Finding]:
    yield from _aged(attribute, known)
    if judge.unknown(attribute.value):
        return
    fault = value_fault(known, attribute.value)
    if fault is not None:
        effect = consequence(entry.ref.get("bad_attribute"))
        if known.path == _POLICY_SWITCH:
            effect = "; it counts as `yes`"
        message = f"`{known.name}` of {_called(entry)}: {fault.problem}{effect}"
        # Whatever is not `no` counts as yes there.
        severity = WARNING if known.path == _POLICY_SWITCH else gravest(known)
        yield at(attribute, "bad-value", severity, message, _right_value(fault.meant, known))
    elif entry.name == "label" and known.name == "key" and attribute.value.startswith("_"):
        message = "a label whose key begins with `_` is skipped"
        yield at(attribute, "skipped-label", gravest(known), message, "begin the key with a letter")


def _right_value(meant: str | None, entry: Entry) -> str | None:
    if meant:
        return f"write `{meant}`"
    return f"`mgmtctl options show {entry.path}` lists them" if many_values(entry) else None


def _excused(known: Entry, judge: Judge) -> bool:
    """Whether an attribute is not required after all, by the `type` of the block around (`required_unless`)."""
    unless = known.facts.get("required_unless", {})
    return any(judge.repeats.type_above() in types for types in unless.values())


def _missing_options(element: Element, entry: Entry) -> Iterator[Finding]:
    given = {found.name for child in element.children if (found := option_of(child, entry))}
    for name, option in entry.options.items():
        if option.required and name not in given:
            effect = option.ref.get("missing", entry.ref.get("bad_value"))
            # A section that is merged may get the option from another one.
            severity = WARNING if effect == "ignored" else gravest(option)
            told = "; the module does nothing without it" if effect == "ignored" else consequence(effect)
            yield at(element, "missing-option", severity, f"{_called(entry)} has no `{name}`{told}")


def _unknown_option(element: Element, above: Sequence[Entry], judge: Judge) -> Iterator[Finding]:
    entry = above[-1]
    effect = consequence(entry.ref.get("unknown_option"))
    message = f"{_called(entry)} has no option {quoted(element.name)}{effect}"
    yield at(
        element, "unknown-option", gravest(entry), message, judge.suggestions.option(element.name, above)
    )
    hidden = _commands(entry).get(folded(element.name))  # whatever its letter case: some reader may take it
    if hidden is not None:
        yield from _command(element, hidden, judge)


@functools.lru_cache(maxsize=256)
def _commands(entry: Entry) -> dict[str, Entry]:
    """The options of a block that run a program, by folded name."""
    inside = entry.options.items()
    return {folded(name): option for name, option in inside if option.facts.get("runs_command") is True}


def _unknown_attribute(
    attribute: Attribute, element: Element, entry: Entry, judge: Judge, known: Iterable[str]
) -> Finding:
    effect = consequence(entry.ref.get("unknown_attribute")) or "; it has no effect"
    message = f"{_called(entry)} has no attribute {quoted(attribute.name)}{effect}"
    suggestion = judge.suggestions.attribute(attribute.name, known)
    if suggestion is None and attribute.name in entry.options:
        suggestion = (
            f"`{attribute.name}` is an option: write `<{attribute.name}>...</{attribute.name}>` inside"
        )
    return at(attribute, "unknown-attribute", gravest(entry), message, suggestion)


def _foreign(element: Element, entry: Entry) -> Finding:
    """A section or an option that agents do not read from agent.conf."""
    effect = entry.ref.get("in_agent_conf", "rejected")
    if entry.agent_conf == LOCAL_ONLY:
        skips = ", and the reader skips the option after it" if "quirk" in entry.facts else ""
        message = f"{_called(entry)} is read from the local configuration only{consequence(effect)}{skips}"
        return at(element, "local-only", gravest(entry), message, "set it on the agents themselves")
    windows = ", and Windows agents refuse the file" if "on_windows" in entry.ref else ""
    message = f"{_called(entry)} belongs to managers{consequence(effect)}{windows}"
    meant = "did_you_mean" in entry.facts
    suggestion = f'did you mean `<{MODULE_SECTION} name="{entry.name}">`?' if meant else "leave it out"
    return at(element, "manager-only", gravest(entry), message, suggestion)


def _aged(place: Element | Attribute, entry: Entry) -> Iterator[Finding]:
    """What is deprecated, has moved, or does nothing any more."""
    facts = entry.facts
    newer = facts.get("superseded_by") or facts.get("moved_to")
    instead = f"use `{newer}`" if newer else None
    if facts.get("no_effect"):
        yield at(
            place,
            "deprecated",
            WARNING,
            f"{_called(entry)} has no effect any more",
            instead or "leave it out",
        )
    elif facts.get("deprecated"):
        since = facts["deprecated"]
        when = f" since {since}" if isinstance(since, str) else ""
        yield at(place, "deprecated", WARNING, f"{_called(entry)} is deprecated{when}", instead)
    elif newer:
        yield at(
            place, "moved-option", NOTE, f"{_called(entry)} has a newer place, and still works here", instead
        )


def stray_text(element: Element) -> Iterator[Finding]:
    """Text between the elements of something that holds elements."""
    if element.text.strip():
        message = f"the text between the elements of `{element.name}` is not read"
        yield at_value(element, "stray-text", WARNING, message, "write it as a comment, or leave it out")


def _switched_off(section: Element) -> bool:
    switches = {child.name: child.text for child in section.children if child.name in _SWITCHES}
    return any(_SWITCHES[name] == value for name, value in switches.items())


def _command(element: Element, entry: Entry, judge: Judge) -> Iterator[Finding]:
    """A program that agents would run, and the switch it needs."""
    value = element.text.strip()
    if entry.facts.get("runs_command") is not True or not value or judge.off:
        return
    if (entry.type == "yes_no" and value == _NO) or (entry.name == _POLICY and not _SHARED.search(value)):
        return
    gate = options.data()["gates"].get(entry.facts.get("gate"), {})
    message = f"{_called(entry)}: agents run {_program(entry, value)}{_switch(gate)}"
    yield at(element, "remote-command", NOTE, message)


def _program(entry: Entry, value: str) -> str:
    if entry.type == "yes_no":
        return "a program of their own"
    return f"the commands in {quoted(value)}" if entry.name == _POLICY else quoted(value)


def _switch(gate: dict[str, str]) -> str:
    if not gate:
        return ", without any switch on the agent"
    where = "local internal options" if gate["file"] == "local_internal_options" else "local configuration"
    return f" only with `{gate['setting']}` set to `{gate['value']}` in their {where}"


def _misplaced(child: Element, element: Element, above: Sequence[Entry]) -> Finding:
    message = f"`{element.name}` holds a value and no elements, got {quoted(child.name)}"
    known = child.name in above[-1].options or options.section(child.name) is not None
    suggestion = f"close `{element.name}` before it" if known else "write `\\<` for a literal `<`"
    return at(child, "misplaced-element", ERROR, message, suggestion)


def _without_secret(entry: Entry, problem: str) -> str:
    return problem.partition(", got ")[0] if entry.secret else problem


def _hide(entry: Entry) -> str | None:
    newer = {
        "client_secret": "client_secret_path",
        "application_key": "auth_path",
        "account_key": "auth_path",
    }
    return f"use `{newer[entry.name]}`" if entry.name in newer else None


def _called(entry: Entry) -> str:
    """An entry in a message, by the shortest path that is clear."""
    return f"`{entry.path.removeprefix(f'{MODULE_SECTION}.').replace('@', ' ')}`"
