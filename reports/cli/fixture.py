"""``turnproof fixture``: the seed's six-Workspace fixture, played once and told on a page of its own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from reports.cli.common import say
from reports.cli.ending import out_option
from reports.trouble import CLEAN, FINDINGS, unwritable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reports.fixture import WorkspaceTold

PAGE = "fixture.html"


@click.command()
@out_option("The folder for fixture.html.")
def fixture(out: Path) -> int:
    """Play the seed's fixture: six Workspaces, more than half a gibibyte of output, and a fresh reader at the end.

    \b
    turnproof fixture
    turnproof run six-workspaces     # the same run as a timeline
    """
    from reports.files import check
    from reports.fixture import NAME, told
    from reports.page.fixture import fixture_page
    from scenarios.judge import PASSED, verdict
    from scenarios.rows import ROWS
    from sim.run import run
    from sim.text import show

    check(out)
    row = ROWS[NAME]
    history = run(row.scenario, row.plan, row.design)
    judged = verdict(row, row.plan, history)
    workspaces = told(history.events, row.plan, row.scenario)
    page = out / PAGE
    try:
        page.write_text(
            fixture_page(NAME, workspaces, judged, len(history.events)), encoding="utf-8", newline="\n"
        )
    except OSError as error:
        raise unwritable(f"'{show(str(page))}'", error) from None
    say(_table(workspaces))
    click.echo(f"\n{judged.status}: {len(history.events):,} events, history {judged.history}")
    say(f"  {finding.check}: {show(finding.sentence)}" for finding in judged.findings)
    say(f"  never landed: {show(strike)}" for strike in history.missed)
    click.echo(f"{show(str(page))} tells it all.")
    return CLEAN if judged.status == PASSED else FINDINGS


def _table(workspaces: Sequence[WorkspaceTold]) -> Iterator[str]:
    """A line for each Workspace."""
    yield f"{'workspace':<20} {'turn':<17} {'lease':<5} {'receipt':<10} {'written':>12} {'retained':>12}"
    for each in workspaces:
        written = sum(stream.written for stream in each.streams)
        retained = sum(stream.retained for stream in each.streams)
        told = f"{each.name:<20} {each.ending:<17} {each.lease:<5} {each.receipt:<10}"
        yield f"{told} {written:>12,} {retained:>12,}"
