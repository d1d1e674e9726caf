"""What a kernel keeps of processes, hosts and running scripts. Nothing here knows how time passes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import msgspec

from sim.actor import Actor
from sim.effects import Serial


class Process:
    """One life of one operating-system process. Its successor is another object."""

    __slots__ = ("alive", "backlog", "name", "paused", "running")

    def __init__(self, name: str, alive: bool = True) -> None:
        self.name = name
        self.alive = self.running = alive
        self.paused = False
        self.backlog: list[tuple[Callable[..., None], tuple[Any, ...]]] = []

    def die(self) -> None:
        """The end of this life: whatever a pause held back is gone with it."""
        self.alive = self.running = self.paused = False
        self.backlog = []


class Host:
    """Where an actor lives: how to build it, and what it is in the present life of its process."""

    def __init__(self, address: str, process_name: str, build: Callable[[int], Actor]) -> None:
        self.address = address
        self.process_name = process_name
        self.build = build
        self.actor = Actor()
        self.handlers = self.actor.handlers
        self.process = Process(process_name, alive=False)
        self.waiters: dict[str, list[Callable[[], None]]] = {}
        self.queues: dict[str, deque[tuple[Life, Serial[Any]]]] = {}

    def forget(self) -> None:
        """Nobody waits here any more."""
        self.waiters = {}
        self.queues = {}

    def born(self, process: Process, life: int) -> None:
        """A new life: the same constructor again, and nothing of what was in memory."""
        self.forget()
        self.process = process
        self.actor = self.build(life)
        self.handlers = self.actor.handlers


class Life(msgspec.Struct, eq=False):
    """One running script: its coroutine, where it came from, and what hears of its end.

    ``exchange`` is what it answers, if it is a handler.
    """

    serial: int
    host: Host
    process: Process
    coroutine: Any
    parent: Life | None
    label: str
    nth: int
    exchange: Any
    counts: dict[str, int] = {}
    path: str = ""
    stopped: bool = False
    doomed: bool = False
    ended: bool = False
    answer: Any = None
    error: Exception | None = None
    listeners: tuple[Callable[[Any, Exception | None], None], ...] = ()

    @property
    def dead(self) -> bool:
        """Whether it will never be fed again."""
        return self.stopped or not self.process.alive

    def causes(self) -> str:
        """The path of causes, as it stands in a point."""
        if not self.path:
            step = f"{self.label}#{self.nth}"
            self.path = f"{self.parent.causes()}/{step}" if self.parent is not None else step
        return self.path
