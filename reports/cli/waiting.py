"""What a long command does while it is at work: it shows how far it is, and hears when it shall stop."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, TextIO, cast

import click


class Murmur:
    """Standard error, for what need not be heard: that it cannot be written to ends nothing."""

    def write(self, text: str) -> int:
        """Write, if that is possible."""
        try:
            return sys.stderr.write(text)
        except OSError:
            self._give_up()
            return len(text)

    def flush(self) -> None:
        """Flush, if that is possible."""
        try:
            sys.stderr.flush()
        except OSError:
            self._give_up()

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.stderr, name)

    @staticmethod
    def _give_up() -> None:
        # What stands in the buffer goes the same way, so that the end of the process does not fail of it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def murmur(text: str) -> None:
    """Say something on standard error that need not be heard."""
    click.echo(text, file=cast("TextIO", Murmur()))


@contextmanager
def progress(length: int, label: str) -> Generator[Callable[[], None]]:
    """Progress on standard error: a bar on a terminal, one line elsewhere."""
    file = cast("TextIO", Murmur())
    with click.progressbar(length=length, label=label, file=file, update_min_steps=1 + length // 200) as bar:
        yield lambda: bar.update(1)


@contextmanager
def stoppable() -> Generator[list[int]]:
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
