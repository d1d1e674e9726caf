"""``fixture.html``: the six-Workspace fixture as one page that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from reports.fixture import WorkspaceTold
from reports.page import environment, own
from scenarios.judge import PASSED, Verdict
from sim.design import SEED


def fixture_page(row: str, workspaces: Sequence[WorkspaceTold], judged: Verdict, events: int) -> str:
    """The page of one run of the fixture; the same bytes for the same run."""
    streams = [stream for each in workspaces for stream in each.streams]
    return (
        environment()
        .get_template("fixture.html.j2")
        .render(
            style=own("page.css"),
            row=row,
            verdict=judged.status,
            clean=judged.status == PASSED,
            findings=judged.findings,
            history=judged.history,
            events=events,
            workspaces=workspaces,
            written=sum(stream.written for stream in streams),
            retained=sum(stream.retained for stream in streams),
            bound=SEED.limits.segment + SEED.limits.write,
        )
    )
