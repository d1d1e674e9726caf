"""The worker of a Workspace: runs commands, reads their pipes, and hands the output to the Session's owner."""

from sim.actors.worker.worker import Worker

__all__ = ["Worker"]
