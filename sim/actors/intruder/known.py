"""What an outsider knows of one turn: the ids that stand in the database, and the secrets that it has stolen."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from sim.content import read
from sim.deeds import NO_CODE
from sim.effects import Disk, Secret
from sim.facts import JOURNAL, LEDGER, RESOURCES, WRITERS, Execution, in_session
from sim.protocol import (
    SHELL,
    Descriptor,
    Envelope,
    Receipt,
    Record,
    Reference,
    ToolIntent,
    ToolReceipt,
    WriterToken,
)


class Stolen(msgspec.Struct, frozen=True):
    """How a stolen secret looks, if an intrusion is said to use it.

    ``descriptor`` is that of the listener of a Session's turn, ``token`` the writer token of a Session's owner; each
    in a life of that owner.
    """

    descriptor: Callable[[str, int, str], Descriptor]
    token: Callable[[str, int], Secret]


class Known:
    """The turn of ``prompt`` in ``session``, as it can be read now; what cannot be read yet is made up."""

    def __init__(self, session: str, prompt: str, workspace: str, disk: Disk, stolen: Stolen) -> None:
        self.session = session
        self.prompt = prompt
        self.workspace = workspace
        self._disk = disk
        self._stolen = stolen

    def of(self, prompt: str) -> Known:
        """The same of another turn, or of another Runtime Session."""
        return Known(self.session, prompt, self.workspace, self._disk, self._stolen)

    @property
    def reserved(self) -> tuple[str, Execution] | None:
        """The execution that the turn intended last, else one that is reserved for it; None when there is none."""
        rows = [row for row in self._disk.rows(LEDGER, "") if row[1].runtime_session == self.prompt]
        intended = [record.execution for record in self._records() if isinstance(record, ToolIntent)]
        newest = [row for row in rows if row[0] == intended[-1]] if intended else []
        return next(iter([*newest, *rows]), None)

    @property
    def reference(self) -> Reference:
        """The reference of that execution."""
        if self.reserved is None:
            return Reference("execution-none", "none", self.prompt, 1, "none")
        name, row = self.reserved
        return Reference(name, row.worker_call, self.prompt, row.generation, row.input_digest)

    @property
    def payload(self) -> bytes:
        """The bytes that start it, put together from its recorded arguments."""
        intents = [record for record in self._records() if isinstance(record, ToolIntent)]
        held = self._disk.get(RESOURCES, in_session(self.session, intents[-1].args_ref)) if intents else None
        return f'{{"toolName":"{SHELL}","input":{read(held.content).decode() if held else "{}"}}}'.encode()

    @property
    def envelope(self) -> Envelope:
        """Its admitted result, else a made-up one."""
        receipts = [record for record in self._records() if isinstance(record, ToolReceipt)]
        if receipts:
            return receipts[-1].envelope
        return Envelope(self.reference.execution, "success", NO_CODE, "", "forged", False, None)

    @property
    def receipt(self) -> Receipt:
        """The receipt of that result, with another manifest."""
        return Receipt(self.reference.execution, "another manifest", "committed", 1, "outcome")

    @property
    def published(self) -> tuple[str, bytes]:
        """One published piece of output: its resource id and its bytes."""
        rows = self._disk.rows(RESOURCES, in_session(self.session, ""))
        pieces = [(key, read(row.content)) for key, row in rows if row.kind == "content"]
        key, content = next(iter(pieces), ("", b""))
        return key.removeprefix(in_session(self.session, "")), content

    @property
    def capability(self) -> Secret:
        """Stolen: what opens the turn's listener."""
        return self.descriptor.capability

    @property
    def descriptor(self) -> Descriptor:
        """Stolen: the whole descriptor."""
        return self._stolen.descriptor(self.session, self._life, self.prompt)

    @property
    def writer(self) -> WriterToken:
        """Stolen: what fences the Session's writer."""
        held = self._disk.get(WRITERS, self.session)
        generation = held.generation if held else 0
        return WriterToken(
            f"{self.session}.owner{self._life}", self._stolen.token(self.session, self._life), generation
        )

    @property
    def _life(self) -> int:
        """The life of the Session's owner, as its writer's name tells."""
        held = self._disk.get(WRITERS, self.session)
        return int(held.owner.removeprefix(f"{self.session}.owner")) if held else 1

    def _records(self) -> list[Record]:
        rows = self._disk.rows(JOURNAL, in_session(self.session, ""))
        return [entry.record for _, entry in rows]
