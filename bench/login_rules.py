"""One login from cold: many rules read from a store and evaluated once against a context, beside JSON Schema.

    python bench/login_rules.py [--rules 1000 10000] [--rounds 11]

Each measurement is a process of its own, so that nothing is compiled or cached before. A login goes from the JSON of
the context and the path of the store to the ids of the true rules, and includes loading RE2; loading the engine's own
modules is told beside it. The peer (jsonschema-rs, where it can be imported) compiles and evaluates equivalent schemas,
translated beforehand. Both must name the same rules, or the run stops.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

LEAVES = 100
Plain = dict[str, Any]
Login = Callable[[str, bytes], list[int]]


def context() -> Plain:
    """What an identity provider says about a person, with 100 leaves at up to five levels."""
    attributes: Plain = {f"attr{k}": f"value {k}" for k in range(41)}
    groups = [f"cn=group{k},ou=groups,dc=example,dc=org" for k in range(20)]
    tenants = {f"tenant{k}": k % 3 == 0 for k in range(15)}
    claims = [{"name": f"claim{k}", "value": f"v{k}", "level": k} for k in range(5)]
    person = {"user_name": "jdoe", "email": "jdoe@example.org", "office": ["20", "21", "30"], "active": True}
    return {
        "name": "bench",
        "auth": {
            **person,
            "roles": ["developers", "operators"],
            "attributes": {"ldap": attributes},
            "groups": groups,
            "tenants": tenants,
            "claims": {"verified": claims},
        },
    }


def leaves(value: Any) -> int:
    """How many scalars a document holds."""
    if isinstance(value, (dict, list)):
        return sum(map(leaves, value.values() if isinstance(value, dict) else value))
    return 1


def rules(number: int, random: Random) -> list[list[Plain]]:
    """Rules of all kinds; three in four ask about keys that the context has, one in twenty is true of it."""
    return [[_rule(random, depth=2)] for _ in range(number)]


def _rule(random: Random, depth: int) -> Plain:
    if depth and random.random() < 0.15:
        operator = random.choice(("AND", "OR", "OR", "NOT"))
        if operator == "NOT":
            return (
                {"AND": [_search(random), {"NOT": _search(random)}]}
                if random.random() < 0.8
                else {"NOT": _search(random)}
            )
        return {operator: [_rule(random, depth - 1) for _ in range(random.randint(2, 4))]}
    return _search(random)


def _search(random: Random) -> Plain:
    k = random.randrange(200)
    options: tuple[Callable[[], Plain], ...] = (
        lambda: {"FIND": {"user_name": f"user{k}"}},
        lambda: {"FIND": {"user_name": "jdoe" if k < 40 else f"user{k}", "active": True}},
        lambda: {"FIND": {"groups": f"cn=group{k},ou=groups,dc=example,dc=org"}},
        lambda: {"MATCH": {"auth": {"office": str(k), "roles": "operators"}}},
        lambda: {"MATCH$": {"auth": {"roles": [f"role{k}", "developers"]}}},
        lambda: {"FIND$": {f"attr{k}": f"value {k + k % 7}"}},
        lambda: {"FIND": {"email": rf"r'user{k}@example\.(org|com)'"}},
        lambda: {"FIND": {"groups": rf"r'cn=group{k}[0-9]?,ou=g.*'"}},
        lambda: {"FIND": {"roles": f"r'.*{'dev' if k < 20 else 'team'}{k % 9}.*'"}},
        lambda: {"FIND": {"email": rf"r'[a-z]+{k}@(example|sample)\.org'"}},
        lambda: {"FIND": {rf"r'tenant{k % 30}'": True, "tenant1": True}},
        lambda: {
            "MATCH": {"auth": {"claims": {"verified": [{"name": "claim1", "value": f"v{k}", "level": 1}]}}}
        },
        lambda: {"FIND": {"level": k % 40}},
        lambda: {"FIND": {"department": f"d{k}"}},
        lambda: {"FIND": {"clearance": rf"r'level-[{k % 10}-9]+'"}},
        lambda: {"MATCH": {"name": f"other{k}"}},
    )
    return random.choice(options)()


def schema(expressions: list[Plain]) -> Plain:
    """A JSON Schema that is true of the same contexts (as far as these rules go)."""
    definitions: Plain = {}
    any_of = [_schema(expression, definitions) for expression in expressions]
    return {"anyOf": any_of, "$defs": definitions}


def _schema(expression: Plain, definitions: Plain) -> Plain:
    ((operator, operand),) = expression.items()
    if operator in ("AND", "OR"):
        return {"allOf" if operator == "AND" else "anyOf": [_schema(item, definitions) for item in operand]}
    if operator == "NOT":
        return {"not": _schema(operand, definitions)}
    here = _object(operand, strict=operator.endswith("$"))
    return here if operator.startswith("MATCH") else _anywhere(here, definitions)


def _anywhere(here: Plain, definitions: Plain) -> Plain:
    name = f"find{len(definitions)}"
    again = {"$ref": f"#/$defs/{name}"}
    inside = {"type": "object", "not": {"additionalProperties": {"not": again}}}
    definitions[name] = {"anyOf": [here, inside, {"type": "array", "contains": again}]}
    return again


def _object(wanted: Plain, *, strict: bool) -> Plain:
    plain = {key: _value(item, strict=strict) for key, item in wanted.items() if not key.startswith("r'")}
    found: Plain = {"type": "object", "required": list(plain), "properties": plain}
    patterns = [
        {"not": {"patternProperties": {f"^(?:{key[2:-1]})$": {"not": _value(item, strict=strict)}}}}
        for key, item in wanted.items()
        if key.startswith("r'")
    ]
    return {"allOf": [found, *patterns]} if patterns else found


def _value(wanted: Any, *, strict: bool) -> Plain:
    if isinstance(wanted, dict):
        return _object(wanted, strict=strict)
    if isinstance(wanted, list):
        each = [{"contains": {"const": item}} for item in wanted]
        length = {"minItems": len(wanted), "maxItems": len(wanted)} if strict else {}
        return {"type": "array", "allOf": each, **length}
    scalar: Plain = {"const": wanted}
    if isinstance(wanted, str) and wanted.startswith("r'"):
        scalar = {"type": "string", "pattern": f"^(?:{wanted[2:-1]})$"}
    return scalar if strict else {"anyOf": [scalar, {"type": "array", "contains": scalar}]}


def fill(path: Path, number: int) -> None:
    """A store with the rules as they are written, and their schemas beside them."""
    from mgmtctl.domain.matching import needed_keys

    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE rules (id INTEGER PRIMARY KEY, document TEXT, needed_keys TEXT)")
    connection.execute("CREATE TABLE schemas (id INTEGER PRIMARY KEY, document TEXT)")
    made = list(enumerate(rules(number, Random(7)), start=100))
    connection.executemany(
        "INSERT INTO rules VALUES (?, ?, ?)", ((k, json.dumps(r), needed_keys(r)) for k, r in made)
    )
    connection.executemany("INSERT INTO schemas VALUES (?, ?)", ((k, json.dumps(schema(r))) for k, r in made))
    connection.commit()


def mgmtctl() -> Login:
    """The login's own path: index the context and go through the stored rules."""
    from mgmtctl.domain.matching import ContextIndex, true_rules

    def login(path: str, data: bytes) -> list[int]:
        rows = sqlite3.connect(path).execute("SELECT id, document, needed_keys FROM rules ORDER BY id")
        return true_rules(rows, ContextIndex(json.loads(data)))

    return login


def jsonschema_rs() -> Login:
    """Compile each schema and ask it once."""
    validator_for = importlib.import_module("jsonschema_rs").validator_for

    def login(path: str, data: bytes) -> list[int]:
        document = json.loads(data)
        rows = sqlite3.connect(path).execute("SELECT id, document FROM schemas ORDER BY id")
        return [k for k, text in rows if validator_for(json.loads(text)).is_valid(document)]

    return login


ENGINES: dict[str, Callable[[], Login]] = {"mgmtctl": mgmtctl, "jsonschema_rs": jsonschema_rs}


def measure(engine: str, path: Path) -> Plain:
    """Milliseconds for modules and login, and the ids found, of one fresh process.

    Modules come as byte code, as they do when installed.
    """
    command = [sys.executable, __file__, "--engine", engine, "--store", str(path)]
    surroundings = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    surroundings["PYTHONPYCACHEPREFIX"] = str(path.parent / "bytecode")
    answer: Plain = json.loads(
        subprocess.run(command, check=True, capture_output=True, env=surroundings).stdout
    )
    return answer


def one(engine: str, path: str) -> None:
    """The measured process."""
    data = json.dumps(context()).encode()
    begin = perf_counter()
    login = ENGINES[engine]()
    loaded = perf_counter()
    ids = login(path, data)
    end = perf_counter()
    print(json.dumps({"modules": (loaded - begin) * 1000, "login": (end - loaded) * 1000, "ids": ids}))


def compare(number: int, rounds: int, engines: list[str]) -> None:
    """Print the medians of each engine; they take turns, after a round that warms the disk."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        fill(path, number)
        runs = {engine: [measure(engine, path)] for engine in engines}
        for engine in engines * rounds:
            runs[engine].append(measure(engine, path))
    ids = runs[engines[0]][0]["ids"]
    for engine, found in runs.items():
        if any(run["ids"] != ids for run in found):
            raise SystemExit(f"{engine} names other rules")
    print(f"{number} rules, {len(ids)} true")
    ours = median(runs[engines[0]], "login")
    for engine, found in runs.items():
        login = median(found, "login")
        print(
            f"  {engine:<14}{login:9.2f} ms {login / ours:6.1f} x   (modules: {median(found, 'modules'):.2f} ms)"
        )


def median(found: list[Plain], part: str) -> float:
    """Of all runs but the first."""
    return float(statistics.median(run[part] for run in found[1:]))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rules", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--engine", choices=ENGINES, help=argparse.SUPPRESS)
    parser.add_argument("--store", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.engine:
        one(options.engine, options.store)
        return
    engines = ["mgmtctl"] + ["jsonschema_rs"] * (importlib.util.find_spec("jsonschema_rs") is not None)
    print(f"a context of {leaves(context())} leaves, medians of {options.rounds}, each a fresh process")
    for number in options.rules:
        compare(number, options.rounds, engines)


if __name__ == "__main__":
    main()
