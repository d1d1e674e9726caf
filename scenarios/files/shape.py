"""What the schema of scenario files says against one, in words for its author."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, TypeAlias

from jsonschema import Draft202012Validator, validators

from faults.plans import nearest
from scenarios.files import building, form
from scenarios.files.places import Path, Places
from scenarios.files.problem import Problem
from sim.text import show

Error: TypeAlias = Any
"""An error of jsonschema, which does not say what its own parts are."""

EXPECTED = {
    "array": "an array",
    "boolean": "true or false",
    "integer": "a whole number",
    "object": "a table",
    "string": "text",
}
KINDS: Mapping[type, str] = {
    bool: "true or false",
    dict: "a table",
    float: "a number with a point",
    int: "a whole number",
    list: "an array",
    str: "text",
}


LIBRARY: Any = validators
"""jsonschema, which does not say of what types its parts are."""


def _is_whole(_checker: object, value: object) -> bool:
    """To JSON Schema 1.0 is a whole number; in TOML it is none."""
    return type(value) is int


@cache
def _validator() -> Any:
    stock: Any = Draft202012Validator
    checker: Any = stock.TYPE_CHECKER.redefine("integer", _is_whole)
    return LIBRARY.extend(stock, type_checker=checker)(form.schema())


def of_shape(table: Mapping[str, Any], places: Places) -> Iterator[Problem]:
    """Every key that is unknown or missing, and every value that may not stand where it does."""
    for error in _validator().iter_errors(table):
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
        yield Problem(*where, "a step is a table with touch, print, generate, pass-ms or exit.")
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
    yield Problem(*places.of(path), f"{_what(path)}: {_no_choice(error, path, kinds)}")


def _no_choice(error: Error, path: Path, kinds: list[int]) -> str:
    if path[:1] == ("answers",) and isinstance(error.instance, dict):
        return 'a rule has its whole name in quotes here, as in "lease.is_held" = false.'
    expected = " or ".join(EXPECTED[error.validator_value[place]["type"]] for place in kinds)
    return f"{_kind(error.instance)}, where {expected} was expected."


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
            brackets = (
                " A table of an array has two brackets, [[like this]]." if isinstance(value, dict) else ""
            )
            return (
                f"{_kind(value)}, where {EXPECTED[limit]} was expected.{brackets if limit == 'array' else ''}"
            )
        case "minimum":
            return f"{value} is too small; the least is {limit}."
        case "maximum":
            return f"{value} is too large; the most is {limit}."
        case "minItems" | "minLength":
            return "it must not be empty."
        case "pattern":
            return no_name(str(value))
        case _:
            return f"{show(error.message)}."


def no_name(text: str) -> str:
    """What is said of text that names no Session or Workspace."""
    return f"'{show(text)}' is no name: use letters, digits, - and _."
