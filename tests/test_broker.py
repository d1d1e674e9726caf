from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from sim.actor import Actor
from sim.actors.broker import Broker
from sim.design import SEED, Design, execution, lease
from sim.effects import Call, Failed, Kill, Request, Scripted, Secret, Sleep, Uncertain
from sim.facts import BINDINGS, LEASES, LEDGER, RUNTIME_SESSIONS, Execution, RuntimeBinding
from sim.history import Asked, Committed, Write
from sim.kernel import Kernel
from sim.points import NO_FAULTS, Fate, Plan, Point, Sighting, Strike
from sim.protocol import (
    SHELL,
    Acknowledge,
    Acknowledged,
    Acquire,
    Activate,
    Activated,
    CancelExecution,
    Capture,
    Confirm,
    Deactivate,
    Deactivated,
    Descriptor,
    Envelope,
    Execute,
    Halt,
    InstallPublisher,
    Observe,
    Observed,
    Prepare,
    Prepared,
    PublisherInstalled,
    Receipt,
    RegisterPublisher,
    Release,
    Released,
    StartExecution,
    Status,
    Warm,
    Warmed,
    WorkerState,
)
from sim.storage.memory import MemoryDatabase, MemoryOutside

# --- a world of a client that plays a test, the real Broker, and a worker of a few lines

PAYLOAD = json.dumps({"toolName": SHELL, "input": {"command": "make"}}).encode()
RECEIPT = Receipt("?", "manifest", "committed", 7, "outcome")
ACQUIRE = Acquire("s", "rs", "w")
RESTART_MS = 10_000


def digest(payload: bytes) -> str:
    return f"sha256:{hashlib.sha256(payload).hexdigest()}"


def prepare(call: str = "c", payload: bytes = PAYLOAD, runtime_session: str = "rs") -> Prepare:
    return Prepare(runtime_session, call, SHELL, execution.V3, digest(payload), "input-digest")


class FakeWorker(Actor):
    """Runs nothing; every execution ends after ``runs`` milliseconds of looking, or as ``answers`` says."""

    def __init__(self, life: int, world: World) -> None:
        self.life = life
        self.world = world
        self.known: dict[str, WorkerState] = {}
        self.halted: set[str] = set()

    async def activate(self, request: Activate) -> Activated:
        self.world.refuse("activate")
        return Activated(self.life)

    async def install(self, request: InstallPublisher) -> PublisherInstalled:
        self.world.refuse("install")
        return PublisherInstalled(request.runtime_session)

    async def execute(self, request: Execute) -> WorkerState:
        self.world.refuse("execute")
        name = request.reference.execution
        if name not in self.known:
            self.world.spawned.append(name)
        self.known[name] = WorkerState(name, "executing", None, None)
        return self.known[name]

    async def observe(self, request: Observe) -> WorkerState:
        name = request.reference.execution
        if name not in self.known:
            raise Failed("managed_runtime_execution_unknown", 404)
        if self.world.runs and name not in self.halted:
            self.world.runs -= 1
        elif self.world.ends == "unknown":
            return WorkerState(name, "unknown", None, None)
        else:
            status = "cancelled" if name in self.halted else "success"
            envelope = Envelope(name, status, 0, "", "out", False, Capture("k", "complete", "", "m", ()))
            self.known[name] = WorkerState(name, "settled", envelope, RECEIPT)
        return self.known[name]

    async def halt(self, request: Halt) -> WorkerState:
        self.world.refuse("halt")
        self.halted.add(request.reference.execution)
        return self.known[request.reference.execution]

    async def confirm(self, request: Confirm) -> Acknowledged:
        self.world.refuse("confirm")
        return Acknowledged(request.reference.execution)

    async def deactivate(self, request: Deactivate) -> Deactivated:
        self.world.refuse("deactivate")
        return Deactivated(request.runtime_session)

    handlers = {  # noqa: RUF012
        Activate: activate,
        InstallPublisher: install,
        Execute: execute,
        Observe: observe,
        Halt: halt,
        Confirm: confirm,
        Deactivate: deactivate,
    }


class Client(Actor):
    """Plays a test's script and keeps what went wrong in it."""

    def __init__(self, world: World) -> None:
        self.world = world

    async def boot(self) -> None:
        try:
            await self.world.play(self.world)
            self.world.played = True
        except AssertionError as wrong:
            self.world.wrong = wrong


class World:
    """One run of a test's script; afterwards, its history and its database."""

    def __init__(
        self,
        play: Callable[[World], Scripted[None]],
        *,
        plan: Plan = NO_FAULTS,
        design: Design = SEED,
        watcher: Callable[[Sighting], None] | None = None,
        refusals: Mapping[str, str] | None = None,
        runs: int = 2,
        ends: str = "settled",
    ) -> None:
        self.play = play
        self.refusals = refusals or {}
        self.runs = runs
        self.ends = ends
        self.spawned: list[str] = []
        self.wrong: AssertionError | None = None
        self.played = False
        self.database = MemoryDatabase()
        kernel = Kernel(self.database, MemoryOutside(), design, plan, watcher=watcher)
        kernel.host("client", "client", lambda life: Client(self))
        kernel.host(
            "broker", "broker", lambda life: Broker(self.database, kernel.ask, design.limits), restarts=True
        )
        kernel.host("worker:w", "worker:w", lambda life: FakeWorker(life, self), restarts=True)
        kernel.host("worker:v", "worker:v", lambda life: FakeWorker(life, self), restarts=True)
        self.history = kernel.run("client")
        if self.wrong is not None:
            raise self.wrong
        assert self.played, "the test's script came to no end"
        assert not self.history.missed

    def refuse(self, step: str) -> None:
        """What the worker refuses in this test."""
        if step in self.refusals:
            raise Failed(self.refusals[step])

    def row(self, name: str) -> Execution:
        row = self.database.get(LEDGER, name)
        assert row is not None
        return row

    def put(self, name: str, state: str) -> None:
        """A row in a state that the Broker itself passes in a moment."""
        row = Execution(
            "rs", "w", "c", SHELL, execution.V3, digest(PAYLOAD), "input-digest", 1, state, 0, None, None
        )
        self.database.write(Write(LEDGER.name, name, row))

    def asked(self, kind: type[Request[Any]]) -> int:
        """How often somebody sent such a request."""
        return sum(
            isinstance(event, Asked) and isinstance(event.request, kind) for event in self.history.events
        )

    def committed(self) -> list[str]:
        """The commits, in order."""
        return [event.label for event in self.history.events if isinstance(event, Committed)]

    @property
    def holder(self) -> str:
        held = self.database.get(LEASES, "w")
        return held.session if held else ""


async def refusal(request: Request[Any]) -> str:
    """The code with which the Broker refuses, or the doubt it leaves; empty when it answers."""
    try:
        await Call("broker", request)
    except Failed as refused:
        return refused.code
    except Uncertain as doubt:
        return f"doubt: {doubt.cause}"
    return ""


async def ready(runtime_session: str = "rs", session: str = "s") -> None:
    await Call("broker", Warm("w"))
    await Call("broker", Acquire(session, runtime_session, "w"))


async def reserved(call: str = "c") -> str:
    prepared = await Call("broker", prepare(call))
    return prepared.execution


async def settled(name: str) -> Observed:
    """Look as the owner does, until the execution is settled."""
    while True:
        seen = await Call("broker", Status(name))
        if seen.state == "settled":
            return seen
        await Sleep(50)


# --- the ledger's transition table


TABLE = """
                  claim        withhold   send        settle    lose      cancel            lapse
prepared          dispatching  settled    -           -         -         settled           -
dispatching       -            -          executing   -         unknown   settled           unknown
executing         -            -          -           settled   unknown   cancel_requested  unknown
cancel_requested  -            -          -           settled   unknown   cancel_requested  unknown
settled           -            -          -           -         -         settled           -
unknown           -            -          -           -         -         -                 -
"""


def cells() -> list[tuple[str, str, str]]:
    head, *rows = [line.split() for line in TABLE.strip().splitlines()]
    return [(state, step, after) for state, *row in rows for step, after in zip(head, row, strict=True)]


def test_the_table_has_every_state_and_every_step() -> None:
    assert {(state, step) for state, step, _ in cells()} == {
        (state, step) for state in execution.STATES for step in execution.STEPS
    }


@pytest.mark.parametrize(("state", "step", "after"), cells())
def test_a_row_moves_as_the_table_says(state: str, step: str, after: str) -> None:
    assert (execution.next_state.answer(state, step) or "-") == after


def test_no_step_leads_back_to_prepared() -> None:
    assert execution.PREPARED not in execution.TRANSITIONS.values()


# --- the way through


def test_a_turn_from_warm_to_release() -> None:
    async def play(world: World) -> None:
        await ready()
        assert world.holder == "s"
        name = await reserved()
        assert world.row(name).dispatches == 0
        started = await Call("broker", StartExecution(name, PAYLOAD))
        assert (started.state, started.envelope) == ("executing", None)
        seen = await settled(name)
        assert seen.envelope is not None
        assert (seen.envelope.status, seen.receipt) == ("success", RECEIPT)
        await Call("broker", Acknowledge(name, RECEIPT))
        released = await Call("broker", Release("rs"))
        assert released == Released("rs")

    world = World(play)
    assert world.holder == ""
    assert len(world.spawned) == 1
    assert world.asked(Execute) == 1
    assert world.committed() == [
        "BindRuntime",
        "ClaimWorkspace",
        "Ready",
        "Reserve",
        "ClaimDispatch",
        "MarkExecuting",
        "Settle",
        "BeginRelease",
        "ClearLease",
    ]


def test_executing_is_durable_before_the_worker_is_asked() -> None:
    async def play(world: World) -> None:
        await ready()
        name = await reserved()
        await Call("broker", StartExecution(name, PAYLOAD))
        await settled(name)

    events = World(play).history.events
    marked = next(
        i for i, one in enumerate(events) if isinstance(one, Committed) and one.label == "MarkExecuting"
    )
    sent = next(
        i for i, one in enumerate(events) if isinstance(one, Asked) and isinstance(one.request, Execute)
    )
    assert marked < sent


# --- Workspace: warm, acquire, register


def test_warming_claims_nothing() -> None:
    async def play(world: World) -> None:
        warmed = await Call("broker", Warm("w"))
        assert warmed == Warmed(1)

    world = World(play)
    assert world.holder == ""
    assert world.database.get(BINDINGS, "w") == RuntimeBinding(1, "ready")


def test_a_new_life_of_the_worker_is_bound_only_while_nobody_holds() -> None:
    async def play(world: World) -> None:
        await ready()
        await Kill("worker:w")
        await Sleep(RESTART_MS)
        await Call("broker", Warm("w"))
        assert world.database.get(BINDINGS, "w") == RuntimeBinding(1, "ready")
        await Call("broker", Release("rs"))
        await Call("broker", Warm("w"))
        assert world.database.get(BINDINGS, "w") == RuntimeBinding(2, "ready")

    World(play)


def test_the_same_holder_acquires_again_and_another_is_busy() -> None:
    async def play(world: World) -> None:
        await ready()
        again = await refusal(ACQUIRE)
        other = await refusal(Acquire("t", "other", "w"))
        assert (again, other) == ("", "workspace_busy")

    assert World(play).holder == "s"


def test_a_lease_has_no_clock() -> None:
    async def play(world: World) -> None:
        await ready()
        await Sleep(3 * 3_600_000)
        busy = await refusal(Acquire("t", "other", "w"))
        assert busy == "workspace_busy"

    World(play)


def test_a_lost_binding_is_unavailable_and_a_held_one_is_busy_first() -> None:
    async def play(world: World) -> None:
        await ready()
        world.database.write(Write(BINDINGS.name, "w", RuntimeBinding(1, lease.LOST)))
        world.database.write(Write(BINDINGS.name, "v", RuntimeBinding(1, lease.LOST)))
        held = await refusal(Acquire("t", "other", "w"))
        free = await refusal(Acquire("t", "other", "v"))
        assert (held, free) == ("workspace_busy", "workspace_unavailable")
        await Call("broker", Warm("v"))
        assert world.database.get(BINDINGS, "v") == RuntimeBinding(1, "lost")

    World(play)


def test_other_workspaces_do_not_interfere() -> None:
    async def play(world: World) -> None:
        await ready()
        await Call("broker", Warm("v"))
        free = await refusal(Acquire("t", "other", "v"))
        assert free == ""

    World(play)


def test_a_failure_after_the_claim_is_doubt_and_keeps_the_lease() -> None:
    async def play(world: World) -> None:
        await Call("broker", Warm("w"))
        world.refusals = {"activate": "managed_runtime_refused"}
        doubt = await refusal(ACQUIRE)
        other = await refusal(Acquire("t", "other", "w"))
        assert (doubt, other) == ("doubt: server", "workspace_busy")

    assert World(play).holder == "s"


def test_a_worker_that_restarted_since_warming_is_not_the_original() -> None:
    async def play(world: World) -> None:
        await Call("broker", Warm("w"))
        await Kill("worker:w")
        await Sleep(RESTART_MS)
        doubt = await refusal(ACQUIRE)
        assert doubt == "doubt: server"

    world = World(play)
    assert world.holder == "s"
    assert world.database.get(BINDINGS, "w") == RuntimeBinding(1, "lost")
    session = world.database.get(RUNTIME_SESSIONS, "rs")
    assert session is not None
    assert session.state == "failed"


def descriptor() -> Descriptor:
    url = "http://127.0.0.1:4711/internal/hosted-shell-publisher/v1"
    return Descriptor(url, Secret("capability", "x" * 43), "s")


def test_a_publisher_is_registered_in_the_original_ready_session_only() -> None:
    async def play(world: World) -> None:
        unknown = await refusal(RegisterPublisher("rs", descriptor()))
        await ready()
        registered = await Call("broker", RegisterPublisher("rs", descriptor()))
        assert registered.generation == 1
        await Call("broker", Release("rs"))
        released = await refusal(RegisterPublisher("rs", descriptor()))
        assert (unknown, released) == ("runtime_session_not_found", "runtime_session_unavailable")

    World(play)


def test_the_worker_s_refusal_of_a_publisher_is_the_answer() -> None:
    async def play(world: World) -> None:
        await ready()
        told = await refusal(RegisterPublisher("rs", descriptor()))
        assert told == "managed_runtime_identity_conflict"

    World(play, refusals={"install": "managed_runtime_identity_conflict"})


# --- prepare: one key, one content, in every state


def test_the_same_key_and_content_is_the_same_reservation() -> None:
    async def play(world: World) -> None:
        await ready()
        first = await Call("broker", prepare())
        again = await Call("broker", prepare())
        other = await Call("broker", prepare("another call"))
        assert first == again == Prepared(first.execution, "c", "prepared", 1)
        assert other.execution != first.execution

    assert len(World(play).database.rows(LEDGER, "")) == 2


def test_the_key_is_runtime_session_and_worker_call() -> None:
    async def play(world: World) -> None:
        await ready()
        first = await Call("broker", prepare())
        await Call("broker", CancelExecution(first.execution))
        await Call("broker", Release("rs"))
        await ready("next")
        second = await Call("broker", prepare(runtime_session="next"))
        assert second.execution != first.execution

    World(play)


OTHER = json.dumps({"toolName": SHELL, "input": {"command": "make clean"}}).encode()


@pytest.mark.parametrize("state", execution.STATES)
def test_other_content_under_a_used_key_conflicts_in_every_state(state: str) -> None:
    async def play(world: World) -> None:
        await ready()
        name = await reserved()
        world.put(name, state)
        same = await Call("broker", prepare())
        assert same.state == state
        reservation = await refusal(prepare(payload=OTHER))
        start = await refusal(StartExecution(name, OTHER))
        assert (reservation, start) == ("runtime_execution_conflict", "runtime_idempotency_conflict")
        assert world.row(name).state == state

    World(play)


@pytest.mark.parametrize("state", [state for state in execution.STATES if state != "prepared"])
def test_only_a_reserved_execution_starts(state: str) -> None:
    async def play(world: World) -> None:
        await ready()
        name = await reserved()
        world.put(name, state)
        told = await refusal(StartExecution(name, PAYLOAD))
        assert (told, world.row(name).state) == ("runtime_execution_conflict", state)

    assert World(play).spawned == []


def test_a_file_tool_is_reserved_through_v2() -> None:
    async def play(world: World) -> None:
        await ready()
        prepared = await Call("broker", Prepare("rs", "c", "read_file", execution.V2, digest(PAYLOAD), ""))
        assert prepared.state == "prepared"

    assert len(World(play).database.rows(LEDGER, "")) == 1


@pytest.mark.parametrize(("tool", "protocol"), [("read_file", execution.V3), (SHELL, execution.V2)])
def test_only_shell_is_reserved_through_v3_and_through_nothing_else(tool: str, protocol: str) -> None:
    async def play(world: World) -> None:
        await ready()
        told = await refusal(Prepare("rs", "c", tool, protocol, digest(PAYLOAD), "i"))
        assert told == "doubt: server"  # 501

    assert World(play).database.rows(LEDGER, "") == []


def test_a_released_session_takes_no_reservation_and_never_acquires_again() -> None:
    async def play(world: World) -> None:
        await ready()
        name = await reserved()
        await Call("broker", CancelExecution(name))
        await Call("broker", Release("rs"))
        known = await refusal(prepare())
        new = await refusal(prepare("another"))
        again = await refusal(ACQUIRE)
        assert (known, new, again) == ("", "runtime_session_unavailable", "runtime_session_released")

    assert World(play).holder == ""


# --- start: what a payload must be


DEEP = b'{"toolName":"run_shell_command","input":' + b"[" * 5000 + b"]" * 5000 + b"}"


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"make",
        b'["toolName","input"]',
        b'{"toolName":"run_shell_command"}',
        b'{"toolName":"run_shell_command","input":{},"protocol":"v2"}',
        b'{"toolName":"run_shell_command","input":{"command":"\\ud800"}}',
        b'{"toolName":"run_shell_command","input":{"a":[{"\\udc00":1}]}}',
        b'{"toolName":"run_shell_command","input":{"command":"\xed\xa0\x80"}}',
        b'{"toolName":"run_shell_command","input":{"command":"' + b"x" * 256 * 1024 + b'"}}',
    ],
    ids=[
        "empty",
        "no-json",
        "no-object",
        "no-input",
        "more",
        "lone-value",
        "lone-key",
        "no-utf8",
        "too-large",
    ],
)
def test_a_malformed_payload_is_refused_before_any_claim(payload: bytes) -> None:
    async def play(world: World) -> None:
        await ready()
        prepared = await Call("broker", prepare(payload=payload))
        told = await refusal(StartExecution(prepared.execution, payload))
        assert (told, world.row(prepared.execution).state) == ("runtime_payload_invalid", "prepared")

    assert World(play).spawned == []


@pytest.mark.parametrize(
    "payload",
    [b'{"input":{"command":"\\ud83d\\ude00 \xf0\x9f\x98\x80"},"toolName":"run_shell_command"}', DEEP],
    ids=["pairs", "deep"],
)
def test_a_well_formed_payload_runs(payload: bytes) -> None:
    async def play(world: World) -> None:
        await ready()
        prepared = await Call("broker", prepare(payload=payload))
        await Call("broker", StartExecution(prepared.execution, payload))
        await settled(prepared.execution)

    assert len(World(play).spawned) == 1


def test_a_start_without_the_workspace_is_proved_not_started() -> None:
    async def play(world: World) -> None:
        await ready()
        name = await reserved()
        world.database.write(Write(LEASES.name, "w", None))
        seen = await Call("broker", StartExecution(name, PAYLOAD))
        assert seen.state == "settled"
        assert seen.envelope is not None
        assert (seen.envelope.status, seen.envelope.capture) == ("not_started", None)
        assert world.row(name).dispatches == 0

    assert World(play).spawned == []


# --- dispatch at most once


def point_of(play: Callable[[World], Scripted[None]], door: str, label: str) -> Point:
    """The first point of the Broker with this label, as a clean run finds it."""
    seen: list[Point] = []
    World(play, watcher=lambda sighting: seen.append(sighting.point))
    return next(p for p in seen if (p.actor, p.door, p.label) == ("broker", door, label))


async def one_start(world: World) -> None:
    await ready()
    name = await reserved()
    await refusal(StartExecution(name, PAYLOAD))
    await Sleep(200_000)


STRUCK = [
    ("commit", "ClaimDispatch", "commit-failed", "prepared", 0),
    ("commit", "ClaimDispatch", "unknown-applied", "dispatching", 0),
    ("commit", "ClaimDispatch", "crash-before", "prepared", 0),
    ("commit", "ClaimDispatch", "crash-waiting", "unknown", 0),
    ("commit", "MarkExecuting", "commit-failed", "unknown", 0),
    ("commit", "MarkExecuting", "unknown-applied", "unknown", 0),
    ("commit", "MarkExecuting", "crash-before", "unknown", 0),
    ("commit", "MarkExecuting", "crash-waiting", "unknown", 0),
    ("call", "Execute", "request-lost", "unknown", 0),
    ("call", "Execute", "reply-lost", "settled", 1),
    ("call", "Execute", "error-before", "unknown", 0),
    ("call", "Execute", "error-after", "settled", 1),
    ("call", "Execute", "duplicated", "settled", 1),
    ("call", "Execute", "crash-before", "unknown", 0),
    ("call", "Execute", "crash-waiting", "unknown", 1),
    ("call", "Execute", "crash-after", "unknown", 1),
    ("call", "Observe", "reply-lost", "settled", 1),
    ("call", "Observe", "reply-lost!", "unknown", 1),
    ("commit", "Settle", "commit-failed", "unknown", 1),
    ("commit", "Settle", "unknown-applied", "settled", 1),
    ("commit", "Settle", "crash-waiting", "settled", 1),
    ("commit", "Settle", "crash-before", "unknown", 1),
]


@pytest.mark.parametrize(("door", "label", "fate", "state", "effects"), STRUCK)
def test_whatever_is_struck_nothing_is_dispatched_twice(
    door: str, label: str, fate: str, state: str, effects: int
) -> None:
    strike = Strike(point_of(one_start, door, label), Fate(fate.rstrip("!"), fate.endswith("!")))
    world = World(one_start, plan=Plan((strike,)))
    [(name, row)] = world.database.rows(LEDGER, "")
    assert (row.state, len(world.spawned)) == (state, effects)
    assert world.asked(Execute) <= 1
    assert row.dispatches <= 1
    assert world.holder == "s"
    assert name.startswith("execution-")


def test_a_lost_execute_reply_is_reconciled_by_observing_the_original() -> None:
    strike = Strike(point_of(one_start, "call", "Execute"), Fate("reply-lost"))
    events = World(one_start, plan=Plan((strike,))).history.events
    sent = [
        one.request
        for one in events
        if isinstance(one, Asked) and isinstance(one.request, (Execute, Observe))
    ]
    assert isinstance(sent[0], Execute)
    assert all(isinstance(one, Observe) for one in sent[1:])
    assert {one.reference for one in sent} == {sent[0].reference}


def test_reconciliation_is_bounded() -> None:
    strike = Strike(point_of(one_start, "call", "Observe"), Fate("reply-lost", sticky=True))
    world = World(one_start, plan=Plan((strike,)))
    assert world.asked(Observe) == SEED.limits.reconcile_looks
    assert world.database.get(BINDINGS, "w") == RuntimeBinding(1, "lost")


def test_the_observation_window_is_bounded() -> None:
    async def play(world: World) -> None:
        await ready()
        name = await reserved()
        await Call("broker", StartExecution(name, PAYLOAD))
        await Sleep(2 * SEED.limits.worker_window)
        assert world.row(name).state == "unknown"

    World(play, runs=10**9)


def test_a_worker_that_died_leaves_an_unknown_execution_and_a_lost_binding() -> None:
    async def play(world: World) -> None:
        await ready()
        name = await reserved()
        await Call("broker", StartExecution(name, PAYLOAD))
        await Sleep(20)
        await Kill("worker:w")
        await Sleep(RESTART_MS)
        status = await refusal(Status(name))
        cancel = await refusal(CancelExecution(name))
        start = await refusal(StartExecution(name, PAYLOAD))
        release = await refusal(Release("rs"))
        assert (status, cancel) == ("runtime_broker_execution_unknown",) * 2
        assert (start, release) == ("runtime_execution_conflict", "runtime_session_busy")

    world = World(play)
    assert len(world.spawned) == 1
    assert world.database.get(BINDINGS, "w") == RuntimeBinding(1, "lost")


@pytest.mark.parametrize("code", ["managed_context_unavailable", "managed_runtime_identity_conflict"])
def test_a_refusal_by_the_worker_proves_nothing_to_the_ledger(code: str) -> None:
    world = World(one_start, refusals={"execute": code})
    [(_, row)] = world.database.rows(LEDGER, "")
    assert row.state == "unknown"
    assert world.database.get(BINDINGS, "w") == RuntimeBinding(1, "ready")


def test_a_worker_that_lost_the_admission_leaves_it_unknown() -> None:
    world = World(one_start, ends="unknown")
    [(_, row)] = world.database.rows(LEDGER, "")
    assert row.state == "unknown"


@pytest.mark.parametrize("state", ["dispatching", "executing", "cancel_requested"])
def test_a_claim_does_not_outlive_its_broker(state: str) -> None:
    async def play(world: World) -> None:
        await ready()
        name = await reserved()
        world.put(name, state)
        await Kill("broker")
        await Sleep(RESTART_MS)
        assert world.row(name).state == "unknown"
        start = await refusal(StartExecution(name, PAYLOAD))
        assert start == "runtime_execution_conflict"

    world = World(play)
    assert world.spawned == []
    assert "LapseClaims" in world.committed()


@pytest.mark.parametrize("state", ["prepared", "settled", "unknown"])
def test_a_restart_leaves_other_rows_alone(state: str) -> None:
    async def play(world: World) -> None:
        await ready()
        name = await reserved()
        world.put(name, state)
        await Kill("broker")
        await Sleep(RESTART_MS)
        assert world.row(name).state == state

    assert "LapseClaims" not in World(play).committed()


# --- cancel


def test_cancel_before_start_is_not_started_and_sticky() -> None:
    async def play(world: World) -> None:
        await ready()
        name = await reserved()
        cancelled = await Call("broker", CancelExecution(name))
        assert cancelled.envelope is not None
        assert (cancelled.state, cancelled.envelope.status, cancelled.envelope.capture) == (
            "settled",
            "not_started",
            None,
        )
        late = await refusal(StartExecution(name, PAYLOAD))
        again = await Call("broker", CancelExecution(name))
        assert (late, again) == ("runtime_execution_conflict", cancelled)

    world = World(play)
    assert (world.spawned, world.asked(Halt)) == ([], 0)


def test_cancel_between_claim_and_send_is_not_started_and_nothing_is_sent() -> None:
    async def play(world: World) -> None:
        await ready()
        name = await reserved()
        world.put(name, "dispatching")
        cancelled = await Call("broker", CancelExecution(name))
        assert cancelled.envelope is not None
        assert cancelled.envelope.status == "not_started"

    World(play)


def test_cancel_after_start_waits_for_the_physical_outcome() -> None:
    async def play(world: World) -> None:
        await ready()
        name = await reserved()
        await Call("broker", StartExecution(name, PAYLOAD))
        await Sleep(500)
        cancelled = await Call("broker", CancelExecution(name))
        assert (cancelled.state, cancelled.envelope) == ("cancel_requested", None)
        seen = await settled(name)
        assert seen.envelope is not None
        assert seen.envelope.status == "cancelled"
        assert seen.envelope.capture is not None

    assert World(play, runs=10**9).asked(Halt) == 1


def test_cancel_of_what_is_settled_changes_nothing() -> None:
    async def play(world: World) -> None:
        await ready()
        name = await reserved()
        await Call("broker", StartExecution(name, PAYLOAD))
        before = await settled(name)
        after = await Call("broker", CancelExecution(name))
        assert before == after

    assert World(play).asked(Halt) == 0


def test_an_unconfirmed_halt_is_told() -> None:
    async def play(world: World) -> None:
        await ready()
        name = await reserved()
        await Call("broker", StartExecution(name, PAYLOAD))
        await Sleep(100)
        told = await refusal(CancelExecution(name))
        assert told == "managed_runtime_execution_unknown"

    World(play, runs=10**9, refusals={"halt": "managed_runtime_execution_unknown"})


# --- status and acknowledgement


@pytest.mark.parametrize(
    ("state", "shown"),
    [
        ("prepared", "prepared"),
        ("dispatching", "executing"),
        ("executing", "executing"),
        ("cancel_requested", "cancel_requested"),
        ("settled", "settled"),
    ],
)
def test_status_needs_no_lease_and_asks_no_worker(state: str, shown: str) -> None:
    async def play(world: World) -> None:
        await ready()
        name = await reserved()
        world.put(name, state)
        world.database.write(Write(LEASES.name, "w", None))
        seen = await Call("broker", Status(name))
        assert seen.state == shown

    assert World(play).asked(Observe) == 0


@pytest.mark.parametrize("request_of", [Status, CancelExecution, lambda name: StartExecution(name, PAYLOAD)])
def test_an_execution_that_was_never_reserved(request_of: Callable[[str], Request[Any]]) -> None:
    async def play(world: World) -> None:
        told = await refusal(request_of("nobody's"))
        assert told == "runtime_execution_not_found"

    World(play)


@pytest.mark.parametrize("state", [state for state in execution.STATES if state != "settled"])
def test_only_a_settled_execution_is_acknowledged(state: str) -> None:
    async def play(world: World) -> None:
        await ready()
        name = await reserved()
        world.put(name, state)
        told = await refusal(Acknowledge(name, RECEIPT))
        assert told == "managed_tool_result_conflict"

    assert World(play).asked(Confirm) == 0


def test_the_worker_s_answer_to_an_acknowledgement_is_the_answer() -> None:
    async def play(world: World) -> None:
        await ready()
        name = await reserved()
        await Call("broker", StartExecution(name, PAYLOAD))
        await settled(name)
        told = await refusal(Acknowledge(name, RECEIPT))
        assert told == "managed_tool_result_conflict"

    World(play, refusals={"confirm": "managed_tool_result_conflict"})


# --- release


@pytest.mark.parametrize("state", execution.STATES)
def test_release_is_refused_while_an_execution_may_be_live(state: str) -> None:
    async def play(world: World) -> None:
        await ready()
        name = await reserved()
        world.put(name, state)
        told = await refusal(Release("rs"))
        assert told == ("" if state == "settled" else "runtime_session_busy")

    assert World(play).holder == ("" if state == "settled" else "s")


def test_released_again_is_released() -> None:
    async def play(world: World) -> None:
        await ready()
        first = await Call("broker", Release("rs"))
        again = await Call("broker", Release("rs"))
        assert first == again == Released("rs")
        await ready("next", "t")

    world = World(play)
    assert (world.holder, world.asked(Deactivate)) == ("t", 1)


def test_nobody_s_session_is_not_released() -> None:
    async def play(world: World) -> None:
        told = await refusal(Release("rs"))
        assert told == "runtime_session_not_found"

    World(play)


def test_a_lease_is_cleared_by_its_holder_only() -> None:
    async def play(world: World) -> None:
        await ready()
        held = world.database.get(LEASES, "w")
        assert held is not None
        foreign = type(held)("another key", "t")
        world.database.write(Write(LEASES.name, "w", foreign))
        told = await refusal(Release("rs"))
        assert told == "workspace_owner_conflict"

    assert World(play).holder == "t"


def test_a_worker_that_does_not_let_go_keeps_the_lease() -> None:
    async def play(world: World) -> None:
        await ready()
        told = await refusal(Release("rs"))
        assert told == "runtime_session_busy"
        world.refusals = {}
        again = await refusal(Release("rs"))
        assert again == ""

    assert World(play, refusals={"deactivate": "runtime_session_busy"}).holder == ""


def test_a_restarted_broker_does_not_release_what_it_did_not_acquire() -> None:
    async def play(world: World) -> None:
        await ready()
        await Kill("broker")
        await Sleep(RESTART_MS)
        told = await refusal(Release("rs"))
        assert told == "runtime_session_reconciliation_required"

    assert World(play).holder == "s"


def test_a_session_whose_runtime_changed_beneath_it_is_not_released() -> None:
    async def play(world: World) -> None:
        await ready()
        await Kill("worker:w")
        await Sleep(RESTART_MS)
        again = await refusal(ACQUIRE)
        told = await refusal(Release("rs"))
        assert (again, told) == ("doubt: server", "runtime_session_busy")

    assert World(play).holder == "s"


def test_a_restarted_broker_still_knows_what_was_released() -> None:
    async def play(world: World) -> None:
        await ready()
        await Call("broker", Release("rs"))
        await Kill("broker")
        await Sleep(RESTART_MS)
        told = await refusal(Release("rs"))
        assert told == ""

    World(play)


# --- the rules are what is asked


def test_without_the_rule_the_second_session_enters() -> None:
    async def play(world: World) -> None:
        await ready()
        told = await refusal(Acquire("t", "other", "w"))
        assert told == ""

    assert World(play, design=SEED.replacing(lease.may_claim, lambda current, claimant: True)).holder == "t"


def test_without_the_rule_an_unknown_execution_is_released() -> None:
    async def play(world: World) -> None:
        await ready()
        name = await reserved()
        world.put(name, "unknown")
        told = await refusal(Release("rs"))
        assert told == ""

    World(play, design=SEED.replacing(lease.is_live, lambda state: False))


def test_without_the_rule_a_lost_reply_runs_the_command_again() -> None:
    design = SEED.replacing(execution.reconciles_by, Execute)
    strike = Strike(point_of(one_start, "call", "Execute"), Fate("reply-lost"))
    assert World(one_start, plan=Plan((strike,)), design=design).asked(Execute) == 2


@pytest.mark.parametrize(
    ("status", "code", "definite"),
    [
        (409, "workspace_busy", True),
        (409, "workspace_unavailable", True),
        (409, "runtime_session_released", False),
        (503, "workspace_busy", False),
    ],
)
def test_which_refusals_of_acquire_are_definite(status: int, code: str, definite: bool) -> None:
    assert lease.acquire_refusal_is_definite.answer(status, code) is definite


def test_which_refusals_of_start_are_definite_and_that_none_is_sent_again() -> None:
    definite = execution.start_refusal_is_definite.answer
    assert definite("runtime_idempotency_conflict")
    assert definite("runtime_execution_conflict")
    assert not definite("runtime_payload_invalid")
    assert not execution.start_again.answer(1)


def test_only_a_conflict_refuses_one_call_and_only_settled_is_an_answer() -> None:
    refuses = execution.refuses_one_call.answer
    assert refuses("runtime_execution_conflict")
    assert not refuses("runtime_session_unavailable")
    answering = [state for state in execution.STATES if execution.status_answers.answer(state)]
    assert answering == ["settled"]
