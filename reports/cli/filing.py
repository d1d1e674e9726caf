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
    beside = path.with_name(SCHEMA)
    _refuse_foreign(beside)
    _write(path, STARTER, "x")
    _write(beside, schema_text(), "w")
    name = show(str(path))
    click.echo(
        f"{name} is ready. Next:\n  turnproof run {name}\n  turnproof sweep {name}\n  turnproof validate {name}"
    )


def _refuse_foreign(path: Path) -> None:
    """A schema of another version is replaced; what is no schema of ours is not."""
    from scenarios.files.form import TITLE
    from sim.text import show

    if path.is_file() and TITLE not in path.read_text(encoding="utf-8", errors="replace"):
        raise Trouble(
            f"'{show(str(path))}' exists already, and is no schema of scenario files. Name a file in another folder."
        )


def _write(path: Path, text: str, mode: str) -> None:
    from sim.text import show

    try:
        with path.open(mode, encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        raise Trouble(f"'{show(str(path))}' exists already. Name another file.") from None
    except OSError as error:
        raise Trouble(f"Cannot write '{show(str(path))}': {error.strerror or error}.", BENCH_ERROR) from None


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path())
def validate(files: tuple[str, ...]) -> int:
    """Name everything that is wrong with scenario files, with lines and columns; 2 when there is anything.

    \b
    turnproof validate my.turn.toml
    turnproof validate scenarios/*.turn.toml
    """
    return max(_validated(path) for path in files)


def _validated(path: str) -> int:
    from reports.bench import read_file
    from scenarios.files import problems
    from sim.text import show

    try:
        name, text = read_file(path)
    except Trouble as trouble:
        click.echo(trouble.message)
        return trouble.code
    found = problems(text)
    for problem in found:
        click.echo(f"{show(name)}:{problem}")
    if not found:
        click.echo(f"{show(name)}: is a scenario")
    return USAGE if found else CLEAN


@click.command()
def schema() -> None:
    """Print the JSON Schema of scenario files, from which editors complete and check."""
    from scenarios.files import schema_text

    click.echo(schema_text(), nl=False)
