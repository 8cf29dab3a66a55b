"""What the lint rules of other shared files mean: merged files, and files that are not sent; and all of them by name.

Rules: as for those of agent.conf (domain/conf_rules.py); a name is stable once released.
"""

from __future__ import annotations

from mgmtctl.domain.conf_rules import CONF_RULES, ConfRule
from mgmtctl.domain.errors import QuestionError
from mgmtctl.domain.findings import ERROR, WARNING
from mgmtctl.domain.resources import closest

FILE_RULES: dict[str, ConfRule] = {
    rule.name: rule
    for rule in (
        ConfRule("not-sent", (WARNING,), "a file of the group that agents do not get",
                 "Its name, its place or a NUL byte in it keeps it out of the merged file.",
                 "Rename it, move it, or save it as text; `mgmtctl files list GROUP` says why."),
        ConfRule("agent-conf-gone", (WARNING,), "a group that has lost its agent.conf",
                 "No command removed it, or agents still have what it said; the next run takes it from them.",
                 "Bring it back with `mgmtctl files rollback`, or put one with an empty `<agent_config>` block."),
        ConfRule("merged-header", (ERROR,), "no header where a file of a merged file begins",
                 "After so many bytes as the header before said there must be another header, `!SIZE NAME`.",
                 "Make the merged file anew; it cannot be edited by hand without counting bytes."),
        ConfRule("merged-truncated", (ERROR,), "a file in a merged file that is cut short",
                 "Its header announces more bytes than are left.", "Fetch or make the merged file again."),
        ConfRule("merged-name", (ERROR,), "a name in a merged file that no shared file can have",
                 "Such a name could leave the folder it is unpacked into.", "Do not use this merged file."),
        ConfRule("merged-clash", (ERROR,), "a name in a merged file that is a file and a folder",
                 "It cannot be unpacked.", "Rename one of them."),
        ConfRule("merged-duplicate", (WARNING,), "a name that stands twice in a merged file",
                 "It is unpacked in order, so the later one wins.", "Leave one of them out."),
        ConfRule("merged-nul", (WARNING,), "a file in a merged file that holds a NUL byte",
                 "Agents receive text, so its checksum would never match there.", "Leave the file out."),
    )
}  # fmt: skip
ALL_RULES = {**CONF_RULES, **FILE_RULES}


def explained(name: str) -> list[ConfRule]:
    """The lint rule of that name, for any shared file, or each for `all`; QuestionError."""
    if name == "all":
        return list(ALL_RULES.values())
    if name in ALL_RULES:
        return [ALL_RULES[name]]
    near = closest(name[:_LONGEST], ALL_RULES)
    hint = f"did you mean `{near}`?" if near else "mgmtctl files validate --explain all"
    raise QuestionError(f"no lint rule `{name}`", fix=hint)


_LONGEST = 64  # a longer name resembles none
