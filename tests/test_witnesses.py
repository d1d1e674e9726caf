"""Breaking any rule of the design by hand turns the bench red: every breakage has a witness, or a reason why not."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from find_witnesses import Place, breakages, evidence, kept, played, voices
from test_checks import BAD

from faults.plans import read
from scenarios.judge import FINDING, PASSED
from scenarios.rows import ROWS
from sim.checks import CHECKS, Finding, judge
from sim.design.design import catalogue

CLASSES = {"masked", "equivalent", "two faults", "no row", "no check", "bench crash"}
"""Why a breakage is noticed by no single fault."""

UNNOTICED = {
    "writer.inline_conflicts",
}
"""The rules of which every breakage survives. This list only gets shorter.

``writer.inline_conflicts`` guards names that nothing uses twice: a resource of a record is named after activation,
prompt, round and place of its call, and no fault alters a name. The Store would come to ask it only over a record that
it wrote already; that takes a Store that neither knows a replay nor compares heads, as its entry proves.
"""

REDUNDANT = {
    "abandoned-stays-out": "A result comes after its receipt, and no request follows a blocked one: `order` misses "
    "both. This one looks at the bytes that the model is shown, whatever records stand behind them.",
    "ack-of-the-open-turn": "A turn is settled after its release, where the order of its steps begins anew: `order` "
    "then misses them all before a late ACK. This one says what is wrong with it, and needs no lease.",
}
"""The checks without which the others still notice all that is known to be wrong, each with the reason to keep it."""

FOUND = kept()
THEMES = sorted({name.partition(".")[0] for name in catalogue()})


@pytest.mark.parametrize("theme", THEMES)
def test_each_witness_turns_red_by_its_check_and_stays_green_without(theme):
    failures: list[str] = []
    whole: dict[Place, str] = {}
    for entry in (each for each in FOUND if each.check and each.theme == theme):
        place = (entry.row, entry.plan)
        row, plan = ROWS[entry.row], read(entry.plan)
        ran = played(evidence(entry), row, plan)
        if place not in whole:
            whole[place] = played((), row, plan).verdict.status
        if whole[place] != PASSED:
            failures.append(f"{entry.title}: {place} is {whole[place]} under the design as it is")
        if not ran.infected:
            failures.append(f"{entry.title}: never answers otherwise in {place}")
        if ran.verdict.status != FINDING or entry.check not in voices(ran.verdict):
            failures.append(f"{entry.title}: {entry.check} says nothing; {voices(ran.verdict)} speak")

    assert not failures, "\n".join(failures)


def test_what_masks_a_rule_is_silent_without_it_and_it_without_that():
    for entry in (each for each in FOUND if each.masked_by):
        rule, *masks = evidence(entry)
        for broken in ((rule,), tuple(masks)):
            alone = played(broken, ROWS[entry.row], read(entry.plan)).verdict
            assert entry.check not in voices(alone), (
                f"{entry.title}: {entry.check} speaks without the other, too"
            )


def test_every_breakage_is_noticed_or_explained_once():
    assert sorted(entry.title for entry in FOUND) == sorted(breakage.title for breakage in breakages())


def test_every_rule_but_those_named_has_a_breakage_that_is_noticed():
    assert set(catalogue()) - {entry.rule for entry in FOUND if entry.noticed} == UNNOTICED


def strangers(found: Iterable[Finding]) -> set[str]:
    """The checks that spoke; the row's promise and the loss table are none."""
    return {finding.check for finding in found} & {check.name for check in CHECKS}


def only_voice(name: str) -> bool:
    """Whether a witness or a bad history is noticed by this check and by no other."""
    for entry in (each for each in FOUND if each.check == name):
        ran = played(evidence(entry), ROWS[entry.row], read(entry.plan))
        if strangers(ran.verdict.findings) == {name}:
            return True
    return any(strangers(judge(story().events)) == {name} for check, story, _ in BAD if check == name)


@pytest.mark.parametrize("name", [check.name for check in CHECKS])
def test_without_a_check_something_known_to_be_wrong_goes_unnoticed(name):
    assert only_voice(name) != (name in REDUNDANT)


def test_what_survives_says_why():
    for entry in (each for each in FOUND if not each.noticed):
        assert entry.survives in CLASSES, f"{entry.title} survives for no reason"
        assert bool(entry.masked_by) == (entry.survives == "masked"), entry.title
        assert entry.why.endswith("."), f"{entry.title}: {entry.why!r}"
