"""Every sentence of a seed is carried by something that turns red without it, or says why it is not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest
from find_witnesses import Ran, breakages, kept, played, voices

from faults.plans import NOTHING, write
from scenarios.judge import NOT_ACCEPTED_EXPECTED, PASSED
from scenarios.rows import ROWS
from scenarios.trace import MATRICES
from scenarios.trace.planting import plan_of, without
from scenarios.trace.sentence import (
    LATER,
    MISSING,
    NOT_SIMULABLE,
    Carrier,
    Matrix,
    Omission,
    Sentence,
    Witness,
)
from sim.checks import CHECKS, judge
from sim.run import run

WITHOUT = {"000": {NOT_SIMULABLE: 4, LATER: 0}, "003": {NOT_SIMULABLE: 14, LATER: 2}}
"""How many sentences of each seed nothing carries, now or ever. The numbers only get smaller."""

PENDING = {
    "000": {
        "approvals": "41 66 93",
        "hooks": "10 18 36 37 40 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 "
        "69 70 71 72 73 74 75 76 116 117 118 127",
        "o2": "4 128",
        "sql": "81",
        "text": "9 25 80 89",
    },
    "003": {"lifecycle": "102 103"},
}
"""The sentences for which a row or a breakage is missing, by what will bring it. This list only gets shorter."""

VOICES = {*(check.name for check in CHECKS), "promise", "loss-table", "second-session", "intrusion"}
"""Everything that can turn a row red."""

SENTENCES = [sentence for matrix in MATRICES.values() for sentence in matrix.sentences()]
BROKEN = {breakage.title: breakage for breakage in breakages()}

REPLAYED = {
    ((entry.title, *entry.masked_by), entry.row, entry.plan, entry.check) for entry in kept() if entry.check
}
"""What ``test_witnesses`` plays already."""


def carriers() -> Iterator[tuple[Sentence, Carrier]]:
    return ((sentence, carrier) for sentence in SENTENCES for carrier in sentence.carriers)


def is_replayed(carrier: Witness) -> bool:
    plan = write(plan_of(carrier, ROWS[carrier.row])) if carrier.fault else NOTHING
    return ((carrier.title, *carrier.beside), carrier.row, plan, carrier.check) in REPLAYED


@cache
def plays(titles: tuple[str, ...], row: str, fault: str) -> Ran:
    carrier = Witness("", "", row, "", fault)
    return played(tuple(BROKEN[title] for title in titles), ROWS[row], plan_of(carrier, ROWS[row]))


@pytest.mark.parametrize("matrix", MATRICES.values(), ids=list(MATRICES))
def test_the_sentences_are_numbered_in_order(matrix: Matrix):
    numbers = [sentence.number for sentence in matrix.sentences()]

    assert numbers == [f"{matrix.seed}.{number}" for number in range(1, len(numbers) + 1)]


def test_every_sentence_is_one_sentence_and_carried_or_argued():
    for sentence in SENTENCES:
        assert sentence.text.endswith("."), sentence
        assert ". " not in sentence.text, sentence
        assert bool(sentence.carriers) != bool(sentence.aside), sentence
        if sentence.aside:
            assert sentence.aside.reason.endswith("."), sentence


def test_no_sentence_stands_twice():
    assert max(Counter(sentence.text for sentence in SENTENCES).values()) == 1


@pytest.mark.parametrize("matrix", MATRICES.values(), ids=list(MATRICES))
def test_what_nothing_carries_is_counted(matrix: Matrix):
    states = Counter(sentence.state for sentence in matrix.sentences())

    assert {state: states[state] for state in (NOT_SIMULABLE, LATER)} == WITHOUT[matrix.seed]


@pytest.mark.parametrize("matrix", MATRICES.values(), ids=list(MATRICES))
def test_what_is_missing_is_known(matrix: Matrix):
    missing: dict[str, list[str]] = {}
    for sentence in matrix.sentences():
        if sentence.aside and sentence.aside.kind == MISSING:
            theme = sentence.aside.reason.partition(":")[0]
            missing.setdefault(theme, []).append(sentence.number.removeprefix(f"{matrix.seed}."))

    assert {theme: " ".join(numbers) for theme, numbers in missing.items()} == PENDING[matrix.seed]


def test_every_row_rule_breakage_and_check_that_is_named_exists():
    for sentence, carrier in carriers():
        assert carrier.row in ROWS, sentence
        assert carrier.check in VOICES, sentence
        if isinstance(carrier, Witness):
            assert {carrier.title, *carrier.beside} <= set(BROKEN), sentence


def test_no_carrier_of_a_sentence_stands_twice():
    for sentence in SENTENCES:
        assert len(set(sentence.carriers)) == len(sentence.carriers), sentence


def test_each_witness_turns_red_by_its_check_and_stays_green_without():
    failures: list[str] = []
    for sentence, carrier in carriers():
        if isinstance(carrier, Omission):
            continue
        if is_replayed(carrier):
            continue
        place = (carrier.row, carrier.fault)
        name = f"{sentence.number}, {carrier.planted}, {carrier.row} {carrier.fault}"
        ran, whole = plays((carrier.title, *carrier.beside), *place), plays((), *place)
        if whole.verdict.status not in (PASSED, NOT_ACCEPTED_EXPECTED):
            failures.append(f"{name}: it is {whole.verdict.status} under the design as it is")
        if not ran.infected:
            failures.append(f"{name}: it never answers otherwise")
        if carrier.check not in voices(ran.verdict):
            failures.append(f"{name}: {carrier.check} says nothing; {voices(ran.verdict)} speak")

    assert not failures, "\n".join(failures)


def test_guards_that_stand_in_the_way_are_each_enough():
    for sentence, carrier in carriers():
        if isinstance(carrier, Witness) and carrier.beside and not is_replayed(carrier):
            for alone in ((carrier.title,), carrier.beside):
                ran = plays(alone, carrier.row, carrier.fault)
                assert carrier.check not in voices(ran.verdict), f"{sentence.number}: {alone} is enough"


@pytest.mark.parametrize(
    "row", sorted({carrier.row for _, carrier in carriers() if isinstance(carrier, Omission)})
)
def test_without_a_step_its_row_turns_red_by_its_check(row: str):
    events = run(ROWS[row].scenario, ROWS[row].plan, ROWS[row].design).events

    assert not judge(events)
    for sentence, carrier in carriers():
        if isinstance(carrier, Omission) and carrier.row == row:
            spoke = {finding.check for finding in judge(without(events, carrier.label))}
            assert carrier.check in spoke, f"{sentence.number}: {carrier.planted}, {spoke} speak"
