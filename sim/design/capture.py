"""How a command's output becomes durable, and who may say that it is: publisher, worker and admission."""

from __future__ import annotations

import hmac
import re

from sim.design.limits import Limits
from sim.effects import Secret
from sim.protocol import SHELL, STREAMS
from sim.rule import rule
from sim.text import bounded_preview

COMPLETE, PARTIAL, UNAVAILABLE = "complete", "partial", "unavailable"
STORAGE_FAILED, SIZE_LIMIT, PRODUCER_LOST = "storage_failed", "size_limit", "producer_lost"

_PUBLISHER_URL = re.compile(r"http://127\.0\.0\.1:([1-9][0-9]{0,4})/internal/hosted-shell-publisher/v1")
_CAPABILITY = re.compile(r"[A-Za-z0-9_-]{43}")


# --- the private listener -----------------------------------------------------------------------------------------


@rule("003 Lifecycle and failure handling", without="a turn of file tools opens a listener that nobody needs")
def needs_publisher(tools: tuple[str, ...]) -> bool:
    """Only a batch with a Shell call needs publication; file-only and text-only turns do not."""
    return SHELL in tools


@rule("003 Ownership and transport", without="any local process can write a command's output")
def bearer_opens(presented: Secret, capability: Secret) -> bool:
    """Every request of a worker carries the listener's own capability, compared in constant time."""
    return hmac.compare_digest(presented.value, capability.value)


@rule("003 Lifecycle and failure handling", without="output is still taken while the Session writer closes")
def listener_takes(closing: bool) -> bool:
    """A listener that closes takes nothing new."""
    return not closing


@rule(
    "003 Lifecycle and failure handling", without="an operation commits after the Session writer was sealed"
)
def close_waits(running: int) -> bool:
    """The listener is closed only when nothing that it took still runs."""
    return running > 0


@rule("003 Ownership and transport", without="the capability is sent to an address of somebody's choice")
def publisher_is_local(url: str) -> bool:
    """A worker takes only the canonical loopback URL of a publisher, with a port from 1 to 65535."""
    found = _PUBLISHER_URL.fullmatch(url)
    return found is not None and int(found.group(1)) <= 65_535


@rule("behaviour §1.7", without="a guessable capability opens the publisher")
def capability_is_whole(capability: Secret) -> bool:
    """A capability is 32 bytes as 43 base64url characters."""
    return _CAPABILITY.fullmatch(capability.value) is not None


@rule("003 Ownership and transport", without="a later owner diverts the output of a running command")
def descriptor_stays(known: bool, same: bool) -> bool:
    """A Runtime Session has one publisher for its whole life; the same one may be registered again."""
    return not known or same


@rule("behaviour §5", without="any local process fills the worker's memory with a registration")
def registration_goes_on(read: int, limits: Limits) -> bool:
    """A registration is read piece by piece, and no further than its limit; asked before each piece but the first."""
    return read < limits.registration


@rule("behaviour §1.7", without="a body of any size is buffered in the owner's memory")
def body_goes_on(read: int, limits: Limits) -> bool:
    """A body is read piece by piece, and no further than its limit; asked before each piece but the first."""
    return read < limits.body


@rule("003 Ownership and transport", without="a listener sends the worker, and a capability, to any address")
def follows_redirect(status: int) -> bool:
    """A redirect is a definite failure; a worker talks to the address that was registered, and to no other."""
    return False


# --- before spawn -------------------------------------------------------------------------------------------------


@rule("behaviour §1.12", without="a worker that was restarted passes for the one that was bound")
def generation_is_own(asked: int, life: int) -> bool:
    """A reference names the life of the worker to which it was bound."""
    return asked == life


@rule("003 Identity, admission and model history", without="a payload that was altered on its way runs")
def arguments_are_those(computed: str, referred: str) -> bool:
    """The worker computes the digest of the arguments anew, and runs only those that the reference names."""
    return computed == referred


@rule("003 Problem and scope", without="a job outlives its turn, and nobody captures it")
def runs_in_foreground(background: bool) -> bool:
    """Only foreground commands are run."""
    return not background


@rule("behaviour §1.12", without="a duplicated request spawns a second process")
def meets_execution(known: bool, same: bool) -> str:
    """The identical request joins the execution that is there; another one under its id conflicts."""
    if not known:
        return "begin"
    return "join" if same else "conflict"


@rule("003 Lifecycle and failure handling", without="a command runs whose output nobody will keep")
def may_spawn(capture_opened: bool) -> bool:
    """A command is spawned only after the Session owner has opened its capture."""
    return capture_opened


@rule("003 Ownership and transport", without="the output of a foreign execution is captured")
def execution_is_registered(same_reference: bool, same_prompt: bool) -> bool:
    """A capture is opened only for exactly the reference that the owner registered for this listener's turn."""
    return same_reference and same_prompt


@rule(
    "003 Identity, admission and model history",
    without="the capture of another turn or activation is admitted",
)
def checkpoint_is_live(phase: str, same_prompt: bool, same_activation: bool) -> bool:
    """The newest checkpoint awaits the runtime, for this turn and prompt, under the activation that owns now."""
    return phase == "await_runtime" and same_prompt and same_activation


@rule("003 Identity, admission and model history", without="the mapping passes for another call of the batch")
def binding_maps(same_model_call: bool, same_worker_call: bool, same_digest: bool, state: str) -> bool:
    """The tool item keeps the model call and its digest, the binding the worker call, not yet handed off."""
    return same_model_call and same_worker_call and same_digest and state == "dispatch"


@rule("003 Identity, admission and model history", without="a command runs whose intent no checkpoint covers")
def intent_is_covered(sequence: int, covered: int, same_activation: bool) -> bool:
    """The intent was written by the same activation, before the checkpoint that covers it."""
    return 0 < sequence <= covered and same_activation


@rule(
    "003 Identity, admission and model history",
    without="a command runs with arguments that were never recorded",
)
def recorded_arguments_match(computed: str, referred: str) -> bool:
    """The recorded argument bytes give the digest that the reference names."""
    return computed == referred


@rule(
    "003 Identity, admission and model history",
    without="an owner replaced during the reads lets a command start",
)
def rechecks_owner() -> bool:
    """Writer and activation are checked once more after the checkpoint and the arguments were read."""
    return True


@rule("003 Ownership and transport", without="a replaced owner goes on with the capture of its predecessor")
def owner_is_same(same: bool) -> bool:
    """Writer generation and activation are those under which the capture was opened."""
    return same


# --- raw writes ---------------------------------------------------------------------------------------------------


@rule("behaviour §1.7", without="a body of any size is buffered in the owner's memory")
def write_fits(size: int, limits: Limits) -> bool:
    """A raw write is not larger than its limit."""
    return size <= limits.write


@rule("003 Durable output storage", without="a third stream stands beside the two that are verified")
def stream_is_known(stream: str) -> bool:
    """Only stdout and stderr are admitted."""
    return stream in STREAMS


@rule("behaviour §1.7", without="bytes are missing or doubled in an output that is called complete")
def offset_follows(offset: int, accepted: int) -> bool:
    """A write begins exactly where the accepted bytes of its stream end."""
    return offset == accepted


@rule("behaviour §1.7", without="bytes are appended to a stream that is sealed")
def stream_takes(ended: bool) -> bool:
    """A stream that was finished takes nothing more."""
    return not ended


@rule("003 Ownership and transport", without="writes overtake each other, or the end, when the process exits")
def stream_queue(execution: str, stream: str, offset: int) -> str:
    """All writes of a stream and its end stand in one queue, whatever their offset."""
    return f"{execution}:{stream}"


@rule(
    "003 Ownership and transport",
    without="a chunk overtakes the one before it, when the runtime resumes a paused stream at the process's end",
)
def callback_waits(ahead: int) -> bool:
    """A pipe callback that overlaps others of its stream waits for each before it; asked only where they overlap."""
    return ahead > 0


@rule("003 Ownership and transport", without="a lost reply doubles bytes in the output")
def raw_write_sends() -> int:
    """A raw write is sent once; its lost reply is no reason to send it again."""
    return 1


@rule("003 Ownership and transport", without="a complete receipt stands over bytes that got lost")
def proxy_stays_failed(before: bool, now: bool) -> bool:
    """One write or finish that was not answered fails the worker's side for ever."""
    return before or now


@rule("003 Ownership and transport", without="a capture that lost bytes recovers and is called complete")
def capture_stays_failed(before: str, now: str) -> str:
    """The first reason for which a capture failed is kept for ever."""
    return before or now


@rule("003 Ownership and transport", without="the process waits for ever on a pipe that nobody reads")
def drains_pipe(failed: bool) -> bool:
    """The pipes are read to their end whether the capture failed or not."""
    return True


@rule("behaviour §1.7", without="a detached child's late bytes fail a capture that is finished")
def forwards_chunk(finish_queued: bool) -> bool:
    """What a pipe gives after the finish of its stream was queued is dropped."""
    return not finish_queued


# --- segments, seals, manifest --------------------------------------------------------------------------------------


@rule("behaviour §1.8", without="one stream fills the Store")
def within_bounds(segments: int, pages: int, limits: Limits) -> bool:
    """A stream has a bounded number of segments and of pages."""
    return segments <= limits.last_ordinal + 1 and pages <= limits.pages


@rule("003 Durable output storage", without="bytes that changed on their way into the Store are sealed")
def publication_is_exact(sent: str, stored: str) -> bool:
    """A publication counts when the Store computed the digest that the publisher computed."""
    return sent == stored


@rule("003 Durable output storage", without="a seal stands over a prefix that was never verified")
def prefix_is_exact(accepted: int, published: int, accepted_digest: str, published_digest: str) -> bool:
    """A stream is sealed when exactly the accepted bytes were published."""
    return accepted == published and accepted_digest == published_digest


@rule("behaviour §1.7", without="one capture gets a second manifest, and its result a second form")
def finalizes(finalized: bool) -> bool:
    """A capture is finalized once; whoever asks again is told the same."""
    return not finalized


@rule("003 Identity, admission and model history", without="half of an output is called complete")
def capture_status(seals: int, published: int, manifest: bool, failed: bool) -> str:
    """Complete needs both seals, a manifest and no failure; partial some bytes that a manifest names."""
    if not manifest:
        return UNAVAILABLE
    if seals == len(STREAMS) and not failed:
        return COMPLETE
    return PARTIAL if published else UNAVAILABLE


@rule("003 Ownership and transport", without="how the process ended is lost together with its output")
def result_status(physical: str, capture: str) -> str:
    """The result keeps the physical status, whatever became of the capture."""
    return physical


# --- admission ----------------------------------------------------------------------------------------------------


@rule("003 Ownership and transport", without="a result is admitted that the capture never had")
def candidate_is_finalized(identical: bool) -> bool:
    """Only exactly the envelope that finalization built is admitted."""
    return identical


@rule("003 Identity, admission and model history", without="one execution is admitted twice")
def admits_anew(admitted: bool) -> bool:
    """An execution that has its receipt keeps it; the identical candidate is told the same."""
    return not admitted


@rule("003 Identity, admission and model history", without="output that changed in the Store is committed")
def output_is_exact(read: int, sealed: int, read_digest: str, sealed_digest: str) -> bool:
    """Before the receipt every byte is read again, and gives the lengths and digests of the seals."""
    return read == sealed and read_digest == sealed_digest


@rule("003 Identity, admission and model history", without="an output of any size is held in memory at once")
def range_end(start: int, size: int, limits: Limits) -> int:
    """What is read again before the receipt is read in ranges of bounded length; the answer is where this one ends."""
    return min(start + limits.reread, size)


@rule("003 Identity, admission and model history", without="the model goes on upon incomplete output")
def delivery(capture: str) -> str:
    """Complete output is committed; anything else is held back as blocked, and stops the turn."""
    return "committed" if capture == COMPLETE else "blocked"


@rule("003 Identity, admission and model history", without="an owner replaced during verification admits")
def receipt_asserts_activation() -> bool:
    """The commit queue checks the original activation at the moment of committing the receipt."""
    return True


@rule("behaviour §1.9", without="a crossed receipt is taken for this result's")
def receipt_belongs(identical: bool) -> bool:
    """The owner takes only the receipt of exactly the result that the broker reported."""
    return identical


# --- the worker's answer --------------------------------------------------------------------------------------------


@rule(
    "003 Ownership and transport", without="a history record is over its limit, or a character is cut in two"
)
def preview(output: str) -> str:
    """The model sees at most 8 KiB: head, marker and tail, cut between characters."""
    return "".join(part["text"] for part in bounded_preview([{"text": output}]))


@rule("behaviour §2.10", without="a command that was stopped passes for one that failed")
def physical_status(stopped: bool, exit_code: int) -> str:
    """A process that was stopped on request is cancelled; else its exit code decides."""
    if stopped:
        return "cancelled"
    return "success" if exit_code == 0 else "error"


@rule("003 Lifecycle and failure handling", without="a result without admission is called settled")
def worker_state(admitted: bool) -> str:
    """A result is settled when the owner admitted it; when that is in doubt, the execution is unknown."""
    return "settled" if admitted else "unknown"


@rule("behaviour §1.12", without="a result of another execution or delivery is acknowledged")
def acknowledges(state: str, exact: bool) -> bool:
    """Only a settled execution is acknowledged, with exactly the receipt that it was admitted under."""
    return state == "settled" and exact


@rule("behaviour §1.12", without="two decisions are acknowledged for one execution")
def acknowledgement_stays(known: bool, same: bool) -> bool:
    """The same acknowledgement again is fine; a different one conflicts."""
    return not known or same


@rule("behaviour §1.12", without="a Runtime Session is forgotten while its command still runs")
def may_deactivate(running: int) -> bool:
    """A Runtime Session is forgotten when none of its executions runs."""
    return running == 0


@rule(
    "003 Lifecycle and failure handling",
    without="a command that was cancelled before its start starts after all",
)
def stays_unspawned(halted: bool) -> bool:
    """A halt before the spawn is sticky: the execution settles as not started."""
    return halted
