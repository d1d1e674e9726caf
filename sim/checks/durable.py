"""What a receipt promises: the output is durable, whole, and exactly what the process wrote."""

from __future__ import annotations

import hashlib
from functools import reduce
from typing import Any

import msgspec

from sim.checks.check import (
    Check,
    Scene,
    Told,
    acted,
    answered,
    asked,
    at_all,
    by_execution,
    by_key,
    by_recorded_execution,
    by_reference,
    durable_output,
    happened,
    recorded,
    wrote,
)
from sim.content import Content, Rope, join, same, sha256
from sim.deeds import Emit
from sim.facts import RESOURCES, StoredResource
from sim.history import Asked, Committed, Declined
from sim.protocol import (
    STREAMS,
    Acknowledge,
    Acknowledged,
    Capture,
    Confirm,
    Entry,
    Publish,
    Receipt,
    Seal,
    ToolReceipt,
    TurnSettled,
)

ROT = "rot"
"""The label under which a history tells that bytes changed at rest: no transaction of anybody's."""


class Written(msgspec.Struct, frozen=True, gc=False):
    """What a process wrote into its pipes; ``late`` is what a detached child added after its end."""

    output: tuple[tuple[str, Content], ...] = ()
    late: tuple[tuple[str, Content], ...] = ()

    def prompt(self, stream: str) -> Content:
        """What the process itself wrote into a stream: all of it must be captured."""
        return _of(stream, self.output)

    def whole(self, stream: str) -> Content:
        """The same with what came late: some of that may be captured too."""
        return join(self.prompt(stream), _of(stream, self.late))


def _of(stream: str, pieces: tuple[tuple[str, Content], ...]) -> Content:
    """The pieces of one stream behind each other."""
    return reduce(join, (content for name, content in pieces if name == stream), b"")


def _with(pieces: tuple[tuple[str, Content], ...], emit: Emit) -> tuple[tuple[str, Content], ...]:
    """One piece more; generated output that goes on is told as one."""
    if not isinstance(emit.content, Rope):
        return (*pieces, (emit.stream, emit.content))
    others = tuple(piece for piece in pieces if piece[0] != emit.stream)
    return (*others, (emit.stream, join(_of(emit.stream, pieces), emit.content)))


def _emitted(written: Written, emit: Emit, scene: Scene) -> Told[Written]:
    if emit.late:
        return Written(written.output, _with(written.late, emit)), None
    return Written(_with(written.output, emit), written.late), None


def resource_of(capture: str, stream: str, ordinal: int | str) -> str:
    """The name of a segment, or of a stream's seal (behaviour §1.8), computed apart from the capture code."""
    place = f'"{ordinal}"' if isinstance(ordinal, str) else ordinal
    return hashlib.sha256(f'["{capture}","{stream}",{place}]'.encode()).hexdigest()


def _stored(scene: Scene, capture: Capture, seal: Seal) -> Content | None:
    """The durable bytes of a sealed stream; None when a segment, or the seal itself, is missing."""
    rows = [
        durable_output(scene.session, resource_of(capture.id, seal.stream, ordinal), scene)
        for ordinal in range(seal.segments)
    ]
    sealed = durable_output(scene.session, resource_of(capture.id, seal.stream, "seal"), scene)
    if sealed is None or None in rows:
        return None
    return reduce(join, (row.content for row in rows if row is not None), b"")


def _lacks(written: Written, capture: Capture, seal: Seal, scene: Scene) -> str:
    """What is wrong with one sealed stream of a complete capture; empty when nothing is."""
    least, most = written.prompt(seal.stream), written.whole(seal.stream)
    if not len(least) <= seal.length <= len(most):
        return f"{seal.stream} is sealed at {seal.length} bytes of {len(least)} written"
    if sha256(most[: seal.length]) != seal.digest.removeprefix("sha256:"):
        return f"{seal.stream} is sealed with a digest that is not that of what was written"
    if (durable := _stored(scene, capture, seal)) is None:
        return f"{seal.stream} has a segment or seal that is not durable"
    return (
        ""
        if same(durable, most[: seal.length])
        else f"{seal.stream} is durable with other bytes than were written"
    )


def _received(written: Written, entry: Entry, scene: Scene) -> Told[Written]:
    receipt: Any = entry.record
    capture: Capture | None = receipt.envelope.capture
    complete = capture is not None and capture.status == "complete"
    if complete != (receipt.delivery == "committed"):
        state = "none" if capture is None else capture.status
        return written, f"receipt of {receipt.execution} is {receipt.delivery} over a capture that is {state}"
    if capture is None or not complete:
        return written, None
    sealed = {seal.stream for seal in capture.seals}
    wrong = [f"{stream} is not sealed" for stream in STREAMS if stream not in sealed]
    wrong += [lack for seal in capture.seals if (lack := _lacks(written, capture, seal, scene))]
    if capture.reason or durable_output(scene.session, capture.manifest, scene) is None:
        wrong.append("its manifest is not durable")
    return written, f"complete receipt of {receipt.execution}: {'; '.join(wrong)}" if wrong else None


COMPLETE_MEANS_COMPLETE = Check(
    "complete-means-complete",
    cites="003 Identity; 003 Durable output storage",
    says="A receipt is committed exactly over a complete capture: both streams sealed, durable, as the process wrote.",
    start=Written(),
    hears=(acted(Emit, by_execution, _emitted), recorded(ToolReceipt, by_recorded_execution, _received)),
)


def _kept(state: bool, row: StoredResource, scene: Scene) -> Told[bool]:
    event: Any = scene.event
    before: StoredResource | None = scene.before
    if before is None or (before.kind == row.kind and same(before.content, row.content)):
        return state, None
    rotten = isinstance(event, Committed) and event.label == ROT
    return state, None if rotten else f"resource {scene.write.key} was overwritten with other bytes"


IMMUTABLE_RESOURCES = Check(
    "immutable-resources",
    cites="003 Durable output storage",
    says="A resource id never gets other bytes or another kind.",
    start=False,
    hears=(wrote(StoredResource, by_key, _kept),),
)


CONFLICT = "managed_session_resource_conflict"
COPY = "~copy"
"""What stands behind the label of a script that handles the second copy of a request."""


def _request_of(event: Declined, scene: Scene) -> object:
    """The request that a script handles, of a second copy too; None when the history does not tell."""
    began = scene.began.get(event.script)
    if began is None:
        return None
    if began.exchange:
        return scene.requests[began.exchange].request if began.exchange in scene.requests else None
    first = (began.parent, began.nth, began.label.removesuffix(COPY))
    same = (asked for asked in scene.requests.values() if _named(asked) == first)
    return next((asked.request for asked in same), None) if began.label.endswith(COPY) else None


def _named(asked: Asked) -> tuple[int, int, str]:
    return asked.script, asked.nth, asked.request.label


def _declined(state: bool, event: Declined, scene: Scene) -> Told[bool]:
    request = _request_of(event, scene) if event.code == CONFLICT else None
    if not isinstance(request, Publish):
        return state, None
    held = scene.row(RESOURCES, f"{request.session}/{request.resource}")
    same = held is not None and (held.kind, held.digest) == (request.kind, sha256(request.content))
    return (
        state,
        f"resource {request.resource} was refused as a conflict with the same bytes" if same else None,
    )


CONFLICTS_ARE_ABOUT_BYTES = Check(
    "conflicts-are-about-bytes",
    cites="003 Durable output storage",
    says="Output conflicts with what is durable under its id only when its bytes or its kind are others.",
    start=False,
    hears=(happened(Declined, at_all, _declined),),
)


# --- the exact acknowledgement


class Admission(msgspec.Struct, frozen=True, gc=False):
    """The receipt that a journal holds for an execution, if it does."""

    receipt: Receipt | None = None


def _admitted(known: Admission, entry: Entry, scene: Scene) -> Told[Admission]:
    record: Any = entry.record
    revision = entry.sequence if record.delivery == "committed" else 0
    receipt = Receipt(record.execution, record.manifest, record.delivery, revision, record.outcome_ref)
    return Admission(receipt), None


def _exact(known: Admission, request: Acknowledge | Confirm, scene: Scene) -> Told[Admission]:
    if known.receipt is None:
        return known, f"{request.receipt.execution} was acknowledged without a receipt"
    if request.receipt != known.receipt:
        return known, f"{known.receipt.execution} was acknowledged with another receipt than its own"
    return known, None


def _taken(known: Admission, answer: object, scene: Scene) -> Told[Admission]:
    if not isinstance(answer, Acknowledged):
        return known, None
    _, inexact = _exact(known, scene.asked.request, scene)
    return known, inexact and f"a worker agreed: {inexact}"


EXACT_ACK = Check(
    "exact-ack",
    cites="003 Identity; behaviour §1.12",
    says="An acknowledgement carries exactly the durable receipt of its execution.",
    start=Admission(),
    hears=(
        recorded(ToolReceipt, by_recorded_execution, _admitted),
        asked(Acknowledge, by_execution, _exact),
        asked(Confirm, by_reference, _exact),
        answered(Confirm, lambda answer, scene: scene.asked.request.reference.execution, _taken),
    ),
)


def _settled(settled: bool, entry: Entry, scene: Scene) -> Told[bool]:
    return True, None


def _turn_of(request: Acknowledge, scene: Scene) -> tuple[str, str] | None:
    intended = scene.intended.get(request.execution)
    return None if intended is None else (intended.session, intended.intent.prompt)


def _acknowledged(settled: bool, request: Acknowledge, scene: Scene) -> Told[bool]:
    return settled, f"{request.execution} of a settled turn was acknowledged again" if settled else None


ACK_OF_THE_OPEN_TURN = Check(
    "ack-of-the-open-turn",
    cites="RC-39",
    says="Only receipts of a turn that is not settled are acknowledged; a load replays none of the old ones.",
    start=False,
    hears=(
        recorded(TurnSettled, lambda entry, scene: (scene.session, entry.record.prompt), _settled),
        asked(Acknowledge, _turn_of, _acknowledged),
    ),
)

CHECKS = (
    COMPLETE_MEANS_COMPLETE,
    IMMUTABLE_RESOURCES,
    CONFLICTS_ARE_ABOUT_BYTES,
    EXACT_ACK,
    ACK_OF_THE_OPEN_TURN,
)
