"""The benchmark: ``python -m tests.bench``. Ratios of medians over short rounds in rotation; exits 1 over a bound.

``U`` is the cost of one SimPy timeout in this process. Absolute times mean little on a shared machine; the ratios do.
They swing too: a tight loop gains more from a quiet cache than a run does, so compare only figures of one moment.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, partial
from statistics import median
from types import FrameType

import msgspec

from faults.engine import Broken, chunks, deliver
from faults.sweeps import EVERYTHING
from reports.bench import House
from reports.campaign import Campaign
from reports.databases import KINDS
from scenarios.row import Row
from scenarios.rows import ROWS
from sim.checks import judge
from sim.history import Asked, History, digest_of, encoded
from sim.run import run
from tests.bench import echo

ROUNDS = 41
EXCHANGES = 300
TIMEOUTS = 900
EVERY = 41
"""Of the runs of a sweep of everything, each so many-th is made."""
LOOK_S = 0.004
SHARES = {
    "kernel": ("sim/kernel.py", "sim/lives.py", "sim/trouble.py", "sim/points.py", "sim/run.py", "simpy/"),
    "history": ("sim/history.py",),
    "checks": ("sim/checks/", "sim/outcome.py", "scenarios/", "reports/"),
    "scripts": ("sim/", "json/"),
}
"""Whose code is whose; the first that fits counts."""
BOUNDS = {
    "echo": 2.5,
    "turn": 10.0,
    "judged turn": 14.0,
    "minutes": 4.0,
    "speed-up": 1.7,
    "megabytes": 150.0,
    "sqlite": 5.0,
}
Figure = tuple[str, str, float]


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds of this process."""
    before = time.process_time()
    work()
    return time.process_time() - before


def unit() -> float:
    """U, in seconds."""
    return seconds(lambda: echo.timeouts(TIMEOUTS)) / TIMEOUTS


def echoes() -> Figure:
    """Our kernel against the bare loop."""
    ratios: list[float] = []
    for _ in range(ROUNDS):
        bare = seconds(lambda: echo.bare(EXCHANGES))
        ratios.append(seconds(lambda: echo.ours(EXCHANGES)) / bare)
    return "echo", "times a bare SimPy loop, an exchange with a commit", median(ratios)


def turn(row: Row) -> tuple[float, float, float]:
    """One clean turn in U a message: played; with its digest; and with every check."""
    base = unit()
    history: list[History] = []
    played = seconds(lambda: history.append(run(row.scenario, design=row.design)))
    events = history[0].events
    hashed = seconds(lambda: digest_of(encoded(events)))
    trace = encoded(events)
    judged = seconds(lambda: judge(events, trace=trace))
    each = base * 2 * sum(isinstance(event, Asked) for event in events)
    return played / each, (played + hashed) / each, (played + hashed + judged) / each


def turns(row: Row) -> Iterator[Figure]:
    """A clean turn with history and digest, and with every check."""
    rounds = [turn(row) for _ in range(ROUNDS)]
    for name, costs in zip(("played turn", "turn", "judged turn"), zip(*rounds, strict=True), strict=True):
        yield name, f"U a message, {row.name} without faults", median(costs)


@cache
def picked() -> tuple[Campaign, list[tuple[str, int]]]:
    """Every so many-th run of a sweep of everything."""
    campaign = Campaign(House(), msgspec.structs.replace(EVERYTHING, rows=tuple(ROWS)), 1)
    for _ in campaign.count():
        pass
    ranges = campaign.outline().ranges()
    every = [(chunk.key, index) for chunk in ranges for index in range(chunk.start, chunk.stop)]
    return campaign, every[::EVERY]


def make(_key: str, place: int) -> None:
    """One of the picked runs, played, judged and recorded."""
    campaign, runs = picked()
    campaign.work(*runs[place])


def sample(jobs: int) -> float:
    """All the picked runs, on so many processes: seconds."""
    began = time.perf_counter()
    for delivery in deliver(chunks("", len(picked()[1]), 16), make, jobs):
        assert not isinstance(delivery.result, Broken), delivery
    return time.perf_counter() - began


def owner_of(path: str) -> str:
    """Whose code a file is."""
    return next((who for who, parts in SHARES.items() if any(part in path for part in parts)), "other")


def shares() -> Iterator[Figure]:
    """Where the time of single-fault runs goes, by looking at what runs every so often."""
    seen: Counter[str] = Counter()

    def look(_signal: int, frame: FrameType | None) -> None:
        seen[owner_of(frame.f_code.co_filename if frame else "")] += 1

    before = signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, LOOK_S, LOOK_S)
    sample(1)
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, before)
    for who in (*SHARES, "other"):
        yield who, "per cent of the time of a run", 100 * seen[who] / seen.total()


def sweeps() -> Iterator[Figure]:
    """What 100,000 runs take on two cores, what a second worker brings, and what a worker weighs."""
    runs = len(picked()[1])
    together = sample(2)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    base, before = unit(), time.process_time()
    apart = sample(1)
    cpu = time.process_time() - before
    yield "run", "U a single-fault run, judged and recorded", cpu / runs / median([base, unit()])
    yield "milliseconds", "of CPU, the same", cpu / runs * 1e3
    yield "minutes", "for 100,000 of them on two cores", cpu / runs * 100_000 / 2 / 60
    yield "speed-up", f"of two workers, {cpu:.0f} CPU-seconds of work", apart / together
    yield "megabytes", "the most a worker held", peak / 1024


def stores() -> Iterator[Figure]:
    """The same single-fault runs of the base rows on dictionaries and on SQLite, in turns."""
    base = tuple(name for name, row in ROWS.items() if row.theme == "base")
    selection = msgspec.structs.replace(EVERYTHING, rows=base)
    campaigns = [Campaign(House(store=store), selection, 1) for store in KINDS]
    for campaign in campaigns:
        for _ in campaign.count():
            pass
    spent = [0.0] * len(KINDS)
    for chunk in campaigns[0].outline().ranges():
        for index in range(chunk.start, chunk.stop)[::EVERY]:
            for place, campaign in enumerate(campaigns):
                spent[place] += seconds(partial(campaign.work, chunk.key, index))
    yield "sqlite", f"times the same run on {KINDS[0]}, judged and recorded, base rows", spent[1] / spent[0]


def main() -> int:
    """Print every figure beside its bound."""
    print(f"U = {median(unit() for _ in range(ROUNDS)) * 1e6:.2f} us, {os.cpu_count()} cores")
    figures = [echoes(), *turns(ROWS["one-call"]), *sweeps(), *stores(), *shares()]
    over = 0
    for name, what, value in figures:
        bound = BOUNDS.get(name)
        wrong = bound is not None and (value < bound if name == "speed-up" else value > bound)
        over += wrong
        limit = "" if bound is None else f"bound {bound:g}"
        print(f"{'--' if wrong else '  '} {name:20} {value:8.2f}  {limit:10} {what}")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
