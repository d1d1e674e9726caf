"""The file tools of a profile: which calls can run, and what the model is told of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType

from sim.design.admission import fields_of
from sim.design.limits import Limits
from sim.design.settlement import fits_record
from sim.protocol import EDIT, GLOB, READ, WRITE, WRITING, Envelope, Response, ToolCall
from sim.rule import rule

FIELDS: Mapping[str, tuple[frozenset[str], frozenset[str]]] = MappingProxyType(
    {
        READ: (frozenset({"file_path"}), frozenset({"offset", "limit"})),
        WRITE: (frozenset({"file_path", "content"}), frozenset()),
        EDIT: (frozenset({"file_path", "old_string", "new_string"}), frozenset({"replace_all"})),
        GLOB: (frozenset({"pattern"}), frozenset({"path"})),
    }
)
"""The arguments that each file tool needs, and those that it takes beside."""
TEXTS = frozenset({"file_path", "content", "old_string", "new_string", "pattern", "path"})


@rule("behaviour §2.4; RC-04", without="one bad argument of a file tool ends the turn, or stops the siblings")
def call_error(call: ToolCall) -> str:
    """A file call with wrong arguments, or a path outside of the Workspace, is refused alone; its siblings run."""
    needed, optional = FIELDS.get(call.name, (frozenset[str](), frozenset[str]()))
    arguments = fields_of(call)
    if arguments is None:
        return f"The arguments of {call.name} must be an object."
    if missing := sorted(needed - set(arguments)):
        return f"{call.name} needs {', '.join(missing)}."
    if unknown := set(arguments) - needed - optional:
        return f"{call.name} does not take {len(unknown)} of the given arguments."
    if wrong := sorted(name for name in TEXTS & set(arguments) if not isinstance(arguments[name], str)):
        return f"{call.name}: {', '.join(wrong)} must be text."
    path = str(arguments.get("file_path", arguments.get("path", "")))
    if path.startswith(("/", "\\")) or ".." in path.split("/"):
        return f"{call.name} takes a path relative to the Workspace, and inside it."
    return ""


@rule("behaviour §1.12", without="a worker takes a payload that names no file tool for one that does")
def is_file_tool(tool: str) -> bool:
    """By v2 a worker runs the file tools, and nothing else."""
    return tool in FIELDS


@rule("behaviour §2.3", without="a file is overwritten of which no earlier state can be named")
def files_written(calls: tuple[ToolCall, ...]) -> tuple[str, ...]:
    """The files that the calls of a batch are going to change, for the file history; none of a call that is refused."""
    changing = [call for call in calls if call.name in WRITING and not call_error.answer(call)]
    return tuple(dict.fromkeys(str((fields_of(call) or {})["file_path"]) for call in changing))


@rule("behaviour §2.3", without="the model cannot see what a file tool answered, or that it failed")
def tells(call: str, name: str, envelope: Envelope) -> Response:
    """The model sees the tool's own answer, and whether it failed."""
    return Response(call, name, envelope.preview, error=envelope.status != "success")


@rule(
    "behaviour §7 guard 112", without="a turn of file tools is blocked for a file that is too large to show"
)
def bounded(response: Response, status: str, limits: Limits) -> Response:
    """An answer that fits no record is left out: the model is told so, and how the call ended."""
    if fits_record(response.text, limits):
        return response
    omission = {
        "error": "The output is too large to show.",
        "executionStatus": status,
        "outputOmitted": True,
    }
    return Response(response.call, response.name, json.dumps(omission), response.error)
