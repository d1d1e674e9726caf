"""The acceptance matrix of 000: it is whole, its skeletons are equal, its mutants die, only what may change does."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner
from find_witnesses import breakages, played, voices
from hypothesis import given, settings
from hypothesis import strategies as st

from faults.sweeps import single
from reports.bench import House
from reports.cli import cli
from scenarios.acceptance.cell import CELLS, DONE, FIELDS, MAKE, TEST, ill, runs, write
from scenarios.acceptance.refusals import CLOSEST
from scenarios.acceptance.texts import COMPATIBLE, PLACES, SHAPES
from scenarios.base import alone
from scenarios.evidence import TABLE
from scenarios.judge import FINDING, NOT_ACCEPTED_EXPECTED, PASSED, verdict
from scenarios.row import reached
from scenarios.rows import ROWS
from scenarios.skeleton import skeleton, skeleton_of
from sim.checks.refusal import ill_formed
from sim.design import admission
from sim.history import Acted, Asked, Committed
from sim.outcome import outcome
from sim.points import NO_FAULTS
from sim.protocol import SHELL, Assistant, Entry, Infer, Response, ToolCall, ToolResult
from sim.run import run
from sim.scenario import DETACH, Scenario, SessionPlan, Turn, calls
from sim.text import has_unpaired, parse_json, units

MATRIX = {name: row for name, row in ROWS.items() if row.evidence}
MUTANTS = {
    "original admission": (
        "admission.text_error: never",
        "u1-local-1-command-lone-high-start",
        "refused-text-touches-nothing",
    ),
    "Unicode flag": (
        "admission.text_error: without the Unicode flag",
        "u2-local-1-command-emoji",
        "valid-text-is-not-blamed",
    ),
}
"""The mutations of 000 §9 that need neither hooks nor approvals: what is broken, and the row and check that notice."""


# --- the matrix is whole


def test_every_combination_that_the_seed_names_has_a_row():
    for cell, field, shape, place in itertools.product(CELLS, FIELDS, SHAPES, PLACES):
        assert f"u1-{cell.name}-{field}-{shape}-{place}" in MATRIX
        for company in set(CLOSEST) - {"alone"}:
            assert f"u3-{cell.name}-{field}-{shape}-{place}-{company}" in MATRIX
    for cell, field, text in itertools.product(CELLS, FIELDS, COMPATIBLE):
        assert f"u2-{cell.name}-{field}-{text}" in MATRIX


def test_every_test_of_the_seeds_table_has_rows_or_says_what_it_waits_for():
    counts = Counter(row.evidence for row in MATRIX.values())

    assert set(counts) <= {demand.key for demand in TABLE}
    assert {demand.key for demand in TABLE if not counts[demand.key]} == {"u7", "u8"}
    assert all(demand.pending for demand in TABLE if not counts[demand.key])


def test_every_malformed_shape_stands_in_its_place_and_no_valid_text_is_ill_formed():
    for field, shape, place in itertools.product(FIELDS, SHAPES, PLACES):
        call = ill(field, SHAPES[shape], place)
        assert ill_formed(call)[0] == field
        assert admission.text_error.answer(call)
    assert not any(map(has_unpaired, COMPATIBLE.values()))


def test_rows_that_are_not_accepted_are_those_with_a_strict_transport_and_an_ill_formed_text():
    statuses = {
        name: verdict(row, NO_FAULTS, run(row.scenario, row.plan, row.design)).status
        for name, row in MATRIX.items()
        if row.scenario.strict
    }

    assert {status for name, status in statuses.items() if name.endswith("valid")} == {PASSED}
    assert {status for name, status in statuses.items() if not name.endswith("valid")} == {
        NOT_ACCEPTED_EXPECTED
    }


# --- one sweep stands for many rows


def test_rows_that_share_a_sweep_meet_the_same_points():
    for name in ("u3-local-2-description-low-low-end-behind-shell", "u4-local-2-command-low-low"):
        row = MATRIX[name]
        swept = MATRIX[row.like]

        assert single(reached(row)).strikes == single(reached(swept)).strikes


def test_a_row_that_runs_otherwise_than_the_one_that_is_swept_for_it_is_a_finding():
    row = MATRIX["u4-local-1-command-low-low"]
    wrong = type(row)(**{name: getattr(row, name) for name in row.__struct_fields__} | {"like": "one-call"})

    found = verdict(wrong, NO_FAULTS, run(row.scenario, row.plan, row.design))

    assert [finding.check for finding in found.findings] == ["skeleton"]


def test_a_skeleton_tells_what_happens_and_not_with_which_values():
    one, other = (alone(text, calls(runs("call-1", text)), DONE) for text in ("make", "made"))
    two = alone("two", calls(runs("call-1", "make"), runs("call-2", "made")), DONE)

    assert skeleton(run(one).events) == skeleton(run(other).events)
    assert skeleton(run(one).events) != skeleton(run(two).events)


# --- the mutants


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_mutant_dies_by_the_row_and_the_check_that_it_names(mutant: str):
    title, name, check = MUTANTS[mutant]
    broken = next(each for each in breakages() if each.title == title)
    ran = played((broken,), ROWS[name], NO_FAULTS)

    assert ran.infected
    assert ran.verdict.status == FINDING
    assert check in voices(ran.verdict)
    assert played((), ROWS[name], NO_FAULTS).verdict.status == PASSED


# --- the validator, against an oracle of code units

ALPHABET = [[0x61], [0xD800], [0xDBFF], [0xDC00], [0xDFFF], [0xD83D, 0xDE00], [0x4E2D], [0x5C]]
LONGEST = 5
ESCAPE = "\\u{:04x}"


def lonely(values: list[int]) -> bool:
    """Whether a half is alone: read pair by pair, by hand."""
    waiting = list(values)
    while waiting:
        unit = waiting.pop(0)
        if unit in range(0xDC00, 0xE000):
            return True
        if unit in range(0xD800, 0xDC00):
            if not waiting or waiting[0] not in range(0xDC00, 0xE000):
                return True
            waiting.pop(0)
    return False


def emitted(values: list[int], field: str) -> ToolCall:
    """A call as a model emits it: JSON text, every unit as an escape."""
    text = "".join(map(ESCAPE.format, values))
    command = text if field == "command" else "make"
    return ToolCall(
        "call-1",
        SHELL,
        f'{{"command": "x{command}", "description": "{text if field == "description" else ""}"}}',
    )


@pytest.mark.parametrize("field", FIELDS)
def test_every_short_word_is_refused_exactly_when_a_half_is_alone(field: str):
    for length in range(LONGEST + 1):
        for word in itertools.product(ALPHABET, repeat=length):
            values = [unit for letter in word for unit in letter]
            call = emitted(values, field)

            assert bool(admission.text_error.answer(call)) == lonely(values), values
            assert bool(ill_formed(call)[0]) == lonely(values), values


def test_without_its_flag_every_word_with_a_surrogate_is_refused():
    flagless = next(each for each in breakages() if each.title == MUTANTS["Unicode flag"][0])
    for word in itertools.product(ALPHABET, repeat=3):
        values = [unit for letter in word for unit in letter]
        surrogate = any(unit in range(0xD800, 0xE000) for unit in values)

        assert bool(flagless.answer(emitted(values, "command"))) == surrogate, values


code_units = st.lists(
    st.one_of(st.sampled_from([0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0xD83D, 0xDE00]), st.integers(0x20, 0xFFFF)),
    max_size=12,
)


@settings(deadline=None)
@given(code_units, st.sampled_from(FIELDS))
def test_the_rule_and_the_judge_and_the_oracle_agree_on_any_code_units(values: list[int], field: str):
    call = emitted(values, field)

    assert bool(admission.text_error.answer(call)) == bool(ill_formed(call)[0]) == lonely(values)


@settings(deadline=None)
@given(code_units)
def test_the_parsed_text_has_the_code_units_that_the_model_wrote(values: list[int]):
    arguments = parse_json(emitted(values, "description").arguments)

    assert isinstance(arguments, dict)
    assert [ord(unit) for unit in units(str(arguments["description"]))] == values


# --- the order of shape errors (behaviour §6.5)

WRONG = {
    "command": ("Hosted Shell command must", {"command": " "}),
    "key": ("Hosted Shell does not support 1 of", {"umask": 1}),
    "background": ("Hosted Shell does not support background", {"is_background": True}),
    "description": ("Hosted Shell description must", {"description": 1}),
    "timeout": ("Hosted Shell timeout must", {"timeout": 0}),
}
"""In the order in which they are looked for: the message, and what is wrong."""


@pytest.mark.parametrize("first", range(len(WRONG)))
def test_of_two_shape_errors_the_earlier_is_told_and_text_beats_all(first: int):
    message, wrong = list(WRONG.values())[first]
    for _, later in list(WRONG.values())[first:]:
        call = ToolCall("c", SHELL, json.dumps({"command": "make"} | later | wrong))
        told = admission.shape_error.answer(call, ROWS["one-call"].design.limits)
        assert told.startswith(message)
    if first:
        half = ToolCall("c", SHELL, json.dumps({"command": "\ud800"} | wrong))
        assert "command contains an unpaired" in admission.text_error.answer(half)


# --- what may change, and nothing else


def kept(scenario: Scenario) -> list[tuple[str, int]]:
    """The records of a run with how many calls or responses stand in each."""
    rows = [
        write.row for event in run(scenario).events if isinstance(event, Committed) for write in event.writes
    ]
    return [
        (entry.record.label, len(getattr(entry.record, "calls", getattr(entry.record, "responses", ()))))
        for entry in rows
        if isinstance(entry, Entry)
    ]


def effects(scenario: Scenario) -> list[str]:
    return [type(event.deed).__name__ for event in run(scenario).events if isinstance(event, Acted)]


@pytest.mark.parametrize("field", FIELDS)
def test_moving_the_invalid_call_changes_neither_effects_nor_records(field: str):
    bad, siblings = ill(field, SHAPES["lone-high"]), (runs("call-2", "make"), write("call-3"))
    moved = [
        alone("moved", calls(*siblings[:place], bad, *siblings[place:]), MAKE, DONE) for place in range(3)
    ]

    assert len({skeleton(run(scenario).events) for scenario in moved}) == 1
    assert len({tuple(kept(scenario)) for scenario in moved}) == 1
    assert len({tuple(effects(scenario)) for scenario in moved}) == 1


@settings(deadline=None, max_examples=25)
@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=30))
def test_other_valid_text_changes_only_bytes(text: str):
    plain, other = (
        run(alone("valid", calls(runs("call-1", f"echo {word}", description=word)), DONE)).events
        for word in ("plain", text)
    )

    assert skeleton(plain) == skeleton(other)


def test_every_compatible_text_has_one_skeleton():
    names = [name for name, row in MATRIX.items() if row.evidence == "u2"]

    assert len({skeleton_of(MATRIX[name]) for name in names}) == 1


@pytest.mark.parametrize("then", ["", DETACH])
def test_a_text_only_turn_and_a_reload_in_between_change_nothing(then: str):
    refused = Turn((calls(ill("command", SHAPES["lone-low"])), MAKE, DONE))
    direct = outcome(run(Scenario("direct", (SessionPlan("a", "w", (refused,)),))).events)
    between = (Turn((DONE,), then=then), refused, Turn((TEST, DONE)))
    behind = outcome(run(Scenario("behind", (SessionPlan("a", "w", between),))).events)

    assert [turn.ending for turn in behind.turns[1:]] == ["completed after refusal", "completed"]
    assert behind.turns[1].inferences == direct.turns[0].inferences
    told = [(each.spawns, each.dispatches, each.status, each.receipt) for each in direct.executions]
    assert [
        (each.spawns, each.dispatches, each.status, each.receipt) for each in behind.executions[:1]
    ] == told


# --- the group that the journal keeps


def test_after_a_reload_the_model_is_shown_the_escaped_call_and_its_paired_error_byte_for_byte():
    row = MATRIX["u9-local-1-command-reversed-restart"]
    (bad,) = row.scenario.sessions[0].turns[0].answers[0].calls
    events = run(row.scenario, row.plan, row.design).events
    shown = [
        event.request for event in events if isinstance(event, Asked) and isinstance(event.request, Infer)
    ]
    records = [
        write.row.record
        for event in events
        if isinstance(event, Committed)
        for write in event.writes
        if isinstance(write.row, Entry)
    ]
    (assistant,) = [record for record in records if isinstance(record, Assistant) and record.calls == (bad,)]
    refusal = next(record for record in records if isinstance(record, ToolResult) and not record.execution)
    later = next(request for request in shown if request.prompt == "a.p2")

    assert "\\ude00\\ud83d" in assistant.calls[0].arguments
    assert [message.calls for message in later.messages if message.calls] == [(bad,)]
    assert [message.responses for message in later.messages if message.responses] == [refusal.responses]
    assert refusal.responses == (
        Response(
            "call-1",
            SHELL,
            "Hosted Shell command contains an unpaired UTF-16 surrogate. Provide valid Unicode and retry.",
            True,
        ),
    )


# --- reports

VALUE = re.compile(r"ends the word here")
"""A part of a refused text that nothing else in a run says."""


def test_no_report_of_a_sweep_names_the_refused_value(tmp_path: Path):
    row = "u1-local-1-command-lone-high-start"
    swept = CliRunner().invoke(
        cli, ["sweep", row, "reply-lost", "--out", str(tmp_path), "-j", "1"], obj=House()
    )

    assert swept.exit_code == 0
    assert not VALUE.search(swept.stdout)
    for name in ("summary.md", "junit.xml", "runs.jsonl"):
        assert not VALUE.search((tmp_path / name).read_text("utf-8")), name


def test_a_timeline_names_the_refused_value_only_in_the_models_own_call():
    row = "u1-local-1-command-lone-high-start"
    shown = CliRunner().invoke(cli, ["run", row, "--whole"], obj=House()).stdout.splitlines()

    assert shown
    for line in (line for line in shown if VALUE.search(line)):
        assert "run_shell_command" in line or "ToolCall" in line, line
