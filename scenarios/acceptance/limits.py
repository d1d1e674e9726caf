"""Transport, limits and what must not change: the last three tests of 000 §6 that the harness alone can show."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import product
from types import MappingProxyType

from msgspec.structs import replace

from scenarios.acceptance.cell import (
    CELLS,
    CORRECTED,
    DONE,
    FIELDS,
    MAKE,
    REFUSED,
    TEST,
    Entry,
    ill,
    row,
    runs,
)
from scenarios.acceptance.texts import EMOJI, SHAPES
from scenarios.base import WIDE_TEXT, completes
from scenarios.row import Promise
from sim.design import SCALED
from sim.design.designs import DESIGNS
from sim.protocol import SHELL, WRITE, ToolCall
from sim.scenario import DETACH, MOVE, RESTART, Scenario, Turn, calls, glob

ENDED = Promise(("error",), 0, 0, 1, 0)
"""A guard ends the turn plainly, before anything is acquired: no refusal."""
UNCORRECTED = Promise(("uncorrected",), 0, 0, 1, 0)
"""A limit keeps the model from correcting what was ill-formed, and that is recorded."""


def transport() -> Iterator[Entry]:
    """The escaped group is kept, read again and shown; a strict transport refuses it (000 §6)."""
    for cell, field, shape, then in product(
        CELLS, FIELDS, ("lone-high", "reversed", "pair-unpaired"), REOPENED
    ):
        refused = calls(ill(field, SHAPES[shape]))
        yield Entry(
            row(
                f"u9-{cell.name}-{field}-{shape}-{then}",
                f"behind a {then} the model is shown the escaped call and its paired error, and works on",
                Scenario("", (cell.session(Turn((refused, DONE), then=then), Turn((TEST, DONE))),)),
                Promise(("completed after refusal", "completed"), 1, 1, 4, 1),
                cites="000 §5, §6 Store and model transport",
            )
        )


def strict() -> Iterator[Entry]:
    """A transport to the model that takes no ill-formed request: the seed's answer is that acceptance fails."""
    for cell, field in product(CELLS, FIELDS):
        yield Entry(
            row(
                f"u9-{cell.name}-strict-{field}",
                "a strict transport refuses the group that the journal keeps: acceptance fails, nothing is rewritten",
                cell.alone(calls(ill(field, SHAPES["lone-high"])), MAKE, DONE, strict=True),
                Promise(("uncorrected",), 0, 0, 2, 0),
                cites="000 §6 Store and model transport; field cases §0.3.2",
            )
        )
    for cell in CELLS:
        turns = (Turn((calls(ill("command", SHAPES["low-low"])), DONE)), Turn((TEST, DONE)))
        yield Entry(
            row(
                f"u9-{cell.name}-strict-later",
                "a strict transport refuses every later turn of that Session as well: the group stays in its history",
                Scenario("", (cell.session(*turns),), strict=True),
                Promise(("uncorrected", "error"), 0, 0, 3, 0),
                cites="000 §6 Store and model transport",
            )
        )
        yield Entry(
            row(
                f"u9-{cell.name}-strict-valid",
                "a strict transport takes every valid text",
                cell.alone(calls(runs("call-1", f"echo {EMOJI} \\ud800")), DONE, strict=True),
                completes(1, 2),
                cites="000 §6 Store and model transport",
            )
        )


REOPENED = (DETACH, MOVE, RESTART)


# --- limits and identity

ILL = ill("command", SHAPES["lone-high"])
GUARDED: Mapping[str, tuple[tuple[ToolCall, ...], Promise]] = MappingProxyType(
    {
        "same-id": ((ILL, runs(ILL.id, "make")), ENDED),
        "unsupported-behind": ((ILL, ToolCall("call-2", "web_search", "{}")), ENDED),
        "unsupported-before": ((ToolCall("call-2", "web_search", "{}"), ILL), ENDED),
        "truncated": ((replace(ILL, truncated=True),), ENDED),
        "incomplete": ((replace(ILL, incomplete=True),), ENDED),
        "truncated-sibling": ((ILL, replace(runs("call-2", "make"), truncated=True)), ENDED),
        "wide": ((ill("command", f"{WIDE_TEXT}\ud800"),), UNCORRECTED),
        "wide-sibling": ((ILL, runs("call-2", WIDE_TEXT)), UNCORRECTED),
        "wide-batch": (
            (ILL, *(runs(f"call-{number}", WIDE_TEXT[:15_000]) for number in range(2, 7))),
            UNCORRECTED,
        ),
        "many": (
            (ILL, *(ToolCall(f"call-{number}", SHELL, "{}") for number in range(2, 500))),
            UNCORRECTED,
        ),
    }
)
"""What stays a plain error although a call of the batch is ill-formed: the guards stand before the refusal."""


def limits() -> Iterator[Entry]:
    """000 §6 Limits and identity."""
    for cell, name in product(CELLS, GUARDED):
        batch, promise = GUARDED[name]
        yield Entry(
            row(
                f"u10-{cell.name}-{name}",
                f"{name.replace('-', ' ')}: the guard ends the turn plainly, ahead of the refusal",
                cell.alone(calls(*batch), DONE),
                promise,
                cites="000 §6 Limits and identity; behaviour §2.5",
            )
        )


def uncorrected() -> Iterator[Entry]:
    """A model that never corrects itself, alone and under the owner of an earlier batch."""
    for cell, field in product(CELLS, FIELDS):
        yield Entry(
            row(
                f"u10-{cell.name}-never-corrects-{field}",
                "a model that never corrects itself ends at the sixteenth request, uncorrected",
                cell.alone(*(calls(ill(field, SHAPES["lone-high"])) for _ in range(20))),
                Promise(("uncorrected",), 0, 0, 16, 0),
                cites="000 §7",
            )
        )
        yield Entry(
            row(
                f"u10-{cell.name}-never-corrects-{field}-held",
                "the same behind a valid batch: its owner is released when the turn ends, uncorrected",
                cell.alone(MAKE, *(calls(ill(field, SHAPES["lone-high"])) for _ in range(20))),
                Promise(("uncorrected",), 1, 1, 16, 1),
                cites="000 §7; behaviour §4.6",
            )
        )


def bounds() -> Iterator[Entry]:
    """A record that just holds the answers of a batch, and one that lacks a byte; a tool of the other profile."""
    ten = (ILL, *(ToolCall(f"call-{number}", SHELL, "{}") for number in range(2, 11)))
    for name, limit, promise in (("fit", 2_703, REFUSED), ("over", 2_702, UNCORRECTED)):
        yield Entry(
            row(
                f"u10-{CELLS[0].name}-answers-{name}",
                f"ten answers, and a record of {limit:,} bytes: they are {name} its limit",
                CELLS[0].alone(calls(*ten), DONE),
                promise,
                cites="000 §7; behaviour §7 guard 43",
                design=replace(
                    SCALED, name="seed-narrow", limits=replace(SCALED.limits, history_record=limit)
                ),
            )
        )
    yield Entry(
        row(
            f"u10-{CELLS[0].name}-no-glob",
            "glob is no tool of the first profile: an ill-formed call beside it changes nothing of that",
            CELLS[0].alone(calls(ILL, glob("call-2", "*")), DONE),
            ENDED,
            cites="000 §6 Limits and identity",
        )
    )


# --- what must not change

HALF_IN_FILE = ToolCall("call-1", WRITE, '{"file_path": "notes.txt", "content": "half \\ud800"}')
MISSHAPEN: Mapping[str, ToolCall] = MappingProxyType(
    {
        "no-object": ToolCall("call-1", SHELL, '["make"]'),
        "no-command": ToolCall("call-1", SHELL, "{}"),
        "blank": runs("call-1", "  "),
        "number": ToolCall("call-1", SHELL, '{"command": 7}'),
        "unknown-key": runs("call-1", "make", directory="/srv"),
        "background": runs("call-1", "make", is_background=True),
        "description": runs("call-1", "make", description=[1]),
        "timeout": ToolCall("call-1", SHELL, '{"command": "make", "timeout": 0}'),
        "half-in-key": ToolCall("call-1", SHELL, '{"command": "make", "\\ud800": 1}'),
        "half-in-other-field": ToolCall("call-1", SHELL, '{"command": "make", "directory": "\\ud800"}'),
    }
)
"""Ordinary shape errors keep their refusal (behaviour §6.5)."""

BESIDE: Mapping[str, dict[str, object]] = MappingProxyType(
    {
        "unknown-key": {"directory": "/srv"},
        "background": {"is_background": True},
        "description": {"description": [1]},
        "timeout": {"timeout": 0},
    }
)
"""Shape errors beside half a character in the command: the text's message stands in their place."""

H3_SELECTED = DESIGNS["h3-selected"].of(SCALED)
"""The branch for background commands, selected though it is disabled."""


def regression() -> Iterator[Entry]:
    """Ordinary refusals, other tools, and the disabled branch (000 §2, §6 Regression and mutation)."""
    for cell, name in product(CELLS, MISSHAPEN):
        yield Entry(
            row(
                f"u11-{cell.name}-shape-{name}",
                f"{name.replace('-', ' ')} keeps its refusal, and the corrected call runs once",
                cell.alone(calls(MISSHAPEN[name]), MAKE, DONE),
                CORRECTED,
                cites="000 §3; behaviour §6.5",
            ),
            f"corrected {cell.path}",
        )
    for cell, name in product(CELLS, BESIDE):
        arguments = {"command": "make \ud800 now", **BESIDE[name]}
        yield Entry(
            row(
                f"u11-{cell.name}-text-beats-{name}",
                f"half a character beside a wrong {name.replace('-', ' ')}: the text's message stands",
                cell.alone(calls(ToolCall("call-1", SHELL, json.dumps(arguments))), MAKE, DONE),
                CORRECTED,
                cites="behaviour §2.5, §6.5",
            ),
            f"corrected {cell.path}",
        )
    for cell in CELLS:
        yield Entry(
            row(
                f"u11-{cell.name}-file-text",
                "half a character in a file tool's text is no matter of this check: today's behaviour stays",
                cell.alone(calls(HALF_IN_FILE), DONE),
                Promise(("recovery-blocked",), 0, 0, 1, 0, "held", "error"),
                cites="000 §2; field cases §0.3.7",
            )
        )
        yield from background(cell.name)


def background(name: str) -> Iterator[Entry]:
    """The H3 branch, selected: its calls have the same check, and nothing of it is enabled (000 §2)."""
    cell = next(cell for cell in CELLS if cell.name == name)
    ill_formed = runs("call-1", "make \ud800 now", is_background=True)
    valid = runs("call-1", "make", is_background=True)
    yield Entry(
        row(
            f"u11-{name}-h3-text",
            "on the H3 branch the same field check stands: refused whole, and the corrected call runs once",
            cell.alone(calls(valid, replace(ill_formed, id="call-2")), MAKE, DONE),
            CORRECTED,
            cites="000 §2; behaviour §7 guard 39",
            design=H3_SELECTED,
        )
    )
    yield Entry(
        row(
            f"u11-{name}-h3-valid",
            "a valid call that the H3 branch takes ends the turn plainly: the branch is not enabled",
            cell.alone(calls(valid), DONE),
            ENDED,
            cites="000 §2",
            design=H3_SELECTED,
        )
    )


def every() -> Iterator[Entry]:
    """All of them."""
    for part in (transport, strict, limits, uncorrected, bounds, regression):
        yield from part()
