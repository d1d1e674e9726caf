"""The plan of one run while it is carried out: which fates are due at an effect, and which strikes are still open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sim.effects import Call, Deed, Request
from sim.lives import Host, Life
from sim.points import Fate, Plan, Point, Sighting, Strike, Watcher


class _All(frozenset[str]):
    """A set that holds every label: used while the points of a run are discovered."""

    def __contains__(self, label: object) -> bool:
        return True


class Trouble:
    """Asked once per effect with a watched label.

    Args:
        plan: the strikes to land.
        milestones: places whose passing the driver waits for, as ``actor:door:label#nth`` of the whole run.
        watcher: told of every point reached.
        passed: told of every milestone reached.
        hosts: which process each actor lives in.
    """

    def __init__(
        self,
        plan: Plan,
        milestones: frozenset[str],
        watcher: Watcher | None,
        passed: Callable[[str], None],
        hosts: Mapping[str, Host],
    ) -> None:
        self.open = list(plan.strikes)
        self.watched: frozenset[str] = frozenset()
        self._sticky: list[tuple[tuple[str, str, str, str], Fate]] = []
        self._milestones = milestones
        self._watcher = watcher
        self._passed = passed
        self._hosts = hosts
        self._counts: dict[str, int] = {}
        self._replies: dict[tuple[str, str], list[tuple[str, Any]]] = {}
        self._watch()

    def fates(self, life: Life, effect: Any, subject: Any, point: tuple[str, str, int]) -> tuple[str, ...]:
        """The names of the fates due here, each strike's own and those of sticky ones."""
        door, label, nth = point
        address = life.host.address
        operation = (address, door, label, subject.operation)
        due = [fate.name for place, fate in self._sticky if place == operation]
        if self.open or self._watcher is not None:
            at = Point(life.causes(), address, door, label, nth)
            if self._watcher is not None:
                self._watcher(self._sighting(effect, subject, at, life.host))
            due += [fate.name for fate in self._land(at, operation)]
        if self._milestones:
            self._pass(f"{address}:{door}:{label}")
        return tuple(dict.fromkeys(due))

    def heal(self) -> None:
        """From here on nothing strikes; what is still open has missed."""
        self._sticky.clear()
        self._watcher = None
        self.watched = frozenset()

    def remember(self, peer: str, request: Any, answer: Any) -> None:
        """A reply was sent; another one may be crossed with it."""
        if self.watched:
            self._replies.setdefault((peer, kind_of(request)), []).append((request.operation, answer))

    def crossed(self, peer: str, request: Any) -> tuple[str, Any] | None:
        """The last reply of this peer to another request of the same kind, with the identity it echoes."""
        others = [reply for reply in self._replies.get((peer, kind_of(request)), ()) if reply[0] != request.operation]
        return others[-1] if others else None

    def _land(self, at: Point, operation: tuple[str, str, str, str]) -> list[Fate]:
        landed: list[Strike] = [strike for strike in self.open if strike.point == at]
        for strike in landed:
            self.open.remove(strike)
            if strike.fate.sticky:
                self._sticky.append((operation, strike.fate))
        if landed:
            self._watch()
        return [strike.fate for strike in landed]

    def _watch(self) -> None:
        """Only an effect with one of these labels can matter."""
        if self._watcher is not None:
            self.watched = _All(("",))
            return
        struck = {strike.point.label for strike in self.open} | {place[2] for place, _ in self._sticky}
        passed = {milestone.partition("#")[0].rsplit(":", 1)[1] for milestone in self._milestones}
        self.watched = frozenset(struck | passed)

    def _pass(self, place: str) -> None:
        self._counts[place] = nth = self._counts.get(place, 0) + 1
        milestone = f"{place}#{nth}"
        if milestone in self._milestones:
            self._passed(milestone)

    def _sighting(self, effect: Any, subject: Any, at: Point, host: Host) -> Sighting:
        peer = effect.to if isinstance(effect, Call) else ""
        return Sighting(
            point=at,
            operation=subject.operation,
            peer=peer,
            local=bool(peer) and self._hosts[peer].process_name == host.process_name,
            payload=bool(peer) and subject.altered() is not None,
            crossable=bool(peer) and self.crossed(peer, subject) is not None,
            divisible=isinstance(subject, Deed) and is_divisible(subject),
        )


def kind_of(request: Request[Any]) -> str:
    """Requests of one kind have answers of one type."""
    return type(request).__name__


def is_divisible(deed: Deed[Any]) -> bool:
    """Whether the deed says what of it is done when its doer dies half-way."""
    return "halfway" in vars(type(deed))
