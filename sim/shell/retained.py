"""What a retained output consists of, as bytes in the Store: a fresh reader needs nothing else."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from sim.effects import Failed
from sim.protocol import Envelope

T = TypeVar("T")

REFUSED = "hosted_shell_publication_failed"


class Segment(msgspec.Struct, frozen=True, rename="camel"):
    """One published piece of a stream."""

    resource_id: str
    byte_length: int
    digest: str


class Page(msgspec.Struct, frozen=True, rename="camel"):
    """Consecutive segments of one stream."""

    stream_id: str
    segments: tuple[Segment, ...]


class SealContent(msgspec.Struct, frozen=True, rename="camel"):
    """What the seal of a stream says."""

    segment_count: int
    byte_length: int
    digest: str


class StreamPages(msgspec.Struct, frozen=True, rename="camel"):
    """One stream in a manifest: its pages in order, and its seal, empty when it has none."""

    stream_id: str
    pages: tuple[str, ...]
    seal: str


class Manifest(msgspec.Struct, frozen=True, rename="camel"):
    """The root of one capture."""

    capture_id: str
    streams: tuple[StreamPages, ...]


class Outcome(msgspec.Struct, frozen=True, rename="camel"):
    """The decision of an admission, and what it was about."""

    version: int
    decision: str
    envelope: Envelope


def encoded(retained: msgspec.Struct) -> bytes:
    """The JSON text of a retained value: equal values give equal bytes."""
    return msgspec.json.encode(retained)


def decoded(content: bytes, kind: type[T]) -> T:
    """The value in retained bytes. Failed: they are not what they should be."""
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise Failed(REFUSED) from None
