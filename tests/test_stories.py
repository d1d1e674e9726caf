"""A dozen runs, told as text. A change of behaviour arrives as a diff that a person can read.

A story is a file of ``stories/``: its title, the reason it is kept, where its promise is written, then ``run`` with a
row and the faults struck in it (without any, the row's own), and under ``----`` what that run tells. Only the last is
written by ``--update-golden``. Commit a story only when you understand what changed in it.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import msgspec
import pytest

from reports.story import story
from scenarios.judge import PASSED, verdict
from scenarios.rows import ROWS
from sim.checks.order import ORDER
from sim.design import Design, execution, retry
from sim.design.order import ORDER as WRITTEN_ORDER
from sim.history import Event
from sim.run import run

STORIES = Path(__file__).with_name("stories")
FILES = sorted(STORIES.iterdir())
FIRST = "the-whole-order"
"""The story beside which all others are told."""

LINE = "----\n"
FLAG = "pytest tests/test_stories.py --update-golden"
HEAD = re.compile(
    r"(?P<title>[A-Z].+)\n\n"
    r"Kept because (?P<reason>[^:]+?(:[^:]+?)?[.])\n"
    r"Cites (?P<cites>(003|000|behaviour) (.|\n)+?[.\"])\n\n"
    r"run (?P<row>[a-z0-9-]+)(?P<faults>( [^ \n]+)*)\n"
)


class Story(msgspec.Struct, frozen=True):
    """A file of ``stories/``: what a person wrote, and what the run told."""

    name: str
    head: str
    body: str
    row: str
    faults: tuple[str, ...]


def kept(path: Path) -> Story:
    head, line, body = path.read_text(encoding="utf-8").partition(LINE)
    found = HEAD.fullmatch(head)
    assert found, f"{path.name} does not begin with title, 'Kept because', 'Cites' and 'run ROW'"
    assert line, f"{path.name} has no ---- behind its head"
    return Story(path.stem, head, body, found["row"], tuple(found["faults"].split()))


def told(name: str, row: str, faults: tuple[str, ...], design: Design | None = None) -> str:
    """What the run of a story tells now, and how it is judged."""
    chosen = ROWS[row]
    plan = msgspec.structs.replace(chosen, faults=faults).plan if faults else chosen.plan
    history = run(chosen.scenario, plan, design or chosen.design)
    found = verdict(chosen, plan, history)
    lines = [*story(history.events, None if name == FIRST else beside(), "the whole order"), ""]
    lines += [
        f"{found.status}: {found.outcome}",
        *(f"{each.check}: {each.sentence}" for each in found.findings),
    ]
    return "".join(f"{line}\n" for line in lines)


@cache
def beside() -> list[Event]:
    first = kept(STORIES / f"{FIRST}.txt")
    return run(ROWS[first.row].scenario, ROWS[first.row].plan, ROWS[first.row].design).events


def difference(before: str, now: str, name: str) -> str:
    """Where two texts part, in words; empty when they are equal."""
    was, is_ = before.splitlines(), now.splitlines()
    place = next((at for at, pair in enumerate(zip(was, is_, strict=False)) if pair[0] != pair[1]), None)
    if place is None and len(was) == len(is_):
        return ""
    place = min(len(was), len(is_)) if place is None else place
    end = "(the end)"
    return "\n".join(
        [
            f"stories/{name}.txt, line {place + 1} of what is told:",
            *(f"    {line}" for line in is_[max(place - 3, 0) : place]),
            f"  - {was[place] if place < len(was) else end}",
            f"  + {is_[place] if place < len(is_) else end}",
            f"If that is meant, write it down with `{FLAG}` and read the diff.",
        ]
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_story_is_told_as_it_was(path: Path, pytestconfig: pytest.Config) -> None:
    was = kept(path)
    now = told(was.name, was.row, was.faults)
    if pytestconfig.getoption("update_golden") and now != was.body:
        path.write_text(f"{was.head}{LINE}{now}", encoding="utf-8")
        was = kept(path)

    parted = difference(was.body, now, was.name)
    if parted:
        pytest.fail(parted, pytrace=False)


# --- the stories as they are kept


def test_there_are_a_dozen_each_for_another_run_and_reason() -> None:
    stories = [kept(path) for path in FILES]

    assert len(stories) == 12
    assert len({(each.row, each.faults) for each in stories}) == 12
    assert len({each.head for each in stories}) == 12
    assert all(path.suffix == ".txt" for path in FILES)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_story_passes_and_is_stable_and_short(path: Path) -> None:
    body = kept(path).body

    assert f"\n{PASSED}: " in body
    assert body.isascii()
    assert not re.search(r"[0-9a-f]{8}|0x|\d\.\d|<[A-Za-z]", body), "an id, an address, a float or a repr"
    assert len(body.splitlines()) <= 75
    assert max(map(len, path.read_text(encoding="utf-8").splitlines())) <= 125


def test_the_whole_order_has_every_step_once_and_in_its_place() -> None:
    margin = [line[:21].strip() for line in kept(STORIES / f"{FIRST}.txt").body.splitlines()[1:-2]]

    assert tuple(step for step in margin if step) == ORDER == WRITTEN_ORDER


def test_the_whole_order_quotes_the_sentence_it_stands_beside() -> None:
    head = " ".join(kept(STORIES / f"{FIRST}.txt").head.split())
    sentence = ", ".join(ORDER[2:])

    for short, long in (("assistant", "persist assistant"), ("intent, checkpoint", "and intent/checkpoint")):
        sentence = sentence.replace(short, long, 1)
    assert f"The order is: acquire/register, {sentence.replace('assistant, and', 'assistant and')}." in head


# --- what is noticed


@pytest.mark.parametrize(
    ("name", "rule", "answer", "shows"),
    [
        (
            "start-reply-lost",
            execution.start_again,
            lambda sends: sends < 2,
            "StartExecution -> broker: refused",
        ),
        ("prepare-reply-lost", retry.prepare_again, lambda *_: False, "TurnEnded recovery-blocked"),
    ],
)
def test_a_change_of_behaviour_is_noticed_and_named(name, rule, answer, shows) -> None:
    was = kept(STORIES / f"{name}.txt")
    now = told(was.name, was.row, was.faults, ROWS[was.row].design.replacing(rule, answer))

    says = difference(was.body, now, was.name)

    assert shows in now
    assert f"stories/{name}.txt, line " in says
    assert says.endswith(f"`{FLAG}` and read the diff.")


def test_a_difference_shows_the_first_line_that_differs_and_those_before_it() -> None:
    says = difference("a\nb\nc\nd\n", "a\nb\nx\ny\n", "some")

    assert says.splitlines()[:5] == [
        "stories/some.txt, line 3 of what is told:",
        "    a",
        "    b",
        "  - c",
        "  + x",
    ]
    assert "  - (the end)\n  + b" in difference("a\n", "a\nb\n", "some")
    assert not difference("a\n", "a\n", "some")


@pytest.mark.parametrize("missing", ["Kept because", "Cites", "run ", "----"])
def test_a_story_without_title_reason_citation_or_run_is_refused(tmp_path: Path, missing: str) -> None:
    lines = FILES[0].read_text(encoding="utf-8").splitlines(keepends=True)
    path = tmp_path / "some.txt"
    path.write_text("".join(line for line in lines if not line.startswith(missing)), encoding="utf-8")

    with pytest.raises(AssertionError, match=r"some.txt (does not begin with title|has no ----)"):
        kept(path)
