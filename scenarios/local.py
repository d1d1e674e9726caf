"""The local wrapper: a daemon Session that leads its turn and runs its commands in one process (003, O1c)."""

from __future__ import annotations

from msgspec.structs import replace

from scenarios.base import DONE, alone, quick
from scenarios.row import Promise, Row
from sim.protocol import ModelOutput
from sim.scenario import LOCAL, Program, Scenario, calls

ADMISSION = "003 Identity, admission and model history"


def at_home(
    name: str, *answers: ModelOutput, programs: tuple[Program, ...] = (), cancel: str = ""
) -> Scenario:
    """One local Session, one turn."""
    hosted = alone(name, *answers, programs=programs, cancel=cancel)
    return replace(hosted, sessions=tuple(replace(each, leader=LOCAL) for each in hosted.sessions))


def completes(spawns: int, asked: int) -> Promise:
    """The turn completes; nothing is dispatched or acknowledged, and no Workspace lease is ever asked for."""
    return Promise(("completed",), spawns, 0, asked, 0)


ROWS = (
    Row(
        "local-one-call",
        "x",
        at_home("local-one-call", calls(quick("call-1", "make")), DONE),
        completes(1, 2),
        ADMISSION,
    ),
    Row(
        "local-two-calls",
        "x",
        at_home("local-two-calls", calls(quick("call-1", "make"), quick("call-2", "make test")), DONE),
        completes(2, 2),
        ADMISSION,
    ),
)
