"""The execution ledger: what may be reserved and started, how a row moves, and what its states prove.

A row is never dispatched twice: it is claimed once, from ``prepared``, and no step leads back there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from sim.design.limits import Limits
from sim.effects import Request
from sim.protocol import SHELL, Observe, Reference, WorkerState
from sim.rule import rule
from sim.text import Json, JsonError, has_unpaired, parse_json

V2, V3 = "managed-tool/v2", "managed-tool/v3"
"""The protocols of the file tools and of foreground Shell; each is saved with the reservation."""

PREPARED, DISPATCHING, EXECUTING = "prepared", "dispatching", "executing"
CANCEL_REQUESTED, SETTLED, UNKNOWN = "cancel_requested", "settled", "unknown"
STATES = (PREPARED, DISPATCHING, EXECUTING, CANCEL_REQUESTED, SETTLED, UNKNOWN)

CLAIM, WITHHOLD, SEND, SETTLE, LOSE, CANCEL, LAPSE = (
    "claim",
    "withhold",
    "send",
    "settle",
    "lose",
    "cancel",
    "lapse",
)
STEPS = (CLAIM, WITHHOLD, SEND, SETTLE, LOSE, CANCEL, LAPSE)
"""claim: a start is accepted; withhold: it is refused for want of the Workspace; send: the worker is about to be
asked; settle: its outcome is known; lose: it cannot be known; cancel: the owner wants an end; lapse: the Broker's life
that held the claim is over."""

TRANSITIONS: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        (PREPARED, CLAIM): DISPATCHING,
        (PREPARED, WITHHOLD): SETTLED,  # not_started: nothing was sent
        (PREPARED, CANCEL): SETTLED,  # not_started: nothing was sent, and a later start finds no reservation
        (DISPATCHING, SEND): EXECUTING,
        (DISPATCHING, CANCEL): SETTLED,  # not_started: only what is executing was ever sent
        (DISPATCHING, LOSE): UNKNOWN,
        (DISPATCHING, LAPSE): UNKNOWN,
        (EXECUTING, SETTLE): SETTLED,
        (EXECUTING, LOSE): UNKNOWN,
        (EXECUTING, CANCEL): CANCEL_REQUESTED,
        (EXECUTING, LAPSE): UNKNOWN,
        (CANCEL_REQUESTED, SETTLE): SETTLED,
        (CANCEL_REQUESTED, LOSE): UNKNOWN,
        (CANCEL_REQUESTED, CANCEL): CANCEL_REQUESTED,
        (CANCEL_REQUESTED, LAPSE): UNKNOWN,
        (SETTLED, CANCEL): SETTLED,
    }
)
"""Every step that a row can take. Settled and unknown are ends: recovery is out of scope (003 Problem and scope)."""


@rule(
    "behaviour §1.10",
    without="a row takes a step twice, leaves its end, or comes back to be dispatched again",
)
def next_state(state: str, step: str) -> str | None:
    """A row moves as :data:`TRANSITIONS` says; None when it cannot take that step."""
    return TRANSITIONS.get((state, step))


@rule("behaviour §1.10", without="a file call that was called off has the result of a Shell's proof")
def unsent_status(protocol: str) -> str:
    """What was never sent is settled as not started by v3, and as cancelled by v2."""
    return "not_started" if protocol == V3 else "cancelled"


@rule("behaviour §7 guard 98", without="what was sent to a worker is recorded as not started")
def never_sent(state: str) -> bool:
    """Only what is executing was ever sent: a row that ends before that never started, with null capture."""
    return state in (PREPARED, DISPATCHING)


# --- reserve ----------------------------------------------------------------------------------------------------


@rule("behaviour §7 guard 51", without="a replayed reservation makes a second row, or joins another call's")
def execution_id(runtime_session: str, worker_call: str) -> str:
    """The idempotency key of a reservation is Runtime Session and worker call; the execution's id follows from it."""
    return f"execution-{hashlib.sha256(f'{runtime_session}:{worker_call}'.encode()).hexdigest()[:16]}"


@rule("003 Identity", without="a Shell is reserved without capture, or a file tool waits for a receipt")
def protocol_of(tool: str) -> str:
    """Shell is reserved with the explicit v3 selection; the file tools go on by v2."""
    return V3 if tool == SHELL else V2


@rule(
    "003 Identity, admission and model history", without="a binding names something else than its invocation"
)
def invocation_of(protocol: str, worker_call: str, execution: str) -> str:
    """The binding keeps the worker call of a Shell as its invocation; a file tool's is its execution."""
    return worker_call if protocol == V3 else execution


@rule("behaviour §7 guard 49", without="another tool is run as if it were a captured Shell")
def v3_is_for(tool: str, protocol: str) -> bool:
    """Protocol v3 is for ``run_shell_command`` alone."""
    return tool == SHELL or protocol != V3


@rule("003 Ownership and transport", without="a Shell runs through v2, without capture")
def shell_runs_by(tool: str, protocol: str) -> bool:
    """A Shell runs through protocol v3, as saved at its reservation; there is no fallback to v2."""
    return tool != SHELL or protocol == V3


@rule("behaviour §1.10", without="one idempotency key stands for two different executions")
def same_reservation(reserved: tuple[str, ...], asked: tuple[str, ...]) -> bool:
    """A key that was used before, in whatever state its row is, can only be used for the same content."""
    return reserved == asked


@rule("behaviour §7 guards 52, 54", without="a row that runs already is adopted as a fresh reservation")
def is_reservation(asked: str, echoed: str, state: str) -> bool:
    """A reservation is for this very call, and nothing of it was dispatched."""
    return asked == echoed and state == "prepared"


@rule(
    "behaviour §2.4",
    without="one call's conflict blocks its siblings, or an unexplained refusal is passed over",
)
def refuses_one_call(code: str) -> bool:
    """A conflict at reservation refuses that call alone; any other failure stops the batch."""
    return code == "runtime_execution_conflict"


# --- start ------------------------------------------------------------------------------------------------------


@rule("behaviour §1.10", without="a payload that no worker takes is claimed, and its execution ends unknown")
def payload_fits(size: int, limits: Limits) -> bool:
    """The payload of a start has at most 256 KiB."""
    return size <= limits.payload


@rule("behaviour §7 guard 132", without="an encoder puts `?` for half a character, and another command runs")
def payload_is_well_formed(payload: bytes) -> bool:
    """A payload is JSON in UTF-8, without a lone surrogate in any text, keys included."""
    try:
        return not any(has_unpaired(text) for text in _texts(parse_json(payload.decode())))
    except (UnicodeDecodeError, JsonError):
        return False


@rule("behaviour §7 guard 49", without="a payload of another protocol is taken for one of this")
def payload_has_exact_fields(payload: bytes) -> bool:
    """A payload has exactly the fields ``toolName`` and ``input``."""
    try:
        value = parse_json(payload.decode())
    except (UnicodeDecodeError, JsonError):
        return False
    return isinstance(value, dict) and value.keys() == {"toolName", "input"}


@rule("behaviour §7 guard 48", without="another command runs under the reservation of this one")
def payload_is_reserved(reserved: str, payload: bytes) -> bool:
    """The payload's bytes have exactly the digest that was reserved."""
    return reserved == f"sha256:{hashlib.sha256(payload).hexdigest()}"


@rule(
    "behaviour §1.10",
    without="other bytes under a used key are told 'in progress' or get the first one's answer",
)
def start_refusal(same: bool, claimable: bool) -> str:
    """Other content conflicts in every state, so it is compared first; then only a reserved row starts, once."""
    if not same:
        return "runtime_idempotency_conflict"
    return "" if claimable else "runtime_execution_conflict"


@rule("behaviour §3.5", without="a start that another owner's execution refused is polled as if it ran")
def start_refusal_is_definite(code: str) -> bool:
    """Only the two conflicts prove what became of a local start; any other failure is like a lost reply."""
    return code in ("runtime_idempotency_conflict", "runtime_execution_conflict")


@rule("003 Identity", without="a Shell side effect is issued again after a lost reply")
def start_again(sends: int) -> bool:
    """A local start is never sent again, whatever became of the first."""
    return False


# --- observe ----------------------------------------------------------------------------------------------------


@rule(
    "003 Identity",
    without="the worker is asked to run the command again, or another execution's result is taken",
)
def reconciles_by(original: Reference, payload: bytes) -> Request[WorkerState]:
    """A lost execute reply is reconciled by the status of the original v3 reference; nothing is executed again."""
    return Observe(original)


@rule(
    "003 Identity",
    without="a worker that is gone is looked for without end, or given up at the first lost reply",
)
def looks_again(lost: int, looks: int) -> bool:
    """Reconciliation is bounded: after ``looks`` lost looks in a row the execution is unknown."""
    return lost < looks


@rule(
    "behaviour §5",
    without="a file tool is awaited as long as a command, or a command as short as a file tool",
)
def window_of(tool: str, timeout: int, limits: Limits) -> int:
    """A Shell is observed for its own timeout and a minute more, a file tool for two minutes; in virtual ms."""
    return timeout + limits.window_slack if tool == SHELL else limits.file_window


@rule("behaviour §1.10", without="a worker is asked for the state of a file tool, which it does not keep")
def answers_at_once(protocol: str) -> bool:
    """By v2 the answer to the execution is its outcome; by v3 it is observed."""
    return protocol == V2


@rule("behaviour §5", without="an execution that never ends is observed for ever")
def observes_longer(waited: int, window: int) -> bool:
    """An execution is observed for a bounded time."""
    return waited < window


@rule(
    "behaviour §1.12",
    without="an execution whose admission failed is recorded as settled, or awaited for ever",
)
def worker_proves(state: str) -> str:
    """Of the worker's states, executing is waited on, settled is an outcome, and anything else is lost."""
    return {"executing": "", "settled": SETTLE}.get(state, LOSE)


@rule(
    "behaviour §1.10",
    without="a runtime that forgot its executions takes new ones, under the old holder's lease",
)
def runtime_is_gone(code: str) -> bool:
    """A worker that does not know the original reference, or answers no look, has lost the runtime binding."""
    return code in ("managed_runtime_execution_unknown", "managed_runtime_unreachable")


# --- status and acknowledgement ---------------------------------------------------------------------------------


@rule(
    "behaviour §7 guard 125", without="an unknown execution is told as an outcome, and the model believes it"
)
def is_known(state: str) -> bool:
    """Unknown is answered as unknown, never as a result."""
    return state != UNKNOWN


@rule("behaviour §0.2", without="a claimed execution looks as if nothing had been dispatched")
def shows_as(state: str) -> str:
    """A claimed row shows as executing: only ``prepared`` is proof that nothing was dispatched."""
    return EXECUTING if state == DISPATCHING else state


@rule("behaviour §3.5", without="a running or unknown execution is taken for finished")
def status_answers(state: str) -> bool:
    """Only a settled execution is an answer."""
    return state == SETTLED


@rule("behaviour §1.10", without="a result is acknowledged that the ledger does not have")
def may_acknowledge(state: str) -> bool:
    """Only a settled execution is acknowledged."""
    return state == SETTLED


def _texts(value: Json) -> Iterator[str]:
    """Every text in a JSON value, keys included, without recursion: its depth is the sender's."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict):
            yield from part
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)
