"""What is going to happen when nothing goes wrong: Sessions, turns, the model's script, the commands' behaviour.

Values only; a scenario is one of the three arguments of a run, beside the plan of faults and the design.
"""

from __future__ import annotations

import json
import re

from sim.protocol import SHELL, STDERR, STDOUT, ModelOutput, ToolCall, Value
from sim.text import has_unpaired, show


class Step(Value, frozen=True, gc=False):
    """One thing a command does."""


class Touch(Step, frozen=True, gc=False):
    """Append a line to a file of the Workspace: an effect that shows when it is repeated."""

    file: str
    line: str


class Print(Step, frozen=True, gc=False):
    """Write bytes to a stream: ``unit`` repeated ``count`` times."""

    stream: str
    unit: bytes
    count: int = 1


class Generate(Step, frozen=True, gc=False):
    """Write ``length`` bytes of the text that ``seed`` names to a stream: output of any size, told in one line."""

    stream: str
    seed: str
    length: int


class Pass(Step, frozen=True, gc=False):
    """Let virtual milliseconds go by."""

    ms: int


class Exit(Step, frozen=True, gc=False):
    """End the process with this code. Steps after it belong to a detached child that still holds the pipes."""

    code: int


class Program(Value, frozen=True, gc=False):
    """What a command does, step by step; it ends with code 0 unless a step says otherwise."""

    command: str
    steps: tuple[Step, ...]


class Turn(Value, frozen=True, gc=False):
    """One prompt and the model's answers to it, one a round.

    ``cancel`` names a milestone at which the user cancels (empty: never), written ``actor:door:label#nth`` with the
    nth such effect of the whole run. ``prompt`` is the id under which the client sends it (empty: a fresh one).
    """

    answers: tuple[ModelOutput, ...]
    text: str = "go"
    cancel: str = ""
    prompt: str = ""


class SessionPlan(Value, frozen=True, gc=False):
    """A Session: its Workspace, its turns in order, and the milestone it waits for before it begins (empty: none)."""

    name: str
    workspace: str
    turns: tuple[Turn, ...]
    after: str = ""


class Scenario(Value, frozen=True, gc=False):
    """What a run plays. Commands without a program of their own do what :func:`usual` says.

    With ``reread`` every owner and worker is killed at the very end, and a fresh reader verifies what is retained.
    """

    name: str
    sessions: tuple[SessionPlan, ...]
    programs: tuple[Program, ...] = ()
    reread: bool = False


def usual(command: str) -> Program:
    """One visible effect, a line on each stream, 120 ms, exit 0."""
    return Program(
        command,
        (
            Touch("effects.log", command),
            Print(STDOUT, b"line of output\n", 6),
            Pass(120),
            Print(STDERR, b"warning\n", 2),
            Exit(0),
        ),
    )


def shell(call: str, command: str, **more: object) -> ToolCall:
    """A model's Shell call with JSON text as arguments; ill-formed text is written as escapes."""
    return ToolCall(call, SHELL, json.dumps({"command": command, **more}))


def says(text: str) -> ModelOutput:
    """A round in which the model answers with text."""
    return ModelOutput(text=text)


def calls(*batch: ToolCall) -> ModelOutput:
    """A round in which the model asks for a batch of calls."""
    return ModelOutput(calls=batch)


NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
"""What a Session and a Workspace may be called: their names stand in addresses and in points."""


class IllFormed(ValueError):
    """A scenario holds a name that is no name, or half a surrogate pair where only well-formed text can travel."""


def refuse_ill_formed(scenario: Scenario) -> None:
    """Prompts, texts and ids must be well-formed; arguments are JSON text, in which escapes can say anything.

    Raises:
        IllFormed: names the text, escaped, and what to write instead.
    """
    for session in scenario.sessions:
        for name in (session.name, session.workspace):
            if not NAME.fullmatch(name):
                raise IllFormed(
                    f"'{show(name)}' names no Session or Workspace: use letters, digits, - and _."
                )
        for turn in session.turns:
            said = [turn.text, turn.prompt, *(answer.text for answer in turn.answers)]
            said += [
                text for answer in turn.answers for call in answer.calls for text in (call.id, call.arguments)
            ]
            wrong = next((text for text in said if has_unpaired(text)), None)
            if wrong is not None:
                raise IllFormed(
                    f"Session {session.name}: '{show(wrong[:40])}' holds an unpaired surrogate; ill-formed text is "
                    "written as an escape in a call's JSON arguments."
                )
