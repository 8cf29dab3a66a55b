"""The effective configuration of one agent: what counts in the end, where it stands, and what it overrode (S 3.2, D 6).

Rules: the local configuration first, then every block that is for the agent, groups in order, blocks in file order;
within, each section and option repeats as the vocabulary says. A block whose match is not known counts as not matching
and says so. What does not count is told with its reason, never dropped in silence. Where an agent stops reading, the
rest of the shared configuration is ignored for the daemon that reads the section (for all at an unknown section);
groups are one file to it, so in the groups after it too. Values are as written: `$name` is not resolved. Total on any
tree; at most MAX_ELEMENTS elements are looked at.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

from mgmtctl.domain import effective_fit as fit
from mgmtctl.domain import effective_tree as tree
from mgmtctl.domain import options, selectors
from mgmtctl.domain.agent_conf import Attribute, Document, Element
from mgmtctl.domain.agent_facts import AgentFacts
from mgmtctl.domain.conf_tree import attribute_of, blocks, option_of, section_of
from mgmtctl.domain.effective_values import (
    LOCAL,
    REMOTE_CONF,
    REPLACED,
    SECOND,
    STOPPED,
    TOO_MANY,
    TOO_NEW,
    UNKNOWN,
    UNREADABLE,
    BlockUse,
    Effective,
    Ignored,
    Origin,
    Selected,
)
from mgmtctl.domain.findings import ERROR
from mgmtctl.domain.local_files import LOCAL_CONF, LocalFiles
from mgmtctl.domain.options import MODULE_SECTION, Entry

MAX_ELEMENTS = 200_000
_ALL = ""  # the daemon that stands for all of them


def effective(
    local: LocalFiles | None, groups: Sequence[tuple[str, str, Document]], facts: AgentFacts
) -> Effective:
    """What counts for the agent; `groups` are (group, path of its agent.conf, what was read), in the agent's order."""
    work = _Work(local, facts)
    if local is not None:
        work.source(LOCAL, LOCAL_CONF, shared=False)
        for section in local.sections:
            work.section(section)
    work.reads_shared = local is None or not local.ignores_shared
    for group, path, document in groups:
        work.source(group, path, shared=True)
        work.readable(document)
    for group, path, document in groups:
        work.source(group, path, shared=True)
        work.document(document)
    return Effective(tree.values(work.root), tuple(work.blocks), tuple(work.ignored))


class _Work:
    """One pass: the tree that grows, and what is told beside it."""

    def __init__(self, local: LocalFiles | None, facts: AgentFacts) -> None:
        self.local = local
        self.facts = facts
        self.root = tree.Node(None)
        self.blocks: list[BlockUse] = []
        self.ignored: list[Ignored] = []
        self.reads_shared = True
        self.left = MAX_ELEMENTS
        self.sections = 0
        self._stopped: dict[str, str] = {}
        self._group, self._path, self._shared = LOCAL, LOCAL_CONF, False

    def source(self, group: str, path: str, *, shared: bool) -> None:
        """Where what follows stands."""
        self._group, self._path, self._shared = group, path, shared

    def readable(self, document: Document) -> None:
        """Whether agents can read the file at all: all groups are one file to them, as a whole."""
        problem = _unreadable(document)
        if problem is not None:
            line, column, what = problem
            where = Origin(self._group, self._path, line, column)
            self._ignore(UNREADABLE, self._path, None, where, f"agents cannot read the file: {what}")
            self._stopped.setdefault(_ALL, where.text())

    def document(self, document: Document) -> None:
        """The blocks of one group."""
        for block in blocks(document.elements):
            match = selectors.block_match(block, self.facts)
            found = tuple(Selected(*one) for one in match.matches)
            use = BlockUse(self._group, self._origin(block), match.verdict, found, block.start, block.end)
            self.blocks.append(use)
            if match.verdict == selectors.YES:
                self._block(block, use)

    def _block(self, block: Element, use: BlockUse) -> None:
        if not self.reads_shared:
            why = "the agent reads no agent.conf: its internal options say agent.remote_conf=0"
            self._ignore(REMOTE_CONF, options.ROOT, None, use.origin, why)
            return
        for section in block.children:
            self.section(section)

    def section(self, element: Element) -> None:
        """One section with all that stands in it."""
        if element.name == options.VARIABLE or not self._affordable(element):
            return
        entry = section_of(element)
        daemon = _reader(element)
        stop = (self._stopped.get(_ALL) or self._stopped.get(daemon)) if self._shared else None
        if stop is not None:
            self._ignore_element(STOPPED, element, entry, f"the agent stops reading at {stop}")
        elif entry is None:
            self._unknown_section(element)
        else:
            self.sections += 1
            self._fill(self.root, element, entry, None, daemon)

    def _unknown_section(self, element: Element) -> None:
        if element.name != MODULE_SECTION:
            self._reject(element, None, fit.Misfit(UNKNOWN, "no such section", stops=True), _ALL)
            return
        named = bool(element.attributes) and element.attributes[0].name == "name"
        why = "no such module" if named else "its first attribute is not `name`"
        self._reject(element, None, fit.Misfit(UNKNOWN, why, not named), _reader(element))

    def _fill(
        self, node: tree.Node, element: Element, entry: Entry, inside: Entry | None, daemon: str
    ) -> None:
        """Put a section or block into `node`, unless it does not count as a whole."""
        misfit = self._misfit(entry, inside) or fit.empty(element, entry) or self._carried(element, entry)
        if misfit is not None:
            # A section that the agent does not know, or that is empty, is read by nobody and stops all.
            no_section = entry.kind == options.SECTION and misfit.reason in (TOO_NEW, UNKNOWN)
            self._reject(element, entry, misfit, _ALL if no_section else daemon)
            return
        block, slot, before = tree.enter(node, element, entry, self._origin(element))
        skipped = 1 if entry.kind == options.MODULE else 0  # the name
        for attribute in element.attributes[skipped:]:
            self._attribute(block, attribute, entry, daemon)
        for child in element.children:
            if not self._affordable(child) or self._has_stopped(daemon):
                break
            self._option(block, child, entry, daemon)
        lost = tree.settle(node, slot, block, before)
        why = f"{self._origin(element).text()} replaces `{entry.path}` as a whole"
        self._lose(lost, why)

    def _option(self, node: tree.Node, element: Element, inside: Entry, daemon: str) -> None:
        written = option_of(element, inside)
        if written is None:
            stops = fit.unknown_stops(options.OPTION, inside)
            why = f"`{inside.path}` has no such option"
            self._reject(
                element, None, fit.Misfit(UNKNOWN, why, stops), daemon, f"{inside.path}.{element.name}"
            )
            return
        node, entry = self._home(node, written, inside)
        self._lose(
            tree.drop_list(node, entry, self.sections), f"{self._origin(element).text()} begins a new list"
        )
        if entry.type == "block":
            self._fill(node, element, entry, inside, daemon)
        else:
            self._leaf(node, element, written, entry, inside, daemon)

    def _leaf(
        self, node: tree.Node, element: Element, written: Entry, entry: Entry, inside: Entry, daemon: str
    ) -> None:
        """Put a value, `written` under this name, where `entry` belongs."""
        misfit = self._misfit(written, inside) or fit.value_misfit(entry, element.text, self.facts)
        gate, note = fit.gate_misfit(entry, element.text, self.local) if self._shared else (None, None)
        misfit = misfit or gate or self._second(node, entry) or fit.bad_value(written, element.text)
        if misfit is not None:
            self._reject(element, written, misfit, daemon)
            return
        attributes = self._attributes(element, written, daemon)
        tree.put(node, tree.Leaf(entry, element.text, attributes, self._origin(element), note=note))

    def _second(self, node: tree.Node, entry: Entry) -> fit.Misfit | None:
        first = tree.second(node, entry)
        if first is None:
            return None
        return fit.Misfit(SECOND, f"the first value in the block counts, that of {first.origin.text()}")

    def _home(self, node: tree.Node, entry: Entry, inside: Entry) -> tuple[tree.Node, Entry]:
        """Where a value belongs: an old place or name of a setting is the same setting as the newer one."""
        *steps, name = entry.facts.get("moved_to", "").split("/")
        for step in steps:
            outer = inside.options[step]
            found = node.slots.setdefault((outer.path,), tree.Node(outer))
            node, inside = (found, outer) if isinstance(found, tree.Node) else (node, inside)
        return node, inside.options[name] if steps else _renamed(entry, inside)

    def _carried(self, element: Element, entry: Entry) -> fit.Misfit | None:
        """Why a block is nothing: an option that carries it does not count."""
        for child in element.children:
            found = option_of(child, entry)
            if found is None or found.type == "block" or not fit.carries(found):
                continue
            misfit = (
                self._misfit(found, entry)
                or fit.value_misfit(found, child.text, self.facts)
                or fit.bad_value(found, child.text)
            )
            if misfit is None and self._shared and _is_command(element, found, entry):
                misfit, _ = fit.gate_misfit(found, child.text, self.local)
            if misfit is not None:
                return misfit._replace(why=f"`{found.name}`: {misfit.why}")
        return None

    def _misfit(self, entry: Entry, inside: Entry | None) -> fit.Misfit | None:
        return fit.place_misfit(entry, self._shared) or fit.agent_misfit(entry, inside, self.facts)

    def _attribute(self, block: tree.Node, attribute: Attribute, inside: Entry, daemon: str) -> None:
        """An attribute of a block is a value of its own."""
        entry = self._known(attribute, inside, daemon)
        if entry is not None:
            origin = Origin(self._group, self._path, attribute.line, attribute.column)
            tree.put(block, tree.Leaf(entry, attribute.value, {}, origin))

    def _attributes(self, element: Element, entry: Entry, daemon: str) -> dict[str, str]:
        known = (one for one in element.attributes if self._known(one, entry, daemon) is not None)
        return {attribute.name: attribute.value for attribute in known}

    def _known(self, attribute: Attribute, inside: Entry, daemon: str) -> Entry | None:
        entry = attribute_of(attribute, inside)
        misfit = (
            fit.Misfit(UNKNOWN, "no such attribute", fit.unknown_stops(options.ATTRIBUTE, inside))
            if entry is None
            else self._misfit(entry, inside)
            or fit.value_misfit(entry, attribute.value, self.facts)
            or fit.bad_attribute(entry, inside, attribute.value)
        )
        if misfit is None:
            return entry
        origin = Origin(self._group, self._path, attribute.line, attribute.column)
        path = f"{inside.path}@{attribute.name}"
        self._ignore(misfit.reason, path, None, origin, misfit.why)
        self._stop(misfit, daemon, origin)
        return None

    def _reject(
        self, element: Element, entry: Entry | None, misfit: fit.Misfit, daemon: str, path: str | None = None
    ) -> None:
        self._ignore_element(misfit.reason, element, entry, misfit.why, path)
        self._stop(misfit, daemon, self._origin(element))

    def _stop(self, misfit: fit.Misfit, daemon: str, origin: Origin) -> None:
        if misfit.stops and self._shared:
            self._stopped.setdefault(daemon, origin.text())

    def _has_stopped(self, daemon: str) -> bool:
        return self._shared and (_ALL in self._stopped or daemon in self._stopped)

    def _ignore_element(
        self, reason: str, element: Element, entry: Entry | None, why: str, path: str | None = None
    ) -> None:
        # What an unknown option holds may be a secret under a misspelt name.
        shown = entry is not None and entry.type != "block" and not entry.secret
        name = path or (entry.path if entry is not None else _section_name(element))
        self._ignore(reason, name, element.text if shown else None, self._origin(element), why)

    def _lose(self, lost: Iterable[tree.Leaf], why: str) -> None:
        for leaf in lost:
            value = None if leaf.entry.secret else leaf.value
            self._ignore(REPLACED, leaf.entry.path, value, leaf.origin, why)

    def _ignore(self, reason: str, path: str, value: str | None, origin: Origin, why: str) -> None:
        self.ignored.append(Ignored(reason, path, value, origin, why))

    def _affordable(self, element: Element) -> bool:
        self.left -= 1
        if self.left == 0:
            why = f"more than {MAX_ELEMENTS} elements stand before; what follows was not looked at"
            self._ignore(TOO_MANY, element.name, None, self._origin(element), why)
        return self.left > 0

    def _origin(self, element: Element) -> Origin:
        return Origin(self._group, self._path, element.line, element.column)


def _unreadable(document: Document) -> tuple[int, int, str] | None:
    """The first place where agents cannot read the document, and what is wrong there."""
    for finding in document.findings:
        if finding.severity == ERROR:
            return finding.line, finding.column, finding.message
    for root in document.elements:
        if root.name not in (options.ROOT, options.VARIABLE):
            return root.line, root.column, f"only `{options.ROOT}` may stand at the top"
    return None


@functools.cache
def _renamed(entry: Entry, inside: Entry) -> Entry:
    """The option of which this is an old name, or the option itself."""
    known = inside.options.values()
    return next((one for one in known if entry.name in one.facts.get("aliases", ())), entry)


def _section_name(element: Element) -> str:
    """How an unknown section is named: a module by what it calls itself."""
    named = element.attribute("name") if element.name == MODULE_SECTION else None
    return element.name if named is None else f"{element.name}.{named}"


def _reader(element: Element) -> str:
    """Which daemon reads a section; all module sections are read by one."""
    return str(options.data()["sections"].get(element.name, {}).get("daemon", element.name))


def _is_command(element: Element, option: Entry, inside: Entry) -> bool:
    """Whether the block runs the command that it holds."""
    if option.path != "localfile.command":
        return True
    return fit.child_value(element, "log_format", inside) in fit.COMMAND_FORMATS
