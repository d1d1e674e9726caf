"""What a rule of the design is, and the seam through which every rule is consulted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Rule(Generic[P, R]):
    """One decision of the design: a pure function with its citation and what goes wrong without it.

    ``name`` is ``theme.function``; ``cites`` names seed and section, as "003 Identity", or the part of the behaviour
    reference that decides where both seeds are silent.
    """

    __slots__ = ("answer", "cites", "name", "without")

    def __init__(self, name: str, cites: str, without: str, answer: Callable[P, R]) -> None:
        self.name = name
        self.cites = cites
        self.without = without
        self.answer = answer

    @property
    def says(self) -> str:
        """The rule in a sentence or two: its docstring."""
        return " ".join((self.answer.__doc__ or "").split())

    def __repr__(self) -> str:
        return f"<rule {self.name}>"


def rule(cites: str, *, without: str) -> Callable[[Callable[P, R]], Rule[P, R]]:
    """Make a pure function a named rule of the design."""

    def name_it(answer: Callable[P, R]) -> Rule[P, R]:
        theme = answer.__module__.rsplit(".", 1)[-1]
        return Rule(f"{theme}.{answer.__name__}", cites, without, answer)

    return name_it


class Decide(Protocol):
    """The recording seam: asks the design in force what it says, and the run remembers that it was asked."""

    def __call__(self, rule: Rule[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """The answer of the design in force."""
        ...
