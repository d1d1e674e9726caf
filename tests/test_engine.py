"""The engine keeps the order, loses nothing, and names the run that kills its process."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from faults.engine import Broken, Chunk, Delivery, chunks, deliver

JOBS = [1, 2, 3]
Work = Callable[[str, int], str]


def ranges(**sizes: int) -> list[Chunk]:
    return [chunk for key, runs in sizes.items() for chunk in chunks(key, runs, size=7)]


def named(key: str, index: int) -> str:
    return f"{key}{index}"


def outcome(delivery: Delivery[str]) -> str:
    return delivery.result.reason if isinstance(delivery.result, Broken) else delivery.result


@pytest.mark.parametrize("jobs", JOBS)
def test_results_come_in_order_whatever_the_number_of_workers(jobs: int) -> None:
    got = [outcome(d) for d in deliver(ranges(a=40, b=3, c=25), named, jobs)]
    assert got == [f"{key}{index}" for key, runs in (("a", 40), ("b", 3), ("c", 25)) for index in range(runs)]


@pytest.mark.parametrize("jobs", JOBS)
def test_a_slow_range_holds_back_the_others_and_loses_none(jobs: int) -> None:
    def work(key: str, index: int) -> str:
        time.sleep(0.3 if index == 0 else 0)
        return named(key, index)

    assert [outcome(d) for d in deliver(ranges(a=400), work, jobs)] == [f"a{index}" for index in range(400)]


@pytest.mark.parametrize("jobs", JOBS)
def test_nothing_to_run_gives_nothing(jobs: int) -> None:
    assert list(deliver([], named, jobs)) == []


@pytest.mark.parametrize("jobs", JOBS)
def test_an_exception_is_a_broken_run_and_the_rest_goes_on(jobs: int) -> None:
    def work(key: str, index: int) -> str:
        return named(key, index // (index - 5))

    got = list(deliver(ranges(a=9), work, jobs))
    assert [d.index for d in got if isinstance(d.result, Broken)] == [5]
    broken = got[5].result
    assert isinstance(broken, Broken)
    assert broken.reason.startswith("ZeroDivisionError")
    assert "in work" in broken.details


@pytest.mark.parametrize("dies", [lambda: os.kill(os.getpid(), signal.SIGKILL), lambda: os._exit(7)])
def test_the_run_that_kills_its_process_is_named_and_every_other_is_delivered(
    dies: Callable[[], None],
) -> None:
    def work(key: str, index: int) -> str:
        if (key, index) in (("a", 11), ("b", 0)):
            dies()
        return named(key, index)

    got = list(deliver(ranges(a=30, b=5), work, 2))
    assert [(d.key, d.index) for d in got] == [("a", i) for i in range(30)] + [("b", i) for i in range(5)]
    assert [(d.key, d.index) for d in got if isinstance(d.result, Broken)] == [("a", 11), ("b", 0)]
    assert "signal 9" in outcome(got[11]) or "status 7" in outcome(got[11])


def test_workers_killed_from_outside_cost_no_result() -> None:
    def work(key: str, index: int) -> str:
        time.sleep(0.002)
        return str(os.getpid())

    killed: set[str] = set()
    got = 0
    for delivery in deliver(ranges(a=300), work, 2):
        got += 1
        assert not isinstance(delivery.result, Broken)
        if got % 60 == 0 and delivery.result not in killed:
            killed.add(delivery.result)
            os.kill(int(delivery.result), signal.SIGKILL)
    assert got == 300
    assert killed


@pytest.mark.parametrize("jobs", JOBS)
def test_it_stops_when_asked_and_leaves_no_process(jobs: int) -> None:
    enough: list[int] = []
    pids: set[int] = set()
    for delivery in deliver(ranges(a=500), lambda _key, _index: os.getpid(), jobs, lambda: len(enough) >= 20):
        assert isinstance(delivery.result, int)
        pids.add(delivery.result)
        enough.append(delivery.index)
    assert enough == list(range(len(enough)))
    assert 20 <= len(enough) < 500
    assert not [pid for pid in pids - {os.getpid()} if alive(pid)]


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_ranges_are_asked_for_only_as_they_are_needed() -> None:
    asked: list[int] = []

    def lazily() -> Iterator[Chunk]:
        for start in range(0, 10_000, 10):
            asked.append(start)
            yield Chunk("a", start, start + 10)

    results = deliver(lazily(), named, 2)
    next(results)
    assert len(asked) <= 9
    results.close()  # type: ignore[attr-defined]


def test_workers_end_when_their_coordinator_is_killed() -> None:
    program = """
import os, time
from faults.engine import Chunk, deliver
def work(key, index):
    time.sleep(0.01)
    return os.getpid()
for delivery in deliver([Chunk("a", n, n + 5) for n in range(0, 5000, 5)], work, 2):
    print(delivery.result, flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as coordinator:
        assert coordinator.stdout is not None
        pids = {int(coordinator.stdout.readline()) for _ in range(30)}
        coordinator.kill()
    deadline = time.monotonic() + 10
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(alive, pids))
