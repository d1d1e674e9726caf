"""``turnproof completion``: what a shell needs to complete rows, points, fates, checks and rules."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

HOW = {
    "bash": ("~/.bashrc", 'eval "$(turnproof completion bash)"'),
    "zsh": ("~/.zshrc", 'eval "$(turnproof completion zsh)"'),
    "fish": ("~/.config/fish/config.fish", "turnproof completion fish | source"),
}
"""For each shell, the file of its own settings, and the line that belongs there."""


@click.command()
@click.argument("shell", type=click.Choice(list(HOW)))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script with which a shell completes the names of the bench.

    \b
    eval "$(turnproof completion bash)"      # this line into ~/.bashrc
    eval "$(turnproof completion zsh)"       # this line into ~/.zshrc
    turnproof completion fish | source       # this line into ~/.config/fish/config.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None, shell
    made = kind(context.find_root().command, {}, "turnproof", "_TURNPROOF_COMPLETE")
    place, line = HOW[shell]
    click.echo(f"# for {place}: {line}")
    click.echo(made.source())
