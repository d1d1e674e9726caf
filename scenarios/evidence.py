"""The seed's own table of evidence (000 §6): what each test asks for, and what it still waits for."""

from __future__ import annotations

import msgspec


class Demand(msgspec.Struct, frozen=True):
    """One line of the table. ``key`` begins the names of its rows; ``pending`` is what will bring it, or more of it."""

    key: str
    name: str
    asks: str
    pending: str = ""


HOOKS, SECOND_PATH = "hooks and approvals", "the second capture path"

TABLE = (
    Demand(
        "u1",
        "Unicode negatives",
        "every malformed shape, in both fields, at any place of a text",
        SECOND_PATH,
    ),
    Demand(
        "u2", "Unicode compatibility", "valid text keeps its bytes, its digest and its meaning", SECOND_PATH
    ),
    Demand("u3", "Batch refusal", "an invalid call anywhere refuses all, in order and durably", SECOND_PATH),
    Demand(
        "u4", "Correction", "a corrected call runs once, reaches the model, and later turns work", SECOND_PATH
    ),
    Demand("u5", "Ownership", "a fresh refusal holds nothing, a later one keeps its owner", SECOND_PATH),
    Demand(
        "u6", "Persistence failure", "a refusal that is not durable blocks, and runs nothing", SECOND_PATH
    ),
    Demand("u7", "Hooks", "no hook sees the incomplete text, and no rewrite gets around the check", HOOKS),
    Demand("u8", "Hook cold completion", "a reloaded refusal runs no callback, and repeats nothing", HOOKS),
    Demand(
        "u9",
        "Store and model transport",
        "the escaped group is kept, read again, shown and corrected",
        SECOND_PATH,
    ),
    Demand(
        "u10",
        "Limits and identity",
        "the guards that were there still apply, ahead of a refusal",
        SECOND_PATH,
    ),
    Demand(
        "u11", "Regression and mutation", "ordinary refusals stay, and each removed check is noticed", HOOKS
    ),
)
"""In the seed's order."""
