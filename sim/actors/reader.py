"""A fresh reader: comes when every producer is dead, and knows nothing but what the Store lets anybody read.

It shares no code with the capture that it verifies. Everything starts from a durable receipt: its manifest names pages
and seals, the pages name segments.
"""

from __future__ import annotations

import hashlib
from typing import TypeVar

import msgspec

from sim.actor import Actor
from sim.content import Content, feed, join, read, sha256
from sim.design import Limits, reading
from sim.effects import Call, Failed
from sim.ids import segment_resource_id
from sim.protocol import (
    STREAMS,
    Capture,
    ListResources,
    ReadJournal,
    ReadResource,
    Reread,
    RereadOutput,
    RereadStream,
    Retained,
    Seal,
    ToolReceipt,
    VerifyRetained,
)
from sim.rule import Decide

T = TypeVar("T")

STORE = "store"
UNREADABLE = "retained_output_unreadable"
PUBLISHED = ("content", "page", "seal", "manifest")
"""The kinds of resources that a capture publishes."""


class Segment(msgspec.Struct, frozen=True, rename="camel"):
    """A segment as a page lists it."""

    resource_id: str
    byte_length: int
    digest: str


class Page(msgspec.Struct, frozen=True, rename="camel"):
    """Consecutive segments of one stream."""

    stream_id: str
    segments: tuple[Segment, ...]


class Sealed(msgspec.Struct, frozen=True, rename="camel"):
    """What a seal says."""

    segment_count: int
    byte_length: int
    digest: str


class Pages(msgspec.Struct, frozen=True, rename="camel"):
    """One stream as a manifest tells it."""

    stream_id: str
    pages: tuple[str, ...]
    seal: str


class Manifest(msgspec.Struct, frozen=True, rename="camel"):
    """The root of one capture."""

    capture_id: str
    streams: tuple[Pages, ...]


class Shelf(msgspec.Struct):
    """What is durable of a Session, and what of it one receipt has led to."""

    session: str
    listed: tuple[Retained, ...]
    reached: set[str]

    def doubt(self, capture: str) -> None:
        """Everything that this capture may have published counts as its own: the names follow from its id."""
        most = sum(each.kind == "content" for each in self.listed)
        own = {segment_resource_id(capture, stream, place) for stream in STREAMS for place in range(most)}
        own |= {segment_resource_id(capture, stream, "seal") for stream in STREAMS}
        others = (f"page-{capture}-", f"manifest-{capture}")
        self.reached |= own | {each.resource for each in self.listed if each.resource.startswith(others)}


class Reader(Actor):
    """Verifies what is retained of a Session. It writes nothing, owns nothing, and asks nobody but the Store."""

    def __init__(self, ask: Decide, limits: Limits) -> None:
        self.ask = ask
        self.limits = limits

    async def verify(self, request: VerifyRetained) -> Reread:
        """Every output that a receipt names, from its manifest down; and what no receipt names."""
        session = request.session
        journal = await Call(STORE, ReadJournal(session))
        catalogue = await Call(STORE, ListResources(session))
        receipts = [entry.record for entry in journal.entries if isinstance(entry.record, ToolReceipt)]
        outputs: list[RereadOutput] = []
        named: set[str] = set()
        for _, receipt in enumerate(receipts):
            shelf = Shelf(session, catalogue.resources, set())
            output = await self.output(shelf, receipt)
            outputs.append(output)
            named |= shelf.reached
        return Reread(tuple(outputs), self.abandoned(named, catalogue.resources))

    async def output(self, shelf: Shelf, receipt: ToolReceipt) -> RereadOutput:
        """One output afresh; what does not verify is its flaw, and leaves all that its capture published in doubt."""
        kept = receipt.envelope.capture
        if kept is None or not kept.manifest:
            return RereadOutput(receipt.execution, receipt.delivery, (), "")
        try:
            streams = await self.streams(shelf, kept)
        except Failed as flaw:
            shelf.doubt(kept.id)
            return RereadOutput(receipt.execution, receipt.delivery, (), flaw.code)
        return RereadOutput(receipt.execution, receipt.delivery, streams, "")

    async def streams(self, shelf: Shelf, kept: Capture) -> tuple[RereadStream, ...]:
        """Both streams, as the manifest tells them."""
        manifest = await self.retained(shelf, kept.manifest, self.limits.manifest, Manifest)
        self.require(self.ask(reading.manifest_is_of_capture, manifest.capture_id == kept.id), "manifest")
        seals = {seal.stream: seal for seal in kept.seals}
        streams: list[RereadStream] = []
        for _, pages in enumerate(manifest.streams):
            stream = await self.stream(shelf, pages)
            seal = seals.get(pages.stream_id)
            if seal is not None:
                await self.verify_seal(shelf, pages.seal, seal, stream)
            streams.append(stream)
        return tuple(streams)

    async def stream(self, shelf: Shelf, pages: Pages) -> RereadStream:
        """Every byte of one stream, segment by segment."""
        hashed, length = hashlib.sha256(), 0
        segments: list[Segment] = []
        for _, resource in enumerate(pages.pages):
            page = await self.retained(shelf, resource, self.limits.page, Page)
            self.require(self.ask(reading.page_is_of_stream, page.stream_id == pages.stream_id), "page")
            segments += page.segments
        for _, segment in enumerate(segments):
            content = await self.read(shelf, segment.resource_id, segment.byte_length)
            listed = (segment.byte_length, segment.digest)
            exact = self.ask(reading.segment_is_exact, len(content), sha256(content), *listed)
            self.require(exact, "segment")
            feed(hashed, content)
            length += len(content)
        return RereadStream(pages.stream_id, len(segments), len(pages.pages), length, hashed.hexdigest())

    async def verify_seal(self, shelf: Shelf, resource: str, seal: Seal, stream: RereadStream) -> None:
        """The seal in the Store, the seal in the receipt and the bytes that were read all say the same."""
        stored = await self.retained(shelf, resource, self.limits.manifest, Sealed)
        told = (stored.segment_count, stored.byte_length, stored.digest)
        recorded = (seal.segments, seal.length, seal.digest)
        self.require(self.ask(reading.seal_is_recorded, told == recorded), "seal")
        found = (stream.segments, stream.length, stream.digest)
        self.require(self.ask(reading.stream_is_as_sealed, found == recorded), "stream")

    async def retained(self, shelf: Shelf, resource: str, most: int, kind: type[T]) -> T:
        """What a small resource says. Failed: it cannot be read."""
        content = await self.read(shelf, resource, most)
        try:
            return msgspec.json.decode(read(content), type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise Failed(UNREADABLE) from None

    async def read(self, shelf: Shelf, resource: str, most: int) -> Content:
        """A whole resource of at most that many bytes, in bounded ranges."""
        content: Content = b""
        total = 1
        while len(content) < min(total, most):
            end = min(len(content) + self.limits.reread, most)
            piece = await Call(STORE, ReadResource(shelf.session, resource, len(content), end))
            self.require(bool(piece.content), "resource")
            content, total = join(content, piece.content), piece.total
        shelf.reached.add(resource)
        return content

    def require(self, holds: bool, what: str) -> None:
        """What does not hold is a flaw of the output."""
        if not holds:
            raise Failed(f"retained_{what}_flawed")

    def abandoned(self, named: set[str], listed: tuple[Retained, ...]) -> tuple[str, ...]:
        """Every published resource to which no receipt leads."""
        published = [each.resource for each in listed if each.kind in PUBLISHED]
        return tuple(name for name in published if self.ask(reading.is_abandoned, name in named))

    handlers = {VerifyRetained: verify}
