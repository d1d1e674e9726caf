"""A command's process and its two pipes, as the operating system of the worker's machine has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from sim.content import Content, generated, join
from sim.deeds import NO_CODE, Emit, ExitProcess, TouchFile
from sim.effects import Act, Failed, Signal, Sleep, Start, Wait
from sim.protocol import STREAMS
from sim.scenario import Exit, Generate, Pass, Print, Program, Resume, Step, Touch
from sim.text import utf8

SIGTERM = "SIGTERM"
BROKEN = 1
"""The exit code of a command that could not do one of its steps."""


class Pipe:
    """One pipe: holds at most ``capacity`` bytes; its writer waits while it is full, its reader while it is empty."""

    def __init__(self, name: str, capacity: int) -> None:
        self.filled = f"{name}:filled"
        self.drained = f"{name}:drained"
        self.resumed = f"{name}:resumed"
        self.called_back = f"{name}:called back"
        self.closed = False
        self._capacity = capacity
        self._held: Content = b""
        self._written = 0
        self._taken = 0
        self._lent = 0
        self._end: int | None = None

    @property
    def room(self) -> int:
        """How many bytes go in before the writer waits."""
        return self._capacity - len(self._held)

    @property
    def spent(self) -> bool:
        """Everything that stood in the pipe when the process ended was taken: what follows is late."""
        return self._end is not None and self._taken >= self._end

    def put(self, content: Content) -> None:
        """The writer's end."""
        self._held = join(self._held, content)
        self._written += len(content)

    def lend(self, most: int) -> Content:
        """The next bytes that nobody reads yet; they stay until they are dropped.

        Never some that are late beside some that are not.
        """
        if self._end is not None and not self.spent:
            most = min(most, self._end - self._taken - self._lent)
        piece = self._held[self._lent : self._lent + most]
        self._lent += len(piece)
        return piece

    def drop(self, length: int) -> None:
        """A reader is done with ``length`` bytes, the first of those that are lent."""
        self._held = self._held[length:]
        self._lent -= length
        self._taken += length

    def end(self) -> None:
        """The process has ended; a detached child may still hold the pipe."""
        self._end = self._written


class Process:
    """One process: plays the steps of its program. What comes after an exit is a detached child's doing."""

    def __init__(self, execution: str, workspace: str, program: Program, capacity: int) -> None:
        self.pipes: Mapping[str, Pipe] = {
            stream: Pipe(f"{execution}:{stream}", capacity) for stream in STREAMS
        }
        self._leaving = False
        self._left: tuple[Step, ...] = ()
        self._execution = execution
        self._workspace = workspace
        self._steps = program.steps
        self.resumes = {step.stream for step in program.steps if isinstance(step, Resume)}

    async def live(self) -> int:
        """The process from spawn to exit; answers its exit code."""
        code = await self._play()
        self._leaving = True
        try:
            await Act(ExitProcess(self._execution, code, ""))
        except Failed:
            code = BROKEN
        self.end()
        if self._left:
            await Start(self._linger)
        else:
            await self._hang_up()
        return code

    async def killed(self) -> bool:
        """Send the signal; False when the process could not be stopped, or is about to end by itself."""
        if self._leaving:
            return False
        try:
            await Act(ExitProcess(self._execution, NO_CODE, SIGTERM))
        except Failed:
            return False
        self.end()
        await self._hang_up()
        return True

    def end(self) -> None:
        """Nothing that comes after this is the process's own output."""
        for pipe in self.pipes.values():
            pipe.end()

    async def _hang_up(self) -> None:
        """Nobody holds the writing ends any more."""
        for _, pipe in enumerate(self.pipes.values()):
            pipe.closed = True
            await Signal(pipe.filled)

    async def _play(self) -> int:
        """The command itself: a step that cannot be done ends it."""
        try:
            for place, step in enumerate(self._steps):
                if isinstance(step, Exit):
                    self._left = self._steps[place + 1 :]
                    return step.code
                await self._do(step)
        except Failed:
            return BROKEN
        return 0

    async def _linger(self) -> None:
        """The detached child, which still holds the pipes."""
        for _, step in enumerate(self._left):
            await self._do(step)
        await self._hang_up()

    async def _do(self, step: Step) -> None:
        if isinstance(step, Touch):
            await Act(TouchFile(self._execution, self._workspace, step.file, utf8(step.line) + b"\n"))
        elif isinstance(step, Pass):
            await Sleep(step.ms)
        elif isinstance(step, Resume):
            await Signal(self.pipes[step.stream].resumed)
        elif isinstance(step, Print):
            await self._print(step.stream, partial(_cycled, step.unit), len(step.unit) * step.count)
        elif isinstance(step, Generate):
            whole = generated(step.seed, step.length)
            await self._print(step.stream, lambda start, length: whole[start : start + length], step.length)

    async def _print(self, stream: str, written: Callable[[int, int], Content], length: int) -> None:
        """Write as much as the pipe has room for, and wait for room for the rest."""
        pipe = self.pipes[stream]
        at = 0
        while at < length:
            while not pipe.room:
                await Wait(pipe.drained)
            piece = written(at, min(pipe.room, length - at))
            await Act(Emit(self._execution, stream, piece, self._leaving))
            pipe.put(piece)
            at += len(piece)
            await Signal(pipe.filled)


def _cycled(unit: bytes, at: int, length: int) -> bytes:
    """Bytes ``at`` to ``at + length`` of ``unit`` repeated for ever."""
    start = at % len(unit)
    return (unit * ((start + length) // len(unit) + 1))[start : start + length]
