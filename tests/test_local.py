"""The same program on the Hosted and on the local wrapper: the same retained bytes, and the same text for the model."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from scenarios.base import DONE, alone, quick
from scenarios.row import Row
from scenarios.rows import ROWS
from sim.design import SMALL
from sim.facts import JOURNAL, RESOURCES
from sim.history import Answered, Asked, Committed, Event, Healed
from sim.protocol import STDERR, STDOUT, Entry, Infer, Piece, ReadOutput, Response, ToolReceipt, ToolResult
from sim.run import run
from sim.scenario import LOCAL, Exit, Pass, Print, Program, Scenario, Touch, calls

RETAINED = ("content", "page", "seal", "manifest")
ROWS_TOLD_TWICE = ("two-calls", "two-rounds", "silent", "late-output", "segment-plus-one")


def at_home(hosted: Scenario) -> Scenario:
    return replace(hosted, sessions=tuple(replace(each, leader=LOCAL) for each in hosted.sessions))


@cache
def played(scenario: Scenario) -> tuple[Event, ...]:
    """A run up to its healing."""
    events = run(scenario, design=SMALL).events
    return tuple(events[: next(at for at, event in enumerate(events) if isinstance(event, Healed))])


def rows(events: tuple[Event, ...], table: str) -> dict[str, object]:
    writes = [write for event in events if isinstance(event, Committed) for write in event.writes]
    return {write.key: write.row for write in writes if write.table == table}


def retained(events: tuple[Event, ...]) -> dict[str, tuple[str, str]]:
    """Every segment, page, seal and manifest: its kind and its digest, by its name."""
    kept = rows(events, RESOURCES.name)
    return {key: (row.kind, row.digest) for key, row in kept.items() if row.kind in RETAINED}


def records(events: tuple[Event, ...], kind: type) -> list[object]:
    entries = [row.record for row in rows(events, JOURNAL.name).values() if isinstance(row, Entry)]
    return [record for record in entries if isinstance(record, kind)]


def shown(events: tuple[Event, ...]) -> list[Response]:
    return [response for result in records(events, ToolResult) for response in result.responses]


def asked(events: tuple[Event, ...]) -> list[object]:
    """What the model was asked, message by message."""
    return [
        event.request.messages
        for event in events
        if isinstance(event, Asked) and isinstance(event.request, Infer)
    ]


def same_on_both(hosted: Scenario) -> None:
    there, here = played(hosted), played(at_home(hosted))
    assert retained(here) == retained(there) != {}
    assert shown(here) == shown(there) != []
    assert asked(here) == asked(there)
    assert [each.envelope for each in records(here, ToolReceipt)] == [
        each.envelope for each in records(there, ToolReceipt)
    ]


@pytest.mark.parametrize("name", ROWS_TOLD_TWICE)
def test_a_row_keeps_the_same_bytes_and_tells_the_same_on_both_wrappers(name: str) -> None:
    same_on_both(ROWS[name].scenario)


printed = st.builds(
    Print, st.sampled_from((STDOUT, STDERR)), st.binary(min_size=1, max_size=9), st.integers(0, 60)
)


@settings(max_examples=25, deadline=None)
@given(st.lists(printed, max_size=5), st.integers(0, 3))
def test_any_program_keeps_the_same_bytes_and_tells_the_same_on_both_wrappers(
    prints: list[Print], code: int
) -> None:
    apart = [
        step for each in prints for step in (each, Pass(1_000))
    ]  # so that one pipe is read before the other
    program = Program("any", (Touch("effects.log", "any"), *apart, Exit(code)))
    same_on_both(alone("any", calls(quick("call-1", "any")), DONE, programs=(program,)))


@pytest.mark.parametrize("leader", ["hosted", LOCAL])
def test_the_output_is_read_again_whole_and_in_ranges_within_the_limit(leader: str) -> None:
    hosted = ROWS["segment-plus-one"].scenario
    events = played(at_home(hosted) if leader == LOCAL else hosted)
    ranges = {
        event.exchange: event.request
        for event in events
        if isinstance(event, Asked) and isinstance(event.request, ReadOutput)
    }
    assert all(0 < each.end - each.start <= SMALL.limits.reread for each in ranges.values())
    read: dict[str, bytes] = {}
    for event in events:
        if isinstance(event, Answered) and isinstance(event.answer, Piece):
            resource = ranges.get(event.exchange)
            if resource is not None:
                assert len(read.get(resource.resource, b"")) == resource.start
                read[resource.resource] = read.get(resource.resource, b"") + event.answer.content
    kept = rows(events, RESOURCES.name)
    for key, row in kept.items():
        if row.kind in ("content", "page", "manifest"):
            assert read[key.partition("/")[2]] == row.content
    assert any(len(row.content) > SMALL.limits.reread for row in kept.values() if row.kind in RETAINED)


def test_no_broker_worker_or_publisher_has_a_part_in_a_local_turn() -> None:
    row: Row = ROWS["local-two-calls"]
    events = played(row.scenario)
    assert {event.to for event in events if isinstance(event, Asked)} == {
        "local:a", "local-journal:a", "local-store:a", "model",
    }  # fmt: skip
