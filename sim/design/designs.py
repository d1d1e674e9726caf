"""The designs that can be named: the seeds' own, the seeds' under limits of their own, and policies beside them.

A design of this list is applied to that of a row: what it says nothing of stays the row's. So a policy is played under
each row's own limits, and two designs can be compared row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from sim.design import admission, lease, settlement
from sim.design.design import SCALED, SEED, SMALL, Design
from sim.design.limits import Limits
from sim.protocol import ToolCall
from sim.rule import Rule

Replacement = tuple[Rule[..., Any], Callable[..., Any]]
"""A rule, and what answers in its place."""


class Named(msgspec.Struct, frozen=True):
    """A design by name: what it changes of the design that it is applied to.

    ``says`` is what it does, in a sentence, ``cites`` where that is written; ``limits`` are None where the limits stay.
    """

    name: str
    says: str
    cites: str
    replaces: tuple[Replacement, ...] = ()
    limits: Limits | None = None

    def of(self, design: Design) -> Design:
        """The design that this one makes of another."""
        if self.limits is not None:
            design = msgspec.structs.replace(design, limits=self.limits)
        for rule, answer in self.replaces:
            design = design.replacing(rule, answer, self.name)
        return design


# --- what the policies answer -----------------------------------------------------------------------------------


def waits_for_busy(code: str) -> bool:
    """A busy Workspace is asked for again until the turn has it, or is cancelled."""
    return code == "workspace_busy"


def hands_back_what_it_acquired(acquired: bool) -> bool:
    """A turn that blocks keeps its Runtime Session, and hands the Workspace back."""
    return acquired


def logs_ack_failure(cause: str) -> bool:
    """A failure to acknowledge stops nothing, whatever its cause."""
    return False


def checks_no_text(call: ToolCall) -> str:
    """Shell text is not checked before the batch is admitted."""
    return ""


def background_is_selected(call: ToolCall) -> bool:
    """A call that asks for the background is taken to the H3 branch."""
    return bool((admission.fields_of(call) or {}).get("is_background"))


# --- the list ---------------------------------------------------------------------------------------------------

DESIGNS: Mapping[str, Named] = MappingProxyType(
    {
        named.name: named
        for named in (
            Named("seed", "Both seeds, under each row's own limits.", "003, 000"),
            Named("seed-real", "Both seeds, under the real limits.", "behaviour §5", limits=SEED.limits),
            Named(
                "seed-scaled",
                "Both seeds, under small sizes and with few looks at what runs, as most rows are swept.",
                "behaviour §5",
                limits=SCALED.limits,
            ),
            Named(
                "seed-small",
                "Both seeds, under small sizes and with every look.",
                "behaviour §5",
                limits=SMALL.limits,
            ),
            Named(
                "queue-when-busy",
                "A turn whose Workspace is busy asks for it again every 250 ms, until it has it or is cancelled.",
                "behaviour §8 D2",
                ((lease.waits_when_busy, waits_for_busy),),
            ),
            Named(
                "hand-back-on-block",
                "A turn that blocks hands its Workspace back and keeps its Runtime Session. To the seeds the early "
                "release is a violation.",
                "field cases §0.3.1",
                ((settlement.hands_back, hands_back_what_it_acquired),),
            ),
            Named(
                "ack-failure-logged",
                "A failure to acknowledge is only noted, and the turn goes on.",
                "behaviour §8 D15",
                ((settlement.ack_failure_blocks, logs_ack_failure),),
            ),
            Named(
                "before-unicode-admission",
                "Shell text is not checked first: the command is reserved and started, the late refusal is taken for a "
                "lost reply, and the turn blocks with its Workspace held. It shows the mechanism of the published "
                "incident; it does not reproduce the eight minutes that were observed.",
                "000 §1; behaviour §3.4, §8 D14",
                ((admission.text_error, checks_no_text),),
            ),
            Named(
                "h3-selected",
                "Calls that ask for the background are taken to the H3 branch, which has the same check of their "
                "text and is not enabled.",
                "000 §2; behaviour §8 D5",
                ((admission.takes_h3, background_is_selected),),
            ),
        )
    }
)
"""Every design that can be named, the seeds' first."""
