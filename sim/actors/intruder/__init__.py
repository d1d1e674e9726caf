"""An outsider on the machine: it knows ids, has stolen what a scenario says, and sends what nobody may send."""

from sim.actors.intruder.forgeries import forgeries
from sim.actors.intruder.intruder import INTRUDER, Intruder
from sim.actors.intruder.known import Stolen
from sim.actors.intruder.trap import TRAP, Trap

__all__ = ["INTRUDER", "TRAP", "Intruder", "Stolen", "Trap", "forgeries"]
