"""The model: a script of answers, chosen by the history that it is shown and by nothing else."""

from __future__ import annotations

from sim.actor import Actor
from sim.effects import Failed
from sim.protocol import ILL_FORMED_REQUEST, Infer, Message, ModelOutput
from sim.scenario import Turn, says
from sim.text import JsonError, has_unpaired, parse_json, texts_in


class Model(Actor):
    """Answers round n of a turn when it is shown n - 1 answers of its own since the last user message.

    ``turns`` maps a prompt's id to its turn. The exact request is in the run's history. A ``strict`` transport to it
    takes no request in which the arguments of a call, once they are parsed, hold half a character.
    """

    def __init__(self, turns: dict[str, Turn], strict: bool = False) -> None:
        self.turns = turns
        self.strict = strict

    async def infer(self, request: Infer) -> ModelOutput:
        """The scripted answer to this history; text once the script has run out."""
        if self.strict and any(map(is_ill_formed, request.messages)):
            raise Failed(ILL_FORMED_REQUEST, 400)
        answers = self.turns[request.prompt].answers
        said = own_answers(request.messages)
        return answers[said] if said < len(answers) else says("done")

    handlers = {Infer: infer}


def own_answers(messages: tuple[Message, ...]) -> int:
    """How many answers the model has given since the last user message."""
    roles = [message.role for message in messages]
    last_user = len(roles) - 1 - roles[::-1].index("user") if "user" in roles else -1
    return roles[last_user + 1 :].count("model")


def is_ill_formed(message: Message) -> bool:
    """Whether the arguments of any call in it hold half a character."""
    return any(has_unpaired(text) for call in message.calls for text in texts_in(parsed(call.arguments)))


def parsed(arguments: str) -> object:
    """The arguments of a call as a value; as they are when they are no JSON."""
    try:
        return parse_json(arguments)
    except JsonError:
        return arguments
