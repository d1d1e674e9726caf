"""What doubt does to a turn, what the model may see, and when a turn is over."""

from __future__ import annotations

from sim.design.limits import Limits
from sim.protocol import Envelope, InputAccepted, Record, Response, TurnSettled
from sim.rule import rule
from sim.text import stringify

RECORD_ROOM = 512
"""What a record holds beside its text: ids, names and punctuation, in bytes."""


def written(text: str) -> int:
    """The bytes of a text as JSON writes it into a record."""
    return len(stringify(text).encode())


def fits_record(text: str, limits: Limits) -> bool:
    """Whether one record can keep this text."""
    return written(text) + RECORD_ROOM <= limits.history_record


@rule("behaviour §1.2", without="two turns of one Session run at once")
def one_turn(active: str, prompt: str) -> bool:
    """A Session runs one turn at a time."""
    return not active or active == prompt


@rule("behaviour §1.2", without="a prompt runs over unknown state")
def takes_prompts(blocked: bool) -> bool:
    """A Session that is recovery blocked takes no prompt."""
    return not blocked


@rule("behaviour §1.2", without="the same prompt sent again runs twice")
def known_prompt(prompt: str, admitted: frozenset[str]) -> bool:
    """A prompt that was admitted is answered again, and not run again."""
    return prompt in admitted


@rule("behaviour §5", without="a prompt larger than any record is admitted")
def prompt_fits(text: str, limits: Limits) -> bool:
    """A prompt's body fits the limit, and so does the record that admits it."""
    return len(text.encode()) <= limits.prompt and fits_record(text, limits)


@rule("003 Identity", without="a new owner executes what the old one may have executed")
def unresolved(records: tuple[Record, ...]) -> str:
    """A new activation refuses an old turn that was not settled: the prompt concerned, or nothing."""
    settled = {record.prompt for record in records if isinstance(record, TurnSettled)}
    accepted = [record.prompt for record in records if isinstance(record, InputAccepted)]
    return next((prompt for prompt in accepted if prompt not in settled), "")


@rule("003 Lifecycle", without="unknown work loses its fence: the turn settles and releases on doubt")
def blocks(uncertain: bool) -> bool:
    """A turn that cannot prove what happened is recovery blocked: no settlement, no release, no next request."""
    return uncertain


@rule("003 Lifecycle", without="a second Session enters a Workspace in which unknown work may go on")
def hands_back(acquired: bool) -> bool:
    """A turn that is recovery blocked retains what it acquired: it hands no Workspace back."""
    return False


@rule("behaviour §1.3", without="a lost reply is treated as if nothing had been acquired or written")
def doubt_first() -> bool:
    """Doubt is noted before each step whose effect could survive a lost reply, and cleared only by proof."""
    return True


@rule("behaviour §1.3", without="a turn that never acquired sends release traffic")
def must_release(acquired: bool) -> bool:
    """Only a turn that acquired has anything to release."""
    return acquired


@rule("003 Identity", without="the model continues on output that was not admitted whole")
def goes_on(delivery: str) -> bool:
    """Only a committed receipt lets the turn go on; a blocked one stops it."""
    return delivery == "committed"


@rule("003 Identity", without="history and admitted outcome disagree, or the record is refused by the Store")
def result_fits(text: str, limits: Limits) -> bool:
    """An admitted result must fit the complete serialized history record; it is never shortened or omitted."""
    return fits_record(text, limits)


@rule("behaviour §5", without="the turn is recovery blocked for a text of the model that no record can keep")
def output_fits(text: str, limits: Limits) -> bool:
    """What the model says must fit its record; a longer text ends the turn as a plain error."""
    return fits_record(text, limits)


@rule("003 Identity", without="the model is asked again over results that are not all recorded and resolved")
def may_infer(phase: str) -> bool:
    """The model is asked only before anything ran, or when every result of the batch is resolved."""
    return phase in ("before_model", "results_ready")


@rule("003 Identity", without="the turn believes an acknowledgement that is for another execution")
def acknowledged(asked: str, answered: str) -> bool:
    """An acknowledgement is exact: it names this execution."""
    return asked == answered


@rule("003 Lifecycle", without="the model is asked again over a result that nobody knows to be acknowledged")
def ack_failure_blocks(cause: str) -> bool:
    """A failure to acknowledge retains recovery-blocked ownership, whatever its cause."""
    return True


@rule("behaviour §1.10", without="the lease is assumed free while it is held")
def released(asked: str, answered: str) -> bool:
    """A release counts when it is confirmed for this Runtime Session."""
    return asked == answered


@rule(
    "003 Ownership and transport", without="the model cannot see that the command failed, and runs it again"
)
def tells(call: str, name: str, envelope: Envelope) -> Response:
    """The model sees the bounded preview and the execution status; cut text points to the retained output."""
    status = f"[status: {envelope.status}, exit code: {envelope.exit_code}]"
    if envelope.signal:
        status = f"[status: {envelope.status}, signal: {envelope.signal}]"
    notice = (
        "\n[output truncated; the complete output is retained with this Session]"
        if envelope.truncated
        else ""
    )
    return Response(call, name, f"{envelope.preview}{notice}\n{status}", error=envelope.status != "success")
