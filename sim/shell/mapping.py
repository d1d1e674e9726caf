"""What a journal must say before a Shell may be captured: the mapping from model call to execution."""

from __future__ import annotations

from collections.abc import Sequence

from sim.design import capture
from sim.protocol import Checkpoint, Entry, Ownership, RegisterCapture, ToolIntent
from sim.rule import Decide
from sim.shell.reread import require
from sim.text import DigestError, JsonError, parse_json, tool_digest


def require_mapping(
    entries: Sequence[Entry], registered: RegisterCapture, owner: Ownership, ask: Decide
) -> None:
    """The live checkpoint, its item and the covered intent all name this execution, for this owner.

    Failed: ``hosted_shell_publication_failed``.
    """
    checkpoint = _last_checkpoint(entries)
    same_activation = (checkpoint.activation, checkpoint.epoch) == (owner.activation, owner.epoch)
    same_prompt = checkpoint.prompt == registered.prompt
    require(ask(capture.checkpoint_is_live, checkpoint.phase, same_prompt, same_activation))
    require(_bound(checkpoint, registered, ask))
    intent = _intent(entries, registered)
    intended_here = (intent.activation, intent.epoch) == (owner.activation, owner.epoch)
    require(ask(capture.intent_is_covered, intent.sequence, checkpoint.covered, intended_here))


def require_arguments(recorded: bytes, registered: RegisterCapture, ask: Decide) -> None:
    """The recorded argument bytes are those that the reference names.

    Failed: ``hosted_shell_publication_failed``.
    """
    computed = _digest_of(recorded)
    require(ask(capture.recorded_arguments_match, computed, registered.reference.input_digest))


def _bound(checkpoint: Checkpoint, registered: RegisterCapture, ask: Decide) -> bool:
    reference = registered.reference
    bindings = [binding for binding in checkpoint.bindings if binding.execution == reference.execution]
    return bool(bindings) and ask(
        capture.binding_maps,
        bindings[0].model_call == registered.model_call,
        bindings[0].worker_call == reference.worker_call,
        bindings[0].input_digest == reference.input_digest,
        bindings[0].state,
    )


def _last_checkpoint(entries: Sequence[Entry]) -> Checkpoint:
    found = [entry.record for entry in entries if isinstance(entry.record, Checkpoint)]
    require(bool(found))
    return found[-1]


def _intent(entries: Sequence[Entry], registered: RegisterCapture) -> Entry:
    """The intent of exactly this execution, with its arguments and calls."""
    reference = registered.reference
    found = [
        (entry, entry.record)
        for entry in entries
        if isinstance(entry.record, ToolIntent) and entry.record.execution == reference.execution
    ]
    require(bool(found))
    entry, record = found[0]
    told = (record.model_call, record.worker_call, record.input_digest, record.args_ref)
    expected = (registered.model_call, reference.worker_call, reference.input_digest, registered.args_ref)
    require(told == expected)
    return entry


def _digest_of(arguments: bytes) -> str:
    """The tool digest of recorded argument bytes; empty when they are no JSON data."""
    try:
        return tool_digest(parse_json(arguments.decode(errors="replace")))
    except (JsonError, DigestError):
        return ""
