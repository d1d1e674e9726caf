"""What no schema can say against a scenario file: what belongs together, what is never used, what names nothing.

Each part is looked at by itself, and what has the wrong shape is passed over here: so one look at a file finds all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias, cast

import msgspec

from faults.fates import VOCABULARY
from faults.plans import nearest
from scenarios.files import building, form
from scenarios.files.places import Path, Places
from scenarios.files.problem import Problem
from scenarios.files.shape import KINDS, no_name
from sim.outcome import LATER, PROBE
from sim.run import DECOY
from sim.scenario import CANCEL, NAME, PROMPT
from sim.text import show

Table: TypeAlias = Mapping[str, Any]
Told: TypeAlias = tuple[Path, str]
"""What is wrong, behind the path of where."""

_PLACE = r"[^@#=]+:(?:call|commit|act):[^:@#=]+#[1-9][0-9]{0,8}"
_STRIKE = re.compile(rf"{_PLACE}(?:@[^@=]*)?=(?P<fate>[a-z-]+!?)")
_MILESTONE = re.compile(_PLACE)
SAYINGS = ("command", "arguments", "json")
"""How a call says its arguments: one of these."""
CONTENTS = ("text", "json", "base64", "random")
"""What a print prints: one of these."""


def of_sense(table: Table, places: Places) -> Iterator[Problem]:
    """Everything that the schema lets pass, and that is wrong all the same."""
    parts = (_sessions, _programs, _answers, _faults)
    for path, says in [told for part in parts for told in part(table)]:
        yield Problem(*places.of(path), says)


def _tables(above: Table, key: str, path: Path = ()) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The tables of an array, each with its path."""
    listed: Any = above.get(key)
    for index, each in enumerate(cast("list[Any]", listed) if isinstance(listed, list) else []):
        if isinstance(each, dict):
            yield (*path, key, index), cast("dict[str, Any]", each)


def _text(table: Table, key: str, otherwise: str = "") -> str:
    value = table.get(key, otherwise)
    return value if isinstance(value, str) else ""


def _is_known(table: Table, kind: type[form.Form]) -> bool:
    """Whether all keys are known; where one is mistyped, nothing can be said of those that seem to be missing."""
    return table.keys() <= set(kind.__struct_encode_fields__)


# --- Sessions, turns, answers, calls


def _sessions(table: Table) -> Iterator[Told]:
    seen: set[str] = set()
    for at, session in _tables(table, "session"):
        name = _text(session, "name", "a")
        if name in seen:
            yield (*at, "name"), f"a second Session called '{show(name)}'."
        seen.add(name)
        yield from _names(session, at)
        yield from _milestone(session, "after", at)
        for here, aside in _tables(session, "aside", at):
            yield from _aside(aside, here)
        for here, turn in _tables(session, "turn", at):
            yield from _turn(turn, here)


def _names(session: Table, at: Path) -> Iterator[Told]:
    for key in ("name", "workspace"):
        name = _text(session, key)
        if name and not NAME.fullmatch(name):
            yield (*at, key), no_name(name)
    if _text(session, "name").startswith(PROBE):
        yield (*at, "name"), f"names of Sessions that begin with '{PROBE}' are the bench's own."
    if _text(session, "workspace") == DECOY[0]:
        yield (*at, "workspace"), f"the Workspace '{DECOY[0]}' is the bench's own."


def _milestone(table: Table, key: str, at: Path) -> Iterator[Told]:
    place = _text(table, key)
    if place and not _MILESTONE.fullmatch(place):
        says = "write actor:door:label#nth, the nth of the whole run, for example worker:w:act:Spawn#1."
        yield (*at, key), f"'{show(place)}' is no place: {says}"


def _aside(aside: Table, at: Path) -> Iterator[Told]:
    yield from _milestone(aside, "at", at)
    about = _text(aside, "deed") in (PROMPT, CANCEL)
    if about != bool(_text(aside, "prompt-id")) and _is_known(aside, form.Aside):
        yield at, "'prompt-id' says which prompt is sent or cancelled; nothing else is about one."


def _turn(turn: Table, at: Path) -> Iterator[Told]:
    yield from _milestone(turn, "cancel", at)
    if _text(turn, "prompt-id").endswith(LATER):
        yield (*at, "prompt-id"), f"ids of prompts that end in '{LATER}' are the bench's own."
    ended = False
    for here, answer in _tables(turn, "answer", at):
        if ended:
            yield here, "nobody asks for this answer: the text before it ends the turn."
        ended = ended or "text" in answer
        if _is_known(answer, form.Answer) and ("text" in answer) == bool(answer.get("calls")):
            yield here, "an answer is either text or calls."
        for place, call in _tables(answer, "calls", here):
            yield from _call(call, place)


def _call(call: Table, at: Path) -> Iterator[Told]:
    said = [key for key in SAYINGS if key in call]
    if len(said) != 1:
        if _is_known(call, form.Call):
            yield at, _not_one("a call", said, SAYINGS)
    elif "timeout" in call and said != ["command"]:
        yield (*at, "timeout"), f"'timeout' belongs to 'command'; here it goes into '{said[0]}'."
    for path, what in _unsayable(call.get("arguments"), (*at, "arguments")):
        yield path, f"{what} is nothing that JSON can say; write it as text, or use 'json'."


def _unsayable(value: Any, path: Path) -> Iterator[Told]:
    """What stands in arguments, and has no JSON."""
    if isinstance(value, dict):
        for key, each in cast("dict[str, Any]", value).items():
            yield from _unsayable(each, (*path, key))
    elif isinstance(value, list):
        for index, each in enumerate(cast("list[Any]", value)):
            yield from _unsayable(each, (*path, index))
    elif isinstance(value, float) and value - value != 0:
        yield path, f"the number {value}"
    elif value is not None and type(value) not in KINDS:
        yield path, "a date or time"


def _not_one(what: str, said: list[str], of: tuple[str, ...]) -> str:
    return f"{what} has {' and '.join(said) or 'none'} of {', '.join(of)}; exactly one is needed."


# --- programs


def _programs(table: Table) -> Iterator[Told]:
    asked = _commands(table)
    seen: set[str] = set()
    for at, program in _tables(table, "program"):
        command = _text(program, "command")
        if command in seen:
            yield (*at, "command"), f"a second program for '{show(command)}'."
        elif command and asked is not None and command not in asked:
            yield (*at, "command"), f"no call has the command '{show(command)}'.{nearest(command, asked)}"
        seen.add(command)
        for here, step in _tables(program, "step", at):
            yield from ((here, says) for says in _step(step))


def _commands(table: Table) -> set[str] | None:
    """Every command that the model asks for; None while that cannot be read."""
    calls = [
        call
        for at, session in _tables(table, "session")
        for above, turn in _tables(session, "turn", at)
        for here, answer in _tables(turn, "answer", above)
        for _, call in _tables(answer, "calls", here)
    ]
    if not all(any(key in call for key in SAYINGS) for call in calls):
        return None
    return {command for command in map(_command, calls) if isinstance(command, str)}


def _command(call: Table) -> Any:
    """The command of a call; arguments that cannot be read have none."""
    said: Any = _json(call["json"]) if "json" in call else call.get("arguments", call)
    return cast("Table", said).get("command") if isinstance(said, dict) else None


def _json(text: Any) -> Any:
    try:
        return json.loads(text)
    except (ValueError, TypeError):
        return None


def _step(step: Table) -> Iterator[str]:
    if "print" not in step:
        return
    said = [key for key in CONTENTS if key in step]
    if len(said) != 1:
        if _is_known(step, form.Print):
            yield _not_one("a print", said, CONTENTS)
        return
    if "bytes" in step and said != ["random"]:
        yield f"'bytes' belongs to 'random'; what '{said[0]}' says has its own length."
    try:
        building.step(step)
    except msgspec.ValidationError:
        return
    except ValueError as error:
        yield f"'{said[0]}' cannot be read: {show(str(error))}."


# --- the design, and faults


def _answers(table: Table) -> Iterator[Told]:
    answers: Any = table.get("answers")
    for name, answer in cast("Table", answers).items() if isinstance(answers, dict) else ():
        if isinstance(answer, bool | int | str) and (says := _answer(name, answer)):
            yield ("answers", name), says


def _answer(name: str, answer: bool | int | str) -> str:
    """What is wrong with an answer in place of a rule's; empty when nothing is."""
    rules = building.catalogue()
    if name not in rules:
        return f"unknown rule '{show(name)}'.{nearest(name, rules)} `turnproof list rules` names them all."
    kind, expected = building.KINDS.get(building.answer_type(rules[name]), (None, ""))
    if kind is None:
        return f"what the rule {name} answers is no plain value, and cannot be replaced in a file."
    return (
        "" if type(answer) is kind else f"the rule {name} answers {expected}, and not '{show(str(answer))}'."
    )


def _faults(table: Table) -> Iterator[Told]:
    faults: Any = table.get("faults")
    listed = cast("list[Any]", faults) if isinstance(faults, list) else []
    for index, fault in enumerate(listed):
        if isinstance(fault, str) and (says := _fault(fault)):
            yield ("faults", index), says
    if listed:
        for key in ("sweep", "loss-table"):
            if table.get(key) is True:
                yield (key,), f"'{key}' is for single faults, and a file with faults of its own takes none."


def _fault(text: str) -> str:
    """What is wrong with a strike; empty when nothing is."""
    found = _STRIKE.fullmatch(text)
    if found is None:
        return f"'{show(text)}' is no strike: write actor:door:label#nth=fate, with ! behind a sticky fate."
    name = found["fate"].removesuffix("!")
    kind = VOCABULARY.get(name)
    if kind is None:
        return f"unknown fate '{show(name)}'.{nearest(name, VOCABULARY)}"
    if found["fate"].endswith("!") and not kind.sticky:
        return f"the fate {name} has no sticky form; write it without the '!'."
    return ""
