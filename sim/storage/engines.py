"""Engines for the servers on which the schema can stand, each set up so that its transactions keep their promise."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, StaticPool, create_engine, event

from sim.storage.schema import METADATA
from sim.storage.sql import SqlDatabase

STATEMENTS_KEPT = 512
"""More than there are statements: SQLite prepares each of them once."""
WAIT_S = 10
"""How long a transaction waits for another one's lock."""


def sqlite(path: str = "") -> Engine:
    """SQLite on a file, or in the memory of this process."""
    engine = create_engine(
        f"sqlite:///{path}",
        isolation_level="AUTOCOMMIT",
        connect_args={"cached_statements": STATEMENTS_KEPT, "timeout": WAIT_S},
        **({} if path else {"poolclass": StaticPool}),
    )
    event.listen(engine, "connect", _on_file if path else _in_memory)
    METADATA.create_all(engine)
    return engine


def server(url: str) -> Engine:
    """PostgreSQL or MariaDB at a URL of SQLAlchemy's, such as ``postgresql+psycopg://`` or ``mariadb+pymysql://``."""
    engine = create_engine(url, isolation_level="AUTOCOMMIT", paramstyle="format")
    event.listen(engine, "connect", _patient[engine.dialect.name])
    METADATA.create_all(engine)
    return engine


class SqliteMemory:
    """Empty databases in memory, one after the other on one connection: the next one is the end of the last."""

    def __init__(self) -> None:
        self._database = SqlDatabase(sqlite())
        self._template: bytes = self._database.driver.serialize()

    def __call__(self) -> SqlDatabase:
        """An empty database."""
        self._database.driver.deserialize(self._template)
        return self._database


def _in_memory(connection: Any, _record: Any) -> None:
    connection.execute("PRAGMA foreign_keys = ON")


def _on_file(connection: Any, record: Any) -> None:
    """Readers wait for no writer, and what is committed is on the disk."""
    _in_memory(connection, record)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")


def _waits_for_locks(setting: str) -> Any:
    def set_up(connection: Any, _record: Any) -> None:
        connection.cursor().execute(setting)

    return set_up


_patient = {
    "postgresql": _waits_for_locks(f"SET lock_timeout = '{WAIT_S}s'"),
    "mariadb": _waits_for_locks(f"SET innodb_lock_wait_timeout = {WAIT_S}"),
}
