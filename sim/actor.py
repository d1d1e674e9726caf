"""What every actor is: a class built from its disk, whose coroutines ask the world and answer its peers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from sim.effects import Request, Scripted


class Actor:
    """A part of the system.

    Durable facts are on the disk that the constructor is given; whatever stands on ``self`` is gone after a crash,
    for a restart is the same constructor again. ``handlers`` maps each request type to the script that answers it.
    """

    handlers: ClassVar[Mapping[type[Request[Any]], Callable[..., Scripted[Any]]]] = {}

    async def boot(self) -> None:
        """What this actor does by itself when its process comes up; nothing, unless it says otherwise."""
