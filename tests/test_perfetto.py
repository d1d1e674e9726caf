"""A run as a trace: what ui.perfetto.dev needs of it, on a clean run, a struck one, and one with a death in it."""

from __future__ import annotations

import json
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from faults.plans import read
from reports.bench import House
from reports.cli import cli
from reports.perfetto import REPLY, REQUEST, US_PER_MS, trace
from sim.history import Acted, Asked, Began, Committed, Crashed, Declined, Event, History, Struck
from sim.protocol import Acquire

TURN = "client.boot#1/play#1/Prompt#1/admit#1/take_turn#1"
PLANS = {
    "clean": "none",
    "reply lost": f"harness:a:call:Release#1@{TURN}=reply-lost",
    "owner dies": f"harness:a:call:StartExecution#1@{TURN}=crash-waiting",
    "broker dies": f"broker:commit:ClaimWorkspace#1@{TURN}/Acquire#1=crash-after",
    "paused": f"harness:a:call:StartExecution#1@{TURN}=paused",
    "duplicated": f"harness:a:call:StartExecution#1@{TURN}=duplicated",
    "request altered": f"harness:a:call:StartExecution#1@{TURN}=request-altered",
    "delivered late": f"harness:a:call:Acquire#1@{TURN}=delivered-late",
}

Entry = dict[str, Any]


@cache
def played(name: str) -> History:
    history = House().play("one-call", read(PLANS[name]))
    assert not history.missed
    return history


@cache
def entries(name: str) -> list[Entry]:
    return json.loads("".join(trace(played(name), {"replay": name})))["traceEvents"]


def track(entry: Entry) -> tuple[int, int]:
    return entry["pid"], entry["tid"]


every_run = pytest.mark.parametrize("name", PLANS)


@every_run
def test_slices_nest_and_every_one_that_begins_ends(name: str) -> None:
    open_: dict[tuple[int, int], list[str]] = defaultdict(list)
    for entry in entries(name):
        if entry["ph"] == "B":
            open_[track(entry)].append(entry["name"])
        elif entry["ph"] == "E":
            assert open_[track(entry)].pop()
    assert not any(open_.values())


@every_run
def test_time_never_goes_back_and_is_whole_microseconds(name: str) -> None:
    times = [entry["ts"] for entry in entries(name)]

    assert times == sorted(times)
    assert all(isinstance(time, int) and time % US_PER_MS == 0 for time in times)
    assert times[-1] == played(name).events[-1].at * US_PER_MS


@every_run
def test_every_arrow_has_two_ends_each_in_the_slice_that_it_belongs_to(name: str) -> None:
    open_: dict[tuple[int, int], list[str]] = defaultdict(list)
    ends: dict[tuple[str, int], list[str]] = defaultdict(list)
    for entry in entries(name):
        if entry["ph"] == "B":
            open_[track(entry)].append(entry["name"].split(" ")[0].split("#")[0])
        elif entry["ph"] == "E":
            open_[track(entry)].pop()
        elif entry["ph"] in "sf":
            ends[entry["cat"], entry["id"]].append(entry["ph"] + open_[track(entry)][-1])
    assert {cat for cat, _ in ends} == {REQUEST, REPLY}
    for pair in ends.values():
        assert [end[0] for end in pair] == ["s", "f"]
        assert pair[0][1:] == pair[1][1:], "the arrow joins a call and its handler"


@every_run
def test_every_call_commit_deed_and_strike_is_there_once_with_its_point(name: str) -> None:
    events = played(name).events
    told = [entry for entry in entries(name) if "point" in entry.get("args", {})]
    asked = [event for event in events if isinstance(event, Asked)]
    done = [event for event in events if isinstance(event, Committed | Declined | Acted)]

    assert sum(entry["ph"] == "B" for entry in told) == len(asked)
    assert sum(entry["ph"] == "i" for entry in told) == len(done)
    points = [entry["args"]["point"] for entry in told]
    assert name == "clean" or PLANS[name].partition("=")[0] in points
    strikes = [entry for entry in entries(name) if entry["ph"] == "i" and " strikes c" in entry["name"]]
    assert [entry["s"] for entry in strikes] == ["g" for event in events if isinstance(event, Struck)]


@every_run
def test_every_track_has_a_name_and_every_script_one_slice(name: str) -> None:
    named = {track(entry) for entry in entries(name) if entry.get("name") == "thread_name"}
    used = {track(entry) for entry in entries(name) if entry["ph"] in "BEsf"}
    scripts = [f"{event.label}#{event.nth}" for event in played(name).events if isinstance(event, Began)]
    slices = [entry["name"] for entry in entries(name) if entry["ph"] == "B" and "args" not in entry]

    assert used <= named
    assert sorted(slice_ for slice_ in slices if "#" in slice_) == sorted(scripts)


def closed(entries: list[Entry], pid: int, ts: int) -> tuple[set[int], set[int]]:
    """The tracks of a process with an open slice just before a moment, and just after it."""
    before: dict[int, int] = defaultdict(int)
    after: dict[int, int] = defaultdict(int)
    for entry in entries:
        if entry["pid"] == pid and entry["ph"] in "BE" and entry["ts"] <= ts:
            step = 1 if entry["ph"] == "B" else -1
            after[entry["tid"]] += step
            if entry["ts"] < ts:
                before[entry["tid"]] += step
    return {tid for tid, depth in before.items() if depth}, {tid for tid, depth in after.items() if depth}


@pytest.mark.parametrize(("name", "process"), [("owner dies", "owner:a"), ("broker dies", "broker")])
def test_the_slices_of_the_dead_end_with_their_death(name: str, process: str) -> None:
    death = next(event for event in played(name).events if isinstance(event, Crashed))
    assert death.process == process
    pid = next(
        entry["pid"]
        for entry in entries(name)
        if entry["ph"] == "M" and entry["name"] == "process_name" and entry["args"]["name"] == process
    )

    before, after = closed(entries(name), pid, death.at * US_PER_MS)
    assert len(before) > 1, "its life, and what ran in it"
    assert after == set()


def test_a_lost_reply_has_no_arrow_back_and_its_call_waits_for_the_timeout() -> None:
    calls = [event for event in played("reply lost").events if isinstance(event, Asked)]
    release = next(event for event in calls if event.request.label == "Release")
    told = entries("reply lost")
    arrows = {(entry["cat"], entry["id"]) for entry in told if entry["ph"] == "s"}

    assert (REQUEST, 2 * release.exchange) in arrows
    assert (REPLY, 2 * release.exchange + 1) not in arrows
    begin = next(entry for entry in told if entry["ph"] == "B" and entry["name"] == "Release -> broker")
    assert begin["args"]["answer"] == "doubt (timeout)"
    ends = [entry["ts"] for entry in told if entry["ph"] == "E" and track(entry) == track(begin)]
    assert begin["ts"] + 30_000 * US_PER_MS in ends


def test_names_are_shown_and_the_file_is_ascii() -> None:
    events: list[Event] = [
        Began(0, 1, "client\ud800\n", 0, "client.boot", 1, 0),
        Asked(1, 1, 1, 1, "broker\x00é", Acquire("s", "s.p1", "w")),
    ]
    text = "".join(trace(History(events, ()), {"row": "\udfff\x1b"}))
    names = [entry["name"] for entry in json.loads(text)["traceEvents"] if entry["ph"] == "B"]

    assert text.isascii()
    assert names == ["client.boot#1", "Acquire -> broker\\u0000é"]
    assert json.loads(text)["otherData"] == {"row": "\\udfff\\u001b"}


def test_equal_runs_give_equal_bytes() -> None:
    again = House().play("one-call", read(PLANS["owner dies"]))

    assert "".join(trace(again, {})) == "".join(trace(played("owner dies"), {}))


# --- the option


def turnproof(*words: str) -> Any:
    result = CliRunner().invoke(cli, list(words), obj=House())
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_run_and_replay_write_the_same_trace(tmp_path: Path) -> None:
    first, second = tmp_path / "run.json", tmp_path / "replay.json"
    result = turnproof("run", "one-call", "--plan", PLANS["reply lost"], "--trace", str(first))
    assert result.exit_code == 0
    assert f"{first} shows it in ui.perfetto.dev" in result.stdout
    line = next(line.strip() for line in result.stdout.splitlines() if "turnproof replay" in line)
    assert json.loads(first.read_text("ascii"))["otherData"] == {"replay": line}

    assert turnproof("replay", line, "--trace", str(second)).exit_code == 0
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("place", ["", ".", "missing/trace.json"])
def test_a_trace_that_cannot_be_written_is_said(tmp_path: Path, place: str) -> None:
    result = turnproof("run", "text-only", "--trace", str(tmp_path / place))

    assert result.exit_code == 3
    assert "Cannot write the trace" in result.stderr
    assert "Name another file with --trace." in result.stderr
    assert "passed: " in result.stdout, "the run itself is shown"
