"""One capture's two streams as bounded segments, pages, seals and a manifest, each durable at once."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable

from sim.content import Content, feed, join, sha256
from sim.design import Limits, capture, publication
from sim.effects import Failed, Uncertain
from sim.ids import segment_resource_id
from sim.protocol import STREAMS, Capture, Envelope, Physical, Published, PublishOutput, Seal
from sim.rule import Decide
from sim.shell.retained import (
    REFUSED,
    Manifest,
    Page,
    SealContent,
    Segment,
    StreamPages,
    encoded,
)

Publish = Callable[[PublishOutput, str], Awaitable[Published]]
"""Makes one piece durable at once, under the name of its place. Failed or Uncertain: it is not, or nobody knows."""


class Stream:
    """One stream as far as the owner has it: ``accepted`` bytes were taken, ``published`` of them are durable."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.accepted = 0
        self.published = 0
        self.segments = 0
        self.ended = False
        self.seal: Seal | None = None
        self.buffer: Content = b""
        self.unlisted: list[Segment] = []
        self.pages: list[str] = []
        self.taken = hashlib.sha256()
        self.kept = hashlib.sha256()


class Segments:
    """The sequential segment adapter of one capture (003 Durable output storage). What failed once stays failed."""

    def __init__(self, capture_id: str, publish: Publish, ask: Decide, limits: Limits) -> None:
        self.capture_id = capture_id
        self.publish = publish
        self.ask = ask
        self.limits = limits
        self.reason = ""
        self.streams = {name: Stream(name) for name in STREAMS}

    def fail(self, reason: str) -> None:
        """This capture will never be complete."""
        self.reason = self.ask(capture.capture_stays_failed, self.reason, reason)

    async def append(self, stream: Stream, content: Content) -> None:
        """Take bytes into the one segment buffer of their stream; publish it whenever it is full."""
        stream.accepted += len(content)
        feed(stream.taken, content)
        stream.buffer = join(stream.buffer, content)
        while len(stream.buffer) >= self.limits.segment:
            await self._segment(stream, self.limits.segment)

    async def finish(self, stream: Stream) -> None:
        """Publish what is left of a stream, verify its exact prefix, and seal it."""
        if stream.buffer:
            await self._segment(stream, len(stream.buffer))
        if stream.unlisted:
            await self._page(stream)
        taken, kept = stream.taken.hexdigest(), stream.kept.hexdigest()
        if not self.ask(capture.prefix_is_exact, stream.accepted, stream.published, taken, kept):
            self.fail(capture.STORAGE_FAILED)
            raise Failed(REFUSED)
        seal = Seal(stream.name, stream.segments, stream.published, kept)
        told = encoded(SealContent(seal.segments, seal.length, seal.digest))
        await self._publish("seal", self._seal_id(stream), told, f"seal-{stream.name}")
        stream.seal = seal

    async def end(self, stream: Stream, complete: bool) -> bool:
        """A stream takes nothing more: sealed when every byte of it was accepted and published, else failed."""
        stream.ended = True
        if not complete:
            self.fail(capture.PRODUCER_LOST)
        if self.reason:
            return False
        await self.finish(stream)
        return True

    async def finalize(self, execution: str, physical: Physical) -> Envelope:
        """The manifest, and the result with its physical status, whatever became of the capture."""
        if physical.failed:
            self.fail(capture.PRODUCER_LOST)
        kept = await self.close()
        return Envelope(
            execution,
            self.ask(capture.result_status, physical.status, kept.status),
            physical.exit_code,
            physical.signal,
            physical.preview,
            physical.truncated,
            kept,
        )

    async def close(self) -> Capture:
        """Publish the manifest, and say what is durable; an output without a manifest is unavailable."""
        resource = f"manifest-{self.capture_id}"
        streams = tuple(
            StreamPages(stream.name, tuple(stream.pages), self._seal_id(stream) if stream.seal else "")
            for stream in self.streams.values()
        )
        try:
            manifest = encoded(Manifest(self.capture_id, streams))
            await self._publish("manifest", resource, manifest, "res-manifest")
        except (Failed, Uncertain):
            resource = ""
        return self._described(resource)

    def _described(self, manifest: str) -> Capture:
        seals = tuple(stream.seal for stream in self.streams.values() if stream.seal)
        listed = sum(len(stream.pages) for stream in self.streams.values())
        failed = bool(self.reason)
        status = self.ask(capture.capture_status, len(seals), listed, bool(manifest), failed)
        reason = "" if status == capture.COMPLETE else self.reason or capture.PRODUCER_LOST
        return Capture(self.capture_id, status, reason, manifest, seals)

    def _seal_id(self, stream: Stream) -> str:
        return segment_resource_id(self.capture_id, stream.name, "seal")

    async def _segment(self, stream: Stream, size: int) -> None:
        content = stream.buffer[:size]
        if not self.ask(capture.within_bounds, stream.segments + 1, len(stream.pages) + 1, self.limits):
            self.fail(capture.SIZE_LIMIT)
            raise Failed(REFUSED)
        resource = segment_resource_id(self.capture_id, stream.name, stream.segments)
        name = f"seg-{stream.name}-{stream.segments}"
        digest = await self._publish("content", resource, content, name)
        stream.buffer = stream.buffer[size:]
        feed(stream.kept, content)
        stream.published += size
        stream.segments += 1
        stream.unlisted.append(Segment(resource, size, digest))
        if len(stream.unlisted) == self.limits.segments_per_page:
            await self._page(stream)

    async def _page(self, stream: Stream) -> None:
        resource = f"page-{self.capture_id}-{stream.name}-{len(stream.pages)}"
        page = encoded(Page(stream.name, tuple(stream.unlisted)))
        await self._publish("page", resource, page, f"res-page-{stream.name}-{len(stream.pages)}")
        stream.pages.append(resource)
        stream.unlisted = []

    async def _publish(self, kind: str, resource: str, content: Content, name: str) -> str:
        """Make a piece durable, once: a refusal or doubt fails the capture for ever. Answers its digest."""
        digest = sha256(content)
        try:
            published = await self.publish(PublishOutput(kind, resource, content), name)
        except (Failed, Uncertain) as failure:
            self.fail(self.ask(publication.failure_reason, str(failure), capture.STORAGE_FAILED))
            raise
        if not self.ask(capture.publication_is_exact, digest, published.digest):
            self.fail(capture.STORAGE_FAILED)
            raise Failed(REFUSED)
        return digest
