"""What several commands need: names that a user may write, and lines that a terminal can show."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

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


def complete_row(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """The names of rows that begin so, for a shell."""
    from reports.bench import House

    bench: Bench = context.obj or House()
    return [name for name in bench.rows() if name.startswith(incomplete)]
