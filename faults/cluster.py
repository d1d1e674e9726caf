"""The chunks of a sweep on a Dask cluster, with the face of the engine: results one by one, in order.

What is sent is a small value that builds the work where it is called, and a range of numbers under a key. Chunks that
a worker dies of are tried again by the cluster; one that it gives up is made alone and in halves, until the run that
kills its worker is known.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from threading import Lock
from types import TracebackType
from typing import Any, Generic, TypeVar

import distributed
from distributed.client import ClosedClientError
from distributed.comm.addressing import get_address_host_port, parse_address

from faults.engine import LOOK_S, WINDOW, Broken, Chunk, Delivery, Lost, Unfit, Work, attempt

T = TypeVar("T")

Source = Callable[[], Work[T]]
"""Builds what a run is, in the process that calls it. It is sent to the workers, so it has to be a plain value."""

LOGGERS = ("distributed", "distributed.client", "tornado", "tornado.application")
"""Who would write tracebacks on a user's terminal; what matters is raised here."""

CONNECT_S = 10
"""Seconds to wait for the scheduler to answer."""

ALONE_S = 60
"""Seconds to wait for a worker when the cluster has none: they are restarted, or join late."""

SENT_S = 60
"""Seconds to wait for a result on its way."""


class Cluster(Generic[T]):
    """A connection to the scheduler of a cluster.

    Args:
        address: where the scheduler listens.
        source: what builds a run.

    Raises:
        Lost: nobody answers there.
        ValueError: it is no address that can be connected to.
    """

    def __init__(self, address: str, source: Source[T]) -> None:
        for name in LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        self._source = source
        self._address = address
        scheme, _ = parse_address(address)
        get_address_host_port(address)  # a connection that fails over its address leaves threads behind
        if scheme != "tcp":
            raise ValueError(f"'{scheme}' is not tcp")
        try:
            self._client: Any = distributed.Client(address, timeout=CONNECT_S, set_as_default=False)
        except OSError as error:
            raise Lost(f"no scheduler answers at {address} ({error})") from None

    def __enter__(self) -> Cluster[T]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._client.close(timeout=1)

    def deliver(self, ranges: Iterable[Chunk], stopped: Callable[[], bool]) -> Iterator[Delivery[T]]:
        """Run every range, as :func:`faults.engine.deliver` does.

        Raises:
            Lost: the scheduler, or the last worker, is gone.
            Unfit: a worker cannot make the runs, and says why.
        """
        try:
            for chunk, results in self._chunks(iter(ranges), stopped):
                for index, result in enumerate(results, chunk.start):
                    yield Delivery(chunk.key, index, result)
        except (OSError, CancelledError, ClosedClientError):
            raise Lost(f"the scheduler at {self._address} is gone") from None

    def _chunks(
        self, todo: Iterator[Chunk], stopped: Callable[[], bool]
    ) -> Iterator[tuple[Chunk, list[T | Broken]]]:
        """Send chunks, a few for each worker ahead, and give back what they came to, in order."""
        window: deque[tuple[Chunk, Any]] = deque()
        while True:
            ahead = WINDOW * max(1, sum(self._client.nthreads().values())) - len(window)
            window.extend((chunk, self._submit(chunk)) for chunk in islice(todo, max(0, ahead)))
            if not window or stopped():
                return
            chunk, future = window.popleft()
            results = self._results(future, stopped)
            if results is None:
                for _, other in window:  # whatever kills a worker takes along what else is there
                    self._results(other, stopped)
                results = [result for half in _halves(chunk) for result in self._alone(half, stopped)]
            if stopped():
                return
            yield chunk, results

    def _submit(self, chunk: Chunk) -> Any:
        return self._client.submit(_make, self._source, chunk, pure=False)

    def _alone(self, chunk: Chunk, stopped: Callable[[], bool]) -> list[T | Broken]:
        """Make a chunk while no other is under way, in halves if need be: the run that kills its worker is broken."""
        results = self._results(self._submit(chunk), stopped)
        if results is not None:
            return results
        if chunk.stop - chunk.start == 1:
            return [Broken("every worker that was given this run was lost in it")]
        return [result for half in _halves(chunk) for result in self._alone(half, stopped)]

    def _results(self, future: Any, stopped: Callable[[], bool]) -> list[T | Broken] | None:
        """What a chunk came to; None when too many workers died of it, and nothing when it was stopped."""
        while not stopped():
            if future.status == "cancelled":
                raise Lost(f"the scheduler at {self._address} is gone")
            if future.status == "error":
                error = future.exception(timeout=SENT_S)
                if isinstance(error, distributed.KilledWorker):
                    return None
                raise Unfit(f"{type(error).__name__}: {error}")
            if future.status == "finished":
                with suppress(TimeoutError):  # whoever had it died, and it is made again
                    return future.result(timeout=SENT_S)
            self._look()
        return []

    def _look(self) -> None:
        """Wait a moment, as long as there is a worker to wait for."""
        deadline = time.monotonic() + ALONE_S
        time.sleep(LOOK_S)
        while not self._client.nthreads():
            if time.monotonic() > deadline:
                raise Lost(f"the cluster at {self._address} has had no worker for {ALONE_S} s")
            time.sleep(LOOK_S)


def _halves(chunk: Chunk) -> list[Chunk]:
    middle = (chunk.start + chunk.stop) // 2
    parts = (Chunk(chunk.key, chunk.start, middle), Chunk(chunk.key, middle, chunk.stop))
    return [part for part in parts if part.start < part.stop]


def _make(source: Source[T], chunk: Chunk) -> list[T | Broken]:
    """Make the runs of a chunk, in a worker; one chunk at a time, however many threads it has."""
    with _turn():
        work = source()
        return [attempt(work, chunk.key, index) for index in range(chunk.start, chunk.stop)]


@lru_cache(maxsize=1)
def _turn() -> Lock:
    return Lock()
