"""A whole campaign, read back from its store: what every output file is written from."""

from __future__ import annotations

from collections.abc import Iterator

from reports.campaign import Record
from reports.store import Store
from reports.tally import Tally


class Book:
    """What a campaign came to. Equal campaigns make equal books, however their runs were made and put together.

    ``rows`` are the selected ones in the order of the sweep, ``designs`` the digests of their designs, ``version``
    that of the bench; ``tally`` holds all counts.

    Args:
        store: where the records are.
        interrupted: whether the user stopped what is not complete.
    """

    def __init__(self, store: Store, interrupted: bool = False) -> None:
        self._store = store
        self.outline = store.outline
        self.version = store.outline.version
        self.rows = store.outline.selection.rows
        self.designs = {row.name: row.design for row in store.outline.rows}
        self.tally = Tally(store.outline, interrupted)
        for record in self.records():
            self.tally.add(record)

    def records(self) -> Iterator[Record]:
        """Every run, in the order of the sweep."""
        return self._store.records()
