"""Files of agents: CSV and NDJSON, every fault with its place."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgmtctl.domain.errors import DeniedError, InvalidError, NotFoundError
from mgmtctl.domain.fleet_import import MAX_SHOWN, Agent, Row, Taken, judge, read_fleet
from mgmtctl.domain.memberships import Groups

NDJSON = b'{"name":"web-1","id":7,"ip":"10.0.0.7","groups":["web","pci"],"folder":null}\n'


_NO_OBJECTS = ["1:13 json", "2:2 name", "3:1 json"]  # equal faults are one


def known(groups: Groups) -> None:
    for group in groups:
        if group not in ("web", "pci", "default"):
            raise NotFoundError("group", group, code=1710)


def imported(
    data: bytes, path: str = "fleet.csv", taken: Taken | None = None
) -> tuple[list[Agent], list[str]]:
    rows, findings = read_fleet(data, path)
    agents = judge(rows, findings, taken or Taken(), known, lambda folder: folder)
    return agents, [f"{finding.line}:{finding.column} {finding.rule}" for finding in findings.shown()]


@pytest.mark.parametrize(
    ("data", "path"),
    [
        pytest.param(b'name,id,ip,groups\nweb-1,7,10.0.0.7,"web,pci"\n', "f.csv", id="CSV"),
        pytest.param(
            b'\xef\xbb\xbfname,id,ip,groups\r\nweb-1,7,10.0.0.7,"web,pci"\r\n', "f.csv", id="BOM and CRLF"
        ),
        pytest.param(b'\n\nname,id,ip,groups\n\nweb-1,7,10.0.0.7,"web,pci"\n\n', "f.csv", id="blank lines"),
        pytest.param(
            b"Name;ID;IP;Groups\nweb-1;7;10.0.0.7;web,pci",
            "f.csv",
            id="semicolons, capitals, no last newline",
        ),
        pytest.param(
            b"name\tid\tip\tgroups\nweb-1\t007\t10.0.0.7\tweb, pci\n", "-", id="tabs, blanks, a padded id"
        ),
        pytest.param(
            b'groups,ip,name,id\n"web,pci",10.0.0.7,"web-1","7"\n', "f.csv", id="another order, quotes"
        ),
        pytest.param(NDJSON, "f.ndjson", id="NDJSON by extension"),
        pytest.param(b"\n" + NDJSON + b"\n", "stdin", id="NDJSON by its first character"),
        pytest.param(
            b'{"name":"web-1","id":"007","ip":"10.0.0.7","groups":"web,pci"}', "x", id="NDJSON of texts"
        ),
    ],
)
def test_forms_of_one_agent(data: bytes, path: str) -> None:
    assert imported(data, path) == ([Agent("web-1", 7, "10.0.0.7", "web,pci", None)], [])


def test_only_a_name_is_required() -> None:
    assert imported(b"name\nweb-1\n042\n")[0] == [
        Agent("web-1", None, "any", "", None),
        Agent("042", None, "any", "", None),
    ]


def test_line_breaks_inside_quotes_keep_the_line_of_the_row() -> None:
    rows, _ = read_fleet(b'name,folder\nweb-1,"/a\nb"\nweb-2,/c\n', "f.csv")
    assert rows == [Row(2, "web-1", folder="/a\nb"), Row(4, "web-2", folder="/c")]


@pytest.mark.parametrize(
    ("data", "places"),
    [
        pytest.param(b"", ["1:1 empty"], id="nothing"),
        pytest.param(b"\n \n", ["1:1 empty"], id="blanks"),
        pytest.param(b"name,ip\n", ["1:1 empty"], id="names of columns only"),
        pytest.param(b"\xff\xfen\0a\0", ["1:1 encoding"], id="UTF-16"),
        pytest.param(b"name\nweb-1\nw\xe9b\n", ["3:2 encoding"], id="Latin-1"),
        pytest.param(b"web-1,10.0.0.7\n", ["1:1 header"], id="no names of columns"),
        pytest.param(b"name,gruops,name\na,b,c\n", ["1:6 header", "1:13 header", "2:1 name"], id="columns"),
        pytest.param(b"name,ip\nweb-1\nweb-2,any,x\n", ["2:1 columns", "3:1 columns"], id="too few, too many"),
        pytest.param(b'name,ip\nweb-1,"any\n', ["2:1 csv"], id="an open quote"),
        pytest.param(b'name,ip\nweb-1,"any"x\n', ["2:1 csv"], id="text after a quote"),
        pytest.param(b"ip,name\nany,a b\nany,\nany,a\0b\n", ["2:5 name", "3:5 name", "4:5 name"], id="names"),
        pytest.param(b"name\nweb-1\nWEB-1\n", ["3:1 name-twice"], id="a name in another letter case"),
        pytest.param(b"name,id\naa,1\nbb,001\ncc,x\ndd,0\n", ["3:4 id-taken", "4:4 id", "5:4 id"], id="ids"),
        pytest.param(b'name,groups,ip\naa,"web,x",300.1.1.1\n', ["2:4 groups", "2:12 ip"], id="columns after quotes"),
        pytest.param(b'name,groups\naa,"web,web"\nbb,nix\n', ["2:4 groups", "3:4 groups"], id="groups"),
        pytest.param(b"name,ip\naa,10.0.0.7\nbb,10.0.0.7\ncc,any\n", ["3:4 address-taken"], id="an address twice"),
        pytest.param(b'{"name":"aa"\n{"name":1}\n[1]\n7\n', _NO_OBJECTS, id="JSON"),
        pytest.param(b'{"name":"aa","x":1,"name":"bb","id":true}', ["1:2 header", "1:14 header", "1:32 id"], id="keys"),
        pytest.param(b'[{"name":"aa"}]', ["1:1 json"], id="a JSON array"),
        pytest.param(b'{"name":' + b"[" * 100_000, ["1:1 json"], id="nested too deep"),
        pytest.param(b'{"name":"aa","id":' + b"9" * 5000 + b"}", ["1:1 json"], id="a number too long"),
    ],
)  # fmt: skip
def test_fault_has_its_place(data: bytes, places: list[str]) -> None:
    assert imported(data, "f")[1] == places


def test_what_the_store_has_is_taken() -> None:
    taken = Taken({"web-1"}, {7}, {"10.0.0.7"})
    assert imported(b"name,id,ip\nweb-2,7,10.0.0.7\n", taken=taken)[1] == [
        "2:7 id-taken",
        "2:9 address-taken",
    ]


def test_agent_that_is_there_is_one_fault_and_not_one_for_each_thing_it_has() -> None:
    taken = Taken({"web-1"}, {7}, {"10.0.0.7"})
    assert imported(b"name,id,ip\nWeb-1,7,10.0.0.7\n", taken=taken)[1] == ["2:1 name-taken"]
    assert imported(b"name,ip\naa,10.0.0.9\naa,10.0.0.9\n")[1] == ["3:1 name-twice"]
    assert imported(b"name,id\nWeb-1,x\n", taken=taken)[1] == ["2:1 name-taken", "2:7 id"]


def test_all_findings_are_in_one_refusal_in_the_order_of_lines() -> None:
    rows, findings = read_fleet(b"name,id\naa,x\nbb\ncc,y\n", "fleet.csv")
    judge(rows, findings, Taken(), known, str)
    with pytest.raises(InvalidError) as caught:
        findings.refuse()
    assert caught.value.problem == "`fleet.csv` has 3 faults, no agent was added"
    assert [finding.line for finding in caught.value.findings] == [2, 3, 4]
    assert (
        caught.value.findings[0].text()
        == "fleet.csv:2:4: error: `x` is no agent id; write 1 to 8 digits [id]"
    )


def refusal(data: bytes) -> InvalidError:
    rows, findings = read_fleet(data, "f.csv")
    judge(rows, findings, Taken(), known, str)
    with pytest.raises(InvalidError) as caught:
        findings.refuse()
    return caught.value


def test_equal_faults_are_one_with_their_count_and_first_line() -> None:
    error = refusal(b"name,groups\naa,web\n" + b"".join(b"n%d,linux\n" % number for number in range(20_000)))
    assert [finding.text() for finding in error.findings] == [
        "f.csv:3:4: error: group `linux` does not exist (20000 rows, first at line 3) [groups]"
    ]
    assert (error.problem, error.why) == ("`f.csv` has 20000 faults, no agent was added", None)
    assert error.fix == "mgmtctl groups create linux"


def test_one_different_fault_does_not_drown() -> None:
    lines = [b"%d x" % number for number in range(500)]
    error = refusal(b"name,ip\n" + b",any\n".join(lines) + b",any\nweb-1,300.1.1.1\n")
    assert len(error.findings) == MAX_SHOWN
    assert (error.findings[-1].rule, error.findings[-1].line) == ("ip", 502)
    assert [finding.line for finding in error.findings[:-1]] == list(range(2, MAX_SHOWN + 1))
    assert error.problem == "`f.csv` has 501 faults, no agent was added"
    assert error.why == f"{MAX_SHOWN} of 501 different ones are shown"


def test_fix_names_each_missing_group_that_can_be_made() -> None:
    error = refusal(b"name,groups\naa,linux\nbb,mac\ncc,linux\ndd,a; b\n")
    assert error.fix == "mgmtctl groups create linux; mgmtctl groups create mac"
    assert refusal(b'name,groups\naa,"web,web"\n').fix is None
    many = refusal(b"name,groups\n" + b"".join(b"n%d,g%d\n" % (n, n) for n in range(MAX_SHOWN + 10)))
    assert many.fix is not None
    assert many.fix.endswith(f"; mgmtctl groups create g{MAX_SHOWN - 1}; and 10 more")


def test_no_finding_refuses_nothing() -> None:
    _, findings = read_fleet(b"name\nweb-1\n", "f.csv")
    findings.refuse()
    assert not findings


def test_groups_are_asked_once_for_each_combination() -> None:
    asked: list[Groups] = []
    rows, findings = read_fleet(b"name,groups\n" + b"".join(b"n%d,web\n" % n for n in range(10, 30)), "f.csv")
    judge(rows, findings, Taken(), asked.append, str)
    assert asked == [("web",)]


def test_missing_right_is_no_finding_but_a_refusal() -> None:
    def refuse(groups: Groups) -> None:
        raise DeniedError("group:modify_assignments", "group:id:web")

    rows, findings = read_fleet(b"name,groups\nweb-1,web\n", "f.csv")
    with pytest.raises(DeniedError):
        judge(rows, findings, Taken(), refuse, str)


@settings(max_examples=150)
@given(st.binary(max_size=60) | st.text('name,id"\n;{}[]:\t\r1\0é', max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for path in ("f.csv", "f.ndjson", "f"):
        rows, findings = read_fleet(data, path)
        agents = judge(rows, findings, Taken(), known, str)
        assert findings or agents


names = st.text("abcXYZ019._-", min_size=2, max_size=8).filter(lambda name: not name.isdigit())


@settings(max_examples=60)
@given(
    st.lists(names, min_size=1, max_size=6, unique_by=str.casefold),
    st.lists(st.sampled_from(["web", "pci"]), unique=True),
)
def test_what_is_written_is_read_back(written: list[str], groups: list[str]) -> None:
    lines = [json.dumps({"name": name, "groups": groups}) for name in written]
    quoted = [f'"{name}","{",".join(groups)}"' for name in written]
    expected = [Agent(name, None, "any", ",".join(groups), None) for name in written]
    assert imported("\n".join(lines).encode(), "f.ndjson") == (expected, [])
    assert imported("\r\n".join(["name,groups", *quoted]).encode(), "f.csv") == (expected, [])
