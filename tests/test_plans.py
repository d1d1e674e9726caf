"""Fates apply where they mean something; plans read back as they were written; a sweep strikes each point once."""

import itertools
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.fates import ANY, TIME, UNSTRUCK, VOCABULARY, applicable
from faults.plans import NOTHING, Capsule, Foreign, Malformed, nearest, read, read_capsule, replay_line, write
from faults.sweeps import Selection, Sweep, select, single, spare_looks
from sim.points import ACT, CALL, COMMIT, DOORS, NO_FAULTS, Fate, Plan, Point, Sighting, Strike


def sighting(
    actor: str = "harness:s", door: str = CALL, label: str = "Acquire", nth: int = 1, **more: object
) -> Sighting:
    told = {"operation": "", "peer": "broker" if door == CALL else "", "local": False, "payload": False}
    told |= {"crossable": False, "divisible": False} | more
    return Sighting(Point("client.boot#1", actor, door, label, nth), **told)  # type: ignore[arg-type]


def names(seen: Sighting) -> set[str]:
    return {fate.name for fate in applicable(seen)}


# --- fates --------------------------------------------------------------------------------------------------------


def test_the_vocabulary_is_that_of_the_architecture() -> None:
    assert set(VOCABULARY) == {
        *(
            "request-lost",
            "reply-lost",
            "reply-late",
            "reply-truncated",
            "duplicated",
            "delivered-late",
            "refused",
        ),
        *("error-before", "error-after", "delayed", "request-altered", "reply-crossed"),
        *("commit-failed", "unknown-applied", "unknown-not-applied", "altered-at-rest"),
        *("act-failed", "act-half", "crash-before", "crash-waiting", "crash-after", "paused"),
        *("writer-expired", "writer-replaced", "activation-replaced", "root-moved", "capability-expired"),
    }


@pytest.mark.parametrize("name", VOCABULARY)
def test_every_fate_tells_what_it_means(name: str) -> None:
    kind = VOCABULARY[name]
    assert kind.door in (*DOORS, ANY, TIME)
    assert kind.means.endswith(".")
    assert kind.story.endswith(".")
    assert len(kind.forms()) == 1 + kind.sticky


def test_losses_and_errors_have_a_sticky_form_and_nothing_else_has() -> None:
    sticky = {kind.name for kind in VOCABULARY.values() if kind.sticky}
    assert sticky == {
        *(
            "request-lost",
            "reply-lost",
            "reply-late",
            "reply-truncated",
            "refused",
            "error-before",
            "error-after",
        ),
        *("commit-failed", "unknown-applied", "unknown-not-applied", "act-failed"),
    }


CALLS = {kind.name for kind in VOCABULARY.values() if kind.door == CALL}
DEATHS = {"crash-before", "crash-waiting", "crash-after", "paused"}
OWNERS = {"writer-expired", "writer-replaced", "activation-replaced"}


def test_a_call_between_processes_suffers_everything_but_what_needs_more() -> None:
    assert names(sighting()) == CALLS - {"request-altered", "reply-crossed"} | DEATHS
    assert "request-altered" in names(sighting(payload=True))
    assert "reply-crossed" in names(sighting(crossable=True))


def test_a_call_within_a_process_cannot_be_lost() -> None:
    assert names(sighting(peer="journal:s", local=True, payload=True, crossable=True)) == DEATHS


def test_an_owner_is_replaced_only_when_it_speaks_with_the_store() -> None:
    assert names(sighting("journal:s", peer="store")) >= OWNERS
    assert not OWNERS & names(sighting("journal:s", local=True))
    assert "root-moved" not in names(sighting("journal:s", peer="store"))
    assert names(sighting("local-journal:s", local=True)) == OWNERS | {"root-moved"} | DEATHS


def test_bytes_do_not_change_between_a_worker_and_its_publisher() -> None:
    assert "request-altered" not in names(sighting("worker:w", peer="publisher:s", payload=True))


def test_commits_and_deeds_suffer_their_own() -> None:
    commits = {"commit-failed", "unknown-applied", "unknown-not-applied"}
    assert names(sighting("broker", COMMIT)) == commits | DEATHS
    assert names(sighting("store", COMMIT, payload=True)) == commits | {"altered-at-rest"} | DEATHS
    assert names(sighting("worker:w", ACT)) == {"act-failed"} | DEATHS
    assert names(sighting("worker:w", ACT, divisible=True)) == {"act-failed", "act-half"} | DEATHS


def test_a_capability_expires_only_between_worker_and_publisher() -> None:
    assert "capability-expired" in names(sighting("worker:w", peer="publisher:s"))
    assert "capability-expired" not in names(sighting("worker:w", peer="broker"))
    assert "capability-expired" not in names(sighting("harness:s", peer="publisher:s", local=True))


def test_the_client_neither_dies_nor_loses_its_own_looks() -> None:
    assert names(sighting("client", label="Prompt", peer="harness:s")) == CALLS - {
        "request-altered",
        "reply-crossed",
    }
    for label in UNSTRUCK:
        assert names(sighting("client", label=label, peer="harness:s")) == set()
        assert names(sighting("harness:s", label=label))


# --- plans as text ------------------------------------------------------------------------------------------------

words = st.text("abcXYZ09._+~-", min_size=1, max_size=12)
addresses = st.one_of(
    st.sampled_from(["client", "broker"]), words.map("harness:{}".format), words.map("worker:call:{}".format)
)
paths = st.lists(st.builds("{}#{}".format, st.one_of(words, addresses), st.integers(1, 99)), max_size=4).map(
    "/".join
)
fates = st.sampled_from([form for kind in VOCABULARY.values() for form in kind.forms()])
points = st.builds(Point, paths, addresses, st.sampled_from(DOORS), words, st.integers(1, 10**6))
plans = st.lists(st.builds(Strike, points, fates), max_size=3).map(lambda strikes: Plan(tuple(strikes)))


@given(plans)
def test_a_plan_reads_back_as_it_was_written(plan: Plan) -> None:
    assert read(write(plan)) == plan


@given(plans, st.text("0123456789abcdef", min_size=1, max_size=12), words)
def test_a_replay_line_is_one_safe_line_that_carries_everything(plan: Plan, design: str, row: str) -> None:
    capsule = Capsule(design, row, plan)
    line = replay_line(capsule)
    assert "\n" not in line
    command, verb, text = shlex.split(line)
    assert (command, verb) == ("turnproof", "replay")
    assert read_capsule(text) == read_capsule(line) == capsule


@given(st.text())
def test_any_other_text_is_malformed_or_foreign_and_never_worse(text: str) -> None:
    for reader in (read, read_capsule):
        try:
            reader(text)
        except (Malformed, Foreign) as error:
            str(error).encode()


BAD_STRIKES = ["", "x", ",", "none,none", "a:call:B#1@=", "a:call:B#0@=refused", "a:call:B#x@=refused"]
BAD_STRIKES += [
    "a:door:B#1@=refused",
    "a:call:B#1=refused",
    "a:call:B#1@p=refused=refused",
    "a:call:B#1@p=refused,",
]
BAD_STRIKES += ["a:call:B #1@p=refused", "a:call:B#1@\ud800=refused"]


@pytest.mark.parametrize("text", BAD_STRIKES)
def test_what_is_no_plan_is_malformed(text: str) -> None:
    with pytest.raises((Malformed, Foreign)) as caught:
        read(text)
    str(caught.value).encode()


def test_the_plan_without_faults_is_none() -> None:
    assert write(NO_FAULTS) == NOTHING
    assert read("none") == NO_FAULTS


def test_an_unknown_fate_is_foreign_and_names_the_nearest() -> None:
    with pytest.raises(Foreign, match="Nearest: request-lost"):
        read("a:call:B#1@p=request-loss")
    assert nearest("zzzzzz", VOCABULARY) == ""


# --- sweeps -------------------------------------------------------------------------------------------------------


def test_a_sweep_begins_without_a_fault_and_strikes_each_point_with_each_fate_once() -> None:
    seen = [sighting(), sighting("broker", COMMIT, "Claim"), sighting("worker:w", ACT, "Spawn")]
    sweep = single(seen)
    plans = [sweep.plan(index) for index in range(len(sweep))]
    assert plans[0] == NO_FAULTS
    strikes = [plan.strikes[0] for plan in plans[1:]]
    assert strikes == [Strike(one.point, fate) for one in seen for fate in applicable(one)]
    assert len(set(strikes)) == len(strikes)
    assert sweep.points == 3
    own = Plan((strikes[0],))
    assert len(Sweep(own)) == 1
    assert Sweep(own).plan(0) == own


def looks(*nths: int, operation: str = "e1", label: str = "Status") -> list[Sighting]:
    return [sighting(label=label, nth=nth, operation=operation) for nth in nths]


def test_of_equal_looks_the_first_the_second_and_the_last_are_struck() -> None:
    seen = [*looks(1, 2, 3, 4, 5), sighting(), *looks(6, 7), sighting("broker", COMMIT), *looks(8, 9, 10)]
    assert [seen[index].point.nth for index in sorted(spare_looks(seen))] == [3, 4]
    sweep = single(seen, Selection(fates=("refused",)))
    assert sweep.polls == 2
    assert sweep.points == len(seen) - 2 - 1  # no call is refused at a commit


def test_looks_at_other_operations_are_other_looks() -> None:
    one, other = looks(*range(1, 8)), looks(*range(11, 18), operation="e2")
    seen = list(itertools.chain(*zip(one, other, strict=True)))
    assert [seen[index].point.nth for index in sorted(spare_looks(seen))] == [3, 13, 4, 14, 5, 15, 6, 16]


def test_a_selection_that_leaves_out_what_lies_between_looks_merges_none_of_them() -> None:
    seen = [*looks(1, 2), sighting(), *looks(3, 4), sighting(), *looks(5)]
    assert single(seen, Selection(points=("Status",))).points == 5


ROWS = {"base": (), "rc-13-acquire": ("RC-13",), "rc-13-start": ("RC-13", "RC-80")}


@pytest.mark.parametrize(
    ("selected", "expected"),
    [
        ([], Selection(tuple(ROWS))),
        (["base"], Selection(("base",))),
        (["rc-13*"], Selection(("rc-13-acquire", "rc-13-start"))),
        (["rc-80"], Selection(("rc-13-start",))),
        (["RC-13", "base"], Selection(tuple(ROWS))),
        (["crash-*", "reply-lost!"], Selection(tuple(ROWS), ("crash-*", "reply-lost!"))),
        (["base", "Acquire", "delayed"], Selection(("base",), ("delayed",), ("Acquire",))),
    ],
)
def test_words_select_rows_cases_fates_and_points(selected: list[str], expected: Selection) -> None:
    assert select(selected, ROWS) == expected


def test_a_fate_with_a_mark_is_its_sticky_form_alone() -> None:
    selection = Selection(fates=("reply-*!", "delayed"))
    assert selection.wants(Fate("reply-lost", sticky=True))
    assert not selection.wants(Fate("reply-lost"))
    assert selection.wants(Fate("delayed"))


@pytest.mark.parametrize("pattern", ["Acquire", "harness:*", "harness:s:call:Acquire", "*#1@client.boot#1"])
def test_points_are_meant_by_label_place_or_whole_text(pattern: str) -> None:
    assert Selection(points=(pattern,)).holds(sighting().point)
    assert not Selection(points=(pattern,)).holds(sighting("broker", COMMIT, "Claim", nth=2).point)
