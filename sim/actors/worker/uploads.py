"""The worker's own publisher: output goes to the object store, piece by piece, under the execution's grant (O2)."""

from __future__ import annotations

from sim.content import sha256
from sim.design import Limits, publication
from sim.effects import Call, Failed, Request, Serial, Sleep, Uncertain
from sim.protocol import Envelope, Physical, Published, PublishOutput, Receipt, Reference
from sim.publication import (
    PENDING,
    RETRYABLE,
    UNKNOWN_OPERATION,
    FinishPublication,
    InstallGrant,
    Operation,
    PublishPiece,
    ReadOperation,
    RecoverOperation,
)
from sim.rule import Decide
from sim.shell.segments import Segments
from sim.shell.sink import Sink

SERVICE = "publications"


class Uploads(Sink):
    """Publishes what one process writes, one operation after the other, each under an id that it always has."""

    def __init__(self, reference: Reference, grant: InstallGrant, ask: Decide, limits: Limits) -> None:
        super().__init__(Segments(grant.capture, self.publish, ask, limits))
        self._execution = reference.execution
        self._grant = grant

    async def opens(self) -> bool:
        """Before spawn: the grant is installed, so the capture is open."""
        return True

    async def finalize(self, physical: Physical) -> Envelope:
        """The manifest, and the result as it is finished. Failed: nobody will find it there."""
        envelope = await self.segments.finalize(self._execution, physical)
        grant = self._grant
        await self._operate(FinishPublication(grant.publication, grant.bearer, "finish", envelope), "finish")
        return envelope

    async def accept(self, envelope: Envelope) -> Receipt | None:
        """None: what is finished is admitted by the Session's owner, and nobody has to be asked for it."""
        return None

    async def publish(self, output: PublishOutput, name: str) -> Published:
        """Publish one piece. Failed: with the reason for which it will never be durable."""
        grant, content = self._grant, output.content
        told = (name, output.kind, output.resource, content, sha256(content))
        operation = await self._operate(PublishPiece(grant.publication, grant.bearer, *told), name)
        return Published(output.resource, operation.digest)

    async def _operate(self, request: Request[Operation], name: str) -> Operation:
        return await Serial(f"{self._execution}:operations", self._complete, (request, name))

    async def _complete(self, request: Request[Operation], name: str) -> Operation:
        """Ask; then look, recover and ask again, boundedly, until it is done. Failed: it never will be."""
        operation = await self._ask(request, name)
        waited = recoveries = 0
        while (proof := self.ask(publication.operation_proves, operation.state)) != "done":
            await Sleep(self.limits.publication_pause)
            waited += self.limits.publication_pause
            if proof == "wait" and self.ask(publication.polls_longer, waited, self.limits):
                operation = await self._ask(self._about(ReadOperation, name), name)
            elif proof == "recover" and self.ask(publication.recovers_again, recoveries, self.limits):
                recoveries += 1
                operation = await self._recover(request, name)
            else:
                raise Failed(operation.reason or operation.state)
        return operation

    async def _recover(self, request: Request[Operation], name: str) -> Operation:
        """Have it found out what became of an operation; what did not happen is asked for again, identically."""
        found = await self._ask(self._about(RecoverOperation, name), name)
        if found.state == RETRYABLE:
            found = await self._ask(request, name)
        return found

    async def _ask(self, request: Request[Operation], name: str) -> Operation:
        """What the service says of an operation: nothing yet, in doubt; one that never arrived can be repeated."""
        try:
            return await Call(SERVICE, request)
        except Uncertain as doubt:
            return Operation(name, PENDING, "", doubt.cause)
        except Failed as refusal:
            if refusal.code != UNKNOWN_OPERATION:
                raise
            return Operation(name, RETRYABLE, "", refusal.code)

    def _about(self, kind: type[ReadOperation] | type[RecoverOperation], name: str) -> Request[Operation]:
        return kind(self._grant.publication, self._grant.bearer, name)
