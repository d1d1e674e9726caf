"""The database as a real one, through SQLAlchemy Core: SQLite, PostgreSQL or MariaDB keep the promises.

A transaction of ours is one of theirs. What it reads is locked, what it writes is seen by its own reads, and what it
must not break stands in the schema. When two of them meet, the database ends one, which begins anew: a transaction is a
pure function, so asking it again gives what it would have answered had it come later.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Dialect, Engine, bindparam, delete, insert, select, update
from sqlalchemy.sql import ClauseElement

from sim.effects import Failed, Table, Transaction
from sim.history import Write
from sim.rule import Decide
from sim.storage.port import DATABASE_FAILED
from sim.storage.schema import GENERATIONS, METADATA, SHAPES, Shape, bytes_text, text_bytes

R = TypeVar("R")
Row = TypeVar("Row")

ATTEMPTS = 100
"""How often a transaction is begun that meets others; each time it gives way, one of them was committed."""

ABSENT = -1
"""What was read where no row stands; no generation is negative."""


class Reads(Enum):
    """What a transaction's reads are.

    With locking reads transactions come out as if one had followed the other. With snapshot reads each sees the rows
    of the moment at which it began, and may decide on what is no longer so; only the generation of what it writes is
    compared. No bench runs on these: they show what locking is for (RC-59).
    """

    LOCKING = "locking"
    SNAPSHOT = "snapshot"


class _Server(NamedTuple):
    """How a transaction begins on a server, and the errors for which another transaction is to blame.

    Each server is asked for the weakest level at which such reads are what they are said to be.
    """

    locking: str
    snapshot: str
    code: Callable[[Any], Any]
    conflicts: frozenset[int | str]


def _sqlite_code(error: Any) -> int | None:
    return getattr(error, "sqlite_errorcode", None)


def _sqlstate(error: Any) -> str | None:
    return error.sqlstate


def _mariadb_code(error: Any) -> int | None:
    return error.args[0] if error.args else None


_SERVERS = {
    "sqlite": _Server(
        "BEGIN IMMEDIATE",
        "BEGIN DEFERRED",
        _sqlite_code,
        frozenset({5, 517}),  # busy; busy with what was changed since the snapshot
    ),
    "postgresql": _Server(
        "BEGIN ISOLATION LEVEL SERIALIZABLE",
        "BEGIN ISOLATION LEVEL REPEATABLE READ",
        _sqlstate,
        frozenset({"40001", "40P01", "23505"}),  # no serial order, deadlock, a key that came meanwhile
    ),
    "mariadb": _Server(
        "START TRANSACTION",
        "START TRANSACTION WITH CONSISTENT SNAPSHOT",
        _mariadb_code,
        frozenset({1213, 1020, 1062}),  # deadlock, changed since the snapshot, a key that came meanwhile
    ),
}


class _Conflict(Exception):
    """A row no longer stands as it was read."""


class _Statements(NamedTuple):
    """What is said about one table: compiled once, with places in the order of the schema's columns."""

    shape: Shape
    guard: int | None
    locking: str
    locking_range: str
    snapshot: str
    snapshot_range: str
    insert: str
    update: str
    delete: str

    def generation(self, columns: tuple[Any, ...]) -> int:
        """The number by which the next update compares; 0 when it compares nothing."""
        return 0 if self.guard is None else columns[self.guard]


def _statements(shape: Shape, dialect: Dialect) -> _Statements:
    def text(statement: ClauseElement) -> str:
        return str(statement.compile(dialect=dialect))

    table = METADATA.tables[shape.name]
    fields = [table.c[field] for field in shape.types]
    generation = GENERATIONS.get(shape.name)
    key = table.c.key
    one = select(*fields).where(key == bindparam("place"))
    several = select(key, *fields).where(key >= bindparam("first"), key < bindparam("last")).order_by(key)
    new: dict[Any, Any] = {field: bindparam(f"new_{field.name}") for field in fields}
    changed = update(table).where(key == bindparam("place")).values(new)
    if generation is not None:
        changed = changed.where(table.c[generation] == bindparam("seen"))
    return _Statements(
        shape,
        None if generation is None else list(shape.types).index(generation),
        text(one.with_for_update()),
        text(several.with_for_update()),
        text(one),
        text(several),
        text(insert(table)),
        text(changed),
        text(delete(table).where(key == bindparam("place"))),
    )


class SqlDatabase:
    """One connection to a database in which the schema stands: a :class:`~sim.storage.port.Database`.

    Statements are SQLAlchemy's, built once; they are handed to the driver as text, for a run executes some hundreds.
    """

    def __init__(self, engine: Engine, reads: Reads = Reads.LOCKING) -> None:
        self.statements = {table: _statements(shape, engine.dialect) for table, shape in SHAPES.items()}
        self.reads = reads
        self._connection = engine.raw_connection()
        self.driver: Any = self._connection.driver_connection
        self.cursor: Any = self.driver.cursor()
        self._server = _SERVERS[engine.dialect.name]
        self._begin = self._server.locking if reads is Reads.LOCKING else self._server.snapshot
        dbapi: Any = engine.dialect.dbapi
        self._error: type[Exception] = dbapi.Error
        self._breach: tuple[type[Exception], ...] = (dbapi.IntegrityError, dbapi.DataError)

    def close(self) -> None:
        """Give the connection back."""
        self._connection.close()

    def empty(self) -> None:
        """Remove every row."""
        for table in reversed(METADATA.sorted_tables):
            self.cursor.execute(f"DELETE FROM {table.name}")

    def get(self, table: Table[Row], key: str) -> Row | None:
        """The committed row under ``key``, or None: a snapshot read."""
        about = self.statements[table.name]
        self.cursor.execute(about.snapshot, (text_bytes(key),))
        found = self.cursor.fetchone()
        return None if found is None else about.shape.row(found)

    def rows(self, table: Table[Row], prefix: str) -> list[tuple[str, Row]]:
        """Every committed (key, row) whose key starts with ``prefix``, in key order: one snapshot read."""
        about = self.statements[table.name]
        self.cursor.execute(about.snapshot_range, _range(prefix))
        return [(bytes_text(key), about.shape.row(tuple(found))) for key, *found in self.cursor.fetchall()]

    def apply(self, transaction: Transaction[R], ask: Decide, now: int) -> tuple[R, tuple[Write, ...]]:
        """Run a transaction at ``now`` virtual milliseconds: its answer, and the rows it wrote.

        Raises:
            Failed: the transaction refused; or it breaks what the schema holds, or met others all too often, and the
                database refused (``database_failed``). Nothing was written.
        """
        unit, answer = self._transact(lambda unit: transaction.apply(unit, ask), now)
        return answer, tuple(unit.writes)

    def write(self, *writes: Write) -> None:
        """Make rows durable in one transaction; one is removed by a write that carries none."""
        self._transact(lambda unit: unit.take(writes), 0)

    def _transact(self, work: Callable[[_Unit], R], now: int) -> tuple[_Unit, R]:
        """Do the work in one transaction, again while others are in its way; what it did, and its answer."""
        for _ in range(ATTEMPTS):
            unit = _Unit(self, now)
            try:
                self.cursor.execute(self._begin)
                answer = work(unit)
                self.driver.commit()
            except self._error as error:
                self.driver.rollback()
                if self._server.code(error) in self._server.conflicts:
                    continue
                if isinstance(error, self._breach):
                    raise Failed(DATABASE_FAILED, 500) from error
                raise
            except _Conflict:
                self.driver.rollback()
            except BaseException:
                self.driver.rollback()
                raise
            else:
                return unit, answer
        raise Failed(DATABASE_FAILED, 500)


class _Unit:
    """The :class:`~sim.effects.Facts` of one transaction; the database itself shows it its own writes."""

    def __init__(self, database: SqlDatabase, now: int) -> None:
        self.now = now
        self.writes: list[Write] = []
        self._statements = database.statements
        self._locks = database.reads is Reads.LOCKING
        self._cursor = database.cursor
        self._seen: dict[tuple[str, str], int] = {}

    def get(self, table: Table[Row], key: str) -> Row | None:
        about = self._statements[table.name]
        self._cursor.execute(about.locking if self._locks else about.snapshot, (text_bytes(key),))
        found = self._cursor.fetchone()
        self._seen[table.name, key] = ABSENT if found is None else about.generation(found)
        return None if found is None else about.shape.row(found)

    def rows(self, table: Table[Row], prefix: str) -> list[tuple[str, Row]]:
        about = self._statements[table.name]
        self._cursor.execute(about.locking_range if self._locks else about.snapshot_range, _range(prefix))
        found = [(bytes_text(key), tuple(columns)) for key, *columns in self._cursor.fetchall()]
        self._seen.update({(table.name, key): about.generation(columns) for key, columns in found})
        return [(key, about.shape.row(columns)) for key, columns in found]

    def put(self, table: Table[Row], key: str, row: Row) -> None:
        about, place = self._statements[table.name], (table.name, key)
        if place not in self._seen:
            self.get(table, key)
        seen, columns = self._seen[place], about.shape.columns(row)
        if seen == ABSENT:
            self._cursor.execute(about.insert, (*about.shape.key(key), *columns))
        else:
            compared = () if about.guard is None else (seen,)
            self._cursor.execute(about.update, (*columns, text_bytes(key), *compared))
            if self._cursor.rowcount != 1:
                raise _Conflict
        self._seen[place] = about.generation(columns)
        self.writes.append(Write(table.name, key, row))

    def delete(self, table: Table[Any], key: str) -> None:
        self._cursor.execute(self._statements[table.name].delete, (text_bytes(key),))
        self._seen[table.name, key] = ABSENT
        self.writes.append(Write(table.name, key, None))

    def take(self, writes: tuple[Write, ...]) -> None:
        """Do what has been decided."""
        for write in writes:
            table: Table[Any] = Table(write.table)
            if write.row is None:
                self.delete(table, write.key)
            else:
                self.put(table, write.key, write.row)


def _range(prefix: str) -> tuple[bytes, bytes]:
    """The first key with a prefix, and what comes behind the last one; no byte of UTF-8 is 255."""
    first = text_bytes(prefix)
    return first, first + b"\xff"
