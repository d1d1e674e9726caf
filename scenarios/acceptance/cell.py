"""What every part of the matrix is made of: the path and profile of a Session, its calls, and rows with a group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

import msgspec
from msgspec.structs import replace

from scenarios.acceptance.texts import PLACES
from scenarios.row import Promise, Row
from sim.design import SCALED, Design
from sim.protocol import SAME_HOST, SHELL_1, SHELL_2, Definition, ModelOutput, ToolCall
from sim.scenario import Aside, Program, Scenario, SessionPlan, Turn, calls, says, shell, write_file

DONE = says("done")
FIELDS = ("command", "description")
PATIENCE_MS = 40_000
"""The timeout of each call: a lost start is looked for 100 s, longer than a pause."""


class Cell(msgspec.Struct, frozen=True):
    """One capture path and one profile. ``capture_bytes`` selects the path as a Session's definition does."""

    path: str
    profile: str
    capture_bytes: int = 0

    @property
    def name(self) -> str:
        """How it stands in the names of rows: path, and number of the profile."""
        return f"{self.path}-{self.profile.rpartition('/')[2]}"

    @property
    def definition(self) -> Definition:
        """As what its Sessions are opened."""
        return Definition(self.profile, SAME_HOST, self.capture_bytes)

    def session(
        self,
        *turns: Turn,
        name: str = "a",
        after: str = "",
        asides: tuple[Aside, ...] = (),
    ) -> SessionPlan:
        """A Session on the Workspace that all share."""
        return SessionPlan(name, "w", turns, after, (self.definition,), asides)

    def alone(self, *answers: ModelOutput, strict: bool = False) -> Scenario:
        """One Session, one turn."""
        return Scenario("", (self.session(Turn(answers)),), strict=strict)


PATHS: Mapping[str, int] = MappingProxyType({"local": 0})
"""The capture paths that are played, with the quota in the object store by which a definition selects them."""

CELLS = tuple(Cell(path, profile, size) for path, size in PATHS.items() for profile in (SHELL_1, SHELL_2))


# --- calls


def runs(call: str, command: str, **more: object) -> ToolCall:
    """A Shell call that is looked for long enough."""
    return shell(call, command, timeout=PATIENCE_MS, **more)


def ill(field: str, shape: str, place: str = "middle", call: str = "call-1") -> ToolCall:
    """A Shell call with this malformed shape in this place of this field."""
    text = PLACES[place].format(shape)
    return runs(call, text) if field == "command" else runs(call, "make", description=text)


def write(call: str) -> ToolCall:
    """A valid Write beside it."""
    return write_file(call, "notes.txt", "one")


MAKE, TEST = calls(runs("call-8", "make")), calls(runs("call-9", "make test"))


# --- rows


class Entry(msgspec.Struct, frozen=True):
    """A row before it is entered: ``group`` names those that must have its skeleton, and is empty for none."""

    row: Row
    group: str = ""


def row(
    name: str,
    why: str,
    scenario: Scenario,
    promise: Promise,
    *faults: str,
    cites: str,
    cases: tuple[str, ...] = (),
    design: Design = SCALED,
    programs: tuple[Program, ...] = (),
) -> Row:
    """A row of the matrix; its test is named by the key before the first hyphen of its name."""
    scenario = replace(scenario, name=name, programs=programs)
    key = name.partition("-")[0]
    return Row(name, why, scenario, promise, cites, cases, faults, design=design, evidence=key)


def entered(entries: Iterable[Entry]) -> Iterator[Row]:
    """The rows: of each group the first is swept for all, and a row without a group is played as written."""
    first: dict[str, str] = {}
    for entry in entries:
        if not entry.group:
            yield replace(entry.row, swept=False)
            continue
        name = first.setdefault(entry.group, entry.row.name)
        yield replace(entry.row, like="" if name == entry.row.name else name)


REFUSED = Promise(("completed after refusal",), 0, 0, 2, 0)
"""A refused batch, and a model that goes on with text: nothing was acquired, started or run."""
CORRECTED = Promise(("completed after refusal",), 1, 1, 3, 1)
"""A refused batch and its correction, which runs exactly once."""
