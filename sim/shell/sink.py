"""A process's output on its way into the segments of its capture, in the process that captures it."""

from __future__ import annotations

from sim.content import Content
from sim.effects import Failed, Uncertain
from sim.shell.drain import Drain
from sim.shell.segments import Segments


class Sink(Drain):
    """What a process writes goes straight into the segments of its capture."""

    def __init__(self, segments: Segments) -> None:
        super().__init__(segments.ask, segments.limits)
        self.segments = segments

    async def take(self, stream: str, offset: int, content: Content) -> bool:
        """Publish what fills a segment, and keep the rest in its buffer."""
        try:
            await self.segments.append(self.segments.streams[stream], content)
        except (Failed, Uncertain):
            return False
        return True

    async def end(self, stream: str, complete: bool) -> bool:
        """Seal a stream of which every byte was taken."""
        try:
            return await self.segments.end(self.segments.streams[stream], complete)
        except (Failed, Uncertain):
            return False
