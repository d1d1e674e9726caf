"""Echo exchanges: through our kernel, and on a bare lean SimPy loop with equal messages and commits."""

from __future__ import annotations

from typing import Any

from simpy import Environment, Event
from simpy.events import Timeout

from sim.actor import Actor
from sim.design import SCALED
from sim.effects import Call, Commit, Facts, Request, Table, Transaction
from sim.kernel import Kernel
from sim.protocol import Value
from sim.rule import Decide
from sim.storage.memory import MemoryDatabase, MemoryOutside

KEPT: Table[str] = Table("kept")


class Echoed(Value, frozen=True, gc=False):
    text: str


class Echo(Request[Echoed], frozen=True, gc=False):
    text: str


class Keep(Transaction[None], frozen=True, gc=False):
    text: str

    def apply(self, facts: Facts, ask: Decide) -> None:
        facts.put(KEPT, "last", self.text)


class Server(Actor):
    async def echo(self, request: Echo) -> Echoed:
        await Commit(Keep(request.text))
        return Echoed(request.text)

    handlers = {Echo: echo}  # noqa: RUF012


class Caller(Actor):
    def __init__(self, exchanges: int) -> None:
        self.exchanges = exchanges

    async def boot(self) -> None:
        for _, _again in enumerate(range(self.exchanges)):
            await Call("server", Echo("hello"))


def ours(exchanges: int) -> None:
    """Each exchange: a request, a handler with one commit, a reply; written into a history."""
    kernel = Kernel(MemoryDatabase(), MemoryOutside(), SCALED)
    kernel.host("server", "server", lambda _life: Server(), restarts=True)
    kernel.host("caller", "caller", lambda _life: Caller(exchanges))
    kernel.run("caller")


class Reply(Event):
    """One event that is scheduled with a delay and a value, as a timeout is."""

    def __init__(self, env: Environment) -> None:
        self.env = env
        self.callbacks = []
        self._ok = True
        self._value = None


def bare(exchanges: int) -> None:
    """The same on callbacks of timeouts, plain functions and one reply event; the commit writes one dictionary."""
    env = Environment()
    disk: dict[str, str] = {}

    def arrived(event: Any) -> None:
        Timeout(env, 1, event.value).callbacks.append(applied)

    def applied(event: Any) -> None:
        text, reply = event.value
        disk["last"] = text
        reply._value = text
        env.schedule(reply, delay=1)

    def caller() -> Any:
        for _ in range(exchanges):
            reply = Reply(env)
            Timeout(env, 1, ("hello", reply)).callbacks.append(arrived)
            yield reply

    env.process(caller())
    env.run()


def timeouts(count: int) -> None:
    """The unit: a process that waits for one timeout after another."""

    def waits(env: Environment) -> Any:
        for _ in range(count):
            yield env.timeout(1)

    env = Environment()
    env.process(waits(env))
    env.run()
