"""What a line of ``runs.jsonl`` looks like, by what its run came to; ``docs/runs.schema.json`` is made of it.

``python -m reports.schema`` prints that file.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

FORMAT: Literal[1] = 1
"""It changes when a line gains, loses or renames a field, or a field another meaning."""

Row = Annotated[str, Meta(min_length=1, description="The row that was played.")]
Written = Annotated[
    str,
    Meta(
        min_length=1,
        description="The faults that were struck: actor:door:label#nth@causes=fate, commas between them, or none.",
    ),
]
Design = Annotated[
    str, Meta(pattern="^[0-9a-f]{12}$", description="The digest of the design that the row was played under.")
]
Ending = Annotated[
    str,
    Meta(
        min_length=1,
        description="How the run left the world, in words: turns, leases, and what a cold load says.",
    ),
]
Events = Annotated[int, Meta(ge=1, description="The number of events of the run's history.")]
Digest = Annotated[
    str,
    Meta(
        pattern="^[0-9a-f]{32}$",
        description="The digest of the run's history: equal for equal runs, on any machine.",
    ),
]
Replay = Annotated[str, Meta(pattern="^turnproof replay ", description="The line that plays the run again.")]
Version = Annotated[Literal[1], Meta(description="The format of the line.")]


class Finding(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was found in a run."""

    check: Annotated[
        str, Meta(min_length=1, description="The check that speaks; `turnproof explain` says what it holds.")
    ]
    at: Annotated[int, Meta(ge=0, description="When, in virtual milliseconds since the run began.")]
    sentence: Annotated[str, Meta(min_length=1, description="What is wrong.")]


Nothing = Annotated[list[Finding], Meta(max_length=0, description="What was found: nothing.")]
Landed = Annotated[list[str], Meta(max_length=0, description="The strikes that never landed: none.")]


class Passed(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="status", tag="passed"):
    """A run that came to what is promised."""

    format: Version
    row: Row
    plan: Written
    design: Design
    mark: Annotated[
        Literal["==", "++"], Meta(description="== it ended as without the fault; ++ otherwise, as promised.")
    ]
    ending: Ending
    findings: Nothing
    missed: Landed
    events: Events
    history: Digest


class NotAccepted(
    Passed, frozen=True, forbid_unknown_fields=True, tag_field="status", tag="not accepted (expected)"
):
    """A run that came to what is promised, where the seed says that acceptance fails."""


class Wrong(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="status", tag="finding"):
    """A run in which something was found."""

    format: Version
    row: Row
    plan: Written
    design: Design
    mark: Annotated[Literal["--"], Meta(description="A finding.")]
    ending: Ending
    findings: Annotated[list[Finding], Meta(min_length=1, description="What was found.")]
    missed: Landed
    events: Events
    history: Digest
    replay: Replay


class Missed(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="status", tag="missed"):
    """A run whose fault never met its point: it proves nothing."""

    format: Version
    row: Row
    plan: Written
    design: Design
    mark: Annotated[Literal["!!"], Meta(description="No verdict.")]
    ending: Annotated[str, Meta(description="How the run left the world, in words.")]
    findings: Annotated[list[Finding], Meta(description="What was found all the same.")]
    missed: Annotated[list[str], Meta(min_length=1, description="The strikes that never landed.")]
    events: Events
    history: Digest
    replay: Replay


class Broken(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="status", tag="broken"):
    """A run in which the bench itself failed: no verdict on the design."""

    format: Version
    row: Row
    plan: Written
    design: Design
    mark: Annotated[Literal["!!"], Meta(description="No verdict.")]
    ending: Annotated[Literal[""], Meta(description="Unknown.")]
    error: Annotated[str, Meta(min_length=1, description="How the bench failed.")]
    replay: Replay


Run: TypeAlias = Passed | NotAccepted | Wrong | Missed | Broken
"""A line, whatever its run came to."""


def schema() -> dict[str, Any]:
    """The JSON Schema of a line."""
    found = msgspec.json.schema(Run)
    del found["discriminator"]  # no word of JSON Schema
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:turnproof:runs:{FORMAT}",
        "title": "A line of runs.jsonl",
        "description": "One run of a sweep. Lines are ASCII; ill-formed text stands in them as JSON escapes.",
        **found,
    }


def published() -> str:
    """The text of ``docs/runs.schema.json``."""
    return json.dumps(schema(), indent=2) + "\n"


if __name__ == "__main__":
    print(published(), end="")
