"""A foreground command from its spawn to its end, with everything that it wrote handed on before that is told."""

from __future__ import annotations

from sim.deeds import NO_CODE, Spawn
from sim.design import capture
from sim.effects import Act, Failed, Join, Select, Signal, Sleep, Start, Stop, Wait
from sim.protocol import Physical
from sim.scenario import Program
from sim.shell.drain import Drain
from sim.shell.process import SIGTERM, Process

CANNOT_START = 127
"""The exit code of a command that could not become a process, as a shell tells it."""


class Foreground:
    """One foreground command: its process, whoever reads its pipes, and whether it was told to stop."""

    def __init__(self, spawn: Spawn, program: Program, drain: Drain) -> None:
        self.spawn = spawn
        self.drain = drain
        self.ask = drain.ask
        self.halted = False
        self.process = Process(spawn.execution, spawn.workspace, program, drain.limits.pipe)

    async def run(self, timeout: int) -> Physical:
        """Spawn, read, wait for the end; kill after ``timeout`` virtual milliseconds, or when it is to halt."""
        try:
            await Act(self.spawn)
        except Failed:
            self.process.end()
            code = CANNOT_START
        else:
            code = await self._watch(timeout)
        for _, (stream, pipe) in enumerate(self.process.pipes.items()):
            await self.drain.finish(stream, pipe)
        return self._ended(code)

    async def halt(self) -> None:
        """Stop the process, now or as soon as it is there."""
        self.halted = True
        await Signal(self._halt)

    @property
    def _halt(self) -> str:
        return f"{self.spawn.execution}:halt"

    async def _watch(self, timeout: int) -> int:
        """Read both pipes while the process lives; answers its exit code, or NO_CODE when it was killed."""
        for _, (stream, pipe) in enumerate(self.process.pipes.items()):
            await Start(self.drain.pump, (stream, pipe))
            if stream in self.process.resumes:
                await Start(self.drain.resume, (stream, pipe))
        living = await Start(self.process.live)
        if not self.halted:
            await Select((Join(living), Wait(self._halt), Sleep(timeout)))
        killed = await self.process.killed()
        if not killed:
            return await Join(living)
        await Stop(living)
        return NO_CODE

    def _ended(self, code: int) -> Physical:
        """How the process ended, whatever became of its output."""
        tail = self.drain.tail
        status = self.ask(capture.physical_status, self.halted and code == NO_CODE, code)
        signal = SIGTERM if code == NO_CODE else ""
        shown = self.ask(capture.preview, tail.text)
        return Physical(status, code, signal, shown, tail.truncated, self.drain.failed)
