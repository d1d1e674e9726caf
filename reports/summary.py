"""What a sweep came to, as tables: for the terminal, and as Markdown that can be pasted into a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from faults.fates import ACT, CALL, COMMIT, UNSTRUCK, VOCABULARY
from reports.campaign import AS_BEFORE, MEANING, OTHERWISE, TROUBLE, WRONG, Record
from reports.sometimes import NOWHERE
from reports.tally import Tally
from sim.design.order import ORDER
from sim.text import show

SHOWN = 50
"""Runs without a pass that are shown on the terminal."""

MARKS = (AS_BEFORE, OTHERWISE, WRONG, TROUBLE)
"""From the lightest to the gravest, but for the last: a cell of the matrix shows the gravest of its runs."""

_GRAVEST = (WRONG, TROUBLE, OTHERWISE, AS_BEFORE)

BLIND = (
    "Several faults in one run: a sweep strikes one at a time.",
    "Other orders of what happens at the same time: no fault, no other order.",
    "What the simulated world leaves out: SQL dialects, real model providers, operating systems, performance.",
)
"""What no sweep can see."""


def terminal(tally: Tally, limit: int | None = SHOWN) -> Iterator[str]:
    """The lines of a sweep's end: what is wrong, a row of numbers for each row, the verdict."""
    kept = tally.kept if limit is None else tally.kept[:limit]
    for record in kept:
        yield from _wrong(record)
    if tally.wrong > len(kept):
        yield f"{tally.wrong - len(kept):,} more did not pass; runs.jsonl holds a replay line for each."
        yield ""
    width = max([len(show(row)) for row in tally.rows] + [len("row")])
    yield f"{'row':<{width}}  {'runs':>7}" + "".join(f"  {mark:>7}" for mark in MARKS)
    for row, marks in tally.rows.items():
        numbers = "".join(f"  {marks[mark] or '.':>7}" for mark in MARKS)
        yield f"{show(row):<{width}}  {marks.total():>7}{numbers}"
    yield ""
    yield from (f"{mark} {MEANING[mark]}" for mark in MARKS)
    yield ""
    yield tally.sometimes.in_a_line
    yield f"{tally.verdict}: {tally.made}: {tally.came_to}"


def _wrong(record: Record) -> Iterator[str]:
    yield f"{record.mark} {record.status}  {show(record.row)}  {show(record.where)}"
    yield from (f"   {sentence}" for sentence in record.says)
    yield f"   {record.replay}"
    yield ""


def markdown(tally: Tally) -> str:
    """The summary of a sweep; the same bytes for the same sweep."""
    lines = [*_head(tally), *_rows(tally), *_endings(tally), *_findings(tally)]
    for door in (CALL, COMMIT, ACT):
        lines += _matrix(tally, door)
    lines += [*_last_steps(tally), "", "## Not exercised", ""]
    lines += [f"- {sentence}" for sentence in tally.sometimes.never()] or ["Nothing."]
    lines += ["", "## Not covered", "", *(f"- {sentence}" for sentence in _not_covered(tally))]
    return "\n".join(lines) + "\n"


def _head(tally: Tally) -> Iterator[str]:
    designs = sorted({tally.campaign.bench.design(row) for row in tally.campaign.selection.rows})
    yield f"**{tally.verdict}** · {tally.made}: {tally.came_to} · design {', '.join(designs)}"
    yield ""
    yield " · ".join(f"`{mark}` {MEANING[mark]}" for mark in MARKS)


def _rows(tally: Tally) -> Iterator[str]:
    yield from ("", "## Rows", "")
    yield f"| row | runs | {' | '.join(f'`{mark}`' for mark in MARKS)} |"
    yield "| --- | ---: |" + " ---: |" * len(MARKS)
    for row, marks in tally.rows.items():
        numbers = " | ".join(f"{marks[mark]:,}" for mark in MARKS)
        yield f"| {_cell(row)} | {marks.total():,} | {numbers} |"


def _endings(tally: Tally) -> Iterator[str]:
    yield from ("", "## Endings of the runs that passed", "", "| ending | runs |", "| --- | ---: |")
    for ending, runs in sorted(tally.endings.items(), key=lambda item: (-item[1], item[0])):
        yield f"| {_cell(ending)} | {runs:,} |"


def _findings(tally: Tally) -> Iterator[str]:
    yield from ("", "## Findings", "")
    if not tally.wrong:
        yield "None."
    for record in tally.kept:
        yield f"- `{record.mark}` **{record.status}** {_cell(record.row)}: {_cell(record.where)}"
        yield from (f"  - {_cell(sentence)}" for sentence in record.says)
        yield f"  - `{record.replay}`"
    if tally.wrong > len(tally.kept):
        yield f"- and {tally.wrong - len(tally.kept):,} more, each with its replay line, in `runs.jsonl`"


def _matrix(tally: Tally, door: str) -> Iterator[str]:
    """Step by fate: the mark of the transient fate and, behind a stroke, of its sticky form."""
    steps = list(dict.fromkeys(step for step, _ in tally.cells if f" {door} " in step))
    struck = {fate.removesuffix("!") for step, fate in tally.cells if f" {door} " in step}
    fates = [fate for fate in VOCABULARY if fate in struck]
    if not steps:
        return
    yield from (
        "",
        f"## Fault matrix: {door}",
        "",
        "The gravest run of each cell: `once` / `and every attempt after`.",
        "",
    )
    yield f"| step | {' | '.join(fates)} |"
    yield "| --- |" + " --- |" * len(fates)
    for step in steps:
        yield f"| {_cell(step)} | {' | '.join(_marks(tally, step, fate) for fate in fates)} |"


def _marks(tally: Tally, step: str, fate: str) -> str:
    forms = [tally.cells[form] for form in ((step, fate), (step, f"{fate}!")) if form in tally.cells]
    return " / ".join(f"`{next(mark for mark in _GRAVEST if marks[mark])}`" for marks in forms)


def _last_steps(tally: Tally) -> Iterator[str]:
    yield from ("", "## Last steps", "", "How far the runs had come when the world was healed.")
    yield from ("", "| last step | runs |", "| --- | ---: |")
    yield from (f"| {step} | {tally.sometimes.last[step]:,} |" for step in (*ORDER, NOWHERE))


def _not_covered(tally: Tally) -> Iterator[str]:
    campaign, size = tally.campaign, tally.campaign.size
    if not tally.complete:
        yield f"The sweep was cut short: {size.runs - tally.done:,} of {size.runs:,} runs were not made."
    others = [row for row in campaign.bench.rows() if row not in campaign.selection.rows]
    if others:
        yield f"Rows that were not selected: {', '.join(map(_cell, others))}."
    if size.polls:
        yield (
            f"{size.polls:,} looks between others with nothing else in between: the first, the second and the last "
            "of each kind were struck."
        )
    yield from (f"{label} by the client is not struck: {reason}." for label, reason in UNSTRUCK.items())
    yield from BLIND


def _cell(text: str) -> str:
    """Text that stays in its cell of a Markdown table."""
    return show(text).replace("|", "\\|")
