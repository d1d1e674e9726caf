"""``turnproof diff``: the same rows under two designs."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reports.cli.common import complete_design, complete_selection, say
from reports.cli.sweeping import MOST_JOBS, chosen, counted, uncounted
from reports.cli.waiting import progress, stoppable
from reports.trouble import unwritable

if TYPE_CHECKING:
    from reports.bench import Bench
    from reports.differences import Comparison, Differences
    from reports.outline import Outline

FILES = ("diff.md", "diff.jsonl")


@click.command()
@click.argument("one", metavar="DESIGN", shell_complete=complete_design)
@click.argument("other", metavar="DESIGN", shell_complete=complete_design)
@click.argument("selection", nargs=-1, shell_complete=complete_selection)
@click.option(
    "-k", "faults", type=click.IntRange(0, 1), default=1, show_default=True, help="Faults in a run."
)
@click.option(
    "--faults", "none", type=click.Choice(["none"]), help="The same as -k 0: only runs without a fault."
)
@click.option("-j", "jobs", type=click.IntRange(min=1), default=None, help="Processes.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=None,
    help="Write diff.md and diff.jsonl into this folder.",
)
@click.pass_obj
def diff(
    bench: Bench,
    one: str,
    other: str,
    selection: tuple[str, ...],
    faults: int,
    none: str | None,
    jobs: int | None,
    out: Path | None,
) -> int:
    """Play the selected rows under two designs, and show which end otherwise.

    Compared are the endings of the turns, the leases, and how a second Session fares; findings stand beside. Points
    are those of the first DESIGN: a fault that does not land under the second is shown as missed.

    \b
    turnproof diff seed hand-back-on-block policies
    turnproof diff seed queue-when-busy --faults none

    Exit codes: 0 nothing differs, 1 something does; the others are those of a sweep.
    """
    from reports.campaign import Campaign
    from reports.differences import Comparison
    from reports.files import check

    first = bench.under(one)
    campaign = Campaign(first, *chosen(first, selection, 0 if none else faults))
    comparison = Comparison(campaign, first.under(other))
    if out is not None:
        check(out)
    with stoppable() as stop:
        outline = counted(campaign, stop)
        if outline is None:
            return uncounted(stop)
        found = _compared(comparison, outline, jobs, stop)
    return _shown(found, out)


def _compared(comparison: Comparison, outline: Outline, jobs: int | None, stop: list[int]) -> Differences:
    """Make every run under both designs."""
    from faults.engine import deliver
    from reports.differences import Differences

    found = Differences(comparison.names, outline.due)
    most = min(jobs or os.cpu_count() or 1, MOST_JOBS)
    with progress(outline.due, "comparing runs") as step:
        for delivery in deliver(outline.ranges(), comparison.work, most, lambda: bool(stop)):
            found.add(delivery)
            step()
    found.interrupted = signal.SIGINT in stop
    return found


def _shown(found: Differences, out: Path | None) -> int:
    """Show what differs, and write it where that is wanted; the exit code."""
    from reports.side_by_side import markdown, terminal
    from sim.text import show

    say(terminal(found))
    if found.details and click.get_current_context().find_root().params["debug"]:
        click.echo("\n".join(map(show, found.details.splitlines())), err=True)
    if out is not None:
        try:
            for name, told in zip(
                FILES, (markdown(found), "".join(f"{line}\n" for line in found.lines)), strict=True
            ):
                (out / name).write_text(told, encoding="utf-8", newline="\n")
        except OSError as error:
            raise unwritable(f"the files of this comparison into '{show(str(out))}'", error) from None
        click.echo(f"\n{show(str(out))} holds {' and '.join(FILES)}.")
    return found.code
