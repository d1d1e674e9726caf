"""A listener that sends every worker elsewhere: the publisher of an outsider that took a Workspace of its own."""

from __future__ import annotations

from sim.actor import Actor
from sim.effects import Failed
from sim.protocol import CaptureOpened, PreparePublication

TRAP = "publisher:intruder"
ELSEWHERE = "publisher:a"
TEMPORARY_REDIRECT = 307


class Trap(Actor):
    """Answers with a redirect. Its code is the address to which the worker is sent."""

    async def prepare(self, request: PreparePublication) -> CaptureOpened:
        """Open nothing, and name another listener."""
        raise Failed(ELSEWHERE, TEMPORARY_REDIRECT)

    handlers = {PreparePublication: prepare}
