"""A told bench with enough runs for many chunks, and what campaigns on it are tried with."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

from click.testing import CliRunner, Result
from test_cli import POINTS, ROOT, TESTS, FakeBench, FakeRow, sighting

from faults.plans import write
from reports.bench import Bench, Judged
from reports.cli import cli
from reports.files import WRITERS
from sim.history import Decided, Event, History
from sim.points import Plan, Watcher

ROWS = {"leaky": 9, "one": 1, "wide": 16, "broad": 12, "last": 4}
"""Rows by name, each with the number of its points beyond those of the small bench."""

RARE = 40
"""Rules that say no in very few runs."""


class Wide(FakeBench):
    """Five rows, a thousand runs; some rules say no in a single one of them."""

    pause_s = 0.0

    def rows(self) -> Mapping[str, FakeRow]:
        return {name: FakeRow(name, (), f"a row of {points}") for name, points in ROWS.items()}

    def rules(self) -> Mapping[str, str]:
        return {**super().rules(), **{f"rare.rule_{number}": "bool" for number in range(RARE)}}

    def play(self, row: str, plan: Plan, watcher: Watcher | None = None) -> History:
        points = [*POINTS, *(sighting(f"Call{number}") for number in range(ROWS[row]))]
        for seen in points if watcher else ():
            watcher(seen)  # type: ignore[misc]
        return History([*self.events(plan), *self.decided(row, plan)], ())

    def decided(self, row: str, plan: Plan) -> list[Event]:
        place = crc32(f"{row} {write(plan)}".encode())
        return [Decided(50, 2, f"rare.rule_{number}", place % 997 != number) for number in range(RARE)]

    def judge(self, row: str, plan: Plan, history: History) -> Judged:
        time.sleep(self.pause_s)
        return super().judge(row, plan, history)


class Slow(Wide):
    """The same, so slow that it can be caught at work."""

    pause_s = 0.002


class DiesOnce(Wide):
    """The same, but some runs kill their process when they are made for the first time."""

    def judge(self, row: str, plan: Plan, history: History) -> Judged:
        mark = Path(os.environ["TURNPROOF_MARKS"], str(crc32(write(plan).encode())))
        if "Call3#1" in write(plan) and "reply-lost" in write(plan) and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().judge(row, plan, history)


class Deadly(Wide):
    """The same, but two runs kill every process that makes them."""

    def judge(self, row: str, plan: Plan, history: History) -> Judged:
        if row == "wide" and "Call7#1" in write(plan) and "reply-lost" in write(plan):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().judge(row, plan, history)


def turnproof(*words: str, bench: Bench | None = None) -> Result:
    result = CliRunner().invoke(cli, list(words), obj=bench or Wide())
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def swept(out: Path, *words: str, bench: Bench | None = None) -> dict[str, bytes]:
    """The files of a sweep. Its one finding is found."""
    result = turnproof("sweep", *words, "--out", str(out), bench=bench)
    assert result.exit_code == 1, result.output
    return files(out)


def files(out: Path) -> dict[str, bytes]:
    return {name: (out / name).read_bytes() for name in WRITERS}


def program(bench: str, before: str = "pass") -> list[str]:
    """The command with a bench of this module in it, as the words of a process."""
    paths = f"import sys; sys.path[:0] = [{str(TESTS)!r}, {str(ROOT)!r}]"
    return [sys.executable, "-c", f"{paths}; import wide as w; {before}; w.cli(obj=w.{bench}())"]


def start(bench: str, *words: str, before: str = "pass", **extra: Any) -> subprocess.Popen[str]:
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **extra}
    return subprocess.Popen([*program(bench, before), *words], text=True, start_new_session=True, **pipes)
