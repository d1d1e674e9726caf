"""What the owner verifies against its journal: the mapping before spawn, all output before the receipt."""

from __future__ import annotations

from typing import Protocol

from sim.content import read
from sim.design import Limits, capture
from sim.effects import Call
from sim.protocol import (
    Append,
    Envelope,
    Ownership,
    Piece,
    ReadOutput,
    ReadOwn,
    Receipt,
    Record,
    RegisterCapture,
    StageResource,
    ToolReceipt,
)
from sim.rule import Decide
from sim.shell.mapping import require_arguments, require_mapping
from sim.shell.reread import Reread
from sim.shell.retained import Outcome, encoded


class Wrapper(Protocol):
    """What differs between the two that admit: when each guards its ownership, and who advances the checkpoint."""

    async def after_read(self) -> None:
        """An asynchronous read has ended. Failed: what is guarded after each of them has changed meanwhile."""

    def with_receipt(self, receipt: ToolReceipt) -> tuple[Record, ...]:
        """The records that become durable together with this receipt."""
        ...


class Admission:
    """The shared Session admission, over the owner's own journal (003 Identity, admission and model history)."""

    def __init__(self, journal: str, ask: Decide, limits: Limits, wrapper: Wrapper) -> None:
        self.journal = journal
        self.ask = ask
        self.limits = limits
        self.wrapper = wrapper
        self.durable = Reread(self._piece, ask, limits)

    async def verify_mapping(self, registered: RegisterCapture, owner: Ownership) -> None:
        """The live checkpoint, its item, the covered intent and the recorded arguments all name this execution."""
        projection = await Call(self.journal, ReadOwn())
        await self.wrapper.after_read()
        require_mapping(projection.entries, registered, owner, self.ask)
        recorded = await self.durable.whole(registered.args_ref, self.limits.inline)
        require_arguments(read(recorded), registered, self.ask)

    async def admit(self, envelope: Envelope) -> Receipt:
        """Complete output is verified; then decision, outcome and receipt become durable, if the owner is the owner."""
        kept = envelope.capture
        if kept is not None and kept.status == capture.COMPLETE:
            await self.durable.verify(kept)
        receipt, outcome = candidate(envelope, self.ask)
        await Call(self.journal, StageResource(receipt.outcome_ref, outcome))
        asserts = self.ask(capture.receipt_asserts_activation)
        records = (receipt, *self.wrapper.with_receipt(receipt))
        append = Append(envelope.execution, records, (receipt.outcome_ref,), asserts)
        appended = await Call(self.journal, append)
        return receipt.at(appended.last - len(records) + 1)

    async def _piece(self, request: ReadOutput) -> Piece:
        """One range, and the wrapper's guard behind it."""
        piece = await Call(self.journal, request)
        await self.wrapper.after_read()
        return piece


def candidate(envelope: Envelope, ask: Decide) -> tuple[ToolReceipt, bytes]:
    """What is admitted of a result: the receipt's record, and the outcome that it refers to. The same each time."""
    kept = envelope.capture
    decision = ask(capture.delivery, kept.status if kept else "")
    manifest = kept.manifest if kept else ""
    outcome_ref = f"outcome-{envelope.execution}"
    receipt = ToolReceipt(envelope.execution, decision, manifest, outcome_ref, envelope)
    return receipt, encoded(Outcome(1, decision, envelope))
