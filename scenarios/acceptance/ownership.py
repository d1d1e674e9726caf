"""Who holds the Workspace around a refusal, and what becomes of a refusal that cannot be recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from types import MappingProxyType

from scenarios.acceptance.cell import CELLS, DONE, FIELDS, MAKE, TEST, Cell, Entry, ill, row
from scenarios.acceptance.texts import SHAPES
from scenarios.row import Promise
from sim.protocol import ModelOutput
from sim.scenario import Scenario, Turn, calls

FIRST_REQUEST, NEXT, THIRD = (f"harness:a:call:Infer#{number}" for number in (1, 2, 3))
REFUSING = "harness:a:call:Append.Assistant#1"
SETTLED = "harness:a:call:Append.TurnSettled+Checkpoint.turn_settled#1"


def beside(cell: Cell, after: str, *answers: ModelOutput) -> Scenario:
    """A Session with these answers, and a second one on its Workspace that begins at a milestone of the first."""
    first = cell.session(Turn((*answers, DONE)))
    return Scenario("", (first, cell.session(Turn((TEST, DONE)), name="b", after=after)))


def fresh() -> Iterator[Entry]:
    """A fresh refusal, and a second Session at every moment of it (000 §6 Ownership)."""
    for cell, field in product(CELLS, FIELDS):
        refused = calls(ill(field, SHAPES["lone-high"]))
        name = f"u5-{cell.name}-{field}"
        for when, milestone in (
            ("before", FIRST_REQUEST),
            ("during", REFUSING),
            ("open", NEXT),
            ("after", SETTLED),
        ):
            yield Entry(
                row(
                    f"{name}-fresh-{when}",
                    f"a fresh refusal holds nothing: a second Session that begins {when} it completes at once",
                    beside(cell, milestone, refused),
                    Promise(("completed after refusal", "completed"), 1, 1, 4, 1),
                    cites="000 §6 Ownership; behaviour §4.9",
                    cases=("RC-01",),
                )
            )


def inherited() -> Iterator[Entry]:
    """A later refusal, under the owner of an earlier batch."""
    for cell, field in product(CELLS, FIELDS):
        refused = calls(ill(field, SHAPES["lone-high"]))
        name = f"u5-{cell.name}-{field}"
        yield Entry(
            row(
                f"{name}-inherited",
                "a later refusal keeps the owner of the earlier batch until normal settlement",
                cell.alone(MAKE, refused, DONE),
                Promise(("completed after refusal",), 1, 1, 3, 1),
                cites="000 §5, §6 Ownership",
                cases=("RC-05",),
            ),
            f"inherited {cell.path}",
        )
        yield Entry(
            row(
                f"{name}-inherited-open",
                "while the owner of refused batches still holds the Workspace, a second Session is told so",
                beside(cell, THIRD, MAKE, *(refused,) * 10),
                Promise(("completed after refusal", "error"), 1, 1, 13, 1),
                cites="000 §5; behaviour §4.4",
            )
        )


def succeeded() -> Iterator[Entry]:
    """What comes behind a later refusal: a second Session, or its own correction."""
    for cell, field in product(CELLS, FIELDS):
        refused = calls(ill(field, SHAPES["lone-high"]))
        name = f"u5-{cell.name}-{field}"
        yield Entry(
            row(
                f"{name}-inherited-after",
                "when the turn of a later refusal has settled, a second Session takes the Workspace",
                beside(cell, SETTLED, MAKE, refused),
                Promise(("completed after refusal", "completed"), 2, 2, 5, 2),
                cites="000 §5; behaviour §4.9",
            )
        )
        yield Entry(
            row(
                f"{name}-inherited-corrected",
                "the corrected batch of a later refusal runs under the owner that is there",
                cell.alone(MAKE, refused, TEST, DONE),
                Promise(("completed after refusal",), 2, 2, 4, 2),
                cites="000 §5",
            )
        )


# --- records that fail

LOST_FOR_GOOD = ("request-lost!", "error-before!", "refused!", "refused")
APPLIED_AND_UNANSWERED = ("reply-lost!", "reply-late!", "error-after!", "reply-truncated!")
UNWRITTEN = ("commit-failed!", "unknown-not-applied!")
WRITTEN_UNTOLD = ("unknown-applied!",)
SURVIVED = ("reply-lost", "request-lost", "error-after", "duplicated")

RECORDS: Mapping[str, str] = MappingProxyType({"assistant": "Assistant", "responses": "ToolResult"})
"""The two records of a refusal."""


def failing(cell: Cell, inherited: bool, record: str, fate: str) -> tuple[str, Scenario, str]:
    """The name, the scenario and the place of one record of a refusal that meets one fate."""
    refused = calls(ill("command", SHAPES["lone-high"]))
    answers = (MAKE, refused, DONE) if inherited else (refused, DONE)
    nth = 2 if inherited else 1
    store = fate in (*UNWRITTEN, *WRITTEN_UNTOLD)
    door = f"store:commit:{RECORDS[record]}" if store else f"journal:a:call:Transact.{RECORDS[record]}"
    owner = "inherited" if inherited else "fresh"
    name = f"u6-{cell.name}-{owner}-{record}-{fate.replace('!', '-always')}"
    return name, cell.alone(*answers), f"{door}#{nth}={fate}"


def persistence() -> Iterator[Entry]:
    """Each write failed for good, and each committed with every reply lost, apart (000 §6 Persistence failure)."""
    blocks = (*LOST_FOR_GOOD, *APPLIED_AND_UNANSWERED, *UNWRITTEN, *WRITTEN_UNTOLD)
    for cell, inherited, record, fate in product(CELLS, (False, True), RECORDS, (*blocks, *SURVIVED)):
        name, scenario, fault = failing(cell, inherited, record, fate)
        held = ("held", "error") if inherited else ("free", "completed")
        runs, asked = (1, 2) if inherited else (0, 1)
        if fate in SURVIVED:
            promise = Promise(("completed after refusal",), runs, runs, asked + 1, runs)
            why = f"the {record} of a refusal meet {fate} once: they are recorded once, and the model goes on"
        else:
            promise = Promise(("recovery-blocked",), runs, runs, asked, runs, *held)
            why = f"the {record} of a refusal meet {fate}: recovery blocked, no execution, nothing twice"
        yield Entry(row(name, why, scenario, promise, fault, cites="000 §5, §6", cases=("RC-06",)))


def every() -> Iterator[Entry]:
    """All of them."""
    yield from fresh()
    yield from inherited()
    yield from succeeded()
    yield from persistence()
