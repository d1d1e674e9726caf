import os
import shutil
import subprocess
import sys

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from faults.fates import VOCABULARY
from reports.bench import UNACCEPTED, House
from reports.cli import cli
from reports.explain import WORDS, checks, names, rules
from sim.design.order import ORDER
from sim.outcome import (
    AFTER_REFUSAL,
    BLOCKED,
    CANCELLED,
    COMPLETED,
    ERROR,
    NOT_ACCEPTED,
    RAN_OUT,
    UNCORRECTED,
)


def explained(name):
    result = CliRunner().invoke(cli, ["explain", "--", name])
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("name", [*VOCABULARY])
def test_a_fate_is_shown_where_it_strikes_and_with_the_line_that_plays_it(name):
    text = explained(name)

    assert text.count("\n> ") == 1
    assert f"{name} strikes" in text
    assert "turnproof run " in text


@pytest.mark.parametrize(
    "name", ["settlement.blocks", "lease.is_held", "capture.drains_pipe", "admission.text_error"]
)
def test_a_rule_is_shown_where_it_is_consulted(name):
    text = explained(name)

    assert rules()[name].cites in text
    assert "Without it: " in text
    assert "Shown: consulted in " in text
    assert text.count("\n> ") == 1


@pytest.mark.parametrize("name", sorted(set(checks()) - {"every-run-ends"}))
def test_a_check_is_shown_where_it_begins_to_watch(name):
    text = explained(name)

    assert "Shown: begins to watch in " in text


@pytest.mark.parametrize("name", ORDER)
def test_every_step_of_the_order_is_shown_where_it_is_taken(name):
    assert "Shown: taken in " in explained(name)


def test_every_mark_result_and_ending_that_is_printed_is_explained():
    endings = {AFTER_REFUSAL, BLOCKED, CANCELLED, COMPLETED, ERROR, NOT_ACCEPTED, RAN_OUT, UNCORRECTED}

    assert {
        "==",
        "++",
        "--",
        "!!",
        "passed",
        "finding",
        "missed",
        "broken",
        UNACCEPTED,
        "sometimes",
        "doubt",
        *endings,
    } == set(WORDS)
    for word in WORDS:
        assert explained(word).startswith(f"{word}: ")


# --- completion


def completed(words, incomplete):
    shell = ShellComplete(cli, {"obj": House()}, "turnproof", "_TURNPROOF_COMPLETE")
    return {item.value for item in shell.get_completions(words, incomplete)}


def test_a_shell_completes_what_a_command_takes():
    assert {"one-call"} <= completed(["run"], "one-")
    assert {"crash-before", "cases"} <= completed(["sweep"], "c")
    assert {"Acquire", "Activate"} <= completed(["sweep", "one-call"], "Ac")
    assert completed(["explain"], "settlement.bl") == {"settlement.blocks"}
    assert {name for name in names(House()) if name.startswith("no-")} == completed(["explain"], "no-")


def test_a_plan_is_completed_by_points_of_the_row_and_then_by_fates():
    points = completed(["run", "one-call", "--plan"], "harness:a:call:Acquire")
    assert len(points) == 1
    (point,) = points
    assert point.endswith("=")
    assert f"{point}reply-lost!" in completed(["run", "one-call", "--plan"], f"{point}reply")


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_bash_completes_after_sourcing_the_script(tmp_path):
    program = tmp_path / "turnproof"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m reports.cli "$@"\n')
    program.chmod(0o755)
    script = (
        'eval "$(turnproof completion bash)"\n'
        "COMP_WORDS=(turnproof run rc-13-re); COMP_CWORD=2; _turnproof_completion turnproof\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    here = os.getcwd()
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": here}
    told = subprocess.run(
        ["bash", "-c", script], env=env, capture_output=True, text=True, timeout=60, check=True
    )

    assert "rc-13-release" in told.stdout.split()
