"""``--trace FILE``: one run as a file for ui.perfetto.dev."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from reports.trouble import BENCH_ERROR, Trouble

if TYPE_CHECKING:
    from sim.history import History

trace_option = click.option(
    "--trace",
    metavar="FILE",
    type=click.Path(path_type=Path),
    default=None,
    help="Write the run as a trace, for ui.perfetto.dev.",
)
"""The option of commands that play one run."""


def write_trace(path: Path, history: History, replay: str) -> None:
    """Write the trace of a run.

    Raises:
        Trouble: it cannot be written there.
    """
    from reports.perfetto import trace
    from sim.text import show

    where = show(str(path))
    try:
        with path.open("w", encoding="ascii", newline="\n") as file:
            file.writelines(trace(history, {"replay": replay}))
    except OSError as error:
        raise Trouble(
            f"Cannot write the trace '{where}': {error.strerror or error}. Name another file with --trace.",
            BENCH_ERROR,
        ) from None
    click.echo(f"  {where} shows it in ui.perfetto.dev")
