"""What happened at least once in a sweep. What never did is not exercised: that nothing failed proves nothing of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import TypeAlias

import msgspec

from faults.fates import VOCABULARY
from reports.order import last_steps
from sim.design.order import ORDER
from sim.history import Decided, History
from sim.points import Plan

Answer: TypeAlias = bool | int | str | None

FORMS = tuple(str(form) for kind in VOCABULARY.values() for form in kind.forms())
"""Every fate, transient and sticky."""

SHOWN = ("bool", "int", "str", "str | None")
"""The kinds of answers that a history shows; of any other it shows only that the rule was consulted."""

TWO = 2
"""So many different answers of a rule are enough to know: every rule that answers yes or no has two."""


class Seen(msgspec.Struct, frozen=True):
    """What a run showed: the answers of rules, the fates that landed, and its last steps."""

    answers: frozenset[tuple[str, Answer]] = frozenset()
    fates: frozenset[str] = frozenset()
    last: tuple[str, ...] = ()


NOTHING = Seen()

NOWHERE = "none: nobody held a Workspace"
"""The last step of a run that did not come as far as the first."""


def seen(plan: Plan, history: History) -> Seen:
    """What a run showed."""
    decided = frozenset((event.rule, event.verdict) for event in history.events if type(event) is Decided)
    landed = frozenset(str(each.fate) for each in plan.strikes if str(each) not in history.missed)
    return Seen(decided, landed, last_steps(history.events))


class Witness:
    """Hears what runs showed, one after the other, and tells of each thing once."""

    def __init__(self) -> None:
        self._answers: set[tuple[str, Answer]] = set()
        self._fates: set[str] = set()
        self._told: Counter[str] = Counter()

    def news(self, seen: Seen) -> Seen:
        """What this run showed that none before it had."""
        unheard = sorted(seen.answers - self._answers, key=in_order)
        fresh = frozenset(pair for pair in unheard if self._is_wanted(pair[0]))
        fates = seen.fates - self._fates
        self._answers |= fresh
        self._fates |= fates
        return Seen(fresh, fates, seen.last)

    def _is_wanted(self, rule: str) -> bool:
        """Whether another answer of this rule is worth telling; then it counts as told."""
        if self._told[rule] == TWO:
            return False
        self._told[rule] += 1
        return True


def in_order(pair: tuple[str, Answer]) -> tuple[str, str, str]:
    """By what to sort answers of any kinds."""
    rule, answer = pair
    return rule, type(answer).__name__, str(answer)


class Sometimes:
    """What a whole sweep showed. ``last`` counts the runs by the step of the order at which they stood at the end.

    Args:
        rules: every rule of the design, with the type of its answer.
    """

    def __init__(self, rules: Mapping[str, str]) -> None:
        self.rules = rules
        self.answers: dict[str, set[Answer]] = defaultdict(set)
        self.fates: set[str] = set()
        self.last: Counter[str] = Counter()

    def add(self, seen: Seen) -> None:
        """Count what one run showed."""
        for rule, answer in seen.answers:
            self.answers[rule].add(answer)
        self.fates |= seen.fates
        self.last.update(seen.last or (NOWHERE,))

    @property
    def in_a_line(self) -> str:
        """How much of what can happen did happen."""
        shown = [rule for rule, kind in self.rules.items() if kind in SHOWN]
        otherwise = sum(len(self.answers.get(rule, ())) >= TWO for rule in shown)
        parts = [
            f"{len(self.rules) - len(self._unasked())} of {len(self.rules)} rules consulted",
            f"{otherwise} of {len(shown)} answered more than one way",
            f"{len(FORMS) - len(self._never_landed())} of {len(FORMS)} fates landed",
            f"{len(ORDER) - len(self._never_last())} of {len(ORDER)} steps were a run's last",
        ]
        return f"sometimes: {', '.join(parts)}"

    def never(self) -> Iterator[str]:
        """What did not happen, a sentence for each kind of thing."""
        kinds = (
            ("Rules of the design that no run consulted", self._unasked()),
            ("Rules that never said yes", self._never_said(True)),
            ("Rules that never said no", self._never_said(False)),
            ("Rules that always answered alike", self._alike()),
            ("Fates that struck nowhere", self._never_landed()),
            ("Steps of the order that were no run's last", self._never_last()),
        )
        yield from (f"{what}: {', '.join(which)}." for what, which in kinds if which)

    def _unasked(self) -> list[str]:
        return [rule for rule in self.rules if rule not in self.answers]

    def _never_said(self, answer: bool) -> list[str]:
        judged = [rule for rule, kind in self.rules.items() if kind == "bool" and rule in self.answers]
        return [rule for rule in judged if answer not in self.answers[rule]]

    def _never_landed(self) -> list[str]:
        return [form for form in FORMS if form not in self.fates]

    def _never_last(self) -> list[str]:
        return [step for step in ORDER if not self.last[step]]

    def _alike(self) -> list[str]:
        judged = [rule for rule, kind in self.rules.items() if kind in SHOWN and kind != "bool"]
        return [rule for rule in judged if len(self.answers.get(rule, ())) == 1]
