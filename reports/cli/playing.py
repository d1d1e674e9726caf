"""``turnproof run`` and ``turnproof replay``: one run, shown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from reports.cli.common import (
    SUFFIX,
    complete_plan,
    complete_row,
    design_option,
    known_row,
    on,
    say,
    store_option,
    under,
    width,
)
from reports.cli.stepping import step_option, walk_through
from reports.cli.tracing import trace_option, write_trace
from reports.trouble import CLEAN, FINDINGS, Trouble

if TYPE_CHECKING:
    from faults.plans import Capsule
    from reports.bench import Bench
    from sim.points import Plan, Point

_whole = click.option("--whole", is_flag=True, help="Tell in full what happens after the world was healed.")


@click.command()
@click.argument("row", shell_complete=complete_row)
@click.option(
    "--plan",
    "text",
    shell_complete=complete_plan,
    help="Faults in place of the row's: actor:door:label#nth@causes=fate, or none.",
)
@design_option
@store_option
@_whole
@step_option
@trace_option
@click.pass_obj
def run(
    bench: Bench,
    row: str,
    text: str | None,
    design: str,
    store: str,
    whole: bool,
    stepwise: bool,
    trace: Path | None,
) -> int:
    """Play one ROW, or a scenario file, with its own faults or those of a plan, and show what happened.

    \b
    turnproof run rc-13-release
    turnproof run one-call --step                # walk through it: forward, back, disk, live scripts
    turnproof run one-call --trace trace.json    # for ui.perfetto.dev
    turnproof run my.turn.toml
    turnproof run busy-workspace --design queue-when-busy
    """
    from faults.plans import Foreign, Malformed, read

    bench = on(under(bench, design), store)
    name = known_row(bench, row)
    try:
        plan = bench.rows()[name].plan if text is None else read(text)
    except (Malformed, Foreign) as error:
        raise Trouble(
            f"--plan: {error} `turnproof list points {name}` shows the points, `turnproof list fates` the fates."
        ) from None
    return _played(bench, name, plan, Shown(whole, stepwise, trace))


@click.command()
@click.argument("line")
@design_option
@store_option
@_whole
@step_option
@trace_option
@click.pass_obj
def replay(
    bench: Bench, line: str, design: str, store: str, whole: bool, stepwise: bool, trace: Path | None
) -> int:
    """Play a run again from the LINE that a finding came with, under the design that the line was written under.

    \b
    turnproof replay 'tp1:658a74880637:one-call:none'
    turnproof replay 'tp1:...' --step
    """
    from faults.plans import Foreign, Malformed, nearest, read_capsule
    from sim.text import show

    try:
        capsule = read_capsule(line)
    except Malformed as error:
        raise Trouble(f"Malformed replay line: {error}") from None
    except Foreign as error:
        raise Trouble(f"Foreign replay line: {error}") from None
    if capsule.row.endswith(SUFFIX):
        bench.take(capsule.row)
    rows = bench.rows()
    if capsule.row not in rows:
        raise Trouble(
            f"Foreign replay line: this bench has no row '{show(capsule.row)}'.{nearest(capsule.row, rows)}"
        )
    bench = on(_as_written(bench, capsule, design), store)
    stale = "Stale replay line: the address no longer exists: "
    return _played(bench, capsule.row, capsule.plan, Shown(whole, stepwise, trace), stale)


def _as_written(bench: Bench, capsule: Capsule, design: str) -> Bench:
    """The bench under the design that a line names by its digest, or under the one that is asked for instead."""
    written = bench.written_under(capsule.row, capsule.design)
    chosen = under(bench, design or written)
    now, what = chosen.design(capsule.row), "the file" if capsule.row.endswith(SUFFIX) else "the design"
    if not written:
        click.echo(
            f"turnproof: {what} has changed since this line was written (it was {capsule.design}, it is {now}); "
            "what follows is the run as it is today.",
            err=True,
        )
    elif written != bench.named or capsule.design != now:
        click.echo(f"turnproof: this line was written under the design {written}.", err=True)
    return chosen


class Shown(NamedTuple):
    """How a run is shown: what happens after it was healed too, step by step, and into a file."""

    whole: bool
    stepwise: bool
    trace: Path | None


def _played(bench: Bench, row: str, plan: Plan, how: Shown, stale: str = "") -> int:
    """Play, judge, show; 1 when the run did not pass."""
    from faults.plans import Capsule, replay_line
    from reports.bench import AS_PROMISED
    from reports.timeline import timeline
    from reports.walk import Walk
    from sim.history import digest
    from sim.text import show

    seen: set[Point] = set()
    history = bench.play(row, plan, lambda sighting: seen.add(sighting.point))
    if history.missed:
        _must_exist(bench, row, [strike.point for strike in plan.strikes], seen, stale)
    judged = bench.judge(row, plan, history)
    if how.stepwise:
        walk_through(Walk(history.events), width())
    else:
        say(timeline(history.events, width(), how.whole))
    click.echo(f"\n{judged.status}: {show(judged.ending)}")
    say(
        f"  {show(finding.check)} at {finding.at:,} ms: {show(finding.sentence)}"
        for finding in judged.findings
    )
    say(f"  never landed: {show(strike)}" for strike in history.missed)
    click.echo(f"  {len(history.events):,} events, history {digest(history.events)}")
    line = replay_line(Capsule(bench.design(row), row, plan))
    click.echo(f"  {line}")
    if how.trace is not None:
        write_trace(how.trace, history, line)
    return CLEAN if judged.status in AS_PROMISED else FINDINGS


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
