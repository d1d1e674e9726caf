"""How often something is asked again after doubt, and after which doubt.

A cause is that of :class:`~sim.effects.Uncertain`: ``timeout``, ``transport`` or ``server``. ``sends`` counts
what was sent so far, from 1. A definite refusal never comes here, for it is an answer; only a settlement is
written again whatever happened, and its cause may be an error code.
"""

from __future__ import annotations

from sim.design.limits import Limits
from sim.rule import rule

UNCERTAIN = ("timeout", "transport", "server")
"""What leaves a commit or a read in doubt."""

LOST = ("timeout", "transport")
"""What is replayed where an HTTP 5xx is not: a message that got lost on its way."""


@rule("behaviour §3.5, §3.6", without="one lost reply stops the Session, or a commit is sent without end")
def commit_again(cause: str, sends: int, limits: Limits) -> bool:
    """A commit in doubt is sent again, the identical candidate, up to three sends in all."""
    return cause in UNCERTAIN and sends < limits.commit_sends


@rule("behaviour §1.11, §3.6", without="one lost read or renewal fails the turn, or is repeated without end")
def read_again(cause: str, sends: int, limits: Limits) -> bool:
    """A read of the Session Store, or a renewal of the writer lease, is asked up to three times."""
    return cause in UNCERTAIN and sends < limits.read_sends


@rule("behaviour §3.5, §3.6", without="a lost reservation reply blocks the turn, or is replayed without end")
def prepare_again(cause: str, sends: int, limits: Limits) -> bool:
    """A reservation is replayed once, identically, when a message got lost; never after an HTTP 5xx."""
    return cause in LOST and sends < limits.prepare_sends


@rule("behaviour §3.5, §3.6", without="a lost acknowledgement blocks the turn, or is replayed without end")
def ack_again(cause: str, sends: int, limits: Limits) -> bool:
    """An acknowledgement is replayed once, identically, when a message got lost; never after an HTTP 5xx."""
    return cause in LOST and sends < limits.ack_sends


@rule("behaviour §1.2, §3.6", without="a turn whose work is done stays unsettled after one failed write")
def settle_again(cause: str, sends: int, limits: Limits) -> bool:
    """The record that settles a turn is written once more, unchanged, whatever the cause of the failure."""
    return sends < limits.settle_writes
