"""The object store: bytes under keys, each written once."""

from __future__ import annotations

from sim.actor import Actor
from sim.content import Content, sha256
from sim.design import publication, writer
from sim.effects import Commit, Disk, Facts, Failed, Transaction
from sim.facts import OBJECTS, StoredObject
from sim.protocol import Piece
from sim.publication import GetObject, HeadObject, ObjectHead, ObjectPut, PutObject
from sim.rule import Decide

OBJECT_STORE = "objects"


class KeepObject(Transaction[ObjectPut], frozen=True, gc=False):
    """Keep an object, if its bytes are the ones that were sent, and no others stand under its key.

    Failed: ``object_digest_mismatch``, ``object_exists``.
    """

    key: str
    kind: str
    content: Content
    declared: str

    identity = "{0.key}"

    @property
    def label(self) -> str:
        return f"KeepObject.{self.kind}"

    @property
    def stores_bytes(self) -> bool:
        return bool(self.content)

    def apply(self, facts: Facts, ask: Decide) -> ObjectPut:
        digest = sha256(self.content)
        if not ask(writer.digest_holds, self.declared, digest):
            raise Failed("object_digest_mismatch", 400)
        held = facts.get(OBJECTS, self.key)
        if held is not None and not ask(publication.same_operation, held.digest, digest):
            raise Failed("object_exists")
        if held is None or held.digest != digest:
            facts.put(OBJECTS, self.key, StoredObject(self.kind, digest, self.content))
        return ObjectPut(digest)


class Objects(Actor):
    """Keeps objects, and knows nothing of what they are for."""

    def __init__(self, disk: Disk, ask: Decide) -> None:
        self.disk = disk
        self.ask = ask

    async def put(self, request: PutObject) -> ObjectPut:
        """Keep an object; the answer follows the commit."""
        return await Commit(KeepObject(request.key, request.kind, request.content, request.digest))

    async def head(self, request: HeadObject) -> ObjectHead:
        """An object's length and digest. Failed: ``object_missing``."""
        held = self.held(request.key)
        return ObjectHead(len(held.content), held.digest)

    async def get(self, request: GetObject) -> Piece:
        """A range of an object. Failed: ``object_missing``."""
        held = self.held(request.key)
        return Piece(held.content[request.start : request.end], len(held.content))

    def held(self, key: str) -> StoredObject:
        """The object under a key."""
        held = self.disk.get(OBJECTS, key)
        if held is None:
            raise Failed("object_missing", 404)
        return held

    handlers = {PutObject: put, HeadObject: head, GetObject: get}
