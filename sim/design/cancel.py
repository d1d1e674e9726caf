"""What a cancellation may conclude."""

from __future__ import annotations

from sim.rule import rule


@rule("003 Lifecycle", without="a cancelled turn still dispatches what it reserved")
def stops_before_start(cancelled: bool) -> bool:
    """Once cancelled, nothing that was not started is started."""
    return cancelled


@rule("003 Lifecycle", without="a cancelled turn settles while its process may still run")
def proves_not_started(cancelled: bool, state: str, status: str, unsent: str) -> bool:
    """A cancellation before start is proved by a settled execution with the status of what was never sent."""
    return cancelled and state == "settled" and status == unsent


@rule(
    "behaviour §1.10, observation windows", without="a failed batch hides its cause behind a failed clean-up"
)
def is_best_effort() -> bool:
    """Cancelling what a failed batch had reserved concludes nothing, whatever becomes of it."""
    return True


@rule("003 Lifecycle", without="an execution whose cancellation was lost is taken as cancelled")
def confirmed(state: str) -> bool:
    """A cancellation counts when the broker confirms it: requested, or settled."""
    return state in ("cancel_requested", "settled")
