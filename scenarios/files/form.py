"""The form of a scenario file: what its tables and keys are called, what they mean, and what may stand there."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

from sim.design import Limits
from sim.protocol import SAME_HOST, SHELL_1

Name: TypeAlias = Annotated[
    str,
    Meta(
        pattern="^[A-Za-z0-9][A-Za-z0-9_-]*$", description="Letters, digits, - and _; it stands in addresses."
    ),
]
Count: TypeAlias = Annotated[int, Meta(ge=0)]
Positive: TypeAlias = Annotated[int, Meta(ge=1)]
Ending: TypeAlias = Literal[
    "completed",
    "completed after refusal",
    "uncorrected",
    "cancelled",
    "error",
    "recovery-blocked",
    "not accepted",
]
Profile: TypeAlias = Literal[
    "",
    "hosted-workspace-files/1",
    "hosted-workspace-files/2",
    "hosted-workspace-shell/1",
    "hosted-workspace-shell/2",
]


class Form(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """A table of the file. Keys that it does not have are errors."""


class Call(Form, frozen=True):
    """One call that the model makes; exactly one of command, arguments and json."""

    command: Annotated[str | None, Meta(description="The Shell command.")] = None
    timeout: Annotated[Positive | None, Meta(description="The command's own timeout, in milliseconds.")] = (
        None
    )
    arguments: Annotated[
        dict[str, Any] | None, Meta(description="All arguments of the call, as a table.")
    ] = None
    json: Annotated[
        str | None,
        Meta(
            description="All arguments as JSON text, in which escapes can say anything, half a character too."
        ),
    ] = None
    id: Annotated[str, Meta(description="The model's id of the call; call-1, call-2, ... if not given.")] = ""
    tool: Annotated[str, Meta(description="The tool's name; the Shell tool if not given.")] = (
        "run_shell_command"
    )
    truncated: Annotated[bool, Meta(description="The model's stream was cut in this call.")] = False
    incomplete: Annotated[bool, Meta(description="The model never finished this call.")] = False


class Answer(Form, frozen=True):
    """One round of the model: text, or a batch of calls in order."""

    text: Annotated[str | None, Meta(description="What the model says; it ends the turn.")] = None
    calls: Annotated[tuple[Call, ...], Meta(description="A batch of calls, carried out in order.")] = ()


class Turn(Form, frozen=True):
    """One prompt, and what the model answers to it, one answer a round."""

    answer: Annotated[
        tuple[Answer, ...], Meta(min_length=1, description="The rounds of the model, in order.")
    ]
    prompt: Annotated[str, Meta(description="The text of the prompt.")] = "go"
    prompt_id: Annotated[
        str, Meta(description="The id under which it is sent; a fresh one if not given.")
    ] = ""
    cancel: Annotated[
        str, Meta(description="Where the user cancels: actor:door:label#nth, nth of the whole run.")
    ] = ""
    then: Annotated[
        Literal["", "detach", "move", "restart"],
        Meta(
            description="Behind the turn the Session is left and opened again here, or elsewhere, or killed."
        ),
    ] = ""


class Aside(Form, frozen=True):
    """Something else that is asked of a Session, once, beside its turns."""

    at: Annotated[str, Meta(description="When this is reached: actor:door:label#nth, nth of the whole run.")]
    deed: Annotated[
        Literal["prompt", "cancel", "detach", "load", "kill"], Meta(description="What is asked, or done.")
    ]
    prompt_id: Annotated[str, Meta(description="Which prompt is sent or cancelled.")] = ""
    prompt: Annotated[str, Meta(description="The text of the prompt that is sent.")] = "go"
    later_ms: Annotated[int, Meta(ge=0, description="So many virtual milliseconds later.")] = 0


class Session(Form, frozen=True):
    """A Session: its turns, one after the other, in its Workspace. Sessions run side by side."""

    turn: Annotated[tuple[Turn, ...], Meta(min_length=1, description="The turns, in order.")]
    name: Name = "a"
    workspace: Name = "w"
    after: Annotated[str, Meta(description="It begins when this is reached: actor:door:label#nth.")] = ""
    profiles: Annotated[
        tuple[Profile, ...],
        Meta(min_length=1, description="As what each owner opens it; the last stands for all later ones."),
    ] = (SHELL_1,)
    provisioner: Annotated[
        str,
        Meta(description="How its Workspace is provisioned; a profile with Shell takes only the default."),
    ] = SAME_HOST
    aside: Annotated[tuple[Aside, ...], Meta(description="What else is asked of it, once each.")] = ()
    leader: Annotated[
        Literal["harness", "local"],
        Meta(description="Who leads it: a Hosted harness, or a local daemon in one process."),
    ] = "harness"


class Touch(Form, frozen=True):
    """Append a line to a file of the Workspace: an effect that shows when it is repeated."""

    touch: Annotated[str, Meta(min_length=1, description="The file, relative to the Workspace.")]
    line: Annotated[str, Meta(description="What is appended.")]


class Print(Form, frozen=True):
    """Write to a stream; exactly one of text, json, base64 and random."""

    print: Annotated[Literal["stdout", "stderr"], Meta(description="Which stream.")]
    text: Annotated[str | None, Meta(description="Text, written as UTF-8.")] = None
    json: Annotated[
        str | None, Meta(description="A JSON string, written as UTF-8; half a pair as three bytes.")
    ] = None
    base64: Annotated[str | None, Meta(description="Any bytes.")] = None
    random: Annotated[
        str | int | None, Meta(description="A seed: the same bytes for the same seed, for ever.")
    ] = None
    bytes: Annotated[int, Meta(ge=1, le=64 * 1024 * 1024, description="How many random bytes.")] = 1024
    times: Annotated[int, Meta(ge=0, description="How often, one after the other.")] = 1


class Generate(Form, frozen=True):
    """Write text of any size to a stream, as lines of digits: the same for the same seed, for ever."""

    generate: Annotated[Literal["stdout", "stderr"], Meta(description="Which stream.")]
    seed: Annotated[str, Meta(description="What the text is made from.")]
    bytes: Annotated[int, Meta(ge=0, le=1024 * 1024 * 1024, description="How long it is.")]


class Pass(Form, frozen=True):
    """Let time go by."""

    pass_ms: Annotated[int, Meta(ge=0, description="Virtual milliseconds.")]


class Exit(Form, frozen=True):
    """End the process. Steps after it belong to a detached child that still holds the pipes."""

    exit: Annotated[int, Meta(ge=0, le=255, description="The exit code.")]


class Program(Form, frozen=True):
    """What a command does, step by step. Without one it touches a file, prints on both streams and ends with 0."""

    command: Annotated[str, Meta(min_length=1, description="The command, as the model writes it.")]
    step: Annotated[
        tuple[dict[str, Any], ...], Meta(description="What it does: touch, print, generate, pass-ms, exit.")
    ]


class Promise(Form, frozen=True):
    """What a run comes to. What is not written here is taken from the run as it is, without faults."""

    endings: Annotated[
        tuple[Ending, ...] | None, Meta(description="How each turn ends, Session by Session.")
    ] = None
    spawns: Annotated[Count | None, Meta(description="Processes that were started.")] = None
    starts: Annotated[Count | None, Meta(description="Dispatches that were sent to a worker.")] = None
    asked: Annotated[Count | None, Meta(description="Requests to the model.")] = None
    acks: Annotated[Count | None, Meta(description="Acknowledged results.")] = None
    lease: Annotated[Literal["free", "held"] | None, Meta(description="The Workspace, at the end.")] = None
    second: Annotated[
        Literal["completed", "error"] | None, Meta(description="How a second Session then fares.")
    ] = None


class File(Form, frozen=True):
    """A scenario, what happens to it, and what is promised of it."""

    session: Annotated[tuple[Session, ...], Meta(min_length=1, description="The Sessions of the scenario.")]
    why: Annotated[str, Meta(description="Why it is there, in a sentence.")] = ""
    cites: Annotated[str, Meta(description="Where its promise is written.")] = ""
    design: Annotated[
        Literal["seed", "small", "scaled"],
        Meta(description="Sizes and times: all real; small sizes; small sizes and fewer looks (for sweeps)."),
    ] = "scaled"
    answers: Annotated[
        dict[str, bool | int | str],
        Meta(description="What rules of the design always answer instead, to see who notices."),
    ] = {}
    limits: Annotated[
        dict[str, Positive],
        Meta(
            description="Limits of the design that are others here: bytes, numbers and virtual milliseconds."
        ),
    ] = {}
    program: Annotated[tuple[Program, ...], Meta(description="What commands do.")] = ()
    faults: Annotated[
        tuple[str, ...],
        Meta(
            description="Strikes: actor:door:label#nth=fate, nth of the whole run under the strikes before it."
        ),
    ] = ()
    promise: Annotated[Promise, Meta(description="What a run comes to.")] = Promise()
    reread: Annotated[
        bool,
        Meta(
            description="At the end all producers are killed, and a fresh reader verifies what is retained."
        ),
    ] = False
    strict: Annotated[
        bool,
        Meta(description="The transport to the model refuses calls whose parsed arguments are ill-formed."),
    ] = False
    sweep: Annotated[bool, Meta(description="Under pytest, strike every single fault too.")] = False
    loss_table: Annotated[
        bool,
        Meta(
            description="Judge single faults by the loss table too; it is made for calls with timeout = 40000."
        ),
    ] = False


STEPS: tuple[type[Form], ...] = (Touch, Print, Generate, Pass, Exit)
"""What a program can do; each kind of step is known by its first key."""

TITLE = "A Turnproof scenario"
"""What the schema is called, and known by."""

LATER = ("hook", "hooks", "approval", "approvals")
"""What scenario files are going to say one day."""


def schema() -> dict[str, Any]:
    """The JSON Schema of the form, for editors and for :mod:`scenarios.files.reading`."""
    (_, *_), parts = msgspec.json.schema_components((File, *STEPS), ref_template="#/$defs/{name}")
    steps = [{"$ref": f"#/$defs/{step.__name__}"} for step in STEPS]
    parts["Program"]["properties"]["step"]["items"] = {"anyOf": steps}
    top = parts.pop("File")
    real = {name.replace("_", "-"): limit for name, limit in msgspec.structs.asdict(Limits()).items()}
    whole = top["properties"]["limits"].pop("additionalProperties")
    top["properties"]["limits"] |= {
        "properties": {
            name: {**whole, "description": f"{limit} in the seed."} for name, limit in real.items()
        },
        "additionalProperties": False,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": TITLE,
        **{key: value for key, value in top.items() if key != "title"},
        "$defs": dict(sorted(parts.items())),
    }
