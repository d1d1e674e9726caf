"""Scenario files as tests: one for the file as it is written, and one for every single fault where it asks for that."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from faults.engine import deliver
from faults.sweeps import Selection
from reports.bench import AS_PROMISED, House, read_file
from reports.campaign import Campaign, Record
from reports.trouble import Trouble
from scenarios.files import problems
from sim.text import show

SHOWN = 20
"""Runs without a pass that are told in a failure."""


class NotKept(Exception):
    """What a run came to, and the line that plays it again."""


class ScenarioFile(pytest.File):
    """A file; it is read whole before anything of it is played."""

    def collect(self) -> Iterator[pytest.Item]:
        """Its tests. Every error of the file is one of collection."""
        name = _name(self.path)
        try:
            _, text = read_file(name)
        except Trouble as trouble:
            raise self.CollectError(trouble.message) from None
        wrong = problems(text)
        if wrong:
            raise self.CollectError("\n".join(f"{name}:{problem}" for problem in wrong))
        yield self._test("as-written", sweeps=False)
        if tomllib.loads(text).get("sweep", False):
            yield self._test("every-single-fault", sweeps=True)

    def _test(self, name: str, *, sweeps: bool) -> pytest.Item:
        return cast("Any", ScenarioTest).from_parent(self, name=name, sweeps=sweeps)


class ScenarioTest(pytest.Item):
    """One run, or one sweep: the engine loops inside."""

    def __init__(self, *, sweeps: bool, **more: Any) -> None:
        super().__init__(**more)  # pyright: ignore[reportUnknownMemberType]
        self.sweeps = sweeps

    def runtest(self) -> None:
        """Play and judge; NotKept: something did not pass."""
        bench = House()
        row = bench.take(_name(self.path))
        campaign = Campaign(bench, Selection((row,)), int(self.sweeps))
        for _ in campaign.count():
            pass
        runs = deliver(campaign.outline().ranges(), campaign.work, jobs=1)
        wrong = [record for record in map(campaign.kept, runs) if record.status not in AS_PROMISED]
        if wrong:
            raise NotKept("\n\n".join([*map(_told, wrong[:SHOWN]), *_more(len(wrong))]))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *_: Any) -> str | Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """What did not pass, without a traceback of ours."""
        if isinstance(excinfo.value, NotKept | Trouble):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Where it stands, and what it is called."""
        return self.path, None, f"{_name(self.path)}: {self.name}"


def _name(path: Path) -> str:
    """The path as somebody would write it here, so that the replay line works where pytest was started."""
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)


def _told(record: Record) -> str:
    lines = [
        f"{record.status}: {show(record.where)}",
        *(f"  {says}" for says in record.says),
        f"  {record.replay}",
    ]
    return "\n".join(lines)


def _more(wrong: int) -> Iterator[str]:
    if wrong > SHOWN:
        yield f"and {wrong - SHOWN:,} more"
