"""What a fresh reader believes of retained output: only what verifies from the receipt down."""

from __future__ import annotations

from sim.rule import rule


@rule("003 Durable output storage", without="the manifest of another capture passes for this one's")
def manifest_is_of_capture(same: bool) -> bool:
    """A manifest counts for the capture that it names."""
    return same


@rule("003 Durable output storage", without="a page of the other stream is read into this one")
def page_is_of_stream(same: bool) -> bool:
    """A page counts for the stream that it names."""
    return same


@rule("003 Durable output storage", without="a segment that rotted passes for what the process wrote")
def segment_is_exact(read: int, digest: str, listed: int, listed_digest: str) -> bool:
    """A segment has the length and the digest that its page lists."""
    return (read, digest) == (listed, listed_digest)


@rule(
    "003 Durable output storage", without="a seal that rotted, or another's, passes for that of the receipt"
)
def seal_is_recorded(same: bool) -> bool:
    """The seal in the Store says what the seal in the receipt says."""
    return same


@rule("003 Durable output storage", without="a stream that lost its end passes as whole")
def stream_is_as_sealed(same: bool) -> bool:
    """A sealed stream has exactly the segments, the length and the digest of its seal."""
    return same


@rule("003 Durable output storage", without="bytes that nobody admitted pass for output")
def is_abandoned(named: bool) -> bool:
    """What was published and no receipt leads to is kept, and is told to be abandoned."""
    return not named
