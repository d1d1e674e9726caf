"""Benches whose sweeps come to everything that a sweep can come to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from msgspec.structs import replace
from test_cli import FakeBench, FakeRow

from reports.bench import PASSED, UNACCEPTED, Bench, House, Judged
from reports.cli import cli
from scenarios.rows import ROWS
from sim.history import History
from sim.points import Plan, Watcher

HOSTILE = "evil|`row`</b>&\ud800\x00\n]]>"
"""The name of a row, with what Markdown, HTML, XML and terminals would read as more than a name."""


class MixedBench(FakeBench):
    """Two rows, told and not simulated: findings, runs that miss, that break the bench, that are not accepted."""

    def rows(self) -> Mapping[str, FakeRow]:
        return {**super().rows(), HOSTILE: FakeRow(HOSTILE, (), "a name that bites")}

    def play(self, row: str, plan: Plan, watcher: Watcher | None = None) -> History:
        history = super().play(row, plan, watcher)
        if row == HOSTILE and any(strike.fate.name == "delayed" for strike in plan.strikes):
            return History(history.events, tuple(map(str, plan.strikes)))
        return history

    def judge(self, row: str, plan: Plan, history: History) -> Judged:
        if row == HOSTILE and any(strike.fate.name == "crash-before" for strike in plan.strikes):
            raise KeyError("nobody foresaw \ud800 \x01 this")
        judged = super().judge("leaky" if row == HOSTILE else row, plan, history)
        strict = row == HOSTILE and judged.status == PASSED and "duplicated" in str(plan)
        return replace(judged, status=UNACCEPTED) if strict else judged


class LeakyHouse(House):
    """The real bench, under a design that has forgotten what a held Workspace is."""

    def rows(self) -> Mapping[str, Any]:
        forgotten = (("lease.is_held", never),)
        return {
            name: replace(row, design=replace(row.design, replaced=forgotten)) for name, row in ROWS.items()
        }


def never(*_: object) -> bool:
    return False


def swept(bench: Bench, folder: Path, *words: str) -> str:
    """Sweep into a folder; what the terminal showed."""
    result = CliRunner().invoke(cli, ["sweep", *words, "--out", str(folder), "-j", "1"], obj=bench)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.stdout
