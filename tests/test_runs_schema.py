"""The published schema of ``runs.jsonl``: every line keeps to it, and nothing else does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator
from mixed import LeakyHouse, MixedBench, swept
from test_cli import ROOT

from reports.schema import FORMAT, Run, published

PUBLISHED = ROOT / "docs" / "runs.schema.json"
STATUSES = ("passed", "not accepted (expected)", "finding", "missed", "broken")
ALIKE = {"passed", "not accepted (expected)"}
"""Lines of the same fields: only how they are counted differs."""

Line = dict[str, Any]


@pytest.fixture(scope="module")
def schema() -> Draft202012Validator:
    return Draft202012Validator(json.loads(PUBLISHED.read_text("ascii")))


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[Line]:
    found: list[Line] = []
    for bench, words in ((MixedBench(), ()), (LeakyHouse(), ("one-call", "Acquire"))):
        folder = tmp_path_factory.mktemp("runs")
        swept(bench, folder, *words)
        found += [json.loads(line) for line in (folder / "runs.jsonl").read_text("ascii").splitlines()]
    return found


def one_of_each(lines: list[Line]) -> Iterator[Line]:
    for status in STATUSES:
        yield next(line for line in lines if line["status"] == status)


def test_the_published_file_is_what_the_code_says() -> None:
    assert PUBLISHED.read_text("ascii") == published(), "python -m reports.schema > docs/runs.schema.json"


def test_it_is_a_schema_with_a_version(schema: Draft202012Validator) -> None:
    Draft202012Validator.check_schema(schema.schema)
    assert schema.schema["$id"] == f"urn:turnproof:runs:{FORMAT}"


def test_every_line_of_a_sweep_keeps_to_it(schema: Draft202012Validator, lines: list[Line]) -> None:
    assert {line["status"] for line in lines} == set(STATUSES)
    assert [error.message for line in lines for error in schema.iter_errors(line)] == []


def test_every_field_is_described(schema: Draft202012Validator) -> None:
    kinds = schema.schema["$defs"]
    fields = {
        (kind, name): field for kind, says in kinds.items() for name, field in says["properties"].items()
    }

    assert all(says["description"] for says in kinds.values())
    assert [
        name for name, field in fields.items() if name[1] != "status" and not field.get("description")
    ] == []


def wrong_lines(line: Line) -> Iterator[tuple[str, Line]]:
    """The line with one field too much, too little, of another type, or of another run's kind."""
    yield "a field too much", {**line, "extra": 1}
    for name, value in line.items():
        yield f"no {name}", {key: each for key, each in line.items() if key != name}
        yield f"another {name}", {**line, name: 1.5 if not isinstance(value, list) else "text"}
        yield f"null {name}", {**line, name: None}
    for other in STATUSES:
        if other != line["status"] and {other, line["status"]} != ALIKE:
            yield f"called {other}", {**line, "status": other}
    yield "another version", {**line, "format": FORMAT + 1}
    if line.get("findings"):
        for field in ("check", "at", "sentence"):
            spoilt = deepcopy(line)
            del spoilt["findings"][0][field]
            yield f"a finding without {field}", spoilt
        spoilt = deepcopy(line)
        spoilt["findings"][0]["more"] = 1
        yield "a finding with more", spoilt


def test_nothing_else_keeps_to_it(schema: Draft202012Validator, lines: list[Line]) -> None:
    for line in one_of_each(lines):
        taken = [what for what, spoilt in wrong_lines(line) if schema.is_valid(spoilt)]
        assert taken == [], line["status"]


def test_the_types_that_it_is_made_of_read_the_lines(lines: list[Line]) -> None:
    for line in lines:
        assert msgspec.to_builtins(msgspec.convert(line, Run)) == line
