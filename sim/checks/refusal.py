"""A refusal for ill-formed text: it touches nothing, answers every call, names no value, and is for no other text.

What is ill-formed is read here from the model's own JSON text, with a parser and a look that no design shares.
"""

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
    answered,
    asked,
    by_session,
    recorded,
)
from sim.effects import Secret
from sim.facts import JOURNAL
from sim.history import encoded
from sim.protocol import (
    SHELL,
    Acquire,
    Assistant,
    Checkpoint,
    Entry,
    Infer,
    Message,
    ModelOutput,
    OpenPublisher,
    Prepare,
    Prompt,
    RegisterCapture,
    RegisterPublisher,
    Release,
    Response,
    StageResource,
    StartExecution,
    ToolCall,
    ToolIntent,
    ToolResult,
    UserMessage,
)

FIELDS = ("command", "description")
HALVES = range(0xD800, 0xE000)


def ill_formed(call: ToolCall) -> tuple[str, str]:
    """The first field of a Shell call that holds half a character, and its text; two empty texts when none does."""
    arguments = _parsed(call.arguments) if call.name == SHELL else None
    for field in FIELDS if isinstance(arguments, dict) else ():
        text = cast("dict[str, Any]", arguments).get(field)
        if isinstance(text, str) and any(ord(character) in HALVES for character in text):
            return field, text
    return "", ""


def _parsed(text: str) -> object:
    """A JSON text as a value, with its halves joined where they meet; nothing when it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def fixed(field: str) -> str:
    """What a model is told of half a character in a field (000 §3), word for word."""
    return f"Hosted Shell {field} contains an unpaired UTF-16 surrogate. Provide valid Unicode and retry."


def refused_calls(answer: object) -> tuple[ToolCall, ...]:
    """The calls of a model's answer, when any of them must be refused for its text; none otherwise."""
    calls = answer.calls if isinstance(answer, ModelOutput) else ()
    return calls if any(ill_formed(call)[0] for call in calls) else ()


# --- nothing is touched


class Refusing(msgspec.Struct, frozen=True, gc=False):
    """What a Session does about an answer that must be refused; ``gave_back`` says that it released the Workspace."""

    prompt: str = ""
    gave_back: bool = False


def _said(refusing: Refusing, answer: object, scene: Scene) -> Told[Refusing]:
    return Refusing(scene.asked.request.prompt if refused_calls(answer) else ""), None


def _touches(refusing: Refusing, request: Any, scene: Scene) -> Told[Refusing]:
    if not refusing.prompt:
        return refusing, None
    return refusing, f"{type(request).__name__} was asked for {refusing.prompt}, whose batch must be refused"


def _keeps(refusing: Refusing, entry: Entry, scene: Scene) -> Told[Refusing]:
    record: Any = entry.record
    if not refusing.prompt or (isinstance(record, Checkpoint) and not record.bindings):
        return refusing, None
    return refusing, f"{record.label} was recorded for {refusing.prompt}, whose batch must be refused"


def _gives_back(refusing: Refusing, request: Release, scene: Scene) -> Told[Refusing]:
    return replace(refusing, gave_back=bool(refusing.prompt)), None


def _goes_on(refusing: Refusing, infer: Infer, scene: Scene) -> Told[Refusing]:
    released = refusing.gave_back and refusing.prompt == infer.prompt
    said = f"{infer.prompt} released its Workspace for a refused batch, and went on"
    return Refusing(), said if released else None


TOUCHED = (
    Acquire,
    OpenPublisher,
    RegisterPublisher,
    Prepare,
    StageResource,
    RegisterCapture,
    StartExecution,
)
"""What no refused batch asks for. Warming is none of it: it precedes the model's answer (000 §5)."""

REFUSED_TEXT_TOUCHES_NOTHING = Check(
    "refused-text-touches-nothing",
    cites="000 §2, §5",
    says="Between an answer with ill-formed Shell text and the next request nothing is acquired, reserved or started.",
    start=Refusing(),
    hears=(
        answered(Infer, by_session, _said),
        asked(Infer, by_session, _goes_on),
        *(asked(request, by_session, _touches) for request in TOUCHED),
        asked(Release, by_session, _gives_back),
        *(recorded(record, by_session, _keeps) for record in (ToolIntent, Checkpoint)),
    ),
)


# --- every call is answered


class Owed(msgspec.Struct, frozen=True, gc=False):
    """The calls that must be refused, until they are."""

    prompt: str = ""
    calls: tuple[ToolCall, ...] = ()


def _owes(owed: Owed, answer: object, scene: Scene) -> Told[Owed]:
    return Owed(scene.asked.request.prompt, refused_calls(answer)), None


def _ill_answered(response: Response, call: ToolCall) -> Iterator[str]:
    field, _ = ill_formed(call)
    if (response.call, response.name) != (call.id, call.name):
        yield f"{call.id} is answered by the response to {response.call}"
    if not response.error:
        yield f"{call.id} is told to have run"
    if field and response.text != fixed(field):
        yield f"{call.id} is not told the fixed message for its {field}"
    if not field and "not executed" not in response.text.lower() and not response.text.startswith("Hosted"):
        yield f"{call.id} is not told that it was not executed"


def _answers(owed: Owed, entry: Entry, scene: Scene) -> Told[Owed]:
    result: Any = entry.record
    if not owed.calls or result.prompt != owed.prompt:
        return owed, None
    wrong = [] if not result.execution else [f"{result.execution} has a result"]
    if len(result.responses) != len(owed.calls):
        wrong.append(f"{len(result.responses)} of {len(owed.calls)} calls are answered together")
    for response, call in zip(result.responses, owed.calls, strict=False):
        wrong.extend(_ill_answered(response, call))
    said = f"the refused batch of {owed.prompt}: {'; '.join(wrong)}"
    return Owed(), said if wrong else None


def _asks_again(owed: Owed, infer: Infer, scene: Scene) -> Told[Owed]:
    lacks = owed.calls and owed.prompt == infer.prompt
    said = f"the model of {infer.prompt} is asked again before its refused batch was answered durably"
    return Owed(), said if lacks else None


REFUSED_TEXT_IS_ANSWERED = Check(
    "refused-text-is-answered",
    cites="000 §3, §4.1, §5",
    says="A batch with ill-formed Shell text gets one durable record: the fixed error, and for others not executed.",
    start=Owed(),
    hears=(
        answered(Infer, by_session, _owes),
        recorded(ToolResult, by_session, _answers),
        asked(Infer, by_session, _asks_again),
    ),
)


# --- nothing else is refused

UNPAIRED = re.compile(r"Hosted Shell (\w+) contains an unpaired UTF-16 surrogate")


def _blames(state: bool, entry: Entry, scene: Scene) -> Told[bool]:
    result: Any = entry.record
    spoken = scene.spoken.get(scene.session)
    record: Any = None if spoken is None else spoken.record
    called = {} if record is None else {call.id: call for call in record.calls}
    for response in result.responses:
        blamed = UNPAIRED.match(response.text)
        if blamed and response.call in called and ill_formed(called[response.call])[0] != blamed[1]:
            return state, f"{response.call} is refused for its {blamed[1]}, which is well-formed"
    return state, None


VALID_TEXT_IS_NOT_BLAMED = Check(
    "valid-text-is-not-blamed",
    cites="000 §3",
    says="Only text in which a surrogate lacks its other half is refused as unpaired, by its first such field.",
    start=False,
    hears=(recorded(ToolResult, by_session, _blames),),
)


# --- the value stands nowhere

LONG_ENOUGH = 8
"""A part of a value of so many characters is recognised in a text; a shorter one may be a word of any sentence."""


def _notes(refused: frozenset[ToolCall], answer: object, scene: Scene) -> Told[frozenset[ToolCall]]:
    return refused | {call for call in refused_calls(answer) if ill_formed(call)[0]}, None


def _forms(value: str) -> frozenset[str]:
    """How a refused value could stand in a text: raw, escaped, its halves replaced, or a long part of it."""
    escaped = json.dumps(value)[1:-1]
    forms = {value, escaped, re.sub(r"(?<=\\u)[0-9a-f]{4}", lambda unit: unit[0].upper(), escaped)}
    parts = re.split("[\ud800-\udfff]+", value)
    forms |= {mark.join(parts) for mark in ("?", "\ufffd") if len(value) >= LONG_ENOUGH}
    forms |= {part for part in parts if len(part) >= LONG_ENOUGH}
    return frozenset(forms)


def _only_in_calls(forms: frozenset[str], refused: frozenset[ToolCall], scene: Scene) -> bool:
    """Whether the forms stand in the whole history just as often as in these calls: then they are nowhere else."""
    try:
        trace = scene.trace()
    except UnicodeEncodeError:  # a text that no encoding knows stands raw somewhere
        return False
    wholes = [encoded([call])[1:] for call in refused]
    counts = [(whole, trace.count(whole)) for whole in wholes]
    pieces = [form.encode("utf-8", "surrogatepass") for form in forms]
    return all(
        trace.count(piece) == sum(number * whole.count(piece) for whole, number in counts) for piece in pieces
    )


def _said_anyway(scene: Scene, refused: frozenset[ToolCall]) -> str:
    """Every prompt, and every text of a call that was not refused: of these, a part of a value proves nothing."""
    texts: list[str] = []
    for event in scene.events:
        request = getattr(event, "request", None)
        if isinstance(request, Prompt):
            texts.append(request.text)
        answer = getattr(event, "answer", None)
        for call in answer.calls if isinstance(answer, ModelOutput) else ():
            if call not in refused:
                texts.append(call.arguments)
                texts.extend(_texts(_parsed(call.arguments)))
    return "\n".join(texts)


def _texts(value: Any) -> Iterator[str]:
    """Every text in a value, but for what stands in a call as the model made it."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, bytes):
        yield _decoded(value)
    elif isinstance(value, dict):
        yield from _texts([*cast("dict[Any, Any]", value).keys(), *cast("dict[Any, Any]", value).values()])
    elif isinstance(value, list | tuple | frozenset):
        for part in cast("list[Any]", value):
            yield from _texts(part)
    elif isinstance(value, msgspec.Struct) and not isinstance(value, ToolCall | Secret):
        for name in value.__struct_fields__:
            yield from _texts(getattr(value, name))


def _decoded(content: bytes) -> str:
    """Bytes as text, with raw halves kept where nothing else is wrong."""
    try:
        return content.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return content.decode("utf-8", "replace")


def _stands(subject: str, refused: frozenset[ToolCall], scene: Scene) -> Iterator[tuple[int, str]]:
    """Every refused value that stands outside of the calls as the model made them."""
    values = sorted({ill_formed(call)[1] for call in refused})
    for number, value in enumerate(values, 1):
        forms = _forms(value)
        if _only_in_calls(forms, refused, scene):
            continue
        known = _said_anyway(scene, refused)
        telling = [form for form in forms if form not in known]
        for event in scene.events:
            if any(form in text for text in _texts(event) for form in telling):
                named = f"the value of refused text {number} of {len(values)}"
                yield (
                    event.at,
                    f"{named} stands in {type(event).__name__}, outside of the call that the model made",
                )
                break


REFUSED_VALUE_STANDS_NOWHERE = Check(
    "refused-value-stands-nowhere",
    cites="000 §3, §5",
    says="No message, row, deed or diagnostic repeats ill-formed Shell text, whole or in part, but the call itself.",
    start=frozenset[ToolCall](),
    hears=(answered(Infer, lambda answer, scene: "", _notes),),
    end=_stands,
)


# --- the model is shown what is recorded


def _spoken_of(record: object) -> Iterator[object]:
    if isinstance(record, UserMessage):
        yield "user", record.text
    elif isinstance(record, Assistant):
        yield "model", record.text, record.calls
    elif isinstance(record, ToolResult):
        yield from record.responses


def _shown_in(message: Message) -> Iterator[object]:
    if message.role == "tool":
        yield from message.responses
    elif message.role == "model":
        yield "model", message.text, message.calls
    else:
        yield message.role, message.text


def _shows(state: bool, infer: Infer, scene: Scene) -> Told[bool]:
    beginning = f"{infer.session}/"
    entries = [entry for key, entry in scene.table(JOURNAL).items() if key.startswith(beginning)]
    entries.sort(key=lambda entry: entry.sequence)
    kept = [piece for entry in entries for piece in _spoken_of(entry.record)]
    shown = [piece for message in infer.messages for piece in _shown_in(message)]
    if shown == kept:
        return state, None
    return (
        state,
        f"the model of {infer.prompt} is shown another conversation than the journal of {infer.session} keeps",
    )


SHOWN_AS_RECORDED = Check(
    "shown-as-recorded",
    cites="000 §6 Store and model transport",
    says="Every request shows the model the prompts, calls and responses of the journal, all of them, unchanged.",
    start=False,
    hears=(asked(Infer, by_session, _shows),),
)

CHECKS = (
    REFUSED_TEXT_TOUCHES_NOTHING,
    REFUSED_TEXT_IS_ANSWERED,
    VALID_TEXT_IS_NOT_BLAMED,
    REFUSED_VALUE_STANDS_NOWHERE,
    SHOWN_AS_RECORDED,
)
