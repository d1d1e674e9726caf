"""``turnproof sweep``: many runs."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reports.cli.common import complete_row, say
from reports.trouble import Trouble, unwritable

if TYPE_CHECKING:
    from reports.bench import Bench
    from reports.tally import Tally

MOST_JOBS = 64
"""More worker processes than this only wait for each other."""


@click.command()
@click.argument("selection", nargs=-1, shell_complete=complete_row)
@click.option(
    "-k", "faults", type=click.IntRange(0, 1), default=1, show_default=True, help="Faults in a run."
)
@click.option(
    "--faults", "none", type=click.Choice(["none"]), help="The same as -k 0: only runs without a fault."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("out"),
    show_default=True,
    help="Where the files go.",
)
@click.option(
    "-j",
    "jobs",
    type=click.IntRange(min=1),
    default=None,
    help="Processes; as many as processors if not given.",
)
@click.pass_obj
def sweep(
    bench: Bench, selection: tuple[str, ...], faults: int, none: str | None, out: Path, jobs: int | None
) -> int:
    """Strike every point of the selected rows with every fault that applies, and judge each run.

    A word of SELECTION names rows (one-call, rc-*), a theme of rows (base, cases), a field case (RC-13),
    fates (reply-lost, crash-*) or points (Acquire, 'broker:*'). Words of one kind add up, words of different
    kinds narrow each other; without any, everything is swept.

    Writes runs.jsonl (a line for each run) and summary.md.
    """
    from faults.engine import deliver
    from faults.sweeps import select
    from reports.campaign import Campaign
    from reports.files import Folder
    from reports.tally import Tally

    most = 0 if none else faults
    chosen = select(selection, {name: (card.theme, *card.cases) for name, card in bench.rows().items()})
    if not most and (chosen.points or chosen.fates):
        raise _unmatched(
            bench, chosen.points or chosen.fates, (), " Without faults, only rows can be selected."
        )
    campaign = Campaign(bench, chosen, most)
    tally = Tally(campaign)
    folder = Folder(out)
    try:
        with _stoppable() as stop:
            _counted(campaign, stop)
            with _progress(campaign.size.runs, "judging runs") as step:
                jobs = min(jobs or os.cpu_count() or 1, campaign.size.runs, MOST_JOBS)
                for delivery in deliver(campaign.ranges(), campaign.work, jobs, lambda: bool(stop)):
                    folder.add(tally.add(delivery).line)
                    step()
            tally.interrupted = signal.SIGINT in stop
        return _ended(tally, folder)
    finally:
        folder.discard()


def _counted(campaign: Any, stop: list[int]) -> None:
    """Count the runs; say so when a word of the selection meant nothing."""
    rows = campaign.selection.rows
    with _progress(len(rows), "counting runs") as step:
        for _ in campaign.count():
            step()
            if stop:
                return
    unmatched = [word for word in campaign.selection.points if word not in campaign.matched]
    if unmatched:
        raise _unmatched(campaign.bench, unmatched, campaign.labels)
    if (
        campaign.faults
        and not campaign.size.faults
        and (campaign.selection.fates or campaign.selection.points)
    ):
        raise Trouble(
            "No selected fate applies at any selected point of these rows; nothing was run. "
            "`turnproof list points ROW` shows the points, `turnproof explain FATE` where a fate strikes."
        )


def _unmatched(bench: Bench, words: Sequence[str], labels: Iterable[str], more: str = "") -> Trouble:
    from faults.fates import VOCABULARY
    from faults.plans import nearest
    from sim.text import show

    rows = bench.rows()
    cases = {case for card in rows.values() for case in (card.theme, *card.cases)}
    return Trouble(
        f"'{show(words[0])}' selects no row, field case, fate or point."
        f"{nearest(words[0], [*rows, *sorted(cases), *VOCABULARY, *sorted(labels)])}{more}"
    )


def _ended(tally: Tally, folder: Any) -> int:
    """Show and write what the sweep came to."""
    from reports.summary import SHOWN, markdown, terminal

    folder.finish(markdown(tally))
    say(terminal(tally, None if folder.trouble else SHOWN))
    _show_details(tally)
    if folder.trouble:
        raise unwritable(f"the files of this sweep into '{folder.path}'", folder.trouble)
    click.echo(f"\n{folder.path}/runs.jsonl and {folder.path}/summary.md hold it all.")
    return tally.code


def _show_details(tally: Tally) -> None:
    """Where the bench broke, for its developers."""
    from sim.text import show

    details = next((record.details for record in tally.kept if record.details), "")
    if details and click.get_current_context().find_root().params["debug"]:
        click.echo("\n".join(map(show, details.splitlines())), err=True)
    elif details:
        click.echo(
            "turnproof: the bench failed in some runs. `turnproof --debug sweep` shows where.", err=True
        )


@contextmanager
def _stoppable() -> Generator[list[int]]:
    """A list that a signal to stop is put into. The first one lets the run at hand end; a second one does not."""
    heard: list[int] = []

    def hear(number: int, _frame: object) -> None:
        if heard:
            raise KeyboardInterrupt
        heard.append(number)

    before = {number: signal.signal(number, hear) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield heard
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _progress(length: int, label: str) -> Generator[Any]:
    """Progress on standard error: a bar on a terminal, one line elsewhere."""
    with click.progressbar(
        length=length, label=label, file=sys.stderr, update_min_steps=1 + length // 200
    ) as bar:
        yield lambda: bar.update(1)
