"""The worker's side of one capture: what comes out of the pipes goes to the Session's owner, once."""

from __future__ import annotations

from typing import Any, TypeVar

from sim.content import Content
from sim.design import Limits, capture
from sim.effects import Call, Failed, Request, Scripted, Uncertain
from sim.protocol import (
    AcceptCapture,
    Descriptor,
    Envelope,
    FinalizeCapture,
    FinishOutput,
    Physical,
    PreparePublication,
    Receipt,
    Reference,
    WriteOutput,
)
from sim.rule import Decide
from sim.shell.drain import Drain

R = TypeVar("R")


class Proxy(Drain):
    """Sends what one process writes; nothing twice, and nothing more once something was not answered."""

    def __init__(self, reference: Reference, publisher: Descriptor, ask: Decide, limits: Limits) -> None:
        super().__init__(ask, limits)
        self._execution = reference.execution
        self._reference = reference
        self._bearer = publisher.capability
        self._address = f"publisher:{publisher.session}"

    async def opens(self) -> bool:
        """Before spawn: whether the owner opened the capture."""
        return await self._answered(PreparePublication(self._bearer, self._reference), 1)

    async def take(self, stream: str, offset: int, content: Content) -> bool:
        """Send a raw write. Its answer says that the bytes are buffered, not that they are durable."""
        request = WriteOutput(self._bearer, self._execution, stream, offset, content)
        return await self._answered(request, self.ask(capture.raw_write_sends))

    async def end(self, stream: str, complete: bool) -> bool:
        """Send the end of a stream."""
        return await self._answered(FinishOutput(self._bearer, self._execution, stream, complete), 1)

    def finalize(self, physical: Physical) -> Scripted[Envelope]:
        """Ask for the envelope. Its loss leaves the execution unknown."""
        return self._call(FinalizeCapture(self._bearer, self._execution, physical))

    def accept(self, envelope: Envelope) -> Scripted[Receipt]:
        """Ask for admission. Its loss leaves the execution unknown."""
        return self._call(AcceptCapture(self._bearer, self._execution, envelope))

    async def _answered(self, request: Request[Any], sends: int) -> bool:
        """Send at most so often; whether an answer came."""
        while sends:
            try:
                await Call(self._address, request)
            except Failed as refusal:
                sends -= 1
                if is_redirect(refusal) and self.ask(capture.follows_redirect, refusal.status):
                    self._address, sends = refusal.code, sends + 1
            except Uncertain:
                sends -= 1
            else:
                return True
        return False

    async def _call(self, request: Request[R]) -> R:
        return await Call(self._address, request)


def is_redirect(refusal: Failed) -> bool:
    """Whether a listener names another address instead of an answer; its code is that address."""
    return 300 <= refusal.status < 400
