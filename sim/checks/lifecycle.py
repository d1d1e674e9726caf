"""A Session is left in order, its sealed writer stays silent, and each prompt has one answer."""

from __future__ import annotations

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
    by_process,
    by_session,
    happened,
    learned,
    recorded,
    wrote,
)
from sim.facts import WRITERS, Head, StoredResource, Writer
from sim.history import Booted, Committed, Crashed, Failure
from sim.protocol import (
    AcquireWriter,
    Admitted,
    Assistant,
    AwaitTurn,
    Detached,
    DetachSession,
    Entry,
    InputAccepted,
    Loaded,
    LoadSession,
    OpenPublisher,
    Prompt,
    PublisherClosed,
    SealWriter,
    StopPublisher,
    ToolResult,
    Transact,
    TurnEnded,
    TurnSettled,
    WakeRequested,
)

BUSY, CONFLICT, ACTIVE = "hosted_session_busy", "hosted_prompt_conflict", "hosted_turn_active"
RECOVERY = "hosted_turn_recovery_required"
TOO_LARGE = "invalid_hosted_prompt"
WRITER_CONFLICT = "managed_session_writer_conflict"


# --- the sealed writer


def _sealed(generation: int, row: Writer, scene: Scene) -> Told[int]:
    """A seal ends its own holder's lease, and at once; any other row is a new lease, or the same one extended."""
    event: Any = scene.event
    before: Writer | None = scene.before
    if not isinstance(event, Committed) or event.label != "SealLease":
        return generation, None
    session = scene.write.key
    if event.at < row.expires_at:
        return row.generation, f"the lease of {session} was sealed and runs until {row.expires_at}"
    cause = scene.cause()
    request: Any = None if cause is None else cause.request
    holder = None if before is None else (before.owner, before.generation)
    if isinstance(request, SealWriter) and (request.writer.owner, request.writer.generation) != holder:
        return row.generation, f"{request.writer.owner} sealed the lease of {session}, which it did not hold"
    return row.generation, None


def _written(generation: int, row: object, scene: Scene) -> Told[int]:
    cause = scene.cause()
    request: Any = None if cause is None else cause.request
    writer = getattr(request, "writer", None)
    if writer is None or writer.generation > generation:
        return generation, None
    said = f"{request.label} {request.operation} of {scene.session} became durable under a sealed writer"
    return generation, said


def _turned_away(generation: int, answer: object, scene: Scene) -> Told[int]:
    """Whether a lease that was sealed, and taken by nobody since, makes a new owner wait."""
    request: Any = scene.asked.request
    held = scene.row(WRITERS, request.session)
    refused = isinstance(answer, Failure) and answer.code == WRITER_CONFLICT
    waits = refused and held is not None and held.generation == generation
    return (
        generation,
        f"{request.owner} must wait for the sealed lease of {request.session}" if waits else None,
    )


def _seal_refused(generation: int, answer: object, scene: Scene) -> Told[int]:
    """Whether a seal was refused to the writer that holds the lease, or sealed it before."""
    request: Any = scene.asked.request
    held = scene.row(WRITERS, request.session)
    own = held is not None and held.generation == request.writer.generation
    refused = isinstance(answer, Failure) and answer.code == WRITER_CONFLICT
    return generation, f"{request.writer.owner} may not seal its own lease" if refused and own else None


SEALED_WRITES_NO_MORE = Check(
    "sealed-writes-no-more",
    cites="003 Lifecycle; behaviour §4",
    says="Its holder's seal ends a writer lease at once: the next owner need not wait, and nothing follows under it.",
    start=0,
    hears=(
        wrote(Writer, by_key, _sealed),
        wrote(Head, by_session, _written),
        wrote(StoredResource, by_session, _written),
        answered(SealWriter, lambda answer, scene: scene.asked.request.session, _seal_refused),
        answered(AcquireWriter, lambda answer, scene: scene.asked.request.session, _turned_away),
    ),
)


# --- the order of leaving


class Closing(msgspec.Struct, frozen=True, gc=False):
    """Whether the publisher may still let something in, the commits under way, and the generation that is sealed."""

    listens: bool = True
    commits: frozenset[int] = frozenset()
    sealed: int = 0


def _stopped(closing: Closing, answer: object, scene: Scene) -> Told[Closing]:
    return replace(closing, listens=closing.listens and not isinstance(answer, PublisherClosed)), None


def _listens(closing: Closing, answer: object, scene: Scene) -> Told[Closing]:
    return replace(closing, listens=True), None


def _commits(closing: Closing, request: Transact, scene: Scene) -> Told[Closing]:
    after = replace(closing, commits=closing.commits | {scene.asked.exchange})
    late = request.writer.generation <= closing.sealed
    return (
        after,
        f"{request.label} {request.command} was sent behind the seal of its writer" if late else None,
    )


def _committed(closing: Closing, answer: object, scene: Scene) -> Told[Closing]:
    return replace(closing, commits=closing.commits - {scene.asked.exchange}), None


def _seals(closing: Closing, request: SealWriter, scene: Scene) -> Told[Closing]:
    after = replace(closing, sealed=request.writer.generation)
    if closing.listens:
        return after, f"the writer of {request.session} was sealed before its publisher was drained"
    if closing.commits:
        return after, f"the writer of {request.session} was sealed under a commit"
    return after, None


def _new_process(closing: Closing, event: Crashed, scene: Scene) -> Told[Closing]:
    owner = event.process.startswith("owner:")
    return (replace(closing, listens=True, commits=frozenset()) if owner else closing), None


SEALED_AFTER_THE_DRAIN = Check(
    "sealed-after-the-drain",
    cites="003 Lifecycle; behaviour §4",
    says="A writer is sealed behind its last commit, and only when the publisher has been stopped and drained.",
    start=Closing(),
    hears=(
        answered(StopPublisher, by_addressee, _stopped),
        answered(OpenPublisher, by_addressee, _listens),
        asked(Transact, by_session, _commits),
        answered(Transact, by_session, _committed),
        learned(Transact, by_session, _committed),
        asked(SealWriter, by_session, _seals),
        happened(Crashed, by_process, _new_process),
    ),
)


# --- who may leave, enter and ask


class Known(msgspec.Struct, frozen=True, gc=False):
    """What is known of a Session: its accepted prompts with text and watermark, those unsettled and those not told.

    ``open`` says that its owner has opened it, ``blocked`` that a turn of it was told to be blocked.
    """

    accepted: tuple[tuple[str, str, int], ...] = ()
    unsettled: frozenset[str] = frozenset()
    untold: frozenset[str] = frozenset()
    open: bool = False
    blocked: bool = False

    def of(self, prompt: str) -> tuple[str, int] | None:
        """Text and watermark of an accepted prompt."""
        return next(((text, mark) for name, text, mark in self.accepted if name == prompt), None)


def _accepts(known: Known, entry: Entry, scene: Scene) -> Told[Known]:
    record: Any = entry.record
    after = replace(
        known,
        accepted=(*known.accepted, (record.prompt, record.text, entry.sequence)),
        unsettled=known.unsettled | {record.prompt},
        untold=known.untold | {record.prompt},
    )
    if not known.unsettled:
        return after, None
    return after, f"prompt {record.prompt} was accepted while {min(known.unsettled)} is not settled"


def _wakes(known: Known, entry: Entry, scene: Scene) -> Told[Known]:
    record: Any = entry.record
    woken = tuple(
        (name, text, entry.sequence if name == record.prompt else mark) for name, text, mark in known.accepted
    )
    return replace(known, accepted=woken), None


def _settles(known: Known, entry: Entry, scene: Scene) -> Told[Known]:
    record: Any = entry.record
    return replace(known, unsettled=known.unsettled - {record.prompt}), None


def _tells(known: Known, answer: object, scene: Scene) -> Told[Known]:
    if not isinstance(answer, TurnEnded):
        return known, None
    blocked = known.blocked or answer.state == "recovery-blocked"
    return replace(known, untold=known.untold - {scene.asked.request.prompt}, blocked=blocked), None


def _opens(known: Known, answer: object, scene: Scene) -> Told[Known]:
    if not isinstance(answer, Loaded):
        return known, None
    twice = f"session {by_addressee(None, scene)} was opened again in a process that had it open"
    return replace(known, open=True, blocked=False), twice if known.open else None


def _ends(known: Known, event: Booted | Crashed, scene: Scene) -> Told[Known]:
    return (replace(known, open=False) if event.process.startswith("owner:") else known), None


def _leaves(known: Known, answer: object, scene: Scene) -> Told[Known]:
    session = by_addressee(None, scene)
    open_ = known.unsettled or ({"a blocked turn"} if known.blocked else known.untold)
    if isinstance(answer, Detached):
        left = f"session {session} was left while {min(open_)} is open" if open_ else None
        return replace(known, open=False), left
    refused = isinstance(answer, Failure) and answer.code == BUSY
    idle = refused and known.open and not open_
    return known, f"session {session} is not left, and nothing of it is open" if idle else None


def _answers(known: Known, answer: object, scene: Scene) -> Told[Known]:
    request: Any = scene.asked.request
    before = known.of(request.prompt)
    wrong = _wrong(known, before, answer, request.text)
    return known, f"prompt {request.prompt} {wrong}" if wrong else None


def _wrong(known: Known, before: tuple[str, int] | None, answer: object, text: str) -> str:
    """What is wrong with the answer to a prompt; empty when nothing is."""
    if isinstance(answer, Admitted):
        if before is None or before == (text, answer.watermark):
            return ""
        return f"got watermark {answer.watermark} for '{text}', and '{before[0]}' has {before[1]}"
    if not isinstance(answer, Failure) or answer.code in (TOO_LARGE, "doubt"):
        return ""
    if answer.code not in (CONFLICT, ACTIVE, RECOVERY):
        return "" if known.open else f"is refused with {answer.code} by a Session that is not open"
    if answer.code == CONFLICT:
        return "" if before is not None and before[0] != text else "conflicts with no other text"
    if before is not None and known.open:
        return f"is refused with {answer.code}, and was accepted before"
    alone = answer.code == ACTIVE and not known.untold
    return "is refused for a turn, and none runs" if alone else ""


LEFT_IN_ORDER = Check(
    "left-in-order",
    cites="003 Lifecycle; field cases RC-06, RC-20",
    says="A Session is left exactly when no turn of it is open, and is not opened again where it is open.",
    start=Known(),
    hears=(
        recorded(
            InputAccepted, by_session, lambda known, entry, scene: (_accepts(known, entry, scene)[0], None)
        ),
        recorded(TurnSettled, by_session, _settles),
        answered(AwaitTurn, by_addressee, _tells),
        answered(LoadSession, by_addressee, _opens),
        happened(Crashed, by_process, _ends),
        answered(DetachSession, by_addressee, _leaves),
    ),
)

ONE_PROMPT_ONE_ANSWER = Check(
    "one-prompt-one-answer",
    cites="behaviour §1.2",
    says="A prompt gets one watermark, another text under its id a conflict, and another prompt its turn or none.",
    start=Known(),
    hears=(
        recorded(InputAccepted, by_session, _accepts),
        recorded(WakeRequested, by_session, _wakes),
        recorded(TurnSettled, by_session, _settles),
        answered(AwaitTurn, by_addressee, _tells),
        answered(
            LoadSession, by_addressee, lambda known, answer, scene: (_opens(known, answer, scene)[0], None)
        ),
        answered(
            DetachSession, by_addressee, lambda known, answer, scene: (_leaves(known, answer, scene)[0], None)
        ),
        happened(Crashed, by_process, _ends),
        answered(Prompt, by_addressee, _answers),
    ),
)


# --- what no record can keep

MEASURED = (InputAccepted, Assistant, ToolResult)
"""The records whose size is in the hands of a user, a model or a command."""


def _too_large(state: bool, answer: object, scene: Scene) -> Told[bool]:
    large = isinstance(answer, Failure) and answer.code == "managed_session_oss_disabled"
    request: Any = scene.asked.request
    measured = any(isinstance(record, MEASURED) for record in request.records)
    wrong = large and measured
    return state, f"{request.label} {request.operation} is larger than any record can be" if wrong else None


RECORDS_FIT = Check(
    "records-fit",
    cites="003 Identity; behaviour §7 guard 42",
    says="A prompt, answer or result that no record can keep is noticed before it is sent to the Store.",
    start=False,
    hears=(answered(Transact, by_session, _too_large),),
)

CHECKS = (
    SEALED_WRITES_NO_MORE,
    SEALED_AFTER_THE_DRAIN,
    LEFT_IN_ORDER,
    ONE_PROMPT_ONE_ANSWER,
    RECORDS_FIT,
)
