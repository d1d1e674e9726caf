"""How runs travel in a page: columns of numbers over shared texts, and parcels that are opened one by one."""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Iterable, Sequence
from typing import Any

from faults.fates import VOCABULARY
from faults.plans import FORMAT
from faults.sweeps import POLLS
from reports.bench import PASSED
from reports.campaign import AS_BEFORE, MEANING, OTHERWISE, TROUBLE, WRONG, Record
from reports.evidence import NOT_COMMITTED
from reports.outline import Outline
from reports.sometimes import FORMS
from sim.text import show

GRAVEST = (WRONG, TROUBLE, OTHERWISE, AS_BEFORE)
"""The marks, the gravest first: a cell shows that of its gravest run."""

LEVEL = 9
"""How hard zlib tries; the level is part of the bytes."""

NO_FATE = -1


def pack(text: str) -> str:
    """ASCII text as Base64 of raw deflate, which is what a browser opens."""
    squeeze = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return b64encode(squeeze.compress(text.encode("ascii")) + squeeze.flush()).decode("ascii")


def plans(records: Iterable[Record]) -> str:
    """The plans of a row's runs, in their order."""
    return _json([show(str(json.loads(record.line)["plan"])) for record in records])


def trails(records: Iterable[Record]) -> str:
    """The trails of a row's runs, in their order; null where the bench kept none."""
    return f"[{','.join(record.trail or 'null' for record in records)}]"


class Index:
    """What is counted and searched: for each row a column of steps, fates, marks and endings, a number for each run."""

    def __init__(self, outline: Outline) -> None:
        self._bench = outline.bench
        self._steps, self._endings, self._says = _Texts(), _Texts(), _Texts()
        self._rows: list[dict[str, Any]] = []

    def add(self, runs: Sequence[Record]) -> None:
        """Enter the runs of a row, in their order."""
        row = runs[0].row
        title = self._bench.rows()[row]
        self._rows.append(
            {
                "name": show(row),
                "why": show(title.why),
                "cites": show(title.cites),
                "cases": [show(case) for case in title.cases],
                "design": self._bench.design(row),
                "step": [self._steps.number(record.step) for record in runs],
                "fate": [FORMS.index(record.fate) if record.fate else NO_FATE for record in runs],
                "mark": "".join(str(GRAVEST.index(record.mark)) for record in runs),
                "ending": [self._endings.number(record.ending) for record in runs],
                "wrong": {
                    number: [record.status, *map(self._says.number, record.says)]
                    for number, record in enumerate(runs)
                    if record.status != PASSED
                },
            }
        )

    def text(self) -> str:
        """All of it."""
        return _json(
            {
                "format": FORMAT,
                "marks": [[mark, MEANING[mark]] for mark in GRAVEST],
                "fates": [[form, VOCABULARY[form.removesuffix("!")].means] for form in FORMS],
                "polls": sorted(POLLS),
                "silent": NOT_COMMITTED,
                "steps": self._steps.all(),
                "endings": self._endings.all(),
                "says": self._says.all(),
                "rows": self._rows,
            }
        )


class _Texts:
    """Each text once, with a number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        return self._numbers.setdefault(show(text), len(self._numbers))

    def all(self) -> list[str]:
        return list(self._numbers)


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))
