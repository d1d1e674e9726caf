"""The benchmark: ``python -m tests.bench``. Ratios of medians over short rounds in rotation; exits 1 over a bound.

``U`` is the cost of one SimPy timeout in this process. Absolute times mean little on a shared machine; the ratios do.
So a run is counted in U, and what 100,000 of them take is told for a core on which U is :data:`QUIET_US`, beside what
they would take at the speed of the moment.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from statistics import median
from types import FrameType

import msgspec

from faults.sweeps import EVERYTHING
from reports.bench import House
from reports.campaign import Campaign
from scenarios.row import Row
from scenarios.rows import ROWS
from sim.checks import judge
from sim.history import Asked, History, digest_of, encoded
from sim.run import run
from tests.bench import echo

ROUNDS = 41
EXCHANGES = 300
TIMEOUTS = 900
EVERY = 101
"""Of the runs of a sweep, each so many-th is made."""
LOOK_S = 0.004
QUIET_US = 0.9
"""Microseconds of one SimPy timeout on a quiet core of the kind that the bounds were set for."""
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


def sample(shard: int) -> tuple[int, float]:
    """Every so many-th run of a sweep of everything, as a worker makes it: runs, and CPU seconds."""
    campaign = Campaign(House(), msgspec.structs.replace(EVERYTHING, rows=tuple(ROWS)), 1)
    runs, before = 0, time.process_time()
    for _ in campaign.count():
        pass
    counting = time.process_time() - before
    for chunk in campaign.ranges():
        for index in range(chunk.start, chunk.stop):
            if (index + shard) % EVERY == 0:
                campaign.work(chunk.key, index)
                runs += 1
    return runs, time.process_time() - before - counting


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
    sample(2)
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, before)
    for who in (*SHARES, "other"):
        yield who, "per cent of the time of a run", 100 * seen[who] / seen.total()


def sweeps() -> Iterator[Figure]:
    """What 100,000 runs take on two cores, what a second worker brings, and what a worker weighs."""
    base, began = unit(), time.perf_counter()
    alone = [sample(0), sample(1)]
    apart = time.perf_counter() - began
    began = time.perf_counter()
    with get_context("fork").Pool(2) as pool:
        pool.map(sample, [0, 1], chunksize=1)
    together = time.perf_counter() - began
    runs, cpu = (sum(column) for column in zip(*alone, strict=True))
    units = cpu / runs / median([base, unit()])
    yield "run", "U a single-fault run, judged and recorded", units
    yield "minutes", f"for 100,000 of them on two cores where U is {QUIET_US} us", units * QUIET_US / 1_200
    yield "minutes now", "at the speed of this moment", cpu / runs * 100_000 / 2 / 60
    yield "speed-up", "of two workers", apart / together
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    yield "megabytes", "the most a worker held", peak / 1024


def main() -> int:
    """Print every figure beside its bound."""
    print(f"U = {median(unit() for _ in range(ROUNDS)) * 1e6:.2f} us, {os.cpu_count()} cores")
    figures = [echoes(), *turns(ROWS["one-call"]), *sweeps(), *shares()]
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
