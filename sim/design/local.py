"""What a local daemon Session does otherwise than a Hosted one: its guards, and when its checkpoint advances."""

from __future__ import annotations

from sim.rule import rule

LOCAL = "local-shell"
"""The protocol that the intent of a local execution names: no broker reserves it, and no worker runs it."""


@rule("003 Identity, admission and model history", without="an owner that lost its Session runs a command")
def guards_lease() -> bool:
    """Before each step and after each asynchronous read the writer lease must still be held."""
    return True


@rule(
    "003 Identity, admission and model history", without="a command runs in a directory that nobody selected"
)
def root_is_same(same: bool) -> bool:
    """The Session's root is still the directory that was opened."""
    return same


@rule(
    "003 Identity, admission and model history", without="what was true before a read is taken for true after"
)
def guards_reads() -> bool:
    """Lease and root are guarded again after each asynchronous read, because it took time."""
    return True


@rule("003 Identity, admission and model history", without="a turn goes on that was not admitted, or never")
def advances_with(delivery: str) -> bool:
    """The checkpoint advances in one commit with the receipt, unless the output is held back."""
    return delivery != "blocked"
