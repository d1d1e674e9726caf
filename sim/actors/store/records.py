"""The transactions of the Session Store: leases, records and output, each applied whole or not at all."""

from __future__ import annotations

import hashlib

import msgspec

from sim.content import Content, sha256
from sim.design import Limits, writer
from sim.design.writer import Claim
from sim.effects import Facts, Failed, Transaction
from sim.facts import (
    ACTIVATIONS,
    COMMANDS,
    HEADS,
    JOURNAL,
    RESOURCES,
    WRITERS,
    Activation,
    CommandReceipt,
    Head,
    StoredResource,
    Writer,
    in_session,
    journal_key,
)
from sim.protocol import (
    ActivationChanged,
    Appended,
    Entry,
    Published,
    Record,
    Renewed,
    Sealed,
    WriterGrant,
    WriterToken,
)
from sim.rule import Decide

INLINE = "inline"
"""The kind of a resource that came with a journal transaction."""


class TakeWriter(Transaction[WriterGrant], frozen=True, gc=False):
    """Take, extend or take over a Session's writer lease."""

    session: str
    owner: str
    token_hash: str
    lease: int

    identity = "{0.session}:{0.owner}"

    def apply(self, facts: Facts, ask: Decide) -> WriterGrant:
        held = facts.get(WRITERS, self.session)
        if held is None:
            return self.grant(facts, ask(writer.next_generation, 0))
        if ask(writer.same_writer, self.owner, self.token_hash, held):
            return self.grant(facts, held.generation)
        if not ask(writer.may_take_over, held, facts.now):
            raise Failed("managed_session_writer_conflict")
        return self.grant(facts, ask(writer.next_generation, held.generation))

    def grant(self, facts: Facts, generation: int) -> WriterGrant:
        """Write the lease's row."""
        expires_at = facts.now + self.lease
        facts.put(WRITERS, self.session, Writer(self.owner, self.token_hash, generation, expires_at))
        return WriterGrant(generation, expires_at)


class ExtendWriter(Transaction[Renewed], frozen=True, gc=False):
    """Extend a writer lease that nobody took over, and tell the current activation."""

    session: str
    claim: Claim
    lease: int

    identity = "{0.session}:{0.claim.generation}"

    def apply(self, facts: Facts, ask: Decide) -> Renewed:
        if not ask(writer.may_renew, self.claim, facts.get(WRITERS, self.session)):
            raise Failed("managed_session_writer_conflict")

        expires_at = facts.now + self.lease
        claim = self.claim
        extended = Writer(claim.owner, claim.token_hash, claim.generation, expires_at)
        facts.put(WRITERS, self.session, extended)
        current = facts.get(ACTIVATIONS, self.session) or Activation("", 0)
        return Renewed(expires_at, current.id, current.epoch)


class SealLease(Transaction[Sealed], frozen=True, gc=False):
    """End a writer lease at the wish of its own holder."""

    session: str
    claim: Claim

    identity = "{0.session}:{0.claim.generation}"

    def apply(self, facts: Facts, ask: Decide) -> Sealed:
        held = facts.get(WRITERS, self.session)
        if held is not None and ask(writer.was_sealed, self.claim.generation, held):
            return Sealed(held.generation)
        if held is None or not ask(writer.may_seal, self.claim, held):
            raise Failed("managed_session_writer_conflict")

        facts.put(WRITERS, self.session, ask(writer.sealed, held, facts.now))
        return Sealed(held.generation)


class CommitRecords(Transaction[Appended], frozen=True, gc=False):
    """Commit all records of one command, with the staged bytes of the resources that they refer to."""

    session: str
    command: str
    records: tuple[Record, ...]
    resources: tuple[str, ...]
    staged: tuple[tuple[str, bytes], ...]
    claim: Claim
    head: int
    activation: str
    epoch: int
    limits: Limits

    @property
    def label(self) -> str:
        return "+".join([record.label for record in self.records])

    identity = "{0.command}"

    @property
    def stores_bytes(self) -> bool:
        return bool(self.staged)

    def apply(self, facts: Facts, ask: Decide) -> Appended:
        """The checks stand in the order of behaviour §1.11."""
        recorded = facts.get(COMMANDS, in_session(self.session, self.command))
        if recorded is not None and self.is_replay(facts, recorded, ask):
            return Appended(recorded.last)
        if recorded is not None and ask(writer.command_conflicts, self.digest(), recorded.digest):
            raise Failed("managed_session_idempotency_conflict")

        self.refuse_stranger(facts, ask)
        self.keep_resources(facts, ask)
        for record in self.records:
            if not ask(writer.fits_inline, len(msgspec.json.encode(record)), self.limits):
                raise Failed("managed_session_oss_disabled", 501)
        return self.write(facts)

    def digest(self) -> str:
        """The identity of the bytes of this command."""
        told = (self.records, self.resources, self.head, self.activation, self.epoch)
        return hashlib.sha256(msgspec.msgpack.encode(told)).hexdigest()

    def is_replay(self, facts: Facts, recorded: CommandReceipt, ask: Decide) -> bool:
        """Was exactly this committed before, by exactly this writer?"""
        told = (recorded.digest, recorded.generation, recorded.token_hash)
        if not ask(writer.replays, self.digest(), self.claim, *told):
            return False
        return ask(writer.replays_after_expiry, facts.get(WRITERS, self.session), facts.now)

    def refuse_stranger(self, facts: Facts, ask: Decide) -> None:
        """Refuse who is not the live writer, at the head, under an activation that is not stale."""
        if not ask(writer.may_commit, self.claim, facts.get(WRITERS, self.session), facts.now):
            raise Failed("managed_session_writer_conflict")
        head = facts.get(HEADS, self.session) or Head(0)
        if not ask(writer.head_matches, self.head, head.sequence):
            raise Failed("managed_session_head_conflict")
        current = facts.get(ACTIVATIONS, self.session)
        if not ask(writer.activation_is_fresh, self.activation, self.epoch, current):
            raise Failed("managed_session_activation_conflict")

    def keep_resources(self, facts: Facts, ask: Decide) -> None:
        """Every resource referred to exists; what was only staged becomes durable in this transaction."""
        staged = dict(self.staged)
        for resource in self.resources:
            durable = facts.get(RESOURCES, in_session(self.session, resource)) is not None
            if ask(writer.resource_is_missing, durable, resource in staged):
                raise Failed("managed_session_resource_missing")
        for resource, content in self.staged:
            key, digest = in_session(self.session, resource), sha256(content)
            held = facts.get(RESOURCES, key)
            if held is not None and ask(writer.inline_conflicts, digest, held.digest):
                raise Failed("managed_session_resource_conflict")
            if not ask(writer.fits_inline, len(content), self.limits):
                raise Failed("managed_session_oss_disabled", 501)
            if held is None or held.digest != digest:
                facts.put(RESOURCES, key, StoredResource(INLINE, digest, content))

    def write(self, facts: Facts) -> Appended:
        """Add the records to the journal, and note the command."""
        last = self.head
        for record in self.records:
            last += 1
            entry = Entry(last, self.activation, self.epoch, record)
            facts.put(JOURNAL, journal_key(self.session, last), entry)
            if isinstance(record, ActivationChanged):
                facts.put(ACTIVATIONS, self.session, Activation(record.activation, record.epoch))
        facts.put(HEADS, self.session, Head(last))
        receipt = CommandReceipt(self.digest(), self.claim.generation, self.claim.token_hash, last)
        facts.put(COMMANDS, in_session(self.session, self.command), receipt)
        return Appended(last)


class KeepOutput(Transaction[Published], frozen=True, gc=False):
    """Make one piece of captured output durable, fenced by the writer lease."""

    session: str
    kind: str
    resource: str
    content: Content
    declared: str
    claim: Claim
    limits: Limits

    @property
    def label(self) -> str:
        return f"Output.{self.kind}"

    identity = "{0.resource}"

    @property
    def stores_bytes(self) -> bool:
        return bool(self.content)

    def apply(self, facts: Facts, ask: Decide) -> Published:
        if not ask(writer.may_publish, self.claim, facts.get(WRITERS, self.session), facts.now):
            raise Failed("managed_session_writer_conflict")
        if not ask(writer.output_fits, self.kind, len(self.content), self.limits):
            raise Failed("managed_session_resource_too_large", 413)
        digest = sha256(self.content)
        if not ask(writer.digest_holds, self.declared, digest):
            raise Failed("managed_session_resource_invalid", 400)
        key = in_session(self.session, self.resource)
        held = facts.get(RESOURCES, key)
        if held is not None and ask(writer.output_conflicts, self.kind, digest, held.kind, held.digest):
            raise Failed("managed_session_resource_conflict")

        if held is None or held.digest != digest:
            facts.put(RESOURCES, key, StoredResource(self.kind, digest, self.content))
        return Published(self.resource, digest)


def claim_of(token: WriterToken) -> Claim:
    """A writer's token as the database keeps it: hashed."""
    return Claim(token.owner, token.token.fingerprint, token.generation)
