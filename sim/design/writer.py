"""Who may write a Session: the writer lease, fencing, commands, and what may become durable under them."""

from __future__ import annotations

from sim.design.limits import Limits
from sim.facts import Activation, Writer
from sim.protocol import Value
from sim.rule import rule


class Claim(Value, frozen=True, gc=False):
    """Who says that it is the writer: its id, its token as a hash, and the generation it was granted."""

    owner: str
    token_hash: str
    generation: int


def _holds(claim: Claim, held: Writer | None) -> bool:
    return held is not None and claim == Claim(held.owner, held.token_hash, held.generation)


def _holds_live(claim: Claim, held: Writer | None, now: int) -> bool:
    return _holds(claim, held) and held is not None and now < held.expires_at


# --- the writer lease


@rule("behaviour §1.11", without="an owner cannot come back to its own lease")
def same_writer(owner: str, token_hash: str, held: Writer) -> bool:
    """The same writer with the same token extends its lease, even one that ran out, if nobody took over."""
    return (owner, token_hash) == (held.owner, held.token_hash)


@rule("behaviour §1.11, §7 guard 138", without="two owners write one Session")
def may_take_over(held: Writer, now: int) -> bool:
    """A lease may be taken over when it ran out; a live one cannot be stolen."""
    return now >= held.expires_at


@rule("behaviour §1.11, §7 guard 138", without="a replaced owner's writes pass the fence of its successor")
def next_generation(generation: int) -> int:
    """Every takeover raises the writer's generation by one."""
    return generation + 1


@rule("behaviour §1.11", without="a replaced owner extends the lease of its successor")
def may_renew(claim: Claim, held: Writer | None) -> bool:
    """A renewal needs the lease's id, token and generation; a lease that ran out untaken is extended too."""
    return _holds(claim, held)


@rule("behaviour §1.11", without="the lease runs out under a living owner")
def renew_after(lease: int, doubtful: bool) -> int:
    """An owner renews at half life, and, when that stayed in doubt, again when a third is left."""
    return lease // 6 if doubtful else lease // 2


# --- the seal: the end of a writer lease, at the wish of its holder


@rule(
    "003 Lifecycle; behaviour §1.11, §4", without="a stranger or a replaced owner ends the lease of another"
)
def may_seal(claim: Claim, held: Writer) -> bool:
    """Only the writer that holds the lease seals it, whether the lease has run out or not."""
    return _holds(claim, held)


@rule("behaviour §1.11, §4", without="a lost reply makes a detached Session look like a lost one")
def was_sealed(generation: int, held: Writer) -> bool:
    """A seal that was asked before, of the generation that nobody took over since, is answered again."""
    return not held.owner and held.generation == generation


@rule("003 Lifecycle; behaviour §4", without="the next owner waits for a lease that nobody uses")
def sealed(held: Writer, now: int) -> Writer:
    """A sealed lease is over at once and nobody's; its generation stays, and the next owner has a higher one."""
    return Writer("", "", held.generation, now)


# --- one transaction, in the order of its checks


@rule("003 Identity; behaviour §1.11, §7 guard 134", without="a lost reply makes committed work fail")
def replays(digest: str, claim: Claim, recorded: str, generation: int, token_hash: str) -> bool:
    """The exact replay of a command, by its writer, gets the recorded receipt and writes nothing."""
    return (digest, claim.generation, claim.token_hash) == (recorded, generation, token_hash)


@rule("behaviour §1.11, §7 guard 136", without="committed work is reported as failed once the lease ran out")
def replays_after_expiry(held: Writer | None, now: int) -> bool:
    """A replay is answered whatever became of the writer's lease since."""
    return True


@rule("behaviour §1.11, §7 guard 135", without="one command stands for two different contents")
def command_conflicts(digest: str, recorded: str) -> bool:
    """A command that was committed with other bytes is refused."""
    return digest != recorded


@rule("behaviour §1.11, §3.3", without="an owner that lost its lease writes the journal")
def may_commit(claim: Claim, held: Writer | None, now: int) -> bool:
    """A commit needs the writer's id, token and generation, and a lease that has not run out."""
    return _holds_live(claim, held, now)


@rule("behaviour §1.11, §7 guard 137", without="two writers interleave in one journal")
def head_matches(head: int, committed: int) -> bool:
    """A commit names the last committed sequence, and follows on exactly that."""
    return head == committed


@rule("003 Ownership and transport; behaviour §1.11", without="a replaced activation goes on writing")
def activation_is_fresh(activation: str, epoch: int, current: Activation | None) -> bool:
    """A commit comes under the current activation, or installs one of a later epoch."""
    if current is None:
        return True
    return epoch > current.epoch or (activation, epoch) == (current.id, current.epoch)


@rule("behaviour §1.11, §7 guard 140", without="a record names bytes that do not exist")
def resource_is_missing(durable: bool, staged: bool) -> bool:
    """Every resource that a transaction refers to is durable, or staged and becomes durable with it."""
    return not durable and not staged


@rule("behaviour §1.11", without="bytes that a record refers to change under it")
def inline_conflicts(digest: str, recorded: str) -> bool:
    """A resource id that was used cannot be used again with other content."""
    return digest != recorded


@rule("003 Problem and scope; behaviour §7 guard 141", without="bulk output goes through the journal")
def fits_inline(size: int, limits: Limits) -> bool:
    """A serialized record, and an inline resource, take at most 64 KiB."""
    return size <= limits.inline


# --- publication of output


@rule("003 Ownership and transport; behaviour §7 guard 90", without="a replaced owner publishes output")
def may_publish(claim: Claim, held: Writer | None, now: int) -> bool:
    """A publication needs the writer's id, token and generation, and a lease that has not run out."""
    return _holds_live(claim, held, now)


@rule("003 Durable output storage; behaviour §7 guard 91", without="the Store is filled with bulk output")
def output_fits(kind: str, size: int, limits: Limits) -> bool:
    """Only tool-result content (1 MiB), pages (256 KiB), seals and manifests (64 KiB) are published."""
    most = {
        "content": limits.content,
        "page": limits.page,
        "seal": limits.manifest,
        "manifest": limits.manifest,
    }
    return size <= most.get(kind, -1)


@rule("003 Durable output storage", without="bytes altered on their way become durable output")
def digest_holds(declared: str, computed: str) -> bool:
    """What is published has the digest that its sender computed."""
    return declared == computed


@rule("003 Durable output storage; behaviour §7 guard 87", without="durable output is silently overwritten")
def output_conflicts(kind: str, digest: str, held_kind: str, held_digest: str) -> bool:
    """A published id is immutable: the same bytes of the same kind are welcome again, others conflict."""
    return (kind, digest) != (held_kind, held_digest)


# --- in the owner's process


@rule("behaviour §1.11", without="a new owner cannot be told from the one that it replaced")
def next_epoch(epoch: int) -> int:
    """Every new activation has the next epoch."""
    return epoch + 1


@rule("behaviour §1.11", without="one command stands for two different contents within its owner")
def same_records(same: bool) -> bool:
    """A command that this owner committed is answered again for equal records, and conflicts for others."""
    return same


@rule("behaviour §1.11, §7 guard 139", without="a later record is written on a head that nobody knows")
def doubt_stops_writes(doubtful: int) -> bool:
    """When a commit ended without a receipt after any doubtful send, this owner never writes again."""
    return doubtful > 0


@rule("behaviour §3.3", without="an owner that lost its lease goes on as if it could write")
def refused_renewal_stops_writes(code: str) -> bool:
    """A definite refusal of a renewal means that this owner is replaced: it never writes again."""
    return True


@rule("behaviour §1.11, §7 guard 139", without="a later record is written on a head that nobody knows")
def may_append(stopped: bool) -> bool:
    """Nothing is sent to the Store once writes have stopped."""
    return not stopped


@rule("003 Lifecycle; behaviour §4", without="an owner goes on writing under the writer that it sealed")
def unsealed(sealed: bool) -> bool:
    """An owner that has begun to seal its writer sends nothing more until it has opened the journal again."""
    return not sealed


@rule("003 Identity; behaviour §7 guard 94", without="an owner that was replaced admits an old result")
def still_active_in_queue(activation: str, epoch: int, current: str, current_epoch: int) -> bool:
    """Inside the commit queue, before an admission is sent, the activation is still the current one."""
    return (activation, epoch) == (current, current_epoch)


@rule("003 Ownership and transport", without="an owner answers for a Session that it never opened")
def is_active(activation: str) -> bool:
    """Before the Store is asked, this owner has an activation of its own."""
    return activation != ""


@rule("003 Identity; behaviour §7 guard 77", without="an owner that was replaced during the check passes it")
def still_active(activation: str, epoch: int, current: str, current_epoch: int) -> bool:
    """After the writer check's await, the activation that it began with is still the current one."""
    return (activation, epoch) == (current, current_epoch)
