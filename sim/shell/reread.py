"""Durable output read again, in bounded ranges, and compared with what its seals say."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from typing import TypeVar

from sim.content import Content, feed, join, read
from sim.design import Limits, capture
from sim.effects import Failed
from sim.protocol import Capture, Piece, ReadOutput
from sim.rule import Decide
from sim.shell.retained import REFUSED, Manifest, Page, Segment, decoded

T = TypeVar("T")

ReadPiece = Callable[[ReadOutput], Awaitable[Piece]]
"""Reads one range of a durable resource. Failed or Uncertain: it cannot be read."""


class Reread:
    """Reads what is durable of one Session, wherever its pieces come from."""

    def __init__(self, piece: ReadPiece, ask: Decide, limits: Limits) -> None:
        self.piece = piece
        self.ask = ask
        self.limits = limits

    async def verify(self, kept: Capture) -> None:
        """Read every byte again, through manifest and pages, and compare it with the seals."""
        manifest = await self._retained(kept.manifest, self.limits.manifest, Manifest)
        require(manifest.capture_id == kept.id)
        pages = {stream.stream_id: stream.pages for stream in manifest.streams}
        for _, seal in enumerate(kept.seals):
            segments = await self._listed(seal.stream, pages.get(seal.stream, ()))
            length, digest = 0, hashlib.sha256()
            for _place, segment in enumerate(segments):
                content = await self.whole(segment.resource_id, segment.byte_length)
                length += len(content)
                feed(digest, content)
            found = digest.hexdigest()
            require(self.ask(capture.output_is_exact, length, seal.length, found, seal.digest))

    async def whole(self, resource: str, most: int) -> Content:
        """A whole resource of at most that many bytes, in bounded ranges."""
        content: Content = b""
        total = 1
        while len(content) < min(total, most):
            end = self.ask(capture.range_end, len(content), most, self.limits)
            piece = await self.piece(ReadOutput(resource, len(content), end))
            require(bool(piece.content))
            content = join(content, piece.content)
            total = piece.total
        return content

    async def _listed(self, stream: str, pages: tuple[str, ...]) -> list[Segment]:
        """Every segment of a stream, by the pages that the manifest names."""
        listed: list[Segment] = []
        for _, resource in enumerate(pages):
            page = await self._retained(resource, self.limits.page, Page)
            require(page.stream_id == stream)
            listed += page.segments
        return listed

    async def _retained(self, resource: str, most: int, kind: type[T]) -> T:
        content = await self.whole(resource, most)
        return decoded(read(content), kind)


def require(holds: bool) -> None:
    """What does not hold is refused; the owner answers nothing more precise to a worker."""
    if not holds:
        raise Failed(REFUSED)
