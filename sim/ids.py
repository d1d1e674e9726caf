"""Names made from content: the same facts have the same name in every run and in every life of a process."""

import hashlib
from collections.abc import Mapping
from typing import Final, Literal

from sim.text import stringify, utf8

_HISTORY_NAMESPACE: Final = "qwen-hosted-shell-history/1:"

# What tells one delivery of a Hook input from another, and not one input from another.
_DELIVERY_FIELDS: Final = frozenset(
    {"session_id", "transcript_path", "cwd", "hook_event_name", "timestamp", "messages"}
)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def shell_history_id(execution_call_id: str) -> str:
    """Return the UUID of an execution's history record.

    The context that Hooks add to a batch is saved under `<batch id>:hook-context` in place of the execution.
    The UUID has version 5 and comes from the id alone, so that writing again cannot make a second record.
    """
    seed = utf8(_HISTORY_NAMESPACE + execution_call_id)
    digest = bytearray(hashlib.sha1(seed, usedforsecurity=False).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x50
    digest[8] = digest[8] & 0x3F | 0x80
    text = digest.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def segment_resource_id(capture_id: str, stream_id: str, ordinal: float | Literal["seal"]) -> str:
    """Return the resource id of segment `ordinal` of a captured stream, or of its seal: 64 hex digits.

    The same id with other bytes is a conflict (003 Durable output storage).
    """
    return _sha256(stringify([capture_id, stream_id, ordinal]))


def capture_id(session_key: Mapping[str, object], execution_call_id: str, generation: str) -> str:
    """Return the id of the capture of an execution: 32 hex digits.

    `session_key` counts in its own order of fields (tenant, Workspace, Session); `generation` is the binding
    generation as decimal text.
    """
    return _sha256(stringify([session_key, execution_call_id, generation]))[:32]


def hook_plan_id(event: str, occurrence_id: str) -> str:
    """Return the id of the plan marker of one occurrence of a Hook event: `hook-plan-` and 64 hex digits."""
    return f"hook-plan-{_sha256(stringify([event, occurrence_id]))}"


def hook_child_id(plan_id: str, ordinal: float) -> str:
    """Return the record id of child `ordinal`, from 1, of a plan marker: `hook-` and 64 hex digits."""
    return f"hook-{_sha256(stringify([plan_id, ordinal]))}"


def semantic_input_digest(hook_input: Mapping[str, object]) -> str:
    """Return what a Hook input means as 64 hex digits: inputs of one occurrence conflict if these differ.

    Left out, at the top only: session_id, transcript_path, cwd, hook_event_name, timestamp, messages. The
    order of keys does not matter. Raises `DigestError` of kind `data` for what is not plain JSON data.
    """
    meant = {key: item for key, item in hook_input.items() if key not in _DELIVERY_FIELDS}
    return _sha256(stringify(meant, sort_keys=True))
