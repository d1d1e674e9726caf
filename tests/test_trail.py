"""Trails: the same moves come back that were made, they are short, and they say how far a run's end reaches."""

from __future__ import annotations

import json
import zlib
from functools import cache

import pytest

from faults.sweeps import Sweep, single
from reports.bench import House, sightings
from reports.blast import NOBODY, SESSION, WORKSPACE, blast
from reports.trail import ASK, COMMIT, HEALS, LEARN, NONE, STRIKE, Move, Trail, Walker, read, trail, written
from sim.history import Answered, Asked, Failure, History
from sim.outcome import Outcome, TurnOutcome, outcome
from sim.points import Plan
from sim.protocol import Status

BENCH = House()


@cache
def row(name: str) -> tuple[Sweep, Trail]:
    """The plans of a row, and its run without faults."""
    seen, history = sightings(BENCH, name)
    return single(seen), trail(history.events)


def plan(name: str, label: str, fate: str) -> Plan:
    sweep, _ = row(name)
    strikes = enumerate(sweep.strikes, 1)
    return sweep.plan(next(at for at, (point, kind) in strikes if (point.label, str(kind)) == (label, fate)))


@cache
def struck(label: str, fate: str) -> History:
    return BENCH.play("one-call", plan("one-call", label, fate))


def text(history: History, beside: Trail = NONE) -> str:
    return written(history.events, outcome(history.events), beside)


def moves(history: History) -> tuple[Move, ...]:
    return tuple(Walker().moves(history.events))


@pytest.mark.parametrize("name", ["text-only", "one-call"])
def test_what_is_read_back_are_the_moves_of_the_run(name: str) -> None:
    sweep, beside = row(name)
    for number in range(1, len(sweep), len(sweep) // 40):
        history = BENCH.play(name, sweep.plan(number))
        assert read(text(history, beside), beside) == moves(history), str(sweep.plan(number))
        assert read(text(history)) == moves(history)


def test_the_row_without_faults_is_told_without_another_run() -> None:
    history = BENCH.play("text-only", Plan())
    told = text(history)
    assert read(told) == row("text-only")[1].moves
    assert json.loads(told)[1] == 0


def test_a_run_that_differs_in_nothing_is_one_stretch() -> None:
    _, beside = row("text-only")
    told = json.loads(text(BENCH.play("text-only", Plan()), beside))
    assert told[1:] == [len(beside.moves), [[0, len(beside.moves)]]]


def test_only_what_differs_is_written_out() -> None:
    _, beside = row("one-call")
    history = struck("Release", "reply-lost")
    pieces = json.loads(text(history, beside))[2]
    assert pieces[0][0] == 0
    assert pieces[0][1] > len(beside.moves) // 2
    fresh = [piece for piece in pieces if len(piece) > 1 and isinstance(piece[1], str)]
    assert 1 <= len(fresh) < 12
    assert [piece[1] for piece in fresh].count(STRIKE) == 1


def test_trails_are_short() -> None:
    """In a page a trail may take 150 bytes; here the runs lie far apart, so they have less in common than there."""
    sweep, beside = row("one-call")
    runs = [BENCH.play("one-call", sweep.plan(number)) for number in range(1, len(sweep), len(sweep) // 60)]
    packed = zlib.compress("".join(text(history, beside) for history in runs).encode("ascii"), 9)
    assert len(packed) / len(runs) < 150


def test_a_request_that_never_arrived_is_told_from_an_answer_that_was_lost() -> None:
    lost = [move for move in moves(struck("Acquire", "request-lost")) if move[1] == LEARN]
    unheard = [move for move in moves(struck("Acquire", "reply-lost")) if move[1] == LEARN]
    assert [move[3:] for move in lost[:1]] == [("!!", "doubt (timeout)", 0)]
    assert [move[3:] for move in unheard[:1]] == [("!!", "doubt (timeout)", 1)]


def test_a_commit_tells_its_rows_and_what_it_removed() -> None:
    clear = [move for move in row("one-call")[1].moves if move[1:4] == (COMMIT, "broker", "ClearLease")]
    assert clear[0][4] == (("leases", "w", None), ("runtime_sessions", "a.p1", "released, generation 1"))


def test_after_the_world_is_healed_it_is_told_what_the_client_sees() -> None:
    told = row("one-call")[1].moves
    healed = next(place for place, move in enumerate(told) if move[1] == HEALS)
    after = told[healed + 1 :]
    assert {move[2] for move in after if move[1] == ASK} == {"client"}
    assert COMMIT not in {move[1] for move in after}


def test_text_that_is_ill_formed_is_told_as_escapes() -> None:
    events = [
        Asked(1, 1, 1, 1, "broker", Status("e")),
        Answered(2, 1, Failure("bad\ud800\n</script>", 409)),
    ]
    told = written(events, Outcome((), (), (), (), (), (), (), ""))
    assert told.isascii()
    assert read(told)[1] == (1, "answer", 0, "--", "refused bad\\ud800\\u000a</script> (409)")


# --- how far the end of a run reaches


def ended(label: str, fate: str) -> Outcome:
    return outcome(struck(label, fate).events)


def test_a_run_that_completes_is_in_nobodys_way() -> None:
    assert blast(outcome(BENCH.play("one-call", Plan()).events)).reach == NOBODY


def test_a_blocked_session_that_holds_nothing_is_in_its_own_way() -> None:
    found = blast(ended("Acquire", "request-lost"))
    assert found.reach == SESSION
    assert found.leases == ("w free",)
    assert found.now == ("a second Session on w ends completed",)
    assert found.later == ("a new owner of a finds hosted_turn_recovery_required, and so does the next",)


def test_a_blocked_session_that_holds_the_workspace_is_in_the_way_of_every_other() -> None:
    found = blast(ended("Acquire", "reply-lost"))
    assert found.reach == WORKSPACE
    assert found.leases == ("w held by a",)
    assert found.now == ("a second Session on w ends error (workspace_busy)",)


def test_a_workspace_that_is_held_and_that_nobody_tried_is_out_of_reach() -> None:
    turn = TurnOutcome("a", "a.p1", "ran out", "horizon", 1)
    assert blast(Outcome((turn,), (), (("w", "a"),), (), (), (), (), "horizon")).reach == WORKSPACE
