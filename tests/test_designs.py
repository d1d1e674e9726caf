"""Designs by name: what each changes of a row's own, how they are chosen, and how a line finds its design again."""

from __future__ import annotations

import pickle
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from reports.bench import OWN, House
from reports.cli import cli
from scenarios.policies import ROWS
from scenarios.rows import ROWS as ALL
from sim.design import SCALED, SEED, SMALL, Limits
from sim.design.design import catalogue
from sim.design.designs import DESIGNS
from sim.history import Decided
from sim.outcome import outcome
from sim.run import run

POLICIES = ("queue-when-busy", "hand-back-on-block", "ack-failure-logged")


def turnproof(*words: str) -> Result:
    result = CliRunner().invoke(cli, list(words), obj=House())
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


# --- what a design changes ----------------------------------------------------------------------------------------


def test_the_seeds_design_leaves_every_row_its_own():
    assert House().rows() is ALL
    assert DESIGNS[OWN].of(SMALL) == SMALL


@pytest.mark.parametrize(
    ("name", "limits"), [("seed-real", SEED), ("seed-scaled", SCALED), ("seed-small", SMALL)]
)
def test_a_design_with_limits_brings_them_and_no_other_rule(name, limits):
    assert DESIGNS[name].of(SMALL).digest() == limits.digest()


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_replaces_rules_and_keeps_the_limits_of_the_row(name):
    odd = replace(SCALED, limits=Limits(rounds=3))
    made = DESIGNS[name].of(odd)

    assert made.limits == odd.limits
    assert made.name == name
    assert made.digest() != odd.digest()
    assert {rule for rule, _ in made.replaced} == {rule.name for rule, _ in DESIGNS[name].replaces}


def test_a_policy_keeps_what_a_row_has_replaced_already():
    planted = SEED.replacing(catalogue()["lease.is_held"], lambda current, now: False)

    assert {name for name, _ in DESIGNS["queue-when-busy"].of(planted).replaced} == {
        "lease.is_held",
        "lease.waits_when_busy",
    }


def test_every_policy_is_cited_and_its_answers_say_what_they_do():
    for name, named in DESIGNS.items():
        assert name == named.name
        assert re.match(r"(000|003|behaviour|field cases) ?", named.cites)
        assert named.says.endswith(".")
        assert all((answer.__doc__ or "").endswith(".") for _, answer in named.replaces)


# --- what a policy does -------------------------------------------------------------------------------------------


def played(name: str, policy: str):
    row = ALL[name]
    return run(row.scenario, row.plan, DESIGNS[policy].of(row.design))


SHOWN = [
    ("busy-workspace", "queue-when-busy", ("completed", "completed"), "", "completed"),
    ("busy-then-cancelled", "queue-when-busy", ("completed", "cancelled"), "", "completed"),
    ("busy-behind-a-block", "queue-when-busy", ("recovery-blocked", "cancelled"), "a", "cancelled"),
    (
        "busy-after-a-block",
        "queue-when-busy",
        ("recovery-blocked", "cancelled", "completed"),
        "a",
        "cancelled",
    ),
    (
        "busy-after-a-block",
        "hand-back-on-block",
        ("recovery-blocked", "completed", "completed"),
        "",
        "completed",
    ),
    (
        "busy-beside-a-process",
        "hand-back-on-block",
        ("recovery-blocked", "completed", "completed"),
        "",
        "completed",
    ),
    ("rc-13-release", "hand-back-on-block", ("recovery-blocked",), "", "completed"),
    ("rc-13-acquire", "hand-back-on-block", ("recovery-blocked",), "a", "error"),
    ("ack-lost-twice", "ack-failure-logged", ("completed",), "", "completed"),
    ("ack-refused", "ack-failure-logged", ("completed",), "", "completed"),
]


@pytest.mark.parametrize(("name", "policy", "endings", "holder", "second"), SHOWN)
def test_a_policy_ends_a_row_otherwise(name, policy, endings, holder, second):
    found = outcome(played(name, policy).events)

    assert tuple(turn.ending for turn in found.turns) == endings
    assert found.lease("w") == holder
    assert found.probes[0].ending == second


@pytest.mark.parametrize(
    ("name", "policy", "check"),
    [
        ("busy-then-cancelled", "queue-when-busy", "bounded-identical-retries"),
        ("busy-after-a-block", "hand-back-on-block", "lease-has-one-holder"),
        ("busy-beside-a-process", "hand-back-on-block", "no-release-while-live"),
        ("ack-lost-twice", "ack-failure-logged", "no-inference-on-doubt"),
    ],
)
def test_the_seeds_checks_object_to_a_policy(name, policy, check):
    bench = House(policy)
    judged = bench.judge(name, ALL[name].plan, bench.play(name, ALL[name].plan))

    assert check in {finding.check for finding in judged.findings}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_faults_of_a_row_land_under_every_design(row):
    for policy in DESIGNS:
        assert played(row.name, policy).missed == ()


def test_a_turn_in_which_nothing_fails_asks_no_policy_anything():
    asked = {event.rule for event in played("two-turns", OWN).events if isinstance(event, Decided)}

    assert not asked & {rule.name for policy in POLICIES for rule, _ in DESIGNS[policy].replaces}


# --- how it is chosen ---------------------------------------------------------------------------------------------


def test_a_wrong_design_names_the_nearest_and_ends_with_2(tmp_path: Path):
    for words in (
        ["run", "one-call"],
        ["sweep", "one-call", "--out", str(tmp_path)],
        ["list", "points", "one-call"],
    ):
        result = turnproof(*words, "--design", "queue-if-busy")
        assert result.exit_code == 2
        assert "Unknown design 'queue-if-busy'. Nearest: queue-when-busy." in result.stderr


def test_designs_are_listed_and_explained():
    listed = turnproof("list", "designs").stdout
    assert [line.split()[0] for line in listed.splitlines()] == list(DESIGNS)
    told = turnproof("explain", "hand-back-on-block").stdout
    assert "design hand-back-on-block (field cases §0.3.1)" in told
    assert "settlement.hands_back answers: A turn that blocks keeps its Runtime Session" in told


def test_points_are_those_of_the_design():
    usual = turnproof("list", "points", "busy-workspace").stdout
    queued = turnproof("list", "points", "busy-workspace", "--design", "queue-when-busy").stdout

    assert "harness:b:call:Acquire#2@" not in usual
    assert "harness:b:call:Acquire#2@" in queued


def test_a_replay_line_finds_the_design_that_it_was_written_under():
    first = turnproof("run", "ack-refused", "--design", "ack-failure-logged")
    line = first.stdout.splitlines()[-1].strip()
    again = turnproof(*shlex.split(line)[1:])
    other = turnproof(*shlex.split(line)[1:], "--design", "seed")

    assert (first.exit_code, again.exit_code, other.exit_code) == (1, 1, 0)
    assert again.stdout == first.stdout
    assert again.stderr == "turnproof: this line was written under the design ack-failure-logged.\n"
    assert "recovery-blocked; w held" in other.stdout


def test_a_line_of_a_design_that_is_no_more_says_so():
    result = turnproof("replay", "tp1:0123456789ab:text-only:none")
    assert "the design has changed since this line was written (it was 0123456789ab" in result.stderr


def test_a_campaign_under_a_policy_is_not_resumed_under_another(tmp_path: Path):
    words = ["sweep", "text-only", "-k", "0", "--out", str(tmp_path), "-j", "1"]
    assert turnproof(*words, "--design", "queue-when-busy").exit_code == 0
    assert "· design queue-when-busy " in (tmp_path / "summary.md").read_text("utf-8")
    result = turnproof(*words, "--resume")
    assert result.exit_code == 2
    assert "design" in result.stderr


def test_a_bench_that_travels_takes_its_design_along():
    bench = House("queue-when-busy")
    there = pickle.loads(pickle.dumps(bench))

    assert there.named == "queue-when-busy"
    assert there.design("one-call") == bench.design("one-call") != House().design("one-call")


def test_a_file_is_played_under_a_policy_and_its_lines_find_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    turnproof("new")
    first = turnproof("run", "my.turn.toml", "--design", "ack-failure-logged")
    line = first.stdout.splitlines()[-1].strip()
    again = turnproof(*shlex.split(line)[1:])

    assert again.stdout == first.stdout
    assert "written under the design ack-failure-logged" in again.stderr
