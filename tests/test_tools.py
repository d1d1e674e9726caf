"""Profiles and file tools: what Shell must leave unchanged, what the model is told, and what the files are left as."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from scenarios.base import DONE, alone, quick
from scenarios.rows import ROWS
from scenarios.tools import SEEN, WROTE, defined
from sim.history import Committed, History, Left, encoded
from sim.protocol import (
    FILES_1,
    FILES_2,
    NO_TOOLS,
    SHELL_1,
    SHELL_2,
    FileHistory,
    Infer,
    ModelOutput,
    Response,
    ToolIntent,
    ToolResult,
)
from sim.run import run
from sim.scenario import Scenario, calls, edit, glob, read_file, says, write_file

PROFILES = (FILES_1, SHELL_1, FILES_2, SHELL_2)


def records(history: History, kind: type) -> list:
    """Every journal record of a type of Session ``a``, in order."""
    rows = [
        (write.key, write.row.record)
        for event in history.events
        if isinstance(event, Committed)
        for write in event.writes
        if write.table == "journal"
    ]
    return [record for key, record in rows if isinstance(record, kind) and key.startswith("a/")]


def told(scenario: Scenario) -> list[Response]:
    """What the model is told, response by response."""
    return [each for result in records(run(scenario), ToolResult) for each in result.responses]


def traced(profile: str, *answers: ModelOutput) -> bytes:
    """The whole history of a turn, without the profile's name and the digests of the commands that it stands in."""
    events = [
        replace(event, writes=tuple(write for write in event.writes if write.table != "commands"))
        if isinstance(event, Committed)
        else event
        for event in run(defined("metamorphic", profile, *answers)).events
    ]
    return encoded(events).replace(profile.encode(), b"profile").replace(SHELL_1.encode(), b"profile")


@pytest.mark.parametrize("profile", PROFILES[1:])
@pytest.mark.parametrize(
    "answers",
    [
        pytest.param((says("hello"),), id="text"),
        pytest.param((calls(WROTE), calls(SEEN), DONE), id="files"),
        pytest.param((calls(read_file("call-1", "/etc/passwd"), SEEN), DONE), id="refused path"),
    ],
)
def test_a_turn_without_shell_is_the_same_to_the_byte_under_every_profile(profile, answers):
    assert traced(profile, *answers) == traced(FILES_1, *answers)


def test_a_turn_of_text_is_the_same_without_tools_but_for_the_warming():
    with_tools = run(defined("text", SHELL_1, says("hello")))
    without = run(defined("text", NO_TOOLS, says("hello")))

    assert told_model(with_tools) == told_model(without)
    assert [type(each) for each in records(with_tools, object)] == [
        type(each) for each in records(without, object)
    ]
    assert b"Warm" in encoded(with_tools.events)
    assert sum(b"Warm" in encoded([event]) for event in without.events) < sum(
        b"Warm" in encoded([event]) for event in with_tools.events
    )


def told_model(history: History) -> list[Infer]:
    """Every request that the model of Session ``a`` was sent."""
    asked = [getattr(event, "request", None) for event in history.events]
    return [request for request in asked if isinstance(request, Infer) and request.session == "a"]


def test_what_is_written_is_read_and_left_in_the_workspace():
    scenario = alone("files", calls(WROTE, edit("call-2", "notes.txt", "one", "two")), calls(SEEN), DONE)
    left = [event for event in run(scenario).events if isinstance(event, Left)]

    assert [response.text for response in told(scenario)] == ["Wrote 3 bytes.", "Wrote 3 bytes.", "two"]
    assert ("w", "notes.txt", b"two") in [(file.directory, file.name, file.content) for file in left]


def test_what_a_file_tool_cannot_do_is_its_answer():
    absent = edit("call-3", "none.txt", "a", "b")
    twice = edit("call-4", "notes.txt", "o", "a")
    scenario = alone("errors", calls(write_file("call-1", "notes.txt", "oo"), SEEN, absent, twice), DONE)

    assert [(response.error, response.text) for response in told(scenario)[2:]] == [
        (True, "old_string stands 0 times in the file, not once."),
        (True, "old_string stands 2 times in the file, not once."),
    ]


def test_glob_lists_what_was_changed_last_first_below_its_path():
    batch = calls(
        write_file("call-1", "docs/a.md", "a"),
        write_file("call-2", "docs/b.md", "b"),
        write_file("call-3", "c.md", "c"),
        glob("call-4", "*.md", path="docs"),
        glob("call-5", "*.py"),
    )

    answers = [response.text for response in told(defined("glob", FILES_2, batch, DONE))]
    assert answers[3:] == ["docs/b.md\ndocs/a.md", "No file matches."]


def test_a_large_file_is_left_out_and_said_so():
    omission = told(ROWS["large-file"].scenario)[1]

    assert json.loads(omission.text) == {
        "error": "The output is too large to show.",
        "executionStatus": "success",
        "outputOmitted": True,
    }
    assert not omission.error


def test_a_mixed_batch_runs_in_order_each_by_its_own_protocol():
    history = run(ROWS["mixed-batch"].scenario)

    assert [intent.protocol[-2:] for intent in records(history, ToolIntent)] == ["v2", "v3", "v2"]
    assert [result.responses[0].call for result in records(history, ToolResult)] == [
        "call-1",
        "call-3",
        "call-2",
    ]
    assert [(each.state, each.files) for each in records(history, FileHistory)] == [
        ("pending", ("notes.txt",)),
        ("snapshot", ("notes.txt",)),
    ]


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (read_file("call-1", "/etc/passwd"), "relative"),
        (write_file("call-1", "a/../../b", "x"), "relative"),
        (read_file("call-1", ""), ""),
    ],
)
def test_a_call_that_is_refused_alone_says_why_and_lets_its_siblings_run(call, why):
    answers = told(alone("refused", calls(call, quick("call-2", "make")), DONE))

    assert why in answers[0].text
    assert answers[0].error
    assert not answers[1].error
