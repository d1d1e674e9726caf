"""What a batch of calls must satisfy before anything is acquired for it."""

from __future__ import annotations

from typing import cast

from sim.design.limits import Limits
from sim.protocol import SHELL, Response, ToolCall, Value
from sim.rule import rule
from sim.text import JsonError, parse_json, shell_input_error, stringify

RECORD_ROOM = 512
"""What the record of a batch holds beside its calls, in bytes."""
CALL_ROOM = 64
"""What a call holds beside its texts: field names, flags and punctuation, in bytes."""
ANSWER_ROOM = 192
"""What the refusal or cancellation of a call holds beside its id and name: the longest fixed text, in bytes."""
NOT_EXECUTED = "Not executed: another call of this batch is invalid."
SHELL_KEYS = frozenset({"command", "description", "is_background", "timeout"})


class Verdict(Value, frozen=True, gc=False):
    """Why one call of a batch cannot run; empty when it can."""

    call: ToolCall
    error: str


@rule("000 §6 Limits and identity", without="two calls of one batch share their result")
def duplicate_ids(calls: tuple[ToolCall, ...]) -> bool:
    """Two calls with one id end the turn as a plain error."""
    return len({call.id for call in calls}) < len(calls)


@rule("000 §4", without="a command that the model never finished runs")
def cut_short(call: ToolCall) -> bool:
    """A call whose arguments or stream were cut ends the turn as a plain error."""
    return call.truncated or call.incomplete


@rule("000 §6 Limits and identity", without="a call over the inline limit is persisted and dispatched")
def oversized(call: ToolCall, limits: Limits) -> bool:
    """Ids and payload of a call must fit the broker's envelope; a larger one ends the turn as a plain error."""
    return written(call) > limits.call_envelope


@rule(
    "behaviour §7 guard 42",
    without="the turn is recovery blocked after acquiring for a record that cannot be kept",
)
def assistant_fits(calls: tuple[ToolCall, ...], limits: Limits) -> bool:
    """The record of the whole batch must fit before any side effect."""
    return sum(written(call) for call in calls) + RECORD_ROOM <= limits.history_record


@rule(
    "behaviour §7 guard 43; 000 §7",
    without="a batch is recorded that can neither be refused nor called off: the turn is recovery blocked",
)
def answers_fit(calls: tuple[ToolCall, ...], limits: Limits) -> bool:
    """One record must be able to hold a refusal of every call, before any side effect."""
    named = sum(len(stringify(text).encode()) for call in calls for text in (call.id, call.name))
    return named + len(calls) * ANSWER_ROOM + RECORD_ROOM <= limits.history_record


@rule("000 §2; behaviour §8 D5", without="the disabled branch for background commands is entered")
def takes_h3(call: ToolCall) -> bool:
    """The H3 branch, which would run a command in the background, is selected for no call."""
    return False


@rule("000 §4.1", without="a malformed call acquires the Workspace and wedges it")
def text_error(call: ToolCall) -> str:
    """Ill-formed text in command or description refuses the call, before any hook and any acquisition."""
    return shell_input_error(call.name, arguments_of(call)) or ""


@rule("003 Lifecycle", without="the lease is taken for a call that cannot run")
def shape_error(call: ToolCall, limits: Limits) -> str:
    """Shell arguments of another shape than the profile's refuse the call; the model may correct it."""
    if call.name != SHELL:
        return ""
    arguments = fields_of(call)
    if arguments is None:
        return "Hosted Shell arguments must be an object."
    command = arguments.get("command")
    if not isinstance(command, str) or not command.strip():
        return "Hosted Shell command must be a non-blank string."
    if unknown := sorted(set(arguments) - SHELL_KEYS):
        return f"Hosted Shell does not support {len(unknown)} of the given arguments."
    return _optional_error(arguments, limits)


def fields_of(call: ToolCall) -> dict[str, object] | None:
    """The arguments of a call by name; None when they are no object."""
    arguments = arguments_of(call)
    return cast("dict[str, object]", arguments) if isinstance(arguments, dict) else None


def _optional_error(arguments: dict[str, object], limits: Limits) -> str:
    if arguments.get("is_background", False) is not False:
        return "Hosted Shell does not support background execution."
    if not isinstance(arguments.get("description", ""), str):
        return "Hosted Shell description must be a string."
    timeout = arguments.get("timeout", limits.shell_timeout)
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or timeout % 1 != 0:
        return "Hosted Shell timeout must be a whole number of milliseconds."
    if not limits.shell_timeout_min <= timeout <= limits.shell_timeout_max:
        return f"Hosted Shell timeout must be from {limits.shell_timeout_min} to {limits.shell_timeout_max}."
    return ""


@rule("behaviour §5", without="a command's own timeout is not observed, or observed for ever")
def timeout_of(call: ToolCall, limits: Limits) -> int:
    """How long the command may run: what the call asks for, else the default, in virtual milliseconds."""
    asked = (fields_of(call) or {}).get("timeout")
    return int(asked) if isinstance(asked, int | float) else limits.shell_timeout


@rule("003 Lifecycle", without="a valid sibling of a refused call runs beside it")
def refuses_batch(verdicts: tuple[Verdict, ...]) -> bool:
    """If any call is invalid, the entire batch is refused."""
    return any(verdict.error for verdict in verdicts)


@rule("003 Lifecycle", without="the model believes that a sibling ran, or corrects the wrong call")
def refusals(verdicts: tuple[Verdict, ...]) -> tuple[Response, ...]:
    """Every call of a refused batch gets its own error, in order; a valid one is told that it did not run."""
    return tuple(
        Response(verdict.call.id, verdict.call.name, verdict.error or NOT_EXECUTED, error=True)
        for verdict in verdicts
    )


@rule("behaviour §2.4", without="one call that is refused alone stops its siblings, or has no response")
def refused_alone(call: ToolCall, why: str) -> Response:
    """A call that is refused by itself gets its own error in its place; its siblings run."""
    return Response(call.id, call.name, f"Not executed: {why}", error=True)


@rule("behaviour §1.1", without="a model that never stops asking holds its turn for ever")
def rounds_left(done: int, limits: Limits) -> bool:
    """A turn asks the model at most sixteen times."""
    return done < limits.rounds


def written(call: ToolCall) -> int:
    """The bytes of a call as JSON writes it into a record."""
    return sum(len(stringify(text).encode()) for text in (call.id, call.name, call.arguments)) + CALL_ROOM


def arguments_of(call: ToolCall) -> object:
    """The parsed arguments of a call; None when they are no JSON text."""
    try:
        return parse_json(call.arguments)
    except JsonError:
        return None
