"""The tutorial as it is written: its files, its commands, and what it says that they print."""

import os
import re
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

TUTORIAL = Path(__file__).parent.parent / "docs" / "tutorial.md"
BLOCKS = re.findall(r"^```(console|toml)\n(.*?)^```$", TUTORIAL.read_text(), re.MULTILINE | re.DOTALL)


def commands(block):
    """Each command of a block with the lines that it is said to print."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output.splitlines()


def fits(shown, printed):
    """Whether what is shown, with parts left out, is what was printed."""
    if not shown:
        return not printed
    if shown[0] == "[...]":
        return any(fits(shown[1:], printed[skipped:]) for skipped in range(len(printed) + 1))
    return bool(printed) and like(shown[0], printed[0]) and fits(shown[1:], printed[1:])


def like(shown, printed):
    pattern = re.sub(r"([*?[])", r"[\1]", shown).replace("...", "*")
    return fnmatchcase(printed.rstrip(), pattern)


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A folder to work in, where the commands that the tutorial uses are at hand."""
    place = tmp_path_factory.mktemp("tutorial")
    (place / "bin").mkdir()
    for name, module in (
        ("turnproof", "reports.cli"),
        ("pytest", "pytest -p no:cacheprovider -p no:randomly"),
    ):
        program = place / "bin" / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n')
        program.chmod(0o755)
    return place


def plugin_is_installed():
    from importlib.metadata import entry_points

    return any(point.value == "reports.pytest_plugin" for point in entry_points(group="pytest11"))


def test_every_command_prints_what_the_tutorial_shows(desk):
    root = str(TUTORIAL.parent.parent)
    env = {**os.environ, "PATH": f"{desk / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": root, "COLUMNS": "100"}
    env |= {} if plugin_is_installed() else {"PYTEST_PLUGINS": "reports.pytest_plugin"}
    failures = []
    ran = 0
    for kind, block in BLOCKS:
        if kind == "toml":
            (desk / block.partition("\n")[0].removeprefix("# ")).write_text(block)
            continue
        for command, shown in commands(block):
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=desk,
                env=env,
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            ran += 1
            if not fits(shown, done.stdout.rstrip("\n").splitlines()):
                failures.append("\n".join([f"$ {command}", *shown, "--- printed", done.stdout, done.stderr]))

    assert ran >= 15
    assert not failures, "\n\n".join(failures)


def test_what_is_shown_must_be_printed():
    assert fits(["a", "[...]", "c...e"], ["a", "b", "b", "cde"])
    assert not fits(["a", "[...]", "c"], ["a", "b"])
    assert not fits(["a"], ["a", "b"])
    assert not fits(["[x]"], ["x"])
