"""The driver of a run: it plays the scenario's Sessions, heals the world, and looks at how the world was left."""

from __future__ import annotations

from sim.actor import Actor
from sim.effects import Boot, Call, Failed, Heal, Join, Kill, Script, Sleep, Start, Uncertain, Wait
from sim.protocol import AwaitTurn, CancelTurn, LoadSession, Prompt, TurnEnded, VerifyRetained
from sim.rule import Decide
from sim.scenario import Program, Scenario, SessionPlan, Touch, Turn, calls, says, shell

TURN_TIMEOUT_MS = 3 * 3_600_000
"""How long the driver waits for a turn to end."""
RETRY_MS = 1_000
PROMPT_SENDS = 3
SETTLE_MS = 95_000
"""Longer than a pause and a request's timeout: what was under way when the Sessions ended has arrived, or is lost."""
RECOVER_MS = 5_000
"""Longer than a restart: after healing, every supervised process is up."""
RELOADS = 2
"""How often a Session that is not well is opened anew: what the second owner finds must equal what the first found."""
LEASE_WAIT_MS = 61_000
"""Longer than a writer lease, so that a new owner can take the Session over."""


PROBE = Program("touch probed", (Touch("effects.log", "probed"),))
"""What a probing Session runs: one visible effect, and not a byte of output."""


def probe_of(session: SessionPlan) -> SessionPlan:
    """A second Session on the same Workspace: one Shell call, then text."""
    name = f"probe-{session.workspace}"
    turn = Turn((calls(shell(f"{name}-call", PROBE.command)), says("done")))
    return SessionPlan(name, session.workspace, (turn,))


def prompt_id(session: SessionPlan, number: int) -> str:
    """The id of a Session's nth prompt, from 1: a fresh one, if the scenario does not name it."""
    named = [turn.prompt for turn in session.turns[number - 1 : number] if turn.prompt]
    return named[0] if named else f"{session.name}.p{number}"


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
            await self.play(probe, 1)
        for _, session in enumerate(self.scenario.sessions):
            await self.reload(session)
        if self.scenario.reread:
            await self.reread()

    async def play(self, session: SessionPlan, first: int) -> None:
        """The Session's turns from its ``first`` on, until one does not settle."""
        if session.after:
            await Wait(session.after)
        await Boot(f"owner:{session.name}")
        loaded = await self.load(session.name)
        if not loaded:
            self.unwell[session.name] = first
            return
        await self.turns(session, first)

    async def turns(self, session: SessionPlan, first: int) -> None:
        """The turns from the ``first`` on, on an owner that is up."""
        self.unwell.pop(session.name, None)
        for number, turn in enumerate(session.turns, 1):
            if number < first:
                continue
            ended = await self.turn(session.name, prompt_id(session, number), turn)
            if ended is None or ended.state == "recovery-blocked":
                self.unwell[session.name] = number
                self.blocked |= {session.name} if ended else set()
                return

    async def load(self, session: str) -> bool:
        """Open the Session in its owner; False when that is refused, or the owner does not answer."""
        try:
            await Call(f"harness:{session}", LoadSession(session), TURN_TIMEOUT_MS)
        except (Failed, Uncertain):
            return False
        return True

    async def turn(self, session: str, prompt: str, turn: Turn) -> TurnEnded | None:
        """Send the prompt and wait for the turn's end; None when the owner does not tell it."""
        if turn.cancel:
            await Start(self.cancel, (session, prompt, turn.cancel))
        admitted = await self.prompt(session, Prompt(prompt, turn.text))
        if not admitted:
            return None
        return await self.ended(session, prompt)

    async def ended(self, session: str, prompt: str) -> TurnEnded | None:
        """How a turn ended, as its owner tells it; None when the owner is dead."""
        try:
            return await Call(f"harness:{session}", AwaitTurn(prompt), TURN_TIMEOUT_MS)
        except (Failed, Uncertain):
            return None

    async def prompt(self, session: str, prompt: Prompt) -> bool:
        """Send a prompt, and the same again while the answer is lost: admission is idempotent by its id."""
        sends = 0
        while sends < PROMPT_SENDS:
            sends += 1
            try:
                await Call(f"harness:{session}", prompt)
                return True
            except Failed:
                return False
            except Uncertain:
                await Sleep(RETRY_MS)
        return False

    async def cancel(self, session: str, prompt: str, milestone: str) -> None:
        """The user cancels at a milestone, once."""
        await Wait(milestone)
        await Call(f"harness:{session}", CancelTurn(prompt))

    async def reload(self, session: SessionPlan) -> None:
        """Look at a Session that is not well: does it take another prompt, and what does a new owner find?"""
        if session.name not in self.unwell:
            last = len(session.turns)
            ended = await self.ended(session.name, prompt_id(session, last))
            if ended is not None:
                return
            self.unwell[session.name] = last + 1
        first = self.unwell[session.name]
        if session.name in self.blocked:
            await self.prompt(session.name, Prompt(f"{session.name}.later", "go on"))
        loaded = False
        for _, _again in enumerate(range(RELOADS)):
            await Kill(f"owner:{session.name}")
            await Sleep(LEASE_WAIT_MS)
            await Boot(f"owner:{session.name}")
            loaded = await self.load(session.name)
        if loaded:
            await self.turns(session, first)

    async def reread(self) -> None:
        """Every producer is dead; then somebody who was never there reads what is retained."""
        for _, session in enumerate(self.scenario.sessions):
            await Kill(f"owner:{session.name}")
            await Kill(f"worker:{session.workspace}")
        for _, session in enumerate(self.scenario.sessions):
            await Call("reader", VerifyRetained(session.name), TURN_TIMEOUT_MS)
