"""One run: wire the actors, play a scenario under a plan of faults and a design, give back the history."""

from __future__ import annotations

from collections.abc import Callable

from sim.actors.broker import Broker
from sim.actors.client import PROBE, Client, probe_of, prompt_id
from sim.actors.harness import Harness, Local
from sim.actors.intruder import INTRUDER, TRAP, Intruder, Stolen, Trap, forgeries
from sim.actors.journal import Journal, writer_token
from sim.actors.model import Model
from sim.actors.publisher import Publisher, descriptor_of
from sim.actors.reader import Reader
from sim.actors.store import Objects, Publications, Store
from sim.actors.worker import Worker
from sim.circumstances import CIRCUMSTANCES
from sim.design import SCALED, Design
from sim.history import History
from sim.kernel import Kernel
from sim.points import NO_FAULTS, Plan, Sighting, Watcher
from sim.scenario import (
    LOCAL,
    IllFormed,
    Program,
    Scenario,
    SessionPlan,
    Turn,
    refuse_ill_formed,
    says,
    usual,
)
from sim.storage.memory import MemoryDatabase, MemoryOutside
from sim.storage.port import Database

DECOY = ("harness", "effects.log", b"untouched\n")
"""A file in the harness's own directory, named like the one that commands change in their Workspaces."""


def run(
    scenario: Scenario,
    plan: Plan = NO_FAULTS,
    design: Design = SCALED,
    watcher: Watcher | None = None,
    storage: Callable[[], Database] = MemoryDatabase,
) -> History:
    """Play ``scenario`` once. Equal arguments give an equal history, on any machine.

    ``storage`` makes the run's database, which is empty; whatever keeps it, the history is the same.

    Raises:
        IllFormed: a prompt, a model's text or an id of the scenario is no well-formed Unicode, or nobody can play one
            of its intrusions.
    """
    refuse_ill_formed(scenario)
    outside = MemoryOutside()
    outside.append(*DECOY)
    kernel = Kernel(storage(), outside, design, plan, CIRCUMSTANCES, watcher, milestones(scenario))
    probes = {session.workspace: probe_of(session) for session in scenario.sessions}
    sessions = (*scenario.sessions, *probes.values())
    _host_shared(kernel, scenario, sessions, design)
    programs = _programs(scenario)
    for workspace in probes:
        _host_worker(kernel, workspace, programs, design)
    for session in sessions:
        if session.leader == LOCAL:
            _host_local(kernel, session, programs, design)
        else:
            _host_owner(kernel, session, design)
    if scenario.intrusions:
        _host_intruder(kernel, scenario)
    if scenario.reread:
        kernel.host("reader", "reader", lambda _life: Reader(kernel.ask, design.limits), restarts=True)
    history = kernel.run("client")
    kernel.close()
    return history


def milestones(scenario: Scenario) -> frozenset[str]:
    """Every place of a run whose passing somebody waits for."""
    cancels = {turn.cancel for session in scenario.sessions for turn in session.turns}
    begins = {session.after for session in scenario.sessions}
    asides = {aside.at for session in scenario.sessions for aside in session.asides}
    return frozenset(cancels | begins | asides | {intrusion.at for intrusion in scenario.intrusions}) - {""}


def points(scenario: Scenario, design: Design = SCALED) -> list[Sighting]:
    """Every point that a run without faults reaches before it is healed, in order."""
    sightings: list[Sighting] = []
    run(scenario, NO_FAULTS, design, sightings.append)
    return sightings


def _host_shared(
    kernel: Kernel, scenario: Scenario, sessions: tuple[SessionPlan, ...], design: Design
) -> None:
    turns = {aside.prompt: Turn((says("done"),)) for session in sessions for aside in session.asides} | {
        prompt_id(session, number): turn
        for session in sessions
        for number, turn in enumerate(session.turns, 1)
    }
    kernel.host("client", "client", lambda _life: Client(scenario, kernel.ask))
    kernel.host("model", "model", lambda _life: Model(turns, scenario.strict), restarts=True)
    kernel.host(
        "broker", "broker", lambda _life: Broker(kernel.disk, kernel.ask, design.limits), restarts=True
    )
    kernel.host("store", "store", lambda _life: Store(kernel.disk, kernel.ask, design.limits), restarts=True)
    if any(each.capture_bytes for session in sessions for each in session.definitions):
        _host_publications(kernel, design)


def _host_publications(kernel: Kernel, design: Design) -> None:
    """The publication services, on the Store's database, and the object store behind them."""
    kernel.host(
        "publications",
        "publications",
        lambda _life: Publications(kernel.disk, kernel.ask, design.limits),
        restarts=True,
    )
    kernel.host("objects", "objects", lambda _life: Objects(kernel.disk, kernel.ask), restarts=True)


def _programs(scenario: Scenario) -> Callable[[str], Program]:
    """What each command does."""
    programs = {program.command: program for program in (PROBE, *scenario.programs)}

    def program(command: str) -> Program:
        return programs.get(command) or usual(command)

    return program


def _host_worker(kernel: Kernel, workspace: str, programs: Callable[[str], Program], design: Design) -> None:
    kernel.host(
        f"worker:{workspace}",
        f"worker:{workspace}",
        lambda life: Worker(workspace, life, kernel.ask, design.limits, programs),
        restarts=True,
    )


def _host_owner(kernel: Kernel, session: SessionPlan, design: Design) -> None:
    name, owner, limits = session.name, f"owner:{session.name}", design.limits
    kernel.host(f"journal:{name}", owner, lambda life: Journal(name, life, kernel.ask, limits))
    kernel.host(f"publisher:{name}", owner, lambda life: Publisher(name, life, kernel.ask, limits))
    kernel.host(
        f"harness:{name}",
        owner,
        lambda life: Harness(name, session.workspace, life, kernel.ask, limits, session.definition(life)),
    )


def _host_intruder(kernel: Kernel, scenario: Scenario) -> None:
    """An outsider: it reads ids where any process of the machine could, and has what it is said to have stolen."""
    for intrusion in scenario.intrusions:
        if (intrusion.route, intrusion.wrong) not in forgeries():
            known = ", ".join(wrong for route, wrong in forgeries() if route == intrusion.route)
            wrong = f"no intruder sends {intrusion.route} with '{intrusion.wrong}' wrong"
            raise IllFormed(f"{wrong}; what it sends there: {known or 'nothing'}.")
    workspaces = {session.name: session.workspace for session in scenario.sessions}
    stolen = Stolen(descriptor_of, writer_token)
    kernel.host(
        INTRUDER,
        INTRUDER,
        lambda _life: Intruder(scenario.intrusions, workspaces, kernel.disk, stolen),
        restarts=True,
    )
    kernel.host(TRAP, INTRUDER, lambda _life: Trap())


def _host_local(
    kernel: Kernel, session: SessionPlan, programs: Callable[[str], Program], design: Design
) -> None:
    """A local daemon Session: its writer stands on a store of its own, and nothing lies between its parts."""
    name, owner, limits = session.name, f"owner:{session.name}", design.limits
    store = f"local-store:{name}"
    kernel.host(store, owner, lambda _life: Store(kernel.disk, kernel.ask, limits))
    kernel.host(f"local-journal:{name}", owner, lambda life: Journal(name, life, kernel.ask, limits, store))
    kernel.host(
        session.address,
        owner,
        lambda life: Local(name, session.workspace, life, kernel.disk, kernel.ask, limits, programs),
    )
