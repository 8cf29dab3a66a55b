"""What each lint rule of policies and rules means: the one place for their names, for help, SARIF and the manual.

Rules: a name is stable once released; the severity is the usual one, a finding may have a lower one (what cannot be
changed, what depends on links that a file does not show). Faults that are refused on write have their rules here too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mgmtctl.domain.errors import QuestionError
from mgmtctl.domain.findings import ERROR, NOTE, WARNING
from mgmtctl.domain.resources import closest

POLICIES, RULES = "policies", "rules"


@dataclass(frozen=True, slots=True)
class LintRule:
    """A lint rule: `about` is what it is asked of, `summary` a line, `explanation` a paragraph."""

    name: str
    about: tuple[str, ...]
    severity: str
    summary: str
    explanation: str

    def record(self) -> dict[str, object]:
        """Plain form."""
        return {
            "name": self.name,
            "about": list(self.about),
            "severity": self.severity,
            "summary": self.summary,
            "explanation": self.explanation,
        }

    def text(self) -> str:
        """As a page: the name, and what it means."""
        return f"{self.name} ({self.severity}, {' and '.join(self.about)})\n  {self.explanation}"


def _rule(name: str, severity: str, about: str, summary: str, explanation: str) -> LintRule:
    return LintRule(name, tuple(about.split()), severity, summary, " ".join(explanation.split()))


LINT_RULES: dict[str, LintRule] = {
    rule.name: rule
    for rule in (
        # --- policies: refused on write ---
        _rule("unknown-action", ERROR, POLICIES, "an action that does not exist",
              """The actions are a closed list (`mgmtctl actions list`). A policy that names another one grants
              nothing by it, so it is refused on write. Names are compared with their letter case."""),
        _rule("malformed-resource", ERROR, POLICIES, "a resource that nothing can be",
              """A resource is written kind:attribute:value, of the kinds that `mgmtctl actions resources` lists; the
              value is `*` or one whole value. `*` inside of a value, two resources joined by `&` and other letter
              case mean nothing here, so they are refused on write."""),
        _rule("unknown-effect", ERROR, POLICIES, "an effect that is neither allow nor deny",
              """An effect is exactly `allow` or `deny`. Anything else is refused, because a deny that is misspelt
              must not be read as nothing."""),
        _rule("never-matches", ERROR, POLICIES, "an action and resources that never meet",
              """Each action is asked on resources of its own kinds only (`mgmtctl actions show ACTION`). An action of
              a block that none of its resources fits, or a resource that no action of it is asked on, looks right and
              does nothing. Write one block for each kind."""),
        _rule("star-misunderstood", ERROR, POLICIES, "`*:*:*` is not everything",
              """`*:*:*` stands for actions that have no resource, such as agent:create and manager:read, and for
              nothing else. It never covers agent:read or any other action on something: that needs `agent:id:*` or
              the like. An error where the action has no other resource in the block; a warning where it has some and
              somebody may believe that the star makes it all."""),
        _rule("block-name", ERROR, POLICIES, "a block name of other characters",
              "A block is named by 1 to 64 letters, digits and `_ . % -`."),
        _rule("missing-key", ERROR, POLICIES, "a block that lacks one of its three keys",
              "A block has actions, resources and effect; none of them has a default."),
        _rule("empty-policy", ERROR, POLICIES, "a policy without blocks", "A policy without a block says nothing."),
        # --- policies: legal, and doubtful ---
        _rule("contradictory-entries", WARNING, POLICIES, "an allow that a deny takes away",
              """An allow and a deny meet, and any deny wins over any allow, whatever their order and wherever they
              stand: in the same policy, in another policy of the same role, or of another role of the same user. A
              warning where the whole allow never counts, or not for the roles or users that have both policies (others
              may have the allow alone); a note where a deny in another policy takes away a part. A
              deny inside of an allow of the same policy is how exceptions are written and is not reported. Groups
              and single agents are not compared, for who is in a group changes: of an allow on `agent:group:web`
              and a deny on `agent:id:001` nothing is said (ask `mgmtctl can-i ACTION agent:id:001 --explain`)."""),
        _rule("shadowed-entry", NOTE, POLICIES, "an entry that another one makes redundant",
              """An entry of the same action and effect in the same policy covers all that this one covers: the same
              resource again, `kind:*` beside one value, `agent:id:*` beside agent groups. It does no harm; somebody
              who removes it later takes nothing away, and somebody who removes the wide one leaves it behind."""),
        _rule("wider-than-description", WARNING, POLICIES, "called read-only, and allows more",
              """The name of a policy or role says read-only (one of its words is read, readonly, reader, view,
              viewer, ro, auditor, and none is write, change, admin, manage, full or the like, nor the verb of another
              action, as delete), or the description of a policy in a file does (`read only`, `read access`, `can
              read`, `allow read`), and it allows an action that changes something: any but those called read,
              read_config, read_api_config and status, and logtest:run. Nothing else is read into names and
              descriptions."""),
        _rule("deprecated-action", WARNING, POLICIES, "an action that is going away",
              """The action is deprecated. The two update_api_config actions grant nothing any more; the vulnerability
              actions still do. Policies that came with the service are not reported."""),
        _rule("deny-only-user", WARNING, POLICIES, "a user who may do nothing, for all his roles",
              """The mode is white, so what no policy allows is denied, and the roles of this user only deny: they add
              nothing to having no role at all. Such roles are written for mode black. It is told to those who may read
              all roles and policies."""),
        _rule("unused-policy", WARNING, POLICIES, "a policy that no role has",
              """No role has the policy, so nobody gets anything by it. Policies that came with the service are left
              out. It is told to those who may read all roles."""),
        _rule("unused-role", WARNING, POLICIES, "a role that nobody can get",
              """No user has the role and no rule leads to it. Roles that came with the service are left out. It is told
              to those who may read all users and rules."""),
        _rule("role-without-policies", WARNING, POLICIES, "a role that says nothing",
              """The role has no policy. In mode white its holders may do nothing by it; in mode black it lifts them
              from denied everything to allowed everything that no policy denies. It is told to those who may read all
              policies."""),
        # --- rules: refused on write ---
        _rule("one-operator", ERROR, RULES, "an expression with no or several operators",
              "An expression is an object with exactly one operator; several stand in a list under AND or OR."),
        _rule("unknown-operator", ERROR, RULES, "an operator that does not exist",
              "Operators are AND, OR, NOT, MATCH, MATCH$, FIND and FIND$, in capital letters."),
        _rule("empty-object", ERROR, RULES, "a search that asks for nothing",
              "An empty object would be true of everything, so it is refused."),
        _rule("invalid-pattern", ERROR, RULES, "a pattern that RE2 refuses",
              "Patterns have the syntax of RE2, which runs in linear time: no look-around and no back-references."),
        _rule("empty-pattern", ERROR, RULES, "a pattern without content", "Write `r'.*'` for any text."),
        _rule("unclosed-pattern", ERROR, RULES, "a pattern that does not end",
              "A pattern begins with r' and ends with '."),
        _rule("large-pattern", ERROR, RULES, "patterns that are too large together",
              "The patterns of one rule may have so many RE2 instructions; repeat less, or write two rules."),
        _rule("too-large", ERROR, RULES, "a rule of too many bytes", "A rule has at most 64 KiB."),
        _rule("too-deep", ERROR, RULES, "a rule of too many levels", "An expression has at most 200 levels."),
        _rule("invalid-text", ERROR, RULES, "text that is not valid Unicode", "A rule is kept as UTF-8."),
        _rule("rule-and-rules", ERROR, RULES, "a record whose `rule` and `rules` differ",
              "A record holds its expressions in one of them, or the same in both."),
        _rule("empty-list", ERROR, f"{POLICIES} {RULES}", "a list that names nothing",
              """An empty list of actions or resources makes a block that says nothing; an empty list of expressions or
              of items that are asked for would be true of everything. It is refused."""),
        _rule("unknown-key", ERROR, f"{POLICIES} {RULES}", "a key that means nothing here",
              "A key that is not known would be ignored, and what its author meant by it would be missing."),
        _rule("wrong-type", ERROR, f"{POLICIES} {RULES}", "a value of another type",
              "A value is of another JSON type than what is expected at its place."),
        # --- rules: legal, and doubtful ---
        _rule("true-for-everyone", ERROR, RULES, "a rule that every context satisfies",
              """Whatever a context holds, the rule is true: it gives its roles to everybody who may use contexts.
              `x` or not `x` is such a rule, and so is any name (`r'.*'`), which each context has. Names that are empty
              or of several lines are not counted here."""),
        _rule("no-positive-condition", WARNING, RULES, "a rule that an empty context satisfies",
              """The rule asks only for what must be absent, as a NOT by itself does: a context that says nothing is
              enough to get its roles. Put what the person must have beside it, under AND."""),
        _rule("never-true", WARNING, RULES, "a rule that no context satisfies",
              """Its conditions exclude each other, as two different texts that one key must equal; or it asks for
              what no context can hold: a `name` that is no text, an `auth` that is no object, a pattern that matches
              no text. It never gives a role to anybody. With the setting accept_raw_contexts a context may lack
              `name` and `auth`, or hold something else there."""),
        _rule("useless-condition", NOTE, RULES, "a condition that every context satisfies",
              """A part of the rule is true of every context, as `name` being any text, and tells nothing. Somebody
              may believe that it restricts the rule."""),
        _rule("pattern-samples", NOTE, RULES, "what a pattern matches",
              """Texts that a pattern matches, made from it and checked with the engine that evaluates rules, to be
              read by somebody who knows what it should match. A pattern matches the whole of a text, so `^` and `$`
              at its ends change nothing. Where no text can be made nothing is said."""),
        _rule("literal-looks-like-regex", WARNING, RULES, "text that reads like a pattern and is none",
              """A text without r'...' is compared as it is: `^admin$`, `admin.*` and `admin|root` are true of a person
              whose value has just these characters, and `*` in a text is a star. Write `r'...'` for a pattern; `r"..."`
              and `R'...'` are none."""),
        _rule("broad-find", WARNING, RULES, "a key that people fill in themselves leads to administration",
              """The rule can be made true by nothing but FIND on keys such as user_name, name or email. FIND looks at
              every depth, so another object of the context that happens to have that key, or an attribute that the
              person writes himself, is enough. A warning where the rule leads to a role that may change all users,
              roles, policies or rules; a note in a file, which does not show where it leads, and for the two
              rules of the service, which count for its web interface only."""),
        _rule("duplicate-rule", WARNING, RULES, "two rules that ask for the same",
              """Both are true of the same contexts: order, repetition, a list of one and double negation aside they
              are equal. Somebody who corrects one will forget the other."""),
        _rule("unlinked-rule", WARNING, RULES, "a rule that leads to no role",
              """The rule leads to no role, so it is not even evaluated (`mgmtctl roles add-rule ROLE RULE`). It is told
              to those who may read all roles."""),
    )
}  # fmt: skip


def explained(name: str, about: str) -> list[LintRule]:
    """The lint rule of that name, or all that are `about` policies or rules for `all`; QuestionError."""
    if name == "all":
        return [rule for rule in LINT_RULES.values() if about in rule.about]
    if name in LINT_RULES:
        return [LINT_RULES[name]]
    near = closest(name, LINT_RULES)
    hint = f"did you mean `{near}`?" if near else f"`mgmtctl {about} lint --explain all` shows them"
    raise QuestionError(f"no lint rule `{name}`", fix=hint)


def summaries(names: Iterable[str]) -> dict[str, LintRule]:
    """The lint rules of these names, each once, in the order of the table."""
    wanted = set(names)
    return {name: rule for name, rule in LINT_RULES.items() if name in wanted}
