"""What several commands need: names that a user may write, and lines that a terminal can show."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from reports.databases import KINDS, MEMORY
from reports.trouble import USAGE, Trouble

if TYPE_CHECKING:
    from reports.bench import Bench


SUFFIX = ".toml"
"""How the path of a scenario file ends; no row, fate or point ends so."""


def width() -> int:
    """How wide a timeline may be here, in columns."""
    from reports.timeline import WIDTH

    return min(shutil.get_terminal_size((WIDTH, 24)).columns, WIDTH)


def say(lines: Iterable[str]) -> None:
    """Write lines to standard output."""
    for line in lines:
        click.echo(line)


def known_row(bench: Bench, name: str) -> str:
    """The name of a row, or of a scenario file. Trouble: there is none of that name; the nearest are given."""
    from faults.plans import nearest
    from sim.text import show

    if name.endswith(SUFFIX):
        return bench.take(name)
    rows = bench.rows()
    if name not in rows:
        raise Trouble(
            f"Unknown row '{show(name)}'.{nearest(name, rows)} `turnproof list rows` names them all.", USAGE
        )
    return name


def complete_selection(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """What selects runs: rows, themes, field cases, fates, and labels of points, for a shell."""
    from faults.fates import VOCABULARY
    from reports.bench import House
    from reports.explain import labels

    bench: Bench = context.obj or House()
    cards = bench.rows()
    words = {word for card in cards.values() for word in (card.theme, *card.cases)}
    known = dict.fromkeys([*cards, *sorted(words), *VOCABULARY, *sorted(labels())])
    return [name for name in known if name.startswith(incomplete)]


def complete_name(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Everything that can be explained, for a shell."""
    from reports.bench import House
    from reports.explain import names

    return [name for name in dict.fromkeys(names(context.obj or House())) if name.startswith(incomplete)]


def complete_plan(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """The points of the row that stands before, and behind ``=`` the fates that apply there, for a shell."""
    from faults.fates import applicable
    from reports.bench import House, sightings

    bench: Bench = context.obj or House()
    row = next((word for word in context.args if word in bench.rows()), "")
    if not row:
        return []
    seen, _ = sightings(bench, row)
    point, equals, _ = incomplete.partition("=")
    if not equals:
        return [f"{sighting.point}=" for sighting in seen if str(sighting.point).startswith(incomplete)]
    strikes = [f"{point}={fate}" for each in seen if str(each.point) == point for fate in applicable(each)]
    return [strike for strike in strikes if strike.startswith(incomplete)]


def complete_design(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """The names of designs that begin so, for a shell."""
    from sim.design.designs import DESIGNS

    return [name for name in DESIGNS if name.startswith(incomplete)]


def under(bench: Bench, design: str) -> Bench:
    """The bench under the design of ``--design``; as it is when the option was left out."""
    return bench.under(design) if design else bench


design_option = click.option(
    "--design",
    metavar="NAME",
    default="",
    shell_complete=complete_design,
    help="Play under this design, applied to each row's own; `list designs` names them.",
)
"""The option of commands that play rows."""


def on(bench: Bench, store: str) -> Bench:
    """The bench on the database of ``--store``; as it is when that is the one it has."""
    return bench if store == bench.store else bench.on(store)


store_option = click.option(
    "--store",
    type=click.Choice(KINDS),
    default=MEMORY,
    show_default=True,
    help="What keeps the durable state: dictionaries, or SQLite in memory. The histories are the same.",
)
"""The option of commands that make runs."""


def complete_row(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """The names of rows that begin so, for a shell."""
    from reports.bench import House

    bench: Bench = context.obj or House()
    return [name for name in bench.rows() if name.startswith(incomplete)]
