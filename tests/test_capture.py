"""Publisher and worker over a real journal and Store: what is captured, what is admitted, what fails for ever."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from msgspec.structs import replace

from sim.actor import Actor
from sim.actors.journal import Journal
from sim.actors.publisher import Publisher
from sim.actors.store import Store
from sim.actors.worker import Worker
from sim.deeds import Emit, ExitProcess, Spawn
from sim.design import SCALED, Design, capture
from sim.design.design import catalogue
from sim.effects import Call, Effect, Failed, Secret, Sleep, Uncertain
from sim.facts import RESOURCES
from sim.history import Acted, Asked, Decided, Event, History, Learned
from sim.kernel import Kernel
from sim.points import ACT, CALL, Fate, Plan, Point, Sighting, Strike
from sim.protocol import (
    FOREGROUND_SHELL,
    SHELL,
    STDERR,
    STDOUT,
    AcceptCapture,
    Append,
    Binding,
    Checkpoint,
    ClosePublisher,
    Confirm,
    Deactivate,
    Descriptor,
    Envelope,
    Execute,
    FinalizeCapture,
    FinishOutput,
    Halt,
    InstallPublisher,
    Observe,
    OpenJournal,
    OpenPublisher,
    Physical,
    PreparePublication,
    Projection,
    ReadOutput,
    Receipt,
    Reference,
    RegisterCapture,
    StageResource,
    TakeReceipt,
    ToolIntent,
    WorkerState,
    WriteOutput,
)
from sim.rule import Rule
from sim.scenario import Exit, Pass, Print, Program, Step, Touch
from sim.shell.drain import Tail
from sim.shell.process import Pipe
from sim.storage.memory import MemoryDatabase, MemoryOutside
from sim.text import tool_digest

ARGUMENTS: dict[str, object] = {"command": "make", "is_background": False}
PAYLOAD = json.dumps({"toolName": SHELL, "input": ARGUMENTS}).encode()
LIMITS = SCALED.limits
LENGTHS = [
    0,
    1,
    *(n * LIMITS.segment + more - len(b"abcdefg") for n in (1, 2, 3, 4, 9) for more in (-1, 0, 1)),
]
DIGEST = tool_digest(ARGUMENTS)
REFERENCE = Reference("e1", "w1", "p1", 1, DIGEST)
PHYSICAL = Physical("success", 0, "", "", False, False)
PUBLISHER, JOURNAL, WORKER = "publisher:s", "journal:s", "worker:w"

Play = Callable[["Driver"], Coroutine[Effect[Any], Any, None]]


class Driver(Actor):
    """Does what an owner, a broker or a worker would do, as a test says; keeps what it was told."""

    def __init__(self, play: Play) -> None:
        self.play = play
        self.told: list[Any] = []
        self.bearer = Secret("none", "")
        self.descriptor = Descriptor("", self.bearer)

    async def boot(self) -> None:
        await self.play(self)

    async def note(self, to: str, request: Any) -> Any:
        """Ask, and keep the answer or the code of the refusal."""
        try:
            answer = await Call(to, request)
        except Failed as refusal:
            answer = refusal.code
        except Uncertain as doubt:
            answer = f"uncertain {doubt.cause}"
        self.told.append(answer)
        return answer

    async def own(
        self, phase: str = "await_runtime", state: str = "dispatch", args: bytes = b""
    ) -> Projection:
        """Everything that precedes a dispatch: journal, intent, checkpoint, listener, registration."""
        projection = await Call(JOURNAL, OpenJournal("s", FOREGROUND_SHELL))
        await Call(JOURNAL, StageResource("args", args or json.dumps(ARGUMENTS).encode()))
        intent = ToolIntent("p1", "e1", "m1", "w1", DIGEST, "args", "managed-tool/v3")
        appended = await Call(JOURNAL, Append("c1", (intent,), ("args",)))
        binding = Binding("e1", "m1", "w1", DIGEST, state)
        at = (projection.activation, projection.epoch, appended.last, (binding,))
        await Call(JOURNAL, Append("c2", (Checkpoint(phase, "p1", *at),)))
        self.descriptor = await Call(PUBLISHER, OpenPublisher("p1"))
        self.bearer = self.descriptor.capability
        await Call(PUBLISHER, RegisterCapture(REFERENCE, "m1", "p1", "args"))
        return projection

    async def stream(self, name: str, content: bytes) -> None:
        """What a worker's proxy does with one stream."""
        await self.note(PUBLISHER, WriteOutput(self.bearer, "e1", name, 0, content))
        await self.note(PUBLISHER, FinishOutput(self.bearer, "e1", name, True))

    async def capture(self, out: bytes = b"out", err: bytes = b"err") -> Envelope:
        """A whole capture up to its envelope."""
        await self.own()
        await self.note(PUBLISHER, PreparePublication(self.bearer, REFERENCE))
        await self.stream(STDOUT, out)
        await self.stream(STDERR, err)
        return await self.note(PUBLISHER, FinalizeCapture(self.bearer, "e1", PHYSICAL))

    async def execute(self) -> WorkerState:
        """Dispatch, and look until the worker is done."""
        await self.own()
        await self.note(WORKER, InstallPublisher("p1", 1, self.descriptor))
        await self.note(WORKER, Execute(REFERENCE, PAYLOAD))
        return await self.observe()

    async def observe(self) -> WorkerState:
        while True:
            seen = await Call(WORKER, Observe(REFERENCE))
            if seen.state != "executing":
                return seen
            await Sleep(100)


class World:
    """One run of a driver's play, and what there is to see afterwards."""

    def __init__(
        self,
        play: Play,
        steps: tuple[Step, ...] = (),
        design: Design = SCALED,
        plan: Plan | None = None,
        watcher: Callable[[Sighting], None] | None = None,
    ) -> None:
        limits = design.limits
        self.database, self.outside = MemoryDatabase(), MemoryOutside()
        kernel = Kernel(self.database, self.outside, design, plan or Plan(), watcher=watcher)
        self.driver = Driver(play)
        kernel.host("client", "client", lambda _life: self.driver)
        kernel.host("store", "store", lambda _life: Store(kernel.disk, kernel.ask, limits), restarts=True)
        kernel.host(JOURNAL, "owner:s", lambda life: Journal("s", life, kernel.ask, limits), restarts=True)
        kernel.host(PUBLISHER, "owner:s", lambda life: Publisher("s", life, kernel.ask, limits))
        program = Program("make", steps)
        kernel.host(
            WORKER,
            WORKER,
            lambda life: Worker("w", life, kernel.ask, limits, lambda _: program),
            restarts=True,
        )
        self.history: History = kernel.run("client")

    @property
    def events(self) -> list[Event]:
        return self.history.events

    @property
    def told(self) -> list[Any]:
        return self.driver.told

    def deeds(self, kind: type[Any]) -> list[Any]:
        """What was done to the world outside."""
        return [each.deed for each in self.events if isinstance(each, Acted) and isinstance(each.deed, kind)]

    def emitted(self, stream: str) -> bytes:
        """What the command itself wrote."""
        return b"".join(d.content for d in self.deeds(Emit) if d.stream == stream and not d.late)

    def asked(self, kind: type[Any]) -> list[Any]:
        return [
            each.request for each in self.events if isinstance(each, Asked) and isinstance(each.request, kind)
        ]

    def stored(self, kind: str) -> list[bytes]:
        rows = self.database.rows(RESOURCES, "s/")
        return [row.content for _, row in rows if row.kind == kind]


def settled(world: World, state: WorkerState) -> tuple[Envelope, Receipt]:
    assert state.state == "settled", (state, world.told)
    assert state.envelope is not None
    assert state.receipt is not None
    return state.envelope, state.receipt


def executed(
    steps: tuple[Step, ...], design: Design = SCALED, plan: Plan | None = None
) -> tuple[World, WorkerState]:
    states: list[WorkerState] = []

    async def play(driver: Driver) -> None:
        state = await driver.execute()
        states.append(state)

    world = World(play, steps, design, plan)
    assert states, [event for event in world.events if isinstance(event, Learned)]
    assert world.history.missed == ()
    return world, states[0]


def strike(actor: str, door: str, label: str, nth: int, fate: str, steps: tuple[Step, ...]) -> Plan:
    """The fate at the first point of this label that a clean run reaches as the nth of its script."""
    seen: list[Point] = []

    async def play(driver: Driver) -> None:
        await driver.execute()

    World(play, steps, watcher=lambda sighting: seen.append(sighting.point))
    wanted = [p for p in seen if (p.actor, p.door, p.label, p.nth) == (actor, door, label, nth)]
    return Plan((Strike(wanted[0], Fate(fate)),))


def output(out: int, err: int = 0) -> tuple[Step, ...]:
    return (
        Touch("log", "x"),
        Print(STDOUT, b"abcdefg", 1),
        Print(STDOUT, b"o", out),
        Print(STDERR, b"e", err),
    )


# --- complete output ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", LENGTHS)
def test_a_complete_capture_is_what_the_command_wrote(length: int) -> None:
    """With the scaled limits, each of these lengths is at, below or above the end of some segment or page."""
    world, state = executed(output(length, length // 2))
    envelope, receipt = settled(world, state)
    kept = envelope.capture
    assert kept is not None
    assert (kept.status, kept.reason, envelope.status, receipt.delivery) == (
        "complete",
        "",
        "success",
        "committed",
    )
    assert receipt.history_revision > 0
    for seal in kept.seals:
        written = world.emitted(seal.stream)
        assert (seal.length, seal.digest) == (len(written), hashlib.sha256(written).hexdigest())
        assert seal.segments == -(-len(written) // LIMITS.segment)
    assert all(len(content) <= LIMITS.segment for content in world.stored("content"))
    assert len(world.emitted(STDOUT)) == length + 7
    assert world.outside.read("w", "log") == b"x\n"
    assert len(world.deeds(Spawn)) == 1


def test_the_receipt_is_told_again_only_for_exactly_its_envelope() -> None:
    async def play(driver: Driver) -> None:
        state = await driver.execute()
        assert state.envelope is not None
        await driver.note(PUBLISHER, TakeReceipt("e1", state.envelope))
        await driver.note(PUBLISHER, TakeReceipt("e1", replace(state.envelope, exit_code=3)))
        driver.told.append(state.receipt)

    world = World(play, output(10))
    taken, refused, receipt = world.told[-3:]
    assert taken == receipt
    assert refused == "hosted_shell_publication_failed"


def test_output_is_read_again_in_bounded_ranges_before_the_receipt() -> None:
    world, _ = executed(output(1000))
    reads = world.asked(ReadOutput)
    assert len(reads) > 1000 // LIMITS.reread
    assert all(read.end - read.start <= LIMITS.reread for read in reads)


# --- the offset automaton -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [0, 2, 4, 100])
def test_a_write_at_any_other_offset_fails_the_capture_for_ever(offset: int) -> None:
    async def play(driver: Driver) -> None:
        await driver.own()
        await driver.note(PUBLISHER, PreparePublication(driver.bearer, REFERENCE))
        await driver.note(PUBLISHER, WriteOutput(driver.bearer, "e1", STDOUT, 0, b"abc"))
        await driver.note(PUBLISHER, WriteOutput(driver.bearer, "e1", STDOUT, offset, b"def"))
        await driver.note(PUBLISHER, WriteOutput(driver.bearer, "e1", STDOUT, 3, b"def"))
        await driver.note(PUBLISHER, FinishOutput(driver.bearer, "e1", STDOUT, True))
        await driver.note(PUBLISHER, FinishOutput(driver.bearer, "e1", STDERR, True))
        envelope = await driver.note(PUBLISHER, FinalizeCapture(driver.bearer, "e1", PHYSICAL))
        await driver.note(PUBLISHER, AcceptCapture(driver.bearer, "e1", envelope))

    _, first, other, right, *_, envelope, receipt = World(play).told
    assert first.length == 3
    assert other == right == "hosted_shell_publication_failed"
    assert (envelope.capture.status, envelope.capture.reason) == ("unavailable", "producer_lost")
    assert (envelope.status, envelope.exit_code) == ("success", 0)
    assert (receipt.delivery, receipt.history_revision) == ("blocked", 0)


@pytest.mark.parametrize(
    ("refused", "code"),
    [
        (lambda b: WriteOutput(b, "e1", "stdin", 0, b"a"), "hosted_shell_publication_failed"),
        (lambda b: WriteOutput(b, "e2", STDOUT, 0, b"a"), "hosted_shell_publication_failed"),
        (
            lambda b: WriteOutput(b, "e1", STDOUT, 0, b"a" * (LIMITS.write + 1)),
            "hosted_shell_publication_invalid",
        ),
        (
            lambda _: WriteOutput(Secret("x", "x"), "e1", STDOUT, 0, b"a"),
            "hosted_shell_publication_unauthorized",
        ),
    ],
)
def test_what_is_no_write_of_this_capture_changes_nothing(
    refused: Callable[[Secret], WriteOutput], code: str
) -> None:
    async def play(driver: Driver) -> None:
        await driver.own()
        await driver.note(PUBLISHER, PreparePublication(driver.bearer, REFERENCE))
        await driver.note(PUBLISHER, refused(driver.bearer))
        await driver.stream(STDOUT, b"a")
        await driver.stream(STDERR, b"")
        await driver.note(PUBLISHER, FinalizeCapture(driver.bearer, "e1", PHYSICAL))

    told = World(play).told
    assert told[1] == code
    assert told[-1].capture.status == "complete"


def test_bytes_after_the_end_of_a_stream_fail_the_capture() -> None:
    async def play(driver: Driver) -> None:
        await driver.own()
        await driver.note(PUBLISHER, PreparePublication(driver.bearer, REFERENCE))
        await driver.stream(STDOUT, b"a")
        await driver.note(PUBLISHER, WriteOutput(driver.bearer, "e1", STDOUT, 1, b"late"))
        await driver.stream(STDERR, b"")
        await driver.note(PUBLISHER, FinalizeCapture(driver.bearer, "e1", PHYSICAL))

    assert World(play).told[-1].capture.reason == "producer_lost"


# --- finalize and accept --------------------------------------------------------------------------------------------


def test_finalize_is_memoised_and_accept_takes_only_its_envelope() -> None:
    async def play(driver: Driver) -> None:
        envelope = await driver.capture()
        forged = replace(envelope, exit_code=1)
        changed = replace(PHYSICAL, exit_code=7)
        await driver.note(PUBLISHER, FinalizeCapture(driver.bearer, "e1", changed))
        await driver.note(PUBLISHER, AcceptCapture(driver.bearer, "e1", forged))
        await driver.note(PUBLISHER, AcceptCapture(driver.bearer, "e1", envelope))
        await driver.note(PUBLISHER, AcceptCapture(driver.bearer, "e1", envelope))
        await driver.note(PUBLISHER, AcceptCapture(driver.bearer, "e1", forged))

    world = World(play)
    *_, first, second, forged, receipt, again, later = world.told
    assert first == second
    assert receipt.delivery == "committed"
    assert receipt == again
    assert forged == later == "hosted_shell_publication_failed"
    assert len(world.stored("manifest")) == 1


def test_output_that_changed_in_the_store_gets_no_receipt_until_it_is_whole_again() -> None:
    world: list[World] = []

    def spoil(content: bytes) -> None:
        # The rows of the run's own database, between two requests of the driver.
        database = disks[0]
        key, row = next(each for each in database.rows(RESOURCES, "s/") if each[1].kind == "content")
        database.tables[RESOURCES.name][key] = replace(row, content=content)

    async def play(driver: Driver) -> None:
        envelope = await driver.capture(b"out", b"")
        spoil(b"oUt")
        await driver.note(PUBLISHER, AcceptCapture(driver.bearer, "e1", envelope))
        spoil(b"out")
        await driver.note(PUBLISHER, AcceptCapture(driver.bearer, "e1", envelope))

    disks: list[MemoryDatabase] = []

    class Watched(World):
        def __setattr__(self, name: str, value: Any) -> None:
            super().__setattr__(name, value)
            if name == "database":
                disks.append(value)

    world.append(Watched(play))
    refused, receipt = world[0].told[-2:]
    assert refused == "hosted_shell_publication_failed"
    assert receipt.delivery == "committed"


# --- before spawn ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        {"phase": "results_ready"},
        {"state": "settled"},
        {"args": json.dumps({"command": "rm", "is_background": False}).encode()},
        {"args": b"no json"},
    ],
)
def test_nothing_is_spawned_when_the_mapping_does_not_hold(wrong: dict[str, Any]) -> None:
    async def play(driver: Driver) -> None:
        await driver.own(**wrong)
        await driver.note(WORKER, InstallPublisher("p1", 1, driver.descriptor))
        await driver.note(WORKER, Execute(REFERENCE, PAYLOAD))

    world = World(play, output(1))
    assert world.told[-1] == "managed_context_unavailable"
    assert world.deeds(Spawn) == []


def test_nothing_is_spawned_for_another_reference_or_without_a_publisher() -> None:
    async def play(driver: Driver) -> None:
        await driver.own()
        await driver.note(WORKER, Execute(REFERENCE, PAYLOAD))
        await driver.note(WORKER, InstallPublisher("p1", 1, driver.descriptor))
        await driver.note(WORKER, Execute(replace(REFERENCE, worker_call="w2"), PAYLOAD))
        await driver.note(WORKER, Execute(replace(REFERENCE, generation=2), PAYLOAD))
        await driver.note(WORKER, Execute(REFERENCE, PAYLOAD + b" "))
        await driver.observe()
        await driver.note(WORKER, Execute(REFERENCE, PAYLOAD.replace(b"make", b"Make")))
        await driver.note(WORKER, Execute(REFERENCE, PAYLOAD[:-1] + b"|"))

    world = World(play, output(1))
    assert [answer for answer in world.told if isinstance(answer, str)] == [
        "managed_context_unavailable",
        "managed_context_unavailable",
        "managed_runtime_identity_conflict",
        "managed_runtime_identity_conflict",
        "managed_runtime_identity_conflict",
    ]
    assert len(world.deeds(Spawn)) == 1


@pytest.mark.parametrize(
    ("url", "right"),
    [
        ("http://127.0.0.1:1/internal/hosted-shell-publisher/v1", True),
        ("http://127.0.0.1:65535/internal/hosted-shell-publisher/v1", True),
        ("http://127.0.0.1:65536/internal/hosted-shell-publisher/v1", False),
        ("http://127.0.0.1:0/internal/hosted-shell-publisher/v1", False),
        ("http://127.0.0.1:080/internal/hosted-shell-publisher/v1", False),
        ("http://127.0.0.1/internal/hosted-shell-publisher/v1", False),
        ("http://localhost:80/internal/hosted-shell-publisher/v1", False),
        ("https://127.0.0.1:80/internal/hosted-shell-publisher/v1", False),
        ("http://u@127.0.0.1:80/internal/hosted-shell-publisher/v1", False),
        ("http://127.0.0.1:80/internal/hosted-shell-publisher/v1?a", False),
        ("http://127.0.0.1:80/internal/hosted-shell-publisher/v1\n", False),
    ],
)
def test_a_worker_takes_only_a_canonical_loopback_address(url: str, right: bool) -> None:
    async def play(driver: Driver) -> None:
        await driver.own()
        await driver.note(WORKER, InstallPublisher("p1", 1, replace(driver.descriptor, url=url)))

    (answer,) = World(play).told
    assert (answer == "managed_runtime_attestation_invalid") is not right


def test_a_descriptor_is_immutable() -> None:
    async def play(driver: Driver) -> None:
        await driver.own()
        other = replace(driver.descriptor, capability=Secret("other", "A" * 43))
        short = replace(driver.descriptor, capability=Secret("short", "A"))
        await driver.note(WORKER, InstallPublisher("p1", 1, driver.descriptor))
        await driver.note(WORKER, InstallPublisher("p1", 1, driver.descriptor))
        await driver.note(WORKER, InstallPublisher("p1", 1, other))
        await driver.note(WORKER, InstallPublisher("p1", 1, short))

    first, again, other, short = World(play).told
    assert first == again
    assert other == "managed_runtime_identity_conflict"
    assert short == "managed_runtime_attestation_invalid"


def test_a_closed_listener_takes_nothing_and_keeps_what_is_retained() -> None:
    async def play(driver: Driver) -> None:
        await driver.capture()
        await driver.note(PUBLISHER, ClosePublisher("p1"))
        await driver.note(PUBLISHER, FinalizeCapture(driver.bearer, "e1", PHYSICAL))
        await driver.note(PUBLISHER, FinalizeCapture(Secret("x", ""), "e1", PHYSICAL))
        reopened = await Call(PUBLISHER, OpenPublisher("p2"))
        assert reopened.capability != driver.bearer
        await driver.note(PUBLISHER, FinalizeCapture(driver.bearer, "e1", PHYSICAL))

    world = World(play)
    assert world.told[-3:] == [
        "uncertain server",
        "hosted_shell_publication_unauthorized",
        "hosted_shell_publication_unauthorized",
    ]
    assert len(world.stored("content")) == 2


# --- the worker -----------------------------------------------------------------------------------------------------


def test_the_identical_request_joins_and_a_copy_never_spawns() -> None:
    async def play(driver: Driver) -> None:
        await driver.execute()
        await driver.note(WORKER, Execute(REFERENCE, PAYLOAD))

    world = World(play, output(10))
    assert world.told[-1].state == "settled"
    assert len(world.deeds(Spawn)) == 1


def test_a_stopped_process_is_cancelled_and_its_output_so_far_is_kept() -> None:
    async def play(driver: Driver) -> None:
        await driver.own()
        await driver.note(WORKER, InstallPublisher("p1", 1, driver.descriptor))
        await driver.note(WORKER, Execute(REFERENCE, PAYLOAD))
        await Sleep(500)
        await driver.note(WORKER, Halt(REFERENCE))
        seen = await driver.observe()
        driver.told.append(seen)

    world = World(play, (Print(STDOUT, b"so far"), Pass(60_000), Print(STDOUT, b"never")))
    envelope, receipt = settled(world, world.told[-1])
    assert (envelope.status, envelope.signal, envelope.preview) == ("cancelled", "SIGTERM", "so far")
    assert receipt.delivery == "committed"
    assert [deed.signal for deed in world.deeds(ExitProcess)] == ["SIGTERM"]


def test_a_command_over_its_time_is_killed_and_is_an_error() -> None:
    world, state = executed((Print(STDOUT, b"x"), Pass(200_000)))
    envelope, _ = settled(world, state)
    assert (envelope.status, envelope.signal, envelope.preview) == ("error", "SIGTERM", "x")


def test_a_write_that_was_not_answered_fails_the_capture_but_not_the_process() -> None:
    steps = (*output(300, 10), Touch("log", "end"), Exit(3))
    for fate in ("request-lost", "reply-lost", "refused"):
        plan = strike(WORKER, CALL, "WriteOutput.stdout", 2, fate, steps)
        world, state = executed(steps, plan=plan)
        envelope, receipt = settled(world, state)
        kept = envelope.capture
        assert kept is not None
        assert (envelope.status, envelope.exit_code, kept.status) == ("error", 3, "unavailable")
        assert receipt.delivery == "blocked"
        assert len(world.asked(WriteOutput)) == 2
        assert world.outside.read("w", "log") == b"x\nend\n"


def test_a_finish_that_was_not_answered_blocks_although_both_seals_are_durable() -> None:
    steps = output(100, 10)
    plan = strike(WORKER, CALL, "FinishOutput.stderr", 1, "reply-lost", steps)
    world, state = executed(steps, plan=plan)
    envelope, receipt = settled(world, state)
    assert envelope.capture is not None
    assert (len(envelope.capture.seals), envelope.capture.status) == (2, "partial")
    assert receipt.delivery == "blocked"


@pytest.mark.parametrize("label", ["FinalizeCapture", "AcceptCapture"])
@pytest.mark.parametrize("fate", ["request-lost", "reply-lost", "refused"])
def test_a_lost_result_leaves_the_execution_unknown(label: str, fate: str) -> None:
    plan = strike(WORKER, CALL, label, 1, fate, output(10))
    world, state = executed(output(10), plan=plan)
    assert (state.state, state.envelope, state.receipt) == ("unknown", None, None)
    assert len(world.asked(FinalizeCapture)) == 1


def test_a_failed_publication_is_partial_and_blocked() -> None:
    plan = strike(JOURNAL, CALL, "Publish.content", 1, "refused", output(300))
    world, state = executed(output(300), plan=plan)
    envelope, receipt = settled(world, state)
    assert envelope.capture is not None
    assert envelope.capture.reason == "storage_failed"
    assert receipt.delivery == "blocked"
    assert len(world.emitted(STDOUT)) == 307


def test_late_bytes_of_a_detached_child_are_dropped() -> None:
    steps = (Print(STDOUT, b"own"), Exit(0), Print(STDOUT, b"at once"), Pass(2), Print(STDOUT, b"late", 99))
    world, state = executed(steps)
    envelope, _ = settled(world, state)
    assert envelope.capture is not None
    assert envelope.capture.status == "complete"
    assert envelope.capture.seals[0].digest == hashlib.sha256(b"own").hexdigest()
    assert envelope.preview == "own"
    assert any(deed.late for deed in world.deeds(Emit))


def test_late_bytes_that_are_sent_on_spoil_the_capture() -> None:
    steps = (Print(STDOUT, b"own"), Exit(0), Print(STDOUT, b"at once"))
    world, state = executed(steps, SCALED.replacing(capture.forwards_chunk, lambda finish_queued: True))
    envelope = state.envelope
    assert envelope is not None
    assert envelope.capture is not None
    written = hashlib.sha256(world.emitted(STDOUT)).hexdigest()
    assert envelope.capture.seals == () or envelope.capture.seals[0].digest != written


def test_a_command_that_cannot_start_did_nothing_and_says_so() -> None:
    plan = strike(WORKER, ACT, "Spawn", 1, "act-failed", output(10))
    world, state = executed(output(10), plan=plan)
    envelope, receipt = settled(world, state)
    assert (envelope.status, envelope.exit_code, receipt.delivery) == ("error", 127, "committed")
    assert world.deeds(Emit) == []
    assert world.outside.files == {}


def test_acknowledgement_is_exact_and_a_used_session_can_be_forgotten() -> None:
    async def play(driver: Driver) -> None:
        state = await driver.execute()
        assert state.receipt is not None
        other = replace(state.receipt, history_revision=99)
        await driver.note(WORKER, Confirm(REFERENCE, other))
        await driver.note(WORKER, Confirm(REFERENCE, state.receipt))
        await driver.note(WORKER, Confirm(REFERENCE, state.receipt))
        await driver.note(WORKER, Confirm(REFERENCE, other))
        await driver.note(WORKER, Deactivate("p1"))
        await driver.note(WORKER, Observe(REFERENCE))

    other, first, again, later, forgotten, unknown = World(play, output(10)).told[-6:]
    assert other == later == "managed_tool_result_conflict"
    assert first == again
    assert forgotten.runtime_session == "p1"
    assert unknown == "managed_runtime_execution_unknown"


def test_a_runtime_session_with_a_living_process_is_busy() -> None:
    async def play(driver: Driver) -> None:
        await driver.own()
        await driver.note(WORKER, InstallPublisher("p1", 1, driver.descriptor))
        await driver.note(WORKER, Execute(REFERENCE, PAYLOAD))
        await driver.note(WORKER, Deactivate("p1"))

    assert World(play, (Pass(1000),)).told[-1] == "runtime_session_busy"


def test_the_capability_is_in_no_deed_and_no_retained_byte() -> None:
    world, _ = executed(output(300))
    capability = world.driver.bearer.value.encode()
    rows = [row for _, row in world.database.rows(RESOURCES, "")]
    assert len(capability) == 43
    assert not any(capability in row.content for row in rows)
    assert not any(capability in repr(deed).encode() for deed in world.deeds(Emit))


# --- small parts ----------------------------------------------------------------------------------------------------


def test_a_pipe_never_gives_late_bytes_beside_others() -> None:
    pipe = Pipe("p", 8)
    pipe.put(b"abcd")
    pipe.end()
    pipe.put(b"late")
    assert (pipe.room, pipe.spent, pipe.lend(99)) == (0, False, b"abcd")
    pipe.drop(4)
    assert (pipe.spent, pipe.lend(99)) == (True, b"late")


def test_a_pipe_lends_no_byte_to_two_readers_and_no_late_one_beside_what_is_lent() -> None:
    pipe = Pipe("p", 8)
    pipe.put(b"abcd")
    lent = [pipe.lend(3), pipe.lend(3)]
    pipe.end()
    pipe.put(b"late")
    assert (lent, pipe.lend(3), pipe.spent) == ([b"abc", b"d"], b"", False)
    pipe.drop(3)
    pipe.drop(1)
    assert (pipe.spent, pipe.lend(99)) == (True, b"late")


@pytest.mark.parametrize("cut", [1, 2, 3, 4])
def test_a_tail_begins_with_a_whole_character(cut: int) -> None:
    text = "\U0001f600" + "x" * 16
    tail = Tail(len(text.encode()) - cut)
    for place in range(len(text.encode())):
        tail.add(text.encode()[place : place + 1])
    assert tail.text == "x" * 16
    assert tail.truncated


NOT_USUAL = {
    capture.body_goes_on.name,
    capture.callback_waits.name,
    capture.capture_stays_failed.name,
    capture.follows_redirect.name,
    capture.needs_publisher.name,
    capture.registration_goes_on.name,
}
"""Rules about failures, bodies of more than one piece, redirects, callbacks that overlap; and what the harness asks."""


def test_one_clean_run_asks_every_rule_of_capture_but_those_of_what_is_not_usual() -> None:
    late = (Touch("log", "x"), Print(STDOUT, b"a", 300), Exit(0), Print(STDOUT, b"late"))

    async def play(driver: Driver) -> None:
        state = await driver.execute()
        assert state.envelope is not None
        assert state.receipt is not None
        await driver.note(PUBLISHER, FinalizeCapture(driver.bearer, "e1", PHYSICAL))
        await driver.note(PUBLISHER, AcceptCapture(driver.bearer, "e1", state.envelope))
        await driver.note(PUBLISHER, TakeReceipt("e1", state.envelope))
        await driver.note(WORKER, Confirm(REFERENCE, state.receipt))
        await driver.note(WORKER, Deactivate("p1"))
        await driver.note(PUBLISHER, ClosePublisher("p1"))

    world = World(play, late)
    asked = {event.rule for event in world.events if isinstance(event, Decided)}
    rules = {name for name in catalogue() if name.startswith("capture.")}
    assert rules - asked == NOT_USUAL


def test_a_rule_is_cited_and_says_what_goes_wrong_without_it() -> None:
    for rule in vars(capture).values():
        if isinstance(rule, Rule):
            assert rule.cites.startswith(("003 ", "behaviour §"))
            assert rule.without
            assert rule.says.endswith(".")
