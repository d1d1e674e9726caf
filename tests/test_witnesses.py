"""Breaking any rule of the design by hand turns the bench red: every breakage has a witness, or a reason why not."""

from __future__ import annotations

import pytest
from find_witnesses import Place, breakages, evidence, kept, played, voices

from faults.plans import read
from scenarios.judge import FINDING, PASSED
from scenarios.rows import ROWS
from sim.design.design import catalogue

CLASSES = {"masked", "equivalent", "two faults", "no row", "no check", "bench crash"}
"""Why a breakage is noticed by no single fault."""

UNNOTICED = {
    "cancel.is_best_effort",
    "capture.admits_anew",
    "capture.receipt_asserts_activation",
    "capture.rechecks_owner",
    "capture.stream_queue",
    "execution.runtime_is_gone",
    "execution.shows_as",
    "execution.start_refusal_is_definite",
    "lease.failed_claim_status",
    "writer.command_conflicts",
    "writer.inline_conflicts",
    "writer.output_conflicts",
    "writer.refused_renewal_stops_writes",
    "writer.same_records",
}
"""The rules of which every breakage survives a single fault. This list only gets shorter."""

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


def test_what_survives_says_why():
    for entry in (each for each in FOUND if not each.noticed):
        assert entry.survives in CLASSES, f"{entry.title} survives for no reason"
        assert bool(entry.masked_by) == (entry.survives == "masked"), entry.title
        assert entry.why.endswith("."), f"{entry.title}: {entry.why!r}"
