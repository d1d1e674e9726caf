"""``turnproof sweep``: many runs."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reports.cli.common import SUFFIX, complete_selection, design_option, on, store_option, under
from reports.cli.ending import ended, out_option
from reports.cli.waiting import murmur, progress, stoppable
from reports.trouble import BENCH_ERROR, INCOMPLETE, INTERRUPTED, Trouble

if TYPE_CHECKING:
    from faults.cluster import Cluster
    from faults.engine import Chunk, Delivery
    from faults.sweeps import Selection
    from reports.bench import Bench
    from reports.campaign import Campaign, Record
    from reports.outline import Outline, Shard
    from reports.store import Store

    Engine = Callable[[Iterable[Chunk], Callable[[], bool]], Iterator[Delivery[Record]]]

MOST_JOBS = 64
"""More worker processes than this only wait for each other."""


class ShardType(click.ParamType["Shard"]):
    """A part of a campaign, written ``3/8``."""

    name = "N/OF"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Shard:
        """The part that was written so."""
        from reports.outline import Shard

        number, slash, of = str(value).partition("/")
        if not (slash and number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
            self.fail(f"'{value}' is no shard. Write 3/8 for the third of eight.", param, ctx)
        return Shard(int(number), int(of))


@click.command()
@click.argument("selection", nargs=-1, shell_complete=complete_selection)
@click.option(
    "-k", "faults", type=click.IntRange(0, 1), default=1, show_default=True, help="Faults in a run."
)
@click.option(
    "--faults", "none", type=click.Choice(["none"]), help="The same as -k 0: only runs without a fault."
)
@out_option("Where the files go.")
@click.option(
    "-j",
    "jobs",
    type=click.IntRange(min=1),
    default=None,
    help="Processes; as many as processors if not given.",
)
@design_option
@store_option
@click.option("--resume", is_flag=True, help="Go on with the campaign in --out; begin it, if there is none.")
@click.option("--shard", type=ShardType(), default=None, help="Only this part of the runs; see `merge`.")
@click.option(
    "--engine",
    type=click.Choice(["local", "dask"]),
    default="local",
    show_default=True,
    help="What makes the runs: processes of this machine, or the workers of a Dask cluster.",
)
@click.option("--scheduler", metavar="ADDRESS", default="", help="Where the cluster's scheduler listens.")
@click.pass_obj
def sweep(
    bench: Bench,
    selection: tuple[str, ...],
    faults: int,
    none: str | None,
    out: Path,
    jobs: int | None,
    design: str,
    store: str,
    resume: bool,
    shard: Shard | None,
    engine: str,
    scheduler: str,
) -> int:
    """Strike every point of the selected rows with every fault that applies, and judge each run.

    A word of SELECTION names rows (one-call, rc-*), a theme of rows (base, cases), a field case (RC-13),
    fates (reply-lost, crash-*) or points (Acquire, 'broker:*'). Words of one kind add up, words of different
    kinds narrow each other; without any, everything is swept.

    Writes what `report` writes, and campaign.db, which holds every run. A sweep that was killed or stopped goes on
    with --resume. A campaign that is finished is dropped only when another one in its folder is finished too.
    """
    from reports.campaign import Campaign
    from reports.files import check

    bench = on(under(bench, design), store)
    campaign = Campaign(bench, *chosen(bench, selection, 0 if none else faults))
    check(out)
    with _engine(campaign, engine, scheduler, jobs) as runs, stoppable() as stop:
        outline = counted(campaign, stop, shard)
        if outline is None:
            return uncounted(stop)
        with _opened(out, outline, resume) as records:
            trouble = _fill(records, campaign, runs, stop)
            code = ended(records, out, signal.SIGINT in stop)
    if trouble is not None:
        raise trouble
    _show_details(campaign)
    return code


def chosen(bench: Bench, words: Sequence[str], faults: int) -> tuple[Selection, int]:
    """What the words select, and how many faults are struck. Trouble: without faults, they select some."""
    from glob import escape

    from faults.sweeps import select

    words = [escape(bench.take(word)) if word.endswith(SUFFIX) else word for word in words]
    wanted = select(words, {name: (card.theme, *card.cases) for name, card in bench.rows().items()})
    if not faults and wanted.fates:
        raise Trouble(
            f"'{wanted.fates[0]}' is a fate, and -k 0 strikes none: leave out -k 0 (or --faults none) to strike it, "
            "or name rows to run them without a fault."
        )
    if not faults and wanted.points:
        more = " With -k 0 only rows, themes and field cases can be named; without it, points too."
        raise _unmatched(bench, wanted.points, (), more)
    return wanted, faults


@contextmanager
def _engine(campaign: Campaign, engine: str, scheduler: str, jobs: int | None) -> Generator[Engine]:
    """What makes the runs."""
    if engine == "local" and scheduler:
        raise Trouble("--scheduler is for a cluster: add --engine dask.")
    if engine == "local":
        from faults.engine import deliver

        most = min(jobs or os.cpu_count() or 1, MOST_JOBS)
        yield lambda ranges, stopped: deliver(ranges, campaign.work, most, stopped)
        return
    if jobs is not None:
        raise Trouble("-j is for processes of this machine; a cluster has the workers that it has.")
    if not scheduler:
        raise Trouble("--engine dask needs --scheduler ADDRESS, for example tcp://127.0.0.1:8786.")
    with _connected(scheduler, campaign) as cluster:
        yield cluster.deliver


def _connected(scheduler: str, campaign: Campaign) -> Cluster[Record]:
    from sim.text import show

    try:
        from faults.cluster import Cluster
        from faults.engine import Lost
    except ModuleNotFoundError as error:
        raise Trouble(
            f"--engine dask needs the package '{error.name}', which comes with the extra 'cluster': install "
            "turnproof[cluster], in a clone by `.venv/bin/pip install -e '.[cluster]'`."
        ) from None
    try:
        return Cluster(scheduler, campaign.recipe())
    except Lost as error:
        raise Trouble(f"Nothing was run: {error}. Start it, or correct --scheduler.", INCOMPLETE) from None
    except ValueError as error:
        raise Trouble(
            f"--scheduler is no address such as tcp://127.0.0.1:8786: {show(str(error))}."
        ) from None


def _opened(out: Path, outline: Outline, resume: bool) -> AbstractContextManager[Store]:
    from reports.store import begun, resumed, unfinished

    if resume:
        return resumed(out, outline)
    dropped = unfinished(out)
    if dropped:
        murmur(f"turnproof: drops what is here of an unfinished sweep, {dropped}; --resume goes on with one.")
    return begun(out, outline)


def counted(campaign: Campaign, stop: list[int], shard: Shard | None = None) -> Outline | None:
    """Count the runs; say so when a word of the selection meant nothing. None when it was stopped."""
    from reports.outline import WHOLE

    with progress(len(campaign.selection.rows), "counting runs") as step:
        for _ in campaign.count():
            step()
            if stop:
                return None
    unmatched = [word for word in campaign.selection.points if word not in campaign.matched]
    if unmatched:
        raise _unmatched(campaign.bench, unmatched, campaign.labels)
    outline = campaign.outline(shard or WHOLE)
    narrowed = campaign.selection.fates or campaign.selection.points
    if campaign.faults and not outline.size.faults and narrowed:
        raise Trouble(
            "No selected fate applies at any selected point of these rows; nothing was run. "
            "`turnproof list points ROW` shows the points, `turnproof explain FATE` where a fate strikes."
        )
    return outline


def uncounted(stop: list[int]) -> int:
    """Say that nothing was run, because it was stopped before; the exit code."""
    click.echo("incomplete: stopped while the runs were counted; none was made.")
    return INTERRUPTED if signal.SIGINT in stop else INCOMPLETE


def _fill(store: Store, campaign: Campaign, runs: Engine, stop: list[int]) -> Trouble | None:
    """Make the runs that the store lacks; what kept it from making them all, unless that was the user."""
    from faults.engine import Lost, Unfit
    from sim.text import show

    lacks = list(store.missing())
    trouble = None
    with progress(sum(chunk.stop - chunk.start for chunk in lacks), "judging runs") as step:
        try:
            for delivery in runs(lacks, lambda: bool(stop)):
                store.add(delivery.key, delivery.index, campaign.kept(delivery))
                step()
        except Lost as error:
            trouble = Trouble(f"Runs are missing, because {show(str(error))}.", INCOMPLETE)
        except Unfit as error:
            trouble = Trouble(
                f"A worker cannot make these runs: {show(str(error))}. Scheduler and workers need this turnproof.",
                BENCH_ERROR,
            )
    store.flush()
    return trouble


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


def _show_details(campaign: Campaign) -> None:
    """Where the bench broke, for its developers."""
    from sim.text import show

    if campaign.details and click.get_current_context().find_root().params["debug"]:
        click.echo("\n".join(map(show, campaign.details.splitlines())), err=True)
    elif campaign.details:
        click.echo(
            "turnproof: the bench failed in some runs. `turnproof --debug sweep` shows where.", err=True
        )
