"""Around every limit: what is measured reaches it and never passes it, and what is shown is cut where it is said."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from scenarios.row import Row
from scenarios.rows import ROWS
from scenarios.sizes import CUTS, Cut
from sim.deeds import Emit
from sim.design import Limits
from sim.facts import RESOURCES
from sim.history import Acted, Asked, Committed, Event
from sim.protocol import Envelope, ReadResource, ToolReceipt, WriteOutput
from sim.run import run
from sim.text import PREVIEW_GAP, DigestError, tool_digest, utf8

# --- what is measured in a history


def requests(events: Iterable[Event], kind: type) -> list[Any]:
    return [event.request for event in events if isinstance(event, Asked) and isinstance(event.request, kind)]


def stored(events: Iterable[Event], kind: str) -> list[bytes]:
    """Every resource of a kind that became durable."""
    writes = [write for event in events if isinstance(event, Committed) for write in event.writes]
    rows = [write.row for write in writes if write.table == RESOURCES.name and write.row]
    return [row.content for row in rows if row.kind == kind]


def pages(events: Iterable[Event]) -> list[dict[str, Any]]:
    return [msgspec.json.decode(page) for page in stored(events, "page")]


def envelope(events: Iterable[Event]) -> Envelope:
    """The first that was recorded."""
    writes = [write for event in events if isinstance(event, Committed) for write in event.writes]
    records = [write.row.record for write in writes if write.table == "journal"]
    return next(record.envelope for record in records if isinstance(record, ToolReceipt))


def largest(sizes: Iterable[int]) -> int:
    return max(sizes, default=0)


MEASURES: dict[str, Callable[[list[Event]], int]] = {
    "chunk": lambda events: largest(len(request.content) for request in requests(events, WriteOutput)),
    "content": lambda events: largest(map(len, stored(events, "content"))),
    "inline": lambda events: largest(map(len, stored(events, "inline"))),
    "manifest": lambda events: largest(map(len, stored(events, "manifest"))),
    "page": lambda events: largest(map(len, stored(events, "page"))),
    "pipe": lambda events: largest(
        len(event.deed.content)
        for event in events
        if isinstance(event, Acted) and isinstance(event.deed, Emit)
    ),
    "process_buffer": lambda events: len(utf8(envelope(events).preview)),
    "reread": lambda events: largest(
        request.end - request.start for request in requests(events, ReadResource)
    ),
    "segment": lambda events: largest(map(len, stored(events, "content"))),
    "segments_per_page": lambda events: largest(len(page["segments"]) for page in pages(events)),
}
"""The largest thing of each kind in a history, in the unit of its limit."""


def measured(limit: str, row: Row, limits: Limits) -> int:
    return MEASURES[limit](list(run(row.scenario, row.plan, replace(row.design, limits=limits)).events))


# --- limits that no rule holds

REACHED = {
    "chunk": "size-write-plus-one",
    "pipe": "size-pipe-plus-one",
    "process_buffer": "size-buffer-plus-one",
    "reread": "size-reread-plus-one",
    "segment": "size-page-exact",
    "segments_per_page": "size-stream-exact",
}
"""A row in which each of them is just reached. The others are held by rules, and broken with these."""


@pytest.mark.parametrize("limit", REACHED)
def test_a_limit_is_reached_and_moving_it_by_one_shows(limit: str) -> None:
    row = ROWS[REACHED[limit]]
    limits = row.design.limits
    own = getattr(limits, limit)

    assert measured(limit, row, limits) == own
    for other in (own - 1, own + 1):
        assert measured(limit, row, replace(limits, **{limit: other})) != own


STORED = ("content", "page", "manifest", "inline")
"""What the Store bounds by kind."""


@pytest.mark.parametrize(
    "row", [row for row in ROWS.values() if row.theme == "sizes"], ids=lambda row: row.name
)
def test_nothing_durable_is_larger_than_its_limit(row: Row) -> None:
    events = list(run(row.scenario, row.plan, row.design).events)

    for limit in STORED:
        assert MEASURES[limit](events) <= getattr(row.design.limits, limit), limit


@pytest.mark.parametrize("limit", ["page", "manifest"])
def test_the_store_alone_refuses_what_is_larger_though_the_owner_would_not_read_it_either(limit: str) -> None:
    refused, taken = ROWS[f"size-fit-{limit}-plus-one"], ROWS[f"size-fit-{limit}-exact"]
    size = getattr(taken.design.limits, limit)

    assert measured(limit, taken, taken.design.limits) == size
    assert measured(limit, refused, refused.design.limits) < size


# --- what the model is shown


def preview(name: str) -> tuple[str, bool]:
    row = ROWS[name]
    told = envelope(run(row.scenario, row.plan, row.design).events)
    return told.preview, told.truncated


@pytest.mark.parametrize("cut", CUTS, ids=lambda cut: f"{cut.width}-{cut.beside}")
def test_a_preview_is_cut_between_characters_at_both_ends(cut: Cut) -> None:
    shown, truncated = preview(f"size-cut-{cut.width}-{cut.beside}")
    head, _, tail = shown.partition(PREVIEW_GAP)

    assert truncated
    assert (len(utf8(head)), len(utf8(tail))) == (cut.head, cut.tail)
    assert "\N{REPLACEMENT CHARACTER}" not in shown


@pytest.mark.parametrize(
    ("name", "length", "cut"),
    [
        ("size-preview-less-one", 8_191, False),
        ("size-preview-exact", 8_192, False),
        ("size-preview-plus-one", 2_048 + 61 + 6_083, True),
        ("size-buffer-less-one", 255, False),
        ("size-buffer-exact", 256, False),
        ("size-buffer-plus-one", 256, True),
    ],
)
def test_what_does_not_fit_is_cut_and_said_to_be(name: str, length: int, cut: bool) -> None:
    shown, truncated = preview(name)

    assert (len(utf8(shown)), truncated) == (length, cut)


# --- what no call of the Shell profile can reach


@pytest.mark.parametrize(("size", "kind"), [(262_143, ""), (262_144, ""), (262_145, "size")])
def test_the_bytes_of_arguments_under_a_digest(size: int, kind: str) -> None:
    assert refusal("x" * (size - 2)) == kind


@pytest.mark.parametrize(("depth", "kind"), [(63, ""), (64, ""), (65, "depth")])
def test_the_depth_of_arguments_under_a_digest(depth: int, kind: str) -> None:
    assert refusal(nested(depth)) == kind


def nested(depth: int) -> list[Any]:
    """A number so many lists down."""
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


def refusal(value: object) -> str:
    try:
        tool_digest(value)
    except DigestError as error:
        return error.kind
    return ""
