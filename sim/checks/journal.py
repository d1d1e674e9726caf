"""What a journal must look like: contiguous, without duplicates, paired, and written by one owner at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from sim.checks.check import Check, Scene, Told, asked, by_key, by_session, recorded, wrote
from sim.facts import CommandReceipt, Writer
from sim.history import Committed
from sim.protocol import (
    ActivationChanged,
    Assistant,
    Checkpoint,
    Entry,
    Infer,
    InputAccepted,
    Record,
    Response,
    ToolCall,
    ToolIntent,
    ToolReceipt,
    ToolResult,
    TurnSettled,
    UserMessage,
    WakeRequested,
)

RECORDS: tuple[type[Record], ...] = (
    ActivationChanged,
    Assistant,
    Checkpoint,
    InputAccepted,
    ToolIntent,
    ToolReceipt,
    ToolResult,
    TurnSettled,
    UserMessage,
    WakeRequested,
)


class Place(msgspec.Struct, frozen=True, gc=False):
    """Where a journal stands: its last sequence, and the epoch of the activation that wrote it."""

    sequence: int = 0
    epoch: int = 0


def _follows(place: Place, entry: Entry, scene: Scene) -> Told[Place]:
    after = Place(entry.sequence, max(place.epoch, entry.epoch))
    if entry.sequence != place.sequence + 1:
        return after, f"journal of {scene.session} goes from {place.sequence} to {entry.sequence}"
    if entry.epoch < place.epoch:
        replaced = f"epoch {entry.epoch} wrote {entry.record.label} after epoch {place.epoch}"
        return after, f"journal of {scene.session}: the replaced owner of {replaced}"
    return after, None


JOURNAL_IS_ONE_LINE = Check(
    "journal-is-one-line",
    cites="behaviour §1.11; 003 Identity",
    says="A journal's sequences are contiguous, and a replaced activation writes no more.",
    start=Place(),
    hears=tuple(recorded(record, by_session, _follows) for record in RECORDS),
)


# --- no duplicates


def _again(known: frozenset[str], facts: list[str], scene: Scene) -> Told[frozenset[str]]:
    """Each of these facts may be recorded once in a Session."""
    twice = next((fact for fact in facts if fact in known), None)
    return known | set(facts), f"session {scene.session} recorded {twice} a second time" if twice else None


def _command(known: frozenset[str], row: CommandReceipt, scene: Scene) -> Told[frozenset[str]]:
    return _again(known, [f"command {scene.write.key.partition('/')[2]}"], scene)


def _prompt(known: frozenset[str], entry: Entry, scene: Scene) -> Told[frozenset[str]]:
    record: Any = entry.record
    return _again(known, [f"{record.label} of {record.prompt}"], scene)


def _round(known: frozenset[str], entry: Entry, scene: Scene) -> Told[frozenset[str]]:
    record: Any = entry.record
    return _again(known, [f"the assistant of round {record.round} of {record.prompt}"], scene)


def _execution(known: frozenset[str], entry: Entry, scene: Scene) -> Told[frozenset[str]]:
    record: Any = entry.record
    return _again(known, [f"{record.label} of {record.execution}"], scene)


def _result(known: frozenset[str], entry: Entry, scene: Scene) -> Told[frozenset[str]]:
    record: Any = entry.record
    place = f"of round {record.round} of {record.prompt}"
    facts = [f"the response to {response.call} {place}" for response in record.responses]
    return _again(known, [f"the result of {record.execution}", *facts] if record.execution else facts, scene)


NO_DUPLICATED_HISTORY = Check(
    "no-duplicated-history",
    cites="003 Identity; behaviour §1.11",
    says="No command is committed twice, and no prompt, round, intent, receipt, result or settlement recorded twice.",
    start=frozenset[str](),
    hears=(
        wrote(CommandReceipt, by_session, _command),
        *(recorded(record, by_session, _prompt) for record in (InputAccepted, UserMessage, TurnSettled)),
        recorded(Assistant, by_session, _round),
        *(recorded(record, by_session, _execution) for record in (ToolIntent, ToolReceipt)),
        recorded(ToolResult, by_session, _result),
    ),
)


# --- one assistant and one ordered response for each call


class Batch(msgspec.Struct, frozen=True, gc=False):
    """The batch that a Session recorded last, and which of its calls still lack a response."""

    prompt: str = ""
    calls: tuple[ToolCall, ...] = ()
    waiting: tuple[str, ...] = ()


def _spoke(batch: Batch, entry: Entry, scene: Scene) -> Told[Batch]:
    record: Any = entry.record
    after = Batch(record.prompt, record.calls, tuple(call.id for call in record.calls))
    if batch.waiting and batch.prompt == record.prompt:
        return (
            after,
            f"round {record.round} of {record.prompt} was recorded before a response to {batch.waiting[0]}",
        )
    return after, None


def _responded(batch: Batch, entry: Entry, scene: Scene) -> Told[Batch]:
    record: Any = entry.record
    given = tuple(response.call for response in record.responses)
    after = replace(batch, waiting=batch.waiting[len(given) :])
    if given != batch.waiting[: len(given)]:
        expected = ", ".join(batch.waiting) or "none"
        return after, f"response to {', '.join(given)} of {record.prompt} was recorded, expected: {expected}"
    return after, None


def _closed(batch: Batch, entry: Entry, scene: Scene) -> Told[Batch]:
    record: Any = entry.record
    open_call = record.state == "completed" and batch.prompt == record.prompt and batch.waiting
    return (
        batch,
        f"{record.prompt} is completed without a response to {batch.waiting[0]}" if open_call else None,
    )


def _pairs(infer: Infer) -> Iterator[tuple[tuple[ToolCall, ...], tuple[Response, ...]]]:
    """The batches that the model is shown, each with the responses that follow it."""
    messages = infer.messages
    for place, message in enumerate(messages):
        if message.calls:
            after = messages[place + 1] if place + 1 < len(messages) else None
            yield message.calls, after.responses if after is not None else ()


def _shown(batch: Batch, infer: Infer, scene: Scene) -> Told[Batch]:
    for calls, responses in _pairs(infer):
        expected, given = [call.id for call in calls], [response.call for response in responses]
        if expected != given:
            return batch, f"the model of {infer.prompt} is shown {expected} answered by {given}"
    return batch, None


PAIRED_RESPONSES = Check(
    "paired-responses",
    cites="000 §5; behaviour §9.4",
    says="A batch has one assistant record and one response for each call, in the order of the calls.",
    start=Batch(),
    hears=(
        recorded(Assistant, by_session, _spoke),
        recorded(ToolResult, by_session, _responded),
        recorded(TurnSettled, by_session, _closed),
        asked(Infer, lambda infer, scene: infer.session, _shown),
    ),
)


# --- the writer

TAKEN_BY_FIAT = ("ReplaceWriter", "ExpireWriter")
"""Labels under which a history tells that time or a rival struck; no writer of the run did it."""


def _granted(state: bool, writer: Writer, scene: Scene) -> Told[bool]:
    event: Any = scene.event
    before: Writer | None = scene.before
    session = scene.write.key
    if before is None or (isinstance(event, Committed) and event.label in TAKEN_BY_FIAT):
        return state, None
    if writer.generation < before.generation:
        return (
            state,
            f"writer of {session} went back from generation {before.generation} to {writer.generation}",
        )
    same = (writer.owner, writer.token_hash) == (before.owner, before.token_hash)
    if not same and writer.generation == before.generation:
        return state, f"writer of {session} changed to {writer.owner} within generation {writer.generation}"
    if not same and event.at < before.expires_at:
        return (
            state,
            f"writer of {session} was taken by {writer.owner} while the lease of {before.owner} lived",
        )
    return state, None


WRITER_GENERATION = Check(
    "writer-generation",
    cites="003 Ownership and transport; behaviour §1.11",
    says="A writer's generation never goes back, goes up with each take-over, and a live lease is not taken.",
    start=False,
    hears=(wrote(Writer, by_key, _granted),),
)

CHECKS = (JOURNAL_IS_ONE_LINE, NO_DUPLICATED_HISTORY, PAIRED_RESPONSES, WRITER_GENERATION)
