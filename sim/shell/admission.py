"""What the owner verifies against its journal: the mapping before spawn, all output before the receipt."""

from __future__ import annotations

import hashlib
from typing import Protocol, TypeVar

from sim.content import Content, feed, join, read
from sim.design import Limits, capture
from sim.effects import Call, Failed
from sim.protocol import (
    Append,
    Capture,
    Checkpoint,
    Entry,
    Envelope,
    Ownership,
    Projection,
    ReadOutput,
    ReadOwn,
    Receipt,
    Record,
    RegisterCapture,
    StageResource,
    ToolIntent,
    ToolReceipt,
)
from sim.rule import Decide
from sim.shell.retained import REFUSED, Manifest, Outcome, Page, Segment, decoded, encoded
from sim.text import DigestError, JsonError, parse_json, tool_digest

T = TypeVar("T")


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

    async def verify_mapping(self, registered: RegisterCapture, owner: Ownership) -> None:
        """The live checkpoint, its item, the covered intent and the recorded arguments all name this execution."""
        projection = await Call(self.journal, ReadOwn())
        await self.wrapper.after_read()
        checkpoint = _last_checkpoint(projection)
        reference = registered.reference
        ask = self.ask
        same_activation = (checkpoint.activation, checkpoint.epoch) == (owner.activation, owner.epoch)
        same_prompt = checkpoint.prompt == registered.prompt
        _require(ask(capture.checkpoint_is_live, checkpoint.phase, same_prompt, same_activation))
        _require(self._bound(checkpoint, registered))
        intent = _intent(projection, registered)
        intended_here = (intent.activation, intent.epoch) == (owner.activation, owner.epoch)
        _require(ask(capture.intent_is_covered, intent.sequence, checkpoint.covered, intended_here))
        recorded = await self._read(registered.args_ref, self.limits.inline)
        computed = _digest_of(read(recorded))
        _require(ask(capture.recorded_arguments_match, computed, reference.input_digest))

    async def verify_output(self, kept: Capture) -> None:
        """Read every byte again, through manifest and pages, and compare it with the seals."""
        manifest = await self._retained(kept.manifest, self.limits.manifest, Manifest)
        _require(manifest.capture_id == kept.id)
        pages = {stream.stream_id: stream.pages for stream in manifest.streams}
        for _, seal in enumerate(kept.seals):
            segments = await self._listed(seal.stream, pages.get(seal.stream, ()))
            length, digest = 0, hashlib.sha256()
            for _place, segment in enumerate(segments):
                content = await self._read(segment.resource_id, segment.byte_length)
                length += len(content)
                feed(digest, content)
            found = digest.hexdigest()
            _require(self.ask(capture.output_is_exact, length, seal.length, found, seal.digest))

    async def admit(self, envelope: Envelope) -> Receipt:
        """Complete output is verified; then decision, outcome and receipt become durable, if the owner is the owner."""
        kept = envelope.capture
        if kept is not None and kept.status == capture.COMPLETE:
            await self.verify_output(kept)
        decision = self.ask(capture.delivery, kept.status if kept else "")
        manifest = kept.manifest if kept else ""
        outcome_ref = f"outcome-{envelope.execution}"
        outcome = encoded(Outcome(1, decision, envelope))
        await Call(self.journal, StageResource(outcome_ref, outcome))
        receipt = ToolReceipt(envelope.execution, decision, manifest, outcome_ref, envelope)
        asserts = self.ask(capture.receipt_asserts_activation)
        records = (receipt, *self.wrapper.with_receipt(receipt))
        append = Append(envelope.execution, records, (outcome_ref,), asserts)
        appended = await Call(self.journal, append)
        revision = appended.last - len(records) + 1 if decision == "committed" else 0
        return Receipt(envelope.execution, manifest, decision, revision, outcome_ref)

    def _bound(self, checkpoint: Checkpoint, registered: RegisterCapture) -> bool:
        reference = registered.reference
        bindings = [binding for binding in checkpoint.bindings if binding.execution == reference.execution]
        return bool(bindings) and self.ask(
            capture.binding_maps,
            bindings[0].model_call == registered.model_call,
            bindings[0].worker_call == reference.worker_call,
            bindings[0].input_digest == reference.input_digest,
            bindings[0].state,
        )

    async def _listed(self, stream: str, pages: tuple[str, ...]) -> list[Segment]:
        """Every segment of a stream, by the pages that the manifest names."""
        listed: list[Segment] = []
        for _, resource in enumerate(pages):
            page = await self._retained(resource, self.limits.page, Page)
            _require(page.stream_id == stream)
            listed += page.segments
        return listed

    async def _retained(self, resource: str, most: int, kind: type[T]) -> T:
        content = await self._read(resource, most)
        return decoded(read(content), kind)

    async def _read(self, resource: str, most: int) -> Content:
        """A whole resource of at most that many bytes, in bounded ranges."""
        content: Content = b""
        total = 1
        while len(content) < min(total, most):
            end = self.ask(capture.range_end, len(content), most, self.limits)
            piece = await Call(self.journal, ReadOutput(resource, len(content), end))
            await self.wrapper.after_read()
            _require(bool(piece.content))
            content = join(content, piece.content)
            total = piece.total
        return content


def _require(holds: bool) -> None:
    """What does not hold is refused; the owner answers nothing more precise to a worker."""
    if not holds:
        raise Failed(REFUSED)


def _last_checkpoint(projection: Projection) -> Checkpoint:
    for entry in reversed(projection.entries):
        if isinstance(entry.record, Checkpoint):
            return entry.record
    raise Failed(REFUSED)


def _intent(projection: Projection, registered: RegisterCapture) -> Entry:
    """The intent of exactly this execution, with its arguments and calls."""
    reference = registered.reference
    for entry in projection.entries:
        record = entry.record
        if isinstance(record, ToolIntent) and record.execution == reference.execution:
            told = (record.model_call, record.worker_call, record.input_digest, record.args_ref)
            expected = (
                registered.model_call,
                reference.worker_call,
                reference.input_digest,
                registered.args_ref,
            )
            _require(told == expected)
            return entry
    raise Failed(REFUSED)


def _digest_of(arguments: bytes) -> str:
    """The tool digest of recorded argument bytes; empty when they are no JSON data."""
    try:
        return tool_digest(parse_json(arguments.decode(errors="replace")))
    except (JsonError, DigestError):
        return ""
