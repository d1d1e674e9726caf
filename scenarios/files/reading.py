"""Reading a scenario file: every error that it holds, each with its line, or the row that it says."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, TypeAlias

import msgspec
from jsonschema import Draft202012Validator

from faults.fates import VOCABULARY
from faults.plans import nearest
from scenarios.files import building, form
from scenarios.files.places import START, Path, Place, Places
from scenarios.row import NoSuchPlace, Row, reached
from sim.text import show

Error: TypeAlias = Any
"""An error of jsonschema, which does not say what its own parts are."""

TYPES = {
    "array": "an array",
    "boolean": "true or false",
    "integer": "a whole number",
    "object": "a table",
    "string": "text",
}
KINDS: Mapping[type, str] = {
    bool: "true or false",
    dict: "a table",
    float: "a number",
    int: "a whole number",
    list: "an array",
    str: "text",
}
_STRIKE = re.compile(r"(?P<place>[^@#=]+:(?:call|commit|act):[^:@#=]+#[1-9][0-9]*)=(?P<fate>[a-z-]+!?)")
_MILESTONE = re.compile(r"[^@#=]+:(?:call|commit|act):[^:@#=]+#[1-9][0-9]*")
_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)")


class Problem(msgspec.Struct, frozen=True, order=True):
    """One thing that is wrong with a file, and where: line and column from 1."""

    line: int
    column: int
    says: str

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.says}"


class Invalid(ValueError):
    """A file that is no scenario; ``problems`` are all that were found, in the order of the file."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems


def problems(text: str) -> list[Problem]:
    """Everything that is wrong with a scenario file, in its order; empty when it is right."""
    try:
        row(text, "file.toml")
    except Invalid as invalid:
        return invalid.problems
    return []


@lru_cache(maxsize=64)
def row(text: str, name: str) -> Row:
    """The row that a file says.

    Raises:
        Invalid: names everything that is wrong with it.
    """
    table = _table(text)
    places = Places(text)
    wrong = [*_of_form(table, places)]
    if not wrong:
        wrong = [*_of_sense(table, places)]
    if wrong:
        raise Invalid(sorted(set(wrong)))
    file = msgspec.convert(table, form.File)
    try:
        made = building.row(file, name)
    except NoSuchPlace as error:
        raise Invalid([Problem(*_fault(file, str(error), places), f"{error}.")]) from None
    if lost := [*_of_milestones(file, made, places)]:
        raise Invalid(lost)
    return made


def _table(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise Invalid([Problem(*START, "this is no scenario: its arrays are nested too deeply.")]) from None
    except tomllib.TOMLDecodeError as error:
        told = str(error)
        at = _AT.search(told)
        line, column = (int(at[1]), int(at[2])) if at and at[1] else (text.count("\n") + 1, 1)
        says = _AT.sub("", told)
        raise Invalid(
            [Problem(line, column, f"this is no TOML: {show(says[0].lower() + says[1:])}.")]
        ) from None


# --- the form: what the schema says


@cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator(form.schema())


def _of_form(table: Mapping[str, Any], places: Places) -> Iterator[Problem]:
    validator: Any = _validator()
    for error in validator.iter_errors(table):
        yield from _of_error(error, places)


def _of_error(error: Error, places: Places) -> Iterator[Problem]:
    path: Path = tuple(error.absolute_path)
    value: Any = error.instance
    if error.validator == "additionalProperties":
        known = list(error.schema["properties"])
        for key in value:
            if key not in known:
                yield Problem(*places.of((*path, key)), _unknown(key, known))
    elif error.validator == "required":
        missing = [key for key in error.validator_value if key not in value]
        yield Problem(*places.of(path), f"{_what(path)} lacks {', '.join(map(repr, missing))}.")
    elif error.validator == "anyOf" and path[-2:-1] == ("step",):
        yield from _of_step(error, value, places)
    elif error.validator == "anyOf":
        yield from _of_choice(error, path, places)
    else:
        yield Problem(*places.of(path), f"{_what(path)}: {_says(error)}")


def _of_step(error: Error, value: Any, places: Places) -> Iterator[Problem]:
    """Of the kinds of steps, only the one that is meant has something to say."""
    kind = building.kind_of(value) if isinstance(value, dict) else None  # pyright: ignore[reportUnknownArgumentType]
    if kind is None:
        where = places.of(tuple(error.absolute_path))
        yield Problem(*where, "a step is a table with touch, print, pass-ms or exit.")
        return
    chosen = form.STEPS.index(kind)
    for within in error.context or ():
        if within.schema_path[0] == chosen:
            yield from _of_error(within, places)


def _of_choice(error: Error, path: Path, places: Places) -> Iterator[Problem]:
    """A key that may be missing has one kind of value besides null, and that one says what is wrong."""
    kinds = [place for place, each in enumerate(error.validator_value) if each.get("type") != "null"]
    if len(kinds) == 1:
        for within in error.context:
            if within.schema_path[0] == kinds[0]:
                yield from _of_error(within, places)
        return
    expected = " or ".join(TYPES[error.validator_value[place]["type"]] for place in kinds)
    yield Problem(*places.of(path), f"{_what(path)}: {_kind(error.instance)}, where {expected} was expected.")


def _unknown(key: str, known: list[str]) -> str:
    if key in form.LATER:
        return f"'{key}': hooks and approvals cannot be played yet."
    return f"unknown key '{show(key)}'.{nearest(key, known)}"


def _what(path: Path) -> str:
    names = [part for part in path if isinstance(part, str)]
    return f"'{show(names[-1])}'" if names else "the file"


def _kind(value: Any) -> str:
    return KINDS.get(value.__class__, "a date or time")


def _says(error: Error) -> str:
    value: Any = error.instance
    limit: Any = error.validator_value
    match error.validator:
        case "enum":
            return f"'{show(str(value))}' is none of {', '.join(limit)}.{nearest(str(value), limit)}"
        case "type":
            wanted = {
                "string": "text",
                "integer": "a whole number",
                "boolean": "true or false",
                "array": "an array",
            }
            return f"{_kind(value)}, where {wanted.get(limit, 'a table')} was expected."
        case "minimum":
            return f"{value} is too small; the least is {limit}."
        case "maximum":
            return f"{value} is too large; the most is {limit}."
        case "minItems" | "minLength":
            return "it must not be empty."
        case "pattern":
            return f"'{show(str(value))}' is no name: use letters, digits, - and _."
        case _:
            return f"{show(error.message)}."


# --- the sense: what no schema can say


def _of_sense(table: Mapping[str, Any], places: Places) -> Iterator[Problem]:
    file = msgspec.convert(table, form.File)
    yield from _of_sessions(file, places)
    yield from _of_programs(file, places)
    for name, answer in file.answers.items():
        if says := _of_answer(name, answer):
            yield Problem(*places.of(("answers", name)), says)
    for index, fault in enumerate(file.faults):
        if says := _of_fault(fault):
            yield Problem(*places.of(("faults", index)), says)


def _of_sessions(file: form.File, places: Places) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, session in enumerate(file.session):
        at: Path = ("session", index)
        if session.name in seen:
            yield Problem(*places.of((*at, "name")), f"a second Session called '{session.name}'.")
        seen.add(session.name)
        if session.after and not _MILESTONE.fullmatch(session.after):
            yield Problem(*places.of((*at, "after")), _no_milestone(session.after))
        for number, turn in enumerate(session.turn):
            yield from _of_turn(turn, (*at, "turn", number), places)


def _of_turn(turn: form.Turn, at: Path, places: Places) -> Iterator[Problem]:
    if turn.cancel and not _MILESTONE.fullmatch(turn.cancel):
        yield Problem(*places.of((*at, "cancel")), _no_milestone(turn.cancel))
    for number, answer in enumerate(turn.answer):
        here: Path = (*at, "answer", number)
        if (answer.text is None) == (not answer.calls):
            yield Problem(*places.of(here), "an answer is either text or calls.")
        for place, call in enumerate(answer.calls):
            said = [key for key in ("command", "arguments", "json") if getattr(call, key) is not None]
            if len(said) != 1:
                yield Problem(
                    *places.of((*here, "calls", place)), _not_one("a call", said, "command, arguments, json")
                )
            elif call.timeout is not None and said != ["command"]:
                where = places.of((*here, "calls", place, "timeout"))
                yield Problem(*where, f"'timeout' belongs to 'command'; here it goes into '{said[0]}'.")


def _of_programs(file: form.File, places: Places) -> Iterator[Problem]:
    asked = building.commands(file)
    for index, program in enumerate(file.program):
        if program.command not in asked:
            says = f"no call has the command '{show(program.command)}'.{nearest(program.command, asked)}"
            yield Problem(*places.of(("program", index, "command")), says)
        for number, table in enumerate(program.step):
            try:
                building.step(table)
            except ValueError as error:
                where = places.of(("program", index, "step", number))
                yield Problem(
                    *where, f"'{'json' if 'json' in table else 'base64'}' cannot be read: {show(str(error))}."
                )
                continue
            said = [key for key in ("text", "json", "base64", "random") if key in table]
            if "print" in table and len(said) != 1:
                where = places.of(("program", index, "step", number))
                yield Problem(*where, _not_one("a print", said, "text, json, base64, random"))


def _not_one(what: str, said: list[str], of: str) -> str:
    return f"{what} has {' and '.join(said) or 'none'} of {of}; exactly one is needed."


def _no_milestone(text: str) -> str:
    return f"'{show(text)}' is no place: write actor:door:label#nth, for example worker:w:act:Spawn#1."


def _of_answer(name: str, answer: bool | int | str) -> str:
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


def _of_fault(text: str) -> str:
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


def _of_milestones(file: form.File, made: Row, places: Places) -> Iterator[Problem]:
    """What waits for a place that the run never reaches would wait in silence."""
    seen: Counter[str] = Counter(
        f"{sighting.point.actor}:{sighting.point.door}:{sighting.point.label}" for sighting in reached(made)
    )
    named: list[tuple[Path, str]] = []
    for index, session in enumerate(file.session):
        named.append((("session", index, "after"), session.after))
        turns = enumerate(session.turn)
        named += [(("session", index, "turn", number, "cancel"), turn.cancel) for number, turn in turns]
    for path, milestone in named:
        place, _, nth = milestone.partition("#")
        if milestone and int(nth) > seen[place]:
            says = (
                f"{milestone} is never reached; {place} is reached {seen[place]} times.{nearest(place, seen)}"
            )
            yield Problem(*places.of(path), says)


def _fault(file: form.File, error: str, places: Places) -> Place:
    """Where the fault stands that has no place."""
    for index, fault in enumerate(file.faults):
        if error.startswith(f"{fault.partition('=')[0]} "):
            return places.of(("faults", index))
    return START
