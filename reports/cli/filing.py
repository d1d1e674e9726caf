"""``turnproof new``, ``validate`` and ``schema``: scenario files."""

from __future__ import annotations

from pathlib import Path

import click

from reports.trouble import BENCH_ERROR, CLEAN, USAGE, Trouble


@click.command()
@click.argument("path", type=click.Path(path_type=Path), default=Path("my.turn.toml"))
def new(path: Path) -> None:
    """Write a commented scenario file to begin with, and the schema that editors complete from beside it.

    \b
    turnproof new                    # my.turn.toml
    turnproof new checkout.turn.toml
    """
    from scenarios.files import STARTER, schema_text
    from scenarios.files.starter import SCHEMA
    from sim.text import show

    if not path.name.endswith(".toml"):
        raise Trouble(
            f"'{show(str(path))}': a scenario file ends in .toml, and in .turn.toml for pytest to find it."
        )
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(STARTER)
        path.with_name(SCHEMA).write_text(schema_text(), encoding="utf-8", newline="\n")
    except FileExistsError:
        raise Trouble(f"'{show(str(path))}' exists already. Name another file.") from None
    except OSError as error:
        raise Trouble(f"Cannot write '{show(str(path))}': {error.strerror or error}.", BENCH_ERROR) from None
    name = show(str(path))
    click.echo(
        f"{name} is ready. Next:\n  turnproof run {name}\n  turnproof sweep {name}\n  turnproof validate {name}"
    )


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path())
def validate(files: tuple[str, ...]) -> int:
    """Name everything that is wrong with scenario files, with lines and columns; 2 when there is anything.

    \b
    turnproof validate my.turn.toml
    turnproof validate scenarios/*.turn.toml
    """
    from reports.bench import read_file
    from scenarios.files import problems
    from sim.text import show

    wrong = 0
    for path in files:
        name, text = read_file(path)
        found = problems(text)
        wrong += len(found)
        for problem in found:
            click.echo(f"{show(name)}:{problem}")
        if not found:
            click.echo(f"{show(name)}: is a scenario")
    return USAGE if wrong else CLEAN


@click.command()
def schema() -> None:
    """Print the JSON Schema of scenario files, from which editors complete and check."""
    from scenarios.files import schema_text

    click.echo(schema_text(), nl=False)
