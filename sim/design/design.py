"""The design in force, as a value."""

from __future__ import annotations

import hashlib
import inspect
import pkgutil
from collections.abc import Callable
from importlib import import_module
from typing import Any

import msgspec

import sim.design
from sim.design.limits import Limits
from sim.rule import Rule


class Design(msgspec.Struct, frozen=True):
    """Named rules and limits.

    ``replaced`` pairs a rule's name with what answers in its place: empty for the seeds' own design. A mutant is
    another value of this type.
    """

    name: str = "seed"
    limits: Limits = Limits()
    replaced: tuple[tuple[str, Callable[..., Any]], ...] = ()

    def replacing(self, rule: Rule[..., Any], answer: Callable[..., Any], name: str = "") -> Design:
        """The same design with another answer to one rule."""
        others = tuple(pair for pair in self.replaced if pair[0] != rule.name)
        return Design(name or f"{self.name}-{rule.name}", self.limits, (*others, (rule.name, answer)))

    def digest(self) -> str:
        """The identity of the design: 12 hex digits over every rule's text and every limit."""
        text = [f"{rule.name} {_text(rule.answer)}" for rule in catalogue().values()]
        text += [f"{name} {_text(answer)}" for name, answer in sorted(self.replaced)]
        text.append(repr(msgspec.to_builtins(self.limits)))
        return hashlib.sha256("\n".join(text).encode()).hexdigest()[:12]


def _text(answer: Callable[..., Any]) -> str:
    """What a rule's answer depends on: its source, and the values that it was made with."""
    made_with = [repr(cell.cell_contents) for cell in getattr(answer, "__closure__", None) or ()]
    return " ".join([inspect.getsource(answer), *made_with])


def catalogue() -> dict[str, Rule[..., Any]]:
    """Every rule of the design by name, in order of name."""
    rules: dict[str, Rule[..., Any]] = {}
    for module in pkgutil.iter_modules(sim.design.__path__):
        for value in vars(import_module(f"sim.design.{module.name}")).values():
            if isinstance(value, Rule):
                rules[value.name] = value
    return dict(sorted(rules.items()))


SEED = Design()
"""Both seeds, with the real limits."""

SMALL = Design(
    "seed-small",
    Limits(segment=64, segments_per_page=2, chunk=32, write=32, process_buffer=256, pipe=64, reread=256),
)
"""The seeds' rules with small sizes, so that a hundred bytes of output cross every boundary. Every time is real."""

SCALED = Design(
    "seed-scaled",
    msgspec.structs.replace(SMALL.limits, status_poll=500, worker_poll=500, publication_poll=500),
)
"""The same for sweeps, with fewer looks at what runs: a look changes nothing. Every other time is real."""
