"""The sentences of the seeds, numbered, each with the rows, checks and rules that carry it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from scenarios.trace.seed_000 import SEED_000
from scenarios.trace.seed_003 import SEED_003
from scenarios.trace.sentence import Matrix

MATRICES: Mapping[str, Matrix] = MappingProxyType({matrix.seed: matrix for matrix in (SEED_000, SEED_003)})
"""The sentences of each seed that is traced, by the number of the seed."""
