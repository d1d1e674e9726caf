"""The command ``turnproof``."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import traceback
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich_click import RichGroup

from reports.trouble import BENCH_ERROR, CLEAN, FINDINGS, INTERRUPTED, READER_LEFT, USAGE, Trouble, unwritable

if TYPE_CHECKING:
    from reports.bench import Bench
    from reports.tally import Tally
    from sim.points import Plan, Point

# The bench itself is imported by the commands that need it, so that help and usage errors come at once.


MOST_JOBS = 64
"""More worker processes than this only wait for each other."""


class Guarded(RichGroup):
    """A command that always ends with a message and an exit code, never with a traceback."""

    def main(self, args: Sequence[str] | None = None, *more: Any, **extra: Any) -> Any:
        """Run the command and end the process."""
        words = sys.argv[1:] if args is None else list(args)
        extra["standalone_mode"] = False
        try:
            code: Any = super().main(words, *more, **extra)
            sys.stdout.flush()
        except click.ClickException as error:
            code = _tell(error)
        except (click.Abort, KeyboardInterrupt):
            click.echo("turnproof: interrupted.", err=True)
            code = INTERRUPTED
        except BrokenPipeError:
            code = _mute(READER_LEFT)
        except OSError as error:
            code = _failed(error, "--debug" in words)
            _mute(code)
        except Exception as error:
            code = _failed(error, "--debug" in words)
        sys.exit(code if isinstance(code, int) else CLEAN)


def _tell(error: click.ClickException) -> int:
    if isinstance(error, Trouble):
        click.echo(f"turnproof: {error.message}", err=True)
        return error.code
    error.show()
    return error.exit_code


def _failed(error: Exception, debug: bool) -> int:
    """The last resort: what nobody foresaw."""
    from sim.text import show

    if debug:
        click.echo("\n".join(map(show, traceback.format_exc().splitlines())), err=True)
    what = show(f"{type(error).__name__}: {error}")
    hint = "" if debug else " `turnproof --debug` before the command shows where."
    click.echo(
        f"turnproof: the bench itself failed: {what}. This is no verdict on the design, and what was not reported "
        f"before this line is unknown.{hint}",
        err=True,
    )
    return BENCH_ERROR


def _mute(code: int) -> int:
    """Give up standard output, which cannot be written to any more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return code


def _width() -> int:
    from reports.timeline import WIDTH

    return min(shutil.get_terminal_size((WIDTH, 24)).columns, WIDTH)


def _say(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line)


def _version(context: click.Context, _option: click.Parameter, asked: bool) -> None:
    if asked:
        from importlib.metadata import PackageNotFoundError, version

        try:
            click.echo(f"turnproof {version('turnproof')}")
        except PackageNotFoundError:
            click.echo("turnproof, not installed")
        context.exit()


@click.group(cls=Guarded, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version."
)
@click.option("--debug", is_flag=True, help="Show a traceback when the bench itself fails.")
@click.pass_context
def cli(context: click.Context, debug: bool) -> None:
    """Every fault at every point of a hosted tool turn, each run judged.

    Exit codes: 0 clean, 1 findings, 2 wrong usage, 3 the bench failed, 4 incomplete, 130 interrupted.
    """
    if context.obj is None:
        from reports.bench import House

        context.obj = House()


# --- names that a user may write ----------------------------------------------------------------------------------


def _row(bench: Bench, name: str) -> str:
    from faults.plans import nearest
    from sim.text import show

    rows = bench.rows()
    if name not in rows:
        raise Trouble(
            f"Unknown row '{show(name)}'.{nearest(name, rows)} `turnproof list rows` names them all.", USAGE
        )
    return name


def _complete_row(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    from reports.bench import House

    bench: Bench = context.obj or House()
    return [name for name in bench.rows() if name.startswith(incomplete)]


# --- sweep --------------------------------------------------------------------------------------------------------


@cli.command()
@click.argument("selection", nargs=-1, shell_complete=_complete_row)
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
    _say(terminal(tally, None if folder.trouble else SHOWN))
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


# --- one run ------------------------------------------------------------------------------------------------------


_whole = click.option("--whole", is_flag=True, help="Tell in full what happens after the world was healed.")


@cli.command()
@click.argument("row", shell_complete=_complete_row)
@click.option(
    "--plan", "text", help="Faults in place of the row's: actor:door:label#nth@causes=fate, or none."
)
@_whole
@click.pass_obj
def run(bench: Bench, row: str, text: str | None, whole: bool) -> int:
    """Play one ROW, with its own faults or those of a plan, and show what happened."""
    from faults.plans import Foreign, Malformed, read

    name = _row(bench, row)
    try:
        plan = bench.rows()[name].plan if text is None else read(text)
    except (Malformed, Foreign) as error:
        raise Trouble(
            f"--plan: {error} `turnproof list points {name}` shows the points, `turnproof list fates` the fates."
        ) from None
    return _played(bench, name, plan, whole)


@cli.command()
@click.argument("line")
@_whole
@click.pass_obj
def replay(bench: Bench, line: str, whole: bool) -> int:
    """Play a run again from the LINE that a finding came with."""
    from faults.plans import Foreign, Malformed, nearest, read_capsule
    from sim.text import show

    try:
        capsule = read_capsule(line)
    except Malformed as error:
        raise Trouble(f"Malformed replay line: {error}") from None
    except Foreign as error:
        raise Trouble(f"Foreign replay line: {error}") from None
    rows = bench.rows()
    if capsule.row not in rows:
        raise Trouble(
            f"Foreign replay line: this bench has no row '{show(capsule.row)}'.{nearest(capsule.row, rows)}"
        )
    now = bench.design(capsule.row)
    if capsule.design != now:
        click.echo(
            f"turnproof: the design has changed since this line was written (it was {capsule.design}, it is {now}); "
            "what follows is the run under the design as it is.",
            err=True,
        )
    return _played(
        bench, capsule.row, capsule.plan, whole, "Stale replay line: the address no longer exists: "
    )


def _played(bench: Bench, row: str, plan: Plan, whole: bool, stale: str = "") -> int:
    """Play, judge, show; 1 when the run did not pass."""
    from faults.plans import Capsule, replay_line
    from reports.bench import PASSED
    from reports.timeline import timeline
    from sim.history import digest
    from sim.text import show

    seen: set[Point] = set()
    history = bench.play(row, plan, lambda sighting: seen.add(sighting.point))
    if history.missed:
        _must_exist(bench, row, [strike.point for strike in plan.strikes], seen, stale)
    judged = bench.judge(row, plan, history)
    _say(timeline(history.events, _width(), whole))
    click.echo(f"\n{judged.status}: {show(judged.ending)}")
    _say(
        f"  {show(finding.check)} at {finding.at:,} ms: {show(finding.sentence)}"
        for finding in judged.findings
    )
    _say(f"  never landed: {show(strike)}" for strike in history.missed)
    click.echo(f"  {len(history.events):,} events, history {digest(history.events)}")
    click.echo(f"  {replay_line(Capsule(bench.design(row), row, plan))}")
    return CLEAN if judged.status == PASSED else FINDINGS


def _must_exist(bench: Bench, row: str, wanted: Sequence[Point], seen: set[Point], stale: str) -> None:
    """A fault that did not land must at least have a place: in this run, or in the one without faults."""
    from faults.plans import nearest
    from reports.bench import sightings
    from sim.text import show

    known = seen | {sighting.point for sighting in sightings(bench, row)[0]}
    for point in wanted:
        if point not in known:
            raise Trouble(
                f"{stale}row '{row}' has no point '{show(str(point))}'."
                f"{nearest(str(point), sorted(map(str, known)))} `turnproof list points {row}` shows them all."
            )


# --- names and their meanings -------------------------------------------------------------------------------------


@cli.group(name="list")
def listing() -> None:
    """Name the rows, fates, checks, rules, or the points of a row."""


@listing.command(name="rows")
@click.pass_obj
def list_rows(bench: Bench) -> None:
    """Name every row, with the field cases it plays and why it is there."""
    cards = bench.rows()
    _table([name, ", ".join(card.cases), card.why] for name, card in cards.items())


@listing.command(name="fates")
def list_fates() -> None:
    """Name every fate, where it strikes and what it means."""
    from faults.fates import VOCABULARY

    _table([kind.name, kind.door, "and !" if kind.sticky else "", kind.means] for kind in VOCABULARY.values())


@listing.command(name="checks")
def list_checks() -> None:
    """Name every check, where it is written and what it holds."""
    from reports.explain import checks

    _table([check.name, check.cites, check.says] for check in checks().values())


@listing.command(name="rules")
def list_rules() -> None:
    """Name every rule of the design, where it is written and what it says."""
    from reports.explain import rules

    _table([rule.name, rule.cites, rule.says] for rule in rules().values())


@listing.command(name="points")
@click.argument("row", shell_complete=_complete_row)
@click.pass_obj
def list_points(bench: Bench, row: str) -> None:
    """Name every point that ROW reaches without faults, with the number of faults that apply to it."""
    from faults.fates import applicable
    from reports.bench import sightings

    seen, _ = sightings(bench, _row(bench, row))
    _table([str(len(applicable(sighting))), str(sighting.point)] for sighting in seen)


def _table(rows: Iterable[list[str]]) -> None:
    """Lines in columns; the last column is not cut, so that it can be searched and copied."""
    from sim.text import show

    cells = [[show(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        start = "".join(f"{cell:<{width}}  " for cell, width in zip(row[:-1], widths, strict=False))
        click.echo(f"{start}{row[-1]}".rstrip())


@cli.command()
@click.argument("name")
@click.pass_obj
def explain(bench: Bench, name: str) -> None:
    """Say what a row, fate, check, rule or label of a point means, and where it is written."""
    from reports.explain import explain as entries

    _say(entries(bench, name, _width()))


main = cli

if __name__ == "__main__":
    main()
