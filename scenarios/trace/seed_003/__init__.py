"""Seed 003, *Hosted foreground Shell tool turns*, sentence by sentence, with what carries each.

Left out are sentences that demand nothing: the status and the links at its head, what other changes did and why they
do not suffice, which layers of the code are touched, what is left for later work or was validated elsewhere, and a
demand that is only said again. A sentence that demands two things is two here; the words are our own.
"""

from __future__ import annotations

from scenarios.trace.seed_003.identity import IDENTITY
from scenarios.trace.seed_003.lifecycle import LIFECYCLE
from scenarios.trace.seed_003.ownership import OWNERSHIP
from scenarios.trace.seed_003.scope import SCOPE
from scenarios.trace.seed_003.storage import STORAGE
from scenarios.trace.seed_003.validation import VALIDATION
from scenarios.trace.sentence import Matrix

SEED_003 = Matrix(
    "003",
    "Hosted foreground Shell tool turns",
    (SCOPE, OWNERSHIP, STORAGE, IDENTITY, LIFECYCLE, VALIDATION),
)
