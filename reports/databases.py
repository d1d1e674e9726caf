"""Which databases a run can be played on, by name."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sim.storage.port import Database

MEMORY, SQLITE = "memory", "sqlite"
KINDS = (MEMORY, SQLITE)
"""Dictionaries, the reference; and SQLite in memory, with real transactions and constraints."""


def database(kind: str) -> Callable[[], Database]:
    """What makes an empty database of this kind for each run."""
    from sim.storage.memory import MemoryDatabase

    return MemoryDatabase if kind == MEMORY else _sqlite(os.getpid())


@lru_cache(maxsize=1)
def _sqlite(_process: int) -> Callable[[], Database]:
    """One connection for each process: none is carried over to a forked one."""
    from sim.storage.engines import SqliteMemory

    return SqliteMemory()
