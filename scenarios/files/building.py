"""From the form of a file to a row: plain values, and a design in which the named rules answer otherwise."""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Any, cast

import msgspec

from scenarios.files import form
from scenarios.judge import shown
from scenarios.row import Promise, Row, own_plan
from sim.design import SCALED, SEED, SMALL, Design
from sim.design.design import catalogue
from sim.outcome import outcome
from sim.protocol import ModelOutput, ToolCall
from sim.rule import Rule
from sim.run import run
from sim.scenario import Exit, Pass, Print, Program, Scenario, SessionPlan, Step, Touch, Turn

DESIGNS: Mapping[str, Design] = {"seed": SEED, "small": SMALL, "scaled": SCALED}


def scenario(file: form.File, name: str) -> Scenario:
    """What the file plays."""
    sessions = tuple(_session(session) for session in file.session)
    programs = tuple(Program(program.command, tuple(map(step, program.step))) for program in file.program)
    return Scenario(name, sessions, programs)


def design(file: form.File) -> Design:
    """What the file's rules answer."""
    whole = DESIGNS[file.design]
    for name, answer in file.answers.items():
        whole = whole.replacing(catalogue()[name], always(None if answer == "" else answer))
    return whole


def row(file: form.File, name: str) -> Row:
    """The whole row. What its promise leaves open is taken from the run as it is written.

    Raises:
        NoSuchPlace: a fault of its own has no place in the run.
    """
    bare = Row(
        name,
        file.why,
        scenario(file, name),
        Promise((), 0, 0, 0, 0),
        file.cites,
        faults=file.faults,
        design=design(file),
        tabled=file.loss_table,
    )
    written = {key: value for key, value in msgspec.structs.asdict(file.promise).items() if value is not None}
    kept = shown(outcome(run(bare.scenario, own_plan(bare), bare.design).events))
    return msgspec.structs.replace(bare, promise=msgspec.structs.replace(kept, **written))


# --- Sessions and calls


def _session(session: form.Session) -> SessionPlan:
    numbers = count(1)
    turns = tuple(
        Turn(
            tuple(_answer(answer, numbers) for answer in turn.answer),
            turn.prompt,
            turn.cancel,
            turn.prompt_id,
        )
        for turn in session.turn
    )
    return SessionPlan(session.name, session.workspace, turns, session.after)


def _answer(answer: form.Answer, numbers: Iterator[int]) -> ModelOutput:
    return ModelOutput(answer.text or "", tuple(_call(call, next(numbers)) for call in answer.calls))


def _call(call: form.Call, number: int) -> ToolCall:
    arguments = call.json if call.json is not None else json.dumps(_arguments(call))
    return ToolCall(call.id or f"call-{number}", call.tool, arguments, call.truncated, call.incomplete)


def _arguments(call: form.Call) -> dict[str, Any]:
    if call.arguments is not None:
        return call.arguments
    timeout = {} if call.timeout is None else {"timeout": call.timeout}
    return {"command": call.command, **timeout}


def commands(file: form.File) -> set[str]:
    """Every command that the model asks for; arguments that cannot be read ask for none."""
    turns = [turn for session in file.session for turn in session.turn]
    called = [call for turn in turns for answer in turn.answer for call in answer.calls]
    return {command for call in called if isinstance(command := _command(call), str)}


def _command(call: form.Call) -> Any:
    if call.json is None:
        return _arguments(call).get("command")
    try:
        said: Any = json.loads(call.json)
    except ValueError:
        return None
    return cast("dict[str, Any]", said).get("command") if isinstance(said, dict) else None


# --- steps of programs


def step(table: dict[str, Any]) -> Step:
    """One step of a program, known by its first key."""
    kind = kind_of(table)
    assert kind is not None, table
    read: Any = msgspec.convert(table, kind)
    if isinstance(read, form.Touch):
        return Touch(read.touch, read.line)
    if isinstance(read, form.Print):
        return Print(read.print, _bytes(read), read.times)
    return Pass(read.pass_ms) if isinstance(read, form.Pass) else Exit(read.exit)


def kind_of(table: Mapping[str, Any]) -> type[form.Form] | None:
    """Which kind of step a table is; None when it is none."""
    for kind in form.STEPS:
        if kind.__struct_encode_fields__[0] in table:
            return kind
    return None


def _bytes(step: form.Print) -> bytes:
    if step.base64 is not None:
        return b64decode(step.base64, validate=True)
    if step.json is not None:
        said: Any = json.loads(step.json)
        if not isinstance(said, str):
            raise ValueError("it is JSON, and no text in quotes")
        return _utf8(said)
    if step.random is not None:
        return random_bytes(str(step.random), step.bytes)
    return (step.text or "").encode()


def _utf8(text: str) -> bytes:
    """UTF-8 in which a half that lacks its other half takes three bytes."""
    paired = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return paired.encode("utf-8", "surrogatepass")


def random_bytes(seed: str, size: int) -> bytes:
    """As many bytes as asked for, that look random: SHA-256 of the seed and a running number, block by block."""
    blocks = (hashlib.sha256(f"{seed}:{number}".encode()).digest() for number in range(-(-size // 32)))
    return b"".join(blocks)[:size]


# --- rules that answer otherwise

KINDS: Mapping[str, tuple[type, str]] = {
    "bool": (bool, "true or false"),
    "int": (int, "a whole number"),
    "str": (str, "text"),
    "str | None": (str, "text, empty where nothing is wrong"),
}
"""What may be answered in place of a rule, by the type of its answer as it is written."""


def always(answer: bool | int | str | None) -> Callable[..., Any]:
    """What answers in place of a rule: the same, whatever it is asked."""

    def instead(*_asked: Any) -> Any:
        return answer

    return instead


def answer_type(rule: Rule[..., Any]) -> str:
    """The type of a rule's answer, as it is written."""
    return str(rule.answer.__annotations__["return"])
