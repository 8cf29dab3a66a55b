"""Real merged files through the reader, and real shared files through a merge; verdicts judged by reading the files."""

from __future__ import annotations

from pathlib import Path

import pytest

from mgmtctl.domain.errors import InvalidError
from mgmtctl.domain.merging import combine, merged_file, read_merged, unpack
from tests.conftest import CORPUS

FOLDER = CORPUS / "merged_mg"
AR, CONF = "ar.conf", "agent.conf"

# file -> (name, size, line of the header) of each entry, and what is wrong, as rule and line
VERDICTS: dict[str, tuple[list[tuple[str, int, int]], list[tuple[str, int]]]] = {
    "003-wazuh-default.mg": ([(AR, 77, 2), (CONF, 76, 5)], []),
    "004-wazuh-group1.mg": ([(CONF, 76, 2)], []),
    "005-wazuh-default.mg": ([(CONF, 76, 2)], []),
    # four lines were added to ar.conf by hand, and its size was left as it was
    "006-wazuh-group4.mg": ([(AR, 77, 2)], [("merged-header", 5)]),
    "007-wazuh-group1.mg": ([(AR, 77, 2)], [("merged-header", 5)]),
    "008-wazuh-group1.mg": ([(AR, 77, 2), (CONF, 76, 5)], []),
    "011-suricata.mg": ([(AR, 350, 2), (CONF, 167, 12)], []),
    "017-default-small.mg": ([(AR, 228, 2), (CONF, 146, 9)], []),  # CR LF counted in the size
}


def _path(name: str) -> Path:
    if not FOLDER.is_dir():
        pytest.skip("corpus not here")
    return FOLDER / name


def test_every_file_has_a_verdict(corpus: Path) -> None:
    assert {path.name for path in (corpus / "merged_mg").iterdir()} == set(VERDICTS)


@pytest.mark.parametrize("name", VERDICTS)
def test_a_real_merged_file_gets_its_verdict(name: str) -> None:
    entries, findings = VERDICTS[name]
    found = read_merged(_path(name).read_bytes(), name)
    assert [(entry.name, entry.size, entry.line) for entry in found.entries] == entries
    assert [(finding.rule, finding.line) for finding in found.findings] == findings


@pytest.mark.parametrize("name", [name for name, (_, findings) in VERDICTS.items() if not findings])
def test_a_real_merged_file_is_made_again_byte_for_byte(name: str) -> None:
    data = _path(name).read_bytes()
    files = dict(unpack(data))
    tag = data[1 : data.index(b"\n")].decode()
    ar_conf = files.pop(AR, None)
    assert merged_file(tag, combine([(tag, files)]).parts, ar_conf) == data


@pytest.mark.parametrize("name", [name for name, (_, findings) in VERDICTS.items() if findings])
def test_a_broken_merged_file_is_not_unpacked(name: str) -> None:
    with pytest.raises(InvalidError):
        list(unpack(_path(name).read_bytes()))


@pytest.mark.parametrize("kind", ["ar_conf", "rootcheck_txt", "agent_conf"])
def test_real_shared_files_come_out_of_a_merged_file_as_they_went_in(corpus: Path, kind: str) -> None:
    files = {path.name: path.read_bytes() for path in (corpus / kind).iterdir()}
    for ar_conf in sorted((corpus / "ar_conf").iterdir()):
        made = combine([("web", files)])
        merged = merged_file(made.tag, made.parts, ar_conf.read_bytes())
        assert made.left_out == ()
        assert dict(unpack(merged)) == {**files, AR: ar_conf.read_bytes()}
