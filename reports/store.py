"""A campaign on disk: every record, in one SQLite file that survives whatever ends the process that writes it.

A chunk of runs goes in whole, as one row in one transaction: its records as text, compressed together because they are
so alike. So a process that is killed loses the chunks that were in flight and nothing else, and a chunk that is run
twice is stored once. One process writes, and while it does nobody else can open the file; when it is done the file
stands alone.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import msgspec

from faults.engine import Chunk
from reports.campaign import Record
from reports.evidence import Firsts
from reports.outline import Outline
from reports.sometimes import Witness, in_order
from reports.trouble import BENCH_ERROR, Trouble
from sim.text import show

STORE, BEFORE = "campaign.db", "campaign-before.db"
"""The file of a campaign, and that of a finished one while another campaign takes its place."""

FORMAT = "1"
"""It changes when a campaign of before can no longer be read."""

SCHEMA = (
    "CREATE TABLE campaign (format TEXT NOT NULL, outline TEXT NOT NULL)",
    "CREATE TABLE chunks (place INTEGER, start INTEGER, runs INTEGER, records BLOB, PRIMARY KEY (place, start))",
)
"""``place`` is that of the row in the sweep, ``start`` the number of the chunk's first run in the row."""

LONGER = (
    " ON CONFLICT (place, start) DO UPDATE SET runs = excluded.runs, records = excluded.records "
    "WHERE excluded.runs > chunks.runs"
)
"""Of a chunk that is there already the longer one is kept: a stop may have left only its beginning."""

ELSEWHERE = "Make room, or name another folder with --out."

FOUND = "SELECT place, start, runs FROM chunks"

WAIT_S = 1
"""Seconds to wait for another process to be done with a file."""

MEMORY = ":memory:"
WRITTEN_BY_ONE = (
    "page_size=16384",
    "main.locking_mode=EXCLUSIVE",
    "main.journal_mode=WAL",
    "main.synchronous=NORMAL",
)
"""The lock goes with the process that holds it, however that ends."""


class Store:
    """An open campaign.

    A disk that fills up does not end the campaign: ``trouble`` keeps the first error, the file keeps what it holds,
    and what comes after is held in memory, so that the terminal can still show it all.
    """

    def __init__(self, db: sqlite3.Connection, outline: Outline, trouble: OSError | None = None) -> None:
        self.outline = outline
        self.trouble = trouble
        self._db = db
        self._ends = {(chunk.key, chunk.stop) for chunk in outline.ranges()}
        self._begin()

    def _begin(self) -> None:
        """Begin another chunk."""
        self._at: tuple[int, int] = (0, 0)
        self._held: list[str] = []
        self._witness = Witness()
        self._scenic = Firsts()

    def add(self, row: str, number: int, record: Record) -> None:
        """Keep the record of a run. Those of a chunk come one after the other; with the last they are stored."""
        if not self._held:
            self._at = (self.outline.places[row], number)
        self._held.append(written(self._told_once(number, record)))
        if (row, number + 1) in self._ends:
            self.flush()

    def _told_once(self, number: int, record: Record) -> Record:
        """The record without what another one of its chunk tells as well, so that it depends on its chunk alone."""
        record = msgspec.structs.replace(record, seen=self._witness.news(record.seen))
        found = record.evidence
        if found is None or not found.scene or self._scenic.is_first(self._at, number):
            return record
        return msgspec.structs.replace(record, evidence=found.plain())

    def missing(self) -> Iterator[Chunk]:
        """The chunks that are not whole."""
        found = {(place, start): runs for place, start, runs in self._db.execute(FOUND)}
        for chunk in self.outline.ranges():
            if found.get((self.outline.places[chunk.key], chunk.start)) != chunk.stop - chunk.start:
                yield chunk

    def records(self) -> Iterator[Record]:
        """Every record, in the order of the sweep."""
        for (packed,) in self._db.execute("SELECT records FROM chunks ORDER BY place, start"):
            for line in _lines(packed):
                yield msgspec.convert(json.loads(line), Record)

    @property
    def done(self) -> int:
        """The number of runs that are stored."""
        return sum(runs for _, _, runs in self._db.execute(FOUND))

    def take(self, folder: Path) -> None:
        """Add all runs of another part of the same campaign.

        Raises:
            Trouble: it is of another campaign, or a run that is here too came to something else there.
        """
        path = folder / STORE
        with _readable(path), _attached(self._db, path):
            _same(folder, _outline(self._db, "other", path), self.outline)
            self._compare(folder)
            try:
                with _transaction(self._db):
                    self._db.execute(f"INSERT INTO chunks SELECT * FROM other.chunks WHERE true{LONGER}")
            except sqlite3.Error as error:
                raise Trouble(f"Cannot write what is read: {error}. {ELSEWHERE}", BENCH_ERROR) from None

    def _compare(self, folder: Path) -> None:
        unlike = self._db.execute(
            "SELECT place, start, mine.records, theirs.records FROM main.chunks AS mine "
            "JOIN other.chunks AS theirs USING (place, start) WHERE mine.records <> theirs.records"
        )
        for place, start, mine, theirs in unlike:
            for number, (one, other) in enumerate(zip(_lines(mine), _lines(theirs), strict=False), start):
                if one != other:
                    raise _conflict(folder, self.outline.rows[int(place)].name, number)

    def flush(self) -> None:
        """Store what there is of a chunk; when it is less than the whole, it counts as missing."""
        if not self._held:
            return
        packed = zlib.compress("\n".join(self._held).encode("ascii"))
        chunk = (*self._at, len(self._held), packed)
        try:
            self._put(chunk)
        except sqlite3.Error as error:
            self._go_on_in_memory(error)
            self._put(chunk)
        self._begin()

    def _put(self, chunk: tuple[int, int, int, bytes]) -> None:
        with _transaction(self._db):
            self._db.execute(f"INSERT INTO chunks VALUES (?, ?, ?, ?){LONGER}", chunk)

    def close(self) -> bool:
        """Make the file one that can be copied alone; whether the campaign is finished, and on disk."""
        finished = self.trouble is None and self.done == self.outline.due
        with suppress(sqlite3.Error):  # a full disk; whoever opens the file next does the same
            self._db.execute("PRAGMA journal_mode=DELETE")
        self._db.close()
        return finished

    def _go_on_in_memory(self, error: sqlite3.Error) -> None:
        self.trouble = self.trouble or OSError(str(error))
        memory = _connect(MEMORY)
        with closing(self._db):
            self._db.backup(memory)
        self._db = memory


# --- opening


@contextmanager
def begun(folder: Path, outline: Outline) -> Generator[Store]:
    """A new campaign in a folder; :func:`put_aside` first takes away what is there."""
    put_aside(folder)
    path = folder / STORE
    try:
        store = Store(_create(str(path.resolve()), outline), outline)
    except sqlite3.Error as error:
        _drop(folder)
        if (folder / BEFORE).exists():
            (folder / BEFORE).replace(path)
        store = Store(_create(MEMORY, outline), outline, OSError(str(error)))
    with _kept(store, folder):
        yield store


@contextmanager
def resumed(folder: Path, outline: Outline) -> Generator[Store]:
    """The campaign in a folder, to go on with; a new one, when there is none.

    Raises:
        Trouble: it is another campaign, or another shard of this one, or somebody is writing it.
    """
    if not is_begun(folder):
        with begun(folder, outline) as store:
            yield store
        return
    with opened(folder) as store:
        _same(folder, store.outline, outline)
        if store.outline.shard != outline.shard:
            raise Trouble(
                f"'{show(str(folder))}' holds {store.outline.shard.in_words}, not {outline.shard.in_words}. "
                "Resume with the --shard that it was begun with, or name another folder with --out."
            )
        yield store


@contextmanager
def opened(folder: Path) -> Generator[Store]:
    """The campaign in a folder.

    Raises:
        Trouble: there is none, or somebody is writing it.
    """
    if not is_begun(folder):
        raise Trouble(
            f"There is no campaign in '{show(str(folder))}': no {STORE} that a sweep has begun. "
            "Name the folder of a sweep."
        )
    path = folder / STORE
    with _readable(path):
        db = _connect(str(path.resolve()))
        store = Store(db, _outline(db, "main", path))
    with _kept(store, folder):
        yield store


@contextmanager
def _kept(store: Store, folder: Path) -> Generator[None]:
    """Close the store, whatever happens. When it is finished, what was put aside for it is no longer needed."""
    try:
        yield
    finally:
        if store.close():
            (folder / BEFORE).unlink(missing_ok=True)


def outline_in(folder: Path) -> Outline:
    """What the campaign in a folder is, unchanged and unlocked. Trouble: there is none that can be read."""
    path = folder / STORE
    with closing(_connect(MEMORY)) as db, _readable(path), _attached(db, path):
        return _outline(db, "other", path)


def is_begun(folder: Path) -> bool:
    """Whether a campaign was begun here. A process that is killed at once leaves a file with nothing in it."""
    path = folder / STORE
    if not path.exists():
        return False
    with _readable(path), closing(sqlite3.connect(path, timeout=WAIT_S)) as db:
        return db.execute("SELECT count(*) FROM sqlite_schema").fetchone() != (0,)


def unfinished(folder: Path) -> str:
    """How much of an unfinished campaign is here, in words; empty when none is."""
    if not is_begun(folder):
        return ""
    path = folder / STORE
    with _readable(path), closing(sqlite3.connect(path, timeout=WAIT_S)) as db:
        due = _outline(db, "main", path).due
        done = sum(runs for _, _, runs in db.execute(FOUND))
    return "" if done == due else f"{done:,} of {due:,} runs"


def put_aside(folder: Path) -> None:
    """Make room for a new campaign: keep a finished one until the new one is finished too, and drop any other.

    Raises:
        Trouble: what is there is no campaign, or somebody is writing it.
    """
    if is_begun(folder) and not unfinished(folder):
        (folder / STORE).replace(folder / BEFORE)
    else:
        _drop(folder)


def _drop(folder: Path) -> None:
    for suffix in ("-wal", "-journal", ""):  # what is left of a file must never meet another one of its name
        (folder / f"{STORE}{suffix}").unlink(missing_ok=True)


# --- inside


def written(record: Record) -> str:
    """A record as text, the same for equal records; any text can be in it, also what is ill-formed."""
    seen = {
        "answers": sorted(record.seen.answers, key=in_order),
        "fates": sorted(record.seen.fates),
        "last": record.seen.last,
    }
    more = {"seen": seen, "evidence": msgspec.to_builtins(record.evidence)}
    return json.dumps({**msgspec.structs.asdict(record), **more}, separators=(",", ":"))


def _lines(packed: bytes) -> list[str]:
    return zlib.decompress(packed).decode("ascii").split("\n")


def _connect(place: str) -> sqlite3.Connection:
    db = sqlite3.connect(place, timeout=WAIT_S, isolation_level=None, uri=True)
    for pragma in WRITTEN_BY_ONE:
        db.execute(f"PRAGMA {pragma}")
    return db


def _create(place: str, outline: Outline) -> sqlite3.Connection:
    db = _connect(place)
    with _transaction(db):
        for statement in SCHEMA:
            db.execute(statement)
        text = json.dumps(msgspec.to_builtins(outline))
        db.execute("INSERT INTO campaign VALUES (?, ?)", (FORMAT, text))
    return db


def _outline(db: sqlite3.Connection, schema: str, path: Path) -> Outline:
    form, text = db.execute(f"SELECT format, outline FROM {schema}.campaign").fetchone()
    if form != FORMAT:
        raise Trouble(
            f"'{show(str(path))}' was written by another version of the bench, in format {form}; this one reads "
            f"{FORMAT}. Sweep again into another folder."
        )
    return msgspec.convert(json.loads(text), Outline)


@contextmanager
def _transaction(db: sqlite3.Connection) -> Generator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with suppress(sqlite3.Error):  # a full disk has rolled it back already
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


@contextmanager
def _attached(db: sqlite3.Connection, path: Path) -> Generator[None]:
    db.execute("ATTACH ? AS other", (f"{path.resolve().as_uri()}?mode=ro",))
    try:
        yield
    finally:
        db.execute("DETACH other")


@contextmanager
def _readable(path: Path) -> Generator[None]:
    """Say what is wrong with a file that SQLite cannot read."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if "locked" not in str(error):
            raise _unreadable(path, error) from None
        raise Trouble(
            f"Another turnproof is writing '{show(str(path))}'. Wait until it has ended, or name another folder.",
            BENCH_ERROR,
        ) from None
    except sqlite3.DatabaseError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: sqlite3.Error) -> Trouble:
    return Trouble(
        f"Cannot read '{show(str(path))}' as a campaign: {error}. Name the folder of a sweep, or another one to write "
        "to.",
    )


def _same(folder: Path, there: Outline, here: Outline) -> None:
    unlike = there.unlike(here)
    if unlike:
        more = f", and {len(unlike) - 3} more" if len(unlike) > 3 else ""
        raise Trouble(
            f"'{show(str(folder))}' holds another campaign; it differs in: {show(', '.join(unlike[:3]))}{more}. "
            "Give the words and options that it was begun with, or name another folder."
        )


def _conflict(folder: Path, row: str, number: int) -> Trouble:
    return Trouble(
        f"'{show(str(folder))}' says otherwise of run {number} of {show(row)} than a folder before it, although both "
        "hold the same campaign. Sweep it again: a run must come to the same everywhere.",
        BENCH_ERROR,
    )
