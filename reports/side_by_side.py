"""What differs between two designs, as it is shown: on the terminal, and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reports.bench import BROKEN, MISSED
from reports.differences import CHANGED, COLUMNS, SAME, Changed, Differences, Pair
from reports.markdown import code, table, text, within
from sim.text import show

EQUAL, UNEQUAL, UNKNOWN = "==", "<>", "!!"
"""The marks of a pair of runs, and of a column of it."""

MARKS = {SAME: EQUAL, CHANGED: UNEQUAL, MISSED: UNKNOWN}
MEANING = {
    EQUAL: "the same under both",
    UNEQUAL: "changed",
    UNKNOWN: "no comparison: the plan does not land under both, or the bench failed",
}
NUMBERS = ("runs", SAME, CHANGED, MISSED, *COLUMNS, "findings")
"""The columns of the table: runs, what they came to, in what they differ, and how many of them have findings."""

ROOM = 20_000
"""The most characters of the table, and of all that is told of single rows."""
MORE = "{} more are left out here; `diff.jsonl` holds every run."


def terminal(found: Differences) -> Iterator[str]:
    """Each row that differs with its smallest changed plan, then the numbers of these rows, then the verdict."""
    for name, row in found.differing.items():
        yield from _block(name, row, found.names)
        yield ""
    yield from (f"the bench failed: {sentence}" for sentence in found.broken)
    if found.differing:
        yield from _numbers(found)
        yield ""
    yield from (f"{mark} {means}" for mark, means in MEANING.items())
    yield ""
    yield verdict(found)


def _block(name: str, row: Changed, names: Sequence[str]) -> Iterator[str]:
    pair = row.smallest
    if pair is None:
        yield f"{UNKNOWN} {show(name)}  the bench failed"
        return
    yield f"{MARKS[pair.status]} {show(name)}  {show(pair.where)}"
    lines = [("", names[0], "  ", names[1]), *_compared(pair)]
    wide, wider = (max(len(line[at]) for line in lines) for at in (0, 1))
    yield from (f"   {what:<{wide}}  {one:<{wider}}  {mark}  {other}" for what, one, mark, other in lines)
    yield from (f"   {side.replay}" for side in (pair.one, pair.other))


def _compared(pair: Pair) -> Iterator[tuple[str, str, str, str]]:
    """Each column of a pair with the mark between its two sides, and the findings beside."""
    landed = pair.one.landed and pair.other.landed
    for column in COLUMNS:
        mark = (UNEQUAL if column in pair.changes else EQUAL) if landed else UNKNOWN
        yield column, getattr(pair.one.left, column), mark, getattr(pair.other.left, column)
    one, other = (", ".join(side.findings) or "none" for side in (pair.one, pair.other))
    yield "findings", one, EQUAL if one == other else UNEQUAL, other
    if not landed:
        lands = ["lands" if side.landed else "never lands" for side in (pair.one, pair.other)]
        yield "plan", lands[0], UNKNOWN, lands[1]


def _numbers(found: Differences) -> Iterator[str]:
    """A line of numbers for each row that differs."""
    lines = [("row", *NUMBERS), *((show(name), *_cells(row)) for name, row in found.differing.items())]
    wide = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for name, *cells in lines:
        numbers = "".join(f"  {cell:>{width}}" for cell, width in zip(cells, wide[1:], strict=True))
        yield f"{name:<{wide[0]}}{numbers}"


def _cells(row: Changed) -> list[str]:
    counts = [row.statuses.total(), *(row.statuses[status] for status in (SAME, CHANGED, MISSED))]
    counts += [row.columns[column] for column in COLUMNS]
    one, other = row.findings
    return [
        *(f"{count:,}" if count else "." for count in counts),
        f"{one:,} / {other:,}" if one or other else ".",
    ]


def verdict(found: Differences) -> str:
    """What the comparison came to, in a line."""
    counts = found.statuses
    came_to = [f"{counts[CHANGED]:,} changed", f"{counts[SAME]:,} the same"]
    came_to += [f"{counts[status]:,} {status}" for status in (MISSED, BROKEN) if counts[status]]
    word = "changed" if found.differing else "the same"
    if counts.total() < found.due:
        word, came_to = "incomplete", [*came_to, f"{found.due - counts.total():,} not made"]
    verb = "differs" if len(found.differing) == 1 else "differ"
    rows = f"{len(found.differing):,} of {_of(len(found.rows), 'row')} {verb}"
    return f"{word}: {' -> '.join(found.names)}: {rows}; {_of(counts.total(), 'run')}: {', '.join(came_to)}"


def _of(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def markdown(found: Differences) -> str:
    """The same as Markdown, short enough for a comment."""
    lines = [
        f"**{text(verdict(found))}**",
        "",
        " · ".join(f"`{mark}` {means}" for mark, means in MEANING.items()),
    ]
    if found.differing:
        head = ["row", *(f"#{name}" for name in NUMBERS)]
        rows = ([text(name), *_cells(row)] for name, row in found.differing.items())
        lines += ["", "## Rows that differ", "", *table(head, rows, ROOM, MORE)]
        blocks = [
            list(_told(name, row.smallest, found.names))
            for name, row in found.differing.items()
            if row.smallest
        ]
        shown = list(within(ROOM, blocks))
        lines += [line for block in shown for line in block]
        lines += ["", MORE.format(f"{len(blocks) - len(shown):,}")] if len(shown) < len(blocks) else []
    return "\n".join(lines) + "\n"


def _told(name: str, pair: Pair, names: Sequence[str]) -> Iterator[str]:
    yield from ("", f"### {text(name)}: {text(pair.where)}", "")
    rows = ([what, text(one), f"`{mark}`", text(other)] for what, one, mark, other in _compared(pair))
    yield from table(["", text(names[0]), "", text(names[1])], rows, ROOM, MORE)
    yield from ("", *(f"- {code(side.replay)}" for side in (pair.one, pair.other)))
