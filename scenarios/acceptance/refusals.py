"""Negatives, batches and corrections: every malformed shape, in every field, place, profile, and company."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from types import MappingProxyType

from scenarios.acceptance.cell import (
    CELLS,
    CORRECTED,
    DONE,
    FIELDS,
    MAKE,
    REFUSED,
    TEST,
    Cell,
    Entry,
    ill,
    row,
    runs,
    write,
)
from scenarios.acceptance.texts import PLACES, SHAPES
from scenarios.row import Promise
from sim.protocol import ToolCall
from sim.scenario import DETACH, MOVE, RESTART, Scenario, Turn, calls

SHELL, WRITE = runs("call-2", "make"), write("call-3")
OTHER = runs("call-4", "ls", description="another lonely half \udfff in here")
BACKGROUND = runs("call-5", "make", is_background=True)

ALONE = "alone"
COMPANIES: Mapping[str, tuple[tuple[ToolCall, ...], tuple[ToolCall, ...]]] = MappingProxyType(
    {
        ALONE: ((), ()),
        "before-shell": ((), (SHELL,)),
        "behind-shell": ((SHELL,), ()),
        "before-write": ((), (WRITE,)),
        "behind-write": ((WRITE,), ()),
        "before-both": ((), (SHELL, WRITE)),
        "between-both": ((SHELL,), (WRITE,)),
        "behind-both": ((SHELL, WRITE), ()),
        "before-ill": ((), (OTHER,)),
        "behind-ill": ((OTHER,), ()),
        "before-misshapen": ((), (BACKGROUND,)),
        "behind-misshapen": ((BACKGROUND,), ()),
    }
)
"""What stands before and behind the invalid call."""


CLOSEST = (ALONE, "before-shell", "behind-shell", "before-write", "behind-write", "between-both")
"""First, last and in the middle, beside Shell, Write and both: in these a shape stands in every place of its text."""


def combinations() -> Iterator[tuple[Cell, str, str, str, str]]:
    """Every cell, field, shape, place and company; the wider company with the shape in the middle of its text."""
    for cell, field, shape, place, company in product(CELLS, FIELDS, SHAPES, PLACES, COMPANIES):
        if company in CLOSEST or place == "middle":
            yield cell, field, shape, place, company


def negatives() -> Iterator[Entry]:
    """000 §6 Unicode negatives, and its Batch refusal."""
    for cell, field, shape, place, company in combinations():
        before, behind = COMPANIES[company]
        batch = (*before, ill(field, SHAPES[shape], place), *behind)
        key = "u1" if company == ALONE else "u3"
        yield Entry(
            row(
                f"{key}-{cell.name}-{field}-{shape}-{place}" + ("" if company == ALONE else f"-{company}"),
                f"{shape} ({place}) in {field}, {company}: the whole batch is refused, and nothing is touched",
                cell.alone(calls(*batch), DONE),
                REFUSED,
                cites="000 §4.1, §6",
                cases=("RC-01",) if company == ALONE else ("RC-05",),
            ),
            f"refused {cell.path} {len(batch)}",
        )


def both_fields() -> Iterator[Entry]:
    """What else a call can be with half a character in it (field case RC-63)."""
    for cell in CELLS:
        yield Entry(
            row(
                f"u1-{cell.name}-both-fields",
                "both fields are ill-formed: the command is named, which comes first",
                cell.alone(calls(runs("call-1", "make \ud800", description="half \udc00")), DONE),
                REFUSED,
                cites="000 §3; behaviour §6.1",
            ),
            f"refused {cell.path} 1",
        )
        literal = runs("call-1", "echo \\ud800 as six characters", description="half \ud83d of one")
        yield Entry(
            row(
                f"u1-{cell.name}-beside-literal",
                "half a character beside a printable escape: the parsed text is checked, and the right field named",
                cell.alone(calls(literal), DONE),
                REFUSED,
                cites="000 §3",
                cases=("RC-63",),
            ),
            f"refused {cell.path} 1",
        )


MANY = 26
"""The siblings of the field case RC-71."""


def crowd() -> Iterator[Entry]:
    """One invalid call among very many: each sibling is told, and not one runs."""
    for cell, place in product(CELLS, (0, MANY // 2, MANY)):
        siblings = [runs(f"sibling-{number}", "make") for number in range(MANY)]
        siblings.insert(place, ill("command", SHAPES["lone-high"]))
        yield Entry(
            row(
                f"u3-{cell.name}-crowd-{place}",
                "one invalid call and 26 siblings: each of these is told that it was not executed",
                cell.alone(calls(*siblings), DONE),
                REFUSED,
                cites="000 §4.1",
                cases=("RC-71",),
            )
        )


# --- correction


def right(company: str) -> tuple[ToolCall, ...]:
    """The corrected batch: the same company, with its calls under fresh ids."""
    before, behind = COMPANIES[company]
    kept = [call for call in (*before, *behind) if call in (SHELL, WRITE)]
    fresh = {SHELL: runs("call-12", "make"), WRITE: write("call-13")}
    fixed = runs("call-11", "make test")
    cut = len([call for call in before if call in kept])
    return (*(fresh[call] for call in kept[:cut]), fixed, *(fresh[call] for call in kept[cut:]))


def corrections() -> Iterator[Entry]:
    """The model reads what is wrong and corrects it in the same turn (000 §6 Correction)."""
    for cell, field, shape in product(CELLS, FIELDS, SHAPES):
        yield Entry(
            row(
                f"u4-{cell.name}-{field}-{shape}",
                f"{shape} in {field} is refused, and the corrected call runs exactly once",
                cell.alone(calls(ill(field, SHAPES[shape])), MAKE, DONE),
                CORRECTED,
                cites="000 §2.2, §6",
                cases=("RC-37",) if (field, shape) == ("command", "lone-high") else (),
            ),
            f"corrected {cell.path}",
        )
    for cell, field, company in product(CELLS, FIELDS, ("before-both", "between-both", "behind-both")):
        before, behind = COMPANIES[company]
        batch = (*before, ill(field, SHAPES["lone-low"]), *behind)
        yield Entry(
            row(
                f"u4-{cell.name}-{field}-{company}",
                "a refused batch of three is corrected: each of its calls then runs exactly once",
                cell.alone(calls(*batch), calls(*right(company)), DONE),
                Promise(("completed after refusal",), 2, 3, 3, 2),
                cites="000 §6 Correction",
            )
        )


EIGHT = tuple(
    calls(ill(field, SHAPES[shape], call=f"call-1{number}"))
    for number, (field, shape) in enumerate(
        product(FIELDS, ("lone-high", "reversed", "low-low", "pair-unpaired"))
    )
)
"""Eight invalid batches, as the seed's own validation had them (000 §9)."""


def patience() -> Iterator[Entry]:
    """Many refusals before the correction; the same id again; the refused batch once more."""
    for cell in CELLS:
        yield Entry(
            row(
                f"u4-{cell.name}-after-eight",
                "eight batches are refused, and the ninth, corrected, runs exactly once",
                cell.alone(*EIGHT, MAKE, DONE),
                Promise(("completed after refusal",), 1, 1, 10, 1),
                cites="000 §9",
            )
        )
        same = ill("command", SHAPES["lone-high"])
        yield Entry(
            row(
                f"u4-{cell.name}-same-id",
                "the corrected call has the id of the refused one, and is another call",
                cell.alone(calls(same), calls(runs(same.id, "make")), DONE),
                CORRECTED,
                cites="000 §5; behaviour §2.6",
            ),
            f"corrected {cell.path}",
        )


def afterwards() -> Iterator[Entry]:
    """Behind a refusal: the next turn, in the same process, or in one that opened the Session anew."""
    for cell, field, then in product(CELLS, FIELDS, ("", DETACH, MOVE, RESTART)):
        refused = calls(ill(field, SHAPES["lone-high"]))
        for how, answers, runs_ in (("refused", (refused, DONE), 0), ("corrected", (refused, MAKE, DONE), 1)):
            turns = (Turn(answers, then=then), Turn((TEST, DONE)))
            asked = len(answers) + 2
            yield Entry(
                row(
                    f"u4-{cell.name}-{field}-{how}-{then or 'next'}",
                    f"a turn that was {how} is followed by another one ({then or 'as it is'}), which works",
                    Scenario("", (cell.session(*turns),)),
                    Promise(("completed after refusal", "completed"), runs_ + 1, runs_ + 1, asked, runs_ + 1),
                    cites="000 §6 Correction: reload and later turns work",
                )
            )


def every() -> Iterator[Entry]:
    """All of them."""
    for part in (negatives, both_fields, crowd, corrections, patience, afterwards):
        yield from part()
