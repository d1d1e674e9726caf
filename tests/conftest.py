"""What the tests can be asked for on the command line."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write the golden stories anew, as the runs tell them now",
    )


@pytest.fixture(autouse=True)
def _no_job_summary(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the tests sweep is not told in the summary of the job that runs them."""
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
