"""The conversation as the model is shown it, rebuilt from the Session's records and from nothing else."""

from __future__ import annotations

from sim.protocol import Assistant, Message, Record, Response, ToolResult, UserMessage


def conversation(records: list[Record]) -> tuple[Message, ...]:
    """Messages in the order of the records; the responses to one batch stand in one message, in the batch's order."""
    messages: list[Message] = []
    for record in records:
        if isinstance(record, UserMessage):
            messages.append(Message("user", record.text))
        elif isinstance(record, Assistant):
            messages.append(Message("model", record.text, record.calls))
        elif isinstance(record, ToolResult):
            before: tuple[Response, ...] = ()
            if messages[-1].role == "tool":
                before = messages.pop().responses
            messages.append(Message("tool", responses=before + record.responses))
    return tuple(messages)
