"""The driver of a run: it plays the scenario's Sessions, heals the world, and looks at how the world was left."""

from __future__ import annotations

from typing import Any

from sim.actor import Actor
from sim.effects import (
    Boot,
    Call,
    Failed,
    Heal,
    Join,
    Kill,
    Request,
    Script,
    Sleep,
    Start,
    Uncertain,
    Wait,
)
from sim.protocol import AwaitTurn, CancelTurn, DetachSession, LoadSession, Prompt, TurnEnded, VerifyRetained
from sim.rule import Decide
from sim.scenario import (
    CANCEL,
    DETACH,
    KILL,
    LOAD,
    PROMPT,
    RESTART,
    Aside,
    Program,
    Scenario,
    SessionPlan,
    Touch,
    Turn,
    calls,
    says,
    shell,
)

TURN_TIMEOUT_MS = 3 * 3_600_000
"""How long the driver waits for a turn to end."""
RETRY_MS = 1_000
PROMPT_SENDS = 3
DETACH_SENDS = 3
SETTLE_MS = 95_000
"""Longer than a pause and a request's timeout: what was under way when the Sessions ended has arrived, or is lost."""
RECOVER_MS = 5_000
"""Longer than a restart: after healing, every supervised process is up."""
RELOADS = 2
"""How often a Session that is not well is opened anew: what the second owner finds must equal what the first found."""
PROBE_PATIENCE_MS = 31_000
"""When the user of a probing Session cancels: longer than a request's timeout, and than any such turn has to take."""
LEASE_WAIT_MS = 61_000
"""Longer than a writer lease, so that a new owner can take the Session over."""


PROBE = Program("touch probed", (Touch("effects.log", "probed"),))
"""What a probing Session runs: one visible effect, and not a byte of output."""


def probe_of(session: SessionPlan) -> SessionPlan:
    """A second Session on the same Workspace, led in the same way: one Shell call, then text."""
    name = f"probe-{session.workspace}"
    turn = Turn((calls(shell(f"{name}-call", PROBE.command)), says("done")))
    return SessionPlan(name, session.workspace, (turn,), leader=session.leader)


def prompt_id(session: SessionPlan, number: int) -> str:
    """The id of a Session's nth prompt, from 1: a fresh one, if the scenario does not name it."""
    named = [turn.prompt for turn in session.turns[number - 1 : number] if turn.prompt]
    return named[0] if named else f"{session.name}.p{number}"


def well(ended: TurnEnded | None) -> bool:
    """Whether a turn came to an end over which the Session can go on."""
    return ended is not None and ended.state != "recovery-blocked"


class Client(Actor):
    """Plays every Session side by side; then heals the world, probes each Workspace and reloads what is not well.

    Where the scenario asks for it, a fresh reader has the last word.
    """

    def __init__(self, scenario: Scenario, ask: Decide) -> None:
        self.scenario = scenario
        self.ask = ask
        self.unwell: dict[str, int] = {}
        self.blocked: set[str] = set()

    async def boot(self) -> None:
        playing: list[Script[None]] = []
        for _, session in enumerate(self.scenario.sessions):
            script = await Start(self.play, (session, 1))
            playing.append(script)
        for _, script in enumerate(playing):
            await Join(script)
        await Sleep(SETTLE_MS)
        await Heal()
        await Sleep(RECOVER_MS)
        probes = {session.workspace: probe_of(session) for session in self.scenario.sessions}
        for _, probe in enumerate(probes.values()):
            await self.play(probe, 1, PROBE_PATIENCE_MS)
        for _, session in enumerate(self.scenario.sessions):
            await self.reload(session)
        if self.scenario.reread:
            await self.reread()

    async def play(self, session: SessionPlan, first: int, patience: int = TURN_TIMEOUT_MS) -> None:
        """The Session's turns from its ``first`` on, until one does not settle."""
        if session.after:
            await Wait(session.after)
        for _, aside in enumerate(session.asides):
            await Start(self.aside, (session, aside))
        await Boot(f"owner:{session.name}")
        loaded = await self.load(session)
        if not loaded:
            self.unwell[session.name] = first
            return
        await self.turns(session, first, patience)

    async def turns(self, session: SessionPlan, first: int, patience: int = TURN_TIMEOUT_MS) -> None:
        """The turns from the ``first`` on, on an owner that is up."""
        self.unwell.pop(session.name, None)
        for number, turn in enumerate(session.turns, 1):
            if number < first:
                continue
            prompt = prompt_id(session, number)
            ended = await self.turn(session, prompt, turn, patience)
            if turn.then == RESTART or (turn.then and well(ended)):
                ended = await self.hand_over(session, prompt, turn, ended)
            if not well(ended):
                self.unwell[session.name] = number
                self.blocked |= {session.name} if ended else set()
                return

    async def hand_over(
        self, session: SessionPlan, prompt: str, turn: Turn, ended: TurnEnded | None
    ) -> TurnEnded | None:
        """Change the Session's owner; how its turn ended, as the new owner tells it if the old one did not."""
        left = False
        if turn.then != RESTART:
            left = await self.detach(session)
        if turn.then != DETACH or not left:
            await Kill(f"owner:{session.name}")
        if not left:
            await Sleep(LEASE_WAIT_MS)
        await Boot(f"owner:{session.name}")
        loaded = await self.load(session)
        if not loaded or ended is not None:
            return ended if loaded else None
        return await self.turn(session, prompt, turn)

    async def detach(self, session: SessionPlan) -> bool:
        """Ask the owner to leave the Session, and again while the answer is lost; False when it does not."""
        sends = 0
        while sends < DETACH_SENDS:
            sends += 1
            try:
                await Call(session.address, DetachSession(session.name))
                return True
            except Failed:
                return False
            except Uncertain:
                await Sleep(RETRY_MS)
        return False

    async def aside(self, session: SessionPlan, aside: Aside) -> None:
        """Ask something once, at its milestone; whatever the answer is, the history keeps it."""
        await Wait(aside.at)
        await Sleep(aside.later)
        if aside.deed == KILL:
            await Kill(f"owner:{session.name}")
            return
        requests: dict[str, Request[Any]] = {
            CANCEL: CancelTurn(aside.prompt),
            DETACH: DetachSession(session.name),
            LOAD: LoadSession(session.name),
            PROMPT: Prompt(aside.prompt, aside.text),
        }
        try:
            await Call(session.address, requests[aside.deed])
        except (Failed, Uncertain):
            return

    async def load(self, session: SessionPlan) -> bool:
        """Open the Session in its owner; False when that is refused, or the owner does not answer."""
        try:
            await Call(session.address, LoadSession(session.name), TURN_TIMEOUT_MS)
        except (Failed, Uncertain):
            return False
        return True

    async def turn(
        self, session: SessionPlan, prompt: str, turn: Turn, patience: int = TURN_TIMEOUT_MS
    ) -> TurnEnded | None:
        """Send the prompt and wait for the turn's end; None when the owner does not tell it, even when cancelled."""
        if turn.cancel:
            await Start(self.cancel, (session, prompt, turn.cancel))
        admitted = await self.prompt(session, Prompt(prompt, turn.text))
        if not admitted:
            return None
        ended = await self.ended(session, prompt, patience)
        if ended is not None or patience == TURN_TIMEOUT_MS:
            return ended
        return await self.given_up(session, prompt)

    async def given_up(self, session: SessionPlan, prompt: str) -> TurnEnded | None:
        """How a turn ended that its user cancels after waiting long enough."""
        try:
            await Call(session.address, CancelTurn(prompt))
        except (Failed, Uncertain):
            return None
        return await self.ended(session, prompt)

    async def ended(
        self, session: SessionPlan, prompt: str, patience: int = TURN_TIMEOUT_MS
    ) -> TurnEnded | None:
        """How a turn ended, as its owner tells it; None when the owner is dead, or the turn outlasts the patience."""
        try:
            return await Call(session.address, AwaitTurn(prompt), patience)
        except (Failed, Uncertain):
            return None

    async def prompt(self, session: SessionPlan, prompt: Prompt) -> bool:
        """Send a prompt, and the same again while the answer is lost: admission is idempotent by its id."""
        sends = 0
        while sends < PROMPT_SENDS:
            sends += 1
            try:
                await Call(session.address, prompt)
                return True
            except Failed:
                return False
            except Uncertain:
                await Sleep(RETRY_MS)
        return False

    async def cancel(self, session: SessionPlan, prompt: str, milestone: str) -> None:
        """The user cancels at a milestone, once."""
        await Wait(milestone)
        await Call(session.address, CancelTurn(prompt))

    async def reload(self, session: SessionPlan) -> None:
        """Look at a Session that is not well: does it take another prompt, and what does a new owner find?"""
        if session.name not in self.unwell:
            last = len(session.turns)
            ended = await self.ended(session, prompt_id(session, last))
            if ended is not None:
                return
            self.unwell[session.name] = last + 1
        first = self.unwell[session.name]
        if session.name in self.blocked:
            await self.prompt(session, Prompt(f"{session.name}.later", "go on"))
        loaded = False
        for _, _again in enumerate(range(RELOADS)):
            await Kill(f"owner:{session.name}")
            await Sleep(LEASE_WAIT_MS)
            await Boot(f"owner:{session.name}")
            loaded = await self.load(session)
        if loaded:
            await self.turns(session, first)

    async def reread(self) -> None:
        """Every producer is dead; then somebody who was never there reads what is retained."""
        for _, session in enumerate(self.scenario.sessions):
            await Kill(f"owner:{session.name}")
            await Kill(f"worker:{session.workspace}")
        for _, session in enumerate(self.scenario.sessions):
            await Call("reader", VerifyRetained(session.name), TURN_TIMEOUT_MS)
