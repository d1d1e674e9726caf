"""``turnproof list`` and ``turnproof explain``: every name and what it means."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from reports.cli.common import complete_name, complete_row, design_option, known_row, say, under, width

if TYPE_CHECKING:
    from reports.bench import Bench


@click.group(name="list")
def listing() -> None:
    """Name the rows, fates, checks, rules, designs, or the points of a row."""


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


@listing.command(name="designs")
def list_designs() -> None:
    """Name every design that --design and diff know, where it is written and what it does."""
    from sim.design.designs import DESIGNS

    _table([named.name, named.cites, named.says] for named in DESIGNS.values())


@listing.command(name="points")
@click.argument("row", shell_complete=complete_row)
@design_option
@click.pass_obj
def list_points(bench: Bench, row: str, design: str) -> None:
    """Name every point that ROW reaches without faults, with the number of faults that apply to it."""
    from faults.fates import applicable
    from reports.bench import sightings

    bench = under(bench, design)
    seen, _ = sightings(bench, known_row(bench, row))
    _table([str(len(applicable(sighting))), str(sighting.point)] for sighting in seen)


def _table(rows: Iterable[list[str]]) -> None:
    """Lines in columns; the last column is not cut, so that it can be searched and copied."""
    from sim.text import show

    cells = [[show(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        start = "".join(f"{cell:<{width}}  " for cell, width in zip(row[:-1], widths, strict=False))
        click.echo(f"{start}{row[-1]}".rstrip())


@click.command()
@click.argument("name", shell_complete=complete_name)
@click.pass_obj
def explain(bench: Bench, name: str) -> None:
    """Say what a row, fate, check, rule, design or label of a point means, and where it is written.

    The number of a seed (003) gives its sentences with what carries them, and that of a sentence (003.27) that one.
    """
    from reports.explain import explain as entries

    say(entries(bench, name, width()))
