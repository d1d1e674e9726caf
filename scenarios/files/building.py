"""From the form of a file to a row: plain values, and a design in which the named rules answer otherwise."""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Any

import msgspec

from faults.fates import applicable
from faults.plans import nearest
from scenarios.files import form
from scenarios.promise import shown
from scenarios.row import NoSuchPlace, Promise, Row, own_plan
from sim.design import SCALED, SEED, SMALL, Design
from sim.design.design import catalogue
from sim.outcome import outcome
from sim.points import Sighting
from sim.protocol import Definition, ModelOutput, ToolCall
from sim.rule import Rule
from sim.run import run
from sim.scenario import (
    Aside,
    Exit,
    Generate,
    Pass,
    Print,
    Program,
    Scenario,
    SessionPlan,
    Step,
    Touch,
    Turn,
)

DESIGNS: Mapping[str, Design] = {"seed": SEED, "small": SMALL, "scaled": SCALED}


def scenario(file: form.File, name: str) -> Scenario:
    """What the file plays."""
    sessions = tuple(_session(session) for session in file.session)
    programs = tuple(Program(program.command, tuple(map(step, program.step))) for program in file.program)
    return Scenario(name, sessions, programs, reread=file.reread, strict=file.strict)


def design(file: form.File) -> Design:
    """What the file's rules answer, under its limits."""
    whole = DESIGNS[file.design]
    limits = {name.replace("-", "_"): limit for name, limit in file.limits.items()}
    whole = msgspec.structs.replace(whole, limits=msgspec.structs.replace(whole.limits, **limits))
    for name, answer in file.answers.items():
        whole = whole.replacing(catalogue()[name], always(None if answer == "" else answer))
    return whole


# --- the row, step by step


def bare(file: form.File, name: str) -> Row:
    """The row without its faults, and without a promise."""
    return Row(
        name,
        file.why,
        scenario(file, name),
        Promise((), 0, 0, 0, 0),
        file.cites,
        design=design(file),
        tabled=file.loss_table,
        theme="files",
    )


def struck(row: Row, fault: str) -> Row:
    """The row with one fault more, which may be written with its causes or with its number in the whole run.

    Raises:
        NoSuchPlace: the run under the faults before it does not reach it, or its fate cannot strike there.
    """
    place, _, fate = fault.partition("=")
    name = place.partition("#")[0]
    alike = [sighting for sighting in seen(row) if place_of(sighting) == name]
    found = [
        number
        for number, sighting in enumerate(alike, 1)
        if place in (f"{name}#{number}", str(sighting.point))
    ]
    if not found:
        near = "" if alike else nearest(name, set(map(place_of, seen(row))))
        raise NoSuchPlace(f"{unreached(place, len(alike))}.{near}".rstrip("."))
    number = found[0]
    fates = [str(each) for each in applicable(alike[number - 1])]
    if fate not in fates:
        raise NoSuchPlace(f"{fate} does not strike at {place}; what strikes there: {', '.join(fates)}")
    return msgspec.structs.replace(row, faults=(*row.faults, f"{name}#{number}={fate}"))


def promised(row: Row, file: form.File) -> Row:
    """The row with its promise. What that leaves open is taken from the run as it is written."""
    written = {key: value for key, value in msgspec.structs.asdict(file.promise).items() if value is not None}
    promise = msgspec.structs.replace(_kept(row), **written)
    lost = _kept(uncancelled(row)) if row.tabled and uncancelled(row) != row else None
    return msgspec.structs.replace(row, promise=promise, uncancelled=lost)


def uncancelled(row: Row) -> Row:
    """The row when nobody cancels: so a run ends whose cancellation is lost."""
    replace = msgspec.structs.replace
    sessions = tuple(
        replace(session, turns=tuple(replace(turn, cancel="") for turn in session.turns))
        for session in row.scenario.sessions
    )
    return replace(row, scenario=replace(row.scenario, sessions=sessions))


def _kept(row: Row) -> Promise:
    return shown(outcome(run(row.scenario, own_plan(row), row.design).events))


def seen(row: Row) -> list[Sighting]:
    """Every point of the row's run under its own faults, in order."""
    sightings: list[Sighting] = []
    run(row.scenario, own_plan(row), row.design, sightings.append)
    return sightings


def place_of(sighting: Sighting) -> str:
    """Where a point is, without its number and its causes."""
    return f"{sighting.point.actor}:{sighting.point.door}:{sighting.point.label}"


def unreached(place: str, times: int) -> str:
    """What is said of a place that a run does not reach."""
    return f"{place} is never reached; {place.partition('#')[0]} is reached {times} times"


# --- Sessions and calls


def _session(session: form.Session) -> SessionPlan:
    numbers = count(1)
    turns = tuple(
        Turn(
            tuple(_answer(answer, numbers) for answer in turn.answer),
            turn.prompt,
            turn.cancel,
            turn.prompt_id,
            turn.then,
        )
        for turn in session.turn
    )
    definitions = tuple(Definition(profile, session.provisioner) for profile in session.profiles)
    asides = tuple(
        Aside(aside.at, aside.deed, aside.prompt_id, aside.prompt, aside.later_ms) for aside in session.aside
    )
    return SessionPlan(
        session.name, session.workspace, turns, session.after, definitions, asides, session.leader
    )


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


# --- steps of programs


def step(table: Mapping[str, Any]) -> Step:
    """One step of a program, known by its first key."""
    kind = kind_of(table)
    assert kind is not None, table
    read: Any = msgspec.convert(table, kind)
    if isinstance(read, form.Touch):
        return Touch(read.touch, read.line)
    if isinstance(read, form.Print):
        return Print(read.print, _bytes(read), read.times)
    if isinstance(read, form.Generate):
        return Generate(read.generate, read.seed, read.bytes)
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
