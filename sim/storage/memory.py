"""The database as dictionaries: the reference against which every other storage is compared."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, TypeVar

import msgspec

from sim.effects import Table, Transaction
from sim.history import Write
from sim.rule import Decide

R = TypeVar("R")
Row = TypeVar("Row")


class MemoryDatabase:
    """Committed rows. It is a :class:`~sim.effects.Disk` for reading, and applies transactions whole or not at all."""

    def __init__(self) -> None:
        self.tables = defaultdict[str, dict[str, Any]](dict)

    def get(self, table: Table[Row], key: str) -> Row | None:
        """The committed row under ``key``, or None."""
        rows = self.tables.get(table.name)
        return None if rows is None else rows.get(key)

    def rows(self, table: Table[Row], prefix: str) -> list[tuple[str, Row]]:
        """Every committed (key, row) whose key starts with ``prefix``, in key order."""
        rows = self.tables.get(table.name, {})
        return [(key, rows[key]) for key in sorted(rows) if key.startswith(prefix)]

    def apply(self, transaction: Transaction[R], ask: Decide, now: int) -> tuple[R, tuple[Write, ...]]:
        """Run a transaction at ``now`` virtual milliseconds: its answer, and the rows it wrote.

        Raises:
            Failed: the transaction refused; nothing was written.
        """
        unit = _Unit(self.tables, now)
        answer = transaction.apply(unit, ask)
        writes = tuple(unit.writes)
        self.write(*writes)
        return answer, writes

    def write(self, *writes: Write) -> None:
        """Make rows durable; one is removed by a write that carries none."""
        tables = self.tables
        for write in writes:
            if write.row is not None:
                tables[write.table][write.key] = write.row
            else:
                tables[write.table].pop(write.key, None)


class _Unit(msgspec.Struct):
    """What one transaction sees: the committed rows with its own writes over them."""

    base: dict[str, dict[str, Any]]
    now: int
    writes: list[Write] = []

    def get(self, table: Table[Row], key: str) -> Row | None:
        name = table.name
        if self.writes:
            for write in reversed(self.writes):
                if write.key == key and write.table == name:
                    return write.row
        rows = self.base.get(name)
        return None if rows is None else rows.get(key)

    def put(self, table: Table[Row], key: str, row: Row) -> None:
        self.writes.append(Write(table.name, key, row))

    def delete(self, table: Table[Any], key: str) -> None:
        self.writes.append(Write(table.name, key, None))

    def rows(self, table: Table[Row], prefix: str) -> list[tuple[str, Row]]:
        merged = dict(self.base.get(table.name, {}))
        merged.update((write.key, write.row) for write in self.writes if write.table == table.name)
        return [
            (key, merged[key]) for key in sorted(merged) if key.startswith(prefix) and merged[key] is not None
        ]


class MemoryOutside:
    """Files by (directory, name)."""

    def __init__(self) -> None:
        self.files: dict[tuple[str, str], bytes] = {}
        """In the order in which they were changed last."""

    def read(self, directory: str, name: str) -> bytes:
        """The bytes of a file; empty when there is none."""
        return self.files.get((directory, name), b"")

    def left(self) -> list[tuple[str, str, bytes]]:
        """Every file with its directory and content, in order."""
        return [(directory, name, content) for (directory, name), content in sorted(self.files.items())]

    def append(self, directory: str, name: str, content: bytes) -> None:
        """Add bytes at the end of a file."""
        self.replace(directory, name, self.read(directory, name) + content)

    def replace(self, directory: str, name: str, content: bytes) -> None:
        """Put bytes in the place of a file's content."""
        self.files.pop((directory, name), None)
        self.files[directory, name] = content

    def names(self, directory: str) -> tuple[str, ...]:
        """The files of a directory, the one that was changed last first."""
        return tuple(name for where, name in reversed(self.files) if where == directory)
