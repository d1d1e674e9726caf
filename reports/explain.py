"""What the bench's names mean: rows, fates, checks, rules, sentences of a seed, and what stands in a point."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from textwrap import fill
from typing import Any

from faults.fates import ANY, TIME, VOCABULARY, Kind
from faults.plans import nearest, write
from reports import sentences
from reports.bench import Bench
from reports.campaign import AS_BEFORE, OTHERWISE, TROUBLE, WRONG
from reports.trouble import Trouble
from sim.design.designs import DESIGNS
from sim.design.order import ORDER
from sim.effects import Deed, Request, Transaction
from sim.text import show

OBSERVED = "observed"
"""The name under which the published tables stand beside what the simulation shows."""
WORDS: Mapping[str, str] = {
    AS_BEFORE: "of a run: ended as without the fault. In a timeline: asked and answered.",
    OTHERWISE: "of a run: ended otherwise, as promised. In a timeline: became a fact.",
    WRONG: "of a run: a finding. In a timeline: refused or failed.",
    TROUBLE: "of a run: no verdict; the fault never landed, or the bench failed. In a timeline: fault, death, doubt.",
    "passed": "every check, the promise or the loss table, and the second Session had nothing to object to.",
    "not accepted (expected)": "all is as promised, and acceptance fails as the seed says it must; counted apart.",
    "finding": "something objected; the finding names what, when, and comes with a line that plays the run again.",
    "missed": "a fault never met its point. It is no pass: a fault that nobody met proves nothing.",
    "broken": "the bench itself failed in this run, so there is no verdict on the design.",
    "sometimes": "what happened at least once in a sweep: rules consulted and answering more than one way, fates that "
    "landed, steps that were a run's last. What never happened is not exercised, and summary.md names it.",
    "doubt": "whoever asked got no answer, or none that can be read, and does not know what was done.",
    "completed": "the model had its say; everything is settled and released.",
    "completed after refusal": "the same, after a call or batch was refused and the model went on.",
    "uncorrected": "a limit, or what was in flight, kept the model from correcting a refused batch; its code says so.",
    "cancelled": "ended by the user; the physical end of what had started is admitted.",
    "error": "a plain end: settled, and released when it held the lease.",
    "recovery-blocked": "on doubt: nothing is released, nothing inferred, every later prompt is refused.",
    "not accepted": "the prompt was never admitted.",
    "ran out": "the run was stopped by its horizon or budget; always a finding.",
}
"""Marks, results and endings."""
_DOORS = {ANY: "whatever a process asks", TIME: "a moment of an actor's life"}


def explain(bench: Bench, name: str, width: int) -> Iterator[str]:
    """Everything that goes by this name.

    Raises:
        Trouble: nothing does.
    """
    kinds = (_row, _fate, _check, _rule, _design, _label, _step, _word, _observed)
    found = [entry for kind in kinds for entry in kind(bench, name)]
    traced = sentences.explained(bench, name, width)
    if not found and not traced:
        raise Trouble(
            f"'{show(name)}' is no row, fate, check, rule, design, label of a point, step, mark, ending, seed or "
            "sentence."
            f"{nearest(name, names(bench))} "
            "`turnproof list rows`, `fates`, `checks`, `rules` and `designs` name them all."
        )
    yield from traced
    for entry in found:
        yield from (fill(show(line), width, subsequent_indent="  ", break_on_hyphens=False) for line in entry)
    yield from map(show, _example(bench, name, width))


def names(bench: Bench) -> list[str]:
    """Every name that can be explained."""
    return [
        *bench.rows(),
        *VOCABULARY,
        *checks(),
        *rules(),
        *DESIGNS,
        *labels(),
        *ORDER,
        *WORDS,
        OBSERVED,
        *sentences.names(bench),
    ]


def _example(bench: Bench, name: str, width: int) -> list[str]:
    """A few lines of a real run in which the name shows."""
    from reports import example

    if name in checks():
        return example.of_check(bench, checks()[name], width)
    if name in rules():
        return example.of_rule(bench, name, width)
    if name in ORDER:
        return example.of_step(bench, name, width)
    if name.removesuffix("!") in VOCABULARY:
        return example.of_fate(bench, name.removesuffix("!"), width)
    card = bench.rows().get(name)
    return [] if card is None else example.of_plan(bench, name, card.plan, width)


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
        yield [f"row {name} ({card.cites})", f"{card.why}.{cases}{own}", *sentences.carried_by(bench, name)]


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
        yield [f"check {name} ({check.cites})", check.says, *sentences.carried_by(bench, name)]


def _rule(bench: Bench, name: str) -> Iterator[list[str]]:
    rule = rules().get(name)
    if rule is not None:
        without = f"Without it: {rule.without.rstrip('.')}."
        yield [f"rule {name} ({rule.cites})", rule.says, without, *sentences.carried_by(bench, name)]


def _design(bench: Bench, name: str) -> Iterator[list[str]]:
    named = DESIGNS.get(name)
    if named is not None:
        replaced = [f"{rule.name} answers: {answer.__doc__}" for rule, answer in named.replaces]
        limits = "The limits of each row stay." if named.limits is None else "It brings limits of its own."
        yield [f"design {name} ({named.cites})", named.says, *replaced, limits]


def _label(bench: Bench, name: str) -> Iterator[list[str]]:
    kind = labels().get(name.partition(".")[0])
    if kind is not None:
        door = "call" if issubclass(kind, Request) else "commit" if issubclass(kind, Transaction) else "act"
        yield [f"label {name} of a {door}", " ".join((kind.__doc__ or "").replace("``", "").split())]


def _step(bench: Bench, name: str) -> Iterator[list[str]]:
    if name in ORDER:
        place = ORDER.index(name) + 1
        yield [
            f"step {name}",
            f"Step {place} of {len(ORDER)} of the order of 003: a turn may stop anywhere, not skip.",
        ]


def _word(bench: Bench, name: str) -> Iterator[list[str]]:
    if name in WORDS:
        yield [f"{name}: {WORDS[name]}"]


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
