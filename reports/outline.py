"""What a campaign is before its first run: which bench, which rows with how many runs each, which faults."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

import msgspec

from faults.engine import CHUNK, Chunk, chunks
from faults.sweeps import Selection
from scenarios.evidence import Demand
from scenarios.trace.sentence import Matrix

DECIDING = ("sim", "faults", "scenarios", "reports")
"""The packages that decide what a run comes to, and what is recorded of it."""


class Shard(msgspec.Struct, frozen=True):
    """One of ``of`` parts of a campaign; the first is number 1."""

    number: int = 1
    of: int = 1

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @property
    def in_words(self) -> str:
        """What part it is."""
        return f"shard {self}" if self.of > 1 else "the whole campaign"


WHOLE = Shard()


class Title(msgspec.Struct, frozen=True):
    """What a row says of itself: see :class:`reports.bench.Card`."""

    name: str
    theme: str
    cases: tuple[str, ...]
    why: str
    cites: str
    sweepable: bool
    evidence: str = ""


class Counted(msgspec.Struct, frozen=True):
    """A selected row: the digest of its design, its runs, points struck, looks left out, the digest of its plans."""

    name: str
    design: str
    runs: int
    points: int
    polls: int
    plans: str


class Size(msgspec.Struct, frozen=True):
    """How a count of runs was made: every row as it stands, and single faults on top."""

    rows: int
    runs: int
    faults: int
    points: int
    polls: int


class Outline(msgspec.Struct, frozen=True, dict=True):
    """All that is known of a campaign before its first run; outlines that differ are different campaigns.

    ``version`` is that of the bench and ``code`` a digest of what it runs; ``rows`` are the selected ones, counted,
    ``titles`` those of the whole bench, ``rules`` the rules of the design with the types of their answers, and
    ``traced`` the sentences of the seeds, as that bench had them; ``named`` is the design that was
    applied to every row, ``store`` the kind of database that it was played on.
    ``traced`` the sentences of the seeds and ``demands`` the table of evidence, as that bench had them; ``named`` is
    the design that was applied to every row.
    """

    version: str
    code: str
    selection: Selection
    faults: int
    rows: tuple[Counted, ...]
    titles: tuple[Title, ...]
    rules: dict[str, str]
    chunk: int = CHUNK
    shard: Shard = WHOLE
    traced: tuple[Matrix, ...] = ()
    named: str = "seed"
    store: str = "memory"
    demands: tuple[Demand, ...] = ()

    @cached_property
    def size(self) -> Size:
        """How many runs the whole campaign has, and how they come about."""
        runs, rows = sum(row.runs for row in self.rows), len(self.rows)
        points, polls = sum(row.points for row in self.rows), sum(row.polls for row in self.rows)
        return Size(rows, runs, runs - rows, points, polls)

    @cached_property
    def due(self) -> int:
        """How many runs this shard has."""
        return sum(chunk.stop - chunk.start for chunk in self.ranges())

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each selected row in the sweep."""
        return {row.name: place for place, row in enumerate(self.rows)}

    @cached_property
    def bench(self) -> Remembered:
        """The bench, as far as a report needs it."""
        return Remembered(self)

    def ranges(self) -> Iterator[Chunk]:
        """This shard's runs: every so many-th chunk, so that slow rows and short chunks are shared out."""
        whole = (chunk for row in self.rows for chunk in chunks(row.name, row.runs, self.chunk))
        return islice(whole, self.shard.number - 1, None, self.shard.of)

    def unlike(self, other: Outline) -> list[str]:
        """What two campaigns differ in, in words; empty when they are one and the same."""
        columns = (
            ("version of the bench", self.version, other.version),
            ("code of the bench", self.code, other.code),
            ("design", self.named, other.named),
            ("database", self.store, other.store),
            ("faults in a run", self.faults, other.faults),
            ("selected rows", self.selection.rows, other.selection.rows),
            ("selected fates", self.selection.fates, other.selection.fates),
            ("selected points", self.selection.points, other.selection.points),
            ("runs in a chunk", self.chunk, other.chunk),
            ("rows of the bench", self.titles, other.titles),
            ("rules of the design", self.rules, other.rules),
            ("sentences of the seeds", self.traced, other.traced),
            ("table of evidence", self.demands, other.demands),
        )
        found = [what for what, one, another in columns if one != another]
        if self.selection.rows == other.selection.rows:
            pairs = zip(self.rows, other.rows, strict=True)
            found += [f"{_which(one, another)} of {one.name}" for one, another in pairs if one != another]
        return found


def _which(one: Counted, other: Counted) -> str:
    if one.design != other.design:
        return f"design ({one.design}, {other.design})"
    return "plans" if one.runs == other.runs else f"number of runs ({one.runs:,}, {other.runs:,})"


class Remembered:
    """The names and texts of a bench, kept in an outline: what reports tell, whatever bench made the campaign."""

    def __init__(self, outline: Outline) -> None:
        self._titles = {title.name: title for title in outline.titles}
        self._rules = outline.rules
        self._designs = {row.name: row.design for row in outline.rows}

    def rows(self) -> Mapping[str, Title]:
        """Every row of the bench, selected or not."""
        return self._titles

    def rules(self) -> Mapping[str, str]:
        """Every rule of the design, with the type of its answer."""
        return self._rules

    def design(self, row: str) -> str:
        """The digest of a selected row's design."""
        return self._designs[row]


def released() -> str:
    """The version of this bench."""
    try:
        return version("turnproof")
    except PackageNotFoundError:
        return "not installed"


@lru_cache(maxsize=1)
def code() -> str:
    """A digest of the code that decides what a run comes to."""
    sha = hashlib.sha256()
    for package in DECIDING:
        spec = find_spec(package)
        folder = Path(spec.origin).parent if spec is not None and spec.origin else Path(package)
        for path in sorted(folder.rglob("*.py")):
            sha.update(f"{package}/{path.relative_to(folder).as_posix()}\0".encode())
            sha.update(path.read_bytes() + b"\0")
    return sha.hexdigest()[:12]
