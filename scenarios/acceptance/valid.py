"""Valid text: its bytes and its digest are the same from the model to the process (000 §6 Unicode compatibility)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from scenarios.acceptance.cell import CELLS, DONE, FIELDS, Entry, row, runs
from scenarios.acceptance.texts import COMPATIBLE
from scenarios.base import completes
from sim.protocol import SHELL, ToolCall
from sim.scenario import calls


def every() -> Iterator[Entry]:
    """Each valid text in each field, whole and as a model may escape it; no description, and an empty one."""
    for cell, field, name in product(CELLS, FIELDS, COMPATIBLE):
        text = f"echo {COMPATIBLE[name]}"
        call = runs("call-1", text) if field == "command" else runs("call-1", "make", description=text)
        yield Entry(
            row(
                f"u2-{cell.name}-{field}-{name}",
                f"{name} in {field} runs as it is: the same bytes, the same digest",
                cell.alone(calls(call), DONE),
                completes(1, 2),
                cites="000 §3, §6",
                cases=("RC-08", "RC-62") if name in ("emoji", "extension-b", "mathematical") else ("RC-08",),
            ),
            f"valid {cell.path}",
        )
    for cell, (name, arguments) in product(CELLS, WRITTEN.items()):
        yield Entry(
            row(
                f"u2-{cell.name}-{name}",
                f"{name.replace('-', ' ')} is valid",
                cell.alone(calls(ToolCall("call-1", SHELL, arguments)), DONE),
                completes(1, 2),
                cites="000 §3",
            ),
            f"valid {cell.path}",
        )


WRITTEN = {
    "no-description": '{"command": "make", "timeout": 40000}',
    "empty-description": '{"command": "make", "timeout": 40000, "description": ""}',
    "blank-description": '{"command": "make", "timeout": 40000, "description": "  "}',
    "raw-emoji": '{"command": "echo \N{GRINNING FACE}", "timeout": 40000}',
    "upper-case-escapes": '{"command": "echo \\uD83D\\uDE00", "timeout": 40000}',
    "escaped-ascii": '{"command": "\\u006d\\u0061ke", "timeout": 40000}',
    "keys-in-another-order": '{"timeout": 40000, "description": "\\u2028", "command": "make"}',
}
"""Arguments as a model may write them."""
