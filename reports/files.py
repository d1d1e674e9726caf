"""The files of a sweep: written beside their places and put there when whole, so that no reader sees half of one."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from reports.trouble import Trouble

RUNS, SUMMARY = "runs.jsonl", "summary.md"


class Folder:
    """Where a sweep writes ``runs.jsonl`` and ``summary.md``, both or neither.

    A disk that fills up does not end the sweep: ``trouble`` keeps the first error, the files of an earlier
    sweep stay as they are, and what the terminal shows is still whole.

    Raises:
        Trouble: the folder cannot be made or written to.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.trouble: OSError | None = None
        self._runs_part = path / f".{RUNS}.{os.getpid()}.part"
        self._summary_part = path / f".{SUMMARY}.{os.getpid()}.part"
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._runs: TextIO = self._runs_part.open("w", encoding="ascii", newline="\n")
        except OSError as error:
            raise Trouble(
                f"Cannot write into the folder '{path}': {error.strerror or error}. "
                "Name a folder that can be written to with --out."
            ) from None

    def add(self, line: str) -> None:
        """Write the record of one run."""
        if self.trouble is None:
            try:
                self._runs.write(f"{line}\n")
            except OSError as error:
                self._give_up(error)

    def finish(self, summary: str) -> None:
        """Put both files in their places, unless one of them could not be written."""
        if self.trouble is None:
            try:
                self._runs.close()
                self._summary_part.write_text(summary, encoding="utf-8", newline="\n")
                self._runs_part.replace(self.path / RUNS)
                self._summary_part.replace(self.path / SUMMARY)
            except OSError as error:
                self._give_up(error)

    def discard(self) -> None:
        """Leave nothing half-written behind. After :meth:`finish` there is nothing to do."""
        with suppress(OSError):  # what the buffer held cannot be written either
            self._runs.close()
        for part in (self._runs_part, self._summary_part):
            with suppress(OSError):
                part.unlink(missing_ok=True)

    def _give_up(self, error: OSError) -> None:
        self.trouble = error
        self.discard()
