"""The Session Store on SQL, and what shares its database."""

from sim.actors.store.objects import Objects
from sim.actors.store.publications import Publications
from sim.actors.store.records import CommitRecords, ExtendWriter, KeepOutput, SealLease, TakeWriter
from sim.actors.store.store import Store

__all__ = [
    "CommitRecords",
    "ExtendWriter",
    "KeepOutput",
    "Objects",
    "Publications",
    "SealLease",
    "Store",
    "TakeWriter",
]
