"""The harness: it leads a Session and its turns, and is the only one that decides what comes next."""

from sim.actors.harness.local import Local
from sim.actors.harness.session import Harness

__all__ = ["Harness", "Local"]
