"""The field cases come out as promised, every strike lands, and the published tables are reproduced."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
import pytest

from reports.bench import House
from reports.explain import explain
from scenarios import base, observed
from scenarios.judge import PASSED, verdict
from scenarios.row import Promise, Row
from scenarios.rows import ROWS, THEMES
from sim.circumstances import RIVAL
from sim.deeds import Emit, Spawn, TouchFile
from sim.design import SCALED, SEED, Design
from sim.facts import ACTIVATIONS, LEASES, LEDGER, RESOURCES, WRITERS
from sim.history import Acted, Answered, Asked, Committed, Failure, Healed, History, Learned, Scripts, Struck
from sim.protocol import (
    STDERR,
    STDOUT,
    Acknowledge,
    Assistant,
    CancelExecution,
    ClosePublisher,
    Execute,
    Infer,
    Observe,
    OpenPublisher,
    Prepare,
    Record,
    Release,
    StartExecution,
    Status,
    ToolReceipt,
    ToolResult,
    WriteOutput,
)
from sim.run import run
from sim.scenario import Exit, Pass, Print, Program, Touch, calls, shell
from sim.text import utf8

PLAYED = [row for row in ROWS.values() if row.cases]
TOOL_TURN = (
    *(3, 4, 6, 10, 13, 15, 17, 18, 20, 21, 24, 25, 28, 29, 32, 34, 36, 37, 39, 40),
    *(46, 57, 58, 61, 73, 78, 79, 80, 82, 84, 85, 87, 88, 89, 91),
)
"""The field cases that a row S1 to S14 of the acceptance matrix asks for, and that need no object store."""
BESIDE = (1, 5, 8, 42, 43, 62, 63, 71)
"""Field cases of other rows of the matrix that are played all the same."""
NOT_PLAYED = {46: "There is no approval that could be pending."}
"""Those for which the simulation lacks an actor, each with what it lacks."""
PARTLY = {
    37: "A reason of the worker: on both paths nothing but a reservation is refused with a reason.",
    58: "A label that tells a corrupt journal from a transient: the Store has one way to fail.",
    82: "Since when a lease is held: the lease's row has no clock, and only the history tells.",
}
"""What of a case that is played is not: it needs what the simulation lacks."""


@cache
def history(name: str) -> History:
    """The run of one row."""
    row = ROWS[name]
    return run(row.scenario, row.plan, row.design)


def before_healing(name: str) -> list[Any]:
    events = history(name).events
    return events[: next(place for place, event in enumerate(events) if isinstance(event, Healed))]


def asked(name: str, kind: type) -> list[Any]:
    events = before_healing(name)
    return [event.request for event in events if isinstance(event, Asked) and isinstance(event.request, kind)]


def records(name: str, kind: type[Record]) -> list[Any]:
    return [record for record in observed.journal(before_healing(name)) if isinstance(record, kind)]


def learned(name: str) -> list[tuple[str, str]]:
    """The label of each request that failed or stayed in doubt, and what its sender learned."""
    events = before_healing(name)
    requests = {event.exchange: event.request.label for event in events if isinstance(event, Asked)}
    return [
        (requests[event.exchange], event.failure or event.doubt)
        for event in events
        if isinstance(event, Learned)
    ]


def shown(messages: tuple[Any, ...]) -> str:
    """What the last tool message says."""
    return next(message for message in reversed(messages) if message.role == "tool").responses[-1].text


# --- every row


@pytest.mark.parametrize("row", PLAYED, ids=lambda row: row.name)
def test_a_field_case_comes_out_as_promised(row: Row) -> None:
    judged = verdict(row, row.plan, history(row.name))
    assert (judged.status, judged.findings) == (PASSED, ())


@pytest.mark.parametrize("row", [row for row in PLAYED if row.faults], ids=lambda row: row.name)
def test_every_strike_of_a_field_case_lands(row: Row) -> None:
    told = history(row.name)
    assert told.missed == ()
    landed = {event.fate for event in told.events if isinstance(event, Struck)}
    assert landed == {fault.partition("=")[2].rstrip("!") for fault in row.faults}


def test_every_field_case_in_scope_is_played() -> None:
    wanted = {*TOOL_TURN, *BESIDE} - set(NOT_PLAYED)
    assert {f"RC-{number:02}" for number in wanted} == {case for row in PLAYED for case in row.cases}
    assert set(PARTLY) <= wanted


def test_field_cases_have_names_of_their_own() -> None:
    assert len(ROWS) == sum(map(len, THEMES.values()))


WRONG = {
    "endings": ("completed",),
    "spawns": 2,
    "starts": 0,
    "asked": 2,
    "acks": 1,
    "lease": "free",
    "second": "completed",
}


@pytest.mark.parametrize("column", Promise.__struct_fields__)
def test_a_wrong_promise_is_noticed(column: str) -> None:
    row = ROWS["rc-13-status"]
    promise = msgspec.structs.replace(row.promise, **{column: WRONG[column]})
    wrong = msgspec.structs.replace(row, promise=promise)
    judged = verdict(wrong, wrong.plan, history(row.name))
    assert [finding.check for finding in judged.findings] == ["promise"]


# --- the published tables


def test_every_published_cell_is_reproduced() -> None:
    compared = observed.compare()
    assert [line for line in compared if not line.agrees] == []
    assert observed.tally(compared) == observed.Tally(cells=88, mismatches=0, unexplained=0)


def test_another_published_cell_would_be_noticed() -> None:
    cells = observed.cells(history("rc-18-receipt-rejected").events)
    lines = observed.beside("RC-18", "rc-18-receipt-rejected", {"content": 5, "manifest": 0}, cells)
    assert [(line.column, line.published, line.simulated) for line in lines if not line.agrees] == [
        ("manifest", 0, 1)
    ]
    assert observed.tally(lines) == observed.Tally(cells=2, mismatches=1, unexplained=1)


def test_no_reason_is_kept_for_a_cell_that_agrees() -> None:
    unlike = {(line.case, line.row, line.column) for line in observed.compare() if not line.agrees}
    assert set(observed.REASONS) == unlike


# --- what no column says


REFUSED_ONCE = {
    "rc-3-zero": "timeout must be from 1 to 600000",
    "rc-3-above": "timeout must be from 1 to 600000",
    "rc-3-fraction": "timeout must be a whole number",
    "rc-3-exponent": "timeout must be a whole number",
    "rc-3-unknown": "does not support 1 of the given arguments",
    "rc-4-background": "does not support background execution",
    "rc-37-reservation": "the execution could not be reserved",
}


@pytest.mark.parametrize(("name", "reason"), REFUSED_ONCE.items(), ids=list(REFUSED_ONCE))
def test_rc_3_4_37_the_reason_is_durable_and_is_what_the_model_reads(name: str, reason: str) -> None:
    refusal = records(name, ToolResult)[0]
    told = shown(asked(name, Infer)[1].messages)
    assert refusal.execution == ""
    assert [response.text for response in refusal.responses] == [told]
    assert reason in told


def test_rc_17_a_session_elsewhere_meets_neither_failure_nor_doubt() -> None:
    events = before_healing("rc-17-elsewhere")
    scripts = Scripts(events)
    troubled = {scripts.actor(event.script) for event in events if isinstance(event, Learned)}
    assert troubled == {"broker", "harness:a"}


def test_rc_20_the_receipt_outlives_its_owner_and_gets_no_history() -> None:
    assert [receipt.delivery for receipt in records("rc-20-crash", ToolReceipt)] == ["committed"]
    assert records("rc-20-crash", ToolResult) == []


@pytest.mark.parametrize(
    ("name", "durable"),
    [("reply-lost", 2), ("request-lost", 1), ("gateway", 1)],
    ids=lambda value: str(value),
)
def test_rc_21_a_segment_is_published_once_and_no_raw_write_is_repeated(name: str, durable: int) -> None:
    name = f"rc-21-{name}"
    stored = observed.table(before_healing(name), RESOURCES.name)
    offsets = [(request.stream, request.offset) for request in asked(name, WriteOutput)]
    assert sum(row.kind == "content" for row in stored.values()) == durable
    assert len(offsets) == len(set(offsets))
    assert [receipt.delivery for receipt in records(name, ToolReceipt)] == ["blocked"]


@pytest.mark.parametrize("name", ["cancel-before-start", "rc-24-next-turn", "rc-91-reserving"])
def test_rc_24_and_91_what_never_started_has_a_receipt_a_null_capture_and_no_ack(name: str) -> None:
    receipt = records(name, ToolReceipt)[0]
    assert (receipt.delivery, receipt.envelope.status, receipt.envelope.capture) == (
        "not_started",
        "not_started",
        None,
    )
    assert receipt.execution not in {request.execution for request in asked(name, StartExecution)}
    assert receipt.execution not in {request.execution for request in asked(name, Acknowledge)}


@pytest.mark.parametrize("name", ["cancel-running", "rc-25-huge", "rc-25-long"])
def test_rc_25_a_stopped_command_goes_no_further_and_its_prefix_is_admitted(name: str) -> None:
    deeds = [event.deed for event in before_healing(name) if isinstance(event, Acted)]
    assert b"end\n" not in {deed.line for deed in deeds if isinstance(deed, TouchFile)}
    assert len(asked(name, CancelExecution)) == 1
    receipt = records(name, ToolReceipt)[0]
    assert (receipt.delivery, receipt.envelope.status) == ("committed", "cancelled")
    emitted = sum(
        len(deed.content) for deed in deeds if isinstance(deed, Emit) and deed.execution == receipt.execution
    )
    captured = {seal.stream: seal.length for seal in receipt.envelope.capture.seals}
    assert captured == {STDOUT: emitted, STDERR: 0}


def test_rc_25_a_huge_stream_settles_within_two_seconds() -> None:
    events = before_healing("rc-25-huge")
    cancelled = next(
        event.at for event in events if isinstance(event, Asked) and event.request.label == "CancelTurn"
    )
    settled = next(
        event.at for event in events if isinstance(event, Committed) and "TurnSettled" in event.label
    )
    assert settled - cancelled < 2_000


def test_rc_28_two_calls_are_prepared_then_each_started_and_acknowledged_in_order() -> None:
    kinds = (Prepare, StartExecution, Acknowledge)
    labels = [request.label for kind in kinds for request in asked("two-calls", kind)]
    assert labels == ["Prepare", "Prepare", "StartExecution", "StartExecution", "Acknowledge", "Acknowledge"]
    started = [request.execution for request in asked("two-calls", StartExecution)]
    assert started == [request.execution for request in asked("two-calls", Acknowledge)]
    assert [(record.execution, record.responses[0].call) for record in records("two-calls", ToolResult)] == [
        (started[0], "call-1"),
        (started[1], "call-2"),
    ]


def test_rc_28_behind_a_rejected_result_nothing_starts_and_both_are_cancelled() -> None:
    started = [request.execution for request in asked("rc-28-rejected", StartExecution)]
    cancelled = [request.execution for request in asked("rc-28-rejected", CancelExecution)]
    assert len(started) == 1
    assert len(cancelled) == len(set(cancelled)) == 2
    ledger = observed.table(before_healing("rc-28-rejected"), LEDGER.name)
    assert [ledger[name].envelope.status for name in cancelled] == ["success", "not_started"]


def test_rc_29_missing_bytes_are_told_from_late_ones() -> None:
    late, missing = (records(name, ToolReceipt)[0] for name in ("rc-29-at-once", "rc-29-incomplete"))
    assert (late.delivery, late.envelope.capture.reason) == ("committed", "")
    assert [seal.length for seal in late.envelope.capture.seals] == [9, 0]
    assert (missing.delivery, missing.envelope.capture.reason) == ("blocked", "producer_lost")
    assert missing.envelope.status == "success"


def test_rc_32_the_model_sees_the_failure_behind_a_long_output() -> None:
    told = shown(asked("cut-preview", Infer)[-1].messages)
    assert "failed\n" in told
    assert told.endswith(
        "[output truncated; the complete output is retained with this Session]\n[status: error, exit code: 3]"
    )


@pytest.mark.parametrize("name", ["whole", "one-in", "two-in", "three-in"])
def test_rc_34_a_window_shows_whole_characters_only(name: str) -> None:
    told = shown(asked(f"rc-34-{name}", Infer)[-1].messages)
    assert "\N{GRINNING FACE}" in told
    assert "\N{REPLACEMENT CHARACTER}" not in told


@pytest.mark.parametrize("design", [SCALED, SEED], ids=lambda design: design.name)
@pytest.mark.parametrize("behind", range(4))
@pytest.mark.parametrize("character", "é€😀", ids=["two", "three", "four"])
def test_rc_34_every_width_at_every_alignment(character: str, behind: int, design: Design) -> None:
    wide = Print(STDOUT, character.encode(), design.limits.process_buffer // 2 + 100)
    steps = (Touch("effects.log", "wide"), wide, Pass(200), Print(STDERR, b"!" * behind), Exit(1))
    program = Program("wide", steps)
    scenario = base.alone("wide", calls(shell("call-1", "wide")), base.DONE, programs=(program,))
    told = [
        event.request.messages
        for event in run(scenario, design=design).events
        if isinstance(event, Asked) and isinstance(event.request, Infer) and len(event.request.messages) > 1
    ]
    assert character in shown(told[0])
    assert "\N{REPLACEMENT CHARACTER}" not in shown(told[0])


def test_rc_36_worst_case_escaping_fits_its_record() -> None:
    name, limit = "rc-36-escaping", SEED.limits.history_record
    sizes = [len(msgspec.json.encode(record)) for record in observed.journal(before_healing(name))]
    result = records(name, ToolResult)[0]
    assert 48_000 < len(msgspec.json.encode(result)) <= max(sizes) < limit
    told = result.responses[0].text
    assert len(utf8(told)) < 9 * 1024
    assert told.count("\x01") > 8_000
    assert "[output truncated;" in told
    assert told.endswith("[status: error, exit code: 3]")
    assert shown(asked(name, Infer)[1].messages) == told
    assert [seal.length for seal in records(name, ToolReceipt)[0].envelope.capture.seals] == [71_680, 0]


@pytest.mark.parametrize("name", ["prepare", "write", "accept"])
def test_rc_40_without_the_bearer_the_publisher_says_401_and_admits_nothing(name: str) -> None:
    events = before_healing(f"rc-40-{name}")
    refusals = {event.answer for event in events if isinstance(event, Answered) and _is_401(event.answer)}
    assert {refusal.code for refusal in refusals} == {"hosted_shell_publication_unauthorized"}
    assert "committed" not in {receipt.delivery for receipt in records(f"rc-40-{name}", ToolReceipt)}
    assert records(f"rc-40-{name}", ToolResult) == []


def _is_401(answer: object) -> bool:
    return isinstance(answer, Failure) and answer.status == 401


def test_rc_40_each_turn_opens_and_closes_one_listener_failed_or_not() -> None:
    events = before_healing("rc-40-listeners")
    listeners = [
        (event.request.label, event.request.prompt)
        for event in events
        if isinstance(event, Asked) and isinstance(event.request, OpenPublisher | ClosePublisher)
    ]
    assert listeners == [
        (label, f"a.p{turn}") for turn in (1, 2, 3) for label in ("OpenPublisher", "ClosePublisher")
    ]


def test_rc_39_a_cold_load_of_six_turns_asks_four_things_and_acknowledges_nothing() -> None:
    events = history("rc-39-reload").events
    last = max(place for place, event in enumerate(events) if label(event) == "LoadSession")
    assert [label(event) for event in events[last:] if label(event)] == [
        *("LoadSession", "OpenJournal", "AcquireWriter", "ReadJournal", "Transact.ActivationChanged"),
        *("Prompt", "AwaitTurn"),
    ]


def label(event: Any) -> str:
    return event.request.label if isinstance(event, Asked) else ""


@pytest.mark.parametrize(("name", "reads"), [("stale", 2), ("corrupt", 3), ("refused", 1)])
def test_rc_58_a_read_at_load_is_repeated_after_doubt_and_never_after_a_refusal(
    name: str, reads: int
) -> None:
    events = before_healing(f"rc-58-{name}")
    prompted = next((place for place, event in enumerate(events) if label(event) == "Prompt"), len(events))
    assert [label(event) for event in events[:prompted]].count("ReadJournal") == reads


@pytest.mark.parametrize("name", ["rc-61-stopped", *(f"size-cut-4-{beside}" for beside in range(4))])
def test_rc_61_no_cut_is_inside_an_emoji(name: str) -> None:
    messages = asked(name, Infer)[-1].messages
    told = [response.text for message in messages for response in message.responses]
    assert "\N{GRINNING FACE}" in told[0]
    assert "\N{REPLACEMENT CHARACTER}" not in told[0]


def test_rc_71_each_of_26_siblings_is_told_that_it_did_not_run() -> None:
    refused = records("rc-71-siblings", ToolResult)[0].responses
    assert len(refused) == 27
    assert {response.text.partition(":")[0] for response in refused[1:]} == {"Not executed"}
    assert all(response.error for response in refused)


@pytest.mark.parametrize("name", ["rc-73-call", "rc-73-refusal"])
def test_rc_73_half_a_group_is_shown_to_no_model(name: str) -> None:
    session = [request for request in asked(name, Infer) if request.session == "a"]
    assert len(records(name, Assistant)) == 1
    assert records(name, ToolResult) == []
    assert len(session) == 1


def test_rc_82_the_lease_of_the_dead_says_whose_it_is() -> None:
    leases = observed.table(before_healing("rc-82-killed"), LEASES.name)
    assert {workspace: row.session for workspace, row in leases.items()} == {"w": "a"}


@pytest.mark.parametrize(
    ("name", "table"),
    [("rc-57-writer", WRITERS), ("rc-57-activation", ACTIVATIONS)],
    ids=["writer", "activation"],
)
def test_rc_57_the_rival_stays_what_it_became(name: str, table: Any) -> None:
    events = before_healing(name)
    rows = [
        write.row
        for event in events
        if isinstance(event, Committed)
        for write in event.writes
        if write.table == table.name
    ]
    replaced = next(place for place, row in enumerate(rows) if RIVAL in str(row))
    assert all(RIVAL in str(row) for row in rows[replaced:])


def test_rc_79_a_lost_ack_is_replayed_identically_and_nothing_else_is() -> None:
    acknowledged = asked("rc-79-reply-lost", Acknowledge)
    assert len(acknowledged) == 2
    assert acknowledged[0] == acknowledged[1]
    assert [len(asked("rc-79-reply-lost", kind)) for kind in (Prepare, StartExecution, Execute, Release)] == [
        1,
        1,
        1,
        1,
    ]


@pytest.mark.parametrize("name", ["rc-84-late", "rc-84-unacknowledged"])
def test_rc_84_settled_is_the_last_word_of_the_ledger(name: str) -> None:
    states = [
        write.row.state
        for event in history(name).events
        if isinstance(event, Committed)
        for write in event.writes
        if write.table == LEDGER.name and write.row.runtime_session == "a.p1"
    ]
    assert states == ["prepared", "dispatching", "executing", "settled"]


@pytest.mark.parametrize("name", ["rc-85-applied", "rc-85-unapplied"])
def test_rc_85_nothing_replaces_an_execution_behind_a_partition(name: str) -> None:
    executed = [
        event.request.reference
        for event in history(name).events
        if isinstance(event, Asked) and isinstance(event.request, Execute)
    ]
    assert len(executed) == 1
    assert len(asked(name, Observe)) == ROWS[name].design.limits.reconcile_looks
    assert [row.state for row in observed.table(history(name).events, LEDGER.name).values()] == ["unknown"]
    spawned = [
        event for event in history(name).events if isinstance(event, Acted) and isinstance(event.deed, Spawn)
    ]
    assert len(spawned) == ROWS[name].promise.spawns


@pytest.mark.parametrize(
    "name", ["rc-87-other-payload", "rc-88-cut", "rc-88-gateway", "rc-89-refused", "rc-13-start"]
)
def test_rc_87_to_89_a_start_is_sent_once_whatever_it_is_told(name: str) -> None:
    assert len(asked(name, StartExecution)) == 1


@pytest.mark.parametrize("name", ["rc-87-other-payload", "rc-89-refused"])
def test_rc_87_and_89_a_conflict_is_an_end(name: str) -> None:
    assert learned(name) == [("StartExecution", "runtime_idempotency_conflict")]
    assert asked(name, Status) == []
    ledger = observed.table(before_healing(name), LEDGER.name)
    assert [(row.state, row.dispatches) for row in ledger.values()] == [("settled", 0)]


def test_the_published_tables_are_shown_cell_by_cell_with_their_count():
    told = list(explain(House(), "observed", 100))

    assert told[0] == "observed: 88 published cells, 0 shown otherwise by the simulation"
    assert len(told) == 89
    assert all(line.startswith("== RC-") for line in told[1:])
