"""The owner's listener: every operation of a worker is let in, queued, and done only while the owner is the owner."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TypeVar

from sim.actor import Actor
from sim.design import Limits, capture
from sim.effects import Call, Failed, Scripted, Secret, Serial, Signal, Uncertain, Wait
from sim.ids import capture_id
from sim.protocol import (
    AcceptCapture,
    Buffered,
    CaptureOpened,
    CaptureRegistered,
    CheckWriter,
    ClosePublisher,
    Descriptor,
    Envelope,
    FinalizeCapture,
    FinishOutput,
    OpenPublisher,
    Ownership,
    PreparePublication,
    Published,
    PublisherClosed,
    PublishOutput,
    Receipt,
    Record,
    RegisterCapture,
    StopPublisher,
    StreamFinished,
    TakeReceipt,
    ToolReceipt,
    WriteOutput,
)
from sim.rule import Decide
from sim.shell.admission import Admission
from sim.shell.retained import REFUSED
from sim.shell.segments import Segments, Stream

R = TypeVar("R")
Asked = TypeVar("Asked")

DRAINED = "drained"
INVALID = "hosted_shell_publication_invalid"
PIECE = 64 * 1024
"""What is read of a body at once."""
FIRST_PORT, PORTS = 49_152, 16_384
"""The ephemeral ports."""


class Listener:
    """One turn's listener, and how many operations it let in that still run."""

    def __init__(self, prompt: str, descriptor: Descriptor) -> None:
        self.prompt = prompt
        self.descriptor = descriptor
        self.closing = False
        self.running = 0


class Opened:
    """The capture of one execution: prepared, streaming, finalized with its envelope, accepted with its receipt."""

    def __init__(self, owner: Ownership, segments: Segments) -> None:
        self.owner = owner
        self.segments = segments
        self.envelope: Envelope | None = None
        self.receipt: Receipt | None = None


class Hosted:
    """The Hosted wrapper of the admission (003: "its existing HTTP writer and activation").

    The publisher checks the owner when a mapping's reads are over, the commit queue when an output's are; and the
    harness advances the checkpoint, only after it has committed the model-facing result.
    """

    async def after_read(self) -> None:
        """Nothing between two reads: what was read counts for nothing before the check behind the last of them."""

    def with_receipt(self, receipt: ToolReceipt) -> tuple[Record, ...]:
        """The receipt stands alone."""
        return ()


class Publisher(Actor):
    """Lives in the owner's process; everything here is memory, and nothing is taken up again after a loss."""

    def __init__(self, session: str, life: int, ask: Decide, limits: Limits) -> None:
        self.session = session
        self.life = life
        self.ask = ask
        self.limits = limits
        self.journal = f"journal:{session}"
        self.admission = Admission(self.journal, ask, limits, Hosted())
        self.listener: Listener | None = None
        self.registered: dict[str, RegisterCapture] = {}
        self.captures: dict[str, Opened] = {}

    # --- the owner's own calls

    async def open(self, request: OpenPublisher) -> Descriptor:
        """Listen for this turn, under a capability of its own."""
        listener = self.listener
        if listener is not None and not listener.closing:
            _require(listener.prompt == request.prompt)
            return listener.descriptor
        descriptor = descriptor_of(self.session, self.life, request.prompt)
        self.listener = Listener(request.prompt, descriptor)
        return descriptor

    async def close(self, request: ClosePublisher) -> PublisherClosed:
        """Refuse what comes and drain what runs. What is retained is kept."""
        listener = self.listener
        if listener is None or listener.prompt != request.prompt:
            return PublisherClosed(0)
        return await self.drain(listener)

    async def drain(self, listener: Listener) -> PublisherClosed:
        """Let nothing in, and wait until nothing runs."""
        listener.closing = True
        drained = listener.running
        while self.ask(capture.close_waits, listener.running):
            await Wait(DRAINED)
        return PublisherClosed(drained)

    async def stop(self, request: StopPublisher) -> PublisherClosed:
        """The Session leaves this process: drain, then forget every capture; what is durable is kept."""
        drained = PublisherClosed(0)
        if self.listener is not None:
            drained = await self.drain(self.listener)
        self.registered.clear()
        self.captures.clear()
        return drained

    async def register(self, request: RegisterCapture) -> CaptureRegistered:
        """Expect an execution. A registration never changes."""
        execution = request.reference.execution
        _require(self.registered.setdefault(execution, request) == request)
        return CaptureRegistered(execution)

    async def take_receipt(self, request: TakeReceipt) -> Receipt:
        """The receipt that was committed here for exactly this envelope."""
        opened = self.opened(request.execution)
        identical = opened.envelope == request.envelope
        if opened.receipt is None or not self.ask(capture.receipt_belongs, identical):
            raise Failed(REFUSED)
        return opened.receipt

    # --- a worker's operations: let in, and queued

    async def prepare(self, request: PreparePublication) -> CaptureOpened:
        """Open the capture of an execution, before it is spawned."""
        queue = f"{request.reference.execution}:prepare"
        return await self.let_in(request.bearer, queue, self.verify, request)

    async def write(self, request: WriteOutput) -> Buffered:
        """Take raw bytes. The answer says that they are buffered, not that they are durable."""
        queue = self.ask(capture.stream_queue, request.execution, request.stream, request.offset)
        if not self.ask(capture.write_fits, len(request.content), self.limits):
            raise Failed(INVALID, 400)
        return await self.let_in(request.bearer, queue, self.append, request)

    async def finish(self, request: FinishOutput) -> StreamFinished:
        """End a stream behind all its writes."""
        queue = self.ask(capture.stream_queue, request.execution, request.stream, -1)
        return await self.let_in(request.bearer, queue, self.seal, request)

    async def finalize(self, request: FinalizeCapture) -> Envelope:
        """Build the envelope, once."""
        self.read(len(request.physical.preview))
        return await self.let_in(request.bearer, f"{request.execution}:result", self.envelop, request)

    async def accept(self, request: AcceptCapture) -> Receipt:
        """Admit the envelope; when that failed, the identical candidate may be tried again."""
        self.read(len(request.envelope.preview))
        return await self.let_in(request.bearer, f"{request.execution}:result", self.admit, request)

    def read(self, size: int) -> None:
        """Read a body that can be of any size; what is over the limit is not kept, whoever sent it."""
        read = 0
        while size - read > PIECE:
            read += PIECE
            if not self.ask(capture.body_goes_on, read, self.limits):
                raise Failed(INVALID, 400)

    async def let_in(
        self, bearer: Secret, queue: str, script: Callable[[Asked], Scripted[R]], request: Asked
    ) -> R:
        """Bearer, then open, then the operation in its queue. A worker learns nothing of why it failed."""
        listener = self.listener
        if listener is None or not self.ask(capture.bearer_opens, bearer, listener.descriptor.capability):
            raise Failed("hosted_shell_publication_unauthorized", 401)
        if not self.ask(capture.listener_takes, listener.closing):
            raise Failed("hosted_shell_publication_closing", 503)
        listener.running += 1
        try:
            answer = await Serial(queue, script, (request,))
        except (Failed, Uncertain):
            await self.leave(listener)
            raise Failed(REFUSED) from None
        await self.leave(listener)
        return answer

    async def leave(self, listener: Listener) -> None:
        """One operation less runs."""
        listener.running -= 1
        await Signal(DRAINED)

    # --- what they do

    async def verify(self, request: PreparePublication) -> CaptureOpened:
        """The registration, the live mapping, and the owner again, because the reads took time."""
        owner = await Call(self.journal, CheckWriter())
        reference = request.reference
        registered = self.registered.get(reference.execution)
        listener = self.listener
        if registered is None or listener is None:
            raise Failed(REFUSED)
        same_reference, same_prompt = registered.reference == reference, registered.prompt == listener.prompt
        _require(self.ask(capture.execution_is_registered, same_reference, same_prompt))
        known = self.captures.get(reference.execution)
        if known is not None:
            return CaptureOpened(known.segments.capture_id)

        await self.admission.verify_mapping(registered, owner)
        if self.ask(capture.rechecks_owner):
            await self.check_owner(owner)
        key = {"tenantId": "tenant", "sessionId": self.session}
        name = capture_id(key, reference.execution, str(reference.generation))
        segments = Segments(name, self.publish, self.ask, self.limits)
        self.captures[reference.execution] = Opened(owner, segments)
        return CaptureOpened(name)

    async def append(self, request: WriteOutput) -> Buffered:
        """One raw write, exactly behind what was accepted; any other write fails the capture for ever."""
        segments = self.opened(request.execution).segments
        await self.check_producer(request.execution)
        stream = self.stream(segments, request.stream)
        open_ = self.ask(capture.stream_takes, stream.ended)
        if not open_ or not self.ask(capture.offset_follows, request.offset, stream.accepted):
            segments.fail(capture.PRODUCER_LOST)
        _require(not segments.reason)
        await segments.append(stream, request.content)
        return Buffered(stream.accepted)

    async def seal(self, request: FinishOutput) -> StreamFinished:
        """The end of a stream, sealed when every byte was accepted and published."""
        segments = self.opened(request.execution).segments
        await self.check_producer(request.execution)
        stream = self.stream(segments, request.stream)
        _require(self.ask(capture.stream_takes, stream.ended))
        sealed = await segments.end(stream, request.complete)
        return StreamFinished(sealed)

    async def envelop(self, request: FinalizeCapture) -> Envelope:
        """Both streams end behind their queues; then the manifest, and the result with its physical status."""
        opened = self.opened(request.execution)
        await self.check_owner(opened.owner)
        if opened.envelope is not None and not self.ask(capture.finalizes, True):
            return opened.envelope
        for _, stream in enumerate(opened.segments.streams.values()):
            queue = self.ask(capture.stream_queue, request.execution, stream.name, -1)
            await Serial(queue, self.end, (opened.segments, stream))
        opened.envelope = await opened.segments.finalize(request.execution, request.physical)
        return opened.envelope

    async def end(self, segments: Segments, stream: Stream) -> None:
        """A stream that nobody finished is incomplete."""
        if not stream.ended:
            segments.fail(capture.PRODUCER_LOST)
        stream.ended = True

    async def admit(self, request: AcceptCapture) -> Receipt:
        """The finalized envelope and no other, its whole output verified; then the receipt."""
        opened = self.opened(request.execution)
        await self.check_owner(opened.owner)
        envelope = request.envelope
        _require(self.ask(capture.candidate_is_finalized, opened.envelope == envelope))
        if opened.receipt is not None and not self.ask(capture.admits_anew, True):
            return opened.receipt
        opened.receipt = await self.admission.admit(envelope)
        return opened.receipt

    async def publish(self, output: PublishOutput, name: str) -> Published:
        """Make a piece of output durable in the Session Store."""
        return await Call(self.journal, output)

    # --- checks that they share

    def opened(self, execution: str) -> Opened:
        """The capture that was opened for this execution."""
        opened = self.captures.get(execution)
        if opened is None:
            raise Failed(REFUSED)
        return opened

    def stream(self, segments: Segments, name: str) -> Stream:
        """One of the two streams; another one would begin here, if the rule let it."""
        _require(self.ask(capture.stream_is_known, name))
        return segments.streams.setdefault(name, Stream(name))

    async def check_owner(self, owner: Ownership) -> None:
        """Writer and activation are still those that opened the capture."""
        now = await Call(self.journal, CheckWriter())
        _require(self.ask(capture.owner_is_same, now == owner))

    async def check_producer(self, execution: str) -> None:
        """The owner before a write or a finish: doubt of it fails the capture for ever, as doubt of those does."""
        opened = self.opened(execution)
        try:
            await self.check_owner(opened.owner)
        except (Failed, Uncertain):
            opened.segments.fail(capture.STORAGE_FAILED)
            raise

    handlers = {
        OpenPublisher: open,
        ClosePublisher: close,
        StopPublisher: stop,
        RegisterCapture: register,
        TakeReceipt: take_receipt,
        PreparePublication: prepare,
        WriteOutput: write,
        FinishOutput: finish,
        FinalizeCapture: finalize,
        AcceptCapture: accept,
    }


def descriptor_of(session: str, life: int, prompt: str) -> Descriptor:
    """Where one turn's listener is: port and capability follow from Session, life of its owner, and prompt."""
    name = f"publisher of {session} in life {life} for {prompt}"
    digest = hashlib.sha256(name.encode()).digest()
    port = FIRST_PORT + int.from_bytes(digest[:4]) % PORTS
    url = f"http://127.0.0.1:{port}/internal/hosted-shell-publisher/v1"
    return Descriptor(url, Secret.derived(f"capability of the {name}"), session)


def _require(holds: bool) -> None:
    if not holds:
        raise Failed(REFUSED)
