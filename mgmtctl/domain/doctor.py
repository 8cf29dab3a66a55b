"""The chain of a context login, link by link, up to the first that is broken (S 5.2; D 1, D 3).

Chain: user, password, right to contexts, rules, (with a context: true ones), roles, policies, rights. Rules: each
broken link says what is wrong and the command that mends it. Without a context a link holds when it does for some
login.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mgmtctl.domain.users import WEB_INTERFACE_ID, is_reserved

CONTEXT_FILE = "FILE"  # in a fix, for whoever knows its name
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Link:
    """One link of the chain: `why` says what holds it or what breaks it, `fix` is a command line."""

    link: str
    ok: bool
    why: str
    fix: str | None = None

    def record(self) -> dict[str, object]:
        """Plain form."""
        return {"link": self.link, "ok": self.ok, "why": self.why, "fix": self.fix}


@dataclass(frozen=True, slots=True)
class RuleLink:
    """A rule that the caller may read, with those of its roles that he may read."""

    id: int
    name: str
    roles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RoleLink:
    """A role that the caller may read, and what its readable policies say by themselves, in the mode in force.

    `denying`: the policies that deny something; `allows`: whether one allows something; `actions`: how many come
    of them.
    """

    name: str
    policies: tuple[str, ...]
    denying: tuple[str, ...]
    allows: bool
    actions: int


@dataclass(frozen=True, slots=True)
class Chain:
    """What there is, as far as the caller may read it. `true`: names of true rules, None without a context.

    `refused`: why the context would be refused; `nearest`: (rule, what it met) of a rule that is not true, an own one
    first; `together`: how many actions the roles of the true rules allow together.
    """

    user_id: int
    user: str
    has_password: bool
    allow_run_as: bool
    mode: str
    rules: tuple[RuleLink, ...]
    roles: tuple[RoleLink, ...]
    true: frozenset[int] | None = None
    refused: str = ""
    nearest: tuple[str, str] = ("", "")
    together: int = 0
    whole: bool = True


def no_user(name: str, problem: str, fix: str | None) -> list[Link]:
    """The chain of a user whom nobody knows."""
    return [Link("user", False, problem, fix or f"mgmtctl users create {name} --allow-run-as")]


def diagnose(chain: Chain) -> list[Link]:
    """The links in order; the last one is the first broken one, if any is."""
    found: list[Link] = []
    for link in _links(chain):
        found.append(link)
        if not link.ok:
            break
    return found


def _links(chain: Chain) -> Iterator[Link]:
    yield Link("user", True, f"{chain.user} has id {chain.user_id}")
    yield _password(chain)
    yield _run_as(chain)
    rules = [rule for rule in chain.rules if chain.user_id == WEB_INTERFACE_ID or not is_reserved(rule.id)]
    yield _rules(chain, rules)
    if chain.true is not None:
        yield _true(chain, rules)
        rules = [rule for rule in rules if rule.id in chain.true]
    yield _roles(chain, rules)
    granted = {role for rule in rules for role in rule.roles}
    roles = [role for role in chain.roles if role.name in granted]
    yield _policies(chain, roles)
    yield _rights(chain, roles)


def _password(chain: Chain) -> Link:
    if chain.has_password:
        return Link("password", True, "is set")
    why = f"user {chain.user} has none, so nobody can log in as that user"
    return Link("password", False, why, f"mgmtctl users set-password {chain.user}")


def _run_as(chain: Chain) -> Link:
    if chain.allow_run_as:
        return Link("run_as", True, "the user may use authorization contexts")
    if is_reserved(chain.user_id):
        why = f"user {chain.user} is reserved and never uses authorization contexts; another user may"
        return Link("run_as", False, why, "mgmtctl users create NAME --allow-run-as")
    why = f"user {chain.user} may not use authorization contexts"
    return Link("run_as", False, why, f"mgmtctl users allow-run-as {chain.user}")


def _rules(chain: Chain, rules: Sequence[RuleLink]) -> Link:
    if rules:
        return Link("rules", True, f"{_named(rules)} may be evaluated")
    others = " but default ones, which are for the web interface's user only" if chain.rules else ""
    return Link(
        "rules", False, f"there is no rule{_read(chain)}{others}", "mgmtctl rules create NAME -f FILE"
    )


def _true(chain: Chain, rules: Sequence[RuleLink]) -> Link:
    true = [rule for rule in rules if rule.id in (chain.true or ())]
    if true:
        return Link("matches", True, f"{_named(true)} {'is' if len(true) == 1 else 'are'} true")
    name, met = chain.nearest
    name = name or min(rules, key=lambda rule: is_reserved(rule.id)).name
    why = (
        f"the login is refused: {chain.refused}"
        if chain.refused
        else f"no rule{_read(chain)} is true for the context{f'; {name}: {met}' if met else ''}"
    )
    return Link("matches", False, why, f"mgmtctl rules explain {name} --context-file {CONTEXT_FILE}")


def _roles(chain: Chain, rules: Sequence[RuleLink]) -> Link:
    leading = [rule for rule in rules if rule.roles]
    if not leading:
        first = rules[0].name if rules else "RULE"
        what = f"{_named(rules)} {'leads' if len(rules) == 1 else 'lead'} to no role{_read(chain)}"
        return Link("roles", False, what, f"mgmtctl roles add-rule ROLE {first}")
    pairs = [f"{rule.name} leads to {', '.join(rule.roles)}" for rule in leading]
    return Link("roles", True, _some(pairs, "; "))


def _policies(chain: Chain, roles: Sequence[RoleLink]) -> Link:
    told = _some([f"{role.name} has {_some(role.policies) or 'none'}" for role in roles], "; ")
    if any(role.policies for role in roles):
        return Link("policies", True, told)
    if chain.mode == "black":
        return Link("policies", True, f"{told}; mode black permits what nothing denies")
    first = roles[0].name if roles else "ROLE"
    return Link("policies", False, f"{told}{_read(chain)}", f"mgmtctl roles add-policy {first} POLICY")


def _rights(chain: Chain, roles: Sequence[RoleLink]) -> Link:
    count = chain.together if chain.true is not None else max((role.actions for role in roles), default=0)
    if count:
        upto = "" if chain.true is not None else "up to "
        return Link(
            "rights", True, f"{upto}{count} action{'s' * (count > 1)} allowed somewhere, mode {chain.mode}"
        )
    if not any(role.allows for role in roles) and chain.mode != "black":
        first = roles[0].name if roles else "ROLE"
        why = f"the policies{_read(chain)} only deny, and mode {chain.mode} permits nothing by itself"
        return Link("rights", False, why, f"mgmtctl roles add-policy {first} POLICY")
    denying = list(dict.fromkeys(policy for role in roles for policy in role.denying))
    why = f"{_some(denying)} denies all that is allowed{_read(chain)} (mode {chain.mode})"
    return Link("rights", False, why, f"mgmtctl policies show {denying[0] if denying else 'POLICY'}")


def _read(chain: Chain) -> str:
    return "" if chain.whole else " that you may read"


def _named(rules: Sequence[RuleLink]) -> str:
    return f"rule{'s' * (len(rules) != 1)} {_some([rule.name for rule in rules])}"


def _some(names: Sequence[str], between: str = ", ") -> str:
    """Names, the first few of many."""
    more = [f"{len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else []
    return between.join([*names[:_MOST_NAMED], *more])
