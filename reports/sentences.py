"""The sentences of the seeds on the terminal: a whole seed, one sentence, and what a row, check or rule carries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from textwrap import wrap

from faults.plans import Capsule, replay_line
from reports.bench import Bench
from scenarios.trace.sentence import Carrier, Matrix, Section, Sentence, Witness
from sim.text import show

INDENT = 9
"""Where a sentence begins, behind its number."""


def names(bench: Bench) -> list[str]:
    """Every seed that is traced, and every sentence of it."""
    return [name for matrix in bench.traced() for name in (matrix.seed, *matrix.numbers)]


def explained(bench: Bench, name: str, width: int) -> list[str]:
    """A seed or a sentence of this name, if there is one, laid out in ``width`` columns."""
    for matrix in bench.traced():
        if name == matrix.seed:
            return list(_seed(matrix, width))
        for section in matrix.sections:
            for sentence in section.sentences:
                if name == sentence.number:
                    return list(_sentence(bench, section, sentence, width))
    return []


def carried_by(bench: Bench, name: str) -> list[str]:
    """A line with the sentences that a row, check or rule carries; none, when it carries none."""
    numbers = [
        sentence.number
        for matrix in bench.traced()
        for sentence in matrix.sentences()
        if any(name in _named(carrier) for carrier in sentence.carriers)
    ]
    return [f"Carries {', '.join(numbers)}."] if numbers else []


def _named(carrier: Carrier) -> tuple[str, ...]:
    return (carrier.row, carrier.check, *((carrier.rule,) if isinstance(carrier, Witness) else ()))


def _seed(matrix: Matrix, width: int) -> Iterator[str]:
    states = Counter(sentence.state for sentence in matrix.sentences())
    yield f"{matrix.seed} {matrix.title}"
    told = ", ".join(f"{number:,} {state}" for state, number in states.most_common())
    yield from _wrapped(f"{states.total():,} sentences: {told}", width, 2)
    for section in matrix.sections:
        yield from ("", section.title, "")
        for sentence in section.sentences:
            yield from _wrapped(f"{sentence.number:<{INDENT}}{sentence.text}", width, INDENT)
            yield from (
                line
                for told in (_carriers(sentence) if sentence.carriers else [str(sentence.aside)])
                for line in _wrapped(" " * INDENT + told, width, INDENT + 2)
            )


def _carriers(sentence: Sentence) -> Iterator[str]:
    """Each carrier on one line: row, check, and what is planted."""
    for carrier in sentence.carriers:
        under = f", under {carrier.fault}" if carrier.fault else ""
        yield f"{carrier.row} by {carrier.check}: {carrier.planted}{under}"


def _sentence(bench: Bench, section: Section, sentence: Sentence, width: int) -> Iterator[str]:
    yield from _wrapped(f"sentence {sentence.number} ({section.title})", width, 2)
    yield from _wrapped(sentence.text, width, 2)
    if sentence.aside:
        yield from _wrapped(f"Carried by nothing, {sentence.aside}", width, 2)
    for carrier in sentence.carriers:
        yield ""
        yield from _wrapped(f"row {carrier.row} turns red by {carrier.check}: {carrier.planted}", width, 2)
        yield f"  as the design has it: {_plays(bench, carrier)}"


def _plays(bench: Bench, carrier: Carrier) -> str:
    """The line that plays a carrier's row with nothing broken."""
    from scenarios.rows import ROWS
    from scenarios.trace.planting import plan_of

    plan = plan_of(carrier, ROWS[carrier.row])
    if not plan.strikes:
        return f"turnproof run {carrier.row}"
    return replay_line(Capsule(bench.design(carrier.row), carrier.row, plan))


def _wrapped(line: str, width: int, indent: int) -> list[str]:
    return wrap(show(line), width, subsequent_indent=" " * indent, break_on_hyphens=False)
