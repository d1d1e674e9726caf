"""The command line: what it shows, what it writes, and what it says when it cannot."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from faults.fates import VOCABULARY
from faults.plans import read, write
from faults.sweeps import Selection
from reports import sentences
from reports.bench import Bench, House, Judged
from reports.campaign import Campaign
from reports.cli import cli
from reports.explain import OBSERVED, WORDS, names
from reports.files import WRITERS
from reports.store import STORE
from reports.tally import Tally
from scenarios.evidence import Demand
from scenarios.trace.sentence import Matrix
from sim.checks import Finding
from sim.design.order import ORDER
from sim.facts import WorkspaceLease
from sim.history import (
    Answered,
    Asked,
    Began,
    Committed,
    Crashed,
    Decided,
    Event,
    Failure,
    History,
    Learned,
    Struck,
    digest,
)
from sim.history import Write as Written
from sim.points import NO_FAULTS, Plan, Point, Sighting, Watcher
from sim.protocol import Acquire, Lease, Prepare, Status

TESTS = Path(__file__).parent
ROOT = TESTS.parent
FILES = sorted([STORE, *WRITERS])
"""What a sweep leaves in its folder."""


# --- a small bench ------------------------------------------------------------------------------------------------


class FakeRow(msgspec.Struct, frozen=True):
    name: str
    cases: tuple[str, ...]
    why: str
    theme: str = "told"
    cites: str = "003 Lifecycle"
    plan: Plan = NO_FAULTS
    sweepable: bool = True
    evidence: str = ""


def sighting(
    label: str, door: str = "call", nth: int = 1, actor: str = "harness:s", operation: str = ""
) -> Sighting:
    point = Point("client.boot#1/Prompt#1", actor, door, label, nth)
    remote = door == "call"
    return Sighting(point, operation, "broker" if remote else "", False, False, False, False)


POINTS = [
    sighting("Acquire"),
    sighting("ClaimWorkspace", "commit", actor="broker"),
    sighting("Prepare"),
    *(sighting("Status", nth=nth, operation="e1") for nth in range(1, 8)),
]


class FakeBench:
    """Two rows. In the row ``leaky`` a lost reply to Acquire is a finding; what happens is told, not simulated."""

    design_digest = "0123456789ab"

    def rows(self) -> Mapping[str, FakeRow]:
        return {
            "base": FakeRow("base", (), "one Shell call, start to end"),
            "leaky": FakeRow("leaky", ("RC-13",), "a lease that leaks when its reply is lost"),
        }

    def rules(self) -> Mapping[str, str]:
        return {"lease.exclusive": "bool", "lease.never_asked": "bool"}

    def traced(self) -> tuple[Matrix, ...]:
        return ()

    def demands(self) -> tuple[Demand, ...]:
        return ()

    def design(self, row: str) -> str:
        return self.design_digest

    named, store = "seed", "memory"

    def on(self, store: str) -> FakeBench:
        raise AssertionError("this bench has no other database")

    def under(self, design: str) -> FakeBench:
        return self

    def written_under(self, row: str, digest: str) -> str:
        return "seed" if digest == self.design_digest else ""

    def play(self, row: str, plan: Plan, watcher: Watcher | None = None) -> History:
        for seen in POINTS if watcher else ():
            watcher(seen)  # type: ignore[misc]
        known = {seen.point for seen in POINTS}
        missed = tuple(str(strike) for strike in plan.strikes if strike.point not in known)
        return History(list(self.events(plan)), missed)

    def events(self, plan: Plan) -> list[Event]:
        lease = Lease("s.p1", "w")
        events: list[Event] = [
            Began(0, 1, "client", 0, "client.boot", 1, 0),
            Began(1, 2, "harness:s", 1, "Prompt", 1, 1),
            Decided(1, 2, "lease.exclusive", True),
            Asked(2, 2, 1, 2, "broker", Acquire("s", "s.p1", "w")),
            Began(3, 3, "broker", 2, "Acquire", 1, 2),
            Committed(
                4, 3, 1, "ClaimWorkspace", (Written("leases", "w", WorkspaceLease("s.p1", "s")),), None
            ),
            Answered(4, 2, lease),
            Asked(6, 2, 1, 3, "broker", Prepare("s", "call", "shell", "v3", "d", "d")),
            Answered(7, 3, Failure("runtime_execution_conflict", 409)),
        ]
        for strike in plan.strikes:
            events.append(
                Struck(8, 2, strike.point.door, strike.point.label, strike.point.nth, strike.fate.name)
            )
            events.append(Learned(9, 2, 2, "", "timeout"))
            if strike.fate.name.startswith("crash"):
                events.append(Crashed(9, "owner:s"))
        return [*events, *(Asked(10 + n, 2, n, 10 + n, "broker", Status("e1")) for n in range(30))]

    def judge(self, row: str, plan: Plan, history: History) -> Judged:
        told = digest(history.events)
        if history.missed:
            return Judged("missed", "", (), told)
        fates = {strike.fate.name for strike in plan.strikes}
        if row == "leaky" and "reply-lost" in fates and "Acquire" in str(plan):
            sentence = "the lease of 'w\ud800' is held by nobody"
            return Judged("finding", "s completed", (Finding("lease-released", 9, sentence),), told)
        ending = "s blocked, lease held" if fates & {"reply-lost", "crash-after"} else "s completed"
        return Judged("passed", ending, (), told)


class BrokenBench(FakeBench):
    """A bench that fails, or dies, in some of its runs."""

    def __init__(self, how: str) -> None:
        self.how = how

    def judge(self, row: str, plan: Plan, history: History) -> Judged:
        if "=delayed" in write(plan):
            if self.how == "dies":
                os.kill(os.getpid(), signal.SIGKILL)
            raise KeyError("nobody foresaw \ud800 this")
        return super().judge(row, plan, history)


class SlowBench(FakeBench):
    """A bench whose runs take a while."""

    def judge(self, row: str, plan: Plan, history: History) -> Judged:
        time.sleep(0.05)
        return super().judge(row, plan, history)


def turnproof(*words: str, bench: Bench | None = None, **extra: Any) -> Result:
    result = CliRunner().invoke(cli, list(words), obj=bench or FakeBench(), **extra)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def start(bench: str, *words: str, **extra: Any) -> subprocess.Popen[str]:
    """The command as a process of its own, with a bench of this file in it."""
    program = f"import sys; sys.path.insert(0, {str(TESTS)!r}); import test_cli as t; t.cli(obj=t.{bench})"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"}
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **extra}
    return subprocess.Popen([sys.executable, "-c", program, *words], env=environment, text=True, **pipes)


def lines(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "runs.jsonl").read_text("ascii").splitlines()]


def flat(text: str) -> str:
    return " ".join(text.split())


# --- sweep --------------------------------------------------------------------------------------------------------


def test_a_clean_sweep_ends_with_0_and_writes_both_files(tmp_path: Path) -> None:
    result = turnproof("sweep", "base", "--out", str(tmp_path))
    assert result.exit_code == 0
    runs = lines(tmp_path)
    assert runs[0]["plan"] == "none"
    assert {run["status"] for run in runs} == {"passed"}
    assert len({run["plan"] for run in runs}) == len(runs)
    assert f"clean: {len(runs)} runs = 1 row as written + {len(runs) - 1} single faults at" in result.stdout
    assert (tmp_path / "summary.md").read_text().startswith("**clean** · ")
    assert sorted(path.name for path in tmp_path.iterdir()) == FILES


def test_findings_end_with_1_and_each_has_a_replay_line_that_finds_it_again(tmp_path: Path) -> None:
    result = turnproof("sweep", "--out", str(tmp_path))
    assert result.exit_code == 1
    wrong = [run for run in lines(tmp_path) if run["status"] == "finding"]
    assert [run["plan"].partition("=")[2] for run in wrong] == ["reply-lost", "reply-lost!"]
    shown = [
        line.strip() for line in result.stdout.splitlines() if line.strip().startswith("turnproof replay")
    ]
    assert shown == [run["replay"] for run in wrong]
    assert all(line in (tmp_path / "summary.md").read_text() for line in shown)
    again = turnproof(*shlex.split(shown[0])[1:])
    assert again.exit_code == 1
    assert shown[0] in again.stdout


def test_files_and_terminal_are_the_same_bytes_whatever_the_number_of_processes(tmp_path: Path) -> None:
    outs: list[tuple[bytes, ...]] = []
    for jobs in ("1", "2", "3"):
        out = tmp_path / jobs
        result = turnproof("sweep", "--out", str(out), "-j", jobs)
        files = [(out / name).read_bytes() for name in ("runs.jsonl", "summary.md")]
        outs.append((*files, result.stdout.replace(str(out), "OUT").encode()))
    assert outs[0] == outs[1] == outs[2]


def test_without_faults_only_the_clean_runs_are_made(tmp_path: Path) -> None:
    for words in (["--faults", "none"], ["-k", "0"]):
        result = turnproof("sweep", *words, "--out", str(tmp_path))
        assert result.exit_code == 0
        assert [(run["row"], run["plan"]) for run in lines(tmp_path)] == [("base", "none"), ("leaky", "none")]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["RC-13", "reply-lost!", "Acquire"], [("leaky", "Acquire", "reply-lost!")]),
        (
            ["base", "reply-l*t", "Prepare"],
            [("base", "Prepare", "reply-lost"), ("base", "Prepare", "reply-lost!")],
        ),
        (["base", "broker:*", "crash-after", "paused"], [("base", "ClaimWorkspace", "crash-after")]),
    ],
)
def test_words_of_a_selection_narrow_the_sweep(tmp_path: Path, words: list[str], expected: list[Any]) -> None:
    turnproof("sweep", *words, "--out", str(tmp_path))
    struck = [(run["row"], read(run["plan"]).strikes[0]) for run in lines(tmp_path) if run["plan"] != "none"]
    got = [(row, strike.point.label, str(strike.fate)) for row, strike in struck]
    assert got[: len(expected)] == expected


def test_repeated_looks_are_left_out_and_counted(tmp_path: Path) -> None:
    result = turnproof("sweep", "base", "Status", "delayed", "--out", str(tmp_path))
    assert [read(run["plan"]).strikes[0].point.nth for run in lines(tmp_path)[1:]] == [1, 2, 7]
    assert "4 repeated looks left out" in result.stdout
    assert "4 looks between others" in (tmp_path / "summary.md").read_text()


def test_the_summary_shows_the_matrix_and_what_is_not_covered(tmp_path: Path) -> None:
    turnproof("sweep", "leaky", "request-lost", "reply-lost", "crash-after", "--out", str(tmp_path))
    summary = (tmp_path / "summary.md").read_text()
    assert "| step | request-lost | reply-lost | crash-after |" in summary
    assert "| harness call Acquire | `==` | `--` | `++` |" in summary
    assert "| broker commit ClaimWorkspace | `++` |" in summary
    assert "Rows that were not selected: base." in summary
    assert "Rules of the design that no run consulted: lease.never_asked." in summary
    assert re.search(r"Fates that struck nowhere: .*duplicated", summary)
    assert "AwaitTurn by the client is not struck" in summary


@pytest.mark.parametrize(
    ("words", "near"),
    [
        (["basse"], "base"),
        (["RC-14"], "RC-13"),
        (["reply-lots"], "reply-lost"),
        (["base", "Acquyre"], "Acquire"),
    ],
)
def test_a_word_that_selects_nothing_names_the_nearest(tmp_path: Path, words: list[str], near: str) -> None:
    result = turnproof("sweep", *words, "--out", str(tmp_path / "out"))
    assert result.exit_code == 2
    assert f"'{words[-1]}' selects no row, field case, fate or point. Nearest: " in result.stderr
    assert near in result.stderr
    assert not (tmp_path / "out" / "runs.jsonl").exists()


def test_a_fate_without_a_point_to_strike_is_said(tmp_path: Path) -> None:
    result = turnproof("sweep", "base", "act-half", "--out", str(tmp_path))
    assert result.exit_code == 2
    assert "No selected fate applies" in result.stderr
    result = turnproof("sweep", "-k", "0", "act-half", "--out", str(tmp_path))
    assert result.exit_code == 2
    assert "'act-half' is a fate, and -k 0 strikes none: leave out -k 0" in result.stderr


def test_a_bench_that_raises_is_no_finding(tmp_path: Path) -> None:
    result = turnproof("sweep", "leaky", "--out", str(tmp_path), bench=BrokenBench("raises"))
    assert result.exit_code == 3
    assert "bench error:" in result.stdout
    assert "!! broken  leaky  delayed at harness call Acquire" in result.stdout
    assert "-- finding" in result.stdout
    assert "Traceback" not in result.stderr
    assert "nobody foresaw \\ud800 this" in result.stdout
    debug = turnproof("--debug", "sweep", "leaky", "--out", str(tmp_path), bench=BrokenBench("raises"))
    assert "in judge" in debug.stderr
    assert {run["status"] for run in lines(tmp_path)} == {"passed", "finding", "broken"}


def test_a_run_that_kills_its_process_is_named_and_the_others_are_judged(tmp_path: Path) -> None:
    result = turnproof("sweep", "base", "-j", "2", "--out", str(tmp_path), bench=BrokenBench("dies"))
    assert result.exit_code == 3
    broken = [run for run in lines(tmp_path) if run["status"] == "broken"]
    assert {run["plan"].partition("=")[2] for run in broken} == {"delayed"}
    assert "killed by signal 9" in broken[0]["error"]
    assert "passed" in {run["status"] for run in lines(tmp_path)}


def test_a_row_whose_clean_run_breaks_the_bench_is_reported_and_the_others_are_swept(tmp_path: Path) -> None:
    class HalfBroken(FakeBench):
        def play(self, row: str, plan: Plan, watcher: Watcher | None = None) -> History:
            if row == "base":
                raise ValueError("no such world")
            return super().play(row, plan, watcher)

    result = turnproof("sweep", "--out", str(tmp_path), bench=HalfBroken())
    assert result.exit_code == 3
    assert [run["status"] for run in lines(tmp_path) if run["row"] == "base"] == ["broken"]
    assert len(lines(tmp_path)) > 50


# --- folders, disks, signals --------------------------------------------------------------------------------------


def test_a_folder_that_cannot_be_written_is_said_before_anything_is_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    result = turnproof("sweep", "--out", str(tmp_path / "file" / "out"))
    assert result.exit_code == 3
    assert "Cannot write into the folder" in result.stderr
    assert "--out" in result.stderr


def test_a_full_disk_loses_neither_the_findings_nor_the_files_of_before(tmp_path: Path) -> None:
    turnproof("sweep", "base", "--out", str(tmp_path))
    before = (tmp_path / "runs.jsonl").read_bytes()
    full = "import signal as s, resource as r; s.signal(s.SIGXFSZ, s.SIG_IGN); r.setrlimit(r.RLIMIT_FSIZE, (9999,) * 2)"
    program = f"{full}; import sys; sys.path.insert(0, {str(TESTS)!r}); import test_cli as t; t.cli(obj=t.FakeBench())"
    done = subprocess.run(
        [sys.executable, "-B", "-c", program, "sweep", "leaky", "--out", str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert "Cannot write the files of this sweep" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout.count("turnproof replay") == 2
    assert (tmp_path / "runs.jsonl").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == FILES


def test_a_standard_output_that_is_full_is_a_bench_error() -> None:
    with open("/dev/full", "w") as full:
        process = start("FakeBench()", "list", "fates", stdout=full)
        _, stderr = process.communicate()
    assert process.returncode == 3
    assert "No space left on device" in stderr
    assert "Traceback" not in stderr


def test_a_reader_that_leaves_early_makes_no_noise() -> None:
    with start("FakeBench()", "list", "points", "base") as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == ""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 4)])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_sweep_that_is_stopped_keeps_what_it_has(tmp_path: Path, number: int, code: int, jobs: str) -> None:
    process = start("SlowBench()", "sweep", "--out", str(tmp_path), "-j", jobs, start_new_session=True)
    deadline = time.monotonic() + 20
    while not list(tmp_path.glob("campaign.db*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1.0)
    os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)
    stdout, stderr = process.communicate(timeout=20)
    assert process.returncode == code
    assert "Traceback" not in stderr
    assert "incomplete: " in stdout
    done = len(lines(tmp_path))
    assert 0 < done < 150
    assert f"incomplete: {done} of" in stdout
    assert (tmp_path / "summary.md").read_text().startswith("**incomplete**")
    assert sorted(path.name for path in tmp_path.iterdir()) == FILES


def test_a_sweep_that_has_not_made_all_its_runs_is_not_clean() -> None:
    campaign = Campaign(FakeBench(), Selection(("base", "leaky")), 1)
    assert list(campaign.count()) == ["base", "leaky"]
    tally = Tally(campaign.outline())
    assert (tally.code, tally.verdict) == (4, "incomplete")
    tally.interrupted = True
    assert tally.code == 130


def test_a_second_interrupt_ends_it_at_once(tmp_path: Path) -> None:
    process = start("StuckBench()", "sweep", "--out", str(tmp_path / "out"), "-j", "1")
    deadline = time.monotonic() + 20
    while not (tmp_path / "out").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "interrupted" in stderr
    assert "Traceback" not in stderr


class StuckBench(FakeBench):
    """A bench whose runs never end."""

    def judge(self, row: str, plan: Plan, history: History) -> Judged:
        time.sleep(60)
        raise AssertionError


# --- run, replay --------------------------------------------------------------------------------------------------

LOST = "harness:s:call:Acquire#1@client.boot#1/Prompt#1=reply-lost"


def test_run_shows_a_timeline_the_verdict_and_the_replay_line() -> None:
    result = turnproof("run", "leaky", "--plan", LOST, env={"COLUMNS": "100"})
    assert result.exit_code == 1
    expected = [
        "       ms     since    who                what",
        "        2        -6 !! harness:s            Acquire -> broker: doubt (timeout)",
        "        4        -4 ++ broker                 commit ClaimWorkspace: leases",
        "        6        -2 -- harness:s            Prepare -> broker: refused runtime_execution_conflict...",
        "        8        +0 !! harness:s            reply-lost strikes call Acquire#1",
    ]
    out = result.stdout.splitlines()
    assert out[: len(expected)] == expected
    assert "finding: s completed" in out
    assert "  lease-released at 9 ms: the lease of 'w\\ud800' is held by nobody" in out
    assert out[-1].strip().startswith("turnproof replay '")


@pytest.mark.parametrize("columns", [40, 60, 79, 80, 100, 200])
def test_a_timeline_fits_its_terminal(columns: int) -> None:
    result = turnproof("run", "base", "--plan", LOST, env={"COLUMNS": str(columns)})
    timeline = result.stdout.partition("\n\n")[0].splitlines()
    assert max(map(len, timeline)) <= min(columns, 100)
    assert all(re.match(r"^ *[\d,]+ +([+-][\d,]+ )?(\+\+|--|!!|==) ", line) for line in timeline[1:])


def test_a_clean_run_ends_with_0() -> None:
    result = turnproof("run", "base")
    assert result.exit_code == 0
    assert "passed: s completed" in result.stdout


def test_a_strike_that_never_lands_fails_with_its_own_word() -> None:
    class Elsewhere(FakeBench):
        def play(self, row: str, plan: Plan, watcher: Watcher | None = None) -> History:
            history = super().play(row, plan, watcher)
            return History(history.events, tuple(map(str, plan.strikes[1:])))

    second = "broker:commit:ClaimWorkspace#1@client.boot#1/Prompt#1=crash-after"
    result = turnproof("run", "base", "--plan", f"{LOST},{second}", bench=Elsewhere())
    assert result.exit_code == 1
    assert "missed: " in result.stdout
    assert f"never landed: {second}" in result.stdout


@pytest.mark.parametrize(
    ("plan", "says"),
    [
        ("Acquire", "is no strike. A strike is written actor:door:label#nth@causes=fate"),
        ("", "is no strike"),
        (LOST.replace("reply-lost", "reply-lots"), "Unknown fate 'reply-lots'. Nearest: reply-lost"),
        (LOST.replace("reply-lost", "delayed!"), "has no sticky form"),
        (LOST.replace("Acquire", "Acquyre"), "Nearest: harness:s:call:Acquire#1@client.boot#1/Prompt#1"),
    ],
)
def test_a_plan_that_cannot_be_read_says_what_was_expected(plan: str, says: str) -> None:
    result = turnproof("run", "base", "--plan", plan)
    assert result.exit_code == 2
    assert says in result.stderr
    assert "turnproof list points base" in result.stderr


def test_an_unknown_row_names_the_nearest() -> None:
    for words in (["run", "bass"], ["list", "points", "bass"]):
        result = turnproof(*words)
        assert result.exit_code == 2
        assert "Unknown row 'bass'. Nearest: base." in result.stderr


CAPSULE = f"tp1:{FakeBench.design_digest}:leaky:{LOST}"


def test_replay_accepts_the_capsule_and_the_whole_line() -> None:
    for line in (CAPSULE, f"turnproof replay '{CAPSULE}'", f"  {CAPSULE}\n"):
        result = turnproof("replay", line)
        assert result.exit_code == 1
        assert "finding: s completed" in result.stdout


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("hello", "Malformed replay line: 'hello' is no replay line"),
        ("tp1:xyz:leaky:none", "Malformed replay line"),
        ("tp1:0123456789ab:leaky:nonsense", "Malformed replay line: 'nonsense' is no strike"),
        (CAPSULE.replace("tp1", "tp7"), "Foreign replay line: tp7 is the format of another version"),
        (
            CAPSULE.replace("leaky", "leeky"),
            "Foreign replay line: this bench has no row 'leeky'. Nearest: leaky",
        ),
        (CAPSULE.replace("reply-lost", "reply-eaten"), "Foreign replay line: Unknown fate 'reply-eaten'"),
        (
            CAPSULE.replace("Acquire#1", "Acquire#9"),
            "Stale replay line: the address no longer exists: row 'leaky'",
        ),
    ],
)
def test_a_replay_line_that_cannot_be_played_says_why(line: str, says: str) -> None:
    result = turnproof("replay", line)
    assert result.exit_code == 2
    assert says in result.stderr


def test_a_replay_under_a_changed_design_says_so_and_plays() -> None:
    result = turnproof("replay", CAPSULE.replace("0123456789ab", "ba9876543210"))
    assert result.exit_code == 1
    assert "the design has changed since this line was written (it was ba9876543210" in result.stderr
    assert "finding:" in result.stdout


# --- list, explain, the rest --------------------------------------------------------------------------------------


def test_list_names_rows_fates_checks_rules_and_points() -> None:
    assert "leaky  RC-13  a lease that leaks when its reply is lost" in turnproof("list", "rows").stdout
    fates = turnproof("list", "fates").stdout
    assert [line.split()[0] for line in fates.splitlines()] == list(VOCABULARY)
    assert "harness:s:call:Acquire#1@client.boot#1/Prompt#1" in turnproof("list", "points", "base").stdout
    for kind in ("checks", "rules"):
        result = turnproof("list", kind)
        assert result.exit_code == 0
        assert len(result.stdout.splitlines()) > 5


def test_explain_tells_row_fate_check_rule_and_label() -> None:
    for kind in ("checks", "rules"):
        name = turnproof("list", kind).stdout.split()[0]
        assert f"{kind[:-1]} {name} (" in flat(turnproof("explain", name).stdout)
    assert "It plays RC-13." in turnproof("explain", "leaky").stdout
    fate = flat(turnproof("explain", "reply-lost!").stdout)
    assert fate.startswith("fate reply-lost ")
    assert "Story: " in fate
    assert "reply-lost!, befalls every later attempt" in fate
    assert "label Acquire of a call Take the Workspace" in flat(turnproof("explain", "Acquire").stdout)
    result = turnproof("explain", "Acquyre")
    assert result.exit_code == 2
    assert "Nearest: Acquire" in result.stderr


@pytest.mark.parametrize(
    "words", [["sweap"], ["sweep", "--seeds"], ["sweep", "-k", "2"], ["run"], ["sweep", "-j", "0"]]
)
def test_wrong_usage_ends_with_2(words: list[str]) -> None:
    result = turnproof(*words)
    assert result.exit_code == 2
    assert "Usage:" in result.stderr


def test_help_and_version_end_with_0() -> None:
    for words in (["--help"], ["sweep", "--help"], ["list", "-h"], ["--version"]):
        assert turnproof(*words).exit_code == 0


def test_help_imports_neither_the_world_nor_its_kernel() -> None:
    program = "import sys, reports.cli; print(sorted({'simpy', 'hypothesis', 'scenarios', 'sim'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_what_nobody_foresaw_is_one_paragraph_and_3() -> None:
    class Raising(FakeBench):
        def rows(self) -> Mapping[str, FakeRow]:
            raise RuntimeError("boom \ud800")

    result = turnproof("list", "rows", bench=Raising())
    assert result.exit_code == 3
    assert result.stderr.startswith("turnproof: the bench itself failed: RuntimeError: boom \\ud800.")
    assert "Traceback" not in result.stderr
    assert "Traceback" in turnproof("--debug", "list", "rows", bench=Raising()).stderr


# --- the real bench -----------------------------------------------------------------------------------------------


def test_the_real_bench_runs_and_sweeps(tmp_path: Path) -> None:
    assert turnproof("run", "one-call", bench=House()).exit_code == 0
    assert "ClaimWorkspace#1@" in turnproof("list", "points", "one-call", bench=House()).stdout
    outs: list[bytes] = []
    for jobs in ("1", "2"):
        words = [
            "sweep",
            "one-call",
            "Acquire",
            "reply-lost",
            "crash-after",
            "-j",
            jobs,
            "--out",
            str(tmp_path),
        ]
        assert turnproof(*words, bench=House()).exit_code in (0, 1)
        outs.append((tmp_path / "runs.jsonl").read_bytes() + (tmp_path / "summary.md").read_bytes())
    assert outs[0] == outs[1]
    assert [run["plan"].partition("=")[2] for run in lines(tmp_path)] == [
        "",
        "reply-lost",
        "reply-lost!",
        "crash-after",
    ]


class Base(House):
    """The bench with its base rows alone: what these do not show has no example."""

    def rows(self):
        return {name: card for name, card in super().rows().items() if card.theme == "base"}


def test_every_name_is_explained_in_whole_sentences() -> None:
    elsewhere = {OBSERVED, *WORDS, *ORDER, *sentences.names(House())}  # test_cases, test_explain, test_traced
    for name in set(names(Base())) - elsewhere:
        result = turnproof("explain", name, bench=Base())
        assert result.exit_code == 0, name
        title = r"(row|fate|check|rule|design|label) [^ ]+ (\(.+\) |of a (call|commit|act) )?[^ ]"
        assert re.match(title, flat(result.stdout)), name
        assert flat(result.stdout.partition("\nShown: ")[0])[-1] in ".!", name
