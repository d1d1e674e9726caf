"""The command ``turnproof``."""

from __future__ import annotations

import click

from reports.cli.completion import completion
from reports.cli.demo import demo
from reports.cli.differing import diff
from reports.cli.filing import new, schema, validate
from reports.cli.fixture import fixture
from reports.cli.guard import Guarded
from reports.cli.naming import explain, listing
from reports.cli.playing import replay, run
from reports.cli.reporting import merge, report
from reports.cli.sweeping import sweep

# The bench itself is imported by the commands that need it, so that help and usage errors come at once.


def _version(context: click.Context, _option: click.Parameter, asked: bool) -> None:
    if asked:
        from importlib.metadata import PackageNotFoundError, version

        try:
            click.echo(f"turnproof {version('turnproof')}")
        except PackageNotFoundError:
            click.echo("turnproof, not installed")
        context.exit()


@click.group(cls=Guarded, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version."
)
@click.option("--debug", is_flag=True, help="Show a traceback when the bench itself fails.")
@click.pass_context
def cli(context: click.Context, debug: bool) -> None:
    """Every fault at every point of a hosted tool turn, each run judged.

    Exit codes: 0 clean, 1 findings, 2 wrong usage, 3 the bench failed, 4 incomplete, 130 interrupted.
    """
    if context.obj is None:
        from reports.bench import House

        context.obj = House()


COMMANDS = (
    sweep,
    report,
    merge,
    diff,
    run,
    replay,
    fixture,
    new,
    validate,
    schema,
    listing,
    explain,
    demo,
    completion,
)

for command in COMMANDS:
    cli.add_command(command)

main = cli
