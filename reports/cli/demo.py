"""``turnproof demo``: a planted bug is found, and the finding explained."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from reports.cli.common import say, width
from reports.trouble import BENCH_ERROR, Trouble


@click.command()
@click.option(
    "--save", type=click.Path(path_type=Path), default=None, help="Write the demo's scenario here instead."
)
def demo(save: Path | None) -> None:
    """Find a planted bug by a real sweep, and walk through the finding in a minute.

    \b
    turnproof demo
    turnproof demo --save demo.turn.toml
    """
    if save is not None:
        _save(save)
        return
    from reports.demo import chapters

    for number, chapter in enumerate(chapters(min(width(), 100))):
        if number:
            _pause()
        say(chapter)


def _pause() -> None:
    """Wait for Enter where somebody sits; go straight on where nobody does."""
    if sys.stdin.isatty() and sys.stdout.isatty():
        click.prompt("\n[Enter]", default="", show_default=False, prompt_suffix="")
    else:
        click.echo()


def _save(path: Path) -> None:
    from reports.demo import scenario
    from sim.text import show

    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(scenario(planted=True))
    except FileExistsError:
        raise Trouble(f"'{show(str(path))}' exists already. Name another file.") from None
    except OSError as error:
        raise Trouble(f"Cannot write '{show(str(path))}': {error.strerror or error}.", BENCH_ERROR) from None
    click.echo(f"{show(str(path))} holds the demo's scenario, with its planted bug.")
