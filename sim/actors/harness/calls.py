"""What a turn knows of its calls, from the batch that the model asked for to what each call came to. Values only."""

from __future__ import annotations

import hashlib

from sim.design import admission, execution
from sim.protocol import SHELL, Receipt, Reference, Response, ToolCall, Value
from sim.text import stringify, tool_digest


class Owner(Value, frozen=True, gc=False):
    """Who leads the turn: the Session, its Workspace and profile, and the activation under which it is led."""

    session: str
    workspace: str
    profile: str
    activation: str
    epoch: int


class Batch(Value, frozen=True, gc=False):
    """The calls of one model answer."""

    round: int
    calls: tuple[ToolCall, ...]


class Invocation(Value, frozen=True, gc=False):
    """One call as it is to be executed: its worker call, its actual input, the payload that starts it, both digests.

    ``payload_digest`` protects the exact bytes of the deferred start; ``input_digest`` identifies the arguments of a
    Shell (003 Identity: "keep two digests") and is empty for a file tool.
    """

    call: ToolCall
    worker_call: str
    protocol: str
    input: bytes
    payload: bytes
    payload_digest: str
    input_digest: str


class Reserved(Value, frozen=True, gc=False):
    """One call with everything that identifies its execution, and the exact bytes that will be started.

    ``timeout`` is how long a command may run, ``window`` how long the call is observed, in virtual milliseconds.
    """

    call: ToolCall
    reference: Reference
    protocol: str
    payload: bytes
    timeout: int
    window: int


class Refused(Value, frozen=True, gc=False):
    """One call that is refused alone, and what the model is told of it; its siblings run."""

    call: ToolCall
    response: Response


class Done(Value, frozen=True, gc=False):
    """What one call came to: what the model is told, the receipt to acknowledge, the resources the record refers to."""

    response: Response
    receipt: Receipt | None = None
    resources: tuple[str, ...] = ()


def invoked(call: ToolCall, worker_call: str, protocol: str) -> Invocation:
    """What executes a call: the model's arguments, those of a Shell in the foreground, as ECMAScript writes them."""
    arguments = dict(admission.fields_of(call) or {})
    if call.name == SHELL:
        arguments["is_background"] = False
    written = stringify(arguments)
    payload = f'{{"toolName":"{call.name}","input":{written}}}'.encode("utf-8", "surrogatepass")
    digest = f"sha256:{hashlib.sha256(payload).hexdigest()}"
    identified = tool_digest(arguments) if protocol == execution.V3 else ""
    return Invocation(call, worker_call, protocol, written.encode(), payload, digest, identified)


def execution_of(call: Reserved | Refused) -> str:
    """The execution id of a call; empty when it was never reserved."""
    return call.reference.execution if isinstance(call, Reserved) else ""


def alone(planned: list[Reserved | Refused]) -> tuple[Response, ...]:
    """What the model is told of the calls that are refused alone, in order."""
    return tuple(call.response for call in planned if isinstance(call, Refused))
