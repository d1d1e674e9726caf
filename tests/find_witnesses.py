"""Breaks every rule of the design by hand, and finds for each breakage the cheapest run that turns red.

Run it by hand after a change of rules, rows or checks: ``python -m tests.find_witnesses [BEGINNING…]``. It replays
what ``witnesses.json`` has, searches for what that lacks (with ``--again`` for every survivor too), and writes the
file anew; ``test_witnesses.py`` replays it. With words it looks only at the breakages whose titles begin so, such as
``writer`` or ``capture.preview``. The reason why a breakage survives is written into the file by hand.

A witness is a row and a plan that pass under the row's own design and show a finding under the broken one, in a run
in which the broken rule answered otherwise than the design would have. An exception of the bench is no witness.
"""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

from faults.plans import NOTHING, read, write
from faults.sweeps import single
from scenarios.judge import FINDING, PASSED, Verdict, verdict
from scenarios.row import Row, reached
from scenarios.rows import ROWS
from sim.actors.journal import writer_token
from sim.actors.publisher.publisher import descriptor_of
from sim.checks import CHECKS
from sim.design import admission, capture, execution, files, lease, profile, retry, settlement, writer
from sim.design.design import catalogue
from sim.facts import Writer
from sim.points import Plan
from sim.protocol import SHELL, Execute, Observe, Response, ToolCall
from sim.run import run
from sim.text import PREVIEW_GAP, has_unpaired, shell_input_error, texts_in, utf8

Answer = Callable[..., Any]

# --- breakages ---------------------------------------------------------------------------------------------------


class Breakage(msgspec.Struct, frozen=True):
    """One way to get a rule wrong: what answers in the rule's place."""

    rule: str
    name: str
    answer: Answer

    @property
    def title(self) -> str:
        """The rule and what is wrong with it."""
        return f"{self.rule}: {self.name}"


def constant(value: object) -> Answer:
    """An answer that listens to nothing."""
    return lambda *_: value


def spelled(responses: tuple[Response, ...], **changes: object) -> tuple[Response, ...]:
    """The responses, each changed in the same way."""
    return tuple(replace(response, **changes) for response in responses)


def with_more(response: Response, text: str) -> Response:
    """The response, and a line that does not belong there."""
    return replace(response, text=f"{response.text}\n{text}")


def revived(claim: writer.Claim, held: Writer | None, now: int) -> bool:
    """The writer's identity without its clock."""
    return held is not None and claim == writer.Claim(held.owner, held.token_hash, held.generation)


def unfenced(claim: writer.Claim, held: Writer | None, now: int) -> bool:
    """The writer's clock without its identity."""
    return held is not None and now < held.expires_at


SURROGATE, ASTRAL = re.compile("[\ud800-\udfff]"), re.compile("[\U00010000-\U0010ffff]")
ESCAPED_HALF = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
ILL_TEXT = "Hosted Shell command contains an unpaired UTF-16 surrogate. Provide valid Unicode and retry."


def unpaired_by(unpaired: Callable[[str], bool]) -> Answer:
    """The check of Shell text with another idea of what is unpaired."""
    return lambda call: shell_input_error(call.name, admission.arguments_of(call), unpaired) or ""


def of_field(call: ToolCall, field: str) -> str:
    """The check of Shell text that looks at one field alone."""
    kept = {name: text for name, text in (admission.fields_of(call) or {}).items() if name == field}
    return shell_input_error(call.name, kept) or ""


def text_of_any(call: ToolCall) -> str:
    """The check of Shell text on every text of any tool."""
    return ILL_TEXT if any(map(has_unpaired, texts_in(admission.arguments_of(call)))) else ""


def is_background(call: ToolCall) -> bool:
    """Whether a call asks for the background."""
    return bool((admission.fields_of(call) or {}).get("is_background"))


CANONICAL = re.compile(r"http://(?P<host>[^/:]+):(?P<port>\d+)(?P<path>/.*)")


def whatever(part: str) -> Answer:
    """A canonical address, but for one part of it."""
    right = {"host": "127.0.0.1", "port": "50000", "path": "/internal/hosted-shell-publisher/v1"}

    def answer(url: str) -> bool:
        found = CANONICAL.fullmatch(url)
        asked = {**found.groupdict(), part: right[part]} if found else right
        return bool(found) and capture.publisher_is_local.answer("http://{host}:{port}{path}".format(**asked))

    return answer


def capability_of(prompt: str) -> str:
    """The value of the capability that the listener of a first life's turn has."""
    return descriptor_of("a", 1, prompt).capability.value


def any_size(unbounded: str) -> Answer:
    """The Store's own answer, but for one kind of output."""
    return lambda kind, size, limits: kind == unbounded or writer.output_fits.answer(kind, size, limits)


def shortened(
    output: str, whole: int = 8_192, head: int = 2_048, tail: int = 6_083, halves: str = "ignore"
) -> str:
    """A preview with other bounds."""
    content = utf8(output)
    if len(content) <= whole:
        return output
    return content[:head].decode(errors=halves) + PREVIEW_GAP + content[-tail:].decode(errors=halves)


def off_by_one(name: str) -> dict[str, Answer]:
    """A rule under each of its limits, one more and one less."""
    how = {"one more": 1, "one less": -1}
    return {
        f"{limit} is {words}": nudged(name, limit, by)
        for limit in BOUNDS.get(name, ())
        for words, by in how.items()
    }


def nudged(name: str, limit: str, by: int) -> Answer:
    """The rule's own answer under another limit; limits are its last argument."""

    def answer(*arguments: Any) -> Any:
        *asked, limits = arguments
        other = replace(limits, **{limit: getattr(limits, limit) + by})
        return catalogue()[name].answer(*asked, other)

    return answer


BOUNDS = {
    "admission.assistant_fits": ("history_record",),
    "admission.answers_fit": ("history_record",),
    "admission.oversized": ("call_envelope",),
    "admission.shape_error": ("shell_timeout_min", "shell_timeout_max"),
    "capture.within_bounds": ("last_ordinal", "pages"),
    "capture.write_fits": ("write",),
    "execution.payload_fits": ("payload",),
    "settlement.output_fits": ("history_record",),
    "settlement.prompt_fits": ("prompt", "history_record"),
    "settlement.result_fits": ("history_record",),
    "writer.fits_inline": ("inline",),
    "writer.output_fits": ("content", "page", "manifest"),
}
"""The limits that a rule asks about a size: each is broken by one in both directions."""

BOTH_WAYS: dict[str, Answer] = {"always": constant(True), "never": constant(False)}
"""Every rule that answers yes or no is broken by both: one removes the guard, the other is over-strict."""

SETTLED = {
    "admission.takes_h3": "never",
    "cancel.is_best_effort": "always",
    "capture.callback_waits": "always",
    "capture.drains_pipe": "always",
    "capture.follows_redirect": "never",
    "capture.receipt_asserts_activation": "always",
    "capture.rechecks_owner": "always",
    "capture.registration_goes_on": "never",
    "execution.start_again": "never",
    "lease.waits_when_busy": "never",
    "publication.acknowledges_again": "never",
    "publication.prepares_again": "never",
    "settlement.ack_failure_blocks": "always",
    "local.guards_lease": "always",
    "local.guards_reads": "always",
    "settlement.doubt_first": "always",
    "settlement.hands_back": "never",
    "writer.refused_renewal_stops_writes": "always",
    "writer.replays_after_expiry": "always",
}
"""Rules that always answer alike: that answer breaks nothing."""

MORE: dict[str, dict[str, Answer]] = {
    "admission.refused_alone": {
        "for another call": lambda call, why: replace(
            admission.refused_alone.answer(call, why), call="another"
        ),
        "as a success": lambda call, why: replace(admission.refused_alone.answer(call, why), error=False),
        "names the value": lambda call, why: replace(
            admission.refused_alone.answer(call, why), text=call.arguments
        ),
    },
    "admission.refusals": {
        "dropped": constant(()),
        "only the first": lambda verdicts: admission.refusals.answer(verdicts)[:1],
        "reversed": lambda verdicts: admission.refusals.answer(verdicts)[::-1],
        "without siblings": lambda verdicts: admission.refusals.answer(tuple(v for v in verdicts if v.error)),
        "without text": lambda verdicts: spelled(admission.refusals.answer(verdicts), text=""),
        "as successes": lambda verdicts: spelled(admission.refusals.answer(verdicts), error=False),
    },
    "admission.shape_error": {
        "never": constant(""),
        "always": constant("Hosted Shell is off."),
        "names the value": lambda call, limits: (
            admission.shape_error.answer(call, limits) and f"Wrong: {call.arguments}"
        ),
    },
    "admission.text_error": {
        "never": constant(""),
        "always": constant("Hosted Shell text is off."),
        "names the value": lambda call: admission.text_error.answer(call) and f"Wrong: {call.arguments}",
        "without the Unicode flag": unpaired_by(
            lambda text: bool(SURROGATE.search(text) or ASTRAL.search(text))
        ),
        "in the text as it is written": lambda call: ILL_TEXT if ESCAPED_HALF.search(call.arguments) else "",
        "of the command alone": lambda call: of_field(call, "command"),
        "of the description alone": lambda call: of_field(call, "description"),
        "of any tool": lambda call: (
            shell_input_error(SHELL, admission.arguments_of(call)) or text_of_any(call)
        ),
        "not in the background": lambda call: (
            "" if is_background(call) else admission.text_error.answer(call)
        ),
        "also of nothing": lambda call: (
            admission.text_error.answer(call)
            or ("" if (admission.fields_of(call) or {}).get("description", "-") else ILL_TEXT)
        ),
    },
    "admission.rounds_left": {
        "one more": lambda done, limits: done <= limits.rounds,
        "one less": lambda done, limits: done < limits.rounds - 1,
    },
    "admission.timeout_of": {
        "the default": lambda call, limits: limits.shell_timeout,
        "none at all": constant(0),
        "for ever": constant(10**9),
    },
    "cancel.proves_not_started": {
        "also what ran": lambda cancelled, state, status, unsent: cancelled and state == "settled",
        "also what is open": lambda cancelled, state, status, unsent: cancelled,
    },
    "cancel.confirmed": {"only when settled": lambda state: state == "settled"},
    "capture.binding_maps": {
        "whatever model call": lambda model, worker, digest, state: worker and digest and state == "dispatch",
        "whatever state": lambda model, worker, digest, state: model and worker and digest,
    },
    "capture.capture_stays_failed": {"forgets": lambda before, now: now, "never fails": constant("")},
    "capture.capture_status": {
        "complete": constant("complete"),
        "partial": constant("partial"),
        "unavailable": constant("unavailable"),
        "one seal is enough": lambda seals, published, manifest, failed: capture.capture_status.answer(
            max(seals, 2) if seals else 0, published, manifest, failed
        ),
        "failure forgotten": lambda seals, published, manifest, failed: capture.capture_status.answer(
            seals, published, manifest, False
        ),
    },
    "capture.checkpoint_is_live": {
        "whatever phase": lambda phase, prompt, activation: prompt and activation,
        "whatever activation": lambda phase, prompt, activation: phase == "await_runtime" and prompt,
        "whatever prompt": lambda phase, prompt, activation: phase == "await_runtime" and activation,
    },
    "capture.delivery": {"committed": constant("committed"), "blocked": constant("blocked")},
    "capture.meets_execution": {
        "begin": constant("begin"),
        "join": constant("join"),
        "conflict": constant("conflict"),
        "begins again": lambda known, same: "conflict" if known and not same else "begin",
    },
    "capture.physical_status": {
        "success": constant("success"),
        "error": constant("error"),
        "a stop is an error": lambda stopped, code: "success" if code == 0 else "error",
    },
    "capture.preview": {
        "nothing": constant(""),
        "everything": lambda output: output,
        "the head": lambda output: output[:8],
        "a byte more is whole": lambda output: shortened(output, whole=8_193),
        "a byte less is whole": lambda output: shortened(output, whole=8_191),
        "a byte more of head": lambda output: shortened(output, head=2_049),
        "a byte less of head": lambda output: shortened(output, head=2_047),
        "a byte more of tail": lambda output: shortened(output, tail=6_084),
        "a byte less of tail": lambda output: shortened(output, tail=6_082),
        "half characters": lambda output: shortened(output, halves="replace"),
        "without the head": lambda output: shortened(output, head=0),
        "of half of the buffer": lambda output: capture.preview.answer(
            utf8(output)[-32_768:].decode(errors="ignore")
        ),
    },
    "capture.publisher_is_local": {
        "whatever host": whatever("host"),
        "whatever port": whatever("port"),
        "whatever path": whatever("path"),
    },
    "capture.range_end": {"of any length": constant(1_000_000_000)},
    "capture.raw_write_sends": {"twice": constant(2), "not at all": constant(0)},
    "capture.result_status": {
        "success": constant("success"),
        "of the capture": lambda physical, kept: kept,
        "error when incomplete": lambda physical, kept: physical if kept == "complete" else "error",
    },
    "capture.stream_queue": {
        "by offset": lambda run, stream, offset: f"{run}:{stream}:{offset}",
        "one for both": lambda run, stream, offset: run,
    },
    "capture.worker_state": {"settled": constant("settled"), "unknown": constant("unknown")},
    "execution.protocol_of": {"v3": constant(execution.V3), "v2": constant(execution.V2)},
    "execution.unsent_status": {"not started": constant("not_started"), "cancelled": constant("cancelled")},
    "execution.window_of": {
        "none at all": constant(0),
        "for ever": constant(10**9),
        "a Shell's": lambda tool, timeout, limits: timeout + limits.window_slack,
        "a file tool's": lambda tool, timeout, limits: limits.file_window,
    },
    "files.call_error": {
        "never": constant(""),
        "always": constant("No."),
        "names the value": lambda call: files.call_error.answer(call) and f"Wrong: {call.arguments}",
    },
    "files.files_written": {"none": constant(())},
    "files.tells": {
        "nothing": lambda call, name, envelope: Response(call, name, "", envelope.status != "success"),
        "as a success": lambda call, name, envelope: Response(call, name, envelope.preview),
        "for another call": lambda call, name, envelope: files.tells.answer("another", name, envelope),
    },
    "files.bounded": {
        "never": lambda response, status, limits: response,
        "in silence": lambda response, status, limits: replace(
            files.bounded.answer(response, status, limits), text=response.text[:100]
        ),
        "always": lambda response, status, limits: files.bounded.answer(
            response, status, replace(limits, history_record=0)
        ),
    },
    "execution.execution_id": {
        "one a Runtime Session": lambda session, call: execution.execution_id.answer(session, ""),
        "one a worker call, of whatever Session": lambda session, call: execution.execution_id.answer(
            "", call
        ),
        "one for all": constant("execution-0"),
        "named after the capability": lambda session, call: f"{capability_of(session)}.{call}",
    },
    "execution.invocation_of": {
        "the execution": lambda protocol, worker_call, name: name,
        "the worker call": lambda protocol, worker_call, name: worker_call,
    },
    "execution.next_state": {
        "none": constant(None),
        "stays": lambda state, step: state,
        "claims again": lambda state, step: (
            "dispatching" if step == "claim" else execution.next_state.answer(state, step)
        ),
        "lost is settled": lambda state, step: (
            "settled" if step == "lose" else execution.next_state.answer(state, step)
        ),
        "lapsed is prepared": lambda state, step: (
            execution.next_state.answer(state, step) and "prepared"
            if step == "lapse"
            else execution.next_state.answer(state, step)
        ),
        "lapse is ignored": lambda state, step: (
            None if step == "lapse" else execution.next_state.answer(state, step)
        ),
        "a cancelled run is settled": lambda state, step: (
            "settled"
            if (state, step) == ("executing", "cancel")
            else execution.next_state.answer(state, step)
        ),
    },
    "execution.never_sent": {"also what executes": lambda state: state != "settled"},
    "execution.reconciles_by": {
        "another execute": Execute,
        "another reference": lambda original, payload: Observe(replace(original, execution="another")),
        "with the writer's token": lambda original, payload: Observe(
            replace(original, worker_call=writer_token("a", 1).value)
        ),
    },
    "execution.shows_as": {
        "as it is": lambda state: state,
        "claimed is prepared": lambda state: "prepared" if state == "dispatching" else state,
        "unknown is executing": lambda state: "executing" if state == "unknown" else state,
    },
    "execution.start_again": {"once more": lambda sends: sends < 2},
    "execution.start_refusal": {
        "never": constant(""),
        "always": constant("runtime_execution_conflict"),
        "whatever payload": lambda same, claimable: "" if claimable else "runtime_execution_conflict",
        "whatever state": lambda same, claimable: "" if same else "runtime_idempotency_conflict",
    },
    "execution.start_refusal_is_definite": {
        "only the payload's": lambda code: code == "runtime_idempotency_conflict",
    },
    "execution.status_answers": {"also unknown": lambda state: state in ("settled", "unknown")},
    "execution.worker_proves": {
        "settled": constant("settle"),
        "nothing": constant(""),
        "lost": constant("lose"),
        "unknown is settled": lambda state: "" if state == "executing" else "settle",
        "unknown is awaited": lambda state: "settle" if state == "settled" else "",
    },
    "lease.acquire_refusal_is_definite": {
        "every 409": lambda status, code: status == 409,
        "only busy": lambda status, code: code == "workspace_busy",
    },
    "lease.failed_claim_status": {"409": constant(409)},
    "lease.holder_key": {
        "without Runtime Session": lambda binding, generation, session: lease.holder_key.answer(
            binding, generation, ""
        ),
        "without generation": lambda binding, generation, session: lease.holder_key.answer(
            binding, 0, session
        ),
        "one for all": constant("holder"),
    },
    "lease.may_register": {
        "whatever state": lambda state, current, claimant: current == claimant,
        "whoever holds it": lambda state, current, claimant: state == lease.READY,
    },
    "lease.is_live": {
        "not while reserved": lambda state: state not in ("settled", "prepared"),
        "not when unknown": lambda state: state not in ("settled", "unknown"),
        "not while executing": lambda state: state in ("prepared", "unknown"),
    },
    "lease.is_held": {"with a clock": lambda current, now: current != "" and now < 60_000},
    "retry.commit_again": {
        "one more": lambda cause, sends, limits: cause in retry.UNCERTAIN and sends <= limits.commit_sends,
        "one less": lambda cause, sends, limits: cause in retry.UNCERTAIN and sends < limits.commit_sends - 1,
        "not after a server error": lambda cause, sends, limits: (
            cause in retry.LOST and sends < limits.commit_sends
        ),
    },
    "retry.read_again": {
        "one more": lambda cause, sends, limits: cause in retry.UNCERTAIN and sends <= limits.read_sends,
    },
    "retry.prepare_again": {
        "one more": lambda cause, sends, limits: cause in retry.LOST and sends <= limits.prepare_sends,
        "also after a server error": lambda cause, sends, limits: sends < limits.prepare_sends,
        "only after a timeout": lambda cause, sends, limits: (
            cause == "timeout" and sends < limits.prepare_sends
        ),
    },
    "retry.ack_again": {
        "one more": lambda cause, sends, limits: cause in retry.LOST and sends <= limits.ack_sends,
        "also after a server error": lambda cause, sends, limits: sends < limits.ack_sends,
        "only after a timeout": lambda cause, sends, limits: cause == "timeout" and sends < limits.ack_sends,
    },
    "profile.offers": {
        "Shell without files": lambda tools, tool: (
            profile.offers.answer(tools, tool) and (tool == SHELL or not profile.offers.answer(tools, SHELL))
        ),
    },
    "retry.settle_again": {"one more": lambda cause, sends, limits: sends <= limits.settle_writes},
    "settlement.tells": {
        "without status": lambda call, name, envelope: replace(
            settlement.tells.answer(call, name, envelope), text=envelope.preview
        ),
        "as a success": lambda call, name, envelope: replace(
            settlement.tells.answer(call, name, envelope), error=False
        ),
        "for another call": lambda call, name, envelope: settlement.tells.answer("another", name, envelope),
        "cut in silence": lambda call, name, envelope: settlement.tells.answer(
            call, name, replace(envelope, truncated=False)
        ),
        "with a path": lambda call, name, envelope: with_more(
            settlement.tells.answer(call, name, envelope), "The whole output is in /var/tmp/output.txt."
        ),
        "with the capability": lambda call, name, envelope: with_more(
            settlement.tells.answer(call, name, envelope), capability_of("a.p1")
        ),
    },
    "writer.sealed": {
        "runs on": lambda held, now: replace(writer.sealed.answer(held, now), expires_at=held.expires_at),
        "still its holder's": lambda held, now: replace(held, expires_at=now),
        "not at all": lambda held, now: held,
    },
    "settlement.unresolved": {"nothing": constant(""), "everything": constant("a.p1")},
    "settlement.may_infer": {
        "also before resolution": lambda phase: phase in ("before_model", "results_ready", "await_runtime"),
    },
    "publication.after_put": {
        "recoverable": constant("retryable"),
        "for good": constant("rejected"),
        "done": constant("succeeded"),
    },
    "publication.failure_reason": {"the storage's": lambda code, otherwise: otherwise},
    "publication.history_command": {"another's": lambda execution: f"recorder:{execution}"},
    "publication.operation_proves": {
        "done": constant("done"),
        "nothing that can be recovered": lambda state: {"succeeded": "done"}.get(state, "failed"),
        "that it may yet be done": lambda state: "done" if state == "succeeded" else "wait",
    },
    "publication.shows_as": {"as it is": lambda state: state},
    "publication.start_again": {
        "at once": lambda starts, proven, limits: starts < limits.publication_starts,
        "without end": lambda starts, proven, limits: proven >= limits.start_proofs,
    },
    "writer.next_epoch": {"the same": lambda epoch: epoch},
    "writer.next_generation": {"the same": lambda generation: generation or 1},
    "writer.renew_after": {
        "at the end": lambda lease, doubtful: lease,
        "never": lambda lease, doubtful: 1_000 * lease,
    },
    "writer.may_commit": {"after expiry too": revived, "whoever it is": unfenced},
    "writer.may_publish": {"after expiry too": revived, "whoever it is": unfenced},
    "writer.replays": {
        "whoever it was": lambda digest, claim, recorded, generation, token: digest == recorded,
        "whatever it was": lambda digest, claim, recorded, generation, token: (
            (claim.generation, claim.token_hash) == (generation, token)
        ),
    },
    "writer.output_fits": {
        "of whatever kind": lambda kind, size, limits: size <= limits.content,
        "a kind of one's own": lambda kind, size, limits: (
            kind == "secret" or writer.output_fits.answer(kind, size, limits)
        ),
        "content of any size": any_size("content"),
        "pages of any size": any_size("page"),
        "manifests of any size": any_size("manifest"),
    },
}
"""What else can be got wrong: every rule with another answer than yes or no, and rules with several conditions."""


@cache
def breakages() -> tuple[Breakage, ...]:
    """Every breakage of every rule, in order of the catalogue."""
    found: list[Breakage] = []
    for name, rule in catalogue().items():
        answers_bool = rule.answer.__annotations__["return"] == "bool"
        wrong = {**(BOTH_WAYS if answers_bool else {}), **MORE.get(name, {}), **off_by_one(name)}
        found += [Breakage(name, how, answer) for how, answer in wrong.items() if SETTLED.get(name) != how]
    return tuple(found)


# --- one run -----------------------------------------------------------------------------------------------------

PATIENCE = 2.0
"""How many seconds of processor time a run may take before it is given up: it is no cheap witness."""
MOST_QUESTIONS = 100_000
"""How often one rule is asked before that counts as a loop that no effect interrupts."""


class GivenUp(BaseException):
    """A run took too long. No ``except`` of the bench may catch it."""


class Ran(msgspec.Struct, frozen=True):
    """A judged run; ``infected`` says that a broken rule answered otherwise than the design would have."""

    verdict: Verdict
    infected: bool
    events: int


def played(broken: tuple[Breakage, ...], row: Row, plan: Plan) -> Ran:
    """Run a row with some rules broken, and judge it as a sweep does; no strikes stand for the row's own."""
    infected = dict.fromkeys((breakage.rule for breakage in broken), False)
    design = row.design
    for breakage in broken:
        design = design.replacing(catalogue()[breakage.rule], watched(breakage, infected))
    history = run(row.scenario, plan if plan.strikes else row.plan, design)
    return Ran(verdict(row, plan, history), all(infected.values()), len(history.events))


def watched(breakage: Breakage, infected: dict[str, bool]) -> Answer:
    """The broken answer, which notes when it differs from the design's."""
    rule, asked = catalogue()[breakage.rule], [0]

    def answer(*arguments: Any) -> Any:
        asked[0] += 1
        if asked[0] > MOST_QUESTIONS:
            raise GivenUp(breakage.rule)
        wrong = breakage.answer(*arguments)
        if not infected[breakage.rule]:
            infected[breakage.rule] = wrong != rule.answer(*arguments)
        return wrong

    return answer


def voices(found: Verdict) -> tuple[str, ...]:
    """The checks that spoke: strangers to the design first, then what the row and the loss table promise."""
    known = [check.name for check in CHECKS]
    spoke = {finding.check for finding in found.findings}
    return tuple(sorted(spoke, key=lambda name: (known.index(name) if name in known else len(known), name)))


# --- what was found ----------------------------------------------------------------------------------------------

FILE = Path(__file__).with_name("witnesses.json")

Place: TypeAlias = tuple[str, str]
"""A row and a plan, as they are named."""


class Entry(msgspec.Struct, omit_defaults=True):
    """What is known of one breakage.

    A witness names row, plan and the ``check`` that speaks, with those that speak ``also``. A breakage that no single
    fault shows ``survives``, with a class of reasons and a sentence written by hand. One that is masked has evidence:
    where the titles that it is ``masked_by`` are broken too, a check speaks that is silent without it.
    """

    rule: str
    breakage: str
    row: str = ""
    plan: str = ""
    check: str = ""
    also: list[str] = []
    survives: str = ""
    why: str = ""
    masked_by: list[str] = []

    @property
    def theme(self) -> str:
        """The module of the rule."""
        return self.rule.partition(".")[0]

    @property
    def title(self) -> str:
        """The rule and what is wrong with it."""
        return f"{self.rule}: {self.breakage}"

    @property
    def place(self) -> Place:
        """Where it shows."""
        return self.row, self.plan

    @property
    def noticed(self) -> bool:
        """Whether the bench turns red when nothing else is broken."""
        return bool(self.check) and not self.masked_by


def kept() -> list[Entry]:
    """What the file says."""
    return msgspec.json.decode(FILE.read_bytes(), type=list[Entry]) if FILE.exists() else []


def evidence(entry: Entry) -> tuple[Breakage, ...]:
    """What is broken in the run of an entry: its own rule, and those that mask it."""
    named = {each.title: each for each in breakages()}
    return tuple(named[title] for title in (entry.title, *entry.masked_by))


def keep(entries: list[Entry]) -> None:
    """Write the file, an entry a line."""
    order = [(each.rule, each.name) for each in breakages()]
    entries.sort(key=lambda entry: order.index((entry.rule, entry.breakage)))
    lines = ",\n".join(msgspec.json.encode(entry).decode() for entry in entries)
    FILE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


# --- the search --------------------------------------------------------------------------------------------------

STRUCK = (
    "one-call",
    "two-turns",
    "cancel-first-of-two",
    "refused-text",
    "published-one-call",
    "published-cancelled-reserved",
)
"""The rows on which single faults are tried."""
COSTLY = "fixture"
"""The rows of this theme are never tried: a run of half a gibibyte is no cheap witness."""
ENOUGH = 3
"""Of so many noticed runs the one with the shortest history is kept."""
MOST_RUNS = 150
"""How many runs of one breakage are tried."""
INDEX: dict[Place, dict[str, int]] = {}
"""How often each breakage would answer otherwise in a run of the design as it is; filled before workers are forked."""


def index(places: list[Place]) -> list[tuple[Place, dict[str, int]]]:
    """A share of the index."""
    return [(place, consulted(ROWS[place[0]], read(place[1]))) for place in places]


def consulted(row: Row, plan: Plan) -> dict[str, int]:
    """How often each breakage would answer otherwise than the design, in a run of the design."""
    counts: dict[str, int] = {}
    wrong: dict[str, list[Breakage]] = {}
    for breakage in breakages():
        wrong.setdefault(breakage.rule, []).append(breakage)
    rules = catalogue()
    answers = tuple((name, comparing(rules[name].answer, broken, counts)) for name, broken in wrong.items())
    run(row.scenario, plan if plan.strikes else row.plan, replace(row.design, replaced=answers))
    return counts


def comparing(right: Answer, broken: list[Breakage], counts: dict[str, int]) -> Answer:
    """The design's answer, while each broken one is compared with it."""

    def answer(*arguments: Any) -> Any:
        verdict = right(*arguments)
        for breakage in broken:
            if breakage.answer(*arguments) != verdict:
                counts[breakage.title] = counts.get(breakage.title, 0) + 1
        return verdict

    return answer


def candidates(title: str) -> Iterator[Place]:
    """Where to look: rows, then rows with faults of their own, then faults that change what the rule is asked."""
    infected = [place for place, counts in INDEX.items() if counts.get(title)]
    plain = [place for place in infected if place[1] == NOTHING]
    yield from sorted(plain, key=lambda place: bool(ROWS[place[0]].faults))
    struck = [place for place in infected if place[1] != NOTHING]
    usual = {place: INDEX[place[0], NOTHING].get(title, 0) for place in struck}
    yield from spread([place for place in struck if INDEX[place][title] != usual[place]])
    yield from spread([place for place in struck if INDEX[place][title] == usual[place]])


def spread(places: list[Place]) -> Iterator[Place]:
    """The places so that each kind of strike comes once before any comes twice."""
    kinds: dict[str, list[Place]] = {}
    for place in places:
        kinds.setdefault(re.sub("#.*=", "=", place[1]), []).append(place)
    for turn in range(max(map(len, kinds.values()), default=0)):
        yield from (found[turn] for found in kinds.values() if turn < len(found))


def search(number: int) -> tuple[Entry, list[str]]:
    """The cheapest witness that was met, and what the bench broke down with on the way."""
    breakage = breakages()[number]
    found: list[tuple[int, Entry]] = []
    trouble: list[str] = []
    for place in islice(candidates(breakage.title), MOST_RUNS):
        entry = Entry(breakage.rule, breakage.name, *place)
        try:
            events = notices(entry)
        except Exception as crash:  # a bench that breaks down has noticed nothing
            trouble.append(f"{place}: {type(crash).__name__}: {crash}")
            continue
        if events:
            found.append((events, entry))
        if len(found) == ENOUGH:
            break
    best = min(found, key=lambda pair: pair[0])[1] if found else Entry(breakage.rule, breakage.name)
    return best, trouble


def notices(entry: Entry) -> int:
    """Run an entry: the length of the history when it is noticed, with the checks noted in the entry; else 0."""
    row, plan = ROWS[entry.row], read(entry.plan)
    signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
    try:
        ran = played(evidence(entry), row, plan)
        spoke = voices(ran.verdict)
        if not ran.infected or ran.verdict.status != FINDING or not whole(*entry.place):
            return 0
    except GivenUp:
        return 0
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    entry.check, entry.also = spoke[0], list(spoke[1:])
    return ran.events


@cache
def whole(name: str, plan: str) -> bool:
    """Whether a row passes under this plan with no rule broken."""
    return played((), ROWS[name], read(plan)).verdict.status == PASSED


def _give_up(*_: object) -> None:
    raise GivenUp


# --- by hand -----------------------------------------------------------------------------------------------------


def main() -> None:
    """Replay what the file has; search for what it lacks; say what came of it."""
    signal.signal(signal.SIGVTALRM, _give_up)
    meant = tuple(word for word in sys.argv[1:] if not word.startswith("--"))
    names = {breakage.title for breakage in breakages()}
    old = {entry.title: entry for entry in kept() if entry.title in names}
    fork = get_context("fork")
    with fork.Pool(2) as pool:
        shown = [entry for entry in old.values() if entry.row and entry.title.startswith(meant or "")]
        for entry, replayed in zip(shown, pool.imap(replay, shown, 8), strict=True):
            if replayed is None:
                print(f"no longer: {entry.title} in {entry.row} under {entry.plan}")
                del old[entry.title]
            elif entry.check != replayed.check and entry.check not in replayed.also:
                print(f"{entry.title}: {entry.check} no longer speaks, {replayed.check} does")
                old[entry.title] = replayed
    again = "--again" in sys.argv
    missing = [
        each
        for each in breakages()
        if each.title not in old or (again and not old[each.title].noticed)
        if each.title.startswith(meant or "")
    ]
    for entry, trouble in looked_for(missing):
        if entry.check or entry.title not in old:
            old[entry.title] = entry
        print(
            f"{entry.title}: {entry.check or 'SURVIVES'} {entry.row} {entry.plan} {trouble[:1] or ''}",
            flush=True,
        )
    keep(list(old.values()))


def replay(entry: Entry) -> Entry | None:
    """The entry as it shows now; None when it does not."""
    again = replace(entry)
    return again if notices(again) else None


def looked_for(missing: list[Breakage]) -> Iterator[tuple[Entry, list[str]]]:
    """Search for each of these: in the rows, and, for what these do not show, in single faults."""
    left = missing
    for places in ([(name, NOTHING) for name in ROWS if ROWS[name].theme != COSTLY], struck()):
        fork = get_context("fork")
        with fork.Pool(2) as pool:
            for share in pool.imap(
                index, [places[at : at + 50] for at in range(0, len(places), 50)] if left else ()
            ):
                INDEX.update(share)
        with fork.Pool(2) as pool:
            found = list(pool.imap_unordered(search, map(breakages().index, left)))
        yield from found
        shown = {entry.title for entry, _ in found if entry.check}
        left = [breakage for breakage in left if breakage.title not in shown]


def struck() -> list[Place]:
    """Every single fault of the rows on which these are tried."""
    sweeps = {name: single(reached(ROWS[name])) for name in STRUCK}
    return [(name, write(sweep.plan(at))) for name, sweep in sweeps.items() for at in range(1, len(sweep))]


if __name__ == "__main__":
    main()
