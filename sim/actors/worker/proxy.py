"""The worker's side of one capture: what comes out of the pipes goes to the Session's owner, once."""

from __future__ import annotations

from typing import Any, TypeVar

from sim.actors.worker.process import Pipe
from sim.content import Content, join, read
from sim.design import Limits, capture
from sim.effects import Call, Failed, Request, Scripted, Signal, Uncertain, Wait
from sim.protocol import (
    STREAMS,
    AcceptCapture,
    Descriptor,
    Envelope,
    FinalizeCapture,
    FinishOutput,
    Physical,
    PreparePublication,
    Receipt,
    Reference,
    WriteOutput,
)
from sim.rule import Decide
from sim.text import PREVIEW_BYTES, utf8

R = TypeVar("R")


class Tail:
    """The last bytes of both streams as they were read: all that a worker keeps of an output of any length."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: Content = b""
        self._cut = False

    def add(self, content: Content) -> None:
        """Keep these bytes, and forget the oldest."""
        kept = join(self._kept, content)
        self._cut = self._cut or len(kept) > self._size
        self._kept = kept[-self._size :]

    @property
    def text(self) -> str:
        """The bytes as text; one whose beginning is lost begins with a whole character."""
        kept, start = read(self._kept), 0
        while self._cut and start < len(kept) and kept[start] & 0xC0 == 0x80:
            start += 1
        return kept[start:].decode(errors="replace")

    @property
    def truncated(self) -> bool:
        """Whether a bounded preview shows less than the process wrote."""
        return self._cut or len(utf8(self.text)) > PREVIEW_BYTES


class Proxy:
    """Sends what one process writes; nothing twice, and nothing more once something was not answered."""

    def __init__(self, reference: Reference, publisher: Descriptor, ask: Decide, limits: Limits) -> None:
        self.ask = ask
        self.limits = limits
        self.tail = Tail(limits.process_buffer)
        self.failed = False
        self._execution = reference.execution
        self._reference = reference
        self._bearer = publisher.capability
        self._address = f"publisher:{publisher.session}"
        self._sent: dict[str, int] = dict.fromkeys(STREAMS, 0)

    async def opens(self) -> bool:
        """Before spawn: whether the owner opened the capture."""
        return await self._answered(PreparePublication(self._bearer, self._reference), 1)

    async def pump(self, stream: str, pipe: Pipe) -> None:
        """Read one pipe to its end, a bounded chunk at a time, whether the capture failed or not."""
        while self.ask(capture.drains_pipe, self.failed):
            chunk = pipe.peek(self.limits.write)
            if chunk:
                await self._forward(stream, chunk, pipe.spent)
                pipe.drop(len(chunk))
                await Signal(pipe.drained)
            elif pipe.closed:
                return
            else:
                await Wait(pipe.filled)

    async def finish(self, stream: str, pipe: Pipe) -> None:
        """Behind all that stood in the pipe when the process ended: the end of the stream."""
        while not pipe.spent:
            await Wait(pipe.drained)
        request = FinishOutput(self._bearer, self._execution, stream, not self.failed)
        answered = await self._answered(request, 1)
        self.failed = self.ask(capture.proxy_stays_failed, self.failed, not answered)

    def finalize(self, physical: Physical) -> Scripted[Envelope]:
        """Ask for the envelope. Its loss leaves the execution unknown."""
        return self._call(FinalizeCapture(self._bearer, self._execution, physical))

    def accept(self, envelope: Envelope) -> Scripted[Receipt]:
        """Ask for admission. Its loss leaves the execution unknown."""
        return self._call(AcceptCapture(self._bearer, self._execution, envelope))

    async def _forward(self, stream: str, chunk: Content, late: bool) -> None:
        if not late:
            self.tail.add(chunk)
        if self.failed or not self.ask(capture.forwards_chunk, late):
            return
        request = WriteOutput(self._bearer, self._execution, stream, self._sent[stream], chunk)
        self._sent[stream] += len(chunk)
        answered = await self._answered(request, self.ask(capture.raw_write_sends))
        self.failed = self.ask(capture.proxy_stays_failed, self.failed, not answered)

    async def _answered(self, request: Request[Any], sends: int) -> bool:
        """Send at most so often; whether an answer came."""
        while sends:
            try:
                await Call(self._address, request)
            except (Failed, Uncertain):
                sends -= 1
            else:
                return True
        return False

    async def _call(self, request: Request[R]) -> R:
        return await Call(self._address, request)
