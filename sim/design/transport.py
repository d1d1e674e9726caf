"""What a caller believes of a reply."""

from __future__ import annotations

from sim.rule import rule


@rule("behaviour §7 guard 54", without="the reply to another request is taken for the answer to this one")
def reply_is_mine(asked: str, echoed: str) -> bool:
    """A reply counts only when it echoes the identity of what was asked."""
    return asked == echoed
