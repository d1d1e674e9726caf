"""When a Session may be opened, left, and asked for another turn."""

from __future__ import annotations

from sim.rule import rule


@rule("003 Lifecycle; field case RC-06", without="the writer of a running turn is sealed under it")
def turn_is_over(active: str) -> bool:
    """A Session is not detached while a turn of it runs."""
    return not active


@rule("003 Lifecycle; field cases RC-06, RC-20", without="ownership that must be retained is given up")
def is_proved(blocked: bool) -> bool:
    """A recovery-blocked Session is not detached: what it retains, it retains."""
    return not blocked


@rule(
    "behaviour §1.2; field case RC-20",
    without="a second load replaces the activation of the owner that is at work",
)
def may_open(attached: bool) -> bool:
    """A Session that is open in this process is not opened there again."""
    return not attached


@rule("behaviour §1.2; 003 Lifecycle", without="a prompt is admitted under a writer that is being sealed")
def is_attached(attached: bool) -> bool:
    """Only a Session that is open takes prompts: none before its load has ended, none once it is left."""
    return attached


@rule("behaviour §1.2", without="one prompt id stands for two texts, and the second one is never asked")
def prompt_conflicts(text: str, accepted: str) -> bool:
    """The id of an admitted prompt, sent with another text, is refused."""
    return text != accepted
