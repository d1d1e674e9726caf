"""The tables of the facts as tables of an SQL database, derived from what :mod:`sim.facts` declares.

Each field of a row is a column: whole numbers as such, text as its UTF-8 bytes (half a surrogate pair too), anything
else as MessagePack. So keys compare byte by byte everywhere, which is the order of their code points, and no server's
character set or collation has a say. What the facts owe to each other stands here and nowhere else: parents, what is
unique, and the number that only moves on from where it was read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType, ModuleType
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

import msgspec
from sqlalchemy import BigInteger, Column, ForeignKey, LargeBinary, MetaData, UniqueConstraint
from sqlalchemy import Table as SqlTable
from sqlalchemy.dialects.mysql import LONGBLOB, VARBINARY
from sqlalchemy.types import TypeEngine

from sim import facts
from sim.effects import Table

LONGEST_NAME = 1_536
"""Bytes in a key, or in text that a constraint is about: two of them fill the longest index of MariaDB."""

SESSION = "session"
"""The column of a row that belongs to a Session: the first part of its key."""
OF_A_SESSION = ("journal", "commands", "resources")
"""The tables whose keys :func:`sim.facts.in_session` makes."""

PARENTS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "heads": {"key": "writers"},
        "journal": {SESSION: "writers"},
        "commands": {SESSION: "writers"},
        "resources": {SESSION: "writers"},
        "runtime_sessions": {"workspace": "bindings"},
        "leases": {"key": "bindings"},
        "ledger": {"runtime_session": "runtime_sessions", "workspace": "bindings"},
    }
)
"""For each table, the column that is the key of another one, and which: nothing is written for whom nobody leads."""

UNIQUE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "journal": (SESSION, "sequence"),
        "leases": ("holder",),
        "ledger": ("runtime_session", "worker_call"),
    }
)
"""Beside its key: a place in the journal, one Workspace for each holder, one execution for each worker call."""

GENERATIONS: Mapping[str, str] = MappingProxyType(
    {"writers": "generation", "activations": "epoch", "heads": "sequence", "bindings": "generation"}
)
"""The number of a row by which an update compares before it sets: it must stand as the transaction read it."""

_NAME: TypeEngine[bytes] = LargeBinary().with_variant(VARBINARY(LONGEST_NAME), "mysql", "mariadb")
_BYTES: TypeEngine[bytes] = LargeBinary().with_variant(LONGBLOB(), "mysql", "mariadb")
_ENCODE = msgspec.msgpack.Encoder().encode


def text_bytes(text: str) -> bytes:
    """Text as it is kept; half a surrogate pair is kept as it is."""
    return text.encode("utf-8", "surrogatepass")


def bytes_text(kept: bytes) -> str:
    """The text that is kept so."""
    return kept.decode("utf-8", "surrogatepass")


def declared(module: ModuleType) -> dict[str, Any]:
    """The type of the rows of each table that a module declares as ``NAME: Table[Row]``."""
    hints = {name: hint for name, hint in get_type_hints(module).items() if get_origin(hint) is Table}
    return {getattr(module, name).name: get_args(hint)[0] for name, hint in hints.items()}


class Shape:
    """How the rows of one table become columns, and columns rows."""

    def __init__(self, name: str, row: type[msgspec.Struct]) -> None:
        self.name = name
        self.in_session = name in OF_A_SESSION
        hints = get_type_hints(row)
        self.types: dict[str, Any] = {field: hints[field] for field in row.__struct_fields__}
        self._make = row
        self._to = [(field, _writer(kind)) for field, kind in self.types.items()]
        self._from = [_reader(kind) for kind in self.types.values()]

    def columns(self, row: Any) -> tuple[Any, ...]:
        """The row as the database keeps it."""
        return tuple([write(getattr(row, field)) for field, write in self._to])

    def row(self, columns: tuple[Any, ...]) -> Any:
        """The row that is kept so."""
        return self._make(*[read(kept) for read, kept in zip(self._from, columns, strict=True)])

    def key(self, key: str) -> tuple[bytes, ...]:
        """What stands before the columns of a row: its key, and the Session that it belongs to."""
        kept = text_bytes(key)
        return (kept, kept.partition(b"/")[0]) if self.in_session else (kept,)

    def sql_columns(self) -> Iterator[Column[Any]]:
        """The columns of its table."""
        parents, names = PARENTS.get(self.name, {}), UNIQUE.get(self.name, ())
        own = {"key": str, **({SESSION: str} if self.in_session else {}), **self.types}
        for column, kind in own.items():
            constrained = column in ("key", SESSION, *parents, *names)
            type_ = BigInteger() if kind is int else _NAME if constrained and kind is str else _BYTES
            references = (ForeignKey(f"{parents[column]}.key"),) if column in parents else ()
            yield Column(
                column, type_, *references, primary_key=column == "key", nullable=False, autoincrement=False
            )


def _number(number: int) -> int:
    return number


def _writer(kind: Any) -> Callable[[Any], Any]:
    return {int: _number, str: text_bytes}.get(kind, _ENCODE)


def _reader(kind: Any) -> Callable[[Any], Any]:
    known = {int: _number, str: bytes_text}.get(kind)
    return known or msgspec.msgpack.Decoder(_family(kind)).decode


def _family(kind: Any) -> Any:
    """A struct that others of its module extend stands for any of them."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return Union[tuple(_extended(kind))]  # noqa: UP007  of as many as there are
    return cast(Any, kind)


def _extended(kind: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    yield kind
    for other in kind.__subclasses__():
        if other.__module__ == kind.__module__:
            yield from _extended(other)


SHAPES: Mapping[str, Shape] = MappingProxyType(
    {name: Shape(name, row) for name, row in declared(facts).items()}
)
"""Every table of the facts by its name."""


def _metadata() -> MetaData:
    metadata = MetaData()
    for name, shape in SHAPES.items():
        unique = [UniqueConstraint(*UNIQUE[name])] if name in UNIQUE else []
        SqlTable(name, metadata, *shape.sql_columns(), *unique)
    return metadata


METADATA = _metadata()
"""The schema, the same for every server."""
