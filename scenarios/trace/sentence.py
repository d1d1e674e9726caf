"""A normative sentence of a seed, and what carries it: rows that turn red when the sentence does not hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

import msgspec

NOT_SIMULABLE, LATER, MISSING = "not simulable", "later", "open"
"""Why a sentence is carried by nothing: it cannot be; another part of the bench will; a row or breakage is missing."""


class Witness(msgspec.Struct, frozen=True, tag="witness"):
    """A rule that is broken in one way, and the row that then turns red, by the check that holds the sentence.

    ``fault`` is struck on top of the row, written as in :class:`scenarios.row.Row`. ``beside`` are the titles of
    other breakages, of guards that stand in the way: the check is silent while only they are broken, or only the rule.
    """

    rule: str
    breakage: str
    row: str
    check: str
    fault: str = ""
    beside: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The rule, and what is wrong with it."""
        return f"{self.rule}: {self.breakage}"

    @property
    def planted(self) -> str:
        """What is broken, in words."""
        return f"{self.rule} broken: {' and '.join((self.breakage, *self.beside))}"


class Omission(msgspec.Struct, frozen=True, tag="omission"):
    """A step that is cut out of what happened, and the row whose history then turns red by the check.

    It is for what no single rule decides, such as the order of the steps. ``label`` is that of the step's call, commit
    or deed in a point.
    """

    label: str
    row: str
    check: str

    @property
    def fault(self) -> str:
        """Nothing strikes."""
        return ""

    @property
    def planted(self) -> str:
        """What is broken, in words."""
        return f"as if {self.label} had not happened"


Carrier = Witness | Omission


class Aside(msgspec.Struct, frozen=True):
    """Why nothing carries a sentence: ``kind`` is one of the three above, ``what`` qualifies it, ``reason`` argues."""

    kind: str
    reason: str
    what: str = ""

    def __str__(self) -> str:
        return f"{self.kind}{f' {self.what}' if self.what else ''}: {self.reason}"


class Sentence(msgspec.Struct, frozen=True):
    """One thing that a seed demands, in our own words, with its carriers; or with the reason why it has none."""

    number: str
    text: str
    carriers: tuple[Carrier, ...] = ()
    aside: Aside | None = None

    @property
    def state(self) -> str:
        """Carried, or why not, in a word or two."""
        return "carried" if self.aside is None else self.aside.kind


class Section(msgspec.Struct, frozen=True):
    """A part of a seed under its own heading."""

    title: str
    sentences: tuple[Sentence, ...]


class Matrix(msgspec.Struct, frozen=True, dict=True):
    """Every sentence of one seed, in its order: ``seed`` is the number by which it is cited."""

    seed: str
    title: str
    sections: tuple[Section, ...]

    def sentences(self) -> Iterator[Sentence]:
        """All of them, in order."""
        return (sentence for section in self.sections for sentence in section.sentences)

    @cached_property
    def numbers(self) -> Mapping[str, Sentence]:
        """Every sentence by its number."""
        return {sentence.number: sentence for sentence in self.sentences()}


def carried(number: str, text: str, *carriers: Carrier) -> Sentence:
    """A sentence that rows carry."""
    return Sentence(number, text, carriers)


def not_simulable(number: str, text: str, reason: str) -> Sentence:
    """A sentence of which a simulation can show nothing."""
    return Sentence(number, text, aside=Aside(NOT_SIMULABLE, reason))


def later(number: str, text: str, what: str, reason: str) -> Sentence:
    """A sentence about a part that the bench does not have yet."""
    return Sentence(number, text, aside=Aside(LATER, reason, what))


def missing(number: str, text: str, what: str) -> Sentence:
    """A sentence that a row could carry: ``what`` is missing for it."""
    return Sentence(number, text, aside=Aside(MISSING, what))
