"""Every decision that the designs fix, by theme, each with its citation.

The :class:`Design` in force is a value: the seeds' own answers, the limits, and whatever a mutant answers instead.
"""

from sim.design.design import SCALED, SEED, SMALL, Design
from sim.design.limits import Limits

__all__ = ["SCALED", "SEED", "SMALL", "Design", "Limits"]
