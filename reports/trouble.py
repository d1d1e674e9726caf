"""What the command line says when it cannot do what was asked, and the exit codes that go with it."""

from __future__ import annotations

import click

CLEAN, FINDINGS, USAGE, BENCH_ERROR, INCOMPLETE, INTERRUPTED = 0, 1, 2, 3, 4, 130
"""Exit codes. When several are true, the first of 130, 4, 3, 1 is given: a count that is not whole is no verdict."""

READER_LEFT = 141
"""Whoever read standard output has seen enough: what a shell reports of any command that this happens to."""


class Trouble(click.ClickException):
    """A message for the user, saying what and where, what was expected, and what to do; with its exit code."""

    def __init__(self, message: str, code: int = USAGE) -> None:
        super().__init__(message)
        self.code = code


def unwritable(what: str, error: OSError) -> Trouble:
    """The message for output that could not be written."""
    return Trouble(
        f"Cannot write {what}: {error.strerror or error}. Make room or name another folder with --out; "
        "what the terminal shows is whole.",
        BENCH_ERROR,
    )
