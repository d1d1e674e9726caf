"""The six-Workspace fixture as its users meet it: once, in a process of its own, with its page and its memory."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from reports.fixture import largest_buffers
from scenarios.fixture import STDERR_BYTES, STDOUT_BYTES, WORKSPACES, pouring
from scenarios.rows import ROWS
from sim.content import blocks, generated
from sim.design import SEED
from sim.run import run
from sim.scenario import Generate

MOST_MIB = 300
SCRIPT = """
import resource, sys
from pathlib import Path
from reports.cli import main
try:
    main(["fixture", "--out", sys.argv[1]])
except SystemExit as end:
    code = end.code
most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
status = Path("/proc/self/status")
if status.exists():  # what getrusage tells there begins with the memory of the process that forked this one
    most = next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
print(f"exit {code}, most memory {most} KiB")
"""


@pytest.fixture(scope="module")
def played(tmp_path_factory) -> tuple[str, Path]:
    """What the command printed, and its page."""
    out = tmp_path_factory.mktemp("fixture")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(out)], capture_output=True, text=True, check=True, timeout=280
    )
    return done.stdout, out / "fixture.html"


def test_six_times_a_hundred_mebibytes_pass_in_bounded_memory(played):
    said, _ = played
    code, most = re.findall(r"exit (\d), most memory (\d+) KiB", said)[0]

    assert "\npassed: " in said
    assert code == "0"
    assert int(most) < MOST_MIB * 1024


def test_the_page_has_every_workspace_and_the_digests_of_what_was_written(played):
    page = played[1].read_text(encoding="utf-8")

    for name in WORKSPACES:
        assert f">{name}</th>" in page
    for stream in ("stdout", "stderr"):
        digest = hashlib.sha256()
        for step in pouring("complete").steps:
            if isinstance(step, Generate) and step.stream == stream:
                for block in blocks(generated(step.seed, step.length)):
                    digest.update(block)
        assert page.count(digest.hexdigest()) == 2, "written and retained"
    assert page.count(f"{STDOUT_BYTES:,}") >= 6
    assert page.count(f"{STDERR_BYTES:,}") >= 6


def test_the_page_needs_nothing_else(played):
    page = played[1].read_text(encoding="utf-8")

    assert "<script" not in page
    assert not re.findall(r'(?:src|href)="(?!#|data:,")', page)
    assert "prefers-color-scheme: dark" in page


def test_the_owner_never_buffers_more_than_one_segment_and_one_write():
    for name in ("slow-sink", "reread-complete", "reread-owner-killed", "rotten-page"):
        row = ROWS[name]
        most = largest_buffers(run(row.scenario, row.plan, row.design).events)

        assert 0 < most["a"] <= row.design.limits.segment + row.design.limits.write, name


def test_a_folder_that_cannot_be_written_to_is_said_at_once(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    command = [sys.executable, "-m", "reports.cli", "fixture", "--out", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)

    assert (done.returncode, "Cannot write into the folder" in done.stderr) == (3, True)


def test_the_real_limits_are_those_of_the_seed():
    assert ROWS["six-workspaces"].design is SEED
