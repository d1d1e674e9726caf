"""The simulated world, on SimPy: performs effects, lets faults strike, writes the history. Nothing else does.

Crash is by never feeding: a dead script is not told that it died, so nothing of it, not even an ``except``, runs
again. Equal times are ordered by who asked first, which makes a run a function of scenario, plan and design.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ParamSpec, TypeVar

import msgspec
from simpy import Environment
from simpy.events import NORMAL, EventPriority
from simpy.events import Event as Occurrence

from sim import history as past
from sim.actor import Actor
from sim.design import transport
from sim.design.design import Design
from sim.effects import (
    Act,
    Boot,
    Call,
    Commit,
    Failed,
    Heal,
    Join,
    Kill,
    Script,
    Secret,
    Select,
    Serial,
    Signal,
    Sleep,
    Start,
    Stop,
    Transaction,
    Uncertain,
    Wait,
)
from sim.lives import Host, Life, Process
from sim.points import ACT, CALL, COMMIT, NO_FAULTS, Plan, Watcher
from sim.protocol import flipped
from sim.rule import Rule
from sim.storage.memory import MemoryDatabase, MemoryOutside
from sim.trouble import OF_PROCESSES, Trouble

P = ParamSpec("P")
R = TypeVar("R")

HOP_MS = 1
"""One message between processes, one commit, one deed; calls within a process take no time."""
LATE_MS = 1_000
"""How long after the caller's timeout a late message arrives: after the caller's own retry."""
DELAY_MS = 5_000
"""A delay within the caller's timeout."""
PAUSE_MS = 90_000
"""How long a paused process stands still: longer than a writer lease."""
RESTART_MS = 2_000
"""After a crash, how long until a supervised process is up again."""
HORIZON_MS = 4 * 3_600_000
BUDGET = 200_000
"""The most effects that one run may perform."""

LAST = EventPriority(NORMAL + 1)
"""After everything else of the same millisecond."""
EXPIRED = Secret("expired capability", "")
_WAITING: Any = object()
"""What performing an effect gives when its answer comes later."""


class Tick(Occurrence):
    """Something that happens after a delay."""

    def __init__(
        self, env: Environment, delay: int, happen: Callable[[Any], None], priority: EventPriority = NORMAL
    ) -> None:
        self.env = env
        self.callbacks = [happen]
        self._ok = True
        self._value = None
        env.schedule(self, priority, delay)


class Exchange(Occurrence):
    """One request and its reply. The same object is scheduled for the way there and for the way back.

    ``server`` is the process that is working on it, between delivery and reply.
    """

    _ok = True
    _value = None
    done = False
    server: Process | None = None
    answer: Any = None
    error: Failed | Uncertain | None = None
    fate = ""

    def __init__(
        self,
        env: Environment,
        serial: int,
        caller: Life,
        call: Call[Any],
        label: str,
        nth: int,
        deadline: int,
    ) -> None:
        self.env = env
        self.serial = serial
        self.caller = caller
        self.to = call.to
        self.request = call.request
        self.label = label
        self.nth = nth
        self.deadline = deadline


class Kernel:
    """Runs actors under a plan of faults and a design.

    Args:
        database: what is durable; it survives every crash.
        outside: the world outside, likewise.
        design: what every rule answers.
        plan: the faults to strike.
        circumstances: for each fate of time, the transaction that brings it about in a Session's database rows.
        watcher: told of every point reached.
        milestones: places whose passing the driver waits for.
    """

    def __init__(
        self,
        database: MemoryDatabase,
        outside: MemoryOutside,
        design: Design,
        plan: Plan = NO_FAULTS,
        circumstances: Mapping[str, Callable[[str], Transaction[Any]]] | None = None,
        watcher: Watcher | None = None,
        milestones: frozenset[str] = frozenset(),
    ) -> None:
        self.disk = database
        self.outside = outside
        self.events: list[past.Event] = []
        self._env = Environment(0)
        self._replaced = dict(design.replaced)
        self._circumstances = circumstances or {}
        self._hosts: dict[str, Host] = {}
        self._trouble = Trouble(plan, milestones, watcher, self._passed, self._circumstances, self._hosts)
        self._boots: dict[str, int] = {}
        self._restarts: set[str] = set()
        self._lives: dict[int, Life] = {}
        self._kept: list[Any] = []  # every coroutine: one that Python collects would run its ``finally``
        self._serial = self._exchanges = self._effects = self._running = 0
        self._deadlines: dict[int, deque[Exchange]] = {}
        self._labels: dict[type, str] = {}
        self._driver = ""
        self._over = Occurrence(self._env)
        self._do: dict[type, Callable[[Life, Any], Any]] = {
            Sleep: self._sleep,
            Start: self._start,
            Join: self._join,
            Stop: self._stop,
            Signal: self._signal,
            Wait: self._wait,
            Select: self._select,
            Serial: self._queue,
            Boot: self._boot,
            Kill: self._kill,
            Heal: self._heal,
        }

    # --- building and running ------------------------------------------------------------------------------------

    def host(self, address: str, process: str, build: Callable[[int], Actor], restarts: bool = False) -> None:
        """Give an actor its address and process. A process that ``restarts`` comes up again by itself."""
        self._hosts[address] = Host(address, process, build)
        if restarts:
            self._restarts.add(process)

    def ask(self, rule: Rule[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """The recording seam: what the design in force says."""
        answer = self._replaced.get(rule.name)
        verdict: R = rule.answer(*args, **kwargs) if answer is None else answer(*args, **kwargs)
        told = verdict if verdict is None or isinstance(verdict, bool | int | str) else type(verdict).__name__
        self.events.append(past.Decided(self.now, self._running, rule.name, told))
        return verdict

    def run(self, driver: str, horizon_ms: int = HORIZON_MS) -> past.History:
        """Bring every restarting process up, then the driver's, until the driver's boot script has ended."""
        self._driver = driver
        for process in sorted(self._restarts):
            self._up(process)
        self._up(driver)
        Tick(self._env, horizon_ms, lambda _: self._exhaust("horizon"))
        self._env.run(until=self._over)
        return past.History(self.events, tuple(str(strike) for strike in self._trouble.missed))

    @property
    def now(self) -> int:
        """Virtual milliseconds since the run began."""
        return self._env.now  # pyright: ignore[reportReturnType] every delay of ours is a whole number

    def _exhaust(self, limit: str) -> None:
        if not self._over.triggered:
            self.events.append(past.Exhausted(self.now, limit))
            self._over.succeed()

    def _driven(self, answer: Any, error: Exception | None) -> None:
        if not self._over.triggered:
            self._over.succeed()

    def _up(self, name: str) -> None:
        self._boots[name] = life = self._boots.get(name, 0) + 1
        process = Process(name)
        self.events.append(past.Booted(self.now, name, life))
        hosts = [host for host in self._hosts.values() if host.process_name == name]
        for host in hosts:
            host.born(process, life)
        for host in hosts:
            if process.alive:  # the boot of another actor of the process may have been its end
                script = self._born(host, None, None, f"{host.address}.boot", life, None)
                if host.address == self._driver:
                    script.listeners = (self._driven,)
                self._begin(script, host.actor.boot, ())

    # --- running scripts -----------------------------------------------------------------------------------------

    def _born(
        self, host: Host, script: Any, parent: Life | None, label: str, nth: int, exchange: Exchange | None
    ) -> Life:
        self._serial = serial = self._serial + 1
        above = parent.serial if parent is not None else 0
        answers = exchange.serial if exchange is not None else 0
        self.events.append(past.Began(self.now, serial, host.address, above, label, nth, answers))
        return Life(serial, host, script, parent, label, nth, exchange)

    def _feed(self, life: Life, value: Any, error: Exception | None = None) -> None:
        """Hand a script its answer, unless it is dead; the dead are never fed."""
        process = life.process
        if life.stopped or not process.alive:
            return
        if process.paused:
            process.backlog.append((self._feed, (life, value, error)))
        elif life.doomed and not self._trouble.healed:
            self._crash(process)
        else:
            self._advance(life, value, error)

    def _advance(self, life: Life, value: Any, error: Exception | None) -> None:
        coroutine = life.coroutine
        while True:
            self._running = life.serial
            try:
                effect = coroutine.send(value) if error is None else coroutine.throw(error)
            except StopIteration as end:
                self._finish(life, end.value, None)
                return
            except (Failed, Uncertain) as left:
                self._finish(life, None, left)
                return
            error = None
            try:
                value = self.perform(life, effect)
            except (Failed, Uncertain) as told:
                error = told
                continue
            if value is _WAITING:
                return

    def _finish(self, life: Life, answer: Any, error: Failed | Uncertain | None) -> None:
        life.ended, life.answer, life.error = True, answer, error
        if life.exchange is not None:
            self._reply(life.exchange, answer, error)
            return
        self.events.append(past.Ended(self.now, life.serial, type(error).__name__ if error else ""))
        for listener in life.listeners:
            listener(answer, error)

    # --- the one door --------------------------------------------------------------------------------------------

    def perform(self, life: Life, effect: Any) -> Any:
        """The one place where a fault can strike."""
        self._effects += 1
        if self._effects > BUDGET:
            self._exhaust("budget")
            return _WAITING
        kind = effect.__class__
        if kind is Call:
            subject, door, do = effect.request, CALL, self._call
        elif kind is Commit:
            subject, door, do = effect.transaction, COMMIT, self._commit
        elif kind is Act:
            subject, door, do = effect.deed, ACT, self._act
        else:
            return self._do[kind](life, effect)
        label = self._labels.get(subject.__class__) or self._label(subject)
        counts = life.counts
        counts[label] = nth = counts.get(label, 0) + 1
        if label in self._trouble.watched:
            fates = self._trouble.fates(life, effect, subject, (door, label, nth))
            if fates:
                return self._strike(life, effect, do, (door, label, nth), fates)
        return do(life, effect, label, nth, "")

    def _label(self, subject: Any) -> str:
        label: str = subject.label
        if label == type(subject).__name__:
            self._labels[type(subject)] = label
        return label

    def _strike(
        self,
        life: Life,
        effect: Any,
        do: Callable[..., Any],
        point: tuple[str, str, int],
        fates: tuple[str, ...],
    ) -> Any:
        """What the fates do to the doer before and after; only one of them changes the effect itself."""
        door, label, nth = point
        for fate in fates:
            self.events.append(past.Struck(self.now, life.serial, door, label, nth, fate))
            if fate in self._circumstances:
                self._bring_about(life, self._circumstances[fate], nth)
        if "crash-before" in fates:
            self._crash(life.process)
            return _WAITING
        life.doomed = "crash-after" in fates
        own = [fate for fate in fates if fate not in self._circumstances and fate not in OF_PROCESSES]
        answer = do(life, effect, label, nth, own[0] if own else "")
        if "crash-waiting" in fates:
            self._crash(life.process)
        if "paused" in fates:
            self._pause(life.process)
        return answer

    def _bring_about(self, life: Life, circumstance: Callable[[str], Transaction[Any]], nth: int) -> None:
        transaction = circumstance(life.host.address.partition(":")[2])
        answer, writes = self.disk.apply(transaction, self.ask, self.now)
        self.events.append(past.Committed(self.now, life.serial, nth, transaction.label, writes, answer))

    def _passed(self, milestone: str) -> None:
        Tick(self._env, 0, lambda _: self._wake(self._hosts[self._driver], milestone))

    # --- calls ---------------------------------------------------------------------------------------------------

    def _call(self, life: Life, call: Call[Any], label: str, nth: int, fate: str) -> Any:
        now = self.now
        self._exchanges = serial = self._exchanges + 1
        self.events.append(past.Asked(now, life.serial, nth, serial, call.to, call.request))
        exchange = Exchange(self._env, serial, life, call, label, nth, now + call.timeout_ms)
        distance = self._distance(life, call.to)
        if distance:
            self._expect(exchange, call.timeout_ms)
        if fate:
            self._send_struck(exchange, fate)
        else:
            self._send(exchange, self._deliver if distance else self._deliver_within, distance)
        return _WAITING

    def _expect(self, exchange: Exchange, timeout_ms: int) -> None:
        """The caller gives up at the deadline; within a process nothing is lost, and nobody gives up."""
        waiting = self._deadlines.setdefault(timeout_ms, deque())
        waiting.append(exchange)
        if len(waiting) == 1:
            Tick(self._env, timeout_ms, lambda _: self._overdue(waiting), LAST)

    def _send(self, exchange: Exchange, arrive: Callable[[Any], None], delay: int) -> None:
        exchange.callbacks = [arrive]
        self._env.schedule(exchange, delay=delay)

    def _distance(self, life: Life, to: str) -> int:
        return 0 if self._hosts[to].process_name == life.process.name else HOP_MS

    def _send_struck(self, exchange: Exchange, fate: str) -> None:
        exchange.fate = fate
        if fate == "request-lost":
            return
        if fate in ("refused", "error-before"):
            exchange.error = Failed(exchange.request.refusal) if fate == "refused" else Uncertain("server")
            self._send(exchange, self._receive, 2 * HOP_MS)
            return
        if fate == "request-altered":
            exchange.request = exchange.request.altered() or exchange.request
        if fate == "capability-expired":
            exchange.request = msgspec.structs.replace(exchange.request, bearer=EXPIRED)
        if fate == "duplicated":
            Tick(self._env, 2 * HOP_MS, lambda _: self._deliver_copy(exchange))
        late = exchange.deadline - self.now + LATE_MS
        self._send(exchange, self._deliver, {"delivered-late": late, "delayed": DELAY_MS}.get(fate, HOP_MS))

    def _deliver(self, exchange: Any) -> None:
        host = self._hosts[exchange.to]
        process = host.process
        if process.paused:
            exchange.server = process
            process.backlog.append((self._deliver, (exchange,)))
        elif not process.alive:
            exchange.error = Uncertain("transport")
            self._receive(exchange)
        else:
            exchange.server = process
            self._handle(host, exchange, exchange.label, exchange)

    def _deliver_within(self, exchange: Any) -> None:
        """A call within a process is memory of that process, and dies with it."""
        if exchange.caller.process.alive:
            self._deliver(exchange)

    def _deliver_copy(self, exchange: Exchange) -> None:
        """The second copy of a duplicated request; nobody waits for its reply."""
        host = self._hosts[exchange.to]
        process = host.process
        if process.paused:
            process.backlog.append((self._deliver_copy, (exchange,)))
        elif process.alive:
            self._handle(host, exchange, f"{exchange.label}~copy", None)

    def _handle(self, host: Host, exchange: Exchange, label: str, answers: Exchange | None) -> None:
        request = exchange.request
        script = host.actor.handlers[request.__class__](host.actor, request)
        self._kept.append(script)
        self._advance(self._born(host, script, exchange.caller, label, exchange.nth, answers), None, None)

    def _reply(self, exchange: Exchange, answer: Any, error: Failed | Uncertain | None) -> None:
        exchange.server = None
        exchange.answer, exchange.error = answer, error
        told = answer
        if isinstance(error, Failed):
            told = past.Failure(error.code, error.status)
        elif error is not None:
            told = past.Failure("doubt", 500)
        if told is not answer and told.status >= 500:
            exchange.error = Uncertain("server")
        self.events.append(past.Answered(self.now, exchange.serial, told))
        if exchange.fate and not self._answer_struck(exchange):
            return
        if error is None:
            self._trouble.remember(exchange.to, exchange.request, answer)
        self._send(exchange, self._receive, self._distance(exchange.caller, exchange.to))

    def _answer_struck(self, exchange: Exchange) -> bool:
        """What a fate does to the reply; False when none arrives in time."""
        fate = exchange.fate
        if fate in ("reply-truncated", "error-after"):
            exchange.error = Uncertain("transport" if fate == "reply-truncated" else "server")
        crossed = self._trouble.crossed(exchange.to, exchange.request) if fate == "reply-crossed" else None
        if crossed is not None:
            self._running = exchange.caller.serial
            mine = self.ask(transport.reply_is_mine, exchange.request.operation, crossed[0])
            exchange.answer, exchange.error = crossed[1], None if mine else Uncertain("transport")
        if fate == "reply-late":
            self._send(exchange, self._receive, max(exchange.deadline - self.now, 0) + LATE_MS)
        return fate not in ("reply-lost", "reply-late", "delivered-late")

    def _receive(self, exchange: Any) -> None:
        if exchange.done:
            return
        exchange.done = True
        if exchange.error is None:
            self._feed(exchange.caller, exchange.answer)
        else:
            self._learn(exchange, exchange.error)

    def _learn(self, exchange: Exchange, error: Failed | Uncertain) -> None:
        caller = exchange.caller
        if caller.dead:
            return
        if caller.process.paused:
            caller.process.backlog.append((self._learn, (exchange, error)))
            return
        failure, doubt = (error.code, "") if isinstance(error, Failed) else ("", error.cause)
        self.events.append(past.Learned(self.now, caller.serial, exchange.serial, failure, doubt))
        self._feed(caller, None, error)

    def _overdue(self, waiting: deque[Exchange]) -> None:
        """One alarm serves all calls with the same timeout: the oldest may be due, later ones are not.

        A reply that arrives in the very millisecond of the deadline still counts.
        """
        due: list[Exchange] = []
        while waiting and (waiting[0].done or waiting[0].deadline <= self.now):
            exchange = waiting.popleft()
            if not exchange.done:
                exchange.done = True
                due.append(exchange)
        if waiting:
            Tick(self._env, waiting[0].deadline - self.now, lambda _: self._overdue(waiting), LAST)
        for exchange in due:
            self._learn(exchange, Uncertain("timeout"))

    # --- commits and deeds ---------------------------------------------------------------------------------------

    def _commit(self, life: Life, commit: Commit[Any], label: str, nth: int, fate: str) -> Any:
        Tick(self._env, HOP_MS, lambda _: self._applied(life, commit.transaction, label, nth, fate))
        return _WAITING

    def _applied(self, life: Life, transaction: Transaction[Any], label: str, nth: int, fate: str) -> None:
        now, serial = self.now, life.serial
        self._running = serial
        if fate in ("commit-failed", "unknown-not-applied"):
            self.events.append(past.Declined(now, serial, nth, label, fate))
            failed = Failed("database_failed", 503) if fate == "commit-failed" else Uncertain("server")
            self._feed(life, None, failed)
            return
        try:
            answer, writes = self.disk.apply(transaction, self.ask, now)
        except Failed as refusal:
            self.events.append(past.Declined(now, serial, nth, label, refusal.code))
            self._feed(life, None, refusal)
            return
        self.events.append(past.Committed(now, serial, nth, label, writes, answer))
        if fate == "altered-at-rest":
            self._rot(life, nth, writes)
        self._feed(life, answer, Uncertain("server") if fate == "unknown-applied" else None)

    def _rot(self, life: Life, nth: int, writes: tuple[past.Write, ...]) -> None:
        """One byte of every content that was just written changes on the disk."""
        rotten = tuple(
            past.Write(
                write.table, write.key, msgspec.structs.replace(write.row, content=flipped(write.row.content))
            )
            for write in writes
            if getattr(write.row, "content", b"")
        )
        for write in rotten:
            self.disk.write(write)
        self.events.append(past.Committed(self.now, life.serial, nth, "rot", rotten, None))

    def _act(self, life: Life, act: Act[Any], label: str, nth: int, fate: str) -> Any:
        Tick(self._env, HOP_MS, lambda _: self._done(life, act, nth, fate))
        return _WAITING

    def _done(self, life: Life, act: Act[Any], nth: int, fate: str) -> None:
        if life.stopped:
            return
        if fate == "act-failed":
            self._feed(life, None, Failed("deed_failed"))
        elif fate == "act-half":
            act.deed.halfway(self.outside)
            self._crash(life.process)
        else:
            answer = act.deed.happen(self.outside)
            self.events.append(past.Acted(self.now, life.serial, nth, act.deed))
            self._feed(life, answer)

    # --- scripts beside scripts ----------------------------------------------------------------------------------

    def _sleep(self, life: Life, sleep: Sleep) -> Any:
        Tick(self._env, sleep.ms, lambda _: self._feed(life, None))
        return _WAITING

    def _child(self, parent: Life, script: Callable[..., Any], arguments: tuple[Any, ...]) -> Life:
        label = script.__name__
        parent.counts[label] = nth = parent.counts.get(label, 0) + 1
        child = self._born(parent.host, None, parent, label, nth, None)
        Tick(self._env, 0, lambda _: self._begin(child, script, arguments))
        return child

    def _begin(self, child: Life, script: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        process = child.process
        if process.paused:
            process.backlog.append((self._begin, (child, script, arguments)))
        elif not child.dead:
            child.coroutine = script(*arguments)
            self._kept.append(child.coroutine)
            self._advance(child, None, None)

    def _start(self, life: Life, start: Start[Any]) -> Any:
        child = self._child(life, start.script, start.arguments)
        self._lives[child.serial] = child
        return Script[Any](child.serial)

    def _join(self, life: Life, join: Join[Any]) -> Any:
        child = self._lives[join.script.serial]
        if not child.ended:
            child.listeners += (partial(self._feed, life),)
            return _WAITING
        if child.error is not None:
            raise child.error
        return child.answer

    def _stop(self, life: Life, stop: Stop) -> Any:
        self._lives[stop.script.serial].stopped = True

    def _signal(self, life: Life, signal: Signal) -> Any:
        self._wake(life.host, signal.name)

    def _wake(self, host: Host, name: str) -> None:
        for wake in host.waiters.pop(name, ()):
            Tick(self._env, 0, lambda _, wake=wake: wake())

    def _wait(self, life: Life, wait: Wait) -> Any:
        life.host.waiters.setdefault(wait.name, []).append(partial(self._feed, life, None))
        return _WAITING

    def _select(self, life: Life, select: Select) -> Any:
        taken: list[int] = []

        def take(place: int) -> None:
            if not taken:
                taken.append(place)
                self._feed(life, place)

        for place, option in enumerate(select.options):
            if isinstance(option, Wait):
                life.host.waiters.setdefault(option.name, []).append(partial(take, place))
            elif isinstance(option, Sleep):
                Tick(self._env, option.ms, lambda _, place=place: take(place))
            elif (child := self._lives[option.script.serial]).ended:
                Tick(self._env, 0, lambda _, place=place: take(place))
            else:
                child.listeners += (partial(_took, take, place),)
        return _WAITING

    def _queue(self, life: Life, serial: Serial[Any]) -> Any:
        queue = life.host.queues.setdefault(serial.queue, deque())
        queue.append((life, serial))
        if len(queue) == 1:
            self._next(queue)
        return _WAITING

    def _next(self, queue: deque[tuple[Life, Serial[Any]]]) -> None:
        life, serial = queue[0]

        def ended(answer: Any, error: Exception | None) -> None:
            queue.popleft()
            if queue:
                self._next(queue)
            self._feed(life, answer, error)

        self._child(life, serial.script, serial.arguments).listeners = (ended,)

    # --- processes -----------------------------------------------------------------------------------------------

    def _crash(self, process: Process) -> None:
        if not process.alive:
            return
        process.die()
        self.events.append(past.Crashed(self.now, process.name))
        for waiting in self._deadlines.values():
            for exchange in waiting:
                if exchange.server is process and not exchange.done:
                    exchange.error = Uncertain("transport")
                    Tick(self._env, HOP_MS, lambda _, lost=exchange: self._receive(lost))
        if process.name in self._restarts:
            Tick(self._env, RESTART_MS, lambda _: self._up_again(process.name))

    def _pause(self, process: Process) -> None:
        if process.alive and not process.paused:
            process.paused = True
            self.events.append(past.Paused(self.now, process.name))
            Tick(self._env, PAUSE_MS, lambda _: self._resume(process))

    def _resume(self, process: Process) -> None:
        if process.paused:
            process.paused = False
            self.events.append(past.Resumed(self.now, process.name))
            backlog, process.backlog = process.backlog, []
            for act, arguments in backlog:
                act(*arguments)

    def _boot(self, life: Life, boot: Boot) -> Any:
        self._up_again(boot.process)

    def _up_again(self, name: str) -> None:
        if not any(host.process.alive for host in self._hosts.values() if host.process_name == name):
            self._up(name)

    def _kill(self, life: Life, kill: Kill) -> Any:
        for host in self._hosts.values():
            if host.process_name == kill.process:
                self._crash(host.process)
        return None if life.process.alive else _WAITING

    def _heal(self, life: Life, heal: Heal) -> Any:
        self.events.append(past.Healed(self.now))
        self._trouble.heal()
        for host in self._hosts.values():
            self._resume(host.process)


def _took(take: Callable[[int], None], place: int, answer: Any, error: Exception | None) -> None:
    take(place)
