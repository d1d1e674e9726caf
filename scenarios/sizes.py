"""Sizes around every limit of the local path: one below it, exactly at it, one above it.

Each table line says what makes the size, the largest size that is promised to go well, and what is promised up to it
and above it. Most limits are scaled down, so that a few bytes reach them; the lines under *real* use the real ones.
Nothing is struck in these rows, unless their line says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from scenarios.base import BAD_SHAPE, DONE, alone, completes, quick
from scenarios.row import Promise, Row
from sim.design import SCALED, SEED, Design
from sim.protocol import STDOUT
from sim.scenario import Exit, Print, Program, Scenario, SessionPlan, Touch, Turn, calls, says, shell

# --- what makes a size -------------------------------------------------------------------------------------------

CHARACTERS = {1: "x", 2: "\N{LATIN SMALL LETTER E WITH ACUTE}", 3: "\N{EURO SIGN}", 4: "\N{GRINNING FACE}"}
"""One character of each width in bytes."""
CONTROL = "\x01"
"""One byte of output; six bytes of a record."""


def text(size: int, unit: str) -> str:
    """So many characters of ``unit`` as fit into ``size`` bytes of a record, and ``x`` for the rest."""
    width = len(msgspec.json.encode(unit)) - 2
    return unit * (size // width) + "x" * (size % width)


def prints(*printed: Print) -> Scenario:
    """One call whose command changes one file and prints this."""
    program = Program("out", (Touch("effects.log", "out"), *printed, Exit(0)))
    return alone("out", calls(quick("call-1", "out")), DONE, programs=(program,))


def output(size: int) -> Scenario:
    """One call that prints so many bytes."""
    return prints(Print(STDOUT, b"x", size))


def controls(size: int) -> Scenario:
    """One call whose output takes so many bytes of a record, nearly all of them in six-fold escapes."""
    return prints(Print(STDOUT, CONTROL.encode(), size // 6), Print(STDOUT, b"x", size % 6))


def aligned(width: int, beside: int) -> Scenario:
    """One call that prints 10,000 bytes and more in characters of one width, with ``beside`` bytes on either side."""
    beyond = Print(STDOUT, b"!", beside)
    return prints(beyond, Print(STDOUT, CHARACTERS[width].encode(), 10_000 // width + 1), beyond)


def prompt(size: int) -> Scenario:
    """A prompt of so many bytes, with a third of as many characters."""
    written = CHARACTERS[3] * (size // 3) + "x" * (size % 3)
    return Scenario("prompt", (SessionPlan("a", "w", (Turn((DONE,), written),)),))


def escaped_prompt(size: int) -> Scenario:
    """A prompt that takes so many bytes of a record, nearly all of them in six-fold escapes."""
    return Scenario("prompt", (SessionPlan("a", "w", (Turn((DONE,), text(size, CONTROL)),)),))


def command(size: int) -> Scenario:
    """One call whose command has so many characters."""
    return alone("command", calls(quick("call-1", "x" * size)), DONE)


def batch(size: int) -> Scenario:
    """Two calls whose commands have so many characters together."""
    first = size // 2
    return alone("batch", calls(quick("call-1", "x" * first), quick("call-2", "y" * (size - first))), DONE)


def quotes(size: int) -> Scenario:
    """One call whose command takes so many bytes of a record, nearly all of them in quotes that are escaped twice."""
    return alone("quotes", calls(quick("call-1", '"' * (size // 4) + "x" * (size % 4))), DONE)


def answer(size: int) -> Scenario:
    """A model that answers with so many bytes after its call."""
    return alone("answer", calls(quick("call-1", "make")), says("x" * size))


def timeout(size: int) -> Scenario:
    """A call with a timeout of so many milliseconds, then one with 40,000."""
    return alone(
        "timeout", calls(shell("call-1", "make", timeout=size)), calls(quick("call-2", "make test")), DONE
    )


def requests(size: int) -> Scenario:
    """A model that corrects nothing, and gives up with a text at its request of this number."""
    return alone("requests", *(calls(BAD_SHAPE) for _ in range(size - 1)), DONE)


# --- tables ------------------------------------------------------------------------------------------------------


class Size(msgspec.Struct, frozen=True):
    """A limit that a size may not pass: ``most`` is the last size that keeps the promise ``within``.

    ``step`` says on which side of it the sizes lie that do not: 1 above, -1 below. ``swept`` means the row exactly at
    the limit.
    """

    name: str
    why: str
    most: int
    made: Callable[[int], Scenario]
    within: Promise
    above: Promise
    cites: str
    design: Design
    step: int = 1
    swept: bool = False


class Fit(msgspec.Struct, frozen=True):
    """A size that stays and a limit that moves around it: at ``size`` and more of it the promise is ``within``.

    What is measured is written by the system itself, so that no program can make it one byte longer.
    """

    name: str
    why: str
    limit: str
    size: int
    made: Scenario
    within: Promise
    above: Promise
    cites: str
    design: Design = SCALED


class Cut(msgspec.Struct, frozen=True):
    """A preview of characters of ``width`` bytes with ``beside`` bytes on either side: the bytes left at both ends."""

    width: int
    beside: int
    head: int
    tail: int


def scaled(**limits: int) -> Design:
    """The small sizes of a sweep, some of them smaller still or larger."""
    return having(SCALED, **limits)


def having(design: Design, **limits: int) -> Design:
    """The same rules under other limits."""
    return msgspec.structs.replace(design, limits=msgspec.structs.replace(design.limits, **limits))


COMPLETE = completes(1, 2)
BLOCKED = Promise(("recovery-blocked",), 1, 1, 1, 0, "held", "error")
"""What ran is not admitted: physical result and ownership are kept, and the turn stops."""
NEVER_TAKEN = Promise(("recovery-blocked",), 0, 0, 1, 0, "held", "error")
"""What was reserved is not started, and nobody can prove it to the turn."""
PLAIN = Promise(("error",), 0, 0, 1, 0)
"""A plain error before anything is acquired."""
NOT_ACCEPTED = Promise(("not accepted",), 0, 0, 0, 0)
ANSWERED = Promise(("completed",), 0, 0, 1, 0)
RAN_ON = Promise(("completed",), 2, 2, 3, 2)
CORRECTED = Promise(("completed after refusal",), 1, 1, 3, 1)

OUTPUT, CONTENT = "003 Ownership and transport", "003 Durable output storage"
HISTORY, REFUSAL = "003 Identity, admission and model history", "003 Lifecycle and failure handling"

SIZES = (
    # --- one stream: segments, pages, and what bounds it
    Size("page", "output that fills a page", 128, output, COMPLETE, COMPLETE, CONTENT, SCALED),
    Size(
        "stream",
        # Swept because everything is full: page and bounds are reached by a write, and the finish finds nothing left.
        "output that fills every page of a stream",
        256,
        output,
        COMPLETE,
        BLOCKED,
        "behaviour §1.8",
        scaled(pages=2),
        swept=True,
    ),
    Size(
        "ordinal",
        "output whose last segment has the last number",
        256,
        output,
        COMPLETE,
        BLOCKED,
        "behaviour §1.8",
        scaled(last_ordinal=3),
    ),
    # --- on its way
    Size("write", "output that one raw write carries", 32, output, COMPLETE, COMPLETE, OUTPUT, SCALED),
    Size("pipe", "output that one pipe holds", 64, output, COMPLETE, COMPLETE, OUTPUT, SCALED),
    Size(
        "reread",
        "a segment that one range of the re-read holds",
        48,
        output,
        COMPLETE,
        COMPLETE,
        HISTORY,
        scaled(reread=48),
    ),
    # --- what the model sees
    Size("buffer", "output of which nothing is forgotten", 256, output, COMPLETE, COMPLETE, OUTPUT, SCALED),
    Size("preview", "output that is shown whole", 8_192, output, COMPLETE, COMPLETE, OUTPUT, SEED),
    Size(
        "result",
        "a result that its record holds: its output, 35 bytes of status and quotes, 512 for the record's own",
        1_501,
        output,
        COMPLETE,
        BLOCKED,
        HISTORY,
        scaled(process_buffer=4_096, history_record=2_048),
    ),
    Size(
        "escaped-result",
        "the same of control characters, each of which takes six bytes",
        1_501,
        controls,
        COMPLETE,
        BLOCKED,
        HISTORY,
        scaled(process_buffer=4_096, history_record=2_048),
    ),
    # --- what the model and the user say
    Size(
        "prompt",
        "a prompt that its limit allows, counted in bytes",
        200,
        prompt,
        ANSWERED,
        NOT_ACCEPTED,
        "behaviour §5",
        scaled(prompt=200),
    ),
    Size(
        "call",
        "a call that its envelope holds: its command, 68 bytes of its own, 64 for the fields",
        268,
        command,
        COMPLETE,
        PLAIN,
        "000 §6 Limits and identity",
        scaled(call_envelope=400),
    ),
    Size(
        "timeout",
        "the longest timeout",
        600_000,
        timeout,
        RAN_ON,
        CORRECTED,
        REFUSAL,
        SEED,
    ),
    Size("least-timeout", "the shortest timeout", 1, timeout, RAN_ON, CORRECTED, REFUSAL, SEED, step=-1),
    # --- real: 64 KiB of history record and prompt, 64 KiB of pipe, write and tail, 1 MiB of segment
    Size(
        "real-batch",
        "a batch that its record holds: two commands, 132 bytes a call, 512 for the record's own",
        64_760,
        batch,
        Promise(("completed",), 2, 2, 2, 2),
        PLAIN,
        "behaviour §7 guard 42",
        SEED,
    ),
    Size(
        "real-quotes",
        "the same of one command of quotes, each of which takes four bytes",
        64_892,
        quotes,
        COMPLETE,
        PLAIN,
        "behaviour §7 guard 42",
        SEED,
    ),
    Size(
        "real-answer",
        "a text of the model that its record holds: the text, two quotes, 512 for the record's own",
        65_022,
        answer,
        COMPLETE,
        Promise(("error",), 1, 1, 2, 1),
        "behaviour §5",
        SEED,
    ),
    Size(
        "real-prompt",
        "a prompt of control characters that its record holds",
        65_022,
        escaped_prompt,
        ANSWERED,
        NOT_ACCEPTED,
        "behaviour §5",
        SEED,
    ),
    Size(
        "real-write",
        "output that a pipe, a raw write and the tail hold",
        65_536,
        output,
        COMPLETE,
        COMPLETE,
        OUTPUT,
        SEED,
    ),
    Size("real-segment", "output that fills a segment", 1_048_576, output, COMPLETE, COMPLETE, CONTENT, SEED),
)

FITS = (
    Fit("content", "a segment that the Store takes", "content", 64, output(64), COMPLETE, BLOCKED, CONTENT),
    Fit("page", "a page that the Store takes", "page", 382, output(128), COMPLETE, BLOCKED, CONTENT),
    Fit(
        "manifest",
        "a manifest that the Store takes",
        "manifest",
        322,
        output(128),
        COMPLETE,
        BLOCKED,
        CONTENT,
    ),
    Fit(
        "chunk",
        "a raw write that the owner takes",
        "write",
        32,
        output(64),
        COMPLETE,
        BLOCKED,
        "behaviour §1.7",
    ),
    Fit(
        "record",
        "a record, here the receipt, that the Store takes",
        "inline",
        2_491,
        output(2_000),
        COMPLETE,
        BLOCKED,
        "003 Problem and scope",
        scaled(process_buffer=4_096, segment=4_096),
    ),
    Fit(
        "payload",
        "a payload that the broker starts",
        "payload",
        96,
        output(9),
        COMPLETE,
        NEVER_TAKEN,
        "behaviour §1.10",
    ),
)

CUTS = (
    Cut(2, 0, 2_048, 6_082),
    Cut(2, 1, 2_047, 6_083),
    Cut(2, 2, 2_048, 6_082),
    Cut(2, 3, 2_047, 6_083),
    Cut(3, 0, 2_046, 6_081),
    Cut(3, 1, 2_047, 6_082),
    Cut(3, 2, 2_048, 6_083),
    Cut(3, 3, 2_046, 6_081),
    Cut(4, 0, 2_048, 6_080),
    Cut(4, 1, 2_045, 6_081),
    Cut(4, 2, 2_046, 6_082),
    Cut(4, 3, 2_047, 6_083),
)

LINES = "".join(f"line {number:05}\n" for number in range(10_000))
"""Output in which every place looks otherwise: 110,000 bytes."""

FORGOTTEN = Row(
    "size-forgotten",
    "of more output than the buffer holds, the preview is about the last 64 KiB",
    prints(Print(STDOUT, LINES.encode(), 1)),
    COMPLETE,
    OUTPUT,
    swept=False,
    design=SEED,
)

UP_TO_THE_LAST = tuple(
    Row(
        f"size-rounds-{name}",
        f"a model that stops calling at its request {number} of sixteen",
        requests(number),
        promise,
        "behaviour §1.1",
        swept=False,
        design=SEED,
    )
    for name, number, promise in (
        ("less-one", 15, Promise(("completed after refusal",), 0, 0, 15, 0)),
        ("exact", 16, Promise(("completed after refusal",), 0, 0, 16, 0)),
        ("plus-one", 17, Promise(("uncorrected",), 0, 0, 16, 0)),
    )
)

# --- rows --------------------------------------------------------------------------------------------------------

CASES = {3: ("RC-34",), 4: ("RC-34", "RC-61")}
"""The field cases that met characters of this width cut in two."""
BESIDE = {-1: ("less-one", "one less"), 0: ("exact", "exactly"), 1: ("plus-one", "one more")}
"""How a row is named after the side of the limit on which its size lies."""


def around(size: Size) -> Iterator[Row]:
    """The rows of a size: one within, the limit, one above."""
    for offset, (name, told) in BESIDE.items():
        promise = size.above if offset == size.step else size.within
        yield Row(
            f"size-{size.name}-{name}",
            f"{size.why}: {told}",
            size.made(size.most + offset),
            promise,
            size.cites,
            swept=size.swept and not offset,
            design=size.design,
        )


def fitting(fit: Fit) -> Iterator[Row]:
    """The rows of a fit: the size is one less than the limit, the limit, one more."""
    for offset, (name, told) in BESIDE.items():
        yield Row(
            f"size-fit-{fit.name}-{name}",
            f"{fit.why}: {told}",
            fit.made,
            fit.above if offset == 1 else fit.within,
            fit.cites,
            swept=False,
            design=having(fit.design, **{fit.limit: fit.size - offset}),
        )


def cutting(cut: Cut) -> Row:
    """The row of a cut. What is left of head and tail is judged by the check of previews, and by the tests."""
    return Row(
        f"size-cut-{cut.width}-{cut.beside}",
        f"a preview is cut between characters of {cut.width} bytes, {cut.beside} bytes from either end",
        aligned(cut.width, cut.beside),
        COMPLETE,
        OUTPUT,
        CASES.get(cut.width, ()),
        swept=False,
        design=SEED,
    )


ROWS = (
    *(row for size in SIZES for row in around(size)),
    *(row for fit in FITS for row in fitting(fit)),
    *map(cutting, CUTS),
    FORGOTTEN,
    *UP_TO_THE_LAST,
)
"""In the order of the tables."""
