"""Facts about operations and commands: whatever the service can do, some command does."""

from __future__ import annotations

import ast
import importlib

from mgmtctl.operations import NOUNS
from mgmtctl.operations.registry import OPERATIONS
from tests.conftest import ROOT


def test_every_operation_is_called_by_a_command() -> None:
    for noun in NOUNS:
        importlib.import_module(f"mgmtctl.operations.{noun}")
    called = {
        node.attr
        for path in (ROOT / "mgmtctl" / "cli").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
    }
    names = {name for name in OPERATIONS if name.partition(".")[0] in NOUNS}
    assert sorted(name for name in names if name.partition(".")[2] not in called) == []
