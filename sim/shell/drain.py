"""What one process writes, read from its two pipes to their end and handed on piece by piece, once."""

from __future__ import annotations

from sim.content import Content, join, read
from sim.design import Limits, capture
from sim.effects import Signal, Wait
from sim.protocol import STREAMS
from sim.rule import Decide
from sim.shell.process import Pipe
from sim.text import PREVIEW_BYTES, utf8


class Tail:
    """The last bytes of both streams as they were read: all that is kept in memory of an output of any length."""

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


class Drain:
    """Reads both pipes of one process; nothing is handed on twice, and nothing more once something was not taken."""

    def __init__(self, ask: Decide, limits: Limits) -> None:
        self.ask = ask
        self.limits = limits
        self.tail = Tail(limits.process_buffer)
        self.failed = False
        self._sent: dict[str, int] = dict.fromkeys(STREAMS, 0)
        self._called: dict[str, int] = dict.fromkeys(STREAMS, 0)
        self._done: dict[str, int] = dict.fromkeys(STREAMS, 0)

    async def take(self, stream: str, offset: int, content: Content) -> bool:
        """Hand a piece of a stream on; whether it was taken."""
        raise NotImplementedError

    async def end(self, stream: str, complete: bool) -> bool:
        """Tell the end of a stream, and whether all of it was taken; whether that was heard."""
        raise NotImplementedError

    async def pump(self, stream: str, pipe: Pipe) -> None:
        """Read one pipe to its end, a bounded chunk at a time, whether the capture failed or not."""
        while self.ask(capture.drains_pipe, self.failed):
            chunk = pipe.lend(self.limits.chunk)
            if chunk:
                await self._call_back(stream, pipe, chunk)
                pipe.drop(len(chunk))
                await Signal(pipe.drained)
            elif pipe.closed:
                return
            else:
                await Wait(pipe.filled)

    async def resume(self, stream: str, pipe: Pipe) -> None:
        """A second callback, from the moment on at which the runtime resumes the stream."""
        await Wait(pipe.resumed)
        await self.pump(stream, pipe)

    async def finish(self, stream: str, pipe: Pipe) -> None:
        """Behind all that stood in the pipe when the process ended: the end of the stream."""
        while not pipe.spent:
            await Wait(pipe.drained)
        heard = await self.end(stream, not self.failed)
        self.failed = self.ask(capture.proxy_stays_failed, self.failed, not heard)

    async def _call_back(self, stream: str, pipe: Pipe, chunk: Content) -> None:
        """One pipe callback, behind those of its stream that came before it."""
        late = pipe.spent
        place = self._called[stream]
        self._called[stream] += 1
        while place > self._done[stream] and self.ask(capture.callback_waits, place - self._done[stream]):
            await Wait(pipe.called_back)
        await self._forward(stream, chunk, late)
        self._done[stream] += 1
        await Signal(pipe.called_back)

    async def _forward(self, stream: str, chunk: Content, late: bool) -> None:
        if not late:
            self.tail.add(chunk)
        if self.failed or not self.ask(capture.forwards_chunk, late):
            return
        offset = self._sent[stream]
        self._sent[stream] += len(chunk)
        taken = await self.take(stream, offset, chunk)
        self.failed = self.ask(capture.proxy_stays_failed, self.failed, not taken)
