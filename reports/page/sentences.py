"""The sentences of a seed as the page lists them: each with its rows, and what these came to in the campaign."""

from __future__ import annotations

from collections import Counter

import msgspec

from reports.tally import Tally
from reports.traced import RESULTS
from scenarios.trace.sentence import Carrier, Matrix, Sentence


class Link(msgspec.Struct, frozen=True):
    """A carrier: ``place`` is the number of its row in the page, or None when the campaign has no run of it."""

    row: str
    place: int | None
    result: str
    check: str
    planted: str
    fault: str


class Line(msgspec.Struct, frozen=True):
    """A sentence: ``result`` is what it came to, or why nothing carries it, ``reason`` argues that."""

    number: str
    text: str
    result: str
    reason: str
    links: tuple[Link, ...]


class Part(msgspec.Struct, frozen=True):
    """A section of the seed."""

    title: str
    lines: tuple[Line, ...]


class Seed:
    """A seed in the page.

    Args:
        matrix: its sentences, as the campaign's own bench had them.
        tally: what the campaign came to.
    """

    def __init__(self, matrix: Matrix, tally: Tally) -> None:
        self._tally = tally
        self._places = {row: place for place, row in enumerate(tally.rows)}
        self.name = matrix.seed
        self.title = matrix.title
        self.parts = [
            Part(section.title, tuple(map(self._line, section.sentences))) for section in matrix.sections
        ]
        counts = Counter(line.result for part in self.parts for line in part.lines)
        self.results = [(result, counts.pop(result)) for result in RESULTS if result in counts]
        self.others = counts.most_common()

    @property
    def size(self) -> int:
        """How many sentences there are."""
        return sum(len(part.lines) for part in self.parts)

    def _line(self, sentence: Sentence) -> Line:
        aside = sentence.aside
        reason = "" if aside is None else f"{aside.what}: {aside.reason}" if aside.what else aside.reason
        result = self._tally.traced.of_sentence(sentence)
        return Line(sentence.number, sentence.text, result, reason, tuple(map(self._link, sentence.carriers)))

    def _link(self, carrier: Carrier) -> Link:
        return Link(
            carrier.row,
            self._places.get(carrier.row),
            self._tally.traced.of_carrier(carrier),
            carrier.check,
            carrier.planted,
            carrier.fault,
        )
