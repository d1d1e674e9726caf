"""What is wrong with a scenario file, and where."""

from __future__ import annotations

import msgspec


class Problem(msgspec.Struct, frozen=True, order=True):
    """One thing that is wrong with a file, and where: line and column from 1."""

    line: int
    column: int
    says: str

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.says}"


class Invalid(ValueError):
    """A file that is no scenario; ``problems`` are all that were found, in the order of the file."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems
