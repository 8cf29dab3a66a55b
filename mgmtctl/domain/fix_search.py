"""Finds the fix of a denied decision (`fixes`): what to take out, what to put in, and what that means beside.

Rules: steps are taken on a copy of the subject's policies, which is asked again at the end; nothing is looked for where
the caller may not read, and what he may not read is not told by what a fix gives or takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from mgmtctl.domain.fix_meaning import NEW, actions_of, alternatives, gained_rights, more_agents, weight_of
from mgmtctl.domain.fixes import (
    Draft,
    Fix,
    Named,
    NoFixError,
    Subject,
    View,
    as_word,
    free_name,
    own,
)
from mgmtctl.domain.grants import ALLOW, BLACK, DENY, Decision, Entry, Grant, Permissions
from mgmtctl.domain.policies import blocks_record, stored_blocks
from mgmtctl.domain.policy_entries import Entries, without_entries
from mgmtctl.domain.resources import Resource
from mgmtctl.domain.users import is_reserved


def find_fix(decision: Decision, subject: Subject, view: View) -> Fix | None:
    """What would allow a denied decision; without steps when it says why there are none; None: the caller may not see.

    `decision` is as the caller may see it. S 2.3, D 2.
    """
    search = _Search(decision, subject, view)
    try:
        search.permit_contexts()
        search.take_denies_out()
        search.put_allow_in()
    except _HiddenError:
        return None
    except NoFixError as reason:
        return Fix(str(reason))
    return search.fix()


class _HiddenError(Exception):
    """The fix rests on what the caller may not read."""


class _Search:
    def __init__(self, decision: Decision, subject: Subject, view: View) -> None:
        self.decision, self.subject, self.view = decision, subject, view
        self.action, self.asked = decision.action, decision.resources[0]
        self.names, self.mode = decision.resources, decision.mode
        self.grants = list(subject.permissions.grants)
        self.roles = dict(subject.roles) if subject.permissions.has_roles else {}
        self.touched: set[str] = set()
        self.lost: set[str] = set()
        self.shared: tuple[str, ...] = ()
        self.draft = Draft()

    # --- the steps ------------------------------------------------------------------------------------------------

    def permit_contexts(self) -> None:
        """Let the user bring contexts, when that is what is missing first."""
        subject = self.subject
        if subject.rules is None or subject.may_use_contexts or subject.user is None:
            return
        self._require_own_user(subject.user)
        self.draft.add(
            "allow-run-as",
            ("users", "allow-run-as", as_word(subject.user)),
            f"let user {subject.user[1]} use authorization contexts",
            user=subject.user[1],
        )
        if subject.led_to is not None:
            self.grants, self.roles = list(subject.led_to.grants), dict(subject.roles)
            self._touch(self.grants)

    def take_denies_out(self) -> None:
        """Take out every entry that denies; where it came with the service, the link that leads to it."""
        decision = self._now().decide(self.action, *self.names) if self.draft.steps else self.decision
        by_policy: dict[int, list[Entry]] = {}
        for entry in () if decision.allowed else decision.because:
            if not self.view.shows(entry):
                raise _HiddenError
            by_policy.setdefault(entry.policy_id, []).append(entry)
        for policy_id, entries in by_policy.items():
            if is_reserved(policy_id) or not self._take_out(entries):
                self._unlink(entries[0])

    def put_allow_in(self) -> None:
        """Put in what allows it, when nothing does."""
        if self._passes():
            return
        if not self.roles:
            self._give_role()
        elif not self._add_entry():
            self._add_policy()

    # --- denies ---------------------------------------------------------------------------------------------------

    def _take_out(self, entries: list[Entry]) -> bool:
        """Take these entries out of their policy; False when they are all it says."""
        policy = (entries[0].policy_id, entries[0].policy)
        resources = tuple(dict.fromkeys(entry.resource for entry in entries))
        unwanted = Entries((self.action,), resources, DENY)
        changed = []
        for grant in self.grants:
            if grant.policy_id == policy[0]:
                left = without_entries(stored_blocks(grant.blocks), unwanted)
                if not left:
                    return False
                grant = grant._replace(blocks=blocks_record(left))
            changed.append(grant)
        self.grants = changed
        self.touched.add(self.action)
        self._share(policy[0])
        on = ",".join(map(str, resources))
        self.draft.add(
            "remove-entry",
            ("policies", "remove-entry", as_word(policy), "--deny", self.action, "--on", on),
            f"take the deny out of policy {policy[1]} of role {entries[0].role}",
            policy=policy[1], role=entries[0].role, action=self.action, resource=on, effect=DENY,
        )  # fmt: skip
        return True

    def _unlink(self, entry: Entry) -> None:
        """Take the policy of the entry from each of the roles; or such a role from the subject."""
        policy = (entry.policy_id, entry.policy)
        for grant in [grant for grant in self.grants if grant.policy_id == policy[0]]:
            role = (grant.role_id, grant.role)
            if role[0] not in self.roles:
                continue
            if is_reserved(role[0]):
                self._leave(role)
                continue
            self._drop(lambda one, gone=grant: one == gone)  # type: ignore[misc]
            self.draft.add(
                "remove-policy",
                ("roles", "remove-policy", as_word(role), as_word(policy)),
                f"take policy {policy[1]} from role {role[1]}",
                policy=policy[1], role=role[1],
            )  # fmt: skip

    def _leave(self, role: Named) -> None:
        """Take a role that came with the service from the subject."""
        subject, why = self.subject, f"role {role[1]} came with the service and keeps its policies"
        if subject.rules is not None:
            leading = [rule for rule, roles in subject.rules if role[0] in roles]
            if not leading or len(own(leading)) < len(leading):
                raise NoFixError(f"{why}, as does the rule that leads to it")
            for rule in leading:
                self.draft.add(
                    "remove-rule",
                    ("roles", "remove-rule", as_word(role), as_word(rule)),
                    f"let rule {rule[1]} lead to role {role[1]} no more",
                    role=role[1], rule=rule[1],
                )  # fmt: skip
        elif subject.user is not None:
            self._require_own_user(subject.user)
            self.draft.add(
                "remove-role",
                ("users", "remove-role", as_word(subject.user), as_word(role)),
                f"take role {role[1]} from user {subject.user[1]}",
                user=subject.user[1], role=role[1],
            )  # fmt: skip
        else:
            raise NoFixError(f"{why}; ask without it")
        del self.roles[role[0]]
        self._drop(lambda grant: grant.role_id == role[0])

    # --- allows ---------------------------------------------------------------------------------------------------

    def _add_entry(self) -> bool:
        """One entry more in an own policy of the subject; False when there is none."""
        grants = [
            grant
            for grant in self.grants
            if not is_reserved(grant.policy_id) and self.view.shows(grant) and grant.role_id in self.roles
        ]
        if not grants:
            return False
        best = min(grants, key=lambda grant: (self._distance(grant), grant.policy_id))
        policy = (best.policy_id, best.policy)
        self.grants += [
            grant._replace(blocks=self._block()) for grant in self.grants if grant.policy_id == best.policy_id
        ]
        self.touched.add(self.action)
        self._share(best.policy_id)
        self.draft.add(
            "add-entry",
            ("policies", "add-entry", as_word(policy), *self._options(self.asked)),
            f"put an entry into policy {policy[1]} of role {best.role}",
            policy=policy[1], role=best.role, **self._facts(),
        )  # fmt: skip
        return True

    def _distance(self, grant: Grant) -> int:
        """How far a policy is from what was asked: 0 has a near miss, 1 an action of the same noun, 2 neither."""
        said = {
            action
            for block in grant.blocks.values()
            if block["effect"] == ALLOW
            for action in block["actions"]
        }
        if self.action in said:
            return 0
        noun = self.action.partition(":")[0]
        return 1 if any(action.partition(":")[0] == noun for action in said) else 2

    def _add_policy(self) -> None:
        """A policy of its own, for an own role of the subject, or for a new role that he is given."""
        roles = [role for role in own(self.roles.items()) if self.view.reads("role", role[0])]
        if roles:
            self._make_policy(min(roles))
            self.draft.said.append(f"make a policy of its own for role {min(roles)[1]}")
        else:
            self._make_role()

    def _give_role(self) -> None:
        """The own role that allows it and gives the least else, or a new one."""
        known = [
            (weight, role, permissions)
            for role, permissions in self.view.own_roles()
            if permissions.allows(self.action, *self.names)
            for weight in (weight_of(permissions, self.action),)
            if weight is not None
        ]
        if not known:
            self._make_role()
            return
        _, role, permissions = min(known, key=lambda one: one[:2])
        self._link(role)
        self.draft.said.append(f"give {self._whom()} role {role[1]}")
        self.grants += permissions.grants
        self._touch(permissions.grants)

    def _make_role(self) -> None:
        """A new role, with a policy of its own unless the mode allows what nobody denies."""
        self._linkable()
        subject = self.subject
        base = (
            subject.user[1] if subject.user and subject.rules is None else f"{self._whom().split()[-1]}_extra"
        )
        role = (NEW, free_name(base, self.view.names("role")))
        self.draft.add("create-role", ("roles", "create", role[1]), role=role[1])
        if self.mode != BLACK:
            self._make_policy(role)
        self._link(role)
        self.draft.said.append(f"make a role of its own for {self._whom()}")

    def _make_policy(self, role: Named) -> None:
        wanted = f"{role[1]}_{self.action.replace(':', '_')}"
        policy = (NEW, free_name(wanted, self.view.names("policy")))
        self.grants.append(Grant(role[0], role[1], "", NEW, policy[1], self._block()))
        self.touched.add(self.action)
        self.draft.add(
            "create-policy",
            ("policies", "create", policy[1], *self._options(self.asked)),
            policy=policy[1], **self._facts(),
        )  # fmt: skip
        self.draft.add(
            "add-policy", ("roles", "add-policy", as_word(role), policy[1]), role=role[1], policy=policy[1]
        )

    def _link(self, role: Named) -> None:
        """Give the role to the subject: to the user, or to the contexts that a true rule of one's own tells."""
        self._linkable()
        self.roles[role[0]] = role[1]
        subject = self.subject
        if subject.rules is None:
            user = subject.user or (NEW, "")
            words, facts = ("users", "add-role", as_word(user), as_word(role)), {"user": user[1]}
        else:
            rule = min(own(rule for rule, _ in subject.rules))
            words, facts = ("roles", "add-rule", as_word(role), as_word(rule)), {"rule": rule[1]}
        self.draft.add(words[1], words, role=role[1], **facts)

    def _linkable(self) -> None:
        """NoFixError when nothing can lead the subject to one role more."""
        subject = self.subject
        if subject.rules is None:
            if subject.user is None:
                raise NoFixError("only a role of your own can be given more; make one, and ask about it too")
            self._require_own_user(subject.user)
        elif not subject.rules:
            raise NoFixError(
                "no rule that you may read is true for this context; "
                "`mgmtctl rules explain RULE --context-file FILE` says what each one misses"
            )
        elif not own(rule for rule, _ in subject.rules):
            raise NoFixError(
                "only rules that came with the service are true for this context, and they keep their roles; "
                "`mgmtctl rules suggest --from FILE` drafts one"
            )

    def _require_own_user(self, user: Named) -> None:
        if is_reserved(user[0]):
            raise NoFixError(
                f"user {user[1]} came with the service and keeps its roles; use a user of your own"
            )

    def _whom(self) -> str:
        subject = self.subject
        if subject.rules:
            return f"rule {min(own(rule for rule, _ in subject.rules))[1]}"
        return f"user {subject.user[1]}" if subject.user else "whom it is about"

    # --- what it means --------------------------------------------------------------------------------------------

    def fix(self) -> Fix | None:
        """The fix, when it holds."""
        if not self._passes():
            return None
        before, after = self._readable(self.subject.permissions), self._readable(self._now())
        gives = [
            right
            for right in gained_rights(before, after, self.touched)
            if right != (self.action, self.asked)
        ]
        return Fix(
            self.draft.summary(),
            tuple(self.draft.steps),
            tuple(alternatives(self.decision, self.draft.steps, self.view)),
            tuple(gives),
            tuple(gained_rights(after, before, self.lost)),
            more_agents(self.decision, before, after, gives, self.view),
            self.shared,
        )

    def _readable(self, permissions: Permissions) -> Permissions:
        grants = [
            grant
            for grant in permissions.grants
            if NEW in (grant.policy_id, grant.role_id) or self.view.shows(grant)
        ]
        return Permissions.granted(self.mode, grants, has_roles=permissions.has_roles)

    # --- the copy -------------------------------------------------------------------------------------------------

    def _now(self) -> Permissions:
        return Permissions.granted(self.mode, self.grants, has_roles=bool(self.roles))

    def _passes(self) -> bool:
        return self._now().allows(self.action, *self.names)

    def _drop(self, goes: Callable[[Grant], bool]) -> None:
        gone = [grant for grant in self.grants if goes(grant)]
        self._touch(gone)
        self.lost.update(actions_of(gone))
        self.grants = [grant for grant in self.grants if not goes(grant)]

    def _touch(self, grants: Iterable[Grant]) -> None:
        self.touched.update(actions_of(grants))

    def _share(self, policy_id: int) -> None:
        others = [
            role[1]
            for role in self.view.roles_of(policy_id)
            if role[0] not in self.roles and self.view.reads("role", role[0])
        ]
        self.shared = tuple(dict.fromkeys((*self.shared, *others)))

    def _block(self) -> dict[str, dict[str, object]]:
        return {"new": {"actions": [self.action], "resources": [str(self.asked)], "effect": ALLOW}}

    def _options(self, resource: Resource) -> tuple[str, ...]:
        return ("--allow", self.action, "--on", str(resource))

    def _facts(self) -> dict[str, str]:
        return {"action": self.action, "resource": str(self.asked), "effect": ALLOW}
