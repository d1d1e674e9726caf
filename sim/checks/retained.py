"""What is retained outlives its producers: a fresh reader finds it as it was written, and tells what nobody admitted.

What a reader should have found is computed here from the deeds of the processes and the rows of the database.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import reduce
from typing import Any

import msgspec

from sim.checks.check import Check, Scene, Told, answered, asked, at_all, durable_output, recorded
from sim.checks.durable import ROT, resource_of
from sim.content import Content, join, read, same, sha256
from sim.deeds import Emit
from sim.facts import JOURNAL, REFERENCES, RESOURCES
from sim.history import Acted, Committed
from sim.protocol import (
    STREAMS,
    Capture,
    Entry,
    Infer,
    Reread,
    RereadOutput,
    RereadStream,
    ToolReceipt,
    VerifyRetained,
)

PUBLISHED = ("content", "page", "seal", "manifest")
SHOWN = 16
"""How many characters of an output are enough to recognise it in a text."""


class Shelf(msgspec.Struct, frozen=True):
    """What is durable of a Session: the kind of each published resource, and the names of those that rotted."""

    kinds: dict[str, str]
    contents: dict[str, Content]
    rotten: frozenset[str]

    def of(self, capture: str) -> set[str]:
        """The names of everything that a capture published."""
        most = sum(kind == "content" for kind in self.kinds.values())
        own = {resource_of(capture, stream, place) for stream in STREAMS for place in range(most)}
        own |= {resource_of(capture, stream, "seal") for stream in STREAMS}
        named = (f"page-{capture}-", f"manifest-{capture}")
        return {name for name in self.kinds if name in own or name.startswith(named)}

    def named(self, manifest: str) -> set[str]:
        """The names of everything that a manifest leads to, as far as it can be read."""
        if manifest not in self.kinds:
            return set()
        streams = _parsed(self.contents[manifest]).get("streams", [])
        names = {manifest, *(stream["seal"] for stream in streams if stream["seal"])}
        names |= {page for stream in streams for page in stream["pages"]}
        pages = [_parsed(self.contents.get(page, b"")) for stream in streams for page in stream["pages"]]
        return names | {segment["resourceId"] for page in pages for segment in page.get("segments", [])}

    def bytes_of(self, capture: str, stream: RereadStream) -> Content:
        """The durable bytes of as many segments as were read."""
        names = (resource_of(capture, stream.stream, place) for place in range(stream.segments))
        return reduce(join, (self.contents.get(name, b"") for name in names), b"")


def _parsed(content: Content) -> dict[str, Any]:
    """What a small resource says; nothing when it cannot be read."""
    try:
        return json.loads(read(content))
    except ValueError:
        return {}


def _shelf(session: str, scene: Scene) -> Shelf:
    beginning = f"{session}/"
    referenced = scene.table(REFERENCES)
    names = {
        key.removeprefix(beginning)
        for key in (*scene.table(RESOURCES), *referenced)
        if key.startswith(beginning)
    }
    found = {name: durable_output(session, name, scene) for name in names}
    rows = {name: row for name, row in found.items() if row is not None and row.kind in PUBLISHED}
    places = {row.key: key for key, row in referenced.items()}
    rotten = {
        places.get(write.key, write.key).removeprefix(beginning)
        for event in scene.events
        if isinstance(event, Committed) and event.label == ROT
        for write in event.writes
    }
    kinds = {name: row.kind for name, row in rows.items()}
    return Shelf(kinds, {name: row.content for name, row in rows.items()}, frozenset(rotten) & rows.keys())


def written(execution: str, stream: str, scene: Scene) -> Content:
    """What a process wrote into a stream: first what is its own, then what came late."""
    emits = [
        event.deed
        for event in scene.events
        if event.__class__ is Acted
        and isinstance(event, Acted)
        and isinstance(event.deed, Emit)
        and (event.deed.execution, event.deed.stream) == (execution, stream)
    ]
    return reduce(join, (emit.content for emit in sorted(emits, key=lambda emit: emit.late)), b"")


def _unlike(stream: RereadStream, capture: Capture, execution: str, shelf: Shelf, scene: Scene) -> str:
    """What is wrong with a stream that is told to verify; empty when nothing is."""
    wrote = written(execution, stream.stream, scene)[: stream.length]
    if (len(wrote), sha256(wrote)) != (stream.length, stream.digest):
        return f"{stream.stream} is read as other bytes than the process wrote"
    if not same(shelf.bytes_of(capture.id, stream), wrote):
        return f"{stream.stream} is told to verify, and is durable with other bytes than were written"
    sealed = [seal for seal in capture.seals if seal.stream == stream.stream]
    if any((seal.length, seal.digest) != (stream.length, stream.digest) for seal in sealed):
        return f"{stream.stream} is read otherwise than its receipt seals it"
    return ""


def _told_to_verify(output: RereadOutput, capture: Capture, shelf: Shelf, scene: Scene) -> Iterator[str]:
    """What is wrong with an output in which no flaw was found."""
    told = {stream.stream for stream in output.streams}
    unread = {
        resource_of(capture.id, stream, place) for stream in STREAMS for place in range(len(shelf.kinds))
    }
    for stream in output.streams:
        unread -= {resource_of(capture.id, stream.stream, place) for place in range(stream.segments)}
        yield _unlike(stream, capture, output.execution, shelf, scene)
    yield from (f"{seal.stream} was not read" for seal in capture.seals if seal.stream not in told)
    rotten = sorted(shelf.kinds[name] for name in (shelf.of(capture.id) & shelf.rotten) - unread)
    yield from (f"it is told to verify, and a {kind} of it changed at rest" for kind in rotten)


def _misread(receipt: ToolReceipt, answer: Reread, shelf: Shelf, scene: Scene) -> Iterator[str]:
    """What is wrong with what was read behind one receipt."""
    capture = receipt.envelope.capture
    output = next((each for each in answer.outputs if each.execution == receipt.execution), None)
    if output is None:
        yield "it was not read"
    elif capture is None or not capture.manifest:
        return
    elif output.flaw:
        if not shelf.of(capture.id) & shelf.rotten:
            yield f"it is told to be flawed ({output.flaw}), and nothing of it changed at rest"
    else:
        yield from _told_to_verify(output, capture, shelf, scene)


def _reread(state: bool, answer: object, scene: Scene) -> Told[bool]:
    session = scene.asked.request.session
    if not isinstance(answer, Reread):
        return state, f"what is retained of {session} could not be read afresh"
    shelf = _shelf(session, scene)
    entries: list[Entry] = [row for key, row in scene.table(JOURNAL).items() if key.startswith(f"{session}/")]
    receipts = [entry.record for entry in entries if isinstance(entry.record, ToolReceipt)]
    wrong = [
        f"{receipt.execution}: {flaw}"
        for receipt in receipts
        for flaw in _misread(receipt, answer, shelf, scene)
        if flaw
    ]
    flawed = {output.execution for output in answer.outputs if output.flaw}
    named: set[str] = set()
    for capture, execution in ((receipt.envelope.capture, receipt.execution) for receipt in receipts):
        if capture is not None:
            named |= shelf.of(capture.id) if execution in flawed else shelf.named(capture.manifest)
    lost = shelf.kinds.keys() - named - set(answer.abandoned)
    wrong += [f"{len(lost)} abandoned resources are not told"] if lost else []
    wrong += ["output of a receipt is told to be abandoned"] if named & set(answer.abandoned) else []
    return state, f"retained output of {session}: {'; '.join(wrong)}" if wrong else None


RETAINED_VERIFIES_AFRESH = Check(
    "retained-verifies-afresh",
    cites="003 Durable output storage",
    says="When all producers are dead, a reader finds behind each receipt what the process wrote, or says what rotted.",
    start=False,
    hears=(answered(VerifyRetained, at_all, _reread),),
)


# --- what nobody admitted


def _admitted(admitted: frozenset[str], entry: Entry, scene: Scene) -> Told[frozenset[str]]:
    record: Any = entry.record
    return (admitted | {record.execution} if record.delivery == "committed" else admitted), None


def _signs(execution: str, scene: Scene) -> Iterator[str]:
    """How each stream of an output begins and ends, where that is plain text."""
    for stream in STREAMS:
        output = written(execution, stream, scene)
        for end in (output[:SHOWN], output[-SHOWN:]):
            text = read(end).decode("ascii", "replace").strip()
            if text and text.isascii() and text.isprintable():
                yield text


def _infers(admitted: frozenset[str], request: Infer, scene: Scene) -> Told[frozenset[str]]:
    own = [each.intent for each in scene.intended.values() if each.session == request.session]
    known = {intent.model_call for intent in own if intent.execution in admitted}
    texts = {
        response.call: response.text
        for message in request.messages
        for response in message.responses
        if response.call not in known
    }
    shown = [
        intent.execution
        for intent in own
        if intent.execution not in admitted and intent.model_call in texts
        if any(sign in texts[intent.model_call] for sign in _signs(intent.execution, scene))
    ]
    return admitted, f"the model is shown output of {shown[0]}, which nobody admitted" if shown else None


ABANDONED_STAYS_OUT = Check(
    "abandoned-stays-out",
    cites="003 Durable output storage",
    says="No request to the model shows output of an execution without a committed receipt.",
    start=frozenset[str](),
    hears=(recorded(ToolReceipt, at_all, _admitted), asked(Infer, at_all, _infers)),
)

CHECKS = (RETAINED_VERIFIES_AFRESH, ABANDONED_STAYS_OUT)
