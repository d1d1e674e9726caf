"""One run: wire the actors, play a scenario under a plan of faults and a design, give back the history."""

from __future__ import annotations

from sim.actors.broker import Broker
from sim.actors.client import PROBE, Client, probe_of, prompt_id
from sim.actors.harness import Harness
from sim.actors.journal import Journal
from sim.actors.model import Model
from sim.actors.publisher import Publisher
from sim.actors.reader import Reader
from sim.actors.store import Store
from sim.actors.worker import Worker
from sim.circumstances import CIRCUMSTANCES
from sim.design import SCALED, Design
from sim.history import History
from sim.kernel import Kernel
from sim.points import NO_FAULTS, Plan, Sighting, Watcher
from sim.scenario import Program, Scenario, SessionPlan, refuse_ill_formed, usual
from sim.storage.memory import MemoryDatabase, MemoryOutside

DECOY = ("harness", "effects.log", b"untouched\n")
"""A file in the harness's own directory, named like the one that commands change in their Workspaces."""


def run(
    scenario: Scenario, plan: Plan = NO_FAULTS, design: Design = SCALED, watcher: Watcher | None = None
) -> History:
    """Play ``scenario`` once. Equal arguments give an equal history, on any machine.

    Raises:
        IllFormed: a prompt, a model's text or an id of the scenario is no well-formed Unicode.
    """
    refuse_ill_formed(scenario)
    cancels = {turn.cancel for session in scenario.sessions for turn in session.turns}
    milestones = frozenset(cancels | {session.after for session in scenario.sessions}) - {""}
    outside = MemoryOutside()
    outside.append(*DECOY)
    kernel = Kernel(MemoryDatabase(), outside, design, plan, CIRCUMSTANCES, watcher, milestones)
    probes = {session.workspace: probe_of(session) for session in scenario.sessions}
    sessions = (*scenario.sessions, *probes.values())
    _host_shared(kernel, scenario, sessions, design)
    for workspace in probes:
        _host_worker(kernel, workspace, scenario, design)
    for session in sessions:
        _host_owner(kernel, session, design)
    if scenario.reread:
        kernel.host("reader", "reader", lambda _life: Reader(kernel.ask, design.limits), restarts=True)
    history = kernel.run("client")
    kernel.close()
    return history


def points(scenario: Scenario, design: Design = SCALED) -> list[Sighting]:
    """Every point that a run without faults reaches before it is healed, in order."""
    sightings: list[Sighting] = []
    run(scenario, NO_FAULTS, design, sightings.append)
    return sightings


def _host_shared(
    kernel: Kernel, scenario: Scenario, sessions: tuple[SessionPlan, ...], design: Design
) -> None:
    turns = {
        prompt_id(session, number): turn
        for session in sessions
        for number, turn in enumerate(session.turns, 1)
    }
    kernel.host("client", "client", lambda _life: Client(scenario, kernel.ask))
    kernel.host("model", "model", lambda _life: Model(turns), restarts=True)
    kernel.host(
        "broker", "broker", lambda _life: Broker(kernel.disk, kernel.ask, design.limits), restarts=True
    )
    kernel.host("store", "store", lambda _life: Store(kernel.disk, kernel.ask, design.limits), restarts=True)


def _host_worker(kernel: Kernel, workspace: str, scenario: Scenario, design: Design) -> None:
    programs = {program.command: program for program in (PROBE, *scenario.programs)}

    def program(command: str) -> Program:
        return programs.get(command) or usual(command)

    kernel.host(
        f"worker:{workspace}",
        f"worker:{workspace}",
        lambda life: Worker(workspace, life, kernel.ask, design.limits, program),
        restarts=True,
    )


def _host_owner(kernel: Kernel, session: SessionPlan, design: Design) -> None:
    name, owner, limits = session.name, f"owner:{session.name}", design.limits
    kernel.host(f"journal:{name}", owner, lambda life: Journal(name, life, kernel.ask, limits))
    kernel.host(f"publisher:{name}", owner, lambda life: Publisher(name, life, kernel.ask, limits))
    kernel.host(
        f"harness:{name}", owner, lambda life: Harness(name, session.workspace, life, kernel.ask, limits)
    )
