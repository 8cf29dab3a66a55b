"""Readers for the many forms in which real files hold policies: each gives (label, policy document) pairs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import yaml

Documents = Iterator[tuple[str, Any]]


def shipped(text: str) -> Documents:
    """A file of default policies: each holds its blocks under `policies`."""
    for name, policy in yaml.safe_load(text)["default_policies"].items():
        yield name, policy["policies"]


def bare_list(text: str) -> Documents:
    """A list of blocks without names."""
    yield from ((str(number), block) for number, block in enumerate(yaml.safe_load(text)))


def policy_list(text: str) -> Documents:
    """A list of records with `policy`."""
    yield from ((str(number), record) for number, record in enumerate(yaml.safe_load(text)["policies"]))


def one(text: str) -> Documents:
    """One policy document."""
    yield "", json.loads(text)


def examples(text: str) -> Documents:
    """A catalogue of actions, each with an example policy."""
    for action, entry in json.loads(text).items():
        yield action, entry["example"]


def catalogue_cases(text: str) -> Documents:
    """Test cases that hold catalogues of actions."""
    for number, case in enumerate(yaml.safe_load(text)["get_rbac_actions"]):
        for action, entry in case["result"].items():
            yield f"{number} {action}", entry["example"]


def effective(permissions: dict[str, dict[str, str]]) -> dict[str, Any]:
    """A map of effective permissions, action -> resource -> effect, as a policy with a block for each entry."""
    entries = [
        (action, resource, effect)
        for action, effects in permissions.items()
        if isinstance(effects, dict)
        for resource, effect in effects.items()
    ]
    return {
        "blocks": {
            str(number): {"actions": [action], "resources": [resource], "effect": effect}
            for number, (action, resource, effect) in enumerate(entries)
        }
    }


def decision_cases(text: str) -> Documents:
    """Test cases of decisions: those that hold permissions."""
    for number, case in enumerate(json.loads(text)):
        if case["rbac"]:
            yield str(number), effective(case["rbac"])


def script(text: str) -> Documents:
    """Permission maps in a script: `NAME: { 'ACTION': { 'RESOURCE': 'EFFECT' } }`."""
    body = text[text.index("{") : text.index("};") + 1]
    body = re.sub(r"^(\s*)(\w+):", r'\1"\2":', body.replace("'", '"'), flags=re.MULTILINE)
    for name, permissions in json.loads(re.sub(r",(\s*})", r"\1", body)).items():
        yield name, effective(permissions)


def manual(text: str) -> Documents:
    """A page of a manual: JSON bodies and `jsonencode({...})`."""
    for number, body in enumerate(re.findall(r"jsonencode\(\{(.*?)\}\)", text, flags=re.DOTALL)):
        lines = re.sub(r"(\w+)\s*=\s*(.+)", r'"\1": \2,', body).strip().rstrip(",")
        yield f"encoded {number}", {"policy": json.loads(f"{{{lines}}}")}
    for number, body in enumerate(re.findall(r"```json\n(.*?)```", text, flags=re.DOTALL)):
        yield f"json {number}", json.loads(body)


def dump(text: str) -> Documents:
    """Rows of a database: id, name, body, time."""
    for line in text.splitlines():
        _, name, body, _ = line.split("|")
        yield name, json.loads(body)
