"""How far a run's end reaches: nobody, a Session, or a whole Workspace; and how a second Session fares there."""

from __future__ import annotations

import msgspec

from sim.outcome import BLOCKED, COMPLETED, LOADED, NOT_ACCEPTED, PROBE, RAN_OUT, Outcome, TurnOutcome

NOBODY, SESSION, WORKSPACE = "nobody", "this Session", "this Workspace"
UNWELL = frozenset({BLOCKED, NOT_ACCEPTED, RAN_OUT})
"""How a turn ends that leaves its Session with something open."""


class Blast(msgspec.Struct, frozen=True, array_like=True):
    """Whom a run's end still stands in the way of.

    ``reach`` is nobody, this Session, or this Workspace, in which case no other Session can work there either.
    ``turns`` says how each turn ended, ``leases`` who holds each Workspace, ``now`` how a second Session fares when
    everything is healed, ``later`` what a new owner of the Session finds after the writer lease has run out.
    """

    reach: str
    turns: tuple[str, ...]
    leases: tuple[str, ...]
    now: tuple[str, ...]
    later: tuple[str, ...]


def blast(found: Outcome) -> Blast:
    """How far the end of a run reaches."""
    return Blast(
        _reach(found),
        tuple(f"{turn.prompt} {_ended(turn)}" for turn in found.turns),
        tuple(
            f"{workspace} {f'held by {holder}' if holder else 'free'}" for workspace, holder in found.leases
        ),
        tuple(f"a second Session on {_workspace(probe)} ends {_ended(probe)}" for probe in found.probes),
        tuple(
            f"a new owner of {load.session} finds {load.first}{_again(load.first, load.second)}"
            for load in found.loads
        )
        + tuple(f"{turn.prompt}, sent again, ends {_ended(turn)}" for turn in found.reopened),
    )


def _reach(found: Outcome) -> str:
    """A Workspace is out of reach when a second Session does not complete there, or is held and nobody tried."""
    tried = {_workspace(probe) for probe in found.probes}
    untried = any(holder and workspace not in tried for workspace, holder in found.leases)
    if untried or any(probe.ending != COMPLETED for probe in found.probes):
        return WORKSPACE
    refused = any(load.first != LOADED for load in found.loads)
    told = {(turn.session, turn.prompt): turn.ending for turn in (*found.turns, *found.reopened)}
    return SESSION if refused or UNWELL & set(told.values()) else NOBODY


def _ended(turn: TurnOutcome) -> str:
    return f"{turn.ending} ({turn.reason})" if turn.reason else turn.ending


def _workspace(probe: TurnOutcome) -> str:
    return probe.session.removeprefix(f"{PROBE}-")


def _again(first: str, second: str) -> str:
    if not second:
        return ""
    return ", and so does the next" if first == second else f", and the next one {second}"
