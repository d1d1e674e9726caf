"""Output of any size as a value: bytes, or pieces of a generated stream that are read only where they are needed.

Small output is plain bytes. Large output is a :class:`Rope`, which says where its bytes come from, so that a history
and a Store that keep hundreds of mebibytes hold a few numbers. Both have a length and can be sliced. Whoever needs the
bytes themselves, for a digest or a preview, reads them block by block; nothing stands in for them. Sizes are bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Protocol, TypeAlias, overload

import msgspec

BLOCK = 64 * 1024
"""Generated output is made in blocks of this size, each from its own place alone."""
LINE, NUMBER = 64, 8
"""A generated line: the number of its block in so many hexadecimal digits, a space, more digits, a line feed."""
KEPT_BLOCKS, KEPT_PAGES = 256, 32
"""How many generated blocks are kept for the next reader (16 MiB), and for how many seeds what these share (2 MiB)."""


class Hash(Protocol):
    """A digest under way, as :mod:`hashlib` makes it."""

    def update(self, data: bytes, /) -> None:
        """Take some more bytes."""


class Slice(msgspec.Struct, frozen=True, gc=False, array_like=True, tag=True):
    """``length`` bytes from ``start`` on of the endless text that ``seed`` names."""

    seed: str
    start: int
    length: int

    def __len__(self) -> int:
        return self.length

    def part(self, start: int, end: int) -> Slice:
        """Its bytes ``start`` to ``end``, which lie within it."""
        return Slice(self.seed, self.start + start, end - start)


class Rope(msgspec.Struct, frozen=True, gc=False, array_like=True, tag=True):
    """Pieces behind each other, at least one of them generated; what one seed gives in one go is one piece."""

    pieces: tuple[bytes | Slice, ...]

    def __len__(self) -> int:
        return sum(len(piece) for piece in self.pieces)

    def __getitem__(self, place: slice) -> Content:
        """The bytes of a place (steps are not taken), as bytes when none of them are generated."""
        start, end, _ = place.indices(len(self))
        return _rope(_cut(self.pieces, start, end))


Content: TypeAlias = bytes | Rope
"""Output of any size."""


def generated(seed: str, length: int) -> Content:
    """The first ``length`` bytes of the text that ``seed`` names: lines of digits, no two of them alike."""
    return _rope([Slice(seed, 0, length)])


def join(first: Content, second: Content) -> Content:
    """Both behind each other."""
    if isinstance(first, bytes) and isinstance(second, bytes):
        return first + second
    return _rope([*_pieces(first), *_pieces(second)])


def blocks(content: Content) -> Iterator[bytes]:
    """The bytes in order, at most one block of generated ones at a time."""
    for piece in _pieces(content):
        if isinstance(piece, bytes):
            yield piece
        else:
            yield from _generated(piece)


def read(content: Content) -> bytes:
    """All the bytes at once: for what is known to be small."""
    return content if isinstance(content, bytes) else b"".join(blocks(content))


def feed(hash_: Hash, content: Content) -> None:
    """Hash some more bytes."""
    for block in blocks(content):
        hash_.update(block)


def sha256(content: Content) -> str:
    """The SHA-256 of the bytes, as 64 hex digits."""
    hash_ = hashlib.sha256()
    feed(hash_, content)
    return hash_.hexdigest()


def same(first: Content, second: Content) -> bool:
    """Whether both are the same bytes, however each is told."""
    return first == second or (len(first) == len(second) and sha256(first) == sha256(second))


@overload
def flipped(content: bytes) -> bytes: ...
@overload
def flipped(content: Content) -> Content: ...
def flipped(content: Content) -> Content:
    """The same bytes with the lowest bit of the last one changed; empty content stays empty."""
    return join(content[:-1], bytes([read(content[-1:])[0] ^ 1])) if content else content


def _pieces(content: Content) -> tuple[bytes | Slice, ...]:
    return (content,) if isinstance(content, bytes) else content.pieces


def _rope(pieces: Iterable[bytes | Slice]) -> Content:
    """Pieces as they are told: nothing empty, neighbours joined, plain bytes when none is generated."""
    joined: list[bytes | Slice] = []
    for piece in pieces:
        if piece:
            joined[-1:] = _next_to(joined[-1], piece) if joined else (piece,)
    if all(isinstance(piece, bytes) for piece in joined):
        return b"".join(piece for piece in joined if isinstance(piece, bytes))
    return Rope(tuple(joined))


def _next_to(first: bytes | Slice, second: bytes | Slice) -> tuple[bytes | Slice, ...]:
    """Two neighbours, as one when they can be."""
    if isinstance(first, bytes) and isinstance(second, bytes):
        return (first + second,)
    if isinstance(first, Slice) and isinstance(second, Slice):
        follows = (second.seed, second.start) == (first.seed, first.start + first.length)
        return (Slice(first.seed, first.start, first.length + second.length),) if follows else (first, second)
    return (first, second)


def _cut(pieces: Iterable[bytes | Slice], start: int, end: int) -> Iterator[bytes | Slice]:
    """The parts of the pieces that lie between two places."""
    at = 0
    for piece in pieces:
        first, last = max(start - at, 0), min(end - at, len(piece))
        if first < last:
            yield piece[first:last] if isinstance(piece, bytes) else piece.part(first, last)
        at += len(piece)


def _generated(piece: Slice) -> Iterator[bytes]:
    at, end = piece.start, piece.start + piece.length
    while at < end:
        number, within = divmod(at, BLOCK)
        taken = _block(piece.seed, number)[within : within + end - at]
        yield taken
        at += len(taken)


@lru_cache(maxsize=KEPT_BLOCKS)
def _block(seed: str, number: int) -> bytes:
    """One block: the page of its seed, with its own number at the beginning of every line."""
    block = bytearray(_page(seed))
    for column, digit in enumerate(f"{number:0{NUMBER}x}".encode()):
        block[column::LINE] = bytes([digit]) * (BLOCK // LINE)
    return bytes(block)


@lru_cache(maxsize=KEPT_PAGES)
def _page(seed: str) -> bytes:
    """What all blocks of a seed share: lines of SHAKE-128 over it, in hexadecimal digits."""
    page = bytearray(hashlib.shake_128(seed.encode()).hexdigest(BLOCK // 2).encode())
    page[NUMBER::LINE] = b" " * (BLOCK // LINE)
    page[LINE - 1 :: LINE] = b"\n" * (BLOCK // LINE)
    return bytes(page)
