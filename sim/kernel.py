"""The simulated world, on SimPy: performs effects, lets faults strike, writes the history. Nothing else does.

Crash is by never feeding: a dead script is not told that it died, so nothing of it, not even an ``except``, runs
again. Equal times are ordered by who asked first, which makes a run a function of scenario, plan and design.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from heapq import heappop
from typing import TYPE_CHECKING, Any, ClassVar, cast

import msgspec
from simpy import Environment
from simpy.core import StopSimulation
from simpy.events import NORMAL, EventPriority

from sim import history as past
from sim.actor import Actor
from sim.content import flipped
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
    Subject,
    Transaction,
    Uncertain,
    Wait,
)
from sim.lives import Host, Life, Process
from sim.points import ACT, CALL, COMMIT, NO_FAULTS, Plan, Watcher
from sim.rule import Decide, Rule
from sim.storage.memory import MemoryOutside
from sim.storage.port import Database
from sim.trouble import OF_PROCESSES, Trouble

HOP_MS = 1
"""One message between processes, one commit, one deed; calls within a process take no time."""
LATE_MS = 1_000
"""How long after the caller's timeout a late message arrives: after the caller's own retry."""
DELAY_MS = 5_000
"""A delay within the caller's timeout."""
PAUSE_MS = 75_000
"""How long a paused process stands still: longer than a writer lease, shorter than three timeouts in a row."""
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


class _Slot:
    """Where the time stands: SimPy keeps it in ``_now``; its own property would cost a call each time it is read."""

    __slots__ = ("_now",)


class Clock(_Slot, Environment):
    """SimPy's environment. Its time is a whole number of milliseconds, and is read without a call."""

    def play(self) -> None:
        """One occurrence after another happens, until one of them stops the clock.

        SimPy's own loop goes through a list of callbacks for each, and looks for a failure.
        """
        queue = self._queue
        with suppress(StopSimulation):
            while True:
                self._now, _, _, occurrence = heappop(queue)
                occurrence.happen(occurrence)  # pyright: ignore[reportUnknownMemberType, reportAttributeAccessIssue]

    if TYPE_CHECKING:

        @property
        def now(self) -> int: ...

        def schedule(self, event: Any, priority: EventPriority = NORMAL, delay: float = 0) -> None: ...

    else:
        now = _Slot._now


class Occurrence(msgspec.Struct, eq=False):
    """Something that is going to happen."""

    happen: Callable[[Any], None]


class Step(Occurrence):
    """What a script waits for that no peer answers: the end of a sleep, a commit, a deed, its own beginning."""

    life: Life
    subject: Any
    label: str = ""
    nth: int = 0
    fate: str = ""


class Exchange(Occurrence):
    """One request and its reply. The same object is scheduled for the way there and for the way back."""

    serial: int
    caller: Life
    host: Host
    request: Any
    label: str
    nth: int
    distance: int
    deadline: int
    fate: str
    done: bool = False
    answer: Any = None
    error: Failed | Uncertain | None = None


class Kernel:
    """Runs actors under a plan of faults and a design.

    Args:
        database: what is durable; it survives every crash.
        outside: the world outside, likewise.
        design: what every rule answers.
        plan: the faults to strike.
        circumstances: for each fate of time, the transaction that brings it about in a Session's database rows.
        watcher: told of every point reached.
        milestones: places whose passing somebody waits for.
    """

    def __init__(
        self,
        database: Database,
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
        self.ask = cast(Decide, self._ask)
        self._clock = Clock(0)
        self._replaced = dict(design.replaced)
        self._circumstances = circumstances or {}
        self._hosts: dict[str, Host] = {}
        self._trouble = Trouble(plan, milestones, watcher, self._passed, self._circumstances, self._hosts)
        self._boots: dict[str, int] = {}
        self._restarts: set[str] = set()
        self._lives: dict[int, Life] = {}
        # The dead among them too: a coroutine that Python collects runs its ``finally``.
        self._unfinished: dict[int, Life] = {}
        self._serial = self._exchanges = self._effects = self._running = 0
        self._deadlines = defaultdict[int, deque[Exchange]](deque)
        self._labels: dict[type, str] = {}
        self._driver = ""
        self._ending = False
        self._there, self._within, self._back = self._deliver, self._deliver_within, self._receive

    # --- building and running ------------------------------------------------------------------------------------

    def host(self, address: str, process: str, build: Callable[[int], Actor], restarts: bool = False) -> None:
        """Give an actor its address and process. A process that ``restarts`` comes up again by itself."""
        self._hosts[address] = Host(address, process, build)
        if restarts:
            self._restarts.add(process)

    def _ask(self, rule: Rule[..., Any], *args: Any) -> Any:
        name = rule.name
        verdict = self._replaced.get(name, rule.answer)(*args)
        kind = verdict.__class__
        told = verdict if kind in _PLAIN else kind.__name__
        self.events.append(past.Decided(self._clock.now, self._running, name, told))
        return verdict

    def run(self, driver: str, horizon_ms: int = HORIZON_MS) -> past.History:
        """Bring every restarting process up, then the driver's, until the driver's boot script has ended."""
        self._driver = driver
        for process in sorted(self._restarts):
            self._up(process)
        self._up(driver)
        self._after(horizon_ms, lambda _: self._exhaust("horizon"))
        self._clock.play()
        self.events += [past.Left(self.now, *file) for file in self.outside.left()]
        return past.History(self.events, tuple(str(strike) for strike in self._trouble.missed))

    def close(self) -> None:
        """Untie the world, which is one knot of references: it is freed at once, not by the garbage collector."""
        for host in self._hosts.values():
            host.forget()
        vars(self).clear()

    def _after(self, delay: int, happen: Callable[[Any], None], priority: EventPriority = NORMAL) -> None:
        self._clock.schedule(Occurrence(happen), priority, delay)

    @property
    def now(self) -> int:
        """Virtual milliseconds since the run began."""
        return self._clock.now

    def _exhaust(self, limit: str) -> None:
        if not self._ending:
            self.events.append(past.Exhausted(self._clock.now, limit))
            self._end(None, None)

    def _end(self, answer: Any, error: Exception | None) -> None:
        """Nothing happens after this moment."""
        if not self._ending:
            self._ending = True
            self._after(0, _stop)

    def _up(self, name: str) -> None:
        self._boots[name] = life = self._boots.get(name, 0) + 1
        process = Process(name)
        self.events.append(past.Booted(self._clock.now, name, life))
        hosts = [host for host in self._hosts.values() if host.process_name == name]
        for host in hosts:
            host.born(process, life)
        for host in hosts:
            if process.alive:  # the boot of another actor of the process may have been its end
                script = self._born(host, None, None, f"{host.address}.boot", life, None)
                if host.address == self._driver:
                    script.listeners = (self._end,)
                self._begin(script, host.actor.boot, ())

    # --- running scripts -----------------------------------------------------------------------------------------

    def _born(
        self, host: Host, script: Any, parent: Life | None, label: str, nth: int, exchange: Exchange | None
    ) -> Life:
        self._serial = serial = self._serial + 1
        above = parent.serial if parent else 0
        answers = exchange.serial if exchange else 0
        self.events.append(past.Began(self._clock.now, serial, host.address, above, label, nth, answers))
        self._unfinished[serial] = life = Life(
            serial, host, host.process, script, parent, label, nth, exchange
        )
        return life

    def _feed(self, life: Life, value: Any, error: Exception | None = None) -> None:
        """Hand a script its answer, unless it is dead; the dead are never fed."""
        process = life.process
        if process.running and not life.stopped and not life.doomed:
            self._advance(life, value, error)
        elif life.stopped or not process.alive:
            return
        elif process.paused:
            process.backlog.append((self._feed, (life, value, error)))
        elif self._trouble.healed:
            self._advance(life, value, error)
        else:
            self._crash(process)

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
        del self._unfinished[life.serial]
        if life.exchange:
            self._reply(life.exchange, answer, error)
            return
        life.ended, life.answer, life.error = True, answer, error
        self.events.append(past.Ended(self._clock.now, life.serial, type(error).__name__ if error else ""))
        for listener in life.listeners:
            listener(answer, error)

    # --- the one door --------------------------------------------------------------------------------------------

    def perform(self, life: Life, effect: Any) -> Any:
        """The one place where a fault can strike."""
        self._effects = effects = self._effects + 1
        if effects > BUDGET:
            self._exhaust("budget")
            return _WAITING
        kind = effect.__class__
        if kind is Call:
            subject = effect.request
        elif kind is Commit:
            subject = effect.transaction
        elif kind is Act:
            subject = effect.deed
        else:
            return Kernel._do[kind](self, life, effect)
        label = self._labels.get(subject.__class__) or self._label(subject)
        counts = life.counts
        counts[label] = nth = counts.get(label, 0) + 1
        if label in self._trouble.watched:
            point = (_DOORS[kind], label, nth)
            fates = self._trouble.fates(life, effect, subject, point)
            if fates:
                return self._strike(life, effect, Kernel._do[kind], point, fates)
        if kind is Call:
            return self._call(life, effect, label, nth, "")
        return Kernel._do[kind](self, life, effect, label, nth, "")

    def _label(self, subject: Any) -> str:
        label: str = subject.label
        if subject.__class__.label is Subject.label:  # else it may depend on what the subject holds
            self._labels[subject.__class__] = label
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
            self.events.append(past.Struck(self._clock.now, life.serial, door, label, nth, fate))
            if fate in self._circumstances:
                self._bring_about(life, self._circumstances[fate], nth)
        if "crash-before" in fates:
            self._crash(life.process)
            return _WAITING
        life.doomed = "crash-after" in fates
        own = [fate for fate in fates if fate not in self._circumstances and fate not in OF_PROCESSES]
        answer = do(self, life, effect, label, nth, own[0] if own else "")
        if "crash-waiting" in fates:
            self._crash(life.process)
        if "paused" in fates:
            self._pause(life.process)
        return answer

    def _bring_about(self, life: Life, circumstance: Callable[[str], Transaction[Any]], nth: int) -> None:
        transaction = circumstance(life.host.address.partition(":")[2])
        answer, writes = self.disk.apply(transaction, self.ask, self._clock.now)
        self.events.append(
            past.Committed(self._clock.now, life.serial, nth, transaction.label, writes, answer)
        )

    def _passed(self, milestone: str) -> None:
        self._after(0, lambda _: self._reached(milestone))

    def _reached(self, milestone: str) -> None:
        for host in self._hosts.values():
            self._wake(host, milestone)

    # --- calls ---------------------------------------------------------------------------------------------------

    def _call(self, life: Life, call: Call[Any], label: str, nth: int, fate: str) -> Any:
        self._exchanges = serial = self._exchanges + 1
        to, request, now = call.to, call.request, self._clock.now
        self.events.append(past.Asked(now, life.serial, nth, serial, to, request))
        host = self._hosts[to]
        if host.process_name == life.process.name:
            exchange = Exchange(self._within, serial, life, host, request, label, nth, 0, 0, fate)
        else:
            deadline = now + call.timeout_ms
            exchange = Exchange(self._there, serial, life, host, request, label, nth, HOP_MS, deadline, fate)
            self._expect(exchange, call.timeout_ms)
        if fate:
            self._send_struck(exchange, fate)
        else:
            self._clock.schedule(exchange, NORMAL, exchange.distance)
        return _WAITING

    def _expect(self, exchange: Exchange, timeout_ms: int) -> None:
        """The caller gives up at the deadline; within a process nothing is lost, and nobody gives up."""
        waiting = self._deadlines[timeout_ms]
        if not waiting:
            self._after(timeout_ms, lambda _: self._overdue(waiting), LAST)
        elif waiting[0].done:
            waiting.popleft()
        waiting.append(exchange)

    def _return(self, exchange: Exchange, delay: int) -> None:
        exchange.happen = self._back
        self._clock.schedule(exchange, NORMAL, delay)

    def _send_struck(self, exchange: Exchange, fate: str) -> None:
        if fate == "request-lost":
            return
        if fate in ("refused", "error-before"):
            exchange.error = Failed(exchange.request.refusal) if fate == "refused" else Uncertain("server")
            self._return(exchange, 2 * HOP_MS)
            return
        if fate == "request-altered":
            exchange.request = exchange.request.altered() or exchange.request
        if fate == "capability-expired":
            exchange.request = msgspec.structs.replace(exchange.request, bearer=EXPIRED)
        if fate == "duplicated":
            self._after(2 * HOP_MS, lambda _: self._deliver_copy(exchange))
        late = exchange.deadline - self._clock.now + LATE_MS
        delay = {"delivered-late": late, "delayed": DELAY_MS}.get(fate, HOP_MS)
        self._clock.schedule(exchange, NORMAL, delay)

    def _deliver(self, exchange: Any) -> None:
        host = exchange.host
        if host.process.running:
            request = exchange.request
            script = host.handlers[request.__class__](host.actor, request)
            life = self._born(host, script, exchange.caller, exchange.label, exchange.nth, exchange)
            self._advance(life, None, None)
        elif host.process.paused:
            host.process.backlog.append((self._deliver, (exchange,)))
        else:
            exchange.error = Uncertain("transport")
            self._receive(exchange)

    def _deliver_within(self, exchange: Any) -> None:
        """A call within a process is memory of that process, and dies with it."""
        if exchange.caller.process.alive:
            self._deliver(exchange)

    def _deliver_copy(self, exchange: Exchange) -> None:
        """The second copy of a duplicated request; nobody waits for its reply."""
        host = exchange.host
        if host.process.running:
            script = host.handlers[exchange.request.__class__](host.actor, exchange.request)
            life = self._born(host, script, exchange.caller, f"{exchange.label}~copy", exchange.nth, None)
            self._advance(life, None, None)
        elif host.process.paused:
            host.process.backlog.append((self._deliver_copy, (exchange,)))

    def _reply(self, exchange: Exchange, answer: Any, error: Failed | Uncertain | None) -> None:
        exchange.answer = told = answer
        if error is not None:
            exchange.error = error
            told = (
                past.Failure(error.code, error.status)
                if isinstance(error, Failed)
                else past.Failure("doubt", 500)
            )
            if told.status >= 500:
                exchange.error = Uncertain("server")
        self.events.append(past.Answered(self._clock.now, exchange.serial, told))
        if exchange.fate and not self._answer_struck(exchange):
            return
        if self._trouble.remembers and error is None:
            self._trouble.remember(exchange.host.address, exchange.request, answer)
        exchange.happen = self._back
        self._clock.schedule(exchange, NORMAL, exchange.distance)

    def _answer_struck(self, exchange: Exchange) -> bool:
        """What a fate does to the reply; False when none arrives in time."""
        fate = exchange.fate
        if fate in ("reply-truncated", "error-after"):
            exchange.error = Uncertain("transport" if fate == "reply-truncated" else "server")
        crossed = (
            self._trouble.crossed(exchange.host.address, exchange.request)
            if fate == "reply-crossed"
            else None
        )
        if crossed is not None:
            self._running = exchange.caller.serial
            mine = self.ask(transport.reply_is_mine, exchange.request.operation, crossed[0])
            exchange.answer, exchange.error = crossed[1], None if mine else Uncertain("transport")
        if fate == "reply-late":
            self._return(exchange, max(exchange.deadline - self._clock.now, 0) + LATE_MS)
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
        self.events.append(past.Learned(self._clock.now, caller.serial, exchange.serial, failure, doubt))
        self._feed(caller, None, error)

    def _overdue(self, waiting: deque[Exchange]) -> None:
        """One alarm serves all calls with the same timeout: the oldest may be due, later ones are not.

        A reply that arrives in the very millisecond of the deadline still counts.
        """
        due: list[Exchange] = []
        while waiting and (waiting[0].done or waiting[0].deadline <= self._clock.now):
            exchange = waiting.popleft()
            if not exchange.done:
                exchange.done = True
                due.append(exchange)
        if waiting:
            self._after(waiting[0].deadline - self._clock.now, lambda _: self._overdue(waiting), LAST)
        for exchange in due:
            self._learn(exchange, Uncertain("timeout"))

    # --- commits and deeds ---------------------------------------------------------------------------------------

    def _commit(self, life: Life, commit: Commit[Any], label: str, nth: int, fate: str) -> Any:
        step = Step(self._applied, life, commit.transaction, label, nth, fate)
        self._clock.schedule(step, NORMAL, HOP_MS)
        return _WAITING

    def _applied(self, step: Step) -> None:
        life, now = step.life, self._clock.now
        self._running = life.serial
        if step.fate in ("commit-failed", "unknown-not-applied"):
            self.events.append(past.Declined(now, life.serial, step.nth, step.label, step.fate))
            failed = Failed("database_failed", 503) if step.fate == "commit-failed" else Uncertain("server")
            self._feed(life, None, failed)
            return
        try:
            answer, writes = self.disk.apply(step.subject, self.ask, now)
        except Failed as refusal:
            self.events.append(past.Declined(now, life.serial, step.nth, step.label, refusal.code))
            self._feed(life, None, refusal)
            return
        self.events.append(past.Committed(now, life.serial, step.nth, step.label, writes, answer))
        if not step.fate:
            self._feed(life, answer)
            return
        if step.fate == "altered-at-rest":
            self._rot(life, step.nth, writes)
        self._feed(life, answer, Uncertain("server") if step.fate == "unknown-applied" else None)

    def _rot(self, life: Life, nth: int, writes: tuple[past.Write, ...]) -> None:
        """One byte of every content that was just written changes on the disk."""
        rotten = tuple(
            past.Write(
                write.table, write.key, msgspec.structs.replace(write.row, content=flipped(write.row.content))
            )
            for write in writes
            if getattr(write.row, "content", b"")
        )
        self.disk.write(*rotten)
        self.events.append(past.Committed(self._clock.now, life.serial, nth, "rot", rotten, None))

    def _act(self, life: Life, act: Act[Any], label: str, nth: int, fate: str) -> Any:
        self._clock.schedule(Step(self._done, life, act.deed, label, nth, fate), NORMAL, HOP_MS)
        return _WAITING

    def _done(self, step: Step) -> None:
        life, deed, fate = step.life, step.subject, step.fate
        if life.stopped:
            return
        if fate == "act-failed":
            self._feed(life, None, Failed("deed_failed"))
        elif fate == "act-half":
            deed.halfway(self.outside)
            self._crash(life.process)
        else:
            answer = deed.happen(self.outside)
            self.events.append(past.Acted(self._clock.now, life.serial, step.nth, deed))
            self._feed(life, answer)

    # --- scripts beside scripts ----------------------------------------------------------------------------------

    def _sleep(self, life: Life, sleep: Sleep) -> Any:
        self._clock.schedule(Step(self._woken, life, sleep), NORMAL, sleep.ms)
        return _WAITING

    def _woken(self, step: Step) -> None:
        self._feed(step.life, None)

    def _child(self, parent: Life, start: Start[Any] | Serial[Any]) -> Life:
        label = start.script.__name__
        parent.counts[label] = nth = parent.counts.get(label, 0) + 1
        child = self._born(parent.host, None, parent, label, nth, None)
        self._clock.schedule(Step(self._begun, child, start), NORMAL, 0)
        return child

    def _begun(self, step: Step) -> None:
        self._begin(step.life, step.subject.script, step.subject.arguments)

    def _begin(self, child: Life, script: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        process = child.process
        if process.paused:
            process.backlog.append((self._begin, (child, script, arguments)))
        elif not child.dead:
            child.coroutine = script(*arguments)
            self._advance(child, None, None)

    def _start(self, life: Life, start: Start[Any]) -> Any:
        child = self._child(life, start)
        self._lives[child.serial] = child
        script: Script[Any] = Script(child.serial)
        return script

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
            self._after(0, lambda _, wake=wake: wake())

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
                self._after(option.ms, lambda _, place=place: take(place))
            elif (child := self._lives[option.script.serial]).ended:
                self._after(0, lambda _, place=place: take(place))
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
        self._child(life, serial).listeners = (partial(self._served, queue),)

    def _served(self, queue: deque[tuple[Life, Serial[Any]]], answer: Any, error: Exception | None) -> None:
        life, _ = queue.popleft()
        if queue:
            self._next(queue)
        self._feed(life, answer, error)

    # --- processes -----------------------------------------------------------------------------------------------

    def _crash(self, process: Process) -> None:
        if not process.alive:
            return
        lost = [
            life.exchange for life in self._unfinished.values() if life.process is process and life.exchange
        ]
        lost += [arguments[0] for act, arguments in process.backlog if act == self._deliver]
        process.die()
        self.events.append(past.Crashed(self._clock.now, process.name))
        for exchange in lost:
            if exchange.distance and not exchange.done:
                exchange.error = Uncertain("transport")
                self._return(exchange, HOP_MS)
        if process.name in self._restarts:
            self._after(RESTART_MS, lambda _: self._up_again(process.name))

    def _pause(self, process: Process) -> None:
        if process.running:
            process.running, process.paused = False, True
            self.events.append(past.Paused(self._clock.now, process.name))
            self._after(PAUSE_MS, lambda _: self._resume(process))

    def _resume(self, process: Process) -> None:
        if process.paused:
            process.running, process.paused = True, False
            self.events.append(past.Resumed(self._clock.now, process.name))
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
        self.events.append(past.Healed(self._clock.now))
        self._trouble.heal()
        for host in self._hosts.values():
            self._resume(host.process)

    _do: ClassVar[dict[type, Callable[..., Any]]] = {
        Call: _call,
        Commit: _commit,
        Act: _act,
        Sleep: _sleep,
        Start: _start,
        Join: _join,
        Stop: _stop,
        Signal: _signal,
        Wait: _wait,
        Select: _select,
        Serial: _queue,
        Boot: _boot,
        Kill: _kill,
        Heal: _heal,
    }


def _stop(_: Any) -> None:
    raise StopSimulation(None)


def _took(take: Callable[[int], None], place: int, answer: Any, error: Exception | None) -> None:
    take(place)


_DOORS = {Call: CALL, Commit: COMMIT, Act: ACT}
_PLAIN = frozenset({bool, int, str, type(None)})
