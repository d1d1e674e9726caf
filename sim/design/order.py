"""The order of design 003, as a table. A turn may stop anywhere; it may not skip."""

from __future__ import annotations

ORDER = (
    "acquire",
    "register",
    "assistant",
    "intent",
    "checkpoint",
    "execute",
    "durable capture",
    "durable receipt",
    "model result",
    "checkpoint resolution",
    "exact ACK",
    "next inference",
    "result consumption",
    "release",
)
"""003 Identity, admission and model history, "The order is", in the seed's own words."""
