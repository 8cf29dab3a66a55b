"""Every real agent.conf through the reader and the check; each verdict below was judged by reading the file."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from mgmtctl.domain.agent_conf import Element, read
from mgmtctl.domain.agent_conf_check import check_agent_conf
from tests.conftest import CORPUS

FOLDER = CORPUS / "agent_conf"
Verdict = list[tuple[str, int]]

UNCLOSED, NONE, TOP = "unclosed-element", "no-agent-config", "unknown-element"
DECLARATION: Verdict = [("xml-declaration", 1)]
ERB: Verdict = [("bare-less-than", line) for line in (2, 6, 10, 16, 18, 28, 30)]  # `<%` begins no element
LOCAL: Verdict = [(TOP, 1), (NONE, 1)]  # the root element of a local configuration

# what is wrong in the file, as rule and line
REFUSED: dict[str, Verdict] = {
    "028-joacofd-config.conf": LOCAL,
    "033-opensecureco-kickstart.conf": [  # sections without a block around them
        (TOP, 1),
        (NONE, 1),
        *((TOP, line) for line in (9, 28, 39, 48, 65, 73, 126, 132, 139, 146, 153, 158, 163, 168, 173, 178)),
    ],
    "034-oussema-jemmali-wazuh.conf": [(NONE, 1), (UNCLOSED, 58), (TOP, 58)],  # a page about agents
    "039-saidgarnit-ossec.conf": DECLARATION,
    "041-saidgarnit-default.conf": DECLARATION,
    "042-saidgarnit-soc.conf": DECLARATION,
    "052-dj-wasabi-templates.j2": [("bad-attribute", 2)],  # the name of a selector is filled in later
    "053-dj-wasabi-templates.j2": [("bad-attribute", 2)],
    "060-heeeyaaaa-wazuh-homelab.conf": LOCAL,
    "062-jennifergates-ossec.conf": [(UNCLOSED, 175)],  # `<directories>` where `</directories>` was meant
    "063-jennifergates-ossec.conf": [(UNCLOSED, 107)],
    "064-jennifergates-ossec.conf": [(UNCLOSED, 109)],
    "065-jennifergates-ossec.conf": [(UNCLOSED, 40)],
    "066-laksithnimesha-configs.conf": [(NONE, 1), (TOP, 7), (TOP, 191)],
    "069-nu11secur1ty-default.conf": [("nested-block", 2)],
    "070-nu11secur1ty-default.conf": [(NONE, 1)],  # one newline
    "100-wazuh-templates.erb": ERB,
    "101-wazuh-templates.erb": ERB,
    "123-bret99-doc-confluence.conf": [(UNCLOSED, 5)],  # `<localfile>` where `</localfile>` was meant
    "129-ddpbsd-doc-agent-conf.conf": [("unknown-section", 2)],  # an option without its section
    "146-wazuh-it-invalid-file-xml.conf": [(NONE, 1), (TOP, 1), ("stray-closing-tag", 1)],
    "150-wazuh-it-invalid-ossec-xml.conf": LOCAL,
    "162-issue38638-tagless.conf": [(NONE, 1)],  # a sentence
    "163-docs-smartquotes.conf": [(UNCLOSED, 1), ("bad-attribute", 1), ("nested-block", 3), (UNCLOSED, 5)],
    "172-journald-nameregex-cut.conf": [(UNCLOSED, 1), (UNCLOSED, 29), (UNCLOSED, 33), ("bad-attribute", 33)],
}

# files that agents read: nothing may be found in them
ACCEPTED = (
    "001-0xakarii-wazuh.conf",
    "002-0xakarii-wazuh.conf",
    "008-adorsys-gis-agents.conf",
    "009-adorsys-gis-agents.conf",
    "010-adorsys-gis-agents.conf",
    "011-adorsys-gis-agents.conf",
    "012-adorsys-gis-agents.conf",
    "013-adorsys-gis-agents.conf",
    "014-alex-quen-wazuh.conf",
    "016-captainnemolstemp-wazuh.conf",
    "017-cybermayler-sysmon.conf",
    "018-durgaprasasd264-configs.conf",
    "019-emmanouilbrotz-dissertation.conf",
    "020-entwicklungsleiter-devopenspace-siem-2023.conf",
    "021-hestat-ossec-sysmon.conf",
    "022-hestat-ossec-sysmon.conf",
    "030-martydickerson-wazuh-powershell-detection.conf",
    "031-mozart4242-wazuh.conf",
    "040-saidgarnit-shared.conf",
    "049-ademsim-ossec-apt-rules.conf",
    "050-bryanherdianto-configs.conf",
    "051-carterleehaney-wazuh.conf",
    "054-fmocean-cyberlabs.conf",
    "068-nu11secur1ty-default.conf",
    "071-nu11secur1ty-12c9c6c6.conf",
    "072-nu11secur1ty-725b140d.conf",
    "074-paolokappa-linux.conf",
    "075-paolokappa-macos.conf",
    "076-paolokappa-windows-dc-servers.conf",
    "077-paolokappa-windows-pc.conf",
    "078-paolokappa-windows-servers.conf",
    "079-pbmundas-wazuh.conf",
    "080-pbmundas-wazuh-copy.conf",
    "081-peppelinux-wazuh.conf",
    "083-sdkng44-wazuh.conf",
    "099-wazuh-templates.erb",
    "102-wazuh-data.conf",
    "103-wazuh-data.conf",
    "104-wazuh-data.conf",
    "105-yasirhamza-wazuh-cluster.conf",
    "111-wazuh-group-files-raw.xml",
    "115-adorsys-gis-dlp.xml",
    "120-bret99-doc-openvpn.conf",
    "121-bret99-doc-agent-network-exposure.conf",
    "122-bret99-doc-bitrix.conf",
    "124-bret99-doc-gitlab.conf",
    "125-bret99-doc-jira.conf",
    "126-bret99-doc-nuclei.conf",
    "127-bret99-doc-proxmox.conf",
    "128-bret99-doc-vmware.conf",
    "130-ddpbsd-doc-configuration.conf",
    "131-ddpbsd-doc-agent.conf",
    "132-ddpbsd-doc-agent.conf",
    "139-rodolfoarces-doc-wazuh-test-app-01.conf",
    "145-wazuh-it-file-xml.conf",
    "152-issue2447-gt.conf",
    "153-pr2452-amp.conf",
    "154-pr294-shell.conf",
    "166-bayudart-default.conf",
    "169-ivanelk7.conf",
    "171-ssh-audit-profiles.conf",
)
VERDICTS: dict[str, Verdict] = {**REFUSED, **{name: [] for name in ACCEPTED}}

# works for agents, and is no XML: `&` and `>` stand for themselves, dashes may stand in comments
NO_XML = {
    "009-adorsys-gis-agents.conf",
    "013-adorsys-gis-agents.conf",
    "081-peppelinux-wazuh.conf",
    "152-issue2447-gt.conf",
    "154-pr294-shell.conf",
}
Tree = tuple[str, list["Tree"]]


def _path(name: str) -> Path:
    if not FOLDER.is_dir():
        pytest.skip("corpus not here")
    return FOLDER / name


def test_every_file_has_a_verdict(corpus: Path) -> None:
    assert {path.name for path in (corpus / "agent_conf").iterdir()} == set(VERDICTS)
    assert not REFUSED.keys() & set(ACCEPTED)


@pytest.mark.parametrize("name", VERDICTS)
def test_a_real_file_gets_its_verdict(name: str) -> None:
    found = check_agent_conf(_path(name).read_bytes(), name)
    assert [(finding.rule, finding.line) for finding in found] == VERDICTS[name]
    assert {finding.severity for finding in found} <= {"error"}


@pytest.mark.parametrize("name", VERDICTS)
def test_a_real_file_keeps_its_bytes(name: str) -> None:
    data = _path(name).read_bytes()
    assert read(data).encode() == data


def _tree(element: Element) -> Tree:
    return element.name, [_tree(child) for child in element.children]


def _strict_tree(element: ElementTree.Element) -> Tree:
    return element.tag, [_strict_tree(child) for child in element]


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_strict_reader_sees_the_same_elements_where_it_can_read(name: str) -> None:
    data = _path(name).read_bytes()
    wrapped = b"<all>" + data + b"</all>"
    if name in NO_XML:
        with pytest.raises(ElementTree.ParseError):
            ElementTree.fromstring(wrapped)  # noqa: S314  real files, read by a test
        return
    strict = ElementTree.fromstring(wrapped)  # noqa: S314
    assert [_tree(element) for element in read(data).elements] == [
        _strict_tree(element) for element in strict
    ]
