"""What the bench's names mean: rows, fates, checks, rules of the design, and what stands in a point."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from textwrap import fill
from typing import Any

from faults.fates import ANY, TIME, VOCABULARY, Kind
from faults.plans import nearest, write
from reports.bench import Bench
from reports.trouble import Trouble
from sim.effects import Deed, Request, Transaction
from sim.text import show

OBSERVED = "observed"
"""The name under which the published tables stand beside what the simulation shows."""
_DOORS = {ANY: "whatever a process asks", TIME: "a moment of an actor's life"}


def explain(bench: Bench, name: str, width: int) -> Iterator[str]:
    """Everything that goes by this name.

    Raises:
        Trouble: nothing does.
    """
    found = [entry for kind in (_row, _fate, _check, _rule, _label, _observed) for entry in kind(bench, name)]
    if not found:
        raise Trouble(
            f"'{show(name)}' is no row, fate, check, rule or label of a point.{nearest(name, names(bench))} "
            "`turnproof list rows`, `fates`, `checks` and `rules` name them all."
        )
    for entry in found:
        yield from (fill(show(line), width, subsequent_indent="  ", break_on_hyphens=False) for line in entry)


def names(bench: Bench) -> list[str]:
    """Every name that can be explained."""
    return [*bench.rows(), *VOCABULARY, *checks(), *rules(), *labels(), OBSERVED]


def checks() -> Mapping[str, Any]:
    """Every check by name."""
    from sim.checks import CHECKS

    return {check.name: check for check in CHECKS}


def rules() -> Mapping[str, Any]:
    """Every rule of the design by name."""
    from sim.design.design import catalogue

    return catalogue()


def labels() -> Mapping[str, type]:
    """Every request, commit and deed by the name that stands in a point, without what may follow its first dot."""
    import_module("sim.run")  # with it every actor defines its transactions and deeds
    return {kind.__name__: kind for base in (Request, Transaction, Deed) for kind in _below(base)}


def _below(base: type) -> Iterator[type]:
    for kind in base.__subclasses__():
        if kind.__module__.startswith("sim."):
            yield kind
        yield from _below(kind)


def _row(bench: Bench, name: str) -> Iterator[list[str]]:
    card = bench.rows().get(name)
    if card is not None:
        cases = f" It plays {', '.join(card.cases)}." if card.cases else ""
        own = f" Its own faults: {write(card.plan)}." if card.plan.strikes else ""
        yield [f"row {name} ({card.cites})", f"{card.why}.{cases}{own}"]


def _fate(bench: Bench, name: str) -> Iterator[list[str]]:
    kind: Kind | None = VOCABULARY.get(name.removesuffix("!"))
    if kind is not None:
        sticky = (
            f"Its sticky form, {kind.name}!, befalls every later attempt at the same operation too, and counts as one "
            "fault."
            if kind.sticky
            else "It has no sticky form."
        )
        strikes = f"Strikes at {_DOORS.get(kind.door, f'a {kind.door}')}."
        yield [f"fate {kind.name}", kind.means, f"Story: {kind.story}", strikes, sticky]


def _check(bench: Bench, name: str) -> Iterator[list[str]]:
    check = checks().get(name)
    if check is not None:
        yield [f"check {name} ({check.cites})", check.says]


def _rule(bench: Bench, name: str) -> Iterator[list[str]]:
    rule = rules().get(name)
    if rule is not None:
        yield [f"rule {name} ({rule.cites})", rule.says, f"Without it: {rule.without.rstrip('.')}."]


def _label(bench: Bench, name: str) -> Iterator[list[str]]:
    kind = labels().get(name.partition(".")[0])
    if kind is not None:
        door = "call" if issubclass(kind, Request) else "commit" if issubclass(kind, Transaction) else "act"
        yield [f"label {name} of a {door}", " ".join((kind.__doc__ or "").replace("``", "").split())]


def _observed(bench: Bench, name: str) -> Iterator[list[str]]:
    if name == OBSERVED:
        from scenarios.observed import compare, tally

        compared = compare()
        count = tally(compared)
        yield [
            f"observed: {count.cells} published cells, {count.mismatches} shown otherwise by the simulation"
        ]
        for cell in compared:
            mark = "==" if cell.agrees else "--"
            shown = "" if cell.agrees else f", simulated {cell.simulated} ({cell.reason})"
            yield [f"{mark} {cell.case} {cell.row}, {cell.column}: {cell.published}{shown}"]
