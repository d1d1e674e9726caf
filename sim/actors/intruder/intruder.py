"""The outsider itself: at each milestone it sends its requests, one after another, and gains nothing by the answers."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby

from sim.actor import Actor
from sim.actors.intruder.forgeries import forgeries
from sim.actors.intruder.known import Known, Stolen
from sim.effects import Call, Disk, Failed, Start, Uncertain, Wait
from sim.scenario import Intrusion

INTRUDER = "intruder"


class Intruder(Actor):
    """Plays the intrusions of a scenario, in order. A process of its own, which shares nothing with its victims.

    Args:
        intrusions: what it sends, and when.
        workspaces: the Workspace of each Session.
        disk: where it reads ids.
        stolen: what it has stolen.
    """

    def __init__(
        self, intrusions: tuple[Intrusion, ...], workspaces: Mapping[str, str], disk: Disk, stolen: Stolen
    ) -> None:
        self.intrusions = intrusions
        self.workspaces = workspaces
        self.disk = disk
        self.stolen = stolen

    async def boot(self) -> None:
        """Wait beside each other for the milestones; what belongs to one is sent in order."""
        together = groupby(self.intrusions, lambda intrusion: intrusion.at)
        for _, (milestone, intrusions) in enumerate(together):
            await Start(self.play, (milestone, tuple(intrusions)))

    async def play(self, milestone: str, intrusions: tuple[Intrusion, ...]) -> None:
        """What is sent at one milestone; each answer is awaited, whatever it is."""
        await Wait(milestone)
        for _, intrusion in enumerate(intrusions):
            forge = forgeries()[intrusion.route, intrusion.wrong]
            workspace = self.workspaces.get(intrusion.session, "")
            known = Known(intrusion.session, intrusion.prompt, workspace, self.disk, self.stolen)
            forged = forge(known)
            try:
                await Call(forged.to, forged.request)
            except (Failed, Uncertain):
                continue
