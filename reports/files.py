"""The files that a campaign is told in, each written from its book alone."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from reports.book import Book
from reports.junit import junit
from reports.page import page
from reports.summary import markdown
from reports.trouble import BENCH_ERROR, Trouble
from sim.text import show

Writer: TypeAlias = Callable[[Book], Iterator[str]]
"""Gives the text of a file piece by piece: the same for equal books."""


def runs(book: Book) -> Iterator[str]:
    """``runs.jsonl``: a line for each run."""
    return (f"{record.line}\n" for record in book.records())


def summary(book: Book) -> Iterator[str]:
    """``summary.md``."""
    yield markdown(book.tally)


WRITERS: Mapping[str, Writer] = {
    "index.html": page,
    "runs.jsonl": runs,
    "summary.md": summary,
    "junit.xml": junit,
}
"""Every file of a campaign but the store, by its name."""


def check(folder: Path) -> None:
    """Make the folder, and make sure that files can be written there. Trouble: they cannot."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise Trouble(
            f"Cannot write into the folder '{show(str(folder))}': {error.strerror or error}. "
            "Name a folder that can be written to with --out.",
            BENCH_ERROR,
        ) from None


def write(book: Book, folder: Path) -> None:
    """Put every file of a campaign in its place: all of them, or none.

    All are written beside their places first, and an error leaves those of before untouched. Then each takes its
    place at once, so that no reader sees half of one. What a filesystem cannot do is to move several files in one
    step: a process killed at this very point leaves some of this campaign beside some of the one before it, until
    ``turnproof report`` writes them all again.

    Raises:
        OSError: one of them could not be written.
    """
    parts = {folder / name: folder / f".{name}.part" for name in WRITERS}
    try:
        for place, part in parts.items():
            if place.is_dir():
                raise IsADirectoryError(
                    f"'{show(str(place))}' is a folder, and a file of that name goes there"
                )
            with part.open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(WRITERS[place.name](book))
        for place, part in parts.items():
            part.replace(place)
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)
