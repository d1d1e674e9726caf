"""What is told is what happened: to the model, in the envelope, and to whoever waits for a turn."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from sim.checks.check import (
    Check,
    Scene,
    Told,
    acted,
    answered,
    by_addressee,
    by_execution,
    by_recorded_execution,
    by_session,
    recorded,
)
from sim.content import read
from sim.deeds import Emit, ExitProcess, Spawn
from sim.protocol import (
    AwaitTurn,
    Entry,
    Envelope,
    Halt,
    Response,
    ToolCall,
    ToolReceipt,
    ToolResult,
    TurnEnded,
    TurnSettled,
    WorkerState,
)

RETAINED = "retained"
"""The word by which a model learns that there is more output than it is shown."""


A_PATH = re.compile(r"(?<!\S)['\"(]?(?:/|~/|[A-Za-z]:\\)[\w.-]")
"""How a file is named that lies somewhere on a machine."""


def _enveloped(known: Envelope | None, entry: Entry, scene: Scene) -> Told[Envelope | None]:
    receipt: Any = entry.record
    return receipt.envelope, None


def _untrue(envelope: Envelope, response: Response) -> Iterator[str]:
    """What is wrong with a response; what the command itself wrote counts for nothing but the preview."""
    if response.error != (envelope.status != "success"):
        yield f"an error is {response.error} of status {envelope.status}"
    if envelope.preview not in response.text:
        yield "the preview is missing"
    told = response.text.replace(envelope.preview, "", 1)
    end = f"signal: {envelope.signal}" if envelope.signal else f"exit code: {envelope.exit_code}"
    for words in (f"status: {envelope.status}", end):
        if not re.search(rf"{re.escape(words)}(?!\w)", told):
            yield f"{words} is missing"
    if envelope.truncated != (RETAINED in told):
        yield "cut output is told as whole" if envelope.truncated else "whole output is told as cut"
    if A_PATH.search(told):
        yield "a path is named, which the model cannot reach"


def _resulted(known: Envelope | None, entry: Entry, scene: Scene) -> Told[Envelope | None]:
    result: Any = entry.record
    if known is None:
        return known, None
    wrong = [lie for response in result.responses for lie in _untrue(known, response)]
    return known, f"the model is told of {result.execution}: {'; '.join(wrong)}" if wrong else None


MODEL_IS_TOLD_THE_TRUTH = Check(
    "model-is-told-the-truth",
    cites="003 Ownership and transport",
    says="A model is told of an execution its preview, its status, how it ended, whether there is more, and no path.",
    start=None,
    hears=(
        recorded(ToolReceipt, by_recorded_execution, _enveloped),
        recorded(ToolResult, by_recorded_execution, _resulted),
    ),
)


# --- a call that did not run

LONG_ENOUGH = 8
"""A value of so many characters is recognised in a text; a shorter one may be a word of any sentence."""


def _texts(value: object) -> Iterator[str]:
    """Every text among the arguments of a call."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in cast("dict[str, object]", value).values():
            yield from _texts(part)


def _values(call: ToolCall) -> Iterator[str]:
    """What a refusal must not repeat: the arguments as a whole, and each text in them."""
    yield call.arguments
    try:
        yield from _texts(json.loads(call.arguments))
    except (ValueError, RecursionError):
        return


def _ill_told(response: Response, call: ToolCall | None) -> Iterator[str]:
    if not response.error:
        yield "it is told as a success"
    if not response.text:
        yield "no word says why"
    values = [] if call is None else [value for value in _values(call) if len(value) >= LONG_ENOUGH]
    if any(value in response.text for value in values):
        yield "its arguments are repeated"


def _not_run(state: bool, entry: Entry, scene: Scene) -> Told[bool]:
    result: Any = entry.record
    if result.execution:
        return state, None
    spoken = scene.spoken.get(scene.session)
    record: Any = None if spoken is None else spoken.record
    called = {} if record is None else {call.id: call for call in record.calls}
    for response in result.responses:
        if wrong := "; ".join(_ill_told(response, called.get(response.call))):
            return state, f"the model is told of {response.call}, which did not run: {wrong}"
    return state, None


REFUSALS_SAY_WHY = Check(
    "refusals-say-why",
    cites="000 §3, §5; 003 Lifecycle",
    says="Of a call that did not run the model is told an error with a reason, and none of its arguments.",
    start=False,
    hears=(recorded(ToolResult, by_session, _not_run),),
)


# --- the envelope

SHOWN = 16
"""How many of the last characters that a process wrote are looked for at the end of its preview."""


class Ran(msgspec.Struct, frozen=True, gc=False):
    """What the world saw of a process: its spawn, an order to stop, its end, and what it wrote last into each pipe."""

    spawned: bool = False
    halted: bool = False
    exit: ExitProcess | None = None
    last: tuple[tuple[str, bytes], ...] = ()


def _spawned(ran: Ran, spawn: Spawn, scene: Scene) -> Told[Ran]:
    return replace(ran, spawned=True), None


def _halts(ran: Ran, answer: object, scene: Scene) -> Told[Ran]:
    heard = isinstance(answer, WorkerState) and ran.exit is None
    return (replace(ran, halted=True) if heard else ran), None


def _exited(ran: Ran, deed: ExitProcess, scene: Scene) -> Told[Ran]:
    return replace(ran, exit=deed), None


def _emitted(ran: Ran, emit: Emit, scene: Scene) -> Told[Ran]:
    if emit.late:
        return ran, None
    others = tuple(piece for piece in ran.last if piece[0] != emit.stream)
    return replace(ran, last=(*others, (emit.stream, read(emit.content[-4 * SHOWN :])))), None


def _ends(ran: Ran) -> list[str]:
    """How a preview may end: two pipes are read side by side, so either may be read last. Empty for any end."""
    ends = [content.rstrip()[-SHOWN:].decode("ascii", "replace") for _, content in ran.last]
    plain = all(end and end.isascii() and end.isprintable() for end in ends)
    return ends if plain else []


def _misreported(ran: Ran, envelope: Envelope) -> Iterator[str]:
    end = ran.exit
    if end is not None and (envelope.exit_code, envelope.signal) != (end.exit_code, end.signal):
        told = f"exit code {envelope.exit_code} {envelope.signal}".rstrip()
        yield f"{told} instead of {end.exit_code} {end.signal}".rstrip()
    well = end is not None and end.exit_code == 0 and not end.signal
    if well != (envelope.status == "success"):
        yield f"status {envelope.status} of a process that ended {'well' if well else 'otherwise'}"
    if ran.halted and end is not None and end.signal and envelope.status != "cancelled":
        yield f"status {envelope.status} of a process that was stopped on request"
    ends = _ends(ran)
    if ends and not envelope.preview.rstrip().endswith(tuple(ends)):
        yield "a preview that does not end as the output does"


def _received(ran: Ran, entry: Entry, scene: Scene) -> Told[Ran]:
    receipt: Any = entry.record
    wrong = "; ".join(_misreported(ran, receipt.envelope)) if ran.spawned else ""
    return ran, f"the envelope of {receipt.execution} has {wrong}" if wrong else None


ENVELOPE_TELLS_WHAT_HAPPENED = Check(
    "envelope-tells-what-happened",
    cites="003 Ownership and transport",
    says="The envelope of what ran has the exit code and signal of its process, and a preview that ends as it did.",
    start=Ran(),
    hears=(
        acted(Spawn, by_execution, _spawned),
        acted(Emit, by_execution, _emitted),
        answered(Halt, lambda answer, scene: scene.asked.request.reference.execution, _halts),
        acted(ExitProcess, by_execution, _exited),
        recorded(ToolReceipt, by_recorded_execution, _received),
    ),
)


# --- the preview

PREVIEW, HEAD, TAIL = 8_192, 2_048, 6_083
"""The bytes of a preview, and those that its head and its tail have at most when there is a marker between them."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
MARKER = b"\n[... preview truncated; end of buffered output follows ...]\n"
KEPT = 65_536
"""How many of the last bytes that a process wrote a preview can be about (003 Ownership and transport)."""


class Output(msgspec.Struct, frozen=True, gc=False):
    """What a process wrote into its only stream: the last bytes of it, and how many there were in all."""

    streams: frozenset[str] = frozenset()
    last: bytes = b""
    length: int = 0


def _wrote(output: Output, emit: Emit, scene: Scene) -> Told[Output]:
    if emit.late or not emit.content:
        return output, None
    last = (output.last + read(emit.content[-KEPT:]))[-KEPT:]
    return Output(output.streams | {emit.stream}, last, output.length + len(emit.content)), None


def _characters(window: bytes) -> bytes:
    """The whole characters of a piece of well-formed text."""
    return window.decode(errors="ignore").encode()


def _begun(output: Output) -> bytes:
    """What was kept of an output, from its first whole character on: there the head of a preview begins."""
    return output.last if output.length <= KEPT else output.last.lstrip(bytes(range(0x80, 0xC0)))


def _badly_cut(output: Output, shown: bytes) -> Iterator[str]:
    """What is wrong with a preview that has a marker."""
    head, _, tail = shown.partition(MARKER)
    if output.length <= PREVIEW:
        yield "a marker, though all of the output fits"
    if tail != _characters(output.last[-TAIL:]):
        yield f"{len(tail)} bytes of tail that are not the last whole characters of {TAIL}"
    if head != _characters(_begun(output)[:HEAD]).removeprefix(BYTE_ORDER_MARK):
        yield f"{len(head)} bytes of head that are not the whole characters of {HEAD}"


def _ill_shown(output: Output, envelope: Envelope) -> Iterator[str]:
    """What is wrong with a preview: of text that went through one pipe to its end, everything can be said."""
    shown = envelope.preview.encode(errors="replace")
    if len(shown) > PREVIEW:
        yield f"{len(shown)} bytes of preview"
    if len(output.streams) > 1 or envelope.signal or not _well_formed(output):
        return
    if MARKER in shown:
        yield from _badly_cut(output, shown)
    elif not output.last.endswith(shown):
        yield "a preview that is no end of the output"
    whole = len(shown) == output.length and MARKER not in shown
    if whole == envelope.truncated:
        yield "whole output that is called cut" if whole else "cut output that is called whole"


def _well_formed(output: Output) -> bool:
    """Whether the output is text to its end: half a character at the beginning of what was kept is none of it."""
    content = _begun(output)
    return content == content.decode(errors="ignore").encode()


def _shown(output: Output, entry: Entry, scene: Scene) -> Told[Output]:
    receipt: Any = entry.record
    wrong = "; ".join(_ill_shown(output, receipt.envelope))
    return output, f"the envelope of {receipt.execution} has {wrong}" if wrong else None


PREVIEW_IS_BOUNDED = Check(
    "preview-is-bounded",
    cites="003 Ownership and transport",
    says="A preview has 8 KiB at most: the end of the output, or 2 KiB, a marker and 6,083 bytes, in whole characters.",
    start=Output(),
    hears=(acted(Emit, by_execution, _wrote), recorded(ToolReceipt, by_recorded_execution, _shown)),
)


# --- the end of a turn


class Ending(msgspec.Struct, frozen=True, gc=False):
    """How a turn ended: as it is recorded, and as it was told; empty when it was not."""

    settled: str = ""
    told: str = ""


def _differs(ending: Ending, prompt: str) -> str | None:
    if not ending.settled or not ending.told or ending.settled == ending.told:
        return None
    return f"turn {prompt} is settled as {ending.settled} and was told to be {ending.told}"


def _settled(ending: Ending, entry: Entry, scene: Scene) -> Told[Ending]:
    record: Any = entry.record
    after = replace(ending, settled=record.state)
    return after, _differs(after, record.prompt)


def _told(ending: Ending, answer: object, scene: Scene) -> Told[Ending]:
    if not isinstance(answer, TurnEnded) or answer.state == "recovery-blocked":
        return ending, None
    after = replace(ending, told=answer.state)
    return after, _differs(after, scene.asked.request.prompt)


SETTLED_AS_TOLD = Check(
    "settled-as-told",
    cites="003 Identity; behaviour §9.4",
    says="A turn is told to have ended as its journal says, unless it is told to be blocked.",
    start=Ending(),
    hears=(
        recorded(TurnSettled, lambda entry, scene: (scene.session, entry.record.prompt), _settled),
        answered(
            AwaitTurn,
            lambda answer, scene: (by_addressee(answer, scene), scene.asked.request.prompt),
            _told,
        ),
    ),
)

CHECKS = (
    MODEL_IS_TOLD_THE_TRUTH,
    REFUSALS_SAY_WHY,
    ENVELOPE_TELLS_WHAT_HAPPENED,
    PREVIEW_IS_BOUNDED,
    SETTLED_AS_TOLD,
)
