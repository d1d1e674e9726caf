"""Seed 000, *Hosted Shell Unicode admission*, sentence by sentence, with what carries each.

Left out are sentences that demand nothing: status and links, the audit record, what was observed before, file names,
commands to run, and a demand that is only said again. A sentence that demands two things is two here; the words are
our own. What hooks, approvals, the second capture path or a SQL store must bring says so.
"""

from __future__ import annotations

from scenarios.trace.seed_000.admission import ADMISSION
from scenarios.trace.seed_000.approach import APPROACH
from scenarios.trace.seed_000.persistence import PERSISTENCE
from scenarios.trace.seed_000.scope import SCOPE
from scenarios.trace.seed_000.verification import VERIFICATION
from scenarios.trace.sentence import Matrix

SEED_000 = Matrix(
    "000",
    "Hosted Shell Unicode admission",
    (SCOPE, APPROACH, ADMISSION, PERSISTENCE, VERIFICATION),
)
