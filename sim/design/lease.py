"""Who holds a Workspace: who may claim it, use it, and give it back.

A holder is named by a key made of binding, generation and Runtime Session; an empty key means that nobody holds.
States of a Runtime Session and of a runtime binding are those of :mod:`sim.facts`.
"""

from __future__ import annotations

import hashlib

from sim.rule import rule

ACQUIRING, READY, RELEASING, RELEASED, FAILED = "acquiring", "ready", "releasing", "released", "failed"
LOST = "lost"

DEFINITE_REFUSALS = ("workspace_busy", "workspace_unavailable")
"""The codes of a 409 that prove that an acquisition claimed nothing."""


# --- claim ------------------------------------------------------------------------------------------------------


@rule("behaviour §1.10", without="a restarted runtime, or another Runtime Session, passes for the holder")
def holder_key(binding: str, generation: int, runtime_session: str) -> str:
    """A holder is one Runtime Session on one generation of one runtime binding."""
    return hashlib.sha256(f"{binding}\0{generation}\0{runtime_session}".encode()).hexdigest()[:16]


@rule("behaviour §7 guard 118", without="a second Session starts beside a paused or unknown execution")
def is_held(current: str, now: int) -> bool:
    """A Workspace is held while its row names a holder, however late ``now`` is: the lease has no clock."""
    return current != ""


@rule("behaviour §1.10", without="two Sessions change one Workspace at once")
def may_claim(current: str, claimant: str) -> bool:
    """A held Workspace can be claimed again by its holder alone; for everyone else it is busy."""
    return current == claimant


@rule("behaviour §1.10", without="work is given to a runtime that is gone")
def serves(binding: str) -> bool:
    """Only a ready runtime binding can be acquired; a lost one, or none, is unavailable."""
    return binding == READY


@rule(
    "behaviour §1.10",
    without="a late duplicate of an acquisition takes a Workspace that nobody will give back",
)
def may_begin(state: str) -> bool:
    """A Runtime Session that gave its Workspace back, or failed, never acquires again; an empty state is new."""
    return state in ("", ACQUIRING, READY)


@rule("behaviour §7 guard 133", without="a worker that restarted is taken for the one that was provisioned")
def is_original(claimed: int, activated: int) -> bool:
    """A Runtime Session becomes ready only on the generation under which it claimed."""
    return claimed == activated


@rule(
    "behaviour §3.1 acquire",
    without="a failure after the claim reads as a refusal, and the lease is forgotten",
)
def failed_claim_status() -> int:
    """What fails after the claim is a 503, which proves nothing: ownership is kept."""
    return 503


@rule(
    "behaviour §3.5", without="an ambiguous failure of acquire is taken for 'not held', and the lease leaks"
)
def acquire_refusal_is_definite(status: int, code: str) -> bool:
    """Only a 409 that names the Workspace busy or unavailable proves that nothing was acquired."""
    return status == 409 and code in DEFINITE_REFUSALS


@rule("003 Implementation and validation", without="a turn waits for a Workspace that is never given back")
def waits_when_busy(code: str) -> bool:
    """A turn that is refused a Workspace ends there, a busy one too: it never waits and asks again."""
    return False


@rule("behaviour §1.10", without="a new life of the worker inherits a lease, or revives a lost binding")
def may_rebind(current: str, binding: str) -> bool:
    """Warming binds a Workspace to its worker's present life while nobody holds it and the binding is not lost."""
    return current == "" and binding != LOST


# --- use --------------------------------------------------------------------------------------------------------


@rule("003 Ownership and transport", without="a late or foreign owner's publisher receives the output")
def may_register(state: str, current: str, claimant: str) -> bool:
    """A publisher is registered only in the original ready Runtime Session while it holds the Workspace."""
    return state == READY and current == claimant


@rule(
    "behaviour §1.10",
    without="an execution is reserved in a Runtime Session that is giving its Workspace back",
)
def may_reserve(state: str) -> bool:
    """Only a ready Runtime Session takes reservations."""
    return state == READY


@rule("behaviour §7 guard 128", without="a command runs after the Workspace went to another Session")
def may_dispatch(current: str, claimant: str) -> bool:
    """Right before dispatch, the Workspace is still held by the execution's own Runtime Session."""
    return current == claimant


# --- release ----------------------------------------------------------------------------------------------------


@rule(
    "behaviour §3.2 Broker",
    without="a Broker that forgot its controls gives a Workspace back on ledger rows alone",
)
def may_answer_for(acquired: bool) -> bool:
    """A Runtime Session is released only by the life of the Broker that acquired it; else it needs reconciliation."""
    return acquired


@rule("behaviour §7 guard 116", without="a second Session enters beside an execution that may be live")
def is_live(state: str) -> bool:
    """Every execution that is not settled counts as live: reserved and unknown ones too."""
    return state != "settled"


@rule("behaviour §4", without="a Runtime Session that never became ready, or failed, is given back")
def may_release(state: str) -> bool:
    """A ready Runtime Session can be released; one that is being released can be asked again."""
    return state in (READY, RELEASING)


@rule("behaviour §7 guard 117", without="one Session frees the Workspace of another")
def may_clear(current: str, claimant: str) -> bool:
    """A lease row is cleared by its matching holder only."""
    return current == claimant
