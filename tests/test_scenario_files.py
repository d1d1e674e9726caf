import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from scenario_toml import DESIGNS, toml

from faults.plans import read_capsule
from reports.bench import House
from reports.cli import cli
from scenarios.files import STARTER, problems, row, schema_text
from scenarios.files.building import random_bytes
from scenarios.files.places import Places
from scenarios.judge import FINDING, PASSED, verdict
from scenarios.rows import ROWS
from sim.history import digest
from sim.outcome import AFTER_REFUSAL, BLOCKED, CANCELLED, COMPLETED, ERROR, NOT_ACCEPTED, UNCORRECTED
from sim.run import run
from sim.scenario import Resume, Scenario

HEAD = """
[[session]]
[[session.turn]]
"""
SMALL = (
    HEAD + '[[session.turn.answer]]\ncalls = [{ command = "make" }]\n[[session.turn.answer]]\ntext = "done"\n'
)
DOCS = Path(__file__).parent.parent / "docs"


def turnproof(*words):
    return CliRunner().invoke(cli, words)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


# --- what a file can say


def is_a_users_own(scenario: Scenario) -> bool:
    """Whether a file can say it: it knows no intrusions, no resumed streams and one capture path."""
    steps = (step for program in scenario.programs for step in program.steps)
    published = any(each.capture_bytes for session in scenario.sessions for each in session.definitions)
    return not scenario.intrusions and not published and not any(isinstance(step, Resume) for step in steps)


USUAL = [design for _, design in DESIGNS.values()]
WRITABLE = [
    name
    for name, each in ROWS.items()
    if each.design in USUAL and each.theme != "fixture" and not each.like and is_a_users_own(each.scenario)
]


def test_many_rows_of_ours_are_written_as_files():
    assert len(WRITABLE) > 500


@pytest.mark.parametrize("name", WRITABLE)
def test_every_row_of_ours_can_be_written_as_a_file_and_gives_the_same_history(name):
    ours = ROWS[name]
    theirs = row(toml(ours), "row.toml")

    assert theirs.promise == ours.promise
    histories = [digest(run(each.scenario, each.plan, each.design).events) for each in (ours, theirs)]
    assert histories[0] == histories[1]


def test_the_starter_is_right_as_it_is_and_shows_that_it_is():
    made = row(STARTER, "my.turn.toml")
    found = verdict(made, made.plan, run(made.scenario, made.plan, made.design))

    assert problems(STARTER) == []
    assert (found.status, made.promise.spawns) == (PASSED, 1)


def test_a_promise_that_is_written_is_kept_or_a_finding_and_the_rest_is_as_the_run_is():
    made = row(SMALL + "[promise]\nspawns = 2\n", "my.toml")
    found = verdict(made, made.plan, run(made.scenario, made.plan, made.design))

    assert (made.promise.spawns, made.promise.starts, made.promise.lease) == (2, 1, "free")
    assert [finding.sentence for finding in found.findings] == ["processes spawned 1, promised 2"]


def test_ill_formed_text_is_written_as_json_and_refused_by_the_design():
    text = HEAD + '[[session.turn.answer]]\ncalls = [{ json = \'{"command": "echo \\ud800"}\' }]\n'
    text += '[[session.turn.answer]]\ntext = "done"\n'

    assert row(text, "my.toml").promise.endings == ("completed after refusal",)


def test_random_bytes_are_the_same_for_ever():
    assert random_bytes("a seed", 6).hex() == "c8ecb95686c4"
    assert random_bytes("a seed", 100)[:6] == random_bytes("a seed", 6)
    assert len(random_bytes("7", 100)) == 100
    assert random_bytes("7", 100) != random_bytes("8", 100)


def test_a_rule_that_answers_otherwise_makes_another_design_and_is_noticed():
    text = '[answers]\n"settlement.must_release" = false\n' + SMALL
    made = row(text, "my.toml")
    found = verdict(made, made.plan, run(made.scenario, made.plan, made.design))

    assert found.status == FINDING
    assert "released-before-settled" in [finding.check for finding in found.findings]
    assert made.design.digest() == row(text, "other.toml").design.digest()
    assert made.design.digest() != row(SMALL, "my.toml").design.digest()


# --- what is wrong with one

BAD = {
    "no TOML": ("why = \n", ["1:7: this is no TOML: invalid value."]),
    "nested too deeply": (
        "why = " + "[" * 5_000 + "]" * 5_000,
        ["1:1: this is no scenario: something in it is nested too deeply."],
    ),
    "a program that nobody runs": (
        SMALL + "[[program]]\ncommand='mkae'\nstep=[{exit=1}]\n",
        ["9:1: no call has the command 'mkae'. Nearest: make."],
    ),
    "a date": (
        "why = 2020-01-01\n" + SMALL,
        ["1:1: 'why': a date or time, where text was expected."],
    ),
    "the same key twice": (
        "why = 'a'\nwhy = 'b'\n" + SMALL,
        ["2:10: this is no TOML: cannot overwrite a value."],
    ),
    "nothing": ("", ["1:1: the file lacks 'session'."]),
    "unknown keys, everywhere": (
        "wyh = 'a'\n"
        + SMALL.replace("command", "comand").replace("text", "txet")
        + "[promise]\nspwans = 1\n",
        [
            "1:1: unknown key 'wyh'. Nearest: why.",
            "6:12: unknown key 'comand'. Nearest: command.",
            "8:1: unknown key 'txet'. Nearest: text.",
            "10:1: unknown key 'spwans'. Nearest: spawns, starts.",
        ],
    ),
    "hooks": ("[hooks]\n" + SMALL, ["1:2: 'hooks': hooks and approvals cannot be played yet."]),
    "types": (
        "why = 3\nsweep = 'yes'\n" + SMALL + "[promise]\nspawns = 'one'\nlease = 'open'\n",
        [
            "1:1: 'why': a whole number, where text was expected.",
            "2:1: 'sweep': text, where true or false was expected.",
            "11:1: 'spawns': text, where a whole number was expected.",
            "12:1: 'lease': 'open' is none of free, held.",
        ],
    ),
    "an answer that says nothing, and one that says both": (
        HEAD + "[[session.turn.answer]]\n[[session.turn.answer]]\ntext = 'a'\ncalls = [{ command = 'b' }]\n",
        ["4:3: an answer is either text or calls.", "5:3: an answer is either text or calls."],
    ),
    "calls": (
        HEAD
        + "[[session.turn.answer]]\ncalls = [{}, { command = 'a', json = '{}' },\n {json='{}', timeout=1}]\n",
        [
            "5:10: a call has none of command, arguments, json; exactly one is needed.",
            "5:14: a call has command and json of command, arguments, json; exactly one is needed.",
            "6:14: 'timeout' belongs to 'command'; here it goes into 'json'.",
        ],
    ),
    "steps": (
        SMALL + "[[program]]\ncommand='make'\nstep=[{touhc='a'}, {exit=300}, {touch='a'}]\n",
        [
            "10:7: a step is a table with touch, print, generate, pass-ms or exit.",
            "10:21: 'exit': 300 is too large; the most is 255.",
            "10:32: 'step' lacks 'line'.",
        ],
    ),
    "what a print prints": (
        SMALL + "[[program]]\ncommand='make'\nstep=[{print='stdout'},\n {print='stdout',json='7'}]\n",
        [
            "10:7: a print has none of text, json, base64, random; exactly one is needed.",
            "11:2: 'json' cannot be read: it is JSON, and no text in quotes.",
        ],
    ),
    "strikes": (
        "faults = ['Acquire', 'broker:call:Activate#1=reply-lots', 'broker:call:Activate#1=duplicated!']\n"
        + SMALL,
        [
            "1:11: 'Acquire' is no strike: write actor:door:label#nth=fate, with ! behind a sticky fate.",
            "1:22: unknown fate 'reply-lots'. Nearest: reply-lost, reply-late, reply-crossed.",
            "1:59: the fate duplicated has no sticky form; write it without the '!'.",
        ],
    ),
    "answers of rules": (
        "[answers]\n'lease.is_hled' = true\n'lease.is_held' = 'no'\n'lease.holder_key' = 'me'\n" + SMALL,
        [
            (
                "2:1: unknown rule 'lease.is_hled'. Nearest: lease.is_held, lease.is_live, lease.is_original. "
                "`turnproof list rules` names them all."
            ),
            "3:1: the rule lease.is_held answers true or false, and not 'no'.",
        ],
    ),
    "places that are never reached": (
        "faults = ['harness:a:call:Release#2=reply-lost']\n" + SMALL,
        ["1:11: harness:a:call:Release#2 is never reached; harness:a:call:Release is reached 1 times."],
    ),
    "a cancellation that never comes": (
        SMALL.replace("[[session.turn]]\n", "[[session.turn]]\ncancel = 'worker:w:act:Spawn#2'\n"),
        [
            (
                "4:1: worker:w:act:Spawn#2 is never reached; worker:w:act:Spawn is reached 1 times. Nearest: "
                "worker:w:act:Spawn, worker:w:act:TouchFile, worker:w:act:ExitProcess."
            ),
        ],
    ),
    "two Sessions of one name": (SMALL + SMALL, ["9:3: a second Session called 'a'."]),
}


@pytest.mark.parametrize("case", BAD)
def test_everything_that_is_wrong_is_told_with_its_place(case):
    text, expected = BAD[case]

    assert [str(problem) for problem in problems(text)] == expected


def test_places_count_characters_and_follow_tables_into_arrays():
    places = Places("'ü' = { a = 1, 'b.c' = [2,\n 3] }\n[[x]]\n[[x.y]]\n[[x]]\n[[x.y]]\nz.w = 1\n")

    assert places.of(("ü", "b.c")) == (1, 16)
    assert places.of(("ü", "b.c", 1)) == (2, 2)
    assert places.of(("x", 1, "y", 0, "z", "w")) == (7, 1)
    assert places.of(("x", 0, "y", 0, "nothing")) == (4, 3)


def test_the_published_schema_is_the_one_that_is_used():
    published = (DOCS / "scenario.schema.json").read_text()

    assert published == schema_text()
    Draft202012Validator.check_schema(json.loads(published))


# --- the commands


def test_new_writes_a_file_that_passes_and_never_over_another(here):
    made = turnproof("new", "my.turn.toml")
    assert made.exit_code == 0, made.output
    assert turnproof("run", "my.turn.toml").exit_code == 0
    assert (here / "scenario.schema.json").read_text() == schema_text()

    again = turnproof("new", "my.turn.toml")
    assert again.exit_code == 2
    assert "'my.turn.toml' exists already" in again.stderr


def test_a_file_travels_to_other_processes_with_the_bench():
    bench = House()
    bench.hold("my.toml", '[answers]\n"lease.is_held" = false\n' + SMALL)
    digest_here = bench.design("my.toml")
    there = pickle.loads(pickle.dumps(bench))

    assert there.design("my.toml") == digest_here
    assert there.rows()["my.toml"].promise == bench.rows()["my.toml"].promise


def test_validate_names_each_file_and_its_errors(here):
    (here / "good.toml").write_text(SMALL)
    (here / "bad.toml").write_text("why = 1\n")
    result = turnproof("validate", "good.toml", "bad.toml")

    assert result.exit_code == 2
    assert result.stdout.splitlines() == [
        "good.toml: is a scenario",
        "bad.toml:1:1: 'why': a whole number, where text was expected.",
        "bad.toml:1:1: the file lacks 'session'.",
    ]


def test_a_planted_fault_is_found_and_its_line_plays_it_again_until_the_file_changes(here):
    file = here / "my.turn.toml"
    file.write_text(SMALL + "[promise]\nspawns = 2\n")
    swept = turnproof("sweep", "my.turn.toml", "-k", "0", "--out", "out")
    assert swept.exit_code == 1
    line = next(text.strip() for text in swept.stdout.splitlines() if "turnproof replay" in text)

    assert read_capsule(line).row == "my.turn.toml"
    again = turnproof("replay", line)
    assert again.exit_code == 1
    assert "processes spawned 1, promised 2" in again.stdout

    file.write_text(SMALL)
    healed = turnproof("replay", line)
    assert healed.exit_code == 0
    assert "the file has changed since this line was written" in healed.stderr

    file.unlink()
    gone = turnproof("replay", line)
    assert gone.exit_code == 2
    assert "Cannot read the scenario file 'my.turn.toml': No such file or directory" in gone.stderr


@pytest.mark.parametrize("path", ["missing.toml", "a:b.toml", "."])
def test_a_file_that_cannot_be_a_scenario_is_said_so(here, path):
    (here / "x.toml").write_bytes(b"\xff")
    for name in (path if path != "." else "x.toml",):
        result = turnproof("run", name)
        assert result.exit_code == 2
        assert "scenario" in result.stderr


# --- under pytest


def pytest_in(folder, *words):
    plugin = ["-p", "reports.pytest_plugin"] if not installed() else []
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:randomly", *plugin, *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240, check=False)


def installed():
    from importlib.metadata import entry_points

    return any(point.value == "reports.pytest_plugin" for point in entry_points(group="pytest11"))


@pytest.mark.parametrize("jobs", ["0", "2"])
def test_scenario_files_are_tests_and_a_failure_carries_the_line_that_plays_it_again(here, jobs):
    (here / "good.turn.toml").write_text(SMALL)
    (here / "bad.turn.toml").write_text(SMALL + "[promise]\nspawns = 2\n")
    (here / "text.turn.toml").write_text(
        "sweep = true\n" + HEAD + '[[session.turn.answer]]\ntext = "hello"\n'
    )
    result = pytest_in(here, "-n", jobs)

    assert result.returncode == 1, result.stdout + result.stderr
    assert "1 failed, 3 passed" in result.stdout
    assert "processes spawned 1, promised 2" in result.stdout
    assert "turnproof replay tp1:" in result.stdout
    assert "Traceback" not in result.stdout


def test_a_file_that_is_no_scenario_is_an_error_of_collection_with_all_its_lines(here):
    (here / "bad.turn.toml").write_text("why = 1\n")
    result = pytest_in(here)

    assert result.returncode == 2
    assert "bad.turn.toml:1:1: the file lacks 'session'." in result.stdout
    assert "bad.turn.toml:1:1: 'why': a whole number, where text was expected." in result.stdout


def test_a_file_can_promise_every_ending_but_that_of_a_run_that_ran_out():
    endings = {ending for each in ROWS.values() for ending in each.promise.endings}
    choices = json.loads(schema_text())["$defs"]["Promise"]["properties"]["endings"]["anyOf"][0]["items"][
        "enum"
    ]

    assert endings <= set(choices)
    assert set(choices) == {COMPLETED, AFTER_REFUSAL, UNCORRECTED, CANCELLED, ERROR, BLOCKED, NOT_ACCEPTED}
