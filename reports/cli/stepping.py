"""``--step``: a walk through one run, by single letters, also from a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from reports.walk import Walk

step_option = click.option("--step", "stepwise", is_flag=True, help="Walk through the run, step by step.")

HELP = """n or Enter  next step            d       the disk: every durable row, as it stands here
b           one step back        l       the live scripts, and what each waits for
c           to the next commit   g N     go to step N
s           to the strike        h       this help
q           leave"""


def walk_through(walk: Walk, columns: int) -> None:
    """Show a step, read a command, and so on until ``q`` or the end of the input."""
    click.echo(f"{len(walk.steps):,} steps; h for help.")
    _show(_here(walk, columns))
    while True:
        click.echo("> ", nl=False)
        line = sys.stdin.readline()
        word = line.strip().lower()
        if not line or word in ("q", "quit"):
            if not line:
                click.echo()
            return
        _show(_done(walk, word, columns))


def _done(walk: Walk, word: str, columns: int) -> Iterator[str]:
    """What a command shows."""
    moves: dict[str, tuple[Callable[[], bool], str]] = {
        "": (walk.next, "this is the last step."),
        "n": (walk.next, "this is the last step."),
        "b": (walk.back, "this is the first step."),
        "c": (walk.commit, "no commit comes after this."),
        "s": (walk.strike, "nothing strikes in this run."),
    }
    looks = {"d": _disk, "l": _scripts}
    if word in moves:
        move, otherwise = moves[word]
        if not move():
            yield otherwise
        yield from _here(walk, columns)
    elif word in looks:
        yield from looks[word](walk, columns)
    elif word.startswith("g") and word[1:].strip().isdecimal():
        if not walk.go(int(word[1:]) - 1):
            yield f"there are steps 1 to {len(walk.steps)}."
        yield from _here(walk, columns)
    else:
        yield from HELP.splitlines()


def _here(walk: Walk, columns: int) -> Iterator[str]:
    from reports.timeline import laid_out

    number = f"{walk.at + 1}/{len(walk.steps)}"
    yield f"{number:>11} {laid_out(walk.step.line, columns - 12)}"


def _disk(walk: Walk, columns: int) -> Iterator[str]:
    from sim.text import show

    rows = list(walk.disk())
    if not rows:
        yield "  nothing is durable yet"
    for table, key, words in rows:
        yield _cut(f"  {table} {show(key)}: {words}", columns)


def _scripts(walk: Walk, columns: int) -> Iterator[str]:
    from sim.text import show

    for script in walk.scripts():
        waits = f" waits for {script.waits}" if script.waits else ""
        yield _cut(f"  {show(script.actor)} {script.path.rpartition('/')[2]}{show(waits)}", columns)


def _cut(text: str, columns: int) -> str:
    return text if len(text) <= columns else f"{text[: columns - 3]}..."


def _show(lines: Iterator[str]) -> None:
    for line in lines:
        click.echo(line)
