"""``turnproof diff``: what it compares, what it shows and writes, and how it ends."""

from __future__ import annotations

import json
import os
import shlex
import signal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from test_cli import FakeBench

from faults.plans import write
from reports.bench import Bench, House, Judged
from reports.cli import cli
from reports.differences import COLUMNS, Left, changes
from sim.checks import Finding
from sim.history import History
from sim.outcome import Outcome, TurnOutcome
from sim.points import Plan, Watcher


def turn(session: str, ending: str) -> TurnOutcome:
    return TurnOutcome(session, f"{session}.p1", ending, "", 1)


class Told(FakeBench):
    """Two rows, told and not simulated. Under ``other`` a crash after leaves the lease free, and looks never land."""

    def __init__(self, named: str = "one") -> None:
        self.named = named
        self.design_digest = {"one": "1" * 12}.get(named, "2" * 12)

    def under(self, design: str) -> Told:
        return type(self)(design)

    def play(self, row: str, plan: Plan, watcher: Watcher | None = None) -> History:
        history = super().play(row, plan, watcher)
        if self.named == "other" and "Status#7" in write(plan):
            return History(history.events, tuple(map(str, plan.strikes)))
        return history

    def judge(self, row: str, plan: Plan, history: History) -> Judged:
        told = super().judge(row, plan, history)
        freed = self.named == "other" and "crash-after" in write(plan) and row == "base"
        found = Outcome(
            (turn("s", "recovery-blocked" if "crash" in write(plan) else "completed"),),
            (),
            (("w", "" if freed else "s"),),
            (),
            (),
            (turn("probe-w", "completed" if freed else "error"),),
            (),
            "",
        )
        findings = (Finding("lease-has-one-holder", 9, "freed"),) if freed else ()
        return Judged("finding" if freed else told.status, told.ending, findings, told.history, found)


class Breaking(Told):
    """The same, but some runs break it."""

    def judge(self, row: str, plan: Plan, history: History) -> Judged:
        if self.named == "other" and "delayed" in write(plan):
            raise KeyError("nobody foresaw \ud800 this")
        return super().judge(row, plan, history)


class Stopped(Told):
    """The same, but its user stops it in a run."""

    def judge(self, row: str, plan: Plan, history: History) -> Judged:
        if (self.named, row) == ("one", "base") and "delayed" in write(plan):
            os.kill(os.getpid(), signal.SIGINT)
        return super().judge(row, plan, history)


def diff(*words: str, bench: Bench | None = None) -> Result:
    result = CliRunner().invoke(cli, ["diff", *words], obj=bench or Told())
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def lines(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "diff.jsonl").read_text("utf-8").splitlines()]


# --- what is compared ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("column", COLUMNS)
def test_each_column_is_compared_and_no_other(column: str) -> None:
    one = Left("completed", "w free", "w completed", "none")
    other = Left(**{name: "otherwise" if name == column else getattr(one, name) for name in COLUMNS})

    assert changes(one, one) == ()
    assert changes(one, other) == (column,)


def test_what_does_not_differ_ends_with_0() -> None:
    result = diff("one", "one", "base")
    assert result.exit_code == 0
    assert "<> base" not in result.stdout
    assert "the same: one -> one: 0 of 1 row differ; " in result.stdout


def test_a_row_that_changed_ends_with_1_and_shows_its_smallest_plan_from_both_sides() -> None:
    result = diff("one", "other", "base", "Acquire")
    assert result.exit_code == 1
    block = result.stdout.partition("\n\n")[0].splitlines()
    assert block[0] == "<> base  crash-after at harness call Acquire"
    assert [line.split() for line in block[1:7]] == [
        ["one", "other"],
        ["ending", "recovery-blocked", "==", "recovery-blocked"],
        ["lease", "w", "held", "<>", "w", "free"],
        ["second", "w", "error", "<>", "w", "completed"],
        ["blocked", "s.p1", "after", "0", "ms", "==", "s.p1", "after", "0", "ms"],
        ["findings", "none", "<>", "lease-has-one-holder"],
    ]
    assert [line.split(":")[1] for line in block[7:]] == ["1" * 12, "2" * 12]


def test_numbers_stand_for_rows_that_differ_alone() -> None:
    result = diff("one", "other", "Acquire")
    table = [
        line.split() for line in result.stdout.splitlines() if line.startswith(("row ", "base ", "leaky "))
    ]
    names, numbers = table
    cells = dict(zip(names, [*numbers[:-3], " ".join(numbers[-3:])], strict=True))
    runs = int(cells["runs"])
    assert cells | {"runs": "", "same": ""} == {
        "row": "base",
        "runs": "",
        "same": "",
        "changed": "1",
        "missed": ".",
        "ending": ".",
        "lease": "1",
        "second": "1",
        "blocked": ".",
        "findings": "0 / 1",
    }
    assert int(cells["same"]) == runs - 1


def test_a_plan_that_does_not_land_under_the_second_is_missed_and_never_the_same(tmp_path: Path) -> None:
    result = diff("one", "other", "leaky", "Status", "request-lost", "--out", str(tmp_path))
    assert result.exit_code == 1
    assert "!! leaky  request-lost at harness call Status" in result.stdout
    assert ["plan", "lands", "!!", "never", "lands"] in [line.split() for line in result.stdout.splitlines()]
    missed = [run for run in lines(tmp_path) if run["status"] == "missed"]
    assert [(run["changes"], run["one"]["landed"], run["other"]["landed"]) for run in missed] == [
        ([], True, False)
    ] * len(missed)
    assert f"{len(missed)} missed" in result.stdout


# --- what is written ----------------------------------------------------------------------------------------------


def test_terminal_and_files_are_the_same_bytes_whatever_the_number_of_processes(tmp_path: Path) -> None:
    outs: list[tuple[bytes, ...]] = []
    for jobs in ("1", "2", "3"):
        out = tmp_path / jobs
        result = diff("one", "other", "--out", str(out), "-j", jobs)
        files = [(out / name).read_bytes() for name in ("diff.md", "diff.jsonl")]
        outs.append((*files, result.stdout.replace(str(out), "OUT").encode()))
    assert outs[0] == outs[1] == outs[2]


def test_every_run_is_a_line_and_the_summary_shows_what_differs(tmp_path: Path) -> None:
    result = diff("one", "other", "--out", str(tmp_path))
    runs = lines(tmp_path)
    changed = [run for run in runs if run["status"] == "changed"]
    assert f"{len(runs)} runs: {len(changed)} changed" in result.stdout
    assert {(run["row"], *run["changes"]) for run in changed} == {("base", "lease", "second")}
    assert changed[0]["one"]["design"] == "one"
    assert changed[0]["other"]["left"] == {
        "ending": "recovery-blocked",
        "lease": "w free",
        "second": "w completed",
        "blocked": "s.p1 after 0 ms",
    }
    summary = (tmp_path / "diff.md").read_text("utf-8")
    assert summary.startswith("**changed: one -")
    assert "| lease | w held | `<>` | w free |" in summary
    assert changed[0]["other"]["replay"] in summary


def test_without_out_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    diff("one", "other")
    assert list(tmp_path.iterdir()) == []


# --- how it ends otherwise ----------------------------------------------------------------------------------------


def test_a_bench_that_fails_ends_with_3_and_says_where() -> None:
    result = diff("one", "other", "base", bench=Breaking())
    assert result.exit_code == 3
    assert "the bench failed: base, run " in result.stdout
    assert r"KeyError: 'nobody foresaw \ud800 this'" in result.stdout
    assert " broken" in result.stdout.splitlines()[-1]


def test_an_interrupted_comparison_is_incomplete_and_ends_with_130() -> None:
    result = diff("one", "other", "-j", "1", bench=Stopped())
    assert result.exit_code == 130
    assert result.stdout.splitlines()[-1].startswith("incomplete: one -> other: ")
    assert " not made" in result.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["seed", "hand-back-on-blocks"],
            "Unknown design 'hand-back-on-blocks'. Nearest: hand-back-on-block.",
        ),
        (["sead", "seed"], "Unknown design 'sead'. Nearest: seed"),
        (
            ["seed", "seed", "one-cal"],
            "'one-cal' selects no row, field case, fate or point. Nearest: one-call",
        ),
        (["seed", "seed", "Acquire", "-k", "0"], "With -k 0 only rows, themes and field cases can be named"),
        (["seed"], "Missing argument 'DESIGN'"),
    ],
)
def test_wrong_usage_ends_with_2_and_names_the_nearest(words: list[str], said: str) -> None:
    result = diff(*words, bench=House())
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())


# --- on the real bench --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "rows"),
    [
        (
            "queue-when-busy",
            {
                "busy-workspace": ["ending"],
                "busy-then-cancelled": ["ending"],
                "busy-behind-a-block": ["ending", "second"],
                "busy-after-a-block": ["ending", "second"],
                "busy-beside-a-process": ["ending", "second"],
                "ack-lost-twice": ["second"],
                "ack-refused": ["second"],
            },
        ),
        (
            "hand-back-on-block",
            {
                "busy-behind-a-block": ["lease", "second"],
                "busy-after-a-block": ["ending", "lease", "second"],
                "busy-beside-a-process": ["ending", "lease", "second"],
                "ack-lost-twice": ["lease", "second"],
                "ack-refused": ["lease", "second"],
            },
        ),
        (
            "ack-failure-logged",
            {
                "ack-lost-twice": ["ending", "lease", "second", "blocked"],
                "ack-refused": ["ending", "lease", "second", "blocked"],
            },
        ),
    ],
)
def test_a_policy_changes_the_rows_that_show_it(
    policy: str, rows: dict[str, list[str]], tmp_path: Path
) -> None:
    words = ("policies", "busy-workspace", "text-only", "--faults", "none", "--out", str(tmp_path))
    result = diff("seed", policy, *words, bench=House())
    assert result.exit_code == 1
    assert {run["row"]: run["changes"] for run in lines(tmp_path) if run["status"] != "same"} == rows


def test_with_single_faults_the_smallest_changed_plan_replays_on_both_sides() -> None:
    result = diff("seed", "ack-failure-logged", "one-call", "harness:*:Acknowledge", bench=House())
    assert result.exit_code == 1
    replays = [line.strip() for line in result.stdout.splitlines() if line.startswith("   turnproof replay")]
    again = [CliRunner().invoke(cli, shlex.split(line)[1:], obj=House()) for line in replays]
    assert [found.exit_code for found in again] == [0, 1]
    assert ["recovery-blocked; w held" in found.stdout for found in again] == [True, False]
