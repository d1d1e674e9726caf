"""The bench as its reports see it: rows that can be played and judged. Tests put another in its place."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

import msgspec

from reports.databases import MEMORY, database
from reports.trouble import Trouble
from scenarios.evidence import Demand
from scenarios.trace.sentence import Matrix
from sim.checks.check import Finding
from sim.history import History
from sim.outcome import Outcome
from sim.points import NO_FAULTS, Plan, Sighting, Watcher
from sim.text import show

PASSED, FINDING, MISSED, BROKEN = "passed", "finding", "missed", "broken"
"""What a run can come to: as promised; not; a strike never landed; the bench itself failed."""
UNACCEPTED = "not accepted (expected)"
"""The same as promised, where the seed says that acceptance fails: counted apart (000 §6)."""
AS_PROMISED = (PASSED, UNACCEPTED)


class Judged(msgspec.Struct, frozen=True):
    """What a run came to. ``ending`` says in words how the world was left; ``history`` is the history's digest.

    ``found`` is the same ending in fields, where the bench has it.
    """

    status: str
    ending: str
    findings: tuple[Finding, ...]
    history: str
    found: Outcome | None = None


class Card(Protocol):
    """What a row says of itself."""

    @property
    def name(self) -> str:
        """The name by which it is selected."""
        ...

    @property
    def theme(self) -> str:
        """The group of rows that it belongs to, by which it is selected too."""
        ...

    @property
    def cases(self) -> Collection[str]:
        """The field cases that it plays."""
        ...

    @property
    def why(self) -> str:
        """Why it is there, in a sentence."""
        ...

    @property
    def cites(self) -> str:
        """Where its promise is written."""
        ...

    @property
    def evidence(self) -> str:
        """The key of the test of 000 §6 to which it belongs; empty for none."""
        ...

    @property
    def plan(self) -> Plan:
        """The faults that belong to it."""
        ...

    @property
    def sweepable(self) -> bool:
        """Whether single faults are struck on top of it."""
        ...


class Bench(Protocol):
    """Rows by name, each of which can be played under a plan and judged."""

    def rows(self) -> Mapping[str, Card]:
        """Every row, in the order in which a sweep takes them."""
        ...

    def take(self, path: str) -> str:
        """Make a scenario file a row as well; its name. Trouble: the file cannot be read, or is no scenario."""
        ...

    def rules(self) -> Mapping[str, str]:
        """The name of every rule of the design, with the type of its answer."""
        ...

    def traced(self) -> tuple[Matrix, ...]:
        """The sentences of each seed, with the rows that carry them."""
        ...

    def demands(self) -> tuple[Demand, ...]:
        """The seed's table of evidence, to whose demands rows belong."""
        ...

    @property
    def named(self) -> str:
        """The name of the design that is applied to every row; ``seed`` leaves each its own."""
        ...

    @property
    def store(self) -> str:
        """The kind of database that runs are played on, of :data:`reports.databases.KINDS`."""
        ...

    def on(self, store: str) -> Bench:
        """The same bench on another kind of database."""
        ...

    def under(self, design: str) -> Bench:
        """The same bench with this design applied to every row. Trouble: no design has this name."""
        ...

    def written_under(self, row: str, digest: str) -> str:
        """The name of the first design under which the row's has this digest; empty when none has."""
        ...

    def design(self, row: str) -> str:
        """The digest of the design that the row is played under."""
        ...

    def play(self, row: str, plan: Plan, watcher: Watcher | None = None) -> History:
        """One run of the row."""
        ...

    def judge(self, row: str, plan: Plan, history: History) -> Judged:
        """What that run came to."""
        ...


def read_file(path: str) -> tuple[str, str]:
    """The name that a scenario file has as a row, and its text. Trouble: it cannot be read, or stand in a line."""
    if ":" in path:
        raise Trouble(
            f"'{show(path)}': the path of a scenario file must have no colon; name it from a folder near it."
        )
    try:
        return Path(path).as_posix(), Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise Trouble(f"Cannot read the scenario file '{show(path)}': {error.strerror or error}.") from None
    except UnicodeDecodeError as error:
        raise Trouble(f"'{show(path)}' is no scenario: it is not UTF-8 from byte {error.start} on.") from None


OWN = "seed"
"""The design that leaves each row its own."""


@lru_cache(maxsize=8)
def _rows_under(design: str) -> Mapping[str, Any]:
    """Every row of the acceptance matrix under a design."""
    from scenarios.rows import ROWS

    return ROWS if design == OWN else {name: _under(design, row) for name, row in ROWS.items()}


def _under(design: str, row: Any) -> Any:
    """A row with a design applied to its own."""
    from sim.design.designs import DESIGNS

    return msgspec.structs.replace(row, design=DESIGNS[design].of(row.design))


class House:
    """The real bench: the rows of :mod:`scenarios`, played in the simulated world, and scenario files beside them."""

    def __init__(
        self, named: str = OWN, texts: Mapping[str, str] = MappingProxyType({}), store: str = MEMORY
    ) -> None:
        self.named = named
        self.store = store
        self._digests: dict[Any, str] = {}
        self._texts = dict(texts)

    def __getstate__(self) -> dict[str, Any]:
        """What another process needs: the files. A digest is computed again there, where the code may be another."""
        return {"named": self.named, "store": self.store, "_digests": {}, "_texts": self._texts}

    def rows(self) -> Mapping[str, Any]:
        """Every row of the acceptance matrix, and every file that was taken."""
        rows = _rows_under(self.named)
        if not self._texts:
            return rows
        from scenarios.files import row

        taken = {name: _under(self.named, row(text, name)) for name, text in self._texts.items()}
        return {**rows, **taken}

    def under(self, design: str) -> House:
        """The same rows and files, each under this design applied to its own."""
        from faults.plans import nearest
        from sim.design.designs import DESIGNS

        if design not in DESIGNS:
            raise Trouble(
                f"Unknown design '{show(design)}'.{nearest(design, DESIGNS)} "
                "`turnproof list designs` names them all."
            )
        return House(design, self._texts, self.store)

    def on(self, store: str) -> House:
        """The same rows and files, under the same design, on this kind of database."""
        return House(self.named, self._texts, store)

    def written_under(self, row: str, digest: str) -> str:
        """The design that is in force, or else the first that gives the row this digest."""
        from sim.design.designs import DESIGNS

        names = (self.named, *DESIGNS)
        return next((name for name in names if House(name, self._texts).design(row) == digest), "")

    def take(self, path: str) -> str:
        """Read a scenario file. Its name as a row is the path as it was written."""
        from scenarios.files import problems

        name, text = read_file(path)
        if wrong := problems(text):
            raise Trouble(
                "\n".join([f"{show(name)} is no scenario:", *(f"{show(path)}:{each}" for each in wrong)])
            )
        self.hold(name, text)
        return name

    def hold(self, name: str, text: str) -> None:
        """Make the text of a scenario file a row; it is right already."""
        self._texts[name] = text

    def rules(self) -> Mapping[str, str]:
        """The catalogue of the design."""
        from sim.design.design import catalogue

        return {name: rule.answer.__annotations__["return"] for name, rule in catalogue().items()}

    def traced(self) -> tuple[Matrix, ...]:
        """The trace matrices of :mod:`scenarios.trace`."""
        from scenarios.trace import MATRICES

        return tuple(MATRICES.values())

    def demands(self) -> tuple[Demand, ...]:
        """The table of :mod:`scenarios.evidence`."""
        from scenarios.evidence import TABLE

        return TABLE

    def design(self, row: str) -> str:
        """The digest of the row's design; of a file, of all that it says."""
        design = self.rows()[row].design
        if design not in self._digests:
            self._digests[design] = design.digest()
        digest = self._digests[design]
        if row not in self._texts:
            return digest
        return hashlib.sha256(f"{digest}\n{self._texts[row]}".encode()).hexdigest()[:12]

    def play(self, row: str, plan: Plan, watcher: Watcher | None = None) -> History:
        """One run in the simulated world."""
        from sim.run import run

        card = self.rows()[row]
        return run(card.scenario, plan, card.design, watcher, database(self.store))

    def judge(self, row: str, plan: Plan, history: History) -> Judged:
        """The verdict of the row's promise, the loss table and every check."""
        from scenarios.judge import verdict

        found = verdict(self.rows()[row], plan, history)
        return Judged(found.status, found.outcome, tuple(found.findings), found.history, found.found)


def sightings(bench: Bench, row: str, plan: Plan = NO_FAULTS) -> tuple[list[Sighting], History]:
    """Every point that the row reaches under a plan, in order, and the run that showed them."""
    seen: list[Sighting] = []
    history = bench.play(row, plan, seen.append)
    return seen, history
