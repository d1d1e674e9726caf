"""The benchmark: ``python -m tests.bench``. Ratios of medians over short rounds in rotation; exits 1 over a bound.

``U`` is the cost of one SimPy timeout in this process. Absolute times mean little on a shared machine; the ratios do.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from statistics import median

from faults.sweeps import single
from scenarios.judge import verdict
from scenarios.row import Row, reached
from scenarios.rows import ROWS
from sim.checks import judge
from sim.history import Asked, History, digest_of, encoded
from sim.points import Plan, Strike
from sim.run import run
from tests.bench import echo

ROUNDS = 41
EXCHANGES = 300
TIMEOUTS = 900
EVERY = 53
"""Of the single faults of a row, each so many-th is run."""
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
    """Every so many-th single fault of every swept row, played and judged: runs, and CPU seconds."""
    runs, before = 0, time.process_time()
    for row in ROWS.values():
        strikes = single(reached(row)).strikes if row.sweepable else ()
        for point, fate in strikes[shard::EVERY]:
            plan = Plan((Strike(point, fate),))
            verdict(row, plan, run(row.scenario, plan, row.design))
            runs += 1
    return runs, time.process_time() - before


def sweeps() -> Iterator[Figure]:
    """What 100,000 runs take on two cores, what a second worker brings, and what a worker weighs."""
    began = time.perf_counter()
    alone = [sample(0), sample(1)]
    apart = time.perf_counter() - began
    began = time.perf_counter()
    with get_context("fork").Pool(2) as pool:
        pool.map(sample, [0, 1], chunksize=1)
    together = time.perf_counter() - began
    runs, cpu = (sum(column) for column in zip(*alone, strict=True))
    yield "milliseconds", "of CPU a single-fault run, judged", cpu / runs * 1e3
    yield "minutes", "for 100,000 single-fault runs on two cores", cpu / runs * 100_000 / 2 / 60
    yield "speed-up", "of two workers", apart / together
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    yield "megabytes", "the most a worker held", peak / 1024


def main() -> int:
    """Print every figure beside its bound."""
    print(f"U = {median(unit() for _ in range(ROUNDS)) * 1e6:.2f} us, {os.cpu_count()} cores")
    figures = [echoes(), *turns(ROWS["one-call"]), *sweeps()]
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
