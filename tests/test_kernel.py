"""What the simulated world promises to its scripts, effect by effect, on actors small enough to see through."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from faults.plans import read
from sim import history as past
from sim.actor import Actor
from sim.design import SEED, transport
from sim.effects import (
    Act,
    Boot,
    Call,
    Commit,
    Deed,
    Facts,
    Failed,
    Heal,
    Join,
    Kill,
    Outside,
    Request,
    Scripted,
    Secret,
    Select,
    Serial,
    Signal,
    Sleep,
    Start,
    Stop,
    Table,
    Transaction,
    Uncertain,
    Wait,
)
from sim.history import History, Scripts, digest, encoded
from sim.kernel import HORIZON_MS, PAUSE_MS, RESTART_MS, Kernel
from sim.points import NO_FAULTS, Plan, Sighting
from sim.rule import Decide
from sim.run import points, run
from sim.scenario import Scenario, SessionPlan, Turn, calls, says, shell
from sim.storage.memory import MemoryDatabase, MemoryOutside

Played = Callable[..., Scripted[Any]]
ROWS: Table[str] = Table("rows")

ONE_CALL = Scenario("one call", (SessionPlan("s1", "w1", (Turn((calls(shell("c1", "make")), says("ok"))),)),))


class Say(Request[str], frozen=True):
    text: str = ""

    @property
    def operation(self) -> str:
        return self.text


class Other(Request[str], frozen=True):
    text: str = ""


class Hand(Request[Secret], frozen=True):
    capability: Secret


class Put(Transaction[str], frozen=True):
    key: str
    row: str
    refuses: bool = False

    def apply(self, facts: Facts, ask: Decide) -> str:
        before = facts.get(ROWS, self.key)
        facts.put(ROWS, self.key, self.row)
        if self.refuses:
            raise Failed("not_now", 409)
        return f"{before} -> {facts.get(ROWS, self.key)} at {facts.now}"


class Write(Deed[int], frozen=True):
    line: bytes

    def happen(self, outside: Outside) -> int:
        outside.append("w", "log", self.line)
        return len(outside.read("w", "log"))


class Part(Actor):
    """An actor of one boot script and a handler or two; every script is handed the part itself."""

    def __init__(self, life: int, boot: Played | None, handlers: Mapping[type[Request[Any]], Played]) -> None:
        self.life = life
        self.memory: list[str] = []
        self.booting = boot
        self.handlers = handlers  # type: ignore[misc]

    async def boot(self) -> None:
        if self.booting is not None:
            await self.booting(self)


class World:
    """A kernel with parts; ``seen`` is what the scripts of a test tell the test."""

    def __init__(self, plan: str = "none", **more: Any) -> None:
        self.disk = MemoryDatabase()
        self.outside = MemoryOutside()
        self.kernel = Kernel(self.disk, self.outside, SEED, read(plan), **more)
        self.seen: list[Any] = []

    def part(
        self,
        address: str,
        handlers: Mapping[type[Request[Any]], Played] | None = None,
        boot: Played | None = None,
        process: str = "",
        restarts: bool = True,
    ) -> None:
        self.kernel.host(address, process or address, lambda life: Part(life, boot, handlers or {}), restarts)

    def play(self, script: Played, horizon_ms: int = HORIZON_MS) -> History:
        """Run until the client's boot script has ended."""
        self.part("client", boot=script, restarts=False)
        return self.kernel.run("client", horizon_ms)

    @property
    def now(self) -> int:
        return self.kernel.now

    def tell(self, what: Any) -> None:
        self.seen.append((self.now, what))


async def echo(part: Part, request: Say) -> str:
    return f"{request.text} from life {part.life}"


async def told(effect: Any) -> str:
    """The answer of an effect as a word, or what was learned instead of it."""
    try:
        return f"{await effect}"
    except Failed as failure:
        return f"{failure.code} {failure.status}"
    except Uncertain as doubt:
        return f"doubt {doubt.cause}"


def kinds(history: History, *kind: type[past.Event]) -> list[past.Event]:
    return [event for event in history.events if isinstance(event, kind)]


# --- calls


@pytest.mark.parametrize(("process", "takes"), [("peer", 2), ("client", 0)])
def test_a_call_is_answered_in_two_hops_between_processes_and_at_once_within_one(
    process: str, takes: int
) -> None:
    world = World()
    world.part("peer", {Say: echo}, process=process, restarts=process == "peer")

    async def client(_: Part) -> None:
        await Sleep(100)
        answer = await Call("peer", Say("hello"))
        world.tell(answer)

    history = world.play(client)
    assert world.seen == [(100 + takes, "hello from life 1")]
    assert [type(event).__name__ for event in kinds(history, past.Asked, past.Answered)] == [
        "Asked",
        "Answered",
    ]


@pytest.mark.parametrize(
    ("left", "learned"),
    [
        (Failed("gone", 404), "gone 404"),
        (Failed("taken"), "taken 409"),
        (Failed("odd", 499), "odd 499"),
        (Failed("broken", 500), "doubt server"),
        (Failed("database_failed", 503), "doubt server"),
        (Uncertain("timeout"), "doubt server"),
        (Uncertain("transport"), "doubt server"),
    ],
)
def test_only_a_refusal_below_500_is_an_answer(left: Exception, learned: str) -> None:
    world = World()

    async def fails(_part: Part, _request: Say) -> str:
        raise left

    world.part("peer", {Say: fails})

    async def client(_: Part) -> None:
        word = await told(Call("peer", Say()))
        world.tell(word)

    history = world.play(client)
    assert world.seen == [(2, learned)]
    [event] = kinds(history, past.Learned)
    assert isinstance(event, past.Learned)
    assert (event.failure or f"doubt {event.doubt}") == learned.removesuffix(" 404").removesuffix(
        " 409"
    ).removesuffix(" 499")


def test_every_deadline_is_exact_though_one_alarm_serves_all_calls_of_a_timeout() -> None:
    asked = [(0, 30), (0, 30), (5, 30), (7, 10), (17, 10), (18, 30), (31, 30), (36, 10), (200, 30), (231, 30)]
    world = World()

    async def silent(_part: Part, _request: Say) -> str:
        await Wait("for ever")
        return ""

    async def one(at: int, timeout: int) -> None:
        await Sleep(at)
        word = await told(Call("peer", Say(), timeout))
        world.tell((at, timeout, word))

    world.part("peer", {Say: silent, Other: echo})

    async def client(_: Part) -> None:
        for _place, (at, timeout) in enumerate(asked):
            await Start(one, (at, timeout))
            await Start(quick, (at, timeout))
        await Sleep(1_000)

    async def quick(at: int, timeout: int) -> None:
        await Sleep(at)
        await Call("peer", Other(), timeout)

    world.play(client)
    promised = [(at + timeout, (at, timeout, "doubt timeout")) for at, timeout in asked]
    assert sorted(world.seen) == sorted(promised)


@pytest.mark.parametrize("asked_before", [False, True])
def test_a_reply_in_the_very_millisecond_of_the_deadline_counts(asked_before: bool) -> None:
    """Whatever else was asked: were it otherwise, an unrelated call could turn an answer into doubt."""
    world = World()

    async def slow(_part: Part, _request: Say) -> str:
        await Sleep(8)
        return "just in time"

    async def silent(_part: Part, _request: Other) -> str:
        await Wait("for ever")
        return ""

    world.part("peer", {Say: slow, Other: silent})

    async def unrelated() -> None:
        await told(Call("peer", Other(), 10))

    async def client(_: Part) -> None:
        if asked_before:
            await Start(unrelated)
        await Sleep(3)
        word = await told(Call("peer", Say(), 10))
        world.tell(word)

    world.play(client)
    assert world.seen == [(13, "just in time")]


def test_a_late_reply_is_dropped_and_no_later_call_gets_it() -> None:
    world = World()

    async def slow(_part: Part, request: Say) -> str:
        await Sleep(50 if request.text == "first" else 20)
        return f"to {request.text}"

    world.part("peer", {Say: slow})

    async def client(_: Part) -> None:
        for _place, text in enumerate(("first", "second")):
            word = await told(Call("peer", Say(text), 40))
            world.tell(word)
        await Sleep(100)

    history = world.play(client)
    assert world.seen == [(40, "doubt timeout"), (62, "to second")]
    assert [event.at for event in kinds(history, past.Answered)] == [51, 61]
    assert len(kinds(history, past.Learned)) == 1


def test_a_reply_on_its_way_arrives_though_its_sender_died() -> None:
    world = World()
    world.part("peer", {Say: echo}, restarts=False, boot=None)

    async def killer() -> None:
        await Sleep(1)
        await Kill("peer")

    async def client(_: Part) -> None:
        await Boot("peer")
        asking = await Start(ask)
        await Start(killer)
        await Join(asking)

    async def ask() -> None:
        word = await told(Call("peer", Say("hello")))
        world.tell(word)

    history = world.play(client)
    assert [type(event).__name__ for event in kinds(history, past.Answered, past.Crashed)] == [
        "Answered",
        "Crashed",
    ]
    assert world.seen == [(2, "hello from life 1")]


# --- commits and deeds


def test_a_commit_is_applied_whole_or_not_at_all_and_takes_a_hop() -> None:
    world = World()

    async def client(_: Part) -> None:
        for _place, change in enumerate((Put("k", "one"), Put("k", "two", refuses=True), Put("k", "three"))):
            word = await told(Commit(change))
            world.tell(word)

    history = world.play(client)
    assert world.seen == [(1, "None -> one at 1"), (2, "not_now 409"), (3, "one -> three at 3")]
    assert world.disk.get(ROWS, "k") == "three"
    assert [type(event).__name__ for event in kinds(history, past.Committed, past.Declined)] == [
        "Committed",
        "Declined",
        "Committed",
    ]


def test_a_deed_changes_the_world_outside_and_takes_a_hop() -> None:
    world = World()

    async def client(_: Part) -> None:
        for _place, line in enumerate((b"one\n", b"two\n")):
            size = await Act(Write(line))
            world.tell(size)

    history = world.play(client)
    assert world.seen == [(1, 4), (2, 8)]
    assert world.outside.files == {("w", "log"): b"one\ntwo\n"}
    assert len(kinds(history, past.Acted)) == 2


# --- scripts beside scripts


def test_sleepers_wake_exactly_and_those_of_one_moment_in_the_order_of_asking() -> None:
    world = World()

    async def sleeper(name: str, ms: int) -> None:
        await Sleep(ms)
        world.tell(name)

    async def client(_: Part) -> None:
        for _place, (name, ms) in enumerate([("a", 20), ("b", 10), ("c", 20), ("d", 0)]):
            await Start(sleeper, (name, ms))
        await Sleep(100)

    world.play(client)
    assert world.seen == [(0, "d"), (10, "b"), (20, "a"), (20, "c")]


def test_a_join_hands_over_the_answer_or_the_exception_before_and_after_the_end() -> None:
    world = World()

    async def child(ms: int, fails: bool) -> str:
        await Sleep(ms)
        if fails:
            raise Failed("child_failed", 418)
        return "answer"

    async def client(_: Part) -> None:
        good = await Start(child, (10, False))
        bad = await Start(child, (20, True))
        world.tell("started")
        for _place, script in enumerate((good, bad, good, bad)):
            word = await told(Join(script))
            world.tell(word)

    history = world.play(client)
    assert world.seen == [
        (0, "started"),
        (10, "answer"),
        (20, "child_failed 418"),
        (20, "answer"),
        (20, "child_failed 418"),
    ]
    assert [event.error for event in kinds(history, past.Ended) if isinstance(event, past.Ended)][:2] == [
        "",
        "Failed",
    ]


def test_a_stopped_script_never_runs_again_and_does_no_deed() -> None:
    world = World()

    async def child(effect: Any) -> None:
        try:
            await effect
        except Exception:
            world.tell("caught")
        finally:
            world.tell("tidied up")

    async def client(_: Part) -> None:
        started: list[Any] = []
        for _place, effect in enumerate((Sleep(1), Call("peer", Say()), Wait("x"), Act(Write(b"done")))):
            script = await Start(child, (effect,))
            started.append(script)
        await Sleep(0)
        for _place, script in enumerate(started):
            await Stop(script)
        started.clear()
        await Sleep(10)
        await Signal("x")
        await Sleep(40_000)
        gc.collect()

    world.part("peer", {Say: echo})
    history = world.play(client)
    assert world.seen == []
    assert world.outside.files == {}
    assert not kinds(history, past.Learned)


def test_a_script_that_is_stopped_before_its_first_step_never_begins() -> None:
    world = World()

    async def child() -> None:
        world.tell("begins")

    async def client(_: Part) -> None:
        script = await Start(child)
        await Stop(script)
        await Sleep(10)

    world.play(client)
    assert world.seen == []


OPTIONS = {
    "a signal": ((Wait("x"), Sleep(50)), 0, 10),
    "a sleep": ((Wait("never"), Sleep(5), Wait("x")), 1, 5),
    "the end of a script": ((Sleep(50), "child", Wait("never")), 1, 20),
    "a failed script": ((Sleep(50), "failing"), 1, 20),
    "a script that has ended": ((Sleep(50), "ended"), 1, 0),
    "the first of two at once": ((Sleep(7), Sleep(7)), 0, 7),
}


@pytest.mark.parametrize(("options", "place", "at"), OPTIONS.values(), ids=OPTIONS)
def test_a_select_gives_the_place_of_the_first_and_forgets_the_others(
    options: tuple[Any, ...], place: int, at: int
) -> None:
    world = World()

    async def child(ms: int, fails: bool) -> None:
        await Sleep(ms)
        if fails:
            raise Failed("child_failed")

    async def signals() -> None:
        await Sleep(10)
        await Signal("x")
        await Signal("x")

    async def client(_: Part) -> None:
        ended = await Start(child, (0, False))
        await Join(ended)
        running = await Start(child, (20, False))
        failing = await Start(child, (20, True))
        await Start(signals)
        scripts = {"child": running, "failing": failing, "ended": ended}
        first = await Select(tuple(Join(scripts[x]) if isinstance(x, str) else x for x in options))
        world.tell(first)
        await Sleep(1)
        world.tell("after a sleep of its own")
        await Sleep(1_000)

    world.play(client)
    assert world.seen == [(at, place), (at + 1, "after a sleep of its own")]


def test_a_signal_wakes_every_waiter_of_its_actor_once_and_is_not_remembered() -> None:
    world = World()

    async def waiter(name: str) -> None:
        await Wait("x")
        world.tell(name)

    async def elsewhere(_: Part) -> None:
        await Wait("x")
        world.tell("another actor")

    world.part("peer", boot=elsewhere)

    async def client(_: Part) -> None:
        await Signal("x")
        for _place, name in enumerate("ab"):
            await Start(waiter, (name,))
        await Sleep(5)
        assert world.seen == []
        await Signal("y")
        await Signal("x")
        await Signal("x")
        await Sleep(5)

    world.play(client)
    assert world.seen == [(5, "a"), (5, "b")]


def test_a_serial_queue_runs_one_at_a_time_in_order_and_goes_on_after_a_failure() -> None:
    world = World()

    async def job(name: str, ms: int) -> str:
        world.tell(f"{name} begins")
        await Sleep(ms)
        if name == "b":
            raise Failed("b_failed")
        return f"{name} answers"

    async def asker(queue: str, name: str, ms: int) -> None:
        word = await told(Serial(queue, job, (name, ms)))
        world.tell(word)

    async def client(_: Part) -> None:
        for _place, asked in enumerate([("q", "a", 30), ("q", "b", 5), ("q", "c", 1), ("other", "d", 2)]):
            await Start(asker, asked)
        await Sleep(100)

    world.play(client)
    assert world.seen == [
        (0, "a begins"),
        (0, "d begins"),
        (2, "d answers"),
        (30, "a answers"),
        (30, "b begins"),
        (35, "b_failed 409"),
        (35, "c begins"),
        (36, "c answers"),
    ]


def test_a_stopped_asker_does_not_hold_up_its_queue() -> None:
    world = World()

    async def job(name: str) -> None:
        await Sleep(10)
        world.tell(name)

    async def asker(name: str) -> None:
        await Serial("q", job, (name,))
        world.tell(f"{name} heard of it")

    async def client(_: Part) -> None:
        first = await Start(asker, ("a",))
        await Start(asker, ("b",))
        await Sleep(1)
        await Stop(first)
        await Sleep(100)

    world.play(client)
    assert world.seen == [(10, "a"), (20, "b"), (20, "b heard of it")]


# --- processes


def test_boot_and_kill_do_nothing_to_a_process_that_is_as_they_want_it() -> None:
    world = World()
    world.part("peer", restarts=False)

    async def client(_: Part) -> None:
        for _place, order in enumerate(
            (Kill("peer"), Boot("peer"), Boot("peer"), Kill("peer"), Kill("peer"))
        ):
            await order
        await Sleep(10)
        await Boot("peer")

    history = world.play(client)
    assert [
        (type(event).__name__, getattr(event, "life", ""))
        for event in kinds(history, past.Booted, past.Crashed)
        if getattr(event, "process", "") == "peer"
    ] == [("Booted", 1), ("Crashed", ""), ("Booted", 2)]


@pytest.mark.parametrize("operator_at", [None, 500])
def test_a_supervised_process_comes_up_again_once_even_when_an_operator_was_faster(
    operator_at: int | None,
) -> None:
    world = World()
    world.part("peer", {Say: echo})

    async def client(_: Part) -> None:
        await Kill("peer")
        if operator_at is not None:
            await Sleep(operator_at)
            await Boot("peer")
        await Sleep(2 * RESTART_MS)
        word = await told(Call("peer", Say("hello")))
        world.tell(word)

    history = world.play(client)
    assert world.seen[0][1] == "hello from life 2"
    booted = [event.at for event in kinds(history, past.Booted) if getattr(event, "process", "") == "peer"]
    assert booted == [0, RESTART_MS if operator_at is None else operator_at]


def test_who_kills_its_own_process_does_nothing_more() -> None:
    world = World()

    async def child() -> None:
        world.tell("a child of the dead")

    async def suicide(_part: Part, _request: Say) -> str:
        await Start(child)
        await Kill("peer")
        world.tell("still here")
        return "alive"

    world.part("peer", {Say: suicide}, restarts=False)

    async def client(_: Part) -> None:
        await Boot("peer")
        word = await told(Call("peer", Say()))
        world.tell(word)

    world.play(client)
    assert world.seen == [(2, "doubt transport")]


def victim(world: World, effect: Any) -> Played:
    """A script that would tidy up in every way there is; what it would do, the test would see."""

    async def script(part: Part, _request: Any = None) -> str:
        part.memory.append("volatile")
        world.tell("asks")
        try:
            await effect
        except Exception:
            world.tell("caught")
            await Commit(Put("k", "written by the dead"))
        finally:
            world.tell("tidied up")
        return "unheard of"

    return script


WAITS = {
    "a call": Call("silent", Say()),
    "a commit": Commit(Put("other", "row")),
    "a deed": Act(Write(b"line")),
    "a sleep": Sleep(10),
    "a signal": Wait("never"),
    "a select": Select((Wait("never"), Sleep(10))),
}


@pytest.mark.parametrize("queued", [False, True], ids=["handler", "queued"])
@pytest.mark.parametrize("effect", WAITS.values(), ids=WAITS)
def test_a_crash_throws_nothing_and_nothing_of_the_victim_runs_again(effect: Any, queued: bool) -> None:
    world = World()

    async def silent(_part: Part, _request: Say) -> str:
        await Sleep(10)
        return "too late"

    asks = victim(world, effect)

    async def queues(part: Part, _request: Say) -> str:
        return await Serial("q", asks, (part,))

    world.part("silent", {Say: silent})
    world.part("peer", {Say: queues if queued else asks, Other: echo}, restarts=False)

    async def ask() -> str:
        return await told(Call("peer", Say()))

    async def client(_: Part) -> None:
        await Boot("peer")
        asking = await Start(ask)
        await Sleep(1)
        await Sleep(0)
        await Sleep(0)  # after whatever else happens in this millisecond
        await Kill("peer")
        learned = await Join(asking)
        world.tell(learned)
        await Boot("peer")
        word = await told(Call("peer", Other("next")))
        world.tell(word)
        await Sleep(100_000)
        gc.collect()

    world.play(client)
    assert world.seen == [(1, "asks"), (2, "doubt transport"), (4, "next from life 2")]
    assert world.disk.get(ROWS, "k") is None


def test_memory_is_gone_after_a_crash_and_the_disk_is_not() -> None:
    world = World()

    async def keep(part: Part, request: Say) -> str:
        part.memory.append(request.text)
        await Commit(Put(request.text, "kept"))
        return f"memory {part.memory}, disk {[key for key, _ in world.disk.rows(ROWS, '')]}"

    world.part("peer", {Say: keep})

    async def client(_: Part) -> None:
        for _place, text in enumerate("ab"):
            word = await told(Call("peer", Say(text)))
            world.tell(word)
            await Kill("peer")
            await Sleep(2 * RESTART_MS)

    world.play(client)
    assert [word for _, word in world.seen] == ["memory ['a'], disk ['a']", "memory ['b'], disk ['a', 'b']"]


def test_who_calls_a_process_that_is_down_learns_doubt_at_once() -> None:
    world = World()
    world.part("peer", {Say: echo}, restarts=False)

    async def client(_: Part) -> None:
        word = await told(Call("peer", Say()))
        world.tell(word)

    world.play(client)
    assert world.seen == [(1, "doubt transport")]


def test_a_crash_empties_a_serial_queue_and_the_next_life_has_its_own() -> None:
    world = World()

    async def job(name: str) -> str:
        world.tell(f"{name} begins")
        await Sleep(10)
        return name

    async def queued(_part: Part, request: Say) -> str:
        return await Serial("q", job, (request.text,))

    world.part("peer", {Say: queued}, restarts=False)

    async def ask(name: str) -> None:
        word = await told(Call("peer", Say(name)))
        world.tell(f"{name}: {word}")

    async def client(_: Part) -> None:
        await Boot("peer")
        for _place, name in enumerate("ab"):
            await Start(ask, (name,))
        await Sleep(5)
        await Kill("peer")
        await Boot("peer")
        await Start(ask, ("c",))
        await Sleep(100)

    world.play(client)
    assert world.seen == [
        (1, "a begins"),
        (6, "a: doubt transport"),
        (6, "b: doubt transport"),
        (6, "c begins"),
        (17, "c: c"),
    ]


def test_a_call_within_a_process_dies_with_it_and_never_reaches_the_next_life() -> None:
    world = World()

    async def asks(_part: Part, _request: Other) -> str:
        await Sleep(4)
        return await Call("owner.b", Say("from the dead"))

    async def tells(part: Part, request: Say) -> str:
        world.tell(f"{request.text} in life {part.life}")
        return ""

    world.part("owner.a", {Other: asks}, process="owner", restarts=False)
    world.part("owner.b", {Say: tells}, process="owner", restarts=False)

    async def ask() -> None:
        word = await told(Call("owner.a", Other()))
        world.tell(word)

    async def client(_: Part) -> None:
        await Boot("owner")
        await Start(ask)
        await Sleep(1)
        await Sleep(0)
        await Sleep(4)  # wakes in the millisecond of the call, after it was asked and before it arrives
        await Kill("owner")
        await Boot("owner")
        await Sleep(100)

    history = world.play(client)
    assert [event.at for event in kinds(history, past.Asked)] == [0, 5]
    assert world.seen == [(6, "doubt transport")]


def test_the_death_of_a_process_in_one_actors_boot_is_the_end_of_all_of_them() -> None:
    world = World("owner.a:commit:Put#1@owner.a.boot#1=crash-before")

    async def first(_: Part) -> None:
        await Commit(Put("a", "up"))

    async def second(part: Part) -> None:
        world.tell(f"second in life {part.life}")

    world.part("owner.a", boot=first, process="owner")
    world.part("owner.b", boot=second, process="owner")

    async def client(_: Part) -> None:
        await Sleep(RESTART_MS + 10)

    history = world.play(client)
    assert world.seen == [(RESTART_MS, "second in life 2")]
    assert len([e for e in kinds(history, past.Began) if getattr(e, "actor", "") == "owner.b"]) == 1


# --- pause


PAUSED = "peer:commit:Put#1@client.boot#1/once#1/Say#1=paused"


def pausing(world: World, restarts: bool = True) -> None:
    """A peer that commits on ``Say`` (and stands still there, under the plan above), and echoes ``Other``."""

    async def commits(part: Part, request: Say) -> str:
        await Commit(Put(request.text, "kept"))
        world.tell(f"{request.text} goes on")
        return f"{request.text} of life {part.life}"

    async def echoes(_part: Part, request: Other) -> str:
        world.tell(f"{request.text} arrives")
        return request.text

    async def ticking(_: Part) -> None:
        await Sleep(60_000)
        world.tell("a timer fires")

    world.part("peer", {Say: commits, Other: echoes}, boot=ticking, restarts=restarts)


def test_in_a_pause_nothing_runs_nothing_is_lost_and_the_order_is_kept() -> None:
    world = World(PAUSED)
    pausing(world)

    async def once(request: Request[str], patience: int) -> None:
        word = await told(Call("peer", request, patience))
        world.tell(f"{word} learned")

    async def client(_: Part) -> None:
        await Start(once, (Say("a"), 100_000))
        await Sleep(1_000)
        for _place, text in enumerate("bc"):
            await Start(once, (Other(text), 100_000))
            await Sleep(1_000)
        await Start(once, (Other("d"), 5_000))
        await Sleep(200_000)

    history = world.play(client)
    over = PAUSE_MS + 1
    assert world.seen == [
        (8_000, "doubt timeout learned"),
        (over, "a goes on"),
        (over, "b arrives"),
        (over, "c arrives"),
        (over, "d arrives"),
        (over, "a timer fires"),
        (over + 1, "a of life 1 learned"),
        (over + 1, "b learned"),
        (over + 1, "c learned"),
    ]
    assert world.disk.get(ROWS, "a") == "kept"
    assert [(type(e).__name__, e.at) for e in kinds(history, past.Paused, past.Resumed)] == [
        ("Paused", 1),
        ("Resumed", over),
    ]


def test_a_script_started_just_before_a_pause_begins_after_it() -> None:
    world = World(PAUSED)

    async def child() -> None:
        world.tell("begins")

    async def commits(_part: Part, request: Say) -> str:
        await Start(child)
        await Commit(Put(request.text, "kept"))
        return ""

    world.part("peer", {Say: commits})

    async def once() -> None:
        await told(Call("peer", Say("a")))

    async def client(_: Part) -> None:
        await Start(once)
        await Sleep(2 * PAUSE_MS)

    world.play(client)
    assert world.seen == [(PAUSE_MS + 1, "begins")]


def test_the_second_copy_of_a_request_waits_for_the_end_of_a_pause_as_well() -> None:
    world = World(PAUSED + ",client:call:Say#1@client.boot#1/once#1=duplicated")
    pausing(world)

    async def once() -> None:
        word = await told(Call("peer", Say("a"), 200_000))
        world.tell(f"{word} learned")

    async def client(_: Part) -> None:
        await Start(once)
        await Sleep(2 * PAUSE_MS)

    world.play(client)
    over = PAUSE_MS + 1
    assert world.seen == [
        (over, "a goes on"),
        (over, "a timer fires"),
        (over + 1, "a goes on"),
        (over + 1, "a of life 1 learned"),
    ]


def test_who_stands_still_learns_of_doubt_only_when_it_runs_on() -> None:
    """A paused caller has learned nothing, and one that dies in its pause never does."""
    world = World("caller:call:Say#1@caller.boot#1=paused,caller:call:Say#1@caller.boot#2=paused")

    async def asks(part: Part) -> None:
        word = await told(Call("peer", Say(), 100))
        world.tell(f"life {part.life}: {word}")

    world.part("peer", restarts=False)
    world.part("caller", boot=asks, restarts=False)

    async def client(_: Part) -> None:
        await Boot("caller")
        await Sleep(2 * PAUSE_MS)
        await Kill("caller")
        await Boot("caller")
        await Sleep(1_000)
        await Kill("caller")
        await Sleep(2 * PAUSE_MS)

    history = world.play(client)
    assert world.seen == [(PAUSE_MS, "life 1: doubt transport")]
    assert [event.at for event in kinds(history, past.Learned)] == [PAUSE_MS]
    assert history.missed == ()


@pytest.mark.parametrize("restarts", [False, True])
def test_who_is_killed_in_its_pause_neither_runs_on_nor_hands_its_mail_to_the_next_life(
    restarts: bool,
) -> None:
    world = World(PAUSED)
    pausing(world, restarts)

    async def once(request: Request[str]) -> None:
        word = await told(Call("peer", request, 200_000))
        world.tell(f"{word} learned")

    async def client(_: Part) -> None:
        await Boot("peer")
        await Start(once, (Say("a"),))
        await Sleep(1_000)
        await Start(once, (Other("b"),))
        await Sleep(1_000)
        await Kill("peer")
        await Sleep(2 * PAUSE_MS)

    history = world.play(client)
    learned = [(2_001, "doubt transport learned")] * 2
    assert world.seen == learned + ([(62_000 + RESTART_MS, "a timer fires")] if restarts else [])
    assert not kinds(history, past.Resumed)


def test_healing_wakes_what_is_paused_and_only_once() -> None:
    world = World(PAUSED)
    pausing(world)

    async def once(request: Request[str]) -> None:
        word = await told(Call("peer", request, 200_000))
        world.tell(f"{word} learned")

    async def client(_: Part) -> None:
        await Start(once, (Say("a"),))
        await Sleep(1_000)
        await Heal()
        await Sleep(2 * PAUSE_MS)

    history = world.play(client)
    assert world.seen == [(1_000, "a goes on"), (1_001, "a of life 1 learned"), (60_000, "a timer fires")]
    assert len(kinds(history, past.Resumed)) == 1


# --- the ends of a run


def test_a_run_that_does_not_end_is_stopped_at_the_horizon() -> None:
    world = World()

    async def client(_: Part) -> None:
        await Wait("never")

    history = world.play(client, horizon_ms=5_000)
    assert history.events[-1] == past.Exhausted(5_000, "horizon")


def test_a_run_that_turns_in_circles_is_stopped_by_its_budget_of_effects() -> None:
    world = World()

    async def client(_: Part) -> None:
        while True:
            await Signal("x")

    history = world.play(client)
    assert history.events[-1] == past.Exhausted(0, "budget")


def test_a_run_that_ends_by_itself_is_not_exhausted() -> None:
    world = World()

    async def client(_: Part) -> None:
        await Sleep(1)

    assert not kinds(world.play(client), past.Exhausted)


def test_a_bug_in_a_script_is_no_doubt_and_no_refusal() -> None:
    world = World()

    async def buggy(_part: Part, _request: Say) -> str:
        raise ZeroDivisionError("a bug")

    world.part("peer", {Say: buggy})

    async def client(_: Part) -> None:
        await told(Call("peer", Say()))

    with pytest.raises(ZeroDivisionError):
        world.play(client)


# --- rules


def test_a_consulted_rule_is_in_the_history_with_its_verdict_and_whoever_asked() -> None:
    world = World()

    async def asks(_part: Part, _request: Say) -> str:
        mine = world.kernel.ask(transport.reply_is_mine, "a", "b")
        return str(mine)

    world.part("peer", {Say: asks})

    async def client(_: Part) -> None:
        word = await told(Call("peer", Say()))
        world.tell(word)

    history = world.play(client)
    [decided] = kinds(history, past.Decided)
    assert isinstance(decided, past.Decided)
    assert (decided.rule, decided.verdict) == ("transport.reply_is_mine", False)
    assert Scripts(history.events).actor(decided.script) == "peer"
    assert world.seen == [(2, "False")]


# --- determinism and secrecy


def test_equal_runs_give_equal_histories() -> None:
    assert digest(run(ONE_CALL).events) == digest(run(ONE_CALL).events)


def test_a_run_is_the_same_in_every_process_whatever_its_hash_seed() -> None:
    program = (
        "from tests_one_call import ONE_CALL; from faults.plans import read; from sim.run import run; "
        "from sim.history import digest; plan = read({plan!r}); print(digest(run(ONE_CALL, plan).events))"
    )
    point = next(str(sighting.point) for sighting in points(ONE_CALL) if sighting.point.actor == "broker")
    plan = f"{point}=reply-lost!" if ":call:" in point else f"{point}=unknown-applied!"
    told_by = {_digest_in_a_process(program.format(plan=plan), seed) for seed in ("0", "1", "4242")}
    assert told_by == {digest(run(ONE_CALL, read(plan)).events)}


def _digest_in_a_process(program: str, seed: str) -> str:
    root = Path(__file__).resolve().parent.parent
    here = f"import sys; sys.path[:0] = {[str(root), str(root / 'tests')]!r}; "
    program = program.replace("tests_one_call", "test_kernel")
    done = subprocess.run(
        [sys.executable, "-c", here + program],
        env={"PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_no_secret_is_ever_in_the_bytes_of_a_history() -> None:
    world = World()
    capability = Secret("capability", "open-sesame")

    async def hands(_part: Part, request: Hand) -> Secret:
        return request.capability

    world.part("peer", {Hand: hands})

    async def client(_: Part) -> None:
        answer = await Call("peer", Hand(capability))
        world.seen.append(answer == capability)

    history = world.play(client)
    written = encoded(history.events)
    assert world.seen == [True]
    assert b"open-sesame" not in written
    assert b"<capability>" in written
    assert "open-sesame" not in repr(history)


def test_no_secret_of_a_real_turn_is_in_the_bytes_of_its_history() -> None:
    history = run(ONE_CALL)
    asked = [event.request for event in history.events if isinstance(event, past.Asked)]
    secrets = {secret.value for request in asked for secret in secrets_in(request)}
    assert len(secrets) >= 2
    assert not [value for value in secrets if value.encode() in encoded(history.events)]


def secrets_in(value: Any) -> list[Secret]:
    if isinstance(value, Secret):
        return [value]
    inside = [getattr(value, name) for name in getattr(value, "__struct_fields__", ())]
    inside += value if isinstance(value, tuple | list) else []
    return [secret for item in inside for secret in secrets_in(item)]


# --- points


def test_every_point_of_a_real_turn_has_an_address_of_its_own() -> None:
    seen = [str(sighting.point) for sighting in points(ONE_CALL)]
    assert len(seen) > 100
    assert len(set(seen)) == len(seen)


def test_every_script_of_a_real_turn_has_a_path_of_its_own() -> None:
    history = run(ONE_CALL)
    scripts = Scripts(history.events)
    paths = [(scripts.actor(serial), scripts.path(serial)) for serial in scripts.began]
    assert len(set(paths)) == len(paths)


def sighted(more: bool, plan: Plan = NO_FAULTS) -> list[str]:
    """The points of a small world in which, if ``more``, somebody asks something unrelated."""
    seen: list[Sighting] = []
    world = World(watcher=seen.append)

    async def asks(_part: Part, _request: Say) -> str:
        if more:
            await Call("third", Other("unrelated"))
        await Commit(Put("k", "row"))
        return await Call("third", Say("deep"))

    world.part("peer", {Say: asks})
    world.part("third", {Say: echo, Other: echo})

    async def client(_: Part) -> None:
        if more:
            await Start(beside)
        for _place, text in enumerate(("one", "two")):
            await Call("peer", Say(text))

    async def beside() -> None:
        await Call("third", Other("unrelated"))

    world.play(client)
    return [str(sighting.point) for sighting in seen]


def test_a_point_keeps_its_address_when_something_unrelated_is_asked_elsewhere() -> None:
    plain, edited = sighted(more=False), sighted(more=True)
    assert plain == [
        "client:call:Say#1@client.boot#1",
        "peer:commit:Put#1@client.boot#1/Say#1",
        "peer:call:Say#1@client.boot#1/Say#1",
        "client:call:Say#2@client.boot#1",
        "peer:commit:Put#1@client.boot#1/Say#2",
        "peer:call:Say#1@client.boot#1/Say#2",
    ]
    assert [point for point in edited if ":Other#" not in point] == plain
    assert len(edited) == len(plain) + 3


@pytest.mark.parametrize("fate", ["delivered-late", "duplicated"])
def test_what_a_late_or_doubled_request_causes_has_addresses_of_its_own(fate: str) -> None:
    """The late one comes after its own retry: it must not take the retry's name."""
    plan = ",".join(f"client:call:Say#{nth}@client.boot#1={fate}" for nth in (1, 2))
    seen: list[Sighting] = []
    world = World(plan, watcher=seen.append)

    async def commits(_part: Part, request: Say) -> str:
        await Commit(Put("k", request.text))
        return ""

    world.part("peer", {Say: commits})

    async def client(_: Part) -> None:
        for _place, text in enumerate(("one", "two", "three")):
            await told(Call("peer", Say(text), 1_000))
        await Sleep(10_000)

    history = world.play(client)
    addresses = [str(sighting.point) for sighting in seen]
    assert len(set(addresses)) == len(addresses) == 3 + (3 if fate == "delivered-late" else 5)
    paths = [Scripts(history.events).path(serial) for serial in Scripts(history.events).began]
    assert len(set(paths)) == len(paths)


def test_a_milestone_is_told_to_the_driver_also_after_healing() -> None:
    world = World(milestones=frozenset({"peer:commit:Put#2"}))

    async def commits(_part: Part, _request: Say) -> str:
        await Commit(Put("k", "row"))
        return ""

    world.part("peer", {Say: commits})

    async def watches() -> None:
        await Wait("peer:commit:Put#2")
        world.tell("passed")

    async def client(_: Part) -> None:
        await Start(watches)
        await Call("peer", Say())
        await Heal()
        await Call("peer", Say())

    world.play(client)
    assert world.seen == [(4, "passed")]
