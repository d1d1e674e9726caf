"""Markdown that can be pasted into a comment: text that stays text, tables that fold, and all of it within a bound."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from sim.text import show

LONGEST = 400
"""Characters of one piece of text, unless it is told otherwise."""

_SIGNS = re.compile(r"[\\`*<>|&\[\]]")


def text(words: str, longest: int = LONGEST) -> str:
    """Text in a line or in a cell of a table, with nothing in it that Markdown or HTML would read as a sign."""
    return _SIGNS.sub(lambda found: f"&#{ord(found.group())};", _clipped(show(words), longest))


def code(words: str) -> str:
    """Text as it is, whole, however many backticks are in it."""
    shown = show(words)
    fence = "`" * (1 + max(map(len, re.findall("`+", shown)), default=0))
    space = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{space}{shown}{space}{fence}"


def fenced(language: str, lines: Iterable[str]) -> list[str]:
    """Lines as they are, in a block of their own that nothing in them can end."""
    shown = [show(line) for line in lines]
    runs = (len(run) for line in shown for run in re.findall("`+", line))
    fence = "`" * max(3, 1 + max(runs, default=0))
    return [f"{fence}{language}", *shown, fence]


def table(head: Sequence[str], rows: Iterable[Sequence[str]], room: int, rest: str) -> list[str]:
    """A table, as far as there is room, and then ``rest``; a column whose head begins with ``#`` holds numbers."""
    names = " | ".join(name.removeprefix("#") for name in head)
    rule = " | ".join("---:" if name.startswith("#") else "---" for name in head)
    lines = [f"| {' | '.join(row)} |" for row in rows]
    fitting = list(within(room - len(names) - len(rule), ([line] for line in lines)))
    told = ["", rest.format(f"{len(lines) - len(fitting):,}")] if len(fitting) < len(lines) else []
    return [f"| {names} |", f"| {rule} |", *(line for block in fitting for line in block), *told]


def folded(what: str, lines: Sequence[str]) -> list[str]:
    """Lines that a reader unfolds."""
    return [f"<details><summary>{text(what)}</summary>", "", *lines, "", "</details>"]


def within(room: int, blocks: Iterable[Sequence[str]]) -> Iterator[Sequence[str]]:
    """Blocks of lines, each whole, up to the first for which there is no room."""
    for block in blocks:
        room -= sum(len(line) + 1 for line in block)
        if room < 0:
            return
        yield block


def _clipped(words: str, longest: int) -> str:
    return words if len(words) <= longest else f"{words[: longest - 3]}..."
