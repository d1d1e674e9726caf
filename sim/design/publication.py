"""Output that is published to the object store (O2): who may publish, what an operation proves, what is admitted."""

from __future__ import annotations

import hmac

from sim.design.limits import Limits
from sim.design.retry import UNCERTAIN
from sim.ids import shell_history_id
from sim.protocol import STREAMS
from sim.publication import (
    EXPIRED,
    FINISHED,
    NOT_STARTED,
    OPEN,
    PENDING,
    REFERENCED,
    REJECTED,
    RETRYABLE,
    SUCCEEDED,
)
from sim.rule import rule

QUOTA_EXHAUSTED = "quota_exhausted"
NOT_FINISHED = "managed_tool_publication_not_finished"
DEFINITE = (400, 401, 403, 404, 409)

# --- the owner's side ---------------------------------------------------------------------------------------------


@rule(
    "behaviour §1.2", without="a Session goes on with another way of capture than the one it was defined by"
)
def publishes(capture_bytes: int) -> bool:
    """A definition with a quota of captured bytes selects the object store, one without it the owner's capture."""
    return capture_bytes > 0


@rule(
    "behaviour §2.2, §3.6",
    without="one lost reply of the grant service blocks the turn, or is asked for ever",
)
def asks_again(request: str, cause: str, sends: int, limits: Limits) -> bool:
    """A request to the publication services is sent up to three times, after doubt alone; a renewal comes by timer."""
    return request != "RenewGrants" and cause in UNCERTAIN and sends < limits.publication_sends


@rule("behaviour §1.10, table: prepareV3", without="a reservation in doubt is joined by a second one")
def prepares_again(cause: str, sends: int, limits: Limits) -> bool:
    """A reservation for a publication is never replayed."""
    return False


@rule("behaviour §1.10, table: ACK (O2)", without="an acknowledgement in doubt is repeated")
def acknowledges_again(cause: str, sends: int, limits: Limits) -> bool:
    """The acknowledgement of a published result is never replayed."""
    return False


@rule("behaviour §2.2", without="a command is started whose output nobody may publish")
def grant_is_open(state: str) -> bool:
    """Only an open grant lets its execution be started."""
    return state == OPEN


@rule(
    "behaviour §1.13",
    without="a running command loses its grant, or a grant outlives the turn that asked for it",
)
def keeps_renewing(open_grants: int) -> bool:
    """The grants of a turn are renewed for as long as any of its executions may publish."""
    return open_grants > 0


@rule(
    "behaviour §3.5",
    without="a start that was refused is observed for half an hour, or doubt is taken for proof",
)
def start_refusal_is_definite(status: int, code: str) -> bool:
    """400, 401, 403, 404 and 409 prove that nothing was dispatched, and so does a worker without the protocol."""
    return status in DEFINITE or (status, code) == (501, "runtime_tool_v3_unsupported")


@rule(
    "behaviour §1.10, §7 guard 123", without="a side effect is issued twice, or a start that got lost blocks"
)
def start_again(starts: int, proven: int, limits: Limits) -> bool:
    """A start is sent again while a status proves that nothing was dispatched, ten times over; three times in all."""
    return starts < limits.publication_starts and proven >= limits.start_proofs


@rule("behaviour §0.2", without="a start is sent again that may have been dispatched")
def proves_unsent(state: str) -> bool:
    """Only a reservation that is still prepared proves that nothing was dispatched."""
    return state == "prepared"


@rule("behaviour §2.2", without="an output that is durable is lost with the worker that made it")
def asks_finished(code: str) -> bool:
    """Where the broker knows no outcome, what the producer finished with is asked for."""
    return code == "runtime_broker_execution_unknown"


@rule("behaviour §7 guard 156", without="the result of one execution is admitted as another's")
def finished_is_reported(same: bool) -> bool:
    """What the producer finished with is exactly what the broker reports."""
    return same


@rule("behaviour §1.13, §2.2", without="a grant stays open for a command that will never run")
def is_closed(state: str) -> bool:
    """A grant whose execution never started is answered as closed for that reason."""
    return state == NOT_STARTED


@rule("behaviour §7 guard 158", without="history that is written again stands twice")
def history_command(execution: str) -> str:
    """The history of a published result is written under an id that follows from its execution."""
    return f"recorder:{shell_history_id(execution)}"


# --- the grant service --------------------------------------------------------------------------------------------


@rule("behaviour §1.13", without="one publication serves two executions, or two tokens")
def same_grant(identical: bool) -> bool:
    """A publication that is known is granted again only to the identical request."""
    return identical


@rule("behaviour §1.13, §7 guard 153", without="bytes are published for a call that runs already, or ended")
def is_grantable(state: str, dispatches: int, same_publication: bool) -> bool:
    """Only a reserved execution that was never dispatched, and that was reserved for this publication, is granted."""
    return state == "prepared" and dispatches == 0 and same_publication


@rule("behaviour §1.13", without="more output is promised a place than there is")
def has_capacity(promised: int, capture_bytes: int, limits: Limits) -> bool:
    """The bytes of a capture, of its producer's own records and of its admission are set aside beforehand."""
    asked = capture_bytes + limits.producer_bytes + limits.admission_bytes
    return promised + asked <= limits.publication_capacity


@rule("behaviour §1.13, §7 guard 154", without="a replaced owner's command goes on publishing")
def is_fenced(same_writer: bool, same_activation: bool) -> bool:
    """A grant ends with the writer generation and the activation that asked for it."""
    return not (same_writer and same_activation)


@rule("behaviour §1.13", without="an owner that is gone is published for")
def is_expired(now: int, expires_at: int) -> bool:
    """A grant lives as long as the writer lease did when it was renewed last."""
    return now >= expires_at


@rule("behaviour §1.13, §7 guard 155", without="output that is there is dropped as if nothing had run")
def never_ran(ledger: str, status: str, dispatches: int, operations: int, phase: str) -> bool:
    """Closing as not started takes the ledger's proof, no operation of any kind, and a producer that never began."""
    unsent = status == "not_started" or (status == "cancelled" and dispatches == 0)
    return ledger == "settled" and unsent and operations == 0 and phase == OPEN


# --- the data service ---------------------------------------------------------------------------------------------


@rule("behaviour §1.13", without="whoever knows a publication's name publishes in it")
def token_opens(presented: str, held: str) -> bool:
    """Every operation carries the grant's own token, of which only the digest is kept."""
    return hmac.compare_digest(presented, held)


@rule("behaviour §1.13", without="one operation stands for two pieces of output")
def same_operation(known: str, asked: str) -> bool:
    """An operation that is known can only be asked for again with the same bytes."""
    return known == asked


@rule("behaviour §1.13", without="a piece is added to output that is finished")
def takes_operation(phase: str) -> bool:
    """Operations begin while the producer has not finished."""
    return phase == OPEN


@rule("behaviour §1.13", without="one command fills the object store")
def within_quota(used: int, size: int, capture_bytes: int) -> bool:
    """The captured bytes of a publication never exceed its quota."""
    return used + size <= capture_bytes


@rule("003 Durable output storage", without="a seal stands over segments that are not all there")
def prefix_is_whole(segments: int, length: int, sealed_segments: int, sealed_length: int) -> bool:
    """A stream is sealed over exactly the segments of it that are durable."""
    return (segments, length) == (sealed_segments, sealed_length)


@rule("behaviour §1.8", without="half of an output is finished as complete")
def finish_is_whole(complete: bool, seals: int, manifest: bool) -> bool:
    """A complete result needs both seals and the manifest among the operations that succeeded."""
    return not complete or (seals == len(STREAMS) and manifest)


@rule(
    "behaviour §1.13",
    without="a piece that may be there is given up, or one that cannot be is tried for ever",
)
def after_put(doubtful: bool) -> str:
    """What the object store leaves in doubt can be recovered; what it refuses is refused for good."""
    return RETRYABLE if doubtful else REJECTED


@rule("behaviour §1.13", without="a producer waits for a service that forgot what it was doing")
def shows_as(state: str) -> str:
    """A pending operation that nobody works on any more is one to recover."""
    return RETRYABLE if state == PENDING else state


@rule("behaviour §1.13", without="other bytes pass for the piece that got lost")
def is_recovered(found: str, expected: str) -> bool:
    """An operation succeeded after all when the object is there with the digest that was asked for."""
    return found == expected


# --- the producer -------------------------------------------------------------------------------------------------


@rule("behaviour §1.13", without="the grant under which a command publishes is exchanged while it runs")
def grant_stays(known: bool, same: bool) -> bool:
    """An execution has one grant for its whole life; the same one may be installed again."""
    return not known or same


@rule(
    "behaviour §1.13, §3.6", without="one lost reply fails the capture, or an operation is recovered for ever"
)
def recovers_again(recoveries: int, limits: Limits) -> bool:
    """An operation is recovered at most three times."""
    return recoveries < limits.publication_recoveries


@rule("behaviour §1.13, §5", without="a command that ended waits for its output for ever")
def polls_longer(waited: int, limits: Limits) -> bool:
    """What became of an operation is looked for within half an hour."""
    return waited < limits.publication_window


@rule("behaviour §1.13", without="an operation in doubt counts as done, or one that is done is repeated")
def operation_proves(state: str) -> str:
    """A succeeded operation is done; a pending one is waited for; of the others only a retryable one is recovered."""
    return {SUCCEEDED: "done", PENDING: "wait", RETRYABLE: "recover", EXPIRED: "failed"}.get(state, "failed")


@rule("behaviour §1.8, §1.13", without="the reason for which an output is incomplete is lost")
def failure_reason(code: str, otherwise: str) -> str:
    """An exhausted quota is told as such; every other failure of the storage is one of the storage."""
    return code if code == QUOTA_EXHAUSTED else otherwise


# --- the broker ---------------------------------------------------------------------------------------------------


@rule(
    "behaviour §1.10", without="a command runs whose output nobody may publish, or under another call's grant"
)
def start_has_grant(reserved: str, asked: str, same_token: bool, state: str) -> bool:
    """A start for a publication names it, carries its token, and finds its grant open."""
    return reserved == asked and same_token and state == OPEN


@rule("behaviour §1.10, table: ACK (O2)", without="a result is acknowledged that was never admitted")
def receipt_is_referenced(identical: bool) -> bool:
    """Only the receipt that the Store holds for the publication is acknowledged."""
    return identical


# --- admission ----------------------------------------------------------------------------------------------------


@rule("behaviour §1.13", without="one execution has two outcomes")
def same_admission(prepared: str, asked: str) -> bool:
    """An outcome that was prepared can only be prepared again with the same bytes."""
    return prepared == asked


@rule("behaviour §1.13", without="a result is told, or its outcome prepared, while output still grows")
def is_finished(phase: str) -> bool:
    """A result is told, and an outcome prepared for it, once its producer has finished."""
    return phase in (FINISHED, REFERENCED)


@rule("behaviour §1.13, §7 guard 157", without="a receipt names output to which nothing refers")
def may_refer(phase: str, prepared: bool) -> bool:
    """The receipt refers to a finished publication whose outcome was prepared, in the same transaction."""
    return phase == FINISHED and prepared
