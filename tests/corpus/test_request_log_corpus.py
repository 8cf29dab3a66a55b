"""Real request logs of the public kind: which of their lines are read as calls. Each verdict was judged by reading."""

from __future__ import annotations

from pathlib import Path

import pytest

from mgmtctl.domain.request_lines import read_line
from tests.conftest import CORPUS

# file: the numbers of the lines that tell of a whole call; all others are other messages, cut, or of an older form.
CALLS: dict[str, list[int]] = {
    "003-decoder-comment.log": [1, 3],
    "004-docs-plain.log": [1, 2, 3, 4],
    "005-docs-json.jsonl": [1, 2],
    "006-docs-json-pretty.json": [],  # one object over many lines is no line of a log
    "007-issue12149.log": [1, 2, 3],
    "008-issue11449.log": [1, 2, 3],  # line 4 ends in the middle
    "009-issue24060.log": [2],  # line 3 ends in the middle
    "015-issue30479-401.log": [1, 2, 3],
    "016-qa2544-bruteforce.log": [3, 4, 5],
    "021-pr6822-noparams.log": [2],  # without parameters and body
    "022-issue7735-debug.log": [1, 4],
    "025-legacy-wazuhapi.log": [],
}
FILES = sorted(path.name for path in (CORPUS / "request_log").glob("*")) if CORPUS.is_dir() else []


def test_every_file_has_a_verdict(corpus: Path) -> None:
    assert sorted(CALLS) == FILES


@pytest.mark.parametrize("name", sorted(CALLS))
def test_the_calls_of_a_real_log_are_read(corpus: Path, name: str) -> None:
    lines = (corpus / "request_log" / name).read_text("utf-8", "replace").splitlines()
    found = [number for number, line in enumerate(lines, start=1) if read_line(line) is not None]
    assert found == CALLS[name]


@pytest.mark.parametrize(
    ("name", "line", "fields"),
    [
        ("004-docs-plain.log", 1, ("wazuh", "66a28efb5f8db2e93da2b5fb107bec35", "0.363s", 200)),
        ("005-docs-json.jsonl", 1, ("wazuh", "66a28efb5f8db2e93da2b5fb107bec35", "0.352s", 200)),
        ("008-issue11449.log", 1, ("wazuh-wui", None, "0.104s", 200)),
        ("015-issue30479-401.log", 2, ("wazuh-wui", None, "0.092s", 401)),
    ],
)
def test_what_a_call_says_is_read(
    corpus: Path, name: str, line: int, fields: tuple[str, str | None, str, int]
) -> None:
    entry = read_line((corpus / "request_log" / name).read_text().splitlines()[line - 1])
    assert entry is not None
    assert (entry.user, entry.hash_auth_context, entry.time, entry.status_code) == fields
