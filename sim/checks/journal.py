"""What a journal must look like: contiguous, without duplicates, paired, and written by one owner at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from sim.checks.check import (
    Check,
    Scene,
    Told,
    answered,
    asked,
    by_addressee,
    by_key,
    by_session,
    learned,
    recorded,
    wrote,
)
from sim.facts import CommandReceipt, Writer
from sim.history import Committed, Learned
from sim.protocol import (
    ActivationChanged,
    Admitted,
    Assistant,
    Checkpoint,
    Entry,
    FileHistory,
    Infer,
    InputAccepted,
    Prompt,
    Record,
    Renewed,
    RenewWriter,
    Response,
    ToolCall,
    ToolIntent,
    ToolReceipt,
    ToolResult,
    Transact,
    TurnSettled,
    UserMessage,
    WakeRequested,
)

RECORDS: tuple[type[Record], ...] = (
    ActivationChanged,
    FileHistory,
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
    if isinstance(event, Committed) and event.label == "SealLease":
        return state, None
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

# --- admission


def _accepted(prompts: frozenset[str], entry: Entry, scene: Scene) -> Told[frozenset[str]]:
    record: Any = entry.record
    return prompts | {record.prompt}, None


def _admitted(prompts: frozenset[str], answer: object, scene: Scene) -> Told[frozenset[str]]:
    prompt: str = scene.asked.request.prompt
    if not isinstance(answer, Admitted) or prompt in prompts:
        return prompts, None
    return prompts, f"prompt {prompt} was admitted, and no journal holds it"


ADMITTED_IS_RECORDED = Check(
    "admitted-is-recorded",
    cites="behaviour §1.2",
    says="A prompt is admitted only when its input is durable in the journal of its Session.",
    start=frozenset[str](),
    hears=(recorded(InputAccepted, by_session, _accepted), answered(Prompt, by_addressee, _admitted)),
)


# --- an owner that was replaced


class Refused(msgspec.Struct, frozen=True, gc=False):
    """The commit that an owner sent last, and whether it has been told that it is the writer no more."""

    command: str = ""
    told: bool = False


def _life(what: object, scene: Scene) -> tuple[str, int]:
    """One life of an owner."""
    return scene.actor, scene.life


def _not_renewed(owner: Refused, event: Learned, scene: Scene) -> Told[Refused]:
    return (replace(owner, told=True) if event.failure else owner), None


def _sends(owner: Refused, transact: Transact, scene: Scene) -> Told[Refused]:
    again = transact.command == owner.command
    late = f"{scene.actor} sent {transact.label} {transact.command} after its renewal was refused"
    return replace(owner, command=transact.command), late if owner.told and not again else None


REPLACED_OWNER_STOPS = Check(
    "replaced-owner-stops",
    cites="behaviour §3.3, §7 guard 139",
    says="An owner whose renewal was refused sends no further commit.",
    start=Refused(),
    hears=(learned(RenewWriter, _life, _not_renewed), asked(Transact, _life, _sends)),
)


def _script(what: object, scene: Scene) -> int:
    """The script that asked."""
    return scene.asked.script


def _renewed(active: tuple[str, int], answer: object, scene: Scene) -> Told[tuple[str, int]]:
    return ((answer.activation, answer.epoch) if isinstance(answer, Renewed) else active), None


def _admits(active: tuple[str, int], transact: Transact, scene: Scene) -> Told[tuple[str, int]]:
    admitted = [record for record in transact.records if isinstance(record, ToolReceipt)]
    admitted = [receipt for receipt in admitted if receipt.envelope.status != "not_started"]
    if not admitted or active == (transact.activation, transact.epoch):
        return active, None
    seen = f"found {active[0]} active" if active[0] else "did not ask who is active"
    return active, f"{scene.actor} admits {admitted[0].execution} under {transact.activation} and {seen}"


ADMITTED_BY_THE_ACTIVE = Check(
    "admitted-by-the-active",
    cites="003 Identity; behaviour §7 guard 94",
    says="In the commit queue, an owner sends a receipt only after it was told that its activation is current.",
    start=("", 0),
    hears=(answered(RenewWriter, _script, _renewed), asked(Transact, _script, _admits)),
)

CHECKS = (
    JOURNAL_IS_ONE_LINE,
    NO_DUPLICATED_HISTORY,
    PAIRED_RESPONSES,
    WRITER_GENERATION,
    ADMITTED_IS_RECORDED,
    REPLACED_OWNER_STOPS,
    ADMITTED_BY_THE_ACTIVE,
)
