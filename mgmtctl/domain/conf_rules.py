"""What each lint rule of agent.conf means: the one place for their names, for help, SARIF and the manual.

Rules: a name is stable once released; `severities` are those that a finding of the rule can have, the usual one first.
What a reader rejects, and what silently does not apply, is an error; what applies otherwise than it reads is a
warning; what is true and worth knowing is a note (D 6). What rests on a fact that is not certain is at most a warning,
so most errors can be warnings.

Of relations between options (`rules` of the vocabulary) each kind was thought about: whether the stock check refuses,
logs or says nothing, the option that was written does not do what it says, so all are errors; `at_least` and
`multiple_of` too, for the value is not used, though another one is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mgmtctl.domain.errors import QuestionError
from mgmtctl.domain.findings import ERROR, NOTE, WARNING
from mgmtctl.domain.resources import closest


@dataclass(frozen=True, slots=True)
class ConfRule:
    """A lint rule of agent.conf: `summary` is a line, `why` says what happens, `fix` what to do."""

    name: str
    severities: tuple[str, ...]
    summary: str
    why: str
    fix: str

    @property
    def severity(self) -> str:
        """The usual one."""
        return self.severities[0]

    @property
    def explanation(self) -> str:
        """Why, and what to do, as one paragraph."""
        return f"{self.why} {self.fix}"

    def record(self) -> dict[str, object]:
        """Plain form."""
        return {
            "name": self.name,
            "severities": list(self.severities),
            "summary": self.summary,
            "why": self.why,
            "fix": self.fix,
        }

    def text(self) -> str:
        """As a page: the name, what it means, what to do."""
        severities = " or ".join(self.severities)
        return f"{self.name} ({severities}): {self.summary}\n  {self.why}\n  fix: {self.fix}"


def _rule(name: str, severities: str, summary: str, why: str, fix: str) -> ConfRule:
    return ConfRule(name, tuple(severities.split()), summary, " ".join(why.split()), " ".join(fix.split()))


_CAPPED = f"{ERROR} {WARNING}"

CONF_RULES: dict[str, ConfRule] = {
    rule.name: rule
    for rule in (
        # --- the document ---
        _rule("empty-document", ERROR, "a file without a byte",
              "Agents get a file that says nothing, which is seldom meant, and a cut-off upload looks the same.",
              "Write one empty `<agent_config>` block for a group without settings of its own."),
        _rule("no-agent-config", ERROR, "no block in the file",
              """The stock check passes a file of plain text, and agents read nothing from it. A local configuration
              or a page that was put by mistake looks so too.""",
              "Put the sections inside an `<agent_config>` block."),
        _rule("merged-file", WARNING, "a merged file where an agent.conf is meant",
              """It begins with the size and name of a file, as what the service puts together for agents does. Agents
              would read the blocks in it, of all files, as one agent.conf.""",
              "Check it with `mgmtctl files validate --as merged.mg`; put the agent.conf that is in it."),
        _rule("unknown-element", ERROR, "something else than a block at the top",
              "Agents refuse the whole file for any other element at the top, and letter case counts.",
              "Put sections inside an `<agent_config>` block."),
        _rule("nested-block", ERROR, "a block inside a block",
              "Inside a block agents look for sections, and refuse the file for a name that is none.",
              "Close the block before the next one opens."),
        _rule("nul-byte", ERROR, "a NUL byte",
              "A file that holds one is left out of the merged file, so agents never get it.",
              "Save the file as UTF-8; UTF-16 is full of NUL bytes."),
        _rule("xml-declaration", ERROR, "a line `<?xml ... ?>`",
              "The dialect has no declarations, and readers refuse the file for one.", "Leave the line out."),
        _rule("doctype", ERROR, "a DOCTYPE", "The dialect has none, and readers refuse the file.", "Leave it out."),
        _rule("cdata", ERROR, "a CDATA section", "The dialect has none, and readers refuse the file.",
              "Write the text itself, with `\\<` for a literal `<`."),
        _rule("unclosed-comment", ERROR, "a comment that does not end",
              "Everything after `<!--` is lost, and readers refuse the file.", "Write `-->` where it ends."),
        _rule("comment-ends-early", WARNING, "a comment that `!>` ends",
              "`!>` ends a comment as `-->` does, so what follows is read as configuration.",
              "Write it another way inside of comments."),
        _rule("unclosed-element", ERROR, "an element that is not closed",
              "Readers refuse the file. Often an opening tag stands where the closing one was meant.",
              "Write the closing tag, or `\\<` where a literal `<` was meant."),
        _rule("escaped-closing-tag", ERROR, "a backslash before a closing tag",
              "`\\<` is a literal `<`, so a value that ends with one backslash hides its own closing tag.",
              "Leave the backslash out, or write two."),
        _rule("stray-closing-tag", ERROR, "a closing tag that closes nothing", "Readers refuse the file.",
              "Leave it out, or open the element before it."),
        _rule("closing-tag-case", ERROR, "a closing tag in other letter case",
              "Names are compared with their letter case, so the element is not closed.",
              "Write it as the opening tag."),
        _rule("closing-tag-blank", ERROR, "a blank inside a closing tag", "`</name >` closes nothing.",
              "Write `</name>`."),
        _rule("bad-tag", ERROR, "a tag without its end", "Readers refuse the file.", "Write the `>`."),
        _rule("bad-attribute", ERROR, "an attribute that cannot be read",
              """No blank may stand before `=`, the value stands in plain quotes (not typographic ones) and holds no
              `>`. Readers refuse the file.""", 'Write `name="value"`.'),
        _rule("duplicate-attribute", ERROR, "an attribute that stands twice", "Readers refuse the file.",
              "Leave one of them out."),
        _rule("bare-less-than", ERROR, "a `<` that begins no element",
              "Readers take it for a tag and refuse the file. Templates that were not filled in look so.",
              "Write `\\<` for a literal `<`."),
        _rule("too-long", ERROR, "a name or a value of too many bytes",
              "A name, a value or an attribute has at most 20479 bytes; readers refuse the file.", "Shorten it."),
        _rule("too-deep", ERROR, "elements inside elements, too many",
              "At most 1024 elements may be open; what follows was not judged.", "Close them."),
        _rule("too-large", ERROR, "a document of too many bytes",
              "At most 10 MiB are read.", "Split the group."),
        _rule("too-many-elements", ERROR, "a document of too many elements",
              "At most 200,000 elements are judged.", "Split the group."),
        _rule("too-many-faults", f"{ERROR} {NOTE}", "more faults than are told",
              "Reading ended after so many faults: the file is something else than an agent.conf.",
              "Mend those that are told first."),
        _rule("more-findings", f"{ERROR} {WARNING} {NOTE}", "more findings than are told",
              """The gravest 1000 are told; this one has the worst severity of the others. It is an error too where
              more than 1000 different selectors stand in the file: the others were not judged.""",
              "Mend those that are told first."),
        # --- names ---
        _rule("unknown-selector", ERROR, "an attribute of a block that selects nothing",
              """Agents log an attribute that they do not know and then take the block, so a misspelt selector makes
              the block hit every agent of the group. The stock check passes it.""",
              "Selectors are name, os and profile, in small letters."),
        _rule("unknown-section", ERROR, "a section that does not exist",
              "Agents refuse the whole file for a section that they do not know.",
              "Correct the name; a module stands in `<wodle name=\"...\">`, an option in its section."),
        _rule("unknown-module", ERROR, "a module that does not exist",
              "Agents log the name and go on, so nothing of the section happens. The stock check passes it.",
              "Correct the name."),
        _rule("module-without-name", ERROR, "a module section whose first attribute is not `name`",
              "Readers take the first attribute for the name of the module, and refuse the file without one.",
              'Write `<wodle name="...">`.'),
        _rule("unknown-option", _CAPPED, "an option that the section does not have",
              """Most sections make agents refuse the whole file, some only log it or say nothing, and then the option
              does nothing. Names are per section: `scan-on-start` is right in cis-cat and open-scap and stops agents
              elsewhere, where it is `scan_on_start`.""",
              "Correct the name (`mgmtctl options list SECTION`)."),
        _rule("unknown-attribute", _CAPPED, "an attribute that the option does not have",
              "Some options make agents refuse the file, others drop the whole option or ignore the attribute.",
              "Correct the name (`mgmtctl options show OPTION`)."),
        _rule("manager-only", _CAPPED, "a section or option of managers",
              """Agents do not read it. The stock check knows the name and passes it, so it looks as if it were in
              force.""",
              "Leave it out, or set it in the configuration of the manager."),
        _rule("local-only", _CAPPED, "a section or option of the local configuration",
              """Agents read it from their own file only: what an attacker could switch off from a manager, and how
              the manager is reached. Here it does nothing, or makes agents refuse the file.""",
              "Set it in the local configuration of the agents."),
        _rule("misplaced-element", ERROR, "an element inside of a value",
              "The option around holds a value and no elements: it was not closed, or a `<` was meant literally.",
              "Close the option before it."),
        _rule("deprecated", WARNING, "an option that is going away, or does nothing any more",
              "It is still read, or still known and without effect; a newer release may refuse it.",
              "Use what stands instead of it."),
        _rule("moved-option", NOTE, "an option that has a newer place",
              "It works where it stands; newer manuals write it elsewhere.", "Move it when you touch the section."),
        # --- values ---
        _rule("bad-value", _CAPPED, "a value that the option does not take",
              """Values are compared as they stand: blanks, line breaks and letter case count, `true` is not `yes`, a
              time has one unit letter. Agents refuse the file, or log the value and use another.""",
              "Write one of the values of `mgmtctl options show OPTION`."),
        _rule("empty-value", WARNING, "an empty path", "It names nothing, so the option does nothing.",
              "Write the path, or leave the option out."),
        _rule("blanks-around-value", WARNING, "blanks around a path",
              "They belong to the value, and hardly any file is called so.", "Write the value without them."),
        _rule("undecoded-entity", WARNING, "an entity such as `&amp;` in a command or a path",
              "Entities are not decoded: the command or path holds these five characters. `&` and `>` need no escape.",
              "Write the character itself, and `\\<` for a literal `<`."),
        _rule("stray-text", WARNING, "text between options, or outside of blocks",
              """Text outside of blocks, and between sections or options, is not read. Often it is a comment or a tag
              that lost its signs.""",
              "Write it as a comment, `<!-- ... -->`, or leave it out."),
        _rule("unknown-value", WARNING, "a value that is none of the known ones",
              "The option takes any text, and does something only for those that the other side knows.",
              "Compare it with `mgmtctl options show OPTION`."),
        _rule("skipped-label", _CAPPED, "a label that is skipped",
              "A key that begins with `_` belongs to the agent itself.", "Give the label another key."),
        _rule("missing-option", _CAPPED, "an option that must be there",
              """Without it agents refuse the file, or drop the section or the block. It can depend on another one: a
              localfile of log_format command needs a command.""",
              "Add it."),
        _rule("missing-attribute", _CAPPED, "an attribute that must be there",
              "Without it agents refuse the file, or drop the option.", "Add it."),
        _rule("empty-section", _CAPPED, "a section or block without options",
              "Agents take an empty one for an unknown one, and refuse the file.", "Fill it, or leave it out."),
        # --- options together ---
        _rule("excluding-options", _CAPPED, "options that exclude each other",
              "Agents refuse the file when both stand there.", "Leave one of them out."),
        _rule("option-without-effect", _CAPPED, "an option that does nothing beside the others",
              """It counts only with other values of its neighbours: `query` with the log formats eventchannel and
              macos, `label` with json, `multiline_regex` with multi-line-regex.""",
              "Leave it out, or correct the option that it depends on."),
        _rule("fixed-value", _CAPPED, "a value that its neighbours fix",
              "With this log format the location has fixed values; another one is not read.",
              "Write one of the values that the message names."),
        _rule("wrong-interval", _CAPPED, "an interval that does not fit the day or time",
              """With a day of the month the interval is in whole months, with a day of the week in whole weeks, with a
              time of day in whole days. Agents log another value and do not use it.""",
              "Correct the interval, or leave it out."),
        _rule("too-small", _CAPPED, "a value below that of its neighbour",
              "The value is logged and not used.", "Raise it."),
        # --- repetition ---
        _rule("repeated-option", f"{WARNING} {ERROR} {NOTE}", "an option that stands twice in a block",
              """Only one of them counts: the later, or for a few the first, and then the second does nothing (an
              error). Sections of one name in a block count as one. A note where both say the same.""",
              "Leave one of them out."),
        _rule("repeated-entry", f"{WARNING} {NOTE}", "an entry that replaces another one of the block",
              """Directories are told apart by path, localfiles by location, labels by key: a second one replaces the
              first, attributes and all. Two localfiles of one event channel with different queries are one. A note
              where both say the same.""",
              "Put them into one entry."),
        _rule("replaced-section", WARNING, "a section that replaces another one of the block",
              "Some modules and lists are replaced as a whole: what the earlier section said is lost.",
              "Put them into one section."),
        # --- worth knowing ---
        _rule("plain-secret", WARNING, "a secret in plain text",
              """Whoever may read the group, its merged file or an agent's folder can read it; it stays in the history
              of the file.""",
              "Use an option that names a file or a profile on the agent, and change the secret."),
        _rule("remote-command", NOTE, "a program that agents run",
              """Agents run it as their own system user. Most such options count only where a switch is set on the
              agent, which the message names; some run without any.""",
              "Read it as you would read a script for every agent of the group."),
        # --- whom blocks hit (domain/conf_targets.py) ---
        _rule("wrong-system", f"{_CAPPED} {NOTE}", "something that the systems of the block do not have",
              """The block selects systems on which the section, option or value does not exist: it does nothing
              there, or those agents refuse the file though the stock check, which knows its own system only, passes
              it. An error too where an agent of the group that reads the block would refuse the file. A warning where
              none of the group's agents that the block hits has a right system; a note where agents of a system that
              the block does not exclude would refuse the file, and it is not known whether there are any.""",
              "Put it into a block with the right `os`."),
        _rule("too-new", _CAPPED, "an option that an agent is too old for",
              """The block hits agents of a release that does not know it. Where the section refuses unknown options,
              such an agent refuses the whole file, though a newer manager's check passes it.""",
              "Keep these agents out of the block by a selector, or upgrade them."),
        _rule("needs-release", NOTE, "the newest release that the file needs",
              "No agent's release is known here, so only the option that needs the newest one is told.",
              "Compare it with your agents (`mgmtctl files validate GROUP`)."),
        _rule("no-agent-matches", WARNING, "a block that no agent of the group matches",
              "Nobody reads the block now. What is not known of an agent is counted apart.",
              "Correct the selector, or wait for the agents that it is meant for."),
        _rule("bad-selector", ERROR, "a selector that is no pattern",
              "A selector is a regular expression as RE2 knows it; one that is none matches nobody.",
              "Correct the pattern; look-around and back-references are not known."),
        _rule("read-as-list", WARNING, "a selector that other readers take differently",
              """Here a selector is a regular expression; stock agents take it for substrings with `|` between them,
              where `^` and `$` tie an entry to an end and every other sign stands for itself. The message names an
              agent, or a text, for which the two differ.""",
              "Use letters, digits, `|`, and `^` and `$` at the ends only."),
        _rule("no-known-profile", NOTE, "profiles select, and none is known",
              "The block selects by profile, and no agent of the group has told its profiles.",
              "Let agents leave their `local.conf` in their folder."),
    )
}  # fmt: skip


def explained(name: str) -> list[ConfRule]:
    """The lint rule of that name, or each for `all`; QuestionError."""
    if name == "all":
        return list(CONF_RULES.values())
    if name in CONF_RULES:
        return [CONF_RULES[name]]
    near = closest(name, CONF_RULES)
    hint = f"did you mean `{near}`?" if near else "`mgmtctl files validate --explain all` shows them"
    raise QuestionError(f"no lint rule `{name}`", fix=hint)


def summaries(names: Iterable[str]) -> dict[str, ConfRule]:
    """The lint rules of these names, each once, in the order of the table."""
    wanted = set(names)
    return {name: rule for name, rule in CONF_RULES.items() if name in wanted}
