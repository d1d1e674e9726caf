"""Every fate of the vocabulary, proved to land and to do what it says.

One owner of a Session makes four attempts in a row: three at operation ``a``, one at operation ``b``; then the world
is healed, and it tries ``a`` once more. What it asks is a call, a commit or a deed. A fate strikes the first attempt
at ``a``, or where a row says otherwise.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from faults.fates import ANY, TIME, VOCABULARY, applicable
from faults.plans import read
from sim import history as past
from sim.actor import Actor
from sim.circumstances import CIRCUMSTANCES, RIVAL
from sim.content import flipped
from sim.design import SEED, Design, transport
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
    Outside,
    Request,
    Secret,
    Sleep,
    Start,
    Table,
    Transaction,
    Uncertain,
)
from sim.facts import ACTIVATIONS, ROOTS, WRITERS, Activation, Root, Writer
from sim.history import History, digest
from sim.kernel import Kernel
from sim.points import ACT, CALL, COMMIT, DOORS, NO_FAULTS, Fate, Plan, Point, Sighting, Strike
from sim.protocol import Value
from sim.rule import Decide
from sim.run import points, run
from sim.scenario import HARNESS, LOCAL, Scenario, SessionPlan, Turn, calls, says, shell
from sim.storage.memory import MemoryDatabase, MemoryOutside

SETTLED_MS = 300_000
"""Longer than three timeouts and a pause."""
RETRY_MS = 500
CLEAN = "a1 a2 a3 b4 a5"


class Row(NamedTuple):
    """What a fate at one attempt comes to.

    ``learned`` is what the asker learned of each attempt, in order: ok or what came instead of it. ``happened`` are
    the attempts whose effect came about, in order. ``took`` is how long the struck attempt took, in milliseconds;
    for a crash, how long until the asker was dead. ``struck`` counts how often the fate struck.
    """

    door: str
    fate: str
    learned: str
    happened: str
    took: int
    struck: int = 1
    attempt: int = 1


ROWS = (
    # door, fate                    the asker learns                              what came about    took, struck
    Row(CALL, "request-lost", "timeout ok ok ok ok", "a2 a3 b4 a5", 30_000),
    Row(CALL, "request-lost!", "timeout timeout timeout ok ok", "b4 a5", 30_000, 3),
    Row(CALL, "reply-lost", "timeout ok ok ok ok", CLEAN, 30_000),
    Row(CALL, "reply-lost!", "timeout timeout timeout ok ok", CLEAN, 30_000, 3),
    Row(CALL, "reply-late", "timeout ok ok ok ok", CLEAN, 30_000),
    Row(CALL, "reply-late!", "timeout timeout timeout ok ok", CLEAN, 30_000, 3),
    Row(CALL, "reply-truncated", "transport ok ok ok ok", CLEAN, 3),
    Row(CALL, "reply-truncated!", "transport transport transport ok ok", CLEAN, 3, 3),
    Row(CALL, "duplicated", "ok ok ok ok ok", "a1 a1 a2 a3 b4 a5", 3),
    Row(CALL, "delivered-late", "timeout ok ok ok ok", "a2 a1 a3 b4 a5", 30_000),
    Row(CALL, "refused", "managed_request_refused ok ok ok ok", "a2 a3 b4 a5", 2),
    Row(CALL, "refused!", " ".join(["managed_request_refused"] * 3 + ["ok", "ok"]), "b4 a5", 2, 3),
    Row(CALL, "error-before", "server ok ok ok ok", "a2 a3 b4 a5", 2),
    Row(CALL, "error-before!", "server server server ok ok", "b4 a5", 2, 3),
    Row(CALL, "error-after", "server ok ok ok ok", CLEAN, 3),
    Row(CALL, "error-after!", "server server server ok ok", CLEAN, 3, 3),
    Row(CALL, "delayed", "ok ok ok ok ok", CLEAN, 5_002),
    Row(CALL, "request-altered", "ok ok ok ok ok", "a0 a2 a3 b4 a5", 3),
    Row(CALL, "reply-crossed", "ok ok ok transport ok", CLEAN, 3, attempt=4),
    Row(CALL, "capability-expired", "unauthorized ok ok ok ok", "a2 a3 b4 a5", 2),
    Row(COMMIT, "commit-failed", "database_failed ok ok ok ok", "a2 a3 b4 a5", 1),
    Row(COMMIT, "commit-failed!", "database_failed database_failed database_failed ok ok", "b4 a5", 1, 3),
    Row(COMMIT, "unknown-applied", "server ok ok ok ok", CLEAN, 1),
    Row(COMMIT, "unknown-applied!", "server server server ok ok", CLEAN, 1, 3),
    Row(COMMIT, "unknown-not-applied", "server ok ok ok ok", "a2 a3 b4 a5", 1),
    Row(COMMIT, "unknown-not-applied!", "server server server ok ok", "b4 a5", 1, 3),
    Row(COMMIT, "altered-at-rest", "ok ok ok ok ok", "a0 a2 a3 b4 a5", 1),
    Row(ACT, "act-failed", "deed_failed ok ok ok ok", "a2 a3 b4 a5", 1),
    Row(ACT, "act-failed!", "deed_failed deed_failed deed_failed ok ok", "b4 a5", 1, 3),
    Row(ACT, "act-half", "", "a", 1),
    Row(CALL, "crash-before", "", "", 0),
    Row(CALL, "crash-waiting", "", "a1", 0),
    Row(CALL, "crash-after", "", "a1", 3),
    Row(CALL, "paused", "ok ok ok ok ok", CLEAN, 75_000),
    Row(COMMIT, "crash-before", "", "", 0),
    Row(COMMIT, "crash-waiting", "", "a1", 0),
    Row(COMMIT, "crash-after", "", "a1", 1),
    Row(COMMIT, "paused", "ok ok ok ok ok", CLEAN, 75_000),
    Row(ACT, "crash-before", "", "", 0),
    Row(ACT, "crash-waiting", "", "a1", 0),
    Row(ACT, "crash-after", "", "a1", 1),
    Row(ACT, "paused", "ok ok ok ok ok", CLEAN, 75_000),
    Row(CALL, "writer-expired", "ok ok ok ok ok", CLEAN, 3),
    Row(CALL, "writer-replaced", "ok ok ok ok ok", CLEAN, 3),
    Row(CALL, "activation-replaced", "ok ok ok ok ok", CLEAN, 3),
    Row(COMMIT, "writer-expired", "ok ok ok ok ok", CLEAN, 1),
    Row(COMMIT, "writer-replaced", "ok ok ok ok ok", CLEAN, 1),
    Row(COMMIT, "activation-replaced", "ok ok ok ok ok", CLEAN, 1),
    Row(CALL, "root-moved", "ok ok ok ok ok", CLEAN, 3),
)

# --- the world in which they strike

GOOD = Secret("capability", "good")
ROW_NAMES = [f"{row.fate} at a {row.door}" for row in ROWS]


class Kept(Value, frozen=True):
    """A durable attempt, with bytes that may rot."""

    content: bytes


KEPT: Table[Kept] = Table("kept")


class Keep(Transaction[str], frozen=True):
    key: str
    text: bytes

    @property
    def operation(self) -> str:
        return self.key

    def apply(self, facts: Facts, ask: Decide) -> str:
        facts.put(KEPT, f"{len(facts.rows(KEPT, '')):03d}", Kept(self.text))
        return f"kept {self.key}"


class Ask(Request[str], frozen=True):
    key: str
    text: bytes
    bearer: Secret

    @property
    def operation(self) -> str:
        return self.key

    def altered(self) -> Ask:
        return replace(self, text=flipped(self.text))


class Mark(Deed[str], frozen=True):
    key: str
    text: bytes

    @property
    def operation(self) -> str:
        return self.key

    def happen(self, outside: Outside) -> str:
        outside.append("w", "log", self.text + b" ")
        return f"kept {self.key}"

    def halfway(self, outside: Outside) -> None:
        outside.append("w", "log", self.text[: len(self.text) // 2])


class Whole(Deed[None], frozen=True):
    def happen(self, outside: Outside) -> None:
        """Nothing that could be done half."""


class Hello(Request[str], frozen=True):
    """Without bytes, without a capability, and without an answer that could be taken for another's."""


class Again(Request[str], frozen=True):
    pass


class Peer(Actor):
    async def keep(self, request: Ask) -> str:
        if request.bearer != GOOD:
            raise Failed("unauthorized", 401)
        return await Commit(Keep(request.key, request.text))

    async def greet(self, request: Hello) -> str:
        return "hello"

    handlers = {Ask: keep, Hello: greet}  # noqa: RUF012


class Owner(Actor):
    """Makes the attempts; in its second life only one, at operation ``a``."""

    def __init__(self, life: int, world: World, door: str, learned: list[str]) -> None:
        self.life = life
        self.world = world
        self.door = door
        self.learned = learned

    async def boot(self) -> None:
        for nth, key in enumerate("aaab" if self.life == 1 else "a", 1):
            script = await Start(self.attempt, (key, nth))
            await Join(script)
            await Sleep(RETRY_MS)

    async def again(self, request: Again) -> str:
        await self.attempt("a", 5)
        return "done"

    async def attempt(self, key: str, nth: int) -> None:
        text = f"{key}{nth}".encode()
        doors = {
            CALL: Call("peer", Ask(key, text, GOOD)),
            COMMIT: Commit(Keep(key, text)),
            ACT: Act(Mark(key, text)),
        }
        began = self.world.kernel.now
        word = await told(doors[self.door])
        self.learned.append("ok" if word == f"kept {key}" else word)
        self.world.took.append(self.world.kernel.now - began)

    handlers = {Again: again}  # noqa: RUF012


async def told(effect: Any) -> str:
    """The answer of an effect, or what was learned instead of it."""
    try:
        return await effect
    except Failed as failure:
        return failure.code
    except Uncertain as doubt:
        return doubt.cause


class World:
    """One asker and its peer; ``learned`` and ``took`` are told by the asker, ``happened`` by disk and files."""

    def __init__(
        self,
        door: str,
        plan: Plan = NO_FAULTS,
        *,
        asker: str = "harness:s1",
        peer_process: str = "peer",
        settled_ms: int = SETTLED_MS,
        design: Design = SEED,
    ) -> None:
        self.disk, self.outside = MemoryDatabase(), MemoryOutside()
        for session in ("s1", "s2"):
            self.disk.write(past.Write(WRITERS.name, session, Writer("me", "hash", 1, 10**9)))
            self.disk.write(past.Write(ACTIVATIONS.name, session, Activation(f"{session}.a1", 1)))
        self.kernel = Kernel(self.disk, self.outside, design, plan, CIRCUMSTANCES)
        self.learned: list[str] = []
        self.bystander: list[str] = []
        self.took: list[int] = []
        self.asker, self.settled_ms, self.reboots = asker, settled_ms, False
        kernel = self.kernel
        kernel.host(asker, "owner:s1", lambda life: Owner(life, self, door, self.learned))
        kernel.host("harness:s2", "owner:s2", lambda life: Owner(life, self, door, self.bystander))
        kernel.host("peer", peer_process, lambda _life: Peer(), restarts=peer_process == "peer")
        kernel.host("client", "client", lambda _life: Operator(self))

    def play(self, reboots: bool = False) -> History:
        self.reboots = reboots
        return self.kernel.run("client")

    @property
    def happened(self) -> str:
        kept = [row.content.decode() for _, row in self.disk.rows(KEPT, "")]
        return " ".join(kept + self.outside.read("w", "log").decode().split())


class Operator(Actor):
    def __init__(self, world: World) -> None:
        self.world = world

    async def boot(self) -> None:
        await told(Call("peer", Hello()))
        await Act(Whole())
        await Boot("owner:s1")
        await Sleep(self.world.settled_ms)
        if self.world.reboots:
            await Boot("owner:s1")
            await Sleep(self.world.settled_ms)
        await Heal()
        await told(Call(self.world.asker, Again()))
        await Sleep(self.world.settled_ms)


LABELS = {CALL: "Ask", COMMIT: "Keep", ACT: "Mark"}


def strikes(door: str, fates: str, attempt: int = 1, asker: str = "harness:s1") -> Plan:
    """Every fate named, at one attempt of the asker."""
    point = Point(f"{asker}.boot#1/attempt#{attempt}", asker, door, LABELS[door], 1)
    names = [Fate(fate.removesuffix("!"), fate.endswith("!")) for fate in fates.split(" + ")]
    return Plan(tuple(Strike(point, fate) for fate in names))


def struck(history: History) -> list[str]:
    return [event.fate for event in history.events if isinstance(event, past.Struck)]


def died(history: History) -> list[int]:
    """When the owner died, counted from its boot."""
    booted = next(e.at for e in history.events if isinstance(e, past.Booted) and e.process == "owner:s1")
    return [e.at - booted for e in history.events if isinstance(e, past.Crashed) and e.process == "owner:s1"]


# --- every fate does what it says


@pytest.mark.parametrize("row", ROWS, ids=ROW_NAMES)
def test_a_fate_lands_and_does_what_it_says(row: Row) -> None:
    world = World(row.door, strikes(row.door, row.fate, row.attempt))
    history = world.play()
    assert history.missed == ()
    assert struck(history) == [row.fate.removesuffix("!")] * row.struck
    assert " ".join(world.learned) == row.learned
    assert world.happened == row.happened
    assert (world.took[row.attempt - 1 :][:1] or died(history)) == [row.took]


@pytest.mark.parametrize("door", DOORS)
def test_without_a_fault_every_attempt_succeeds(door: str) -> None:
    world = World(door)
    history = world.play()
    assert (" ".join(world.learned), world.happened, history.missed) == ("ok ok ok ok ok", CLEAN, ())


def test_every_fate_of_the_vocabulary_is_proved_in_every_form_and_at_its_door() -> None:
    vocabulary = {str(form) for kind in VOCABULARY.values() for form in kind.forms()}
    assert {row.fate for row in ROWS} == vocabulary
    for name, kind in VOCABULARY.items():
        proved = {row.door for row in ROWS if row.fate.removesuffix("!") == name}
        assert proved == {ANY: set(DOORS), TIME: proved & {CALL, COMMIT}}.get(kind.door, {kind.door}), name


TIMES = {
    "writer-expired": (Writer("me", "hash", 1, 3), Activation("s1.a1", 1)),
    "writer-replaced": (Writer(RIVAL, RIVAL, 2, 60_003), Activation("s1.a1", 1)),
    "activation-replaced": (Writer("me", "hash", 1, 10**9), Activation(f"s1.{RIVAL}", 2)),
}


@pytest.mark.parametrize("asker", ["harness:s1", "journal:s1", "publisher:s1"])
@pytest.mark.parametrize("fate", TIMES)
def test_a_fate_of_time_changes_the_rows_of_the_askers_own_session_at_that_moment(
    fate: str, asker: str
) -> None:
    world = World(CALL, strikes(CALL, fate, asker=asker), asker=asker)
    history = world.play()
    assert (world.disk.get(WRITERS, "s1"), world.disk.get(ACTIVATIONS, "s1")) == TIMES[fate]
    assert world.disk.get(WRITERS, "s2") == Writer("me", "hash", 1, 10**9)
    assert world.disk.get(ACTIVATIONS, "s2") == Activation("s2.a1", 1)
    at = next(place for place, event in enumerate(history.events) if isinstance(event, past.Struck))
    assert [type(event).__name__ for event in history.events[at : at + 3]] == ["Struck", "Committed", "Asked"]
    assert len({event.at for event in history.events[at : at + 3]}) == 1


def test_a_root_that_is_moved_is_another_directory_each_time() -> None:
    plan = Plan((*strikes(CALL, "root-moved").strikes, *strikes(CALL, "root-moved", attempt=2).strikes))
    world = World(CALL, plan)
    world.play()
    assert world.disk.get(ROOTS, "s1") == Root(2)
    assert world.disk.get(ROOTS, "s2") is None


def test_a_crossed_reply_is_another_operations_answer_to_whoever_does_not_look() -> None:
    gullible = SEED.replacing(transport.reply_is_mine, lambda asked, echoed: True)
    world = World(CALL, strikes(CALL, "reply-crossed", attempt=4), design=gullible)
    history = world.play()
    assert world.learned == ["ok", "ok", "ok", "kept a", "ok"]
    [asked] = [event.script for event in history.events if isinstance(event, past.Decided)]
    assert past.Scripts(history.events).actor(asked) == "harness:s1"


def test_a_refusal_is_no_reply_that_could_be_crossed_with_another() -> None:
    failing = read("peer:commit:Keep#1@harness:s1.boot#1/attempt#1/Ask#1=commit-failed!")
    crossed = strikes(CALL, "reply-crossed", attempt=4)
    world = World(CALL, Plan((*failing.strikes, *crossed.strikes)))
    history = world.play()
    assert history.missed == (str(crossed.strikes[0]),)
    assert world.learned == ["server", "server", "server", "ok", "ok"]


def test_a_crash_takes_every_actor_of_the_process_and_no_other() -> None:
    plan = read("harness:s1:call:Ask#1@harness:s1.boot#1/attempt#1=crash-after")
    world = World(CALL, plan)
    ticks: list[tuple[str, int]] = []

    class Ticking(Actor):
        def __init__(self, name: str) -> None:
            self.name = name

        async def boot(self) -> None:
            for nth, _ in enumerate(range(4)):
                ticks.append((self.name, nth))
                await Sleep(2)

    world.kernel.host("journal:s1", "owner:s1", lambda _life: Ticking("same process"))
    world.kernel.host("worker:w1", "worker:w1", lambda _life: Ticking("another"), restarts=True)
    history = world.play()
    assert [event.process for event in history.events if isinstance(event, past.Crashed)] == ["owner:s1"]
    assert [name for name, _ in ticks].count("same process") == 2
    assert [name for name, _ in ticks].count("another") == 4


# --- how far a sticky fate reaches


@pytest.mark.parametrize("fate", [row.fate for row in ROWS if row.fate.endswith("!") and row.door == CALL])
def test_a_sticky_fate_follows_its_operation_into_the_next_life_but_not_to_another_asker(fate: str) -> None:
    plan = Plan((*strikes(CALL, fate).strikes, *strikes(CALL, "crash-after", attempt=2).strikes))
    world = World(CALL, plan)

    class Neighbour(Actor):
        async def boot(self) -> None:
            await Boot("owner:s2")

    world.kernel.host("neighbour", "neighbour", lambda _life: Neighbour(), restarts=True)
    history = world.play(reboots=True)
    first, next_life, healed = world.learned
    assert first == next_life
    assert first != "ok"
    assert healed == "ok"
    assert world.bystander == ["ok", "ok", "ok", "ok"]
    assert struck(history).count(fate.removesuffix("!")) == 3


# --- a strike that does nothing has not landed

UNREACHED = [
    "harness:s1:call:Ask#1@harness:s1.boot#1/attempt#9=reply-lost",
    "harness:s1:call:Ask#2@harness:s1.boot#1/attempt#1=reply-lost!",
    "harness:s1:call:Nothing#1@harness:s1.boot#1/attempt#1=crash-before",
    "harness:s2:call:Ask#1@harness:s2.boot#1/attempt#1=paused",
    "harness:s1:call:Ask#1@harness:s1.boot#2/attempt#1=request-lost",
]
HEALED = ["harness:s1:call:Ask#1@client.boot#1/Again#1=reply-lost"]
POWERLESS = [
    "harness:s1:call:Ask#1@harness:s1.boot#1/attempt#1=commit-failed",
    "harness:s1:call:Ask#1@harness:s1.boot#1/attempt#1=act-half",
    "harness:s1:call:Ask#1@harness:s1.boot#1/attempt#1=reply-crossed",
    "harness:s1:call:Ask#1@harness:s1.boot#1/attempt#3=reply-crossed",
    "peer:commit:Keep#1@harness:s1.boot#1/attempt#1/Ask#1=request-lost!",
    "peer:commit:Keep#1@harness:s1.boot#1/attempt#1/Ask#1=writer-replaced",
    "client:call:Hello#1@client.boot#1=request-altered",
    "client:call:Hello#1@client.boot#1=capability-expired",
    "client:call:Hello#1@client.boot#1=writer-replaced",
    "client:act:Whole#1@client.boot#1=act-half",
]


@pytest.mark.parametrize("plan", [*UNREACHED, *HEALED, *POWERLESS])
def test_a_strike_that_meets_nothing_it_could_change_is_reported_as_missed(plan: str) -> None:
    world = World(CALL, read(plan))
    history = world.play()
    assert history.missed == (plan,)
    assert digest(history.events) == digest(World(CALL).play().events)


@pytest.mark.parametrize("fate", [name for name, kind in VOCABULARY.items() if kind.door == CALL])
def test_within_a_process_no_message_is_lost_or_spoilt(fate: str) -> None:
    plan = strikes(CALL, fate, attempt=4)
    world = World(CALL, plan, peer_process="owner:s1")
    history = world.play()
    assert history.missed == (str(plan.strikes[0]),)
    assert world.learned == ["ok"] * 5


# --- two fates at one point


class Pair(NamedTuple):
    """Two fates at the first attempt; ``missed`` is the one that can do nothing beside the other."""

    door: str
    fates: str
    learned: str
    happened: str
    took: int
    missed: str = ""


PAIRS = (
    Pair(CALL, "reply-lost + crash-waiting", "", "a1", 0),
    Pair(CALL, "reply-lost + crash-after", "", "a1", 30_000),
    Pair(CALL, "refused + crash-after", "", "", 2),
    Pair(CALL, "request-lost + crash-waiting", "", "", 0),
    Pair(CALL, "error-after + paused", "server ok ok ok ok", CLEAN, 75_000),
    Pair(CALL, "paused + crash-after", "", "a1", 75_000),
    Pair(CALL, "writer-replaced + request-lost", "timeout ok ok ok ok", "a2 a3 b4 a5", 30_000),
    Pair(CALL, "reply-lost! + crash-after", "", "a1", 30_000),
    Pair(COMMIT, "unknown-applied + crash-after", "", "a1", 1),
    Pair(COMMIT, "commit-failed + paused", "database_failed ok ok ok ok", "a2 a3 b4 a5", 75_000),
    Pair(ACT, "act-failed + crash-after", "", "", 1),
    Pair(CALL, "request-lost + reply-lost", "timeout ok ok ok ok", "a2 a3 b4 a5", 30_000, "reply-lost"),
    Pair(CALL, "crash-before + reply-lost", "", "", 0, "reply-lost"),
    Pair(CALL, "crash-waiting + crash-after", "", "a1", 0, "crash-after"),
    Pair(CALL, "crash-waiting + paused", "", "a1", 0, "paused"),
    Pair(ACT, "act-half + crash-after", "", "a", 1, "crash-after"),
)


@pytest.mark.parametrize("pair", PAIRS, ids=[f"{pair.fates} at a {pair.door}" for pair in PAIRS])
def test_two_fates_at_one_point_both_do_what_they_say_or_one_is_missed(pair: Pair) -> None:
    plan = strikes(pair.door, pair.fates)
    world = World(pair.door, plan)
    history = world.play()
    assert [text.rpartition("=")[2] for text in history.missed] == ([pair.missed] if pair.missed else [])
    assert " ".join(world.learned) == pair.learned
    assert world.happened == pair.happened
    assert (world.took[:1] or died(history)) == [pair.took]


def test_whoever_was_to_die_of_an_answer_lives_when_the_world_is_healed_before_it_comes() -> None:
    world = World(CALL, strikes(CALL, "request-lost + crash-after"), settled_ms=20_000)
    history = world.play()
    assert died(history) == []
    assert "timeout" in world.learned


# --- in a real turn

ONE_CALL = Scenario("one call", (SessionPlan("s1", "w1", (Turn((calls(shell("c1", "make")), says("ok"))),)),))
FORMS = [form for kind in VOCABULARY.values() for form in kind.forms()]


AT_HOME = Scenario("at home", tuple(replace(each, leader=LOCAL) for each in ONE_CALL.sessions))
ONLY_AT_HOME = ("root-moved",)


@pytest.fixture(scope="module")
def sighted() -> dict[str, list[Sighting]]:
    return {HARNESS: points(ONE_CALL), LOCAL: points(AT_HOME)}


@pytest.mark.parametrize("fate", FORMS, ids=str)
def test_in_a_real_turn_a_fate_lands_at_the_first_and_the_last_point_it_applies_to(
    fate: Fate, sighted: dict[str, list[Sighting]]
) -> None:
    leader = LOCAL if fate.name in ONLY_AT_HOME else HARNESS
    scenario = AT_HOME if leader == LOCAL else ONE_CALL
    applies = [sighting.point for sighting in sighted[leader] if fate in applicable(sighting)]
    assert applies
    for point in (applies[0], applies[-1]):
        history = run(scenario, Plan((Strike(point, fate),)))
        assert history.missed == ()
        assert fate.name in struck(history)
