"""What the runs of a campaign say of the sentences of a seed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from reports.bench import FINDING, PASSED
from reports.campaign import TROUBLE, Record
from reports.outline import Outline
from scenarios.trace.sentence import Carrier, Matrix, Sentence

NO_VERDICT, NOT_RUN, NOT_SELECTED = "no verdict", "not run", "not selected"

RESULTS = (FINDING, NO_VERDICT, NOT_RUN, PASSED, NOT_SELECTED)
"""What a carrier's row can have come to, the gravest first: a sentence shows the gravest of its carriers."""


class Traced:
    """The results of the rows that carry sentences, so far.

    A row has come to a finding for a sentence when, in any of its runs, the check that holds the sentence had one;
    other findings of that row are no word on the sentence.
    """

    def __init__(self, campaign: Outline) -> None:
        self.matrices = campaign.traced
        self._places = campaign.places
        self._struck = {
            (carrier.row, *_cell(carrier.fault)): False
            for matrix in self.matrices
            for sentence in matrix.sentences()
            for carrier in sentence.carriers
            if carrier.fault
        }
        self._carrying = {
            carrier.row
            for matrix in self.matrices
            for sentence in matrix.sentences()
            for carrier in sentence.carriers
        }
        self._ran: set[str] = set()
        self._troubled: set[str] = set()
        self._spoke: set[tuple[str, str]] = set()

    def add(self, record: Record) -> None:
        """Note one run."""
        if record.row not in self._carrying:
            return
        self._ran.add(record.row)
        cell = (record.row, record.step, record.fate)
        if cell in self._struck:
            self._struck[cell] = True
        if record.mark == TROUBLE:
            self._troubled.add(record.row)
        if record.status == FINDING:
            found = json.loads(record.line)["findings"]
            self._spoke |= {(record.row, finding["check"]) for finding in found}

    def of_carrier(self, carrier: Carrier) -> str:
        """What one row has come to for a sentence: one of :data:`RESULTS`."""
        if carrier.row not in self._places:
            return NOT_SELECTED
        if (carrier.row, carrier.check) in self._spoke:
            return FINDING
        if carrier.row in self._troubled:
            return NO_VERDICT
        struck = not carrier.fault or self._struck[carrier.row, *_cell(carrier.fault)]
        return PASSED if carrier.row in self._ran and struck else NOT_RUN

    def of_sentence(self, sentence: Sentence) -> str:
        """The gravest result of its carriers; without any, the reason why in a word or two."""
        results = {self.of_carrier(carrier) for carrier in sentence.carriers}
        return next((result for result in RESULTS if result in results), sentence.state)

    def in_lines(self) -> Iterator[str]:
        """For each seed of which this campaign has rows: how many sentences they carry, and how these fared."""
        for matrix in self.matrices:
            results = {sentence.number: self.of_sentence(sentence) for sentence in matrix.sentences()}
            counts = Counter(result for result in results.values() if result in RESULTS)
            carried = counts.total() - counts[NOT_SELECTED]
            if carried:
                yield f"{_carried(matrix, carried)}: {'; '.join(_fared(results, counts))}."


def _carried(matrix: Matrix, carried: int) -> str:
    return (
        f"Sentences of {matrix.seed} that rows of this campaign carry: {carried:,} of {len(matrix.numbers):,}"
    )


SOME = 8
"""So many sentences are named."""


def _fared(results: dict[str, str], counts: Counter[str]) -> Iterator[str]:
    yield f"{counts[PASSED]:,} passed"
    for result in (FINDING, NO_VERDICT, NOT_RUN):
        numbers = [number for number, known in results.items() if known == result]
        if numbers:
            more = f" and {len(numbers) - SOME:,} more" if numbers[SOME:] else ""
            yield f"{len(numbers):,} {result}: {', '.join(numbers[:SOME])}{more}"


def _cell(fault: str) -> tuple[str, str]:
    """The step and the fate of a fault, as they stand in a record."""
    place, _, fate = fault.partition("=")
    actor, door, label = place.partition("#")[0].rsplit(":", 2)
    return f"{actor.partition(':')[0]} {door} {label}", fate
