"""How every command ends: with a message and an exit code, never with a traceback."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any

import click
from rich_click import RichGroup

from reports.trouble import BENCH_ERROR, CLEAN, INTERRUPTED, READER_LEFT, Trouble


class Guarded(RichGroup):
    """A command that always ends with a message and an exit code, never with a traceback."""

    def main(self, args: Sequence[str] | None = None, *more: Any, **extra: Any) -> Any:
        """Run the command and end the process."""
        words = sys.argv[1:] if args is None else list(args)
        extra |= {"standalone_mode": False, "prog_name": "turnproof"}
        try:
            code: Any = super().main(words, *more, **extra)
            sys.stdout.flush()
        except click.ClickException as error:
            code = _tell(error)
        except (click.Abort, KeyboardInterrupt):
            click.echo("turnproof: interrupted.", err=True)
            code = INTERRUPTED
        except BrokenPipeError:
            code = _mute(READER_LEFT)
        except OSError as error:
            code = _failed(error, "--debug" in words)
            _mute(code)
        except Exception as error:
            code = _failed(error, "--debug" in words)
        sys.exit(code if isinstance(code, int) else CLEAN)


def _tell(error: click.ClickException) -> int:
    if isinstance(error, Trouble):
        click.echo(f"turnproof: {error.message}", err=True)
        return error.code
    error.show()
    return error.exit_code


def _failed(error: Exception, debug: bool) -> int:
    """The last resort: what nobody foresaw."""
    from sim.text import show

    if debug:
        click.echo("\n".join(map(show, traceback.format_exc().splitlines())), err=True)
    what = show(f"{type(error).__name__}: {error}")
    hint = "" if debug else " `turnproof --debug` before the command shows where."
    click.echo(
        f"turnproof: the bench itself failed: {what}. This is no verdict on the design, and what was not reported "
        f"before this line is unknown.{hint}",
        err=True,
    )
    return BENCH_ERROR


def _mute(code: int) -> int:
    """Give up standard output, which cannot be written to any more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return code
