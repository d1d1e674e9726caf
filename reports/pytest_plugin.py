"""The pytest plugin: scenario files are tests, and a failing test stays one, also with ill-formed text under xdist.

A worker of pytest-xdist sends its reports as UTF-8. Text that holds a lone surrogate has none, so the worker
dies and the run can end with exit code 0 although its test failed. So every text that leaves a worker is
escaped first, and a run in which any worker died of an internal error is never green.
"""

from __future__ import annotations

import warnings
from collections.abc import Generator
from pathlib import Path
from typing import Any, cast

import pytest

_GREEN = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)


def show(text: str) -> str:
    """The text with everything that UTF-8 cannot carry written as an escape."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def scrub(value: Any) -> Any:
    """The same builtin value with every text in it escaped; what a worker cannot send becomes its text."""
    if isinstance(value, str):
        return show(str(value))
    if isinstance(value, dict):
        return {scrub(key): scrub(item) for key, item in cast("dict[Any, Any]", value).items()}
    if isinstance(value, tuple):
        return tuple(scrub(item) for item in cast("tuple[Any, ...]", value))
    if isinstance(value, list):
        return [scrub(item) for item in cast("list[Any]", value)]
    if value is None or type(value) in (bool, int, float, complex, bytes):
        return value
    return show(repr(value))


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[None, object, object]:
    """Escape the text of a report before it leaves its worker."""
    return scrub((yield))


@pytest.hookimpl(tryfirst=True)
def pytest_warning_recorded(warning_message: warnings.WarningMessage) -> None:
    """Escape the text of a warning before it leaves its worker; its category stays."""
    text = str(warning_message.message)
    if text != show(text):
        warning_message.message = Warning(show(text))


class NeverGreen:
    """A run that broke is not green, whatever its remaining workers reported."""

    def __init__(self) -> None:
        self.broken = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_internalerror(self) -> None:
        """Note that a worker, or this process itself, broke."""
        self.broken = True

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Replace a green exit code by the one for an internal error."""
        if self.broken and session.exitstatus in _GREEN:
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Every ``*.turn.toml`` is a scenario file."""
    if not file_path.name.endswith(".turn.toml"):
        return None
    from reports.pytest_files import ScenarioFile

    return cast("pytest.Collector", ScenarioFile.from_parent(parent, path=file_path))  # pyright: ignore[reportUnknownMemberType]


def pytest_configure(config: pytest.Config) -> None:
    """One guard for each run."""
    config.pluginmanager.register(NeverGreen(), "turnproof-never-green")
