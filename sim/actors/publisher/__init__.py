"""The publisher of a Session's owner: takes a worker's raw output, makes it durable, and admits it."""

from sim.actors.publisher.publisher import Publisher, descriptor_of

__all__ = ["Publisher", "descriptor_of"]
