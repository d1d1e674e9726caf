"""What a sweep came to, as tables: for the terminal, and as Markdown that can be pasted into a pull request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from faults.fates import ACT, CALL, COMMIT, UNSTRUCK, VOCABULARY
from reports.accepted import Line
from reports.bench import OWN, UNACCEPTED
from reports.campaign import AS_BEFORE, MEANING, OTHERWISE, TROUBLE, WRONG, Record
from reports.databases import MEMORY
from reports.evidence import Ledger
from reports.markdown import code, fenced, folded, table, text, within
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
    "What the simulated world leaves out: SQL dialects, real model providers, real object stores, performance.",
    "Operating-system pipes and processes, and capture across processes.",
)
"""What no sweep can see."""

SHORT = 12
"""A table of so many lines is not folded."""

SOME = 4
"""So many designs are named in the first line, and so many sentences told of one run."""

ROWS, FINDINGS, LEDGER, SCENE, DIAGRAM, ENDINGS, SENTENCE = 7_000, 7_000, 3_000, 4_500, 4_000, 2_000, 800
MATRIX = {CALL: 14_000, COMMIT: 4_000, ACT: 1_500}
"""The most characters of each part; all of them together stay below :data:`LIMIT`."""

LEDGERS = 50
"""So many runs that did not pass have their ledger told."""

MORE = "{} more are left out here; `runs.jsonl` holds every run."

LIMIT = 60_000
"""Fewer characters than a comment on GitHub may have, so that there is room for a sentence before it."""


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
    """The summary of a campaign, short enough for a comment; the same bytes for the same campaign."""
    lines = [*_head(tally), *_accepted(tally), *_rows(tally)]
    for door, room in MATRIX.items():
        lines += _matrix(tally, door, room)
    lines += [*_findings(tally), *_ledgers(tally), *_scene(tally), *_endings(tally), *_last_steps(tally)]
    lines += ["", "## Not exercised", "", *(_points(tally.sometimes.never()) or ["Nothing."])]
    lines += ["", "## Not covered", "", *_points(not_covered(tally))]
    return "\n".join(lines) + "\n"


def not_covered(tally: Tally) -> Iterator[str]:
    """What this campaign says nothing of, in sentences."""
    campaign, size = tally.campaign, tally.campaign.size
    if not tally.complete:
        yield f"The sweep was cut short: {campaign.due - tally.done:,} of {campaign.due:,} runs were not made."
    if campaign.shard.of > 1:
        yield f"The other shards: this is {campaign.shard.in_words} of {size.runs:,} runs."
    others = [row for row in campaign.bench.rows() if row not in campaign.selection.rows]
    if others:
        yield f"Rows that were not selected: {', '.join(_by_theme(others, tally))}."
    if size.polls:
        yield (
            f"{size.polls:,} looks between others with nothing else in between: the first, the second and the last "
            "of each kind were struck."
        )
    yield from (f"{label} by the client is not struck: {reason}." for label, reason in UNSTRUCK.items())
    yield from BLIND


def _by_theme(others: Sequence[str], tally: Tally) -> Iterator[str]:
    """Rows by name; of the matrix of 000, which has very many, only how many they are."""
    titles = tally.campaign.bench.rows()
    yield from (name for name in others if not titles[name].evidence)
    of_matrix = sum(bool(titles[name].evidence) for name in others)
    if of_matrix:
        yield f"{of_matrix:,} of the acceptance matrix"


def _points(sentences: Iterable[str]) -> list[str]:
    return [f"- {text(_shortened(sentence), SENTENCE + len(MORE))}" for sentence in sentences]


def _shortened(sentence: str) -> str:
    """A sentence that names many things, with as many of them as there is room for."""
    what, _, names = sentence.partition(": ")
    every = names.split(", ")
    room = SENTENCE - len(what)
    shown = list(_cut(room, every))
    if len(shown) == len(every):
        return sentence
    return f"{what}: {', '.join(shown)} and {len(every) - len(shown):,} more."


def _head(tally: Tally) -> Iterator[str]:
    digests = sorted({tally.campaign.bench.design(row) for row in tally.campaign.selection.rows})
    named = "" if tally.campaign.named == OWN else f"{text(tally.campaign.named)} "
    on = "" if tally.campaign.store == MEMORY else f" on {text(tally.campaign.store)}"
    by = f"design {named}{_listed(digests)}{on} · turnproof {text(tally.campaign.version)}"
    yield f"**{tally.verdict}** · {tally.made}: {tally.came_to} · {by}"
    yield ""
    yield " · ".join(f"`{mark}` {MEANING[mark]}" for mark in MARKS)
    for line in tally.traced.in_lines():
        yield from ("", text(line))


# --- the seed's table


def _accepted(tally: Tally) -> Iterator[str]:
    """Each test of 000 §6 with its rows and runs; a link leads to them in the page beside this file."""
    lines = list(tally.accepted.lines())
    if not lines:
        return
    yield from ("", "## Evidence", "")
    yield "The table of 000 §6, test by test; the link leads to the rows and runs of each in `index.html`."
    yield ""
    head = ["test", "asks that", "#rows", "#runs", "#passed", f"#{UNACCEPTED}", "#other", "waits for"]
    yield from table(head, map(_test, lines), ROWS, MORE)


def _test(line: Line) -> list[str]:
    counts = (len(line.rows), line.runs, line.passed, line.unaccepted, line.wrong)
    name = f"[{text(line.demand.name)}](index.html#{line.demand.key})"
    return [name, text(line.demand.asks), *(f"{number:,}" for number in counts), text(line.demand.pending)]


# --- numbers


def _rows(tally: Tally) -> Iterator[str]:
    yield from ("", "## Rows", "")
    lines = {
        row: [text(row), _status(marks), f"{marks.total():,}", *(f"{marks[mark]:,}" for mark in MARKS)]
        for row, marks in tally.rows.items()
    }
    wrong = {row for row, marks in tally.rows.items() if _is_wrong(marks)}
    head = ["row", "status", "#runs", *(f"#`{mark}`" for mark in MARKS)]
    yield from _table(head, lines, wrong, ROWS, "rows that are clean")


def _status(marks: Counter[str]) -> str:
    words = [word for mark, word in ((WRONG, "findings"), (TROUBLE, "no verdict")) if marks[mark]]
    return " and ".join(words) or "clean"


def _is_wrong(marks: Counter[str]) -> bool:
    return bool(marks[WRONG] or marks[TROUBLE])


def _matrix(tally: Tally, door: str, room: int) -> Iterator[str]:
    """Step by fate: the mark of the transient fate and, behind a stroke, that of its sticky form."""
    cells = {cell: marks for cell, marks in tally.cells.items() if f" {door} " in cell[0]}
    struck = {fate.removesuffix("!") for _, fate in cells}
    fates = [fate for fate in VOCABULARY if fate in struck]
    if not cells:
        return
    yield from ("", f"## Fault matrix: {door}", "")
    yield "The gravest run of each cell. Two marks are `once` / `at every attempt`; one stands for both."
    yield ""
    steps = dict.fromkeys(step for step, _ in cells)
    lines = {step: [text(step), *(_marks(tally, step, fate) for fate in fates)] for step in steps}
    wrong = {step for (step, _), marks in cells.items() if _is_wrong(marks)}
    yield from _table(["step", *fates], lines, wrong, room, "steps with nothing but == and ++")


def _marks(tally: Tally, step: str, fate: str) -> str:
    forms = [tally.cells[form] for form in ((step, fate), (step, f"{fate}!")) if form in tally.cells]
    gravest = (next(mark for mark in _GRAVEST if marks[mark]) for marks in forms)
    return " / ".join(f"`{mark}`" for mark in dict.fromkeys(gravest))


def _table(
    head: Sequence[str], lines: Mapping[str, Sequence[str]], wrong: Collection[str], room: int, folds: str
) -> Iterator[str]:
    """A short table whole; of a long one, what is wrong, and the rest to unfold."""
    short = len(lines) <= SHORT
    stands = table(head, (line for name, line in lines.items() if short or name in wrong), room, MORE)
    rest = [line for name, line in lines.items() if name not in wrong and not short]
    if short or wrong:
        yield from stands
    if rest:
        left = room - sum(map(len, stands))
        yield from ("",) if short or wrong else ()
        yield from folded(f"{len(rest):,} {folds}", table(head, rest, left, MORE))


def _endings(tally: Tally) -> Iterator[str]:
    ordered = sorted(tally.endings.items(), key=lambda item: (-item[1], item[0]))
    lines = {ending: [text(ending), f"{runs:,}"] for ending, runs in ordered}
    yield from ("", "## Endings of the runs that passed", "")
    yield from _table(["ending", "#runs"], lines, (), ENDINGS, "endings")


def _last_steps(tally: Tally) -> Iterator[str]:
    lines = [[step, f"{tally.sometimes.last[step]:,}"] for step in (*ORDER, NOWHERE)]
    yield from ("", "## Last steps", "", "How far the runs had come when the world was healed.", "")
    yield from folded(f"{len(lines)} steps", table(["last step", "#runs"], lines, ENDINGS, MORE))


# --- what did not pass


def _findings(tally: Tally) -> Iterator[str]:
    yield from ("", "## Findings", "")
    if not tally.wrong:
        yield "None."
    said: dict[tuple[str, ...], int] = {}
    blocks = (
        list(_finding(number, record, said.setdefault(record.says, number)))
        for number, record in enumerate(tally.kept, 1)
    )
    shown = list(within(FINDINGS, blocks))
    yield from (line for block in shown for line in block)
    if tally.wrong > len(shown):
        yield f"- and {tally.wrong - len(shown):,} more, each with its replay line, in `runs.jsonl`"


def _finding(number: int, record: Record, first: int) -> Iterator[str]:
    """A run that did not pass; ``first`` is the one that said the same before, or itself."""
    again = f"; says what F{first} says" if first != number else ""
    says = record.says if first == number else ()
    yield f"- `{record.mark}` **F{number} {record.status}** {text(record.row)}: {text(record.where)}{again}"
    yield from (f"  - {text(sentence)}" for sentence in says[:SOME])
    if says[SOME:]:
        yield f"  - and {len(says) - SOME:,} more sentences"
    yield f"  - {code(record.replay)}"


def _ledgers(tally: Tally) -> Iterator[str]:
    """What the first runs that did not pass left behind; those that left the same stand in one line."""
    told = [(f"F{number}", record.evidence) for number, record in enumerate(tally.kept, 1) if record.evidence]
    left: dict[tuple[str, ...], dict[str, None]] = {}
    for name, found in told[:LEDGERS]:
        for row in found.ledger or (None,):
            line = (*_execution(row), text(_owner(found.leases)), text(found.durable))
            left.setdefault(line, {})[name] = None
    if not left:
        return
    yield from (
        "",
        "## Ledger",
        "",
        f"As the first {min(len(told), LEDGERS)} left it when the world was healed.",
        "",
    )
    head = ["runs", "execution", "#generation", "state", "status", "receipt", "#dispatched", "#spawned"]
    rows = ([_listed(list(names)), *line] for line, names in left.items())
    yield from table([*head, "owner", "last durable commit"], rows, LEDGER, MORE)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - SOME:,} more" if names[SOME:] else ""
    return f"{', '.join(names[:SOME])}{more}"


def _execution(row: Ledger | None) -> list[str]:
    if row is None:
        return ["none", *"......"]
    numbers = [str(row.dispatches), str(row.spawns)]
    return [
        code(row.execution),
        str(row.generation),
        row.state,
        row.status or ".",
        row.receipt or ".",
        *numbers,
    ]


def _owner(leases: Sequence[tuple[str, str]]) -> str:
    words = (
        f"{workspace} held by {holder}" if holder else f"{workspace} released" for workspace, holder in leases
    )
    return ", ".join(words) or "no lease asked"


def _scene(tally: Tally) -> Iterator[str]:
    """The first finding from near, as lines and as a diagram."""
    for number, record in enumerate(tally.kept, 1):
        if record.evidence is not None and record.evidence.scene is not None:
            scene = record.evidence.scene
            yield from ("", f"## Timeline of F{number}", "", f"{text(record.row)}: {text(record.where)}", "")
            yield from fenced("text", _cut(SCENE, scene.lines))
            yield from ("", f"## Diagram of F{number}", "")
            yield from fenced("mermaid", _cut(DIAGRAM, scene.diagram))
            return


def _cut(room: int, lines: Sequence[str]) -> Iterator[str]:
    return (line for block in within(room, ([line] for line in lines)) for line in block)
