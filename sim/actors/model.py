"""The model: a script of answers, chosen by the history that it is shown and by nothing else."""

from __future__ import annotations

from sim.actor import Actor
from sim.protocol import Infer, Message, ModelOutput
from sim.scenario import Turn, says


class Model(Actor):
    """Answers round n of a turn when it is shown n - 1 answers of its own since the last user message.

    ``turns`` maps a prompt's id to its turn. The exact request is in the run's history.
    """

    def __init__(self, turns: dict[str, Turn]) -> None:
        self.turns = turns

    async def infer(self, request: Infer) -> ModelOutput:
        """The scripted answer to this history; text once the script has run out."""
        answers = self.turns[request.prompt].answers
        said = own_answers(request.messages)
        return answers[said] if said < len(answers) else says("done")

    handlers = {Infer: infer}


def own_answers(messages: tuple[Message, ...]) -> int:
    """How many answers the model has given since the last user message."""
    roles = [message.role for message in messages]
    last_user = len(roles) - 1 - roles[::-1].index("user") if "user" in roles else -1
    return roles[last_user + 1 :].count("model")
