"""The Session Store's checks one by one, in their order, and the owner's journal that speaks to it."""

import hashlib
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec
import pytest

from sim.actor import Actor
from sim.actors.journal import Journal, writer_token
from sim.actors.store import CommitRecords, ExtendWriter, KeepOutput, Store, TakeWriter
from sim.content import sha256
from sim.design import SEED, Limits, retry
from sim.design.writer import Claim
from sim.effects import Boot, Call, Failed, Kill, Sleep, Transaction, Uncertain
from sim.facts import ACTIVATIONS, JOURNAL, RESOURCES, WRITERS, StoredResource
from sim.history import Asked, History
from sim.kernel import Kernel
from sim.points import Fate, Plan, Sighting, Strike
from sim.protocol import (
    FOREGROUND_SHELL,
    ActivationChanged,
    Append,
    Appended,
    CheckWriter,
    OpenJournal,
    PublishOutput,
    ReadOutput,
    ReadOwn,
    RenewWriter,
    StageResource,
    Transact,
    UserMessage,
)
from sim.rule import Rule
from sim.storage.memory import MemoryDatabase, MemoryOutside

LIMITS = Limits()
LEASE = LIMITS.writer_lease
FIRST, OTHER = Claim("first", "hash-1", 1), Claim("other", "hash-2", 2)
HELLO = (UserMessage("p1", "hello"),)


def ask(rule: Rule[..., Any], *args: Any) -> Any:
    return rule.answer(*args)


def apply(disk: MemoryDatabase, transaction: Transaction[Any], now: int = 0) -> Any:
    return disk.apply(transaction, ask, now)[0]


def code(disk: MemoryDatabase, transaction: Transaction[Any], now: int = 0) -> str:
    with pytest.raises(Failed) as refusal:
        apply(disk, transaction, now)
    return refusal.value.code


def commit(name: str, after: int, **changes: Any) -> CommitRecords:
    plain = CommitRecords("s", name, HELLO, (), (), FIRST, after, "a1", 1, LIMITS)
    return msgspec.structs.replace(plain, **changes)


@pytest.fixture
def disk() -> MemoryDatabase:
    """A Session with a writer, an activation at sequence 1, and one message at sequence 2."""
    disk = MemoryDatabase()
    apply(disk, TakeWriter("s", "first", "hash-1", LEASE))
    apply(disk, commit("activate", 0, records=(ActivationChanged("a1", 1, FOREGROUND_SHELL),)))
    apply(disk, commit("greet", 1, resources=("note",), staged=(("note", b"bytes"),)))
    return disk


# --- the writer lease


def test_a_live_lease_cannot_be_stolen_and_a_takeover_raises_the_generation(disk: MemoryDatabase) -> None:
    other = TakeWriter("s", "other", "hash-2", LEASE)
    assert code(disk, other, LEASE - 1) == "managed_session_writer_conflict"
    assert apply(disk, other, LEASE).generation == 2


def test_the_same_writer_extends_its_lease_after_expiry_but_not_after_a_takeover(
    disk: MemoryDatabase,
) -> None:
    assert apply(disk, TakeWriter("s", "first", "hash-1", LEASE), LEASE + 5).generation == 1
    assert apply(disk, ExtendWriter("s", FIRST, LEASE), 3 * LEASE).expires_at == 4 * LEASE

    apply(disk, TakeWriter("s", "other", "hash-2", LEASE), 5 * LEASE)
    assert code(disk, ExtendWriter("s", FIRST, LEASE), 5 * LEASE) == "managed_session_writer_conflict"
    assert (
        code(disk, TakeWriter("s", "first", "hash-1", LEASE), 5 * LEASE) == "managed_session_writer_conflict"
    )


def test_a_renewal_tells_the_activation_that_a_commit_installed(disk: MemoryDatabase) -> None:
    renewed = apply(disk, ExtendWriter("s", FIRST, LEASE))
    assert (renewed.activation, renewed.epoch) == ("a1", 1)
    apply(
        disk,
        commit("again", 2, records=(ActivationChanged("a2", 2, FOREGROUND_SHELL),), activation="a2", epoch=2),
    )
    renewed = apply(disk, ExtendWriter("s", FIRST, LEASE))
    assert (renewed.activation, renewed.epoch) == ("a2", 2)


# --- one transaction


def test_the_exact_replay_gets_the_recorded_receipt_even_after_expiry_and_takeover(
    disk: MemoryDatabase,
) -> None:
    greeted = commit("greet", 1, resources=("note",))
    assert apply(disk, greeted, 9 * LEASE) == Appended(2)
    apply(disk, TakeWriter("s", "other", "hash-2", LEASE), 9 * LEASE)
    assert apply(disk, greeted, 9 * LEASE) == Appended(2)
    assert len(disk.rows(JOURNAL, "s/")) == 2


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("managed_session_idempotency_conflict", {"command": "greet"}),
    ("managed_session_writer_conflict", {"claim": OTHER}),
    ("managed_session_head_conflict", {"head": 1}),
    ("managed_session_activation_conflict", {"activation": "a0", "epoch": 1}),
    ("managed_session_resource_missing", {"resources": ("note", "nowhere")}),
    ("managed_session_resource_conflict", {"staged": (("note", b"other bytes"),)}),
    ("managed_session_oss_disabled", {"records": (UserMessage("p1", "x" * LIMITS.history_record),)}),
]
"""What can be wrong with a transaction, in the order of its checks."""


@pytest.mark.parametrize("place", range(len(WRONG)), ids=[name for name, _ in WRONG])
def test_each_check_refuses_with_its_code_before_every_later_one(disk: MemoryDatabase, place: int) -> None:
    expected, changes = WRONG[place]
    assert code(disk, commit("next", 2, **changes)) == expected

    every_later = {name: value for _, later in reversed(WRONG[place:]) for name, value in later.items()}
    assert code(disk, commit("next", 2, **every_later)) == expected


@pytest.mark.parametrize("stranger", [OTHER, Claim("first", "hash-2", 1), Claim("first", "hash-1", 2)])
def test_a_commit_needs_the_writers_id_token_and_generation(disk: MemoryDatabase, stranger: Claim) -> None:
    assert code(disk, commit("next", 2, claim=stranger)) == "managed_session_writer_conflict"


def test_a_commit_needs_a_lease_that_has_not_run_out(disk: MemoryDatabase) -> None:
    assert code(disk, commit("next", 2), LEASE) == "managed_session_writer_conflict"
    assert apply(disk, commit("next", 2), LEASE - 1) == Appended(3)


def test_a_refused_transaction_leaves_its_staged_resources_behind(disk: MemoryDatabase) -> None:
    before = disk.rows(RESOURCES, "s/")
    big = (UserMessage("p1", "x" * LIMITS.history_record),)
    refused = commit("next", 2, resources=("new",), staged=(("new", b"bytes"),), records=big)
    assert code(disk, refused) == "managed_session_oss_disabled"
    assert disk.rows(RESOURCES, "s/") == before


def test_a_staged_resource_over_the_inline_limit_is_refused(disk: MemoryDatabase) -> None:
    large = (("new", b"x" * (LIMITS.history_record + 1)),)
    refused = commit("next", 2, resources=("new",), staged=large)
    assert code(disk, refused) == "managed_session_oss_disabled"


# --- publication


def output(told: bytes, **changes: Any) -> KeepOutput:
    plain = KeepOutput("s", "content", "segment", told, sha256(told), FIRST, LIMITS)
    return msgspec.structs.replace(plain, **changes)


OUTPUT_WRONG: list[tuple[str, dict[str, Any]]] = [
    ("managed_session_writer_conflict", {"claim": OTHER}),
    ("managed_session_resource_too_large", {"content": b"x" * (LIMITS.content + 1)}),
    ("managed_session_resource_invalid", {"declared": sha256(b"altered")}),
]
"""What can be wrong with a publication, in the order of its checks; a conflict comes last."""


@pytest.mark.parametrize("place", range(len(OUTPUT_WRONG)), ids=[name for name, _ in OUTPUT_WRONG])
def test_each_check_of_a_publication_refuses_before_every_later_one(disk: MemoryDatabase, place: int) -> None:
    apply(disk, output(b"first bytes"))
    expected, changes = OUTPUT_WRONG[place]
    assert code(disk, output(b"bytes", resource="fresh", **changes)) == expected

    every_later = {name: value for _, later in OUTPUT_WRONG[place:] for name, value in later.items()}
    assert code(disk, output(b"other bytes", **every_later)) == expected


def test_a_published_id_takes_the_same_bytes_again_and_no_others(disk: MemoryDatabase) -> None:
    first = apply(disk, output(b"bytes"))
    assert apply(disk, output(b"bytes")) == first
    assert code(disk, output(b"other bytes")) == "managed_session_resource_conflict"
    assert code(disk, output(b"bytes", kind="page")) == "managed_session_resource_conflict"
    assert disk.get(RESOURCES, "s/segment") == StoredResource("content", sha256(b"bytes"), b"bytes")


def test_a_publication_needs_a_lease_that_has_not_run_out(disk: MemoryDatabase) -> None:
    assert code(disk, output(b"bytes"), LEASE) == "managed_session_writer_conflict"


@pytest.mark.parametrize(
    ("kind", "most"),
    [
        ("content", LIMITS.content),
        ("page", LIMITS.page),
        ("seal", LIMITS.manifest),
        ("manifest", LIMITS.manifest),
    ],
)
def test_each_kind_of_output_has_its_limit(disk: MemoryDatabase, kind: str, most: int) -> None:
    apply(disk, output(b"x" * most, kind=kind))
    over = output(b"x" * (most + 1), kind=kind)
    assert code(disk, over) == "managed_session_resource_too_large"


def test_another_kind_of_output_is_not_published(disk: MemoryDatabase) -> None:
    assert code(disk, output(b"", kind="history")) == "managed_session_resource_too_large"


# --- the bounds of doubt


@pytest.mark.parametrize(
    ("again", "sends"),
    [(retry.commit_again, 3), (retry.read_again, 3), (retry.prepare_again, 2), (retry.ack_again, 2)],
)
def test_what_is_in_doubt_is_sent_a_bounded_number_of_times(again: Rule[..., bool], sends: int) -> None:
    assert [again.answer("transport", sent, LIMITS) for sent in range(1, sends + 1)] == [True] * (
        sends - 1
    ) + [False]
    assert again.answer("timeout", 1, LIMITS)


def test_an_http_error_is_doubt_for_a_commit_but_no_reason_to_replay_a_reservation() -> None:
    assert retry.commit_again.answer("server", 1, LIMITS)
    assert retry.read_again.answer("server", 1, LIMITS)
    assert not retry.prepare_again.answer("server", 1, LIMITS)
    assert not retry.ack_again.answer("server", 1, LIMITS)


def test_a_settlement_is_written_twice_at_most() -> None:
    assert retry.settle_again.answer("managed_request_refused", 1, LIMITS)
    assert not retry.settle_again.answer("server", 2, LIMITS)


# --- the owner's journal

Play = Callable[["Owner"], Coroutine[Any, Any, None]]


class Owner(Actor):
    """Drives the journal of Session ``s``, and notes what it answered."""

    def __init__(self, play: Play, disk: MemoryDatabase) -> None:
        self.play = play
        self.disk = disk
        self.heard: list[Any] = []

    async def boot(self) -> None:
        await Boot("owner:s")
        await self.play(self)

    async def ask(self, request: Any) -> None:
        try:
            answer = await Call("journal:s", request, 10 * 60_000)
        except Failed as refusal:
            answer = refusal.code
        except Uncertain as doubt:
            answer = f"doubt: {doubt.cause}"
        self.heard.append(answer)


class World:
    """A Store, the journal of one Session's owner, and a driver."""

    def __init__(self, play: Play, plan: Plan | None = None) -> None:
        self.disk = MemoryDatabase()
        self.owner = Owner(play, self.disk)
        self.seen: list[Sighting] = []
        watcher = self.seen.append if plan is None else None
        self.kernel = Kernel(self.disk, MemoryOutside(), SEED, plan or Plan(), watcher=watcher)
        ask = self.kernel.ask
        self.kernel.host("client", "client", lambda life: self.owner)
        self.kernel.host("store", "store", lambda life: Store(self.disk, ask, LIMITS), restarts=True)
        self.kernel.host("journal:s", "owner:s", lambda life: Journal("s", life, ask, LIMITS))
        self.history: History = self.kernel.run("client")

    @property
    def texts(self) -> list[str]:
        """The messages of the journal."""
        records = [entry.record for _, entry in self.disk.rows(JOURNAL, "s/")]
        return [record.text for record in records if isinstance(record, UserMessage)]

    def asked(self, kind: type) -> list[Any]:
        return [
            event.request
            for event in self.history.events
            if isinstance(event, Asked) and isinstance(event.request, kind)
        ]


def struck(play: Play, actor: str, label: str, fate: str, sticky: bool = False) -> World:
    """Play with a fault at the last effect of ``actor`` with this label, which must land."""
    points = [
        seen.point for seen in World(play).seen if (seen.point.actor, seen.point.label) == (actor, label)
    ]
    world = World(play, Plan((Strike(points[-1], Fate(fate, sticky)),)))
    assert not world.history.missed
    return world


def say(number: int, **more: Any) -> Append:
    return Append(f"m{number}", (UserMessage("p1", f"text {number}"),), **more)


async def two_messages(owner: Owner) -> None:
    await owner.ask(OpenJournal("s", FOREGROUND_SHELL))
    await owner.ask(say(1))
    await owner.ask(say(2))


async def second_message(owner: Owner) -> None:
    await two_messages(owner)
    await owner.ask(say(1))
    await owner.ask(ReadOwn())


def test_an_owner_installs_its_activation_and_appends_after_it() -> None:
    world = World(second_message)
    opened, first, second, again, own = world.owner.heard
    assert (opened.epoch, opened.entries) == (1, ())
    assert (first, second, again) == (Appended(2), Appended(3), Appended(2))
    assert [entry.sequence for entry in own.entries] == [1, 2, 3]
    assert len(world.asked(Transact)) == 3


def test_a_command_with_other_records_conflicts_within_its_owner() -> None:
    async def play(owner: Owner) -> None:
        await two_messages(owner)
        await owner.ask(Append("m2", (UserMessage("p1", "other"),)))

    world = World(play)
    assert world.owner.heard[-1] == "managed_session_idempotency_conflict"
    assert len(world.asked(Transact)) == 3


@pytest.mark.parametrize("fate", ["request-lost", "reply-lost", "error-before", "error-after", "duplicated"])
def test_a_lost_commit_is_replayed_and_never_duplicated(fate: str) -> None:
    world = struck(two_messages, "journal:s", "Transact.UserMessage", fate)
    assert world.owner.heard[1:] == [Appended(2), Appended(3)]
    assert world.texts == ["text 1", "text 2"]
    sends = world.asked(Transact)[1:]
    assert all(send == sends[0] for send in sends if send.command == "m1")


@pytest.mark.parametrize(("fate", "written"), [("request-lost", 0), ("reply-lost", 1)])
def test_writes_stop_for_ever_after_a_commit_that_stays_in_doubt(fate: str, written: int) -> None:
    async def play(owner: Owner) -> None:
        await owner.ask(OpenJournal("s", FOREGROUND_SHELL))
        await owner.ask(say(1))
        await owner.ask(say(2))
        await owner.ask(say(1))

    points = [seen.point for seen in World(play).seen if seen.point.label == "Transact.UserMessage"]
    world = World(play, Plan((Strike(points[0], Fate(fate, True)),)))
    assert world.owner.heard[1:] == [
        "doubt: server",
        "managed_session_writes_stopped",
        "managed_session_writes_stopped",
    ]
    assert len(world.asked(Transact)) == 1 + LIMITS.commit_sends
    assert len(world.texts) == written


def test_a_definite_refusal_does_not_stop_writes() -> None:
    async def play(owner: Owner) -> None:
        await owner.ask(OpenJournal("s", FOREGROUND_SHELL))
        await owner.ask(say(1, resources=("nowhere",)))
        await owner.ask(say(2))

    assert World(play).owner.heard[1:] == ["managed_session_resource_missing", Appended(2)]


def test_a_staged_resource_becomes_durable_with_its_transaction_and_not_before() -> None:
    async def play(owner: Owner) -> None:
        await owner.ask(OpenJournal("s", FOREGROUND_SHELL))
        await owner.ask(StageResource("args", b"0123456789"))
        await owner.ask(ReadOutput("args", 0, 4))
        await owner.ask(say(1, resources=("args",)))
        await owner.ask(ReadOutput("args", 2, 4))

    _, _, missing, appended, piece = World(play).owner.heard
    assert (missing, appended) == ("managed_session_resource_missing", Appended(2))
    assert (piece.content, piece.total) == (b"23", 10)


def test_a_store_that_restarts_forgets_what_was_only_staged() -> None:
    async def play(owner: Owner) -> None:
        await owner.ask(OpenJournal("s", FOREGROUND_SHELL))
        await owner.ask(StageResource("args", b"bytes"))
        await Kill("store")
        await Sleep(5_000)
        await owner.ask(say(1, resources=("args",)))

    assert World(play).owner.heard[-1] == "managed_session_resource_missing"


async def publication(owner: Owner) -> None:
    await owner.ask(OpenJournal("s", FOREGROUND_SHELL))
    await owner.ask(PublishOutput("content", "segment", b"output"))


def test_a_lost_publication_is_not_sent_again() -> None:
    world = struck(publication, "journal:s", "Publish.content", "reply-lost")
    assert world.owner.heard[-1] == "doubt: server"
    assert world.disk.get(RESOURCES, "s/segment") is not None


def test_output_altered_on_its_way_to_the_store_is_refused() -> None:
    world = struck(publication, "journal:s", "Publish.content", "request-altered")
    assert world.owner.heard[-1] == "managed_session_resource_invalid"
    assert world.disk.get(RESOURCES, "s/segment") is None


def test_published_output_has_the_digest_of_its_bytes() -> None:
    assert World(publication).owner.heard[-1].digest == hashlib.sha256(b"output").hexdigest()


def test_the_lease_is_renewed_at_half_life() -> None:
    async def play(owner: Owner) -> None:
        await owner.ask(OpenJournal("s", FOREGROUND_SHELL))
        await Sleep(10 * LEASE)
        await owner.ask(say(1))

    assert World(play).owner.heard[-1] == Appended(2)


@pytest.mark.parametrize("fate", ["request-lost", "reply-lost", "error-before"])
def test_one_lost_read_is_asked_again(fate: str) -> None:
    async def play(owner: Owner) -> None:
        await two_messages(owner)
        await owner.ask(ReadOwn())

    assert len(struck(play, "journal:s", "ReadJournal", fate).owner.heard[-1].entries) == 3


class Replaced(Transaction[None], frozen=True):
    """Another owner takes over behind this one's back: its lease, or only its activation."""

    whole: bool

    def apply(self, facts: Any, ask: Any) -> None:
        held = facts.get(WRITERS, "s")
        current = facts.get(ACTIVATIONS, "s")
        if self.whole:
            facts.put(WRITERS, "s", msgspec.structs.replace(held, owner="thief", generation=2))
        facts.put(ACTIVATIONS, "s", msgspec.structs.replace(current, id="stolen", epoch=2))


def replaced(whole: bool, *requests: Any) -> World:
    """An owner that is replaced, and then asked all the same."""

    async def play(owner: Owner) -> None:
        await owner.ask(OpenJournal("s", FOREGROUND_SHELL))
        await owner.ask(CheckWriter())
        apply(owner.disk, Replaced(whole))
        for _, request in enumerate(requests):
            await owner.ask(request)

    return World(play)


def test_a_replaced_writer_fails_its_check_and_never_writes_again() -> None:
    heard = replaced(True, CheckWriter(), say(1), PublishOutput("content", "segment", b"late")).owner.heard
    assert heard[1].generation == 1
    assert heard[2:] == [
        "managed_session_writer_conflict",
        "managed_session_writes_stopped",
        "managed_session_writer_conflict",
    ]


def test_an_owner_that_never_opened_fails_its_check_without_asking_the_store() -> None:
    async def play(owner: Owner) -> None:
        await owner.ask(CheckWriter())

    world = World(play)
    assert world.owner.heard == ["managed_session_activation_conflict"]
    assert not world.asked(RenewWriter)


def test_a_replaced_activation_fails_the_check_after_the_writer_check() -> None:
    assert replaced(False, CheckWriter()).owner.heard[-1] == "managed_session_activation_conflict"


def test_an_admission_is_refused_inside_the_queue_before_it_is_sent() -> None:
    world = replaced(False, say(1, asserts_activation=True))
    assert world.owner.heard[-1] == "managed_session_activation_conflict"
    assert len(world.asked(Transact)) == 1


def test_a_refused_renewal_stops_writes() -> None:
    async def play(owner: Owner) -> None:
        await owner.ask(OpenJournal("s", FOREGROUND_SHELL))
        await Sleep(LEASE)
        await owner.ask(say(1))

    points = [seen.point for seen in World(play).seen if seen.point.label == "RenewWriter"]
    world = World(play, Plan((Strike(points[0], Fate("refused")),)))
    assert world.owner.heard[-1] == "managed_session_writes_stopped"


def test_a_second_life_waits_for_the_lease_and_installs_the_next_epoch() -> None:
    async def play(owner: Owner) -> None:
        await two_messages(owner)
        await Kill("owner:s")
        await Boot("owner:s")
        await owner.ask(OpenJournal("s", FOREGROUND_SHELL))
        await Sleep(LEASE)
        await owner.ask(OpenJournal("s", FOREGROUND_SHELL))
        await owner.ask(CheckWriter())

    early, opened, ownership = World(play).owner.heard[-3:]
    assert early == "managed_session_writer_conflict"
    assert (opened.epoch, len(opened.entries)) == (2, 3)
    assert (ownership.generation, ownership.epoch) == (2, 2)


def test_no_row_holds_a_writer_token() -> None:
    world = World(two_messages)
    token = writer_token("s", 1).value
    assert len(token) == 43
    assert token not in repr(world.disk.tables)
