"""``index.html``: a whole campaign as one page that needs nothing else, neither a network nor a server.

What a reader sees first stands in the page as text. The runs are packed: a column for each thing that is counted and
searched, and for each row a parcel with its plans and one with its trails, which are opened when they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.resources import files
from itertools import groupby
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from faults.fates import VOCABULARY
from reports.book import Book
from reports.campaign import MEANING
from reports.page.parcels import Index, pack, plans, trails
from reports.page.sentences import Seed
from reports.sometimes import FORMS, NOWHERE
from reports.summary import MARKS, not_covered
from reports.tally import Tally
from reports.traced import RESULTS
from reports.trouble import BENCH_ERROR, CLEAN, FINDINGS, INCOMPLETE, INTERRUPTED
from sim.design.order import ORDER
from sim.text import show

SCRIPTS = tuple(
    f"scripts/{name}.js"
    for name in ("page", "matrix", "runs", "trail", "diagram", "walk", "run", "sentences", "start")
)
"""The page's scripts, each of which stands on those before it."""

EXITS = {
    CLEAN: "every run passed",
    FINDINGS: "some runs did not pass",
    BENCH_ERROR: "the bench itself failed, which is no verdict on the design",
    INCOMPLETE: "the sweep was stopped before its end",
    INTERRUPTED: "the sweep was interrupted",
}
"""What the exit code of a campaign means."""


def page(book: Book) -> Iterator[str]:
    """The page of a campaign, piece by piece; the same bytes for the same campaign."""
    templates = environment()
    yield templates.get_template("head.html.j2").render(_told(book), style=own("page.css"))
    index = Index(book.tally.campaign)
    parcel = templates.get_template("parcel.html.j2")
    for place, (_, records) in enumerate(groupby(book.records(), lambda record: record.row)):
        runs = list(records)
        index.add(runs)
        yield parcel.render(name=f"plans-{place}", text=pack(plans(runs)))
        yield parcel.render(name=f"trails-{place}", text=pack(trails(runs)))
    yield parcel.render(name="index", text=pack(index.text()))
    yield templates.get_template("foot.html.j2").render(scripts=map(own, SCRIPTS))


def environment() -> Environment:
    """The templates of this package, which escape whatever they are told."""
    return Environment(
        loader=PackageLoader("reports.page"),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _shown(value: object) -> object:
    """Text as it may reach a person, and then the page, which escapes it; what the page's own files say is no text."""
    return show(value) if type(value) is str else value


def own(name: str) -> str:
    """A file of this package, to stand in the page as it is."""
    return (files("reports.page") / name).read_text("utf-8")


def _told(book: Book) -> Mapping[str, Any]:
    """What the page tells in words and numbers."""
    tally = book.tally
    return {
        "tally": tally,
        "version": book.version,
        "designs": sorted(set(book.designs.values())),
        "exit": EXITS[tally.code],
        "marks": MARKS,
        "meaning": MEANING,
        "forms": FORMS,
        "fates": _fates(tally),
        "steps": [(step, tally.sometimes.last[step]) for step in (*ORDER, NOWHERE)],
        "endings": sorted(tally.endings.items(), key=lambda item: (-item[1], item[0])),
        "never": list(tally.sometimes.never()),
        "not_covered": list(not_covered(tally)),
        "seeds": [Seed(matrix, tally) for matrix in tally.traced.matrices],
        "results": RESULTS,
        "accepted": list(tally.accepted.lines()),
    }


def _fates(tally: Tally) -> list[tuple[str, str, list[int]]]:
    """Every fate in each of its forms, with what it means and how its runs went, mark by mark."""
    return [
        (
            form,
            VOCABULARY[form.removesuffix("!")].means,
            [sum(runs[mark] for (_, fate), runs in tally.cells.items() if fate == form) for mark in MARKS],
        )
        for form in FORMS
    ]
