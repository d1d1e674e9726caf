"""A failing suite fails under pytest-xdist, whatever its messages hold."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from reports.pytest_plugin import NeverGreen, pytest_warning_recorded, scrub

HEAD = "import logging, pytest, warnings\nBAD = 'bad \\ud800'\n"
"""The backslash is doubled here, so that the files written below hold the escape and no lone surrogate."""

FAILING = {
    "message": "def test_message():\n    raise ValueError(BAD)",
    "assert": "def test_assert():\n    assert BAD == 'good'",
    "logging": "def test_logging():\n    logging.getLogger().error(BAD)\n    assert False",
    "property": "def test_property(record_property):\n    record_property('seen', BAD)\n    assert False",
    "collection": "raise ValueError(BAD)",
}
QUIET = {
    "skip": "def test_skip():\n    pytest.skip(BAD)",
    "warning": "def test_warning():\n    warnings.warn(BAD)",
}
BROKEN = """
import os

def pytest_runtest_logreport(report):
    if "PYTEST_XDIST_WORKER" in os.environ:
        raise ValueError({text!a})
"""

Suite = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    """Run the given test files in a fresh pytest under two workers."""

    def run(tests: dict[str, str], *options: str, conftest: str = "") -> subprocess.CompletedProcess[str]:
        for name, body in tests.items():
            (tmp_path / f"test_{name}.py").write_text(HEAD + body + "\n", encoding="utf-8")
        (tmp_path / "conftest.py").write_text(conftest, encoding="utf-8")
        (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "COV_"))}
        command = [sys.executable, "-m", "pytest", "-n", "2", "-p", "no:randomly", "-p", "no:cacheprovider"]
        return subprocess.run(
            [*command, *options],
            cwd=tmp_path,
            env=environment | {"PYTHONIOENCODING": "utf-8"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
        )

    return run


@pytest.mark.parametrize("kind", FAILING)
def test_one_failing_test_fails_the_run(suite: Suite, kind: str) -> None:
    ran = suite({kind: FAILING[kind]})
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "INTERNALERROR" not in ran.stdout + ran.stderr
    assert re.search(r"= (1 failed|2 errors) in ", ran.stdout), ran.stdout


def test_a_whole_suite_reports_each_test(suite: Suite) -> None:
    tests = {kind: body for kind, body in (FAILING | QUIET).items() if kind != "collection"}
    ran = suite(tests, "-rs")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "INTERNALERROR" not in ran.stdout + ran.stderr
    assert "4 failed, 1 passed, 1 skipped, 1 warning" in ran.stdout
    assert ran.stdout.count(r"bad \ud800") >= 5, "the escaped text is still there to be read"


@pytest.mark.parametrize("kind", QUIET)
def test_a_suite_that_does_not_fail_stays_green(suite: Suite, kind: str) -> None:
    ran = suite({kind: QUIET[kind]}, "-rs")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "INTERNALERROR" not in ran.stdout + ran.stderr
    assert r"bad \ud800" in ran.stdout


@pytest.mark.parametrize("text", ["plain", "bad \ud800"], ids=["plain", "ill-formed"])
def test_a_run_whose_worker_breaks_is_not_green(suite: Suite, text: str) -> None:
    ran = suite({"fine": "def test_fine():\n    pass"}, conftest=BROKEN.format(text=text))
    assert ran.returncode == pytest.ExitCode.INTERNAL_ERROR, ran.stdout + ran.stderr
    assert "INTERNALERROR" in ran.stdout + ran.stderr


@pytest.mark.parametrize(
    ("body", "conftest"),
    [(FAILING["message"], ""), ("def test_fine():\n    pass", BROKEN.format(text="plain"))],
    ids=["ill-formed message", "broken worker"],
)
def test_without_the_plugin_the_same_run_is_green(suite: Suite, body: str, conftest: str) -> None:
    """The control: it documents what the plugin is for."""
    ran = suite({"control": body}, "-p", "no:turnproof", conftest=conftest)
    if ran.returncode != 0:
        pytest.skip(f"this pytest-xdist is not fooled: exit code {ran.returncode}")
    assert "INTERNALERROR" in ran.stdout + ran.stderr
    assert "1 failed" not in ran.stdout


def test_scrub_keeps_what_is_well_formed_and_escapes_the_rest() -> None:
    good = {"a": ["\U0001f600 \N{GREEK SMALL LETTER BETA}", ("b", 1, 2.5, None, True, b"\xff")]}
    assert scrub(good) == good
    assert scrub({"\udfff": [("\ud800",)]}) == {r"\udfff": [(r"\ud800",)]}
    assert scrub([{1}, Path("a")]) == ["{1}", repr(Path("a"))]


def test_a_warning_keeps_its_category_and_place() -> None:
    bad = warnings.WarningMessage(UserWarning("bad \ud800"), UserWarning, "a.py", 3)
    good = warnings.WarningMessage(UserWarning("good"), UserWarning, "a.py", 3)
    kept = good.message
    pytest_warning_recorded(bad)
    pytest_warning_recorded(good)
    assert str(bad.message) == r"bad \ud800"
    assert (bad.category, bad.filename, bad.lineno) == (UserWarning, "a.py", 3)
    assert good.message is kept


def test_the_guard_of_a_broken_run_leaves_red_alone() -> None:
    class Session:
        exitstatus = 1

    session, guard = Session(), NeverGreen()
    guard.pytest_internalerror()
    guard.pytest_sessionfinish(session)  # type: ignore[arg-type]
    assert session.exitstatus == 1
    session.exitstatus = 0
    guard.pytest_sessionfinish(session)  # type: ignore[arg-type]
    assert session.exitstatus == pytest.ExitCode.INTERNAL_ERROR
