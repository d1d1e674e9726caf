"""How every command that has a campaign ends: its numbers on the terminal, its files in their places."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reports.cli.common import say
from reports.cli.waiting import murmur
from reports.trouble import unwritable

if TYPE_CHECKING:
    from reports.book import Book
    from reports.store import Store


def _folder(_context: click.Context, _parameter: click.Parameter, name: str) -> Path:
    if not name:
        raise click.BadParameter("a folder has a name; leave the option out for 'out'.")
    return Path(name)


def out_option(what: str) -> Callable[[Any], Any]:
    """The option ``--out``, with what the folder is for."""
    return click.option(
        "--out", type=click.Path(), default="out", show_default=True, callback=_folder, help=what
    )


def ended(store: Store, folder: Path, interrupted: bool = False) -> int:
    """Show what a campaign came to, and write its files; the exit code that says so.

    Raises:
        Trouble: something could not be written. What the terminal shows is whole even then.
    """
    from reports.book import Book
    from reports.files import WRITERS, write
    from reports.store import STORE
    from reports.summary import SHOWN, terminal
    from sim.text import show

    book = Book(store, interrupted)
    trouble = store.trouble
    if trouble is None:
        try:
            write(book, folder)
        except OSError as error:
            trouble = error
    say(terminal(book.tally, None if trouble else SHOWN))
    _tell_github(book)
    if trouble is not None:
        raise unwritable(f"the files of this sweep into '{show(str(folder))}'", trouble)
    *files, last = [*WRITERS, STORE]
    click.echo(f"\n{show(str(folder))} holds it all: {', '.join(files)} and {last}.")
    if not book.tally.complete:
        click.echo("The same sweep with --resume goes on from here.")
    return book.tally.code


def _tell_github(book: Book) -> None:
    """Add the summary to that of a job on GitHub, when this is one."""
    path = os.environ.get("GITHUB_STEP_SUMMARY", "")
    if not path:
        return
    from reports.summary import markdown

    try:
        with open(path, "a", encoding="utf-8", newline="\n") as file:
            file.write(markdown(book.tally))
    except OSError as error:
        murmur(f"turnproof: the summary is not in $GITHUB_STEP_SUMMARY: {error.strerror or error}.")
