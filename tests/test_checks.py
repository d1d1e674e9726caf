"""Every check, against a small history that is good and small ones that are bad, written by hand.

A history is told step by step with :class:`Story`; a bad one skips a step, repeats it, or tells it otherwise.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.checks import CHECKS, Finding, UnknownCheck, chosen, judge
from sim.checks.check import LOCAL, Judge
from sim.checks.durable import resource_of
from sim.deeds import Emit, ExitProcess, Spawn, TouchFile, WriteFile
from sim.effects import Deed, Request, Secret
from sim.facts import (
    ACTIVATIONS,
    BINDINGS,
    COMMANDS,
    HEADS,
    JOURNAL,
    LEASES,
    LEDGER,
    OBJECTS,
    OPERATIONS,
    PUBLICATIONS,
    REFERENCES,
    RESOURCES,
    ROOTS,
    RUNTIME_SESSIONS,
    WRITERS,
    Activation,
    CommandReceipt,
    Execution,
    Head,
    Publication,
    PublicationOperation,
    ReferencedOutput,
    Root,
    RuntimeBinding,
    RuntimeSession,
    StoredObject,
    StoredResource,
    WorkspaceLease,
    Writer,
    journal_key,
)
from sim.history import (
    Acted,
    Answered,
    Asked,
    Began,
    Booted,
    Committed,
    Crashed,
    Declined,
    Event,
    Exhausted,
    Failure,
    Healed,
    Learned,
    Left,
    Struck,
    Write,
)
from sim.ids import shell_history_id
from sim.outcome import Loads, TurnOutcome, outcome
from sim.protocol import (
    FILES_1,
    SAME_HOST,
    SHELL,
    SHELL_1,
    STDERR,
    STDOUT,
    Acknowledge,
    Acknowledged,
    Acquire,
    AcquireWriter,
    ActivationChanged,
    Admitted,
    Appended,
    Assistant,
    AwaitTurn,
    Binding,
    Buffered,
    CancelExecution,
    Capture,
    CaptureOpened,
    Checkpoint,
    CheckWriter,
    ClosePublisher,
    Confirm,
    Definition,
    Descriptor,
    Detached,
    DetachSession,
    Entry,
    Envelope,
    Execute,
    ExecuteFileTool,
    FileHistory,
    FinalizeCapture,
    FinishOutput,
    Halt,
    Infer,
    InputAccepted,
    Lease,
    Loaded,
    LoadSession,
    Message,
    ModelOutput,
    Observe,
    Observed,
    OpenPublisher,
    Ownership,
    Physical,
    Piece,
    PreparePublication,
    Projection,
    Prompt,
    Publish,
    PublisherClosed,
    ReadJournal,
    ReadOutput,
    ReadOwn,
    Receipt,
    Record,
    Reference,
    Registered,
    RegisterPublisher,
    Release,
    Released,
    Renewed,
    RenewWriter,
    Reread,
    RereadOutput,
    RereadStream,
    Response,
    Seal,
    Sealed,
    SealWriter,
    Stage,
    Staged,
    StageResource,
    StartExecution,
    Status,
    StopPublisher,
    StreamFinished,
    ToolCall,
    ToolIntent,
    ToolReceipt,
    ToolResult,
    Transact,
    TurnEnded,
    TurnSettled,
    UserMessage,
    VerifyRetained,
    WakeRequested,
    Warm,
    Warmed,
    WorkerState,
    WriteOutput,
    WriterToken,
)
from sim.publication import Mapping, ReadFinished, RenewGrants

CALL = ToolCall("c1", SHELL, '{"command": "make"}')
INPUT = json.dumps({"command": "make", "is_background": False}).encode()
PAYLOAD = json.dumps({"toolName": SHELL, "input": json.loads(INPUT)}).encode()
REFERENCE = Reference("e1", "w1", "a.p1", 1, "digest")
CAPABILITY = Secret("capability", "a capability of 43 characters, as they are..")
TOKEN = WriterToken("a.owner1", Secret("writer token", "the token of the first owner of session a"), 1)
PHYSICAL = Physical("success", 0, "", "built", False, False)
TOLD = "built\n[status: success, exit code: 0]"
OUTPUT = {STDOUT: b"built", STDERR: b""}
LAST = Transact("a", "last", (TurnSettled("a.p1", "completed"),), (), TOKEN, 1, "a.1", 1)
ADMITTED = Receipt("e1", "manifest", "committed", 0, "outcome")
CROSSED = Receipt("e2", "manifest", "committed", 0, "outcome")


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def envelope(status: str = "complete", **changed: Any) -> Envelope:
    """The result of e1, with a capture of this status; none when it never started."""
    if status == "not_started":
        return Envelope("e1", status, 0, "", "", False, None)
    seals = tuple(Seal(stream, 1, len(content), sha256(content)) for stream, content in OUTPUT.items())
    capture = Capture("capture", status, "" if status == "complete" else "storage_failed", "manifest", seals)
    return Envelope("e1", "success", 0, "", "built", False, msgspec.structs.replace(capture, **changed))


def row(state: str, told: Envelope | None = None, **changed: Any) -> Execution:
    """The ledger row of e1."""
    payload = f"sha256:{sha256(PAYLOAD)}"
    plain = Execution("a.p1", "w", "w1", SHELL, "v3", payload, "digest", 1, state, 0, told, None)
    return msgspec.structs.replace(plain, **changed)


class Story:
    """A history in the making. Every step of a turn of Session ``a`` on Workspace ``w`` has a word of its own."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.scripts: dict[str, int] = {}
        self.sequence = 0
        self.exchange = 0
        self.at = 0
        self.invocation = "w1"

    # --- events

    def tell(self, event: Event) -> Story:
        self.events.append(event)
        return self

    def later(self, ms: int) -> Story:
        self.at += ms
        return self

    def script(self, actor: str, exchange: int = 0, parent: int = 0) -> int:
        """The script of an actor; a new one when it handles an exchange."""
        if exchange or actor not in self.scripts:
            serial = len(self.scripts) + 1
            self.scripts[f"{actor}/{exchange}" if exchange else actor] = serial
            self.tell(Began(self.at, serial, actor, parent, "script", 1, exchange))
            return serial
        return self.scripts[actor]

    def ask(self, actor: str, to: str, request: Request[Any], answer: Any = None, **told: Any) -> Story:
        """A request, with its answer; ``doubt`` instead says what its caller learned, ``nth`` which one it is."""
        self.exchange += 1
        script = self.script(actor)
        self.tell(Asked(self.at, script, told.get("nth", 1), self.exchange, to, request))
        if answer is not None:
            self.tell(Answered(self.at, self.exchange, answer))
        if "doubt" in told:
            self.tell(Learned(self.at, script, self.exchange, "", told["doubt"]))
        return self

    def write(self, table: Any, key: str, value: Any, script: int = 0, label: str = "") -> Story:
        return self.tell(Committed(self.at, script, 1, label, (Write(table.name, key, value),), None))

    def record(self, record: Record, epoch: int = 1, sequence: int = 0) -> Story:
        self.sequence = sequence or self.sequence + 1
        entry = Entry(self.sequence, f"a.{epoch}", epoch, record)
        return self.write(JOURNAL, journal_key("a", self.sequence), entry)

    def act(self, deed: Deed[Any]) -> Story:
        return self.tell(Acted(self.at, self.script("worker:w"), 1, deed))

    # --- a turn, step by step

    def accept(self, prompt: str = "a.p1") -> Story:
        self.record(InputAccepted(prompt, "go"))
        return self.ask("client", "harness:a", Prompt(prompt, "go"), Admitted(1))

    def infer(self, *messages: Message, prompt: str = "a.p1", output: ModelOutput | None = None) -> Story:
        return self.ask("harness:a", "model", Infer("a", prompt, messages), output or ModelOutput("done"))

    def acquire(self) -> Story:
        self.ask("harness:a", "broker", Acquire("a", "a.p1", "w"), Lease("a.p1", "w"))
        self.write(RUNTIME_SESSIONS, "a.p1", RuntimeSession("a", "w", "ready", 1))
        return self.write(LEASES, "w", WorkspaceLease("holder of a.p1", "a"))

    def register(self) -> Story:
        self.ask("harness:a", "publisher:a", OpenPublisher("a.p1"), Descriptor("url", CAPABILITY))
        registration = RegisterPublisher("a.p1", Descriptor("url", CAPABILITY))
        return self.ask("harness:a", "broker", registration, Registered(1))

    def assistant(self, *calls: ToolCall, round: int = 1) -> Story:
        return self.record(Assistant("a.p1", round, "", calls or (CALL,)))

    def prepare(self) -> Story:
        return self.write(LEDGER, "e1", row("prepared"))

    def intent(self, execution: str = "e1", call: str = "c1") -> Story:
        return self.keep().record(ToolIntent("a.p1", execution, call, "w1", "digest", "args", "v3"))

    def keep(self, call: ToolCall = CALL) -> Story:
        """What an intent keeps of its call."""
        for name, content in (
            ("w1.input", call.arguments.encode()),
            ("w1.definition", call.name.encode()),
            ("args", INPUT if call.name == SHELL else call.arguments.encode()),
        ):
            self.write(RESOURCES, f"a/{name}", StoredResource("inline", sha256(content), content))
        return self

    def checkpoint(self, phase: str = "await_runtime", state: str = "dispatch") -> Story:
        bindings = () if phase == "before_model" else (Binding("e1", "c1", self.invocation, "digest", state),)
        return self.record(Checkpoint(phase, "a.p1", "a.1", 1, self.sequence, bindings))

    def start(self) -> Story:
        self.write(LEDGER, "e1", row("dispatching", dispatches=1))
        return self.ask(
            "harness:a", "broker", StartExecution("e1", PAYLOAD), Observed("e1", "executing", None, None)
        )

    def dispatch(self, payload: bytes = PAYLOAD, reference: Reference = REFERENCE) -> Story:
        self.write(LEDGER, "e1", row("dispatching", dispatches=1))
        self.write(LEDGER, "e1", row("executing", dispatches=1))
        return self.ask("broker", "worker:w", Execute(reference, payload))

    def open_capture(self) -> Story:
        return self.ask(
            "worker:w", "publisher:a", PreparePublication(CAPABILITY, REFERENCE), CaptureOpened("capture")
        )

    def spawn(self, execution: str = "e1", command: bytes = b"make") -> Story:
        return self.act(Spawn(execution, "w1", "w", command))

    def run(self, output: bytes = OUTPUT[STDOUT]) -> Story:
        self.spawn().act(Emit("e1", STDOUT, output))
        return self.act(ExitProcess("e1", 0, ""))

    def publish(self, stdout: bytes = OUTPUT[STDOUT]) -> Story:
        for stream, content in {**OUTPUT, STDOUT: stdout}.items():
            segment = StoredResource("content", sha256(content), content)
            self.write(RESOURCES, f"a/{resource_of('capture', stream, 0)}", segment)
            seal = StoredResource("seal", "", stream.encode())
            self.write(RESOURCES, f"a/{resource_of('capture', stream, 'seal')}", seal)
        return self.write(RESOURCES, "a/manifest", StoredResource("manifest", "", b"manifest"))

    def capture(self) -> Story:
        self.publish()
        return self.ask("worker:w", "publisher:a", FinalizeCapture(CAPABILITY, "e1", PHYSICAL), envelope())

    def receipt(self, delivery: str = "committed", told: Envelope | None = None) -> Story:
        return self.record(ToolReceipt("e1", delivery, "manifest", "outcome", told or envelope()))

    def reread(self, start: int = 0) -> Story:
        """The owner reads the output of e1 again."""
        resource = resource_of("capture", STDOUT, 0)
        piece = Piece(OUTPUT[STDOUT][start:], len(OUTPUT[STDOUT]))
        return self.ask("publisher:a", "journal:a", ReadOutput(resource, start, 256), piece)

    def settled(self) -> Story:
        return self.write(LEDGER, "e1", row("settled", envelope(), dispatches=1, receipt=ADMITTED))

    def result(self, execution: str = "e1", *calls: str, round: int = 1) -> Story:
        responses = tuple(answer(call) for call in calls or ("c1",))
        return self.record(ToolResult("a.p1", round, execution, responses))

    def resolve(self) -> Story:
        return self.checkpoint("results_ready", "settled")

    def acknowledge(self, receipt: Receipt | None = None) -> Story:
        exact = receipt or msgspec.structs.replace(ADMITTED, history_revision=self.receipt_sequence())
        return self.ask("harness:a", "broker", Acknowledge("e1", exact), Acknowledged("e1"))

    def receipt_sequence(self) -> int:
        """The journal sequence of the last receipt; 0 when there is none."""
        rows = [write.row for event in self.events if isinstance(event, Committed) for write in event.writes]
        entries = [each for each in rows if isinstance(each, Entry) and isinstance(each.record, ToolReceipt)]
        return entries[-1].sequence if entries else 0

    def consume(self) -> Story:
        return self.checkpoint("before_model")

    def release(self, by: str = "a") -> Story:
        request = Release(f"{by}.p1")
        self.ask(f"harness:{by}", "broker", request, Released(f"{by}.p1"))
        script = self.script("broker", exchange=self.exchange, parent=self.scripts[f"harness:{by}"])
        return self.write(LEASES, "w", None, script)

    def settle(self, prompt: str = "a.p1") -> Story:
        return self.record(TurnSettled(prompt, "completed"))

    def close(self) -> Story:
        return self.ask("harness:a", "publisher:a", ClosePublisher("a.p1"), PublisherClosed(0))

    def ended(self, state: str = "completed", prompt: str = "a.p1") -> Story:
        return self.ask("client", "harness:a", AwaitTurn(prompt), TurnEnded(state, ""))


def ready() -> Story:
    """A turn up to its checkpoint: everything is durable, nothing is dispatched."""
    story = Story().accept().infer(output=ModelOutput(calls=(CALL,)))
    return story.acquire().register().assistant().prepare().intent().checkpoint()


def admitted() -> Story:
    """A turn up to its receipt."""
    return ready().start().dispatch().open_capture().run().capture().reread().receipt().settled()


def resolved() -> Story:
    """A turn up to its resolution."""
    return admitted().result().resolve()


FILE = ToolCall("c1", "write_file", '{"file_path":"f","content":"x"}')
FILE_PAYLOAD = json.dumps({"toolName": FILE.name, "input": json.loads(FILE.arguments)}).encode()
PROTOCOL = "managed-tool/v2"
FILE_DONE = Envelope("e1", "success", 0, "", "Wrote 1 bytes.", False, None)
NEVER = envelope("not_started")
FILE_INTENT = ToolIntent("a.p1", "e1", "c1", "w1", "digest", "args", PROTOCOL)


def reserved_file() -> Story:
    """A file tool's turn up to its checkpoint."""
    story = Story().accept().infer(output=ModelOutput(calls=(FILE,))).acquire().assistant(FILE)
    story.record(FileHistory("a.p1", 1, "pending", ("f",)))
    story.invocation = "e1"
    story.keep(FILE)
    return story.write(LEDGER, "e1", row("prepared", protocol=PROTOCOL)).record(FILE_INTENT).checkpoint()


def wrote_file() -> Story:
    """The same up to its outcome."""
    story = reserved_file().start().ask("broker", "worker:w", ExecuteFileTool(REFERENCE, FILE_PAYLOAD))
    story.act(WriteFile("e1", "w", "f", b"x"))
    return story.write(LEDGER, "e1", row("settled", FILE_DONE, dispatches=1, protocol=PROTOCOL))


def told_of_file(text: str = FILE_DONE.preview, error: bool = False) -> Story:
    """The same up to its result."""
    response = Response("c1", "write_file", text, error)
    return wrote_file().record(ToolResult("a.p1", 1, "e1", (response,)))


def whole_file() -> Story:
    """A file tool's turn from beginning to end."""
    story = told_of_file().resolve().record(FileHistory("a.p1", 1, "snapshot", ("f",)))
    return story.infer().consume().release().settle().ended()


def opened(profile: str = SHELL_1, provisioner: str = SAME_HOST, epoch: int = 1) -> Story:
    """A Session that was opened under this definition."""
    return Story().record(ActivationChanged(f"a.{epoch}", epoch, Definition(profile, provisioner)))


def whole() -> Story:
    """A turn from beginning to end, as design 003 orders it."""
    shown = (
        Message("model", calls=(CALL,)),
        Message("tool", responses=(answer("c1"),)),
    )
    story = resolved().acknowledge().infer(*shown).consume()
    story.record(Assistant("a.p1", 2, "done", ()))
    return story.release().settle().close().ended().tell(Healed(story.at))


def answer(call: str) -> Response:
    return Response(call, SHELL, TOLD)


# --- one good history and some bad ones for each check

Told = Callable[[], Story]

GOOD: dict[str, Told] = {}
BAD: list[tuple[str, Told, str]] = []


def good(check: str, story: Told) -> None:
    GOOD[check] = story


def bad(check: str, story: Told, sentence: str) -> None:
    BAD.append((check, story, sentence))


good("effect-once-per-execution", lambda: Story().spawn("e1").spawn("e2"))
bad(
    "effect-once-per-execution",
    lambda: Story().spawn("e1").spawn("e1"),
    "execution e1 was spawned a second time",
)

bad(
    "effect-once-per-execution",
    lambda: ready().start().dispatch().open_capture().spawn().spawn(),
    "execution e1 was spawned a second time",
)

good("effect-once-per-model-call", lambda: ready().spawn().assistant(round=2).intent("e2").spawn("e2"))
bad(
    "effect-once-per-model-call",
    lambda: ready().spawn().intent("e2").spawn("e2"),
    "model call c1 was executed a second time, by e2 after e1",
)


def executed_twice() -> Story:
    """Two executions are intended for one call, and each is led in order to its process."""
    story = ready().intent("e2").write(LEDGER, "e2", row("prepared"))
    both = tuple(Binding(name, "c1", "w1", "digest", "dispatch") for name in ("e1", "e2"))
    story.record(Checkpoint("await_runtime", "a.p1", "a.1", 1, story.sequence, both))
    for name in ("e1", "e2"):
        reference = msgspec.structs.replace(REFERENCE, execution=name)
        story.write(LEDGER, name, row("dispatching", dispatches=1))
        running = Observed(name, "executing", None, None)
        story.ask("harness:a", "broker", StartExecution(name, PAYLOAD), running)
        story.write(LEDGER, name, row("executing", dispatches=1))
        story.ask("broker", "worker:w", Execute(reference, PAYLOAD))
        opening = PreparePublication(CAPABILITY, reference)
        story.ask("worker:w", "publisher:a", opening, CaptureOpened("capture")).spawn(name)
    return story


bad(
    "effect-once-per-model-call",
    executed_twice,
    "model call c1 was executed a second time, by e2 after e1",
)

good("dispatch-once", lambda: ready().dispatch())
bad(
    "dispatch-once",
    lambda: ready().dispatch().dispatch(),
    "execution e1 was dispatched to its worker a second time",
)
bad(
    "dispatch-once",
    lambda: ready().write(LEDGER, "e1", row("executing", dispatches=2)),
    "the ledger counts 2 dispatches of execution e1",
)


def looked(state: str) -> Story:
    """A start, and what a status then proves."""
    return ready().start().ask("harness:a", "broker", Status("e1"), Observed("e1", state, None, None))


good("no-start-after-doubt", lambda: looked("prepared").start())
bad(
    "no-start-after-doubt",
    lambda: ready().start().start(),
    "execution e1 was started again without proof that it had not started",
)
bad(
    "no-start-after-doubt",
    lambda: looked("executing").start(),
    "execution e1 was started again without proof that it had not started",
)
bad(
    "no-start-after-doubt",
    lambda: ready().ask("harness:a", "broker", CancelExecution("e1")).start(),
    "execution e1 was started after it was cancelled",
)


def never(story: Story) -> Story:
    """The ledger says that e1 never started."""
    return story.write(LEDGER, "e1", row("settled", envelope("not_started")))


good("not-started-never-ran", lambda: never(ready()))
bad(
    "not-started-never-ran",
    lambda: never(ready()).spawn(),
    "execution e1 ran after it was settled as not started",
)
bad("not-started-never-ran", lambda: never(ready().spawn()), "execution e1 ran and is settled as not started")
bad(
    "not-started-never-ran",
    lambda: ready().write(
        LEDGER, "e1", row("settled", msgspec.structs.replace(envelope(), status="not_started"))
    ),
    "execution e1 is settled as not started and has a capture",
)

good("decoy-untouched", lambda: Story().tell(Left(9, "harness", "effects.log", b"untouched\n")))
bad(
    "decoy-untouched",
    lambda: Story().tell(Left(9, "harness", "effects.log", b"untouched\nmake\n")),
    "the decoy harness/effects.log holds 15 bytes that are not its own",
)

good("order", whole)
bad("order", lambda: Story().register(), "a.p1 asked to register before acquire")
bad(
    "order",
    lambda: Story().acquire().assistant().register().intent(),
    "intent of e1: its assistant record came before register",
)
bad(
    "order",
    lambda: Story().acquire().register().intent(),
    "intent of e1 came before the assistant record of its call",
)
bad(
    "order",
    lambda: Story().acquire().register().assistant().checkpoint(),
    "checkpoint of e1 came before its intent",
)
bad(
    "order",
    lambda: Story().acquire().register().assistant().intent().start(),
    "execute of e1 came before its checkpoint",
)
bad("order", lambda: ready().dispatch(), "e1 was dispatched before its start was asked")
bad("order", lambda: ready().spawn(), "e1 was spawned before its start was asked")
bad("order", lambda: ready().capture(), "durable capture of e1 came before its execute")
bad("order", lambda: ready().start().receipt(), "durable receipt of e1 came before its durable capture")
bad("order", lambda: ready().start().capture().result(), "model result of e1 came before its durable receipt")
bad("order", lambda: admitted().resolve(), "checkpoint resolution of e1 came before its model result")
bad(
    "order",
    lambda: admitted().result().acknowledge(),
    "exact ACK of e1 was asked before its checkpoint resolution",
)
bad("order", lambda: resolved().infer(), "the next inference of a.p1 was asked before exact ACK of e1")
bad(
    "order",
    lambda: resolved().acknowledge().consume().infer(),
    "results of a.p1 were consumed before the next inference",
)
bad(
    "order",
    lambda: resolved().acknowledge().infer().assistant(round=2),
    "round 2 of a.p1 was recorded before result consumption",
)
bad("order", lambda: resolved().release(), "release of a.p1 was asked before exact ACK of e1")
bad(
    "order",
    lambda: resolved().acknowledge().infer().release(),
    "release of a.p1 was asked before result consumption",
)
bad(
    "order",
    lambda: Story().acquire().register().assistant().receipt("not_started", envelope("not_started")),
    "checkpoint of e1 came before its intent",
)

good("receipt-history-resolution-ack", lambda: resolved().acknowledge())
bad("receipt-history-resolution-ack", lambda: ready().result(), "history of e1 came before its receipt")
bad(
    "receipt-history-resolution-ack", lambda: admitted().resolve(), "resolution of e1 came before its history"
)
bad(
    "receipt-history-resolution-ack",
    lambda: admitted().result().acknowledge(),
    "ACK of e1 came before its resolution",
)
bad(
    "receipt-history-resolution-ack",
    lambda: admitted().ask("broker", "worker:w", Confirm(REFERENCE, ADMITTED)),
    "ACK of e1 came before its history",
)


def confirmed_early() -> Story:
    """The worker is told of the exact receipt before the result is in history."""
    story = admitted()
    exact = msgspec.structs.replace(ADMITTED, history_revision=story.receipt_sequence())
    return story.ask("broker", "worker:w", Confirm(REFERENCE, exact))


bad("receipt-history-resolution-ack", confirmed_early, "ACK of e1 came before its history")

good("capture-before-spawn", lambda: ready().open_capture().spawn())
bad("capture-before-spawn", lambda: ready().spawn(), "execution e1 was spawned before its capture was open")


def led(generation: int = 1, activation: str = "a.1") -> Story:
    """A checkpoint under one owner, and a capture that is opened when this one leads the Session."""
    story = Story().write(WRITERS, "a", writer("one", 1)).write(ACTIVATIONS, "a", Activation("a.1", 1))
    story.acquire().register().checkpoint("before_model").write(WRITERS, "a", writer("one", generation))
    return story.write(ACTIVATIONS, "a", Activation(activation, 1)).open_capture()


REPLACED = "the capture of e1 was opened by an owner of a that had been replaced"
good("capture-opened-by-the-owner", led)
bad("capture-opened-by-the-owner", lambda: led(generation=2), REPLACED)
bad("capture-opened-by-the-owner", lambda: led(activation="a.2"), REPLACED)


# --- what a receipt promises

late = Emit("e1", STDOUT, b", later", late=True)
good("complete-means-complete", lambda: ready().run().act(late).publish().receipt())
COMPLETE = "complete receipt of e1: "
bad(
    "complete-means-complete",
    lambda: ready().run().publish().receipt(told=envelope("partial")),
    "receipt of e1 is committed over a capture that is partial",
)
bad(
    "complete-means-complete",
    lambda: ready().run().publish().receipt("blocked"),
    "receipt of e1 is blocked over a capture that is complete",
)
bad(
    "complete-means-complete",
    lambda: ready().run(b"built, and more").publish().receipt(),
    f"{COMPLETE}stdout is sealed at 5 bytes of 15 written",
)
bad(
    "complete-means-complete",
    lambda: ready().run(b"BUILT").publish().receipt(),
    f"{COMPLETE}stdout is sealed with a digest that is not that of what was written",
)
bad(
    "complete-means-complete",
    lambda: ready().run().publish(b"BUILT").receipt(),
    f"{COMPLETE}stdout is durable with other bytes than were written",
)
bad(
    "complete-means-complete",
    lambda: ready().run().receipt(),
    f"{COMPLETE}stdout has a segment or seal that is not durable; "
    "stderr has a segment or seal that is not durable; its manifest is not durable",
)
bad(
    "complete-means-complete",
    lambda: ready().run().publish().receipt(told=envelope(seals=(Seal(STDOUT, 1, 5, sha256(b"built")),))),
    f"{COMPLETE}stderr is not sealed",
)

good("immutable-resources", lambda: Story().publish().publish())
bad(
    "immutable-resources",
    lambda: Story().publish().write(RESOURCES, "a/manifest", StoredResource("manifest", "", b"other")),
    "resource a/manifest was overwritten with other bytes",
)

# --- what is retained, read afresh

WHOLE = envelope(manifest="manifest-capture")
SEGMENT = resource_of("capture", STDOUT, 0)
STREAM = RereadStream(STDOUT, 1, 1, 5, sha256(b"built"))
EMPTY = RereadStream(STDERR, 1, 1, 0, sha256(b""))


def kept() -> Story:
    """A turn up to its receipt, with pages and a manifest that can be read."""
    story = ready().start().dispatch().open_capture().run().publish().write(RESOURCES, "a/manifest", None)
    streams: list[Any] = []
    for stream in OUTPUT:
        page = {"segments": [{"resourceId": resource_of("capture", stream, 0)}]}
        story.write(RESOURCES, f"a/page-capture-{stream}-0", piece("page", page))
        seal = resource_of("capture", stream, "seal")
        streams.append({"pages": [f"page-capture-{stream}-0"], "seal": seal})
    story.write(RESOURCES, "a/manifest-capture", piece("manifest", {"streams": streams}))
    return story.receipt(told=WHOLE)


def piece(kind: str, told: Any) -> StoredResource:
    return StoredResource(kind, "", json.dumps(told).encode())


def reread(*streams: RereadStream, flaw: str = "", abandoned: tuple[str, ...] = ()) -> Reread:
    return Reread((RereadOutput("e1", "committed", streams, flaw),), abandoned)


def reads(story: Story, answer: object) -> Story:
    return story.ask("client", "reader", VerifyRetained("a"), answer)


def rotten(name: str) -> Story:
    return kept().write(RESOURCES, f"a/{name}", StoredResource("content", "", b"BUILT"), label="rot")


AFRESH = "retained output of a: "
good("retained-verifies-afresh", lambda: reads(kept(), reread(STREAM, EMPTY)))
bad(
    "retained-verifies-afresh",
    lambda: reads(kept(), Failure("no", 404)),
    "what is retained of a could not be read afresh",
)
bad("retained-verifies-afresh", lambda: reads(kept(), Reread((), ())), f"{AFRESH}e1: it was not read")
bad(
    "retained-verifies-afresh",
    lambda: reads(kept(), reread(flaw="retained_seal_flawed")),
    f"{AFRESH}e1: it is told to be flawed (retained_seal_flawed), and nothing of it changed at rest",
)
bad(
    "retained-verifies-afresh",
    lambda: reads(kept(), reread(RereadStream(STDOUT, 1, 1, 5, sha256(b"BUILT")), EMPTY)),
    f"{AFRESH}e1: stdout is read as other bytes than the process wrote",
)
bad(
    "retained-verifies-afresh",
    lambda: reads(rotten(SEGMENT), reread(STREAM, EMPTY)),
    f"{AFRESH}e1: stdout is told to verify, and is durable with other bytes than were written; "
    "e1: it is told to verify, and a content of it changed at rest",
)
bad(
    "retained-verifies-afresh",
    lambda: reads(kept(), reread(STREAM)),
    f"{AFRESH}e1: stderr was not read",
)
bad(
    "retained-verifies-afresh",
    lambda: reads(kept().write(RESOURCES, "a/page-other-stdout-0", piece("page", {})), reread(STREAM, EMPTY)),
    f"{AFRESH}1 abandoned resources are not told",
)
bad(
    "retained-verifies-afresh",
    lambda: reads(kept(), reread(STREAM, EMPTY, abandoned=(SEGMENT,))),
    f"{AFRESH}output of a receipt is told to be abandoned",
)

LONG_OUTPUT = b"a whole line of output"


def shows(story: Story) -> Story:
    response = Response("c1", SHELL, f"{LONG_OUTPUT.decode()}\n[status: success, exit code: 0]")
    return story.infer(Message("tool", responses=(response,)))


good("abandoned-stays-out", lambda: shows(ready().run(LONG_OUTPUT).receipt()))
bad(
    "abandoned-stays-out",
    lambda: shows(ready().run(LONG_OUTPUT)),
    "the model is shown output of e1, which nobody admitted",
)
bad(
    "abandoned-stays-out",
    lambda: shows(ready().run(LONG_OUTPUT).receipt("blocked")),
    "the model is shown output of e1, which nobody admitted",
)

good("exact-ack", lambda: resolved().acknowledge())
bad("exact-ack", lambda: ready().acknowledge(), "e1 was acknowledged without a receipt")
bad(
    "exact-ack",
    lambda: resolved().acknowledge(ADMITTED),
    "e1 was acknowledged with another receipt than its own",
)

good("ack-of-the-open-turn", lambda: resolved().acknowledge().settle())
bad(
    "ack-of-the-open-turn",
    lambda: resolved().settle().acknowledge(),
    "e1 of a settled turn was acknowledged again",
)


def republished(content: bytes) -> Story:
    """Output is durable; then it is published again and refused as a conflict, once and as a second copy."""
    publish = Publish("a", "manifest", "manifest", content, sha256(content), TOKEN)
    durable = StoredResource("manifest", sha256(b"manifest"), b"manifest")
    story = Story().write(RESOURCES, "a/manifest", durable).ask("journal:a", "store", publish)
    asking, handling = story.script("journal:a"), story.script("store", story.exchange)
    story.tell(Declined(0, handling, 1, "Output.manifest", "managed_session_resource_conflict"))
    story.tell(Began(0, 99, "store", asking, "Publish.manifest~copy", 1, 0))
    return story.tell(Declined(0, 99, 1, "Output.manifest", "managed_session_writer_conflict"))


good("conflicts-are-about-bytes", lambda: republished(b"another"))
bad(
    "conflicts-are-about-bytes",
    lambda: republished(b"manifest"),
    "resource manifest was refused as a conflict with the same bytes",
)


def copied() -> Story:
    """The second copy of a publication is refused as a conflict."""
    story = republished(b"another").write(
        RESOURCES, "a/manifest", StoredResource("manifest", sha256(b"another"), b"another")
    )
    return story.tell(Declined(0, 99, 1, "Output.manifest", "managed_session_resource_conflict"))


bad(
    "conflicts-are-about-bytes",
    copied,
    "resource manifest was refused as a conflict with the same bytes",
)


# --- doubt

ASKED = "the model of a was asked for a.p1 while"


def doubted(request: Request[Any]) -> Story:
    """A question of the harness whose answer was lost."""
    return Story().accept().ask("harness:a", "broker", request, doubt="timeout")


REPLAYED = Acquire("a", "a.p1", "w")
good(
    "no-inference-on-doubt",
    lambda: doubted(REPLAYED).ask("harness:a", "broker", REPLAYED, Lease("a.p1", "w")).infer(),
)
bad("no-inference-on-doubt", lambda: ready().infer(), f"{ASKED} e1 lacks its history record")
bad(
    "no-inference-on-doubt",
    lambda: ready().receipt("blocked", envelope("partial")).result().infer(),
    f"{ASKED} the output of e1 is held back",
)
bad(
    "no-inference-on-doubt",
    lambda: doubted(REPLAYED).infer(),
    f"{ASKED} the answer to Acquire a.p1 is in doubt",
)
bad(
    "no-inference-on-doubt",
    lambda: doubted(StartExecution("e1", b"")).infer(),
    f"{ASKED} the answer to StartExecution e1 is in doubt",
)
bad("no-inference-on-doubt", lambda: Story().accept("a.p0").accept().infer(), f"{ASKED} a.p0 is unresolved")


def blocked() -> Story:
    return ready().ended("recovery-blocked")


good("blocked-stays-blocked", lambda: blocked().ask("client", "harness:a", Prompt("a.p1", "go"), Admitted(1)))
bad(
    "blocked-stays-blocked",
    lambda: blocked().infer(),
    "session a asked the model for a.p1 after it was recovery blocked",
)
bad(
    "blocked-stays-blocked",
    lambda: blocked().release(),
    "session a sent Release a.p1 after it was recovery blocked",
)
bad(
    "blocked-stays-blocked",
    lambda: blocked().start(),
    "session a sent StartExecution e1 after it was recovery blocked",
)
bad(
    "blocked-stays-blocked",
    lambda: blocked().ask("client", "harness:a", Prompt("a.p2", "go"), Admitted(9)),
    "session a admitted a.p2 while it is recovery blocked",
)
bad(
    "blocked-stays-blocked",
    lambda: (
        blocked()
        .record(InputAccepted("a.p2", "go"))
        .ask("client", "harness:a", Prompt("a.p2", "go"), Admitted(9))
    ),
    "session a admitted a.p2 while it is recovery blocked",
)
bad(
    "blocked-stays-blocked",
    lambda: (
        ready()
        .ask("client", "harness:a", LoadSession("a"), Failure("hosted_turn_recovery_required", 409))
        .infer()
    ),
    "session a asked the model for a.p1 after it was recovery blocked",
)
bad(
    "blocked-stays-blocked",
    lambda: ready().ask("client", "harness:a", LoadSession("a"), Loaded("a.2", 2)),
    "session a was opened while a.p1 is unresolved",
)


# --- the lease

good(
    "lease-has-one-holder",
    lambda: Story().acquire().acquire().release().write(LEASES, "w", WorkspaceLease("b", "b")),
)
bad(
    "lease-has-one-holder",
    lambda: Story().acquire().write(LEASES, "w", WorkspaceLease("b", "b")),
    "workspace w was taken by b while a held it",
)


def foreign_release() -> Story:
    story = Story().acquire().write(RUNTIME_SESSIONS, "b.p1", RuntimeSession("b", "w", "ready", 1))
    return story.release(by="b")


def freed_by_prepare() -> Story:
    story = Story().acquire().ask("harness:a", "broker", Status("e1"))
    script = story.script("broker", exchange=story.exchange, parent=story.scripts["harness:a"])
    return story.write(LEASES, "w", None, script)


bad("lease-has-one-holder", foreign_release, "workspace w of a was released by b")
bad("lease-has-one-holder", freed_by_prepare, "workspace w was freed by Status, which is no release")

good("no-release-while-live", lambda: admitted().release())
bad(
    "no-release-while-live",
    lambda: ready().dispatch().spawn().release(),
    "workspace w was freed while the process of e1 runs",
)
bad("no-release-while-live", lambda: ready().release(), "workspace w was freed while e1 is prepared")

good("released-before-settled", lambda: Story().acquire().release().settle())
bad(
    "released-before-settled",
    lambda: Story().release(),
    "session a asked to release a.p1, and holds no workspace",
)
bad(
    "released-before-settled",
    lambda: Story().acquire().settle(),
    "turn a.p1 was settled while its session holds w",
)

good("effects-under-the-lease", lambda: ready().spawn().act(TouchFile("e1", "w", "log", b"line")))
bad("effects-under-the-lease", lambda: Story().spawn(), "execution e1 was spawned and is in no ledger")
bad(
    "effects-under-the-lease",
    lambda: ready().release().spawn(),
    "execution e1 of a was spawned while nobody holds w",
)
bad(
    "effects-under-the-lease",
    lambda: ready().act(TouchFile("e1", "harness", "effects.log", b"line")),
    "execution e1 of w changed effects.log in harness",
)


# --- the journal

good(
    "journal-is-one-line",
    lambda: Story().record(WakeRequested("a.p1")).record(WakeRequested("a.p2"), epoch=2),
)
bad(
    "journal-is-one-line",
    lambda: Story().record(WakeRequested("a.p1")).record(WakeRequested("a.p2"), sequence=3),
    "journal of a goes from 1 to 3",
)
bad(
    "journal-is-one-line",
    lambda: Story().record(WakeRequested("a.p1"), epoch=2).record(WakeRequested("a.p2")),
    "journal of a: the replaced owner of epoch 1 wrote WakeRequested after epoch 2",
)


def twice(step: Callable[[Story], Story]) -> Told:
    return lambda: step(step(Story().acquire().register()))


AGAIN = "session a recorded"
good("no-duplicated-history", whole)
bad(
    "no-duplicated-history", twice(Story.assistant), f"{AGAIN} the assistant of round 1 of a.p1 a second time"
)
bad("no-duplicated-history", twice(Story.result), f"{AGAIN} the result of e1 a second time")
bad(
    "no-duplicated-history",
    twice(lambda story: story.result("")),
    f"{AGAIN} the response to c1 of round 1 of a.p1 a second time",
)
bad("no-duplicated-history", twice(Story.receipt), f"{AGAIN} ToolReceipt of e1 a second time")
bad("no-duplicated-history", twice(Story.intent), f"{AGAIN} ToolIntent of e1 a second time")
bad("no-duplicated-history", twice(Story.settle), f"{AGAIN} TurnSettled of a.p1 a second time")
bad(
    "no-duplicated-history",
    twice(lambda story: story.record(UserMessage("a.p1", "go"))),
    f"{AGAIN} UserMessage of a.p1 a second time",
)
bad(
    "no-duplicated-history",
    twice(lambda story: story.write(COMMANDS, "a/p1.0", CommandReceipt("", 1, "", 1))),
    f"{AGAIN} command p1.0 a second time",
)

SECOND = ToolCall("c2", SHELL, '{"command": "test"}')
good("paired-responses", lambda: Story().assistant(CALL, SECOND).result().result("e2", "c2").settle())
bad(
    "paired-responses",
    lambda: Story().assistant(CALL, SECOND).result("", "c2", "c1"),
    "response to c2, c1 of a.p1 was recorded, expected: c1, c2",
)
bad(
    "paired-responses",
    lambda: Story().assistant(CALL, SECOND).result().assistant(round=2),
    "round 2 of a.p1 was recorded before a response to c2",
)
bad("paired-responses", lambda: Story().assistant().settle(), "a.p1 is completed without a response to c1")
bad(
    "paired-responses",
    lambda: Story().infer(Message("model", calls=(CALL, SECOND)), Message("tool", responses=(answer("c1"),))),
    "the model of a.p1 is shown ['c1', 'c2'] answered by ['c1']",
)


def writer(owner: str, generation: int, expires_at: int = 60_000) -> Writer:
    return Writer(owner, owner, generation, expires_at)


def writers(*rows: Writer) -> Story:
    story = Story()
    for held in rows:
        story.write(WRITERS, "a", held).later(1_000)
    return story


good("writer-generation", lambda: writers(writer("one", 1), writer("one", 1, 500), writer("two", 2)))
bad(
    "writer-generation",
    lambda: writers(writer("one", 2), writer("one", 1)),
    "writer of a went back from generation 2 to 1",
)
bad(
    "writer-generation",
    lambda: writers(writer("one", 1), writer("two", 2)),
    "writer of a was taken by two while the lease of one lived",
)
bad(
    "writer-generation",
    lambda: writers(writer("one", 1, 0), writer("two", 1)),
    "writer of a changed to two within generation 1",
)


# --- leaving a Session, and asking it


def sealing(row: Writer, by: WriterToken = TOKEN) -> Story:
    """A lease that its holder, or another one, seals."""
    story = Story().write(WRITERS, "a", writer("a.owner1", 1, 500))
    story.ask("journal:a", "store", SealWriter("a", by))
    script = story.script("store", exchange=story.exchange)
    return story.write(WRITERS, "a", row, script, "SealLease")


def left(answer: Any) -> Story:
    """An open Session that is asked to leave."""
    story = Story().ask("client", "harness:a", LoadSession("a"), Loaded("a.1", 1))
    return story.ask("client", "harness:a", DetachSession("a"), answer)


good("sealed-writes-no-more", lambda: sealing(Writer("", "", 1, 0)).write(WRITERS, "a", writer("two", 2)))
bad(
    "sealed-writes-no-more",
    lambda: sealing(Writer("", "", 1, 500)),
    "the lease of a was sealed and runs until 500",
)
bad(
    "sealed-writes-no-more",
    lambda: sealing(Writer("", "", 1, 0), WriterToken("a.owner0", TOKEN.token, 1)),
    "a.owner0 sealed the lease of a, which it did not hold",
)
bad(
    "sealed-writes-no-more",
    lambda: sealing(Writer("", "", 1, 0)).ask(
        "journal:a",
        "store",
        AcquireWriter("a", "a.owner2", TOKEN.token),
        Failure("managed_session_writer_conflict", 409),
    ),
    "a.owner2 must wait for the sealed lease of a",
)
bad(
    "sealed-writes-no-more",
    lambda: sealing(Writer("", "", 1, 0)).ask(
        "journal:a", "store", SealWriter("a", TOKEN), Failure("managed_session_writer_conflict", 409)
    ),
    "a.owner1 may not seal its own lease",
)


def written_behind_the_seal() -> Story:
    story = sealing(Writer("", "", 1, 0))
    story.ask("journal:a", "store", LAST)
    return story.write(HEADS, "a", Head(2), story.script("store", exchange=story.exchange))


bad(
    "sealed-writes-no-more",
    written_behind_the_seal,
    "Transact.TurnSettled last of a became durable under a sealed writer",
)

good(
    "sealed-after-the-drain",
    lambda: (
        Story()
        .ask("harness:a", "publisher:a", StopPublisher("a"), PublisherClosed(0))
        .ask("journal:a", "store", SealWriter("a", TOKEN), Sealed(1))
    ),
)
bad(
    "sealed-after-the-drain",
    lambda: Story().ask("journal:a", "store", SealWriter("a", TOKEN)),
    "the writer of a was sealed before its publisher was drained",
)
bad(
    "sealed-after-the-drain",
    lambda: (
        Story()
        .ask("harness:a", "publisher:a", StopPublisher("a"), PublisherClosed(0))
        .ask("journal:a", "store", LAST)
        .ask("journal:a", "store", SealWriter("a", TOKEN))
    ),
    "the writer of a was sealed under a commit",
)
bad(
    "sealed-after-the-drain",
    lambda: (
        Story()
        .ask("harness:a", "publisher:a", StopPublisher("a"), PublisherClosed(0))
        .ask("journal:a", "store", SealWriter("a", TOKEN))
        .ask("journal:a", "store", LAST)
    ),
    "Transact.TurnSettled last was sent behind the seal of its writer",
)

good(
    "left-in-order",
    lambda: left(Detached("a")).ask("client", "harness:a", LoadSession("a"), Loaded("a.2", 2)),
)
bad(
    "left-in-order",
    lambda: Story().accept().ask("client", "harness:a", DetachSession("a"), Detached("a")),
    "session a was left while a.p1 is open",
)
bad(
    "left-in-order",
    lambda: left(Failure("hosted_session_busy", 503)),
    "session a is not left, and nothing of it is open",
)
bad(
    "left-in-order",
    lambda: (
        Story()
        .ask("client", "harness:a", LoadSession("a"), Loaded("a.1", 1))
        .ask("client", "harness:a", LoadSession("a"), Loaded("a.2", 2))
    ),
    "session a was opened again in a process that had it open",
)


def again(text: str, answer: Any) -> Story:
    """A prompt that is sent to an open Session a second time."""
    story = Story().ask("client", "harness:a", LoadSession("a"), Loaded("a.1", 1)).accept()
    return story.ask("client", "harness:a", Prompt("a.p1", text), answer)


good("one-prompt-one-answer", lambda: again("other", Failure("hosted_prompt_conflict", 409)))
bad(
    "one-prompt-one-answer",
    lambda: again("other", Admitted(1)),
    "prompt a.p1 got watermark 1 for 'other', and 'go' has 1",
)
bad(
    "one-prompt-one-answer",
    lambda: again("go", Admitted(2)),
    "prompt a.p1 got watermark 2 for 'go', and 'go' has 1",
)
bad(
    "one-prompt-one-answer",
    lambda: again("go", Failure("hosted_prompt_conflict", 409)),
    "prompt a.p1 conflicts with no other text",
)
bad(
    "one-prompt-one-answer",
    lambda: again("go", Failure("hosted_turn_active", 409)),
    "prompt a.p1 is refused with hosted_turn_active, and was accepted before",
)
bad(
    "one-prompt-one-answer",
    lambda: Story().ask("client", "harness:a", Prompt("a.p1", "go"), Failure("hosted_turn_active", 409)),
    "prompt a.p1 is refused for a turn, and none runs",
)
bad(
    "one-prompt-one-answer",
    lambda: Story().ask("client", "harness:a", Prompt("a.p1", "go"), Failure("managed_request_refused", 409)),
    "prompt a.p1 is refused with managed_request_refused by a Session that is not open",
)
bad(
    "one-prompt-one-answer",
    lambda: again("go", Admitted(1)).record(InputAccepted("a.p2", "go")),
    "prompt a.p2 was accepted while a.p1 is not settled",
)

PROMPTED = Transact("a", "a.p1", (InputAccepted("a.p1", "go"),), (), TOKEN, 1, "a.1", 1)
NO_RECORD = Failure("managed_session_oss_disabled", 501)
good("records-fit", lambda: Story().ask("journal:a", "store", LAST, NO_RECORD))
bad(
    "records-fit",
    lambda: Story().ask("journal:a", "store", PROMPTED, NO_RECORD),
    "Transact.InputAccepted a.p1 is larger than any record can be",
)


# --- what a model is told


good("admitted-is-recorded", lambda: Story().accept())
bad(
    "admitted-is-recorded",
    lambda: Story().accept().ask("client", "harness:a", Prompt("a.p2", "go"), Admitted(1)),
    "prompt a.p2 was admitted, and no journal holds it",
)

RENEW = RenewWriter("a", TOKEN)


def told_off(then: Request[Any], before: Request[Any] | None = None) -> Story:
    """A renewal is refused to an owner, which then sends this; ``before`` is what it was sending."""
    story = Story()
    if before is not None:
        story.ask("journal:a", "store", before)
    story.ask("journal:a", "store", RENEW)
    story.tell(Learned(0, story.script("journal:a"), story.exchange, "managed_session_writer_conflict", ""))
    return story.ask("journal:a", "store", then)


def renewed(activation: str) -> Story:
    """An owner is told who is active, and then admits e1 under the activation a.1."""
    story = Story().ask("journal:a", "store", RENEW, Renewed(60_000, activation, 1))
    return story.ask("journal:a", "store", ADMITTING)


NEXT = Transact("a", "a.p1.1", (WakeRequested("a.p1"),), (), TOKEN, 0, "a.1", 1)
ADMITTING = Transact(
    "a", "e1", (ToolReceipt("e1", "committed", "manifest", "outcome", envelope()),), (), TOKEN, 0, "a.1", 1
)
good("replaced-owner-stops", lambda: told_off(NEXT, before=NEXT))
bad(
    "replaced-owner-stops",
    lambda: told_off(NEXT),
    "journal:a sent Transact.WakeRequested a.p1.1 after its renewal was refused",
)
good("admitted-by-the-active", lambda: renewed("a.1"))
bad(
    "admitted-by-the-active",
    lambda: renewed("a.2"),
    "journal:a admits e1 under a.1 and found a.2 active",
)
bad(
    "admitted-by-the-active",
    lambda: Story().ask("journal:a", "store", ADMITTING),
    "journal:a admits e1 under a.1 and did not ask who is active",
)


def claimed(status: int, state: str = "ready", by: str = "a") -> Story:
    """An acquisition of a is refused while this Session holds the Workspace."""
    story = Story().write(RUNTIME_SESSIONS, "a.p1", RuntimeSession("a", "w", state, 1))
    story.write(LEASES, "w", WorkspaceLease(f"holder of {by}.p1", by))
    code = "runtime_session_acquire_failed"
    return story.ask("harness:a", "broker", Acquire("a", "a.p1", "w"), Failure(code, status))


good("refused-holds-nothing", lambda: claimed(503))
bad(
    "refused-holds-nothing",
    lambda: claimed(409),
    "a.p1 was refused w (409 runtime_session_acquire_failed) and holds it",
)


# --- the ledger


def moves(*rows: Execution) -> Story:
    story = Story()
    for moved in rows:
        story.write(LEDGER, "e1", moved)
    return story


DONE = row("settled", envelope(), receipt=ADMITTED)
good(
    "settled-is-terminal",
    lambda: moves(row("prepared"), row("dispatching"), row("executing"), row("unknown"), DONE, DONE),
)
bad("settled-is-terminal", lambda: moves(DONE, row("unknown")), "execution e1 went from settled to unknown")
bad(
    "settled-is-terminal",
    lambda: moves(row("unknown"), row("executing")),
    "execution e1 went from unknown to executing",
)
bad(
    "settled-is-terminal",
    lambda: moves(DONE, row("settled", envelope("partial"), receipt=ADMITTED)),
    "execution e1 was settled a second time, with another result",
)
bad(
    "settled-is-terminal",
    lambda: moves(DONE, row("settled", envelope(), receipt=CROSSED)),
    "execution e1 got another receipt",
)
bad("settled-is-terminal", lambda: moves(row("settled")), "execution e1 was settled without a result")
bad(
    "settled-is-terminal",
    lambda: moves(row("settled", envelope())),
    "execution e1 was settled without a receipt",
)

LEFT = "e1 is left reserved: its cancellation was never asked"


def cancels() -> Story:
    return ready().ask("harness:a", "broker", CancelExecution("e1"), doubt="timeout")


good("no-reservation-left-behind", lambda: cancels().tell(Healed(0)))
bad("no-reservation-left-behind", lambda: ready().tell(Healed(0)), LEFT)
bad("no-reservation-left-behind", lambda: ready().tell(Crashed(0, "worker:w")).tell(Healed(0)), LEFT)


def tells(state: str, told: object, request: Request[Any] | None = None) -> Story:
    """What the broker answers while the row of e1 is in a state."""
    return moves(row(state)).ask("harness:a", "broker", request or Status("e1"), told)


def observed(state: str) -> Observed:
    return Observed("e1", state, None, None)


NOT_KNOWN = Failure("runtime_broker_execution_unknown", 409)
good("told-as-the-ledger-says", lambda: tells("dispatching", observed("executing")))
bad(
    "told-as-the-ledger-says",
    lambda: tells("dispatching", observed("dispatching"), StartExecution("e1", PAYLOAD)),
    "execution e1 is dispatching, and the broker told that it is dispatching",
)
bad(
    "told-as-the-ledger-says",
    lambda: tells("executing", observed("prepared")),
    "execution e1 is executing, and the broker told that it is prepared",
)
bad(
    "told-as-the-ledger-says",
    lambda: tells("unknown", observed("settled")),
    "execution e1 is unknown, and the broker told that it is settled",
)
bad(
    "told-as-the-ledger-says",
    lambda: tells("settled", NOT_KNOWN),
    "execution e1 is settled, and the broker told that it is unknown",
)


bad(
    "told-as-the-ledger-says",
    lambda: tells("unknown", observed("unknown")),
    "execution e1 is unknown, and the broker told that it is an outcome",
)


def reborn(*after: Execution) -> Story:
    """A broker dispatched e1 and died; what its next life makes of the row."""
    story = Story().tell(Booted(0, "broker", 1)).write(LEDGER, "e1", row("dispatching"))
    story.write(LEDGER, "e1", row("executing")).tell(Booted(0, "broker", 2))
    for moved in after:
        story.write(LEDGER, "e1", moved)
    return story.tell(Healed(0))


good("no-claim-outlives-its-broker", lambda: reborn(row("unknown")))
bad(
    "no-claim-outlives-its-broker",
    lambda: reborn(row("cancel_requested")),
    "e1 is left as running, and its broker died",
)


def looks(*lost: bool, failure: str = "", binding: str = "ready") -> Story:
    """Looks at e1, lost or not, the failure of one more, and what becomes of the row and the runtime with it."""
    story = moves(row("executing"))
    for gone in lost:
        learned = {"doubt": "timeout"} if gone else {}
        story.ask("broker", "worker:w", Observe(REFERENCE), **learned)
    if failure:
        story.ask("broker", "worker:w", Observe(REFERENCE))
        story.tell(Learned(0, story.script("broker"), story.exchange, failure, ""))
    bound = Write(BINDINGS.name, "w", RuntimeBinding(1, binding))
    return story.tell(
        Committed(0, 0, 1, "MarkUnknown", (Write(LEDGER.name, "e1", row("unknown")), bound), None)
    )


good("gone-runtime-is-lost", lambda: looks(True, True, True, binding="lost"))
bad(
    "gone-runtime-is-lost",
    lambda: looks(True, True, True),
    "the worker of w lost execution e1, and its runtime is still bound",
)
bad(
    "gone-runtime-is-lost",
    lambda: looks(failure="managed_runtime_execution_unknown"),
    "the worker of w lost execution e1, and its runtime is still bound",
)
bad(
    "gone-runtime-is-lost",
    lambda: looks(True, True, failure="managed_runtime_identity_conflict", binding="lost"),
    "the runtime of w was given up, though its worker never lost execution e1",
)


def failed_start(code: str) -> Story:
    """A start that was refused with this code."""
    story = Story().ask("harness:a", "broker", StartExecution("e1", PAYLOAD))
    return story.tell(Learned(0, story.script("harness:a"), story.exchange, code, ""))


def look(story: Story) -> Story:
    return story.ask("harness:a", "broker", Status("e1"), observed("prepared"))


def call_off(story: Story) -> Story:
    return story.ask("harness:a", "broker", CancelExecution("e1"), observed("settled"))


good("failed-start-is-observed", lambda: call_off(look(failed_start("runtime_payload_invalid"))))
bad(
    "failed-start-is-observed",
    lambda: call_off(failed_start("runtime_payload_invalid")),
    "execution e1 was called off and nobody looked what became of its failed start",
)
bad(
    "failed-start-is-observed",
    lambda: look(failed_start("runtime_execution_conflict")),
    "execution e1 is looked for, though its start was refused for good",
)


# --- identity


def made(*calls: ToolCall) -> Story:
    return Story().infer(output=ModelOutput(calls=calls))


good("calls-as-the-model-made-them", lambda: made(CALL).assistant().infer(Message("model", calls=(CALL,))))
bad(
    "calls-as-the-model-made-them",
    lambda: made(SECOND).assistant(),
    "round 1 of a.p1 is recorded with other calls than the model made",
)
bad(
    "calls-as-the-model-made-them",
    lambda: made(CALL).assistant().infer(Message("model", calls=(SECOND,))),
    "the model of a.p1 is shown other calls than round 1 recorded",
)

OTHER = json.dumps({"toolName": SHELL, "input": {"command": "make all", "is_background": False}}).encode()
good("argument-bytes", lambda: ready().dispatch().spawn())
bad(
    "argument-bytes",
    lambda: ready().dispatch(OTHER),
    "execution e1 was dispatched with other arguments than the model gave",
)
bad(
    "argument-bytes",
    lambda: ready().dispatch(b"no JSON"),
    "execution e1 was dispatched with other arguments than the model gave",
)
bad(
    "argument-bytes",
    lambda: ready().spawn(command=b"make all"),
    "execution e1 ran another command than meant",
)
bad(
    "argument-bytes",
    lambda: Story().assistant(msgspec.structs.replace(CALL, arguments=SECOND.arguments)).intent(),
    "intent of e1 keeps other arguments than the model gave",
)
bad(
    "argument-bytes",
    lambda: Story().assistant().record(ToolIntent("a.p1", "e1", "c1", "w1", "digest", "args", "v3")),
    "intent of e1 names arguments that are not durable",
)

good("calls-kept-apart", lambda: ready().dispatch())
bad(
    "calls-kept-apart",
    lambda: ready().dispatch(reference=msgspec.structs.replace(REFERENCE, worker_call="c1")),
    "execution e1 was dispatched under another identity",
)
bad(
    "calls-kept-apart",
    lambda: ready().start().dispatch(reference=msgspec.structs.replace(REFERENCE, worker_call="w2")),
    "execution e1 was dispatched under another identity",
)

INTENT = ToolIntent("a.p1", "e1", "c1", "w1", "digest", "args", "v3")
bad(
    "argument-bytes",
    lambda: (
        Story().assistant().keep(msgspec.structs.replace(CALL, arguments=CALL.arguments + " ")).record(INTENT)
    ),
    "intent of e1 keeps another input than the model gave",
)
bad(
    "argument-bytes",
    lambda: Story().assistant().keep(msgspec.structs.replace(CALL, name="read_file")).record(INTENT),
    "intent of e1 keeps another definition than the model gave",
)


# --- retries


def send(
    story: Story, request: Request[Any], times: int, actor: str = "journal:a", pause: int = 250
) -> Story:
    """The same request, each time into doubt."""
    for _ in range(times):
        story.ask(actor, "store", request, doubt="transport").later(pause)
    return story


COMMIT = Transact("a", "a.p1.0", (WakeRequested("a.p1"),), (), TOKEN, 0, "a.1", 1)
OTHERWISE = msgspec.structs.replace(COMMIT, records=(WakeRequested("a.p2"),))
WRITTEN = WriteOutput(CAPABILITY, "e1", STDOUT, 0, b"built")

good("bounded-identical-retries", lambda: send(send(Story(), COMMIT, 3).later(20_000), COMMIT, 3))
bad(
    "bounded-identical-retries",
    lambda: send(Story(), COMMIT, 4),
    "journal:a sent Transact a.p1.0 4 times into doubt, at most 3 allowed",
)
bad(
    "bounded-identical-retries",
    lambda: send(Story(), ReadJournal("a"), 4),
    "journal:a sent ReadJournal 4 times into doubt, at most 3 allowed",
)
bad(
    "bounded-identical-retries",
    lambda: send(send(Story(), COMMIT, 1), OTHERWISE, 1),
    "journal:a sent another candidate for Transact a.p1.0",
)
bad(
    "bounded-identical-retries",
    lambda: send(Story(), WRITTEN, 2, "worker:w"),
    "worker:w sent WriteOutput e1:stdout:0 2 times, at most 1 allowed",
)
bad(
    "bounded-identical-retries",
    lambda: admitted().acknowledge(ADMITTED).acknowledge(msgspec.structs.replace(ADMITTED, manifest="other")),
    "harness:a sent another candidate for Acknowledge e1",
)
bad(
    "bounded-identical-retries",
    lambda: Story().acquire().release().release(),
    "harness:a sent Release a.p1 2 times, at most 1 allowed",
)

OUTCOME = Stage("a", "outcome-e1", b"{}", sha256(b"{}"), TOKEN)
bad(
    "bounded-identical-retries",
    lambda: send(Story(), OUTCOME, 2),
    "journal:a sent Stage outcome-e1 2 times, at most 1 allowed",
)

good("one-command-one-content", lambda: send(Story(), COMMIT, 3))
bad(
    "one-command-one-content",
    lambda: send(send(Story(), COMMIT, 1), OTHERWISE, 1),
    "journal:a committed other records under command a.p1.0",
)
bad(
    "one-command-one-content",
    lambda: (
        Story()
        .ask("journal:a", "store", COMMIT, Appended(1))
        .ask("journal:a", "store", OTHERWISE, Appended(2))
    ),
    "journal:a committed other records under command a.p1.0",
)


# --- secrets


def entrusted() -> Story:
    """A writer token and a capability are in use."""
    token = AcquireWriter("a", "a.owner1", TOKEN.token)
    return Story().ask("journal:a", "store", token).acquire().register().open_capture()


CAPABILITY_TEXT, TOKEN_TEXT = CAPABILITY.value, TOKEN.token.value
good("secrets-stand-nowhere", entrusted)
bad(
    "secrets-stand-nowhere",
    lambda: entrusted().record(UserMessage("a.p1", f"open with {CAPABILITY_TEXT}")),
    "the value of capability stands in a durable row",
)
bad(
    "secrets-stand-nowhere",
    lambda: entrusted().infer(Message("user", TOKEN_TEXT)),
    "the value of writer token stands in a message to the model (Infer)",
)
bad(
    "secrets-stand-nowhere",
    lambda: entrusted().ask("harness:a", "broker", Status(TOKEN_TEXT)),
    "the value of writer token stands in a request (Status)",
)
bad(
    "secrets-stand-nowhere",
    lambda: entrusted().ask("harness:a", "broker", Status("e1"), Failure(CAPABILITY_TEXT, 409)),
    "the value of capability stands in the trace (Answered)",
)

FOREIGN = Secret("foreign capability", "somebody else's capability, of 43 characters.")
good(
    "publisher-asks-its-capability", lambda: entrusted().ask("worker:w", "publisher:a", WRITTEN, Buffered(5))
)
bad(
    "publisher-asks-its-capability",
    lambda: entrusted().ask(
        "worker:w", "publisher:a", msgspec.structs.replace(WRITTEN, bearer=FOREIGN), Buffered(5)
    ),
    "publisher:a answered WriteOutput.stdout of e1 to a foreign capability",
)


def forged() -> Story:
    story = entrusted()
    struck = Struck(0, story.script("worker:w"), "call", "WriteOutput.stdout", 7, "capability-expired")
    return story.tell(struck).ask("worker:w", "publisher:a", WRITTEN, Buffered(5), nth=7)


bad(
    "publisher-asks-its-capability",
    forged,
    "publisher:a answered WriteOutput.stdout of e1 to a foreign capability",
)


# --- endings

good("every-run-ends", whole)
bad(
    "every-run-ends",
    lambda: Story().tell(Exhausted(5, "horizon")),
    "the run did not end: it was stopped at its horizon",
)

good("every-turn-ends", whole)
bad(
    "every-turn-ends",
    lambda: Story().ask("client", "harness:a", AwaitTurn("a.p1")),
    "nobody was told how turn a.p1 ended",
)
bad(
    "every-turn-ends",
    lambda: Story().ask("client", "harness:a", AwaitTurn("a.p1"), doubt="timeout"),
    "turn a.p1 did not end in time",
)


def listening() -> Story:
    """A listener of the first turn, and nothing else."""
    opened = Descriptor("url", CAPABILITY)
    return Story().ask("harness:a", "publisher:a", OpenPublisher("a.p1"), opened)


good("listener-closes-with-its-turn", whole)
bad(
    "listener-closes-with-its-turn",
    lambda: listening().ended("error"),
    "turn a.p1 ended and left its listener open",
)
bad(
    "listener-closes-with-its-turn",
    lambda: Story().register().ended("error"),
    "turn a.p1 ended and left its listener open",
)
bad(
    "listener-closes-with-its-turn",
    lambda: Story().register().register(),
    "session a opened a second listener",
)
bad(
    "listener-closes-with-its-turn",
    lambda: Story().register().close().ask("worker:w", "publisher:a", WRITTEN, Buffered(5)),
    "publisher:a took output of e1 after its listener was closed",
)


def writes(*, first: bool) -> Story:
    """A write of e1 is let in, and the end of its stream; the write is answered first, or the end is."""
    story = Story().ask("worker:w", "publisher:a", WRITTEN)
    write = story.exchange
    story.script("publisher:a", write)
    story.ask("worker:w", "publisher:a", FinishOutput(CAPABILITY, "e1", STDOUT, True))
    end, ended = story.exchange, StreamFinished(True)
    answers = [Answered(0, write, Buffered(5)), Answered(0, end, ended)]
    for answered in answers if first else answers[::-1]:
        story.tell(answered)
    return story


def closed(*, arrived: bool) -> Story:
    """A listener is closed while nobody has answered a write."""
    story = Story().ask("worker:w", "publisher:a", WRITTEN)
    if arrived:
        story.script("publisher:a", story.exchange)
    return story.close()


good("one-after-another", lambda: writes(first=True))
bad(
    "one-after-another",
    lambda: writes(first=False),
    "the end of stdout of e1 overtook a write before it",
)
bad(
    "one-after-another",
    lambda: closed(arrived=True),
    "publisher:a was closed while stdout of e1 was under way",
)


def waits(stream: str) -> Story:
    """A write of stderr is let in while one of ``stream`` is under way, and begins only when that is answered."""
    story = Story().ask("worker:w", "publisher:a", msgspec.structs.replace(WRITTEN, stream=stream))
    first = story.exchange
    story.ask("worker:w", "publisher:a", msgspec.structs.replace(WRITTEN, stream=STDERR))
    let_in = story.script("publisher:a", story.exchange)
    story.later(2_000).tell(Answered(story.at, first, Buffered(5)))
    story.exchange += 1
    return story.tell(Asked(story.at, let_in, 1, story.exchange, "journal:a", CheckWriter()))


good("streams-do-not-wait", lambda: waits(STDERR))
bad("streams-do-not-wait", lambda: waits(STDOUT), "stderr of e1 waited for the other stream")


GUESS = Secret("a guess", "a guessed capability")
REFUSED = Failure("hosted_shell_publication_unauthorized", 401)


def overlapping(*, answered: bool) -> Story:
    """Two raw writes of one stream, the first of them answered before the second is sent, or not."""
    story = Story().ask("worker:w", "publisher:a", WRITTEN, Buffered(5) if answered else None)
    return story.ask("worker:w", "publisher:a", msgspec.structs.replace(WRITTEN, offset=5), Buffered(10))


good("one-raw-write-at-a-time", lambda: overlapping(answered=True))
bad(
    "one-raw-write-at-a-time",
    lambda: overlapping(answered=False),
    "worker:w sent more of stdout of e1 before its last write was answered",
)


def publishes(*, late: bool, sent_late: bool = False) -> Story:
    """A write of e1 has a segment published: while its listener is open, or after it was closed."""
    story = listening().ask("worker:w", "publisher:a", WRITTEN, REFUSED)
    operation = story.script("publisher:a", story.exchange, story.script("worker:w"))
    if sent_late:
        story.close()
    publication = Publish("a", "content", "segment", b"built", sha256(b"built"), TOKEN)
    story.exchange += 1
    story.tell(Asked(0, operation, 1, story.exchange, "store", publication))
    store = story.script("store", story.exchange, operation)
    if late and not sent_late:
        story.close()
    segment = StoredResource("content", sha256(b"built"), b"built")
    return story.write(RESOURCES, "a/segment", segment, store)


good("nothing-commits-after-close", lambda: publishes(late=False))
bad(
    "nothing-commits-after-close",
    lambda: publishes(late=True, sent_late=True),
    "WriteOutput.stdout wrote a/segment after the listener of its turn was closed",
)


def opened_for(prompt: str, capability: Secret = CAPABILITY) -> Story:
    """A second listener of the Session, behind the closed one of its first turn."""
    story = listening().close()
    return story.ask("harness:a", "publisher:a", OpenPublisher(prompt), Descriptor("url", capability))


good("a-capability-is-one-turns", lambda: opened_for("a.p2", Secret("another", "another capability")))
bad(
    "a-capability-is-one-turns",
    lambda: opened_for("a.p2"),
    "the listener of a.p2 in life 0 has the capability of a.p1 in life 0",
)


# --- an outsider


def intrusion(request: Request[Any], answer: Any = REFUSED, to: str = "publisher:a") -> Story:
    """An outsider's one request."""
    story = listening().tell(Booted(0, "intruder", 1))
    return story.ask("intruder", to, request, answer)


def changes(bearer: Secret) -> Story:
    """An outsider's end of a stream, and the seal that comes of it."""
    story = intrusion(FinishOutput(bearer, "e1", STDOUT, True), REFUSED)
    handler = story.script("publisher:a", story.exchange, story.script("intruder"))
    return story.write(RESOURCES, "a/seal", StoredResource("seal", "", b"seal"), handler)


FORGED_END = FinishOutput(GUESS, "e1", STDOUT, True)

good("outsider-is-told", lambda: intrusion(FORGED_END))
bad(
    "outsider-is-told",
    lambda: intrusion(FORGED_END, Failure("doubt", 500)),
    "an outsider's FinishOutput.stdout to publisher:a was answered with doubt",
)
bad(
    "outsider-is-told",
    lambda: intrusion(FORGED_END, None),
    "an outsider's FinishOutput.stdout to publisher:a was never answered",
)

good("outsider-changes-nothing", lambda: changes(CAPABILITY))
bad(
    "outsider-changes-nothing",
    lambda: changes(GUESS),
    "an outsider's FinishOutput.stdout changed resources a/seal",
)

good("capability-stays-home", whole)
bad(
    "capability-stays-home",
    lambda: listening().ask("worker:w", "publisher:b", WRITTEN, REFUSED),
    "worker:w sent the capability of publisher:a to publisher:b",
)


def agrees(receipt: Receipt) -> Story:
    """A worker takes the acknowledgement that a broker hands on for an outsider."""
    story = resolved().acknowledge().tell(Booted(0, "intruder", 1))
    story.ask("intruder", "broker", Acknowledge("e1", receipt))
    broker = story.script("broker", story.exchange, story.script("intruder"))
    story.exchange += 1
    story.tell(Asked(0, broker, 1, story.exchange, "worker:w", Confirm(REFERENCE, receipt)))
    return story.tell(Answered(0, story.exchange, Acknowledged("e1")))


bad(
    "exact-ack",
    lambda: agrees(ADMITTED),
    "a worker agreed: e1 was acknowledged with another receipt than its own",
)


# --- what is read again


# --- who takes output, and what a checkpoint binds


def taken(*, replaced: bool) -> Story:
    """A capture is opened, and written into: by the owner that opened it, or after that was replaced."""
    story = led()
    if replaced:
        story.write(ACTIVATIONS, "a", Activation("a.2", 2))
    return story.ask("worker:w", "publisher:a", WRITTEN, Buffered(5))


good("output-taken-by-the-owner", lambda: taken(replaced=False))
bad(
    "output-taken-by-the-owner",
    lambda: taken(replaced=True),
    "WriteOutput.stdout of e1 was done though its owner had been replaced before",
)


def binds(invocation: str) -> Story:
    """A checkpoint that binds e1 to this invocation."""
    story = Story().assistant().prepare().intent()
    story.invocation = invocation
    return story.checkpoint()


# --- what is told


def refused(text: str = "No.", error: bool = True) -> Story:
    """A batch that does not run, and what the model is told of its call."""
    story = Story().assistant(msgspec.structs.replace(CALL, arguments='{"command": "make install"}'))
    return story.record(ToolResult("a.p1", 1, "", (Response("c1", SHELL, text, error),)))


OF_C1 = "the model is told of c1, which did not run:"
good("refusals-say-why", refused)
bad("refusals-say-why", lambda: refused(error=False), f"{OF_C1} it is told as a success")
bad("refusals-say-why", lambda: refused(""), f"{OF_C1} no word says why")
bad("refusals-say-why", lambda: refused("No: make install"), f"{OF_C1} its arguments are repeated")
bad(
    "refusals-say-why",
    lambda: refused('No: {"command": "make install"}'),
    f"{OF_C1} its arguments are repeated",
)


def told(text: str = TOLD, error: bool = False, **changed: Any) -> Story:
    """A receipt over an envelope, and what the model is told of it."""
    story = Story().receipt(told=msgspec.structs.replace(envelope(), **changed))
    return story.record(ToolResult("a.p1", 1, "e1", (Response("c1", SHELL, text, error),)))


CUT = "built\n[the output is retained]\n[status: success, exit code: 0]"
KILLED: dict[str, Any] = {"status": "cancelled", "exit_code": -1, "signal": "SIGTERM"}
OF_E1 = "the model is told of e1:"
good("model-is-told-the-truth", lambda: told(CUT, truncated=True))
bad("model-is-told-the-truth", lambda: told(error=True), f"{OF_E1} an error is True of status success")
bad(
    "model-is-told-the-truth",
    lambda: told(f"{CUT}\nIt is in /var/tmp/output.txt.", truncated=True),
    f"{OF_E1} a path is named, which the model cannot reach",
)
bad(
    "model-is-told-the-truth",
    lambda: told("[status: success, exit code: 0]"),
    f"{OF_E1} the preview is missing",
)
bad(
    "model-is-told-the-truth",
    lambda: told("built [status: error, exit code: 1]", True, status="error", exit_code=12),
    f"{OF_E1} exit code: 12 is missing",
)
bad(
    "model-is-told-the-truth",
    lambda: told("built [status: error, exit code: 12]", True, status="error", exit_code=1),
    f"{OF_E1} exit code: 1 is missing",
)
bad(
    "model-is-told-the-truth",
    lambda: told("built [status: cancelled, exit code: -1]", True, **KILLED),
    f"{OF_E1} signal: SIGTERM is missing",
)
bad(
    "model-is-told-the-truth",
    lambda: told("status: success [exit code: 0]", preview="status: success"),
    f"{OF_E1} status: success is missing",
)
bad("model-is-told-the-truth", lambda: told(truncated=True), f"{OF_E1} cut output is told as whole")
bad("model-is-told-the-truth", lambda: told(CUT), f"{OF_E1} whole output is told as cut")


def ended(code: int = 0, by: str = "", *emitted: Emit, **changed: Any) -> Story:
    """A process that built, emitted what else there is, and ended so; and the envelope of it."""
    story = Story().spawn().act(Emit("e1", STDOUT, b"built"))
    for emit in emitted:
        story.act(emit)
    story.act(ExitProcess("e1", code, by))
    return story.receipt(told=msgspec.structs.replace(envelope(), **changed))


WARNED = Emit("e1", STDERR, b"with 2 warnings\n")
OF_THE_ENVELOPE = "the envelope of e1 has"
good("envelope-tells-what-happened", lambda: ended(-1, "SIGTERM", WARNED, **KILLED))
bad(
    "envelope-tells-what-happened",
    lambda: ended(2, status="error", exit_code=1),
    f"{OF_THE_ENVELOPE} exit code 1 instead of 2",
)
bad(
    "envelope-tells-what-happened",
    lambda: ended(2, exit_code=2),
    f"{OF_THE_ENVELOPE} status success of a process that ended otherwise",
)
bad(
    "envelope-tells-what-happened",
    lambda: ended(status="error"),
    f"{OF_THE_ENVELOPE} status error of a process that ended well",
)
bad(
    "envelope-tells-what-happened",
    lambda: Story().spawn().receipt(),
    f"{OF_THE_ENVELOPE} status success of a process that ended otherwise",
)
bad(
    "envelope-tells-what-happened",
    lambda: ended(-1, "SIGTERM", status="cancelled", exit_code=-1),
    f"{OF_THE_ENVELOPE} exit code -1 instead of -1 SIGTERM",
)


def stopped(status: str) -> Story:
    """A command that was running is stopped on request, and told as having ended so."""
    story = (
        Story().spawn().ask("broker", "worker:w", Halt(REFERENCE), WorkerState("e1", "executing", None, None))
    )
    story.act(ExitProcess("e1", -1, "SIGTERM"))
    killed = {**KILLED, "status": status}
    return story.receipt(told=msgspec.structs.replace(envelope(), **killed))


bad(
    "envelope-tells-what-happened",
    lambda: stopped("error"),
    f"{OF_THE_ENVELOPE} status error of a process that was stopped on request",
)
bad(
    "envelope-tells-what-happened",
    lambda: ended(0, "", WARNED, preview="built\nwith 2"),
    f"{OF_THE_ENVELOPE} a preview that does not end as the output does",
)


def printed(output: bytes, shown: str, truncated: bool = False) -> Story:
    """A process that printed this, and the envelope that shows so much of it."""
    story = Story().spawn().act(Emit("e1", STDOUT, output)).act(ExitProcess("e1", 0, ""))
    return story.receipt(told=msgspec.structs.replace(envelope(), preview=shown, truncated=truncated))


GAP = "\n[... preview truncated; end of buffered output follows ...]\n"
EUROS = 4_000 * "\N{EURO SIGN}"
good("preview-is-bounded", lambda: printed(EUROS.encode(), EUROS[:682] + GAP + EUROS[:2027], truncated=True))
good("preview-is-bounded", lambda: printed(b"made\nbuilt", "built", truncated=True))
good("preview-is-bounded", lambda: printed(b"x" * 8_192, "x" * 8_192))
bad(
    "preview-is-bounded",
    lambda: printed(b"x" * 8_193, "x" * 8_193),
    f"{OF_THE_ENVELOPE} 8193 bytes of preview",
)
bad(
    "preview-is-bounded",
    lambda: printed(b"x" * 8_192, "x" * 2_048 + GAP + "x" * 6_083, truncated=True),
    f"{OF_THE_ENVELOPE} a marker, though all of the output fits",
)
bad(
    "preview-is-bounded",
    lambda: printed(EUROS.encode(), EUROS[:681] + GAP + EUROS[:2027], truncated=True),
    f"{OF_THE_ENVELOPE} 2043 bytes of head that are not the whole characters of 2048",
)
bad(
    "preview-is-bounded",
    lambda: printed(EUROS.encode(), EUROS[:682] + GAP + EUROS[:2026], truncated=True),
    f"{OF_THE_ENVELOPE} 6078 bytes of tail that are not the last whole characters of 6083",
)
bad(
    "preview-is-bounded",
    lambda: printed(b"made", "built"),
    f"{OF_THE_ENVELOPE} a preview that is no end of the output; cut output that is called whole",
)
bad(
    "preview-is-bounded",
    lambda: printed(b"made\nbuilt", "built"),
    f"{OF_THE_ENVELOPE} cut output that is called whole",
)
bad(
    "preview-is-bounded",
    lambda: printed(b"built", "built", truncated=True),
    f"{OF_THE_ENVELOPE} whole output that is called cut",
)

MANY = "".join(f"{number:05}\n" for number in range(20_000))
KEPT = MANY[-65_536:]
good("preview-is-bounded", lambda: printed(MANY.encode(), KEPT[:2_048] + GAP + KEPT[-6_083:], truncated=True))
bad(
    "preview-is-bounded",
    lambda: printed(MANY.encode(), KEPT[1_000:3_048] + GAP + KEPT[-6_083:], truncated=True),
    f"{OF_THE_ENVELOPE} 2048 bytes of head that are not the whole characters of 2048",
)

good("settled-as-told", whole)
bad(
    "settled-as-told",
    lambda: Story().settle().ended("cancelled"),
    "turn a.p1 is settled as completed and was told to be cancelled",
)
bad(
    "settled-as-told",
    lambda: Story().ended("error").settle(),
    "turn a.p1 is settled as completed and was told to be error",
)


# --- a local Session

HOME = "local:a"
BEGINNING = StageResource("outcome-e1", b"outcome")


def local_session() -> Story:
    """A local Session up to its checkpoint: its intent says that no broker knows of it."""
    story = Story().write(WRITERS, "a", Writer("a.owner1", "", 1, 60_000))
    story.write(ACTIVATIONS, "a", Activation("a.1", 1))
    story.ask("client", HOME, LoadSession("a"), Loaded("a.1", 1))
    story.accept().infer(output=ModelOutput(calls=(CALL,))).assistant().keep()
    return story.record(ToolIntent("a.p1", "e1", "c1", "w1", "digest", "args", LOCAL)).checkpoint()


def mapped(story: Story) -> Story:
    """The journal was read, and the owner was checked behind it."""
    projection = Projection("a.1", 1, ())
    return story.ask(HOME, "local-journal:a", ReadOwn(), projection).ask(
        HOME, "local-journal:a", CheckWriter(), Ownership(1, "a.1", 1)
    )


def at_home(story: Story, worker_call: str = "w1") -> Story:
    """The Session's own process runs e1."""
    return story.tell(Acted(story.at, story.script(HOME), 1, Spawn("e1", worker_call, "w", b"make")))


def begun(story: Story) -> Story:
    """The admission of e1 begins."""
    return story.ask(HOME, "local-journal:a", BEGINNING, Staged("outcome-e1"))


def kept_at_home() -> Story:
    """A local turn up to its receipt and the checkpoint that came with it."""
    return at_home(mapped(local_session())).publish().receipt().resolve()


good("local-order", lambda: kept_at_home().result())
bad(
    "local-order",
    lambda: at_home(local_session()).publish().receipt().result(),
    "model result of e1 came before its checkpoint resolution",
)
bad(
    "local-order",
    lambda: at_home(local_session()).publish().receipt().assistant(round=2).resolve(),
    "the checkpoint of e1 did not advance with its receipt",
)
bad(
    "local-order",
    lambda: local_session().publish().receipt(),
    "durable receipt of e1 came before its execute",
)
bad(
    "local-order",
    lambda: at_home(local_session()).receipt(),
    "durable receipt of e1 came before its durable capture",
)
bad("local-order", lambda: at_home(kept_at_home()), "e1 was spawned after its receipt")

good("local-runs-at-home", kept_at_home)
bad("local-runs-at-home", lambda: local_session().spawn(), "local execution e1 of a was spawned elsewhere")
bad(
    "local-runs-at-home",
    lambda: at_home(ready()),
    "execution e1 was spawned by session a itself",
)
bad(
    "local-runs-at-home",
    lambda: at_home(local_session(), "c1"),
    "local execution e1 was spawned under another identity",
)
bad(
    "local-runs-at-home", lambda: local_session().prepare(), "local execution e1 is in the ledger of a broker"
)
bad(
    "local-runs-at-home",
    lambda: local_session().ask("broker", "worker:w", Execute(REFERENCE, PAYLOAD)),
    "local execution e1 was sent to a worker",
)
bad(
    "local-runs-at-home",
    lambda: (
        Story().prepare().assistant().record(ToolIntent("a.p1", "e1", "c1", "w1", "digest", "args", LOCAL))
    ),
    "execution e1 is reserved by a broker, and its intent says that it is local",
)

good("local-guards", lambda: begun(at_home(mapped(local_session()))))
bad(
    "local-guards",
    lambda: at_home(local_session().write(WRITERS, "a", Writer("rival", "", 2, 60_000))),
    "local execution e1 was spawned after its owner had been replaced",
)
bad(
    "local-guards",
    lambda: at_home(local_session().write(ROOTS, "a", Root(1))),
    "local execution e1 was spawned after its root had been moved",
)
bad(
    "local-guards",
    lambda: begun(at_home(local_session()).write(ROOTS, "a", Root(1))),
    "outcome-e1 of session a was staged after its root had been moved",
)

# --- admission

good("rechecked-after-reads", lambda: begun(at_home(mapped(local_session()))))
bad(
    "rechecked-after-reads",
    lambda: at_home(local_session().ask(HOME, "local-journal:a", ReadOwn(), Projection("a.1", 1, ()))),
    "local execution e1 was spawned, and nobody checked its owner after the last read",
)
bad(
    "rechecked-after-reads",
    lambda: begun(local_session().ask(HOME, "local-journal:a", ReadOwn(), Projection("a.1", 1, ()))),
    "outcome-e1 was staged, and nobody checked its local owner after the last read",
)
bad(
    "rechecked-after-reads",
    lambda: ready().ask("publisher:a", "journal:a", ReadOwn(), Projection("a.1", 1, ())).open_capture(),
    "the capture of e1 was opened, and nobody checked its owner after the last read",
)

good("reread-before-receipt", admitted)
bad(
    "reread-before-receipt",
    lambda: ready().start().dispatch().open_capture().run().capture().receipt(),
    "receipt of e1: 0 of 5 bytes were read again",
)
bad(
    "reread-before-receipt",
    lambda: ready().run().capture().reread(2),
    f"{resource_of('capture', STDOUT, 0)} was read with a gap at 0",
)
bad(
    "reread-before-receipt",
    lambda: (
        ready()
        .run()
        .capture()
        .ask(
            "publisher:a",
            "journal:a",
            ReadOutput(resource_of("capture", STDOUT, 0), 0, 2**25),
            Piece(OUTPUT[STDOUT], 5),
        )
    ),
    f"{resource_of('capture', STDOUT, 0)} was read in a range of {2**25} bytes",
)


def candidate(delivery: str, outcome: bytes) -> Story:
    """A receipt of e1 is offered to the Store with its outcome, and again in another life of its owner."""
    receipt = ToolReceipt("e1", delivery, "manifest", "outcome-e1", envelope())
    story = Story().ask("journal:a", "store", RenewWriter("a", TOKEN), Renewed(60_000, "a.1", 1))
    story.ask("journal:a", "store", Stage("a", "outcome-e1", b"outcome", "", TOKEN))
    story.ask("journal:a", "store", Transact("a", "e1", (receipt,), ("outcome-e1",), TOKEN, 1, "a.1", 1))
    story.tell(Booted(0, "owner:a", 2))
    story.ask("journal:a", "store", Stage("a", "outcome-e1", outcome, "", TOKEN))
    again = ToolReceipt("e1", "committed", "manifest", "outcome-e1", envelope())
    return story.ask("journal:a", "store", Transact("a", "e1", (again,), ("outcome-e1",), TOKEN, 1, "a.1", 1))


good("one-candidate", lambda: candidate("committed", b"outcome"))
bad(
    "one-candidate",
    lambda: candidate("blocked", b"outcome"),
    "another candidate than before was offered for the receipt of e1",
)
bad(
    "one-candidate",
    lambda: candidate("committed", b"another"),
    "outcome-e1 was staged with other bytes than before",
)

good("checkpoint-is-bound", resolved)
bad(
    "checkpoint-is-bound",
    lambda: ready().record(Checkpoint("before_model", "a.p1", "a.1", 1, 1), epoch=2),
    "checkpoint before_model of a.p1 is bound to a.1, and a.2 committed it",
)
bad(
    "checkpoint-is-bound",
    lambda: ready().record(Checkpoint("before_model", "a.p0", "a.1", 1, 1)),
    "checkpoint before_model of a.p0 was written in the turn of a.p1",
)
bad(
    "checkpoint-is-bound",
    lambda: Story().checkpoint(),
    "checkpoint await_runtime of a.p1 binds e1, which nobody intended",
)
bad(
    "checkpoint-is-bound",
    lambda: ready().record(
        Checkpoint("await_runtime", "a.p1", "a.1", 1, 1, (Binding("e1", "w1", "w1", "digest", "dispatch"),))
    ),
    "checkpoint await_runtime of a.p1 binds e1 otherwise than its intent",
)


def other_digest(payload: str) -> Story:
    """A dispatch whose ledger row keeps this digest of its payload."""
    story = ready().start().write(LEDGER, "e1", row("executing", dispatches=1, payload_digest=payload))
    return story.ask("broker", "worker:w", Execute(REFERENCE, PAYLOAD))


good("two-digests", lambda: ready().dispatch())
bad(
    "two-digests",
    lambda: ready().dispatch(b"another"),
    "execution e1 was dispatched with a payload that its digest does not protect",
)
bad(
    "two-digests",
    lambda: ready().dispatch(reference=msgspec.structs.replace(REFERENCE, input_digest="other")),
    "execution e1 was dispatched with another input digest",
)
bad(
    "two-digests",
    lambda: other_digest("digest"),
    "execution e1 has one digest for its payload and for its arguments",
)
bad(
    "two-digests",
    lambda: other_digest("sha256:0"),
    "execution e1 was dispatched with a payload that its digest does not protect",
)


# --- output in the object store


MAPPING = Mapping(REFERENCE, "c1", "a.p1", "args", "a.1", 1, 10)
PUBLICATION = Publication("a", MAPPING, "capture", 1, "hash", 60_000, "open", "open")
BEARER = Secret("grant token", "the token of the grant of the only execution")
OPERATION = PublicationOperation("content", "segment", "p1/segment", "d", "d", 5, "pending")


def recorded() -> Story:
    """Session a leads and holds its Workspace, and e1 is reserved, intended and covered, for publication p1."""
    story = Story().infer(output=ModelOutput(calls=(CALL,))).acquire().assistant()
    story.write(WRITERS, "a", Writer("a.owner1", "hash", 1, 60_000)).write(
        ACTIVATIONS, "a", Activation("a.1", 1)
    )
    return story.write(LEDGER, "e1", row("prepared", publication="p1")).intent().checkpoint()


def publishing(**changed: Any) -> Story:
    """The same, granted."""
    return recorded().write(PUBLICATIONS, "p1", msgspec.structs.replace(PUBLICATION, **changed))


def to_worker(story: Story) -> Story:
    """e1 is started and dispatched."""
    story.ask("harness:a", "broker", StartExecution("e1", PAYLOAD, "p1", BEARER))
    for state in ("dispatching", "executing"):
        story.write(LEDGER, "e1", row(state, dispatches=1, publication="p1"))
    return story.ask("broker", "worker:w", Execute(REFERENCE, PAYLOAD))


def operated(story: Story, *states: str, **changed: Any) -> Story:
    """The one segment of p1, in these states; its object is there before it is told to be."""
    for state in states:
        if state == "succeeded":
            story.write(OBJECTS, "p1/segment", StoredObject("content", "d", b"built"))
        told = msgspec.structs.replace(OPERATION, state=state, **changed)
        story.write(OPERATIONS, "p1/seg-stdout-0", told)
    return story


def granted_early() -> Story:
    story = Story().write(LEDGER, "e1", row("prepared", publication="p1"))
    return story.write(PUBLICATIONS, "p1", PUBLICATION)


def granted_late() -> Story:
    story = (
        Story().intent().checkpoint().write(LEDGER, "e1", row("executing", dispatches=1, publication="p1"))
    )
    return story.write(PUBLICATIONS, "p1", PUBLICATION)


good("granted-when-recorded", publishing)
bad(
    "granted-when-recorded",
    granted_early,
    "p1 was granted before e1 was intended and covered",
)
bad("granted-when-recorded", granted_late, "p1 was granted for e1, which is not merely reserved")

good("published-under-a-live-grant", lambda: operated(publishing(), "pending", "succeeded"))
bad(
    "published-under-a-live-grant",
    lambda: operated(publishing().write(WRITERS, "a", Writer("b", "hash", 2, 90_000)), "pending"),
    "p1/seg-stdout-0 was begun for an owner that was replaced",
)
bad(
    "published-under-a-live-grant",
    lambda: operated(publishing().later(60_000), "pending"),
    "p1/seg-stdout-0 was begun after its grant had run out",
)


good("dispatched-under-its-grant", lambda: to_worker(publishing()))
bad(
    "dispatched-under-its-grant",
    lambda: to_worker(recorded()),
    "e1 was dispatched, and nobody may publish its output",
)


def closed_grant(told: Execution) -> Story:
    story = publishing().write(LEDGER, "e1", told)
    return story.write(PUBLICATIONS, "p1", msgspec.structs.replace(PUBLICATION, state="not_started"))


UNSENT = row("settled", envelope("not_started"), publication="p1")
good("closed-means-nothing-ran", lambda: closed_grant(UNSENT))
bad(
    "closed-means-nothing-ran",
    lambda: closed_grant(row("executing", publication="p1")),
    "p1 was closed as not started, and the ledger does not prove it",
)
bad(
    "closed-means-nothing-ran",
    lambda: closed_grant(UNSENT).spawn(),
    "e1 was spawned, and its grant was closed as not started",
)
bad(
    "closed-means-nothing-ran",
    lambda: (
        operated(publishing(), "pending")
        .write(LEDGER, "e1", UNSENT)
        .write(PUBLICATIONS, "p1", msgspec.structs.replace(PUBLICATION, state="not_started"))
    ),
    "p1 was closed as not started, and output of it is there",
)


def renews(story: Story, *names: str) -> Story:
    return story.ask("journal:a", "publications", RenewGrants("a", names))


good("renewals-stop", lambda: renews(publishing(), "p1"))
bad("renewals-stop", lambda: renews(publishing()), "session a renewed no grant at all")
bad(
    "renewals-stop",
    lambda: renews(publishing().record(TurnSettled("a.p1", "error")), "p1"),
    "p1 was renewed after its turn was settled",
)

good("operations-are-done", lambda: operated(publishing(), "pending", "retryable", "pending", "succeeded"))
bad(
    "operations-are-done",
    lambda: operated(operated(publishing(), "pending"), "pending", request="other", digest="other"),
    "p1/seg-stdout-0 stands for two pieces of output",
)
bad(
    "operations-are-done",
    lambda: operated(publishing(), "succeeded", "pending"),
    "p1/seg-stdout-0 had succeeded and is pending",
)
bad(
    "operations-are-done",
    lambda: publishing().write(
        OPERATIONS, "p1/seg-stdout-0", msgspec.structs.replace(OPERATION, state="succeeded")
    ),
    "p1/seg-stdout-0 is told to be durable, and the object store does not have it",
)

good("quota-holds", lambda: operated(publishing(), "pending", "succeeded"))
bad(
    "quota-holds",
    lambda: operated(publishing(), "pending", "succeeded", length=11),
    "p1 holds 11 bytes, and has a quota of 10",
)


def exhausted(reason: str) -> Story:
    story = operated(publishing(), "rejected", reason="quota_exhausted")
    return story.receipt("blocked", envelope("partial", reason=reason))


good("quota-is-told", lambda: exhausted("quota_exhausted"))
bad(
    "quota-is-told",
    lambda: exhausted("storage_failed"),
    "the quota of e1 is exhausted, and its receipt says storage_failed",
)


def unknown_to_broker() -> Story:
    refused = Failure("runtime_broker_execution_unknown", 409)
    return publishing().ask("harness:a", "broker", Status("e1"), refused)


good(
    "finished-is-sought",
    lambda: unknown_to_broker().ask("journal:a", "publications", ReadFinished("a", "p1")),
)
bad(
    "finished-is-sought",
    unknown_to_broker,
    "e1 is unknown to its broker, and nobody asked what its producer finished with",
)


def referred(told: Envelope, *more: Write) -> Story:
    """The blocked receipt of p1 in one transaction with these rows."""
    story = operated(to_worker(publishing()).run(), "pending", "succeeded")
    story.write(
        PUBLICATIONS,
        "p1",
        msgspec.structs.replace(PUBLICATION, phase="finished", envelope=envelope("partial")),
    )
    story.sequence += 1
    record = ToolReceipt("e1", "blocked", "manifest", "outcome", told)
    entry = Entry(story.sequence, "a.1", 1, record)
    writes = (*more, Write(JOURNAL.name, journal_key("a", story.sequence), entry))
    return story.tell(Committed(story.at, 0, 1, "ToolReceipt", writes, None))


TOGETHER = (
    Write(REFERENCES.name, "a/segment", ReferencedOutput("content", "d", 5, "p1/segment")),
    Write(
        PUBLICATIONS.name,
        "p1",
        msgspec.structs.replace(PUBLICATION, phase="referenced", envelope=envelope("partial")),
    ),
)
good("receipt-with-its-output", lambda: referred(envelope("partial"), *TOGETHER))
bad(
    "receipt-with-its-output",
    lambda: referred(envelope("partial"), TOGETHER[1]),
    "the receipt of e1 became durable without 1 of what it refers to",
)
bad(
    "receipt-with-its-output",
    lambda: referred(envelope("partial", reason="quota_exhausted"), *TOGETHER),
    "e1 is admitted with another result than its producer finished with",
)


def history_under(command: str) -> Story:
    story = publishing().write(LEDGER, "e1", row("settled", envelope(), publication="p1"))
    result = ToolResult("a.p1", 1, "e1", (answer("c1"),))
    return story.ask("journal:a", "store", Transact("a", command, (result,), (), TOKEN, 1, "a.1", 1))


good("history-has-one-id", lambda: history_under(f"recorder:{shell_history_id('e1')}"))
bad("history-has-one-id", lambda: history_under("a.p1.7"), "the history of e1 is written under a.p1.7")


def started_again(looks: int) -> Story:
    start = StartExecution("e1", PAYLOAD, "p1", BEARER)
    story = publishing().ask("harness:a", "broker", start, doubt="timeout")
    for _ in range(looks):
        story.ask("harness:a", "broker", Status("e1"), Observed("e1", "prepared", None, None))
    return story.ask("harness:a", "broker", start)


good("started-again-on-proof", lambda: started_again(10))
bad("started-again-on-proof", lambda: started_again(9), "the start of e1 was sent again after 9 proofs")


# --- the tests

NAMES = [check.name for check in CHECKS]


def found(name: str, story: Story) -> list[str]:
    return [finding.sentence for finding in judge(story.events, chosen([name]))]


# --- ill-formed text

ILL = ToolCall("c1", SHELL, '{"command": "make it \\ud800 so"}')
FIXED = Response(
    "c1",
    SHELL,
    "Hosted Shell command contains an unpaired UTF-16 surrogate. Provide valid Unicode and retry.",
    error=True,
)
SIBLING = Response("c2", SHELL, "Not executed: another call of this batch is invalid.", error=True)


def asked_ill() -> Story:
    """The model has answered with half a character in a command."""
    return Story().accept().infer(output=ModelOutput(calls=(ILL, SECOND)))


def refused_ill(*responses: Response) -> Story:
    """The same, refused with these responses."""
    told = responses or (FIXED, SIBLING)
    return asked_ill().assistant(ILL, SECOND).record(ToolResult("a.p1", 1, "", told))


def warm(story: Story) -> Story:
    return story.ask("harness:a", "broker", Warm("w"), Warmed(1))


TOUCHED = "was asked for a.p1, whose batch must be refused"
good("refused-text-touches-nothing", lambda: warm(refused_ill()).infer().acquire().register())
bad("refused-text-touches-nothing", lambda: asked_ill().acquire(), f"Acquire {TOUCHED}")
bad(
    "refused-text-touches-nothing",
    lambda: asked_ill().ask("harness:a", "journal:a", StageResource("w1.input", b"{}")),
    f"StageResource {TOUCHED}",
)
bad(
    "refused-text-touches-nothing",
    lambda: asked_ill().intent(),
    "ToolIntent was recorded for a.p1, whose batch must be refused",
)
bad(
    "refused-text-touches-nothing",
    lambda: refused_ill().release().infer(),
    "a.p1 released its Workspace for a refused batch, and went on",
)

OF_BATCH = "the refused batch of a.p1:"
good("refused-text-is-answered", lambda: refused_ill().infer())
bad(
    "refused-text-is-answered",
    lambda: refused_ill(FIXED),
    f"{OF_BATCH} 1 of 2 calls are answered together",
)
bad(
    "refused-text-is-answered",
    lambda: refused_ill(msgspec.structs.replace(FIXED, text="No."), SIBLING),
    f"{OF_BATCH} c1 is not told the fixed message for its command",
)
bad(
    "refused-text-is-answered",
    lambda: refused_ill(FIXED, msgspec.structs.replace(SIBLING, text="No.")),
    f"{OF_BATCH} c2 is not told that it was not executed",
)
bad(
    "refused-text-is-answered",
    lambda: refused_ill(FIXED, msgspec.structs.replace(SIBLING, error=False)),
    f"{OF_BATCH} c2 is told to have run",
)
bad(
    "refused-text-is-answered",
    lambda: asked_ill().assistant(ILL, SECOND).infer(),
    "the model of a.p1 is asked again before its refused batch was answered durably",
)

EMOJI = ToolCall("c1", SHELL, '{"command": "echo \\ud83d\\ude00"}')
good("valid-text-is-not-blamed", refused_ill)
bad(
    "valid-text-is-not-blamed",
    lambda: Story().assistant(EMOJI).record(ToolResult("a.p1", 1, "", (FIXED,))),
    "c1 is refused for its command, which is well-formed",
)

STANDS = "the value of refused text 1 of 1 stands in"
good("refused-value-stands-nowhere", lambda: refused_ill().infer(Message("model", calls=(ILL, SECOND))))
for text in (
    "make it \ud800 so",
    "make it \\ud800 so",
    "make it ? so",
    "no: make it ",
):
    bad(
        "refused-value-stands-nowhere",
        lambda text=text: refused_ill(msgspec.structs.replace(FIXED, text=text), SIBLING),
        f"{STANDS} Committed, outside of the call that the model made",
    )
bad(
    "refused-value-stands-nowhere",
    lambda: asked_ill().ask(
        "client", "harness:a", AwaitTurn("a.p1"), TurnEnded("error", "make it \ufffd so")
    ),
    f"{STANDS} Answered, outside of the call that the model made",
)
bad(
    "refused-value-stands-nowhere",
    lambda: asked_ill().act(Spawn("e1", "w1", "w", "make it \ud800 so".encode("utf-8", "surrogatepass"))),
    f"{STANDS} Acted, outside of the call that the model made",
)


def kept_and_shown(*shown: Message) -> Story:
    """A prompt and a refused batch in the journal, and a request that shows these."""
    asked = Message("user", "go")
    story = (
        Story()
        .record(UserMessage("a.p1", "go"))
        .infer(asked, output=ModelOutput(calls=(ILL,)))
        .assistant(ILL)
    )
    return story.record(ToolResult("a.p1", 1, "", (FIXED,))).infer(asked, *shown)


OTHER = "the model of a.p1 is shown another conversation than the journal of a keeps"
CALLED, SHOWN_FIXED = Message("model", calls=(ILL,)), Message("tool", responses=(FIXED,))
good("shown-as-recorded", lambda: kept_and_shown(CALLED, SHOWN_FIXED))
bad("shown-as-recorded", lambda: kept_and_shown(CALLED), OTHER)
bad("shown-as-recorded", lambda: kept_and_shown(CALLED, Message("tool", responses=(SIBLING,))), OTHER)
bad(
    "shown-as-recorded",
    lambda: kept_and_shown(
        CALLED, Message("tool", responses=(msgspec.structs.replace(FIXED, text="Done."),))
    ),
    OTHER,
)


# --- file tools


def captured_file() -> Story:
    """A worker asks for the capture of a file tool, and the listener refuses it."""
    return wrote_file().ask("worker:w", "publisher:a", PreparePublication(CAPABILITY, REFERENCE), REFUSED)


good("file-tools-have-no-receipt", whole_file)
bad("file-tools-have-no-receipt", lambda: wrote_file().receipt(), "file tool e1 has a receipt")
bad("file-tools-have-no-receipt", lambda: told_of_file().acknowledge(), "file tool e1 was acknowledged")
bad("file-tools-have-no-receipt", captured_file, "a capture was asked for file tool e1")

good("file-answer-is-told", whole_file)
bad(
    "file-answer-is-told",
    lambda: told_of_file("Wrote 2 bytes."),
    "the model is told something else of e1 than its tool answered",
)
bad(
    "file-answer-is-told",
    lambda: told_of_file(error=True),
    "the model is told an error is True of e1, which is success",
)
bad("file-answer-is-told", lambda: reserved_file().result(), "the model is told of e1, which is prepared")
bad(
    "file-answer-is-told",
    lambda: reserved_file().write(LEDGER, "e1", row("settled", NEVER, protocol=PROTOCOL)).result(),
    "file tool e1 has the status of a Shell that was never started",
)

good("file-history-stands-around", whole_file)
bad(
    "file-history-stands-around",
    lambda: wrote_file().act(WriteFile("e1", "w", "g", b"x")),
    "g was written, and the file history did not announce it",
)
bad(
    "file-history-stands-around",
    lambda: wrote_file().record(FileHistory("a.p1", 1, "snapshot", ())),
    "the snapshot of a.p1 lacks f",
)
bad("file-history-stands-around", lambda: wrote_file().settle(), "turn a.p1 settled without a snapshot of f")

good("listener-is-for-shell", lambda: ready())
bad(
    "listener-is-for-shell",
    lambda: Story().acquire().register().assistant(FILE),
    "round 1 of a.p1 has no Shell call, and a listener",
)

good("runtime-is-for-tools", lambda: opened().ask("harness:a", "broker", Warm("w"), Warmed(1)))
bad(
    "runtime-is-for-tools",
    lambda: opened("").ask("harness:a", "broker", Warm("w"), Warmed(1)),
    "a has no tools, and warms w",
)

good("session-stays-as-defined", lambda: opened().assistant().intent())
bad(
    "session-stays-as-defined",
    lambda: opened().record(ActivationChanged("a.2", 2, Definition(FILES_1, SAME_HOST))),
    "a is hosted-workspace-shell/1, and was opened as hosted-workspace-files/1",
)
bad("session-stays-as-defined", lambda: opened(provisioner="remote"), "a offers Shell on remote")
bad(
    "session-stays-as-defined",
    lambda: opened(FILES_1).assistant().intent(),
    "run_shell_command is executed for a, whose profile 'hosted-workspace-files/1' has no such tool",
)

bad(
    "effect-once-per-execution",
    lambda: wrote_file().act(WriteFile("e1", "w", "f", b"x")),
    "execution e1 wrote f a second time",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_check_has_nothing_to_say_of_a_good_history(name: str) -> None:
    assert found(name, GOOD[name]()) == []


@pytest.mark.parametrize(("name", "story", "sentence"), BAD)
def test_a_check_says_what_is_wrong_with_a_bad_history(name: str, story: Told, sentence: str) -> None:
    assert found(name, story()) == [sentence]


def test_every_check_has_a_good_and_a_bad_history() -> None:
    assert set(GOOD) == set(NAMES)
    assert {name for name, _, _ in BAD} == set(NAMES)


def test_names_are_unique_and_every_check_says_what_it_promises_and_where_that_is_written() -> None:
    assert len(set(NAMES)) == len(CHECKS)
    assert all(check.says.endswith(".") and check.cites for check in CHECKS)


def test_a_whole_turn_in_order_passes_every_check() -> None:
    assert judge(whole().events) == ()


@pytest.mark.parametrize("name", NAMES)
def test_the_start_of_a_check_is_hashable(name: str) -> None:
    (check,) = chosen([name])
    assert hash(check.start) == hash(check.start)


def test_every_state_that_a_whole_turn_leads_to_is_hashable() -> None:
    events = whole().events
    bench = Judge(CHECKS, events)
    bench.see(events)
    assert all(hash(state) == hash(state) for states in bench.states for state in states.values())


def test_a_finding_names_its_check_and_its_time() -> None:
    story = Story().later(7).spawn().later(5).spawn()
    assert judge(story.events, chosen(["effect-once-per-execution"])) == (
        Finding("effect-once-per-execution", 12, "execution e1 was spawned a second time"),
    )


def test_judging_event_by_event_finds_the_same_as_judging_at_once() -> None:
    events = ready().start().start().infer().events
    bench = Judge(CHECKS, events)
    for event in events:
        bench.see([event])
    assert bench.end() == judge(events) != ()


def test_an_unknown_check_is_told_with_the_nearest_names() -> None:
    with pytest.raises(UnknownCheck) as told:
        chosen(["order", "dispatch-twice"])
    assert told.value.nearest[0] == "dispatch-once"
    assert str(told.value).startswith("no check is named 'dispatch-twice'; nearest: dispatch-once")


def test_an_altered_byte_at_rest_is_no_overwriting_of_anybodys() -> None:
    rotten = StoredResource("manifest", "", b"manifesu")
    story = Story().publish().write(RESOURCES, "a/manifest", rotten, label="rot")
    assert found("immutable-resources", story) == []


def test_a_rival_that_strikes_by_fiat_is_no_writer_of_the_run() -> None:
    story = writers(writer("one", 1)).write(WRITERS, "a", writer("rival", 2), label="ReplaceWriter")
    assert found("writer-generation", story) == []


def test_a_new_life_may_send_what_an_old_one_sent() -> None:
    story = send(Story(), COMMIT, 1)
    story.tell(Booted(0, "owner:a", 2))
    assert found("one-command-one-content", send(story, OTHERWISE, 1)) == []


def test_a_dead_owner_has_no_listener_and_a_dead_worker_no_process() -> None:
    story = ready().dispatch().spawn().tell(Crashed(0, "worker:w")).tell(Crashed(0, "owner:a"))
    story.settled().release().register().close().ended()
    assert found("no-release-while-live", story) == found("listener-closes-with-its-turn", story) == []


def test_a_dead_owner_cannot_ask_and_what_was_dispatched_is_no_reservation() -> None:
    orphan = ready().tell(Crashed(0, "owner:a")).tell(Healed(0))
    running = ready().start().dispatch().tell(Healed(0))
    assert found("no-reservation-left-behind", orphan) == found("no-reservation-left-behind", running) == []


@pytest.mark.parametrize(
    "emit",
    [
        WARNED,
        Emit("e1", STDERR, b"\x1b[0m"),
        Emit("e1", STDERR, b"\n"),
        Emit("e1", STDOUT, b"late", late=True),
    ],
)
def test_a_preview_may_end_with_either_stream_and_need_not_show_what_is_late_or_unprintable(
    emit: Emit,
) -> None:
    assert found("envelope-tells-what-happened", ended(0, "", emit)) == []


def test_a_turn_that_is_told_to_be_blocked_may_be_settled() -> None:
    assert found("settled-as-told", Story().ended("recovery-blocked").settle()) == []


@pytest.mark.parametrize("story", [claimed(409, by="b"), claimed(409, "released")])
def test_a_refusal_is_true_of_who_holds_nothing_by_this_acquisition(story: Story) -> None:
    assert found("refused-holds-nothing", story) == []


def test_what_was_sent_to_the_store_before_the_close_may_arrive_after_it() -> None:
    assert found("nothing-commits-after-close", publishes(late=True)) == []


def test_what_an_outsider_asks_is_no_step_of_a_turn_and_what_it_changes_of_its_own_is_its_own() -> None:
    acknowledged = intrusion(Acknowledge("e1", CROSSED), Failure("conflict", 409), "broker")
    story = intrusion(Acquire("intruder", "intruder.p1", "w"), Lease("intruder.p1", "w"), "broker")
    broker = story.script("broker", story.exchange, story.script("intruder"))
    story.write(LEASES, "w", WorkspaceLease("holder of intruder.p1", "intruder"), broker)

    assert judge(acknowledged.events) == judge(story.events) == ()


def test_who_cannot_be_answered_because_of_a_fault_need_not_be() -> None:
    struck = Struck(0, 1, "call", "RenewWriter", 1, "crash-waiting")
    assert found("outsider-is-told", intrusion(FORGED_END, None).tell(struck)) == []


def test_a_write_that_never_arrived_runs_nowhere() -> None:
    assert found("one-after-another", closed(arrived=False)) == []


def test_a_cancellation_may_tell_a_state_that_has_passed() -> None:
    story = tells("settled", observed("cancel_requested"), CancelExecution("e1"))
    assert found("told-as-the-ledger-says", story) == []


def test_two_lost_looks_and_one_more_are_not_three_in_a_row() -> None:
    assert found("gone-runtime-is-lost", looks(True, True, False, True)) == []


def test_a_cancelled_call_needs_no_execution_and_no_acknowledgement() -> None:
    story = never(ready()).receipt("not_started", envelope("not_started")).result().resolve()
    assert found("order", story.infer().consume().release()) == []


# --- totality

EVENTS = [
    event
    for told in (whole, forged, entrusted, blocked, lambda: never(ready()), lambda: send(Story(), COMMIT, 4))
    for event in told().events
]


@settings(max_examples=60, deadline=None)
@given(st.permutations(EVENTS), st.integers(0, len(EVENTS)))
def test_no_order_of_events_and_no_end_of_a_history_makes_a_check_raise(
    events: list[Event], length: int
) -> None:
    assert isinstance(judge(events[:length]), tuple)
    assert outcome(events[:length]).exhausted == ""


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(EVENTS), max_size=80))
def test_no_history_made_of_any_events_makes_a_check_raise(events: list[Event]) -> None:
    assert isinstance(judge(events), tuple)


# --- outcomes


def test_the_outcome_of_a_whole_turn() -> None:
    told = outcome(whole().events)
    assert told.turns == (TurnOutcome("a", "a.p1", "completed", "", 2),)
    (execution,) = told.executions
    assert (execution.execution, execution.session, execution.model_call) == ("e1", "a", "c1")
    assert (execution.starts, execution.dispatches, execution.spawns, execution.acknowledgements) == (
        1,
        1,
        1,
        1,
    )
    assert (execution.ledger, execution.status, execution.receipt, execution.results) == (
        "settled",
        "success",
        "committed",
        1,
    )
    assert told.leases == (("w", ""),)
    assert told.phases == (("a", "before_model"),)
    assert (told.loads, told.probes, told.exhausted) == ((), (), "")


def test_a_dead_owners_turn_is_blocked_when_a_new_owner_is_refused_and_its_lease_stays() -> None:
    refusal = Failure("hosted_turn_recovery_required", 409)
    story = ready().ask("client", "harness:a", AwaitTurn("a.p1"), doubt="transport")
    story.tell(Crashed(0, "owner:a")).tell(Healed(0))
    story.ask("client", "harness:probe-w", Prompt("probe-w.p1", "go"), Admitted(1))
    story.ask("client", "harness:probe-w", AwaitTurn("probe-w.p1"), TurnEnded("error", "workspace_busy"))
    story.ask("client", "harness:a", LoadSession("a"), refusal)
    told = outcome(story.ask("client", "harness:a", LoadSession("a"), refusal).events)
    assert told.turns == (TurnOutcome("a", "a.p1", "recovery-blocked", "hosted_turn_recovery_required", 1),)
    assert told.loads == (Loads("a", "hosted_turn_recovery_required", "hosted_turn_recovery_required", True),)
    assert told.probes == (TurnOutcome("probe-w", "probe-w.p1", "error", "workspace_busy", 0),)
    assert told.lease("w") == "a"


ENDINGS: list[tuple[Told, str, str]] = [
    (lambda: Story().accept().assistant().result("").settle().ended(), "completed after refusal", ""),
    (lambda: Story().accept().assistant().result("").ended("error"), "uncorrected", ""),
    (lambda: Story().accept().ended("cancelled"), "cancelled", ""),
    (lambda: Story().accept().ended("recovery-blocked"), "recovery-blocked", ""),
    (lambda: Story().accept().settle(), "completed", ""),
    (
        lambda: Story().ask("client", "harness:a", Prompt("a.p1", "go"), Failure("hosted_turn_active", 409)),
        "not accepted",
        "hosted_turn_active",
    ),
    (lambda: Story().accept().tell(Exhausted(9, "budget")), "ran out", "budget"),
    (lambda: Story().accept(), "recovery-blocked", "unsettled"),
]


@pytest.mark.parametrize(("story", "ending", "reason"), ENDINGS)
def test_how_a_turn_ended(story: Told, ending: str, reason: str) -> None:
    (turn,) = outcome(story().events).turns
    assert (turn.ending, turn.reason) == (ending, reason)


def test_a_prompt_that_nobody_sent_was_not_accepted() -> None:
    assert outcome([]).ending("a.p9") == "not accepted"


def test_cold_loads_that_differ_are_told_apart() -> None:
    story = Story().tell(Healed(0)).ask("client", "harness:a", LoadSession("a"), Loaded("a.2", 2))
    story.ask("client", "harness:a", LoadSession("a"), Failure("managed_session_writer_conflict", 409))
    assert outcome(story.events).loads == (Loads("a", "loaded", "managed_session_writer_conflict", False),)


def test_a_table_that_no_check_knows_is_no_trouble() -> None:
    assert judge(Story().write(BINDINGS, "w", RuntimeBinding(1, "ready")).events) == ()
