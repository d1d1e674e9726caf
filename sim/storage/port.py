"""The port behind which durable state stands, whatever keeps it.

Two kinds of read are told apart. What a transaction reads through its facts is a *locking* read: it says what is
committed now, and nobody changes it before the transaction has ended. What an actor reads from its disk between commits
is a *snapshot* read: it waits for nobody, and may be out of date when the actor acts on it.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

from sim.effects import Disk, Transaction
from sim.history import Write
from sim.rule import Decide

R = TypeVar("R")

DATABASE_FAILED = "database_failed"
"""The code of a transaction that the database itself refuses, with status 500: nothing was written."""


class Database(Disk, Protocol):
    """Durable rows in named tables: read one by one or by prefix, changed by whole transactions."""

    def apply(self, transaction: Transaction[R], ask: Decide, now: int) -> tuple[R, tuple[Write, ...]]:
        """Run a transaction at ``now`` virtual milliseconds: its answer, and the rows it wrote.

        Raises:
            Failed: the transaction refused, or the database did (``database_failed``); nothing was written.
        """
        ...

    def write(self, *writes: Write) -> None:
        """Make rows durable; one is removed by a write that carries none."""
        ...
