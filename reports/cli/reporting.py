"""``turnproof report`` and ``turnproof merge``: campaigns that were swept before."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from reports.cli.ending import ended, out_option
from reports.cli.waiting import murmur, progress
from reports.trouble import Trouble

if TYPE_CHECKING:
    from reports.store import Store


@click.command()
@out_option("The folder of the sweep.")
def report(out: Path) -> int:
    """Write all files of a sweep again, from its campaign.db; nothing is run.

    The exit code is that of the sweep.
    """
    from reports.files import check
    from reports.store import opened

    with opened(out) as store:
        check(out)
        return ended(store, out)


@click.command()
@click.argument("folders", nargs=-1, required=True, metavar="DIR...", type=click.Path(path_type=Path))
@out_option("Where the files of the whole go.")
def merge(folders: tuple[Path, ...], out: Path) -> int:
    """Put shards of one sweep together: each DIR is the --out of a `sweep --shard`.

    The files are those of a sweep without shards, byte for byte. Folders may overlap. When runs are missing, the
    result is incomplete, and `sweep --resume` into the same folder makes them.
    """
    from msgspec.structs import replace

    from reports.files import check
    from reports.outline import WHOLE
    from reports.store import begun, outline_in

    if out.resolve() in {folder.resolve() for folder in folders}:
        raise Trouble("The folder to write to is one of those to read; name another one with --out.")
    parts = [outline_in(folder) for folder in folders]
    check(out)
    with begun(out, replace(parts[0], shard=WHOLE)) as store:
        with progress(len(folders), "reading shards") as step:
            for folder in folders:
                store.take(folder)
                step()
        _tell_missing(store, {part.shard.of for part in parts})
        return ended(store, out)


def _tell_missing(store: Store, cuts: set[int]) -> None:
    """Say which runs no folder had."""
    missing = {(chunk.key, chunk.start) for chunk in store.missing()}
    if not missing:
        return
    lacks = store.outline.due - store.done
    text = f"turnproof: {lacks:,} of {store.outline.due:,} runs are in none of these folders"
    if len(cuts) == 1:
        of = cuts.pop()
        chunks = enumerate(store.outline.ranges())
        shards = {place % of + 1 for place, chunk in chunks if (chunk.key, chunk.start) in missing}
        text += f": they are of shard {', '.join(f'{number}/{of}' for number in sorted(shards))}"
    murmur(f"{text}.")
