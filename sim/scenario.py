"""What is going to happen when nothing goes wrong: Sessions, turns, the model's script, the commands' behaviour.

Values only; a scenario is one of the three arguments of a run, beside the plan of faults and the design.
"""

from __future__ import annotations

import json
import re

from sim.protocol import (
    EDIT,
    FOREGROUND_SHELL,
    GLOB,
    READ,
    SHELL,
    STDERR,
    STDOUT,
    WRITE,
    Definition,
    ModelOutput,
    ToolCall,
    Value,
)
from sim.text import has_unpaired, show

HARNESS, LOCAL = "harness", "local"
"""Who leads a Session."""


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


class Resume(Step, frozen=True, gc=False):
    """The runtime resumes a paused stream, as it does at the end of a process (003 Ownership and transport).

    A second callback reads the stream while the first one's write is still under way.
    """

    stream: str


class Program(Value, frozen=True, gc=False):
    """What a command does, step by step; it ends with code 0 unless a step says otherwise."""

    command: str
    steps: tuple[Step, ...]


DETACH, MOVE, RESTART = "detach", "move", "restart"
"""What an operator does with a Session's owner behind a turn. After one that ended well the Session is left in order,
and the same process opens it again, or another one does; or, after any turn, the process is ended without a word, and
another one opens the Session when the writer lease has run out."""
PROMPT, CANCEL, LOAD, KILL = "prompt", "cancel", "load", "kill"


class Turn(Value, frozen=True, gc=False):
    """One prompt and the model's answers to it, one a round.

    ``cancel`` names a milestone at which the user cancels (empty: never), written ``actor:door:label#nth`` with the
    nth such effect of the whole run. ``prompt`` is the id under which the client sends it (empty: a fresh one).
    ``then`` is what the operator does with the owner when the turn has ended: detach, move or restart (empty: nothing).
    """

    answers: tuple[ModelOutput, ...]
    text: str = "go"
    cancel: str = ""
    prompt: str = ""
    then: str = ""


class Aside(Value, frozen=True, gc=False):
    """Something else that is asked of a Session at a milestone, or ``later`` virtual milliseconds after it, once.

    ``deed`` is prompt, cancel, detach, load or kill; ``prompt`` the id that it is about, and ``text`` the prompt's.
    """

    at: str
    deed: str
    prompt: str = ""
    text: str = "go"
    later: int = 0


class SessionPlan(Value, frozen=True, gc=False):
    """A Session: its Workspace, its turns in order, and the milestone it waits for before it begins (empty: none).

    ``definitions`` says as what each life of its owner opens it; the last one stands for all later lives.
    ``asides`` are asked beside its turns.
    ``leader`` is the kind of actor that leads it: a Hosted ``harness``, or a ``local`` daemon in one process.
    """

    name: str
    workspace: str
    turns: tuple[Turn, ...]
    after: str = ""
    definitions: tuple[Definition, ...] = (FOREGROUND_SHELL,)
    asides: tuple[Aside, ...] = ()
    leader: str = HARNESS

    @property
    def address(self) -> str:
        """Where its prompts are sent."""
        return f"{self.leader}:{self.name}"

    def definition(self, life: int) -> Definition:
        """As what the owner in this life, from 1, opens the Session."""
        return self.definitions[min(life, len(self.definitions)) - 1]


class Intrusion(Value, frozen=True, gc=False):
    """One request that an outsider sends, or sends again, at a milestone (written as that of ``Turn.cancel``).

    ``route`` is the request's name, ``wrong`` what is wrong with it; together they name one of the intruder's
    forgeries. It is aimed at what belongs to ``session`` and ``prompt``.
    """

    at: str
    route: str
    wrong: str
    session: str = "a"
    prompt: str = "a.p1"


class Scenario(Value, frozen=True, gc=False):
    """What a run plays. Commands without a program of their own do what :func:`usual` says.

    With ``reread`` every owner and worker is killed at the very end, and a fresh reader verifies what is retained.
    With ``strict`` the transport to the model refuses requests in which a call's parsed arguments are ill-formed.
    """

    name: str
    sessions: tuple[SessionPlan, ...]
    programs: tuple[Program, ...] = ()
    intrusions: tuple[Intrusion, ...] = ()
    reread: bool = False
    strict: bool = False


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


def read_file(call: str, file: str) -> ToolCall:
    """A model's call that reads a file of the Workspace."""
    return ToolCall(call, READ, json.dumps({"file_path": file}))


def write_file(call: str, file: str, content: str) -> ToolCall:
    """A model's call that puts a text in the place of a file's content; ill-formed text is written as escapes."""
    return ToolCall(call, WRITE, json.dumps({"file_path": file, "content": content}))


def edit(call: str, file: str, old: str, new: str) -> ToolCall:
    """A model's call that replaces one text in a file by another."""
    return ToolCall(call, EDIT, json.dumps({"file_path": file, "old_string": old, "new_string": new}))


def glob(call: str, pattern: str, **more: object) -> ToolCall:
    """A model's call that lists the files whose names match."""
    return ToolCall(call, GLOB, json.dumps({"pattern": pattern, **more}))


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
        for aside in session.asides:
            if aside.deed not in (PROMPT, CANCEL, DETACH, LOAD, KILL):
                raise IllFormed(
                    f"'{show(aside.deed)}' is no aside: use prompt, cancel, detach, load or kill."
                )
        for turn in session.turns:
            if turn.then not in ("", DETACH, MOVE, RESTART):
                raise IllFormed(f"'{show(turn.then)}' is done to no owner: use detach, move or restart.")
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
