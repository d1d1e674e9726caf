"""The profiles and their file tools: beside Shell and without it, in every shape that a batch can have."""

from __future__ import annotations

from scenarios.base import BAD_SHAPE, DONE, RESERVED, alone, quick
from scenarios.row import Promise, Row
from scenarios.sizes import scaled
from sim.protocol import (
    FILES_1,
    FILES_2,
    NO_TOOLS,
    SAME_HOST,
    SHELL_2,
    WRITE,
    Definition,
    ModelOutput,
    ToolCall,
)
from sim.scenario import (
    Exit,
    Pass,
    Program,
    Scenario,
    SessionPlan,
    Touch,
    Turn,
    calls,
    edit,
    glob,
    read_file,
    says,
    write_file,
)

WROTE = write_file("call-1", "notes.txt", "one")
SEEN = read_file("call-2", "notes.txt")
ABSOLUTE = read_file("call-1", "/etc/passwd")
OUTSIDE = write_file("call-2", "../outside.txt", "x")
HALF = ToolCall("call-1", WRITE, '{"file_path": "notes.txt", "content": "half \\ud800"}')
LARGE = Program("fill", (Touch("large.txt", "x" * 70_000),))
PATIENT = Program("wait", (Touch("effects.log", "wait"), Pass(5_000), Exit(0)))
IMPATIENT = scaled(file_window=1_000)
"""A file tool is awaited for a second, and a Shell as long as ever."""
SETTLING = "harness:a:call:Append.TurnSettled+Checkpoint.turn_settled#1"


def defined(name: str, profile: str, *answers: ModelOutput, provisioner: str = SAME_HOST) -> Scenario:
    """One Session of this profile, one turn."""
    definition = Definition(profile, provisioner)
    return Scenario(name, (SessionPlan("a", "w", (Turn(answers),), definitions=(definition,)),))


def answers(starts: int, asked: int) -> Promise:
    """The turn completes; every call is started once, and no process is spawned."""
    return Promise(("completed",), 0, starts, asked, 0)


ROWS = (
    Row(
        "file-write",
        "a file is written, then read: no listener, no capture, no receipt, no ACK",
        alone("file-write", calls(WROTE), calls(SEEN), DONE),
        answers(2, 3),
        "003 Problem and scope",
    ),
    Row(
        "file-edit",
        "an edit replaces the one place where the old text stands",
        alone("file-edit", calls(WROTE, edit("call-2", "notes.txt", "one", "two")), calls(SEEN), DONE),
        answers(3, 3),
        "behaviour §2.3",
        swept=False,
    ),
    Row(
        "file-error",
        "what a file tool cannot do is told to the model as its error, and blocks nothing",
        alone("file-error", calls(SEEN, edit("call-3", "none.txt", "a", "b")), DONE),
        answers(2, 2),
        "behaviour §2.3",
        ("RC-04",),
        swept=False,
    ),
    Row(
        "mixed-batch",
        "file tools and Shell of one answer run in the model's order, each with its own protocol",
        alone("mixed-batch", calls(WROTE, quick("call-3", "make"), SEEN), DONE),
        Promise(("completed",), 1, 3, 2, 1),
        "003 Problem and scope",
    ),
    Row(
        "mixed-refused-path",
        "a path outside of the Workspace refuses its own call, and its siblings run",
        alone("mixed-refused-path", calls(ABSOLUTE, quick("call-3", "make")), DONE),
        Promise(("completed after refusal",), 1, 1, 2, 1),
        "behaviour §2.4",
        ("RC-04",),
        swept=False,
    ),
    Row(
        "all-refused",
        "every call is refused alone: one record with all responses, no intent, no checkpoint, nothing started",
        alone("all-refused", calls(ABSOLUTE, OUTSIDE), calls(quick("call-3", "make")), DONE),
        Promise(("completed after refusal",), 1, 1, 3, 1),
        "behaviour §2.4",
    ),
    Row(
        "mixed-bad-shell",
        "an invalid Shell call refuses the whole batch, file tools included, before anything is acquired",
        alone(
            "mixed-bad-shell",
            calls(write_file("call-2", "notes.txt", "one"), BAD_SHAPE),
            calls(write_file("call-3", "notes.txt", "one"), quick("call-4", "make")),
            DONE,
        ),
        Promise(("completed after refusal",), 1, 2, 3, 1),
        "003 Lifecycle and failure handling",
        swept=False,
    ),
    Row(
        "large-file",
        "a file that no record can keep is left out of the answer, which says so; the turn goes on",
        alone(
            "large-file",
            calls(quick("call-1", "fill")),
            calls(read_file("call-2", "large.txt")),
            DONE,
            programs=(LARGE,),
        ),
        Promise(("completed",), 1, 2, 3, 1),
        "003 Identity, admission and model history",
        swept=False,
    ),
    Row(
        "half-in-file",
        "half a character in a file tool's text is no matter of the Shell validator: today's behaviour stays",
        alone("half-in-file", calls(HALF), DONE),
        Promise(("recovery-blocked",), 0, 0, 1, 0, "held", "error"),
        "000 §2; behaviour §3.4",
        swept=False,
    ),
    Row(
        "cancelled-files",
        "cancelled while reserved: neither file tool nor Shell starts, and the lease is given back",
        alone("cancelled-files", calls(WROTE, quick("call-3", "make"), SEEN), DONE, cancel=RESERVED),
        Promise(("cancelled",), 0, 0, 1, 0),
        "003 Lifecycle and failure handling",
        uncancelled=Promise(("completed",), 1, 3, 2, 1),
    ),
    Row(
        "files-profile",
        "the file profile works as it did: nothing of Shell is in its way",
        defined("files-profile", FILES_1, calls(WROTE), calls(SEEN), DONE),
        answers(2, 3),
        "003 Problem and scope",
        swept=False,
    ),
    Row(
        "files-glob",
        "the second file profile lists files, the one that was changed last first",
        defined("files-glob", FILES_2, calls(WROTE, glob("call-3", "*.txt")), DONE),
        answers(2, 2),
        "behaviour §8 D16",
        swept=False,
    ),
    Row(
        "shell-glob",
        "the second Shell profile has glob beside Shell: read-only, by v2, without receipt and ACK",
        defined("shell-glob", SHELL_2, calls(WROTE, quick("call-2", "make"), glob("call-3", "*")), DONE),
        Promise(("completed",), 1, 3, 2, 1),
        "behaviour §8 D16",
        swept=False,
    ),
    Row(
        "glob-outside",
        "the first Shell profile has no glob: the turn ends plainly, before anything is acquired",
        alone("glob-outside", calls(glob("call-1", "*")), DONE),
        Promise(("error",), 0, 0, 1, 0),
        "003 Problem and scope",
        swept=False,
    ),
    Row(
        "shell-outside",
        "the file profile has no Shell: the turn ends plainly, before anything is acquired",
        defined("shell-outside", FILES_1, calls(quick("call-1", "make")), DONE),
        Promise(("error",), 0, 0, 1, 0),
        "003 Problem and scope",
        swept=False,
    ),
    Row(
        "no-tools",
        "the default profile converses, and warms nothing",
        defined("no-tools", NO_TOOLS, says("hello")),
        Promise(("completed",), 0, 0, 1, 0),
        "003 Problem and scope",
        swept=False,
    ),
    Row(
        "no-tools-call",
        "the default profile has no tool at all: a call ends the turn plainly",
        defined("no-tools-call", NO_TOOLS, calls(WROTE), DONE),
        Promise(("error",), 0, 0, 1, 0),
        "003 Problem and scope",
        swept=False,
    ),
    Row(
        "foreign-provisioner",
        "a Shell Session on another machine's provisioner is not opened",
        defined("foreign-provisioner", SHELL_2, DONE, provisioner="remote"),
        Promise((), 0, 0, 0, 0),
        "003 Problem and scope",
        swept=False,
    ),
    Row(
        "remote-files",
        "a Session of file tools alone does not care where its Workspace is provisioned",
        defined("remote-files", FILES_1, calls(WROTE), DONE, provisioner="remote"),
        answers(1, 2),
        "003 Problem and scope",
        swept=False,
    ),
    Row(
        "file-window",
        "a file tool that has not answered within its own window blocks the turn: it is not awaited like a Shell",
        alone("file-window", calls(WROTE), DONE),
        Promise(("recovery-blocked",), 0, 1, 1, 0, "held", "error"),
        "behaviour §5",
        faults=("broker:call:ExecuteFileTool#1=delayed",),
        design=IMPATIENT,
    ),
    Row(
        "shell-window",
        "a Shell is awaited for its own timeout and a minute, however short the window of a file tool is",
        alone("shell-window", calls(quick("call-1", "wait")), DONE, programs=(PATIENT,)),
        Promise(("completed",), 1, 1, 2, 1),
        "behaviour §5",
        swept=False,
        design=IMPATIENT,
    ),
    Row(
        "lost-file-tool",
        "the lost answer of a file tool is never asked for again: its execution is unknown, and the turn blocks",
        alone("lost-file-tool", calls(WROTE), DONE),
        Promise(("recovery-blocked",), 0, 1, 1, 0, "held", "error"),
        "003 Problem and scope",
        faults=("broker:call:ExecuteFileTool#1=reply-lost",),
    ),
    Row(
        "changed-profile",
        "a Session that was opened as one profile is not opened as another, by any later owner",
        Scenario(
            "changed-profile",
            (
                SessionPlan(
                    "a",
                    "w",
                    (Turn((calls(quick("call-1", "make")), DONE)),),
                    definitions=(Definition(SHELL_2, SAME_HOST), Definition(FILES_2, SAME_HOST)),
                ),
            ),
        ),
        Promise(("completed",), 1, 1, 2, 1),
        "behaviour §1.2, §7 guard 55",
        faults=(f"{SETTLING}=crash-after",),
    ),
)
"""In the order of a sweep."""
