"""Runs many plans on all processors, and survives whatever one of them does to the process it runs in.

Work is named, not carried: a range of numbers under a key, which a forked worker turns into runs. Results
come back one by one and are handed on in the order of the ranges, whatever the number of workers. When a
worker dies, its range goes on in another one, from the run that was lost; a run that two workers died of is
reported and passed over.
"""

from __future__ import annotations

import multiprocessing
import signal
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

import msgspec

T = TypeVar("T")

Work = Callable[[str, int], T]
"""Runs the plan of this number under this key."""

CHUNK = 64
"""Runs in a range: a fraction of a second, so that none is long waited for at the end."""

WINDOW = 4
"""Ranges in flight for each worker: what bounds the results held back for their turn."""

LOOK_S = 0.2
"""Seconds between two looks at whether to stop, when nothing comes in."""


class Chunk(msgspec.Struct, frozen=True):
    """The runs from ``start`` to before ``stop`` under one key."""

    key: str
    start: int
    stop: int


class Broken(msgspec.Struct, frozen=True):
    """A run that gave no result: the bench itself failed. ``details`` is a traceback, if there is one."""

    reason: str
    details: str = ""


class Lost(Exception):
    """What makes the runs is gone, or never was there. What was delivered stays delivered."""


class Unfit(Exception):
    """What makes the runs cannot make these."""


class Delivery(msgspec.Struct, Generic[T], frozen=True):
    """What one run gave."""

    key: str
    index: int
    result: T | Broken


def chunks(key: str, runs: int, size: int = CHUNK) -> Iterator[Chunk]:
    """Cut the runs of one key into ranges."""
    for start in range(0, runs, size):
        yield Chunk(key, start, min(start + size, runs))


def deliver(
    ranges: Iterable[Chunk], work: Work[T], jobs: int, stopped: Callable[[], bool] = lambda: False
) -> Iterator[Delivery[T]]:
    """Run every range; the results come in the order of the ranges, the same for any number of jobs.

    Args:
        ranges: what to run; asked for only as workers become free.
        work: what a run is. It is inherited by the workers, never sent.
        jobs: worker processes; 1 runs everything here, as does a system that cannot fork.
        stopped: asked between results; when it says yes, nothing more is begun or delivered.
    """
    if jobs > 1 and "fork" in multiprocessing.get_all_start_methods():
        return _Pool(work, jobs).deliver(iter(ranges), stopped)
    return _inline(ranges, work, stopped)


def _inline(ranges: Iterable[Chunk], work: Work[T], stopped: Callable[[], bool]) -> Iterator[Delivery[T]]:
    for chunk in ranges:
        for index in range(chunk.start, chunk.stop):
            if stopped():
                return
            yield Delivery(chunk.key, index, attempt(work, chunk.key, index))


def attempt(work: Work[T], key: str, index: int) -> T | Broken:
    """What a run gives; an exception in it breaks that run alone."""
    try:
        return work(key, index)
    except Exception as error:
        return Broken(f"{type(error).__name__}: {error}", traceback.format_exc())


def _serve(pipe: Connection, work: Work[Any], inherited: list[Connection]) -> None:
    """The life of a worker: until its coordinator hangs up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the coordinator hears it too, and ends us
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    for other in inherited:
        other.close()
    try:
        while True:
            chunk: Chunk = pipe.recv()
            for index in range(chunk.start, chunk.stop):
                pipe.send(attempt(work, chunk.key, index))
    except (EOFError, OSError):
        return


_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class _Range(Generic[T]):
    """A range on its way: results that are not handed on yet, and the run that a worker last died at."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk
        self.next = chunk.start
        self.held: deque[Delivery[T]] = deque()
        self.died_at = -1

    def take(self, result: T | Broken) -> bool:
        """Keep the result of the next run; True when it was the last."""
        self.held.append(Delivery(self.chunk.key, self.next, result))
        self.next += 1
        return self.done

    @property
    def done(self) -> bool:
        return self.next == self.chunk.stop


class _Worker(Generic[T]):
    """A forked process and the range it works on."""

    def __init__(self, work: Work[T], others: list[Connection]) -> None:
        context = multiprocessing.get_context("fork")
        self.pipe, theirs = context.Pipe()
        self.task: _Range[T] | None = None
        self.process = context.Process(target=_serve, args=(theirs, work, [self.pipe, *others]), daemon=True)
        # A signal between the fork and the worker's own handlers would end it with a traceback.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        try:
            self.process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()

    def give(self, task: _Range[T]) -> None:
        self.task = task
        with suppress(OSError):  # it is dead already, which the next look at its pipe shows
            self.pipe.send(Chunk(task.chunk.key, task.next, task.chunk.stop))

    def end(self) -> str:
        """Make sure that the process is gone; how it ended, in words."""
        self.process.join(LOOK_S)
        self.process.kill()
        self.process.join()
        self.pipe.close()
        code = self.process.exitcode or 0
        return f"was killed by signal {-code}" if code < 0 else f"exited with status {code}"


class _Pool(Generic[T]):
    def __init__(self, work: Work[T], jobs: int) -> None:
        self._work = work
        self._jobs = jobs
        self._workers: list[_Worker[T]] = []
        self._lost: deque[_Range[T]] = deque()
        self._order: deque[_Range[T]] = deque()
        self._all_begun = False

    def deliver(self, ranges: Iterator[Chunk], stopped: Callable[[], bool]) -> Iterator[Delivery[T]]:
        """Hand out ranges and hand on results, until both are at an end."""
        try:
            for _ in range(self._jobs):
                self._hire()
            while not stopped():
                self._hand_out(ranges)
                while self._order and self._order[0].held:
                    yield self._order[0].held.popleft()
                    if self._order[0].done and not self._order[0].held:
                        self._order.popleft()
                if self._order:
                    self._listen()
                elif self._all_begun:
                    return
        finally:
            for worker in self._workers:
                worker.process.kill()
                worker.end()

    def _hire(self) -> None:
        self._workers.append(_Worker(self._work, [worker.pipe for worker in self._workers]))

    def _hand_out(self, ranges: Iterator[Chunk]) -> None:
        for worker in self._workers:
            if worker.task is not None:
                continue
            if self._lost:
                worker.give(self._lost.popleft())
            elif len(self._order) < WINDOW * self._jobs and not self._all_begun:
                self._begin(worker, next(ranges, None))

    def _begin(self, worker: _Worker[T], chunk: Chunk | None) -> None:
        if chunk is None:
            self._all_begun = True
            return
        task = _Range[T](chunk)
        self._order.append(task)
        worker.give(task)

    def _listen(self) -> None:
        """Wait a moment for results, and for the end of workers."""
        ready = wait([worker.pipe for worker in self._workers], LOOK_S)
        for worker in [worker for worker in self._workers if worker.pipe in ready]:
            try:
                result: T | Broken = worker.pipe.recv()
            except (EOFError, OSError):
                self._bury(worker)
                continue
            if worker.task is not None and worker.task.take(result):
                worker.task = None

    def _bury(self, worker: _Worker[T]) -> None:
        """Replace a dead worker; what it had not delivered goes on elsewhere."""
        how = worker.end()
        self._workers.remove(worker)
        self._hire()
        task = worker.task
        if task is None:
            return
        if task.died_at == task.next:
            task.take(Broken(f"two processes in turn were lost in this run; the second {how}"))
        else:
            task.died_at = task.next
        if not task.done:
            self._lost.append(task)
