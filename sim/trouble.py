"""The plan of one run while it is carried out: which fates are due at an effect, and which strikes are still open."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from sim.effects import Call, Deed, Request
from sim.lives import Host, Life
from sim.points import ACT, CALL, COMMIT, Fate, Plan, Point, Sighting, Strike, Watcher

_CALLS = (
    "request-lost reply-lost reply-late reply-truncated duplicated delivered-late refused error-before error-after "
    "delayed request-altered reply-crossed capability-expired"
)
_OF_DOOR: dict[str, frozenset[str]] = {
    CALL: frozenset(_CALLS.split()),
    COMMIT: frozenset({"commit-failed", "unknown-applied", "unknown-not-applied", "altered-at-rest"}),
    ACT: frozenset({"act-failed", "act-half"}),
}
"""The fates that change the effect itself, by door."""

OF_PROCESSES = frozenset({"crash-before", "crash-waiting", "crash-after", "paused"})
"""The fates of whoever asks."""

_EXCLUSIVE = (
    frozenset({"crash-before"}).union(*_OF_DOOR.values()),
    frozenset({"crash-before", "crash-waiting", "crash-after", "act-half"}),
    frozenset({"crash-before", "crash-waiting", "paused"}),
)
"""Of each group one fate alone can do what it says: an effect changes once, a process dies once."""


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
        times: the names of the fates of time.
        hosts: which process each actor lives in.
    """

    def __init__(
        self,
        plan: Plan,
        milestones: frozenset[str],
        watcher: Watcher | None,
        passed: Callable[[str], None],
        times: Collection[str],
        hosts: Mapping[str, Host],
    ) -> None:
        self.open = list(plan.strikes)
        self.missed = self.open  # the same list, until healing closes it
        self.healed = False
        self.watched: frozenset[str] = frozenset()
        self.remembers = False
        self._crosses = watcher is not None or any(
            strike.fate.name == "reply-crossed" for strike in plan.strikes
        )
        self._sticky: list[tuple[tuple[str, str, str, str], Fate]] = []
        self._milestones = milestones
        self._watcher = watcher
        self._passed = passed
        self._times = times
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
            for strike in [strike for strike in self.open if strike.point == at]:
                seen = self._sighting(effect, subject, at, life.host)
                if self._bites(strike.fate.name, due, seen, subject):
                    due.append(strike.fate.name)
                    self._land(strike, operation)
        if self._milestones:
            self._pass(f"{address}:{door}:{label}")
        return tuple(dict.fromkeys(due))

    def heal(self) -> None:
        """From here on nothing strikes, and what is still open has missed. Milestones go on."""
        self.healed = True
        self.open = []
        self._sticky.clear()
        self._watcher = None
        self._watch()

    def remember(self, peer: str, request: Any, answer: Any) -> None:
        """A reply was sent; another one may be crossed with it."""
        self._replies.setdefault((peer, kind_of(request)), []).append((request.operation, answer))

    def crossed(self, peer: str, request: Any) -> tuple[str, Any] | None:
        """The last reply of this peer to another request of the same kind, with the identity it echoes."""
        mine = request.operation
        replies = self._replies.get((peer, kind_of(request)), [])
        return next((reply for reply in reversed(replies) if reply[0] != mine), None)

    def _bites(self, fate: str, due: list[str], seen: Sighting, subject: Any) -> bool:
        """Whether a fate can do here what it says, beside those already due. One that cannot has not landed."""
        if any(fate in group and not group.isdisjoint(due) for group in _EXCLUSIVE):
            return False
        if fate in OF_PROCESSES:
            return True
        if fate in self._times:
            return self._hosts[seen.point.actor].process_name.startswith("owner:")
        needs = {
            "request-altered": seen.payload,
            "reply-crossed": seen.crossable,
            "capability-expired": hasattr(subject, "bearer"),
            "act-half": seen.divisible,
        }
        return fate in _OF_DOOR[seen.point.door] and not seen.local and needs.get(fate, True)

    def _land(self, strike: Strike, operation: tuple[str, str, str, str]) -> None:
        self.open.remove(strike)
        if strike.fate.sticky:
            self._sticky.append((operation, strike.fate))
        self._watch()

    def _watch(self) -> None:
        """Only an effect with one of these labels can matter."""
        if self._watcher is not None:
            self.watched, self.remembers = _All(("",)), True
            return
        struck = {strike.point.label for strike in self.open} | {place[2] for place, _ in self._sticky}
        passed = {milestone.partition("#")[0].rsplit(":", 1)[1] for milestone in self._milestones}
        self.watched = frozenset(struck | passed)
        self.remembers = self._crosses and bool(self.watched)

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
            payload=subject.altered() is not None if peer else getattr(subject, "stores_bytes", False),
            crossable=bool(peer) and self.crossed(peer, subject) is not None,
            divisible=at.door == ACT and is_divisible(subject),
        )


def kind_of(request: Request[Any]) -> str:
    """Requests of one kind have answers of one type."""
    return type(request).__name__


def is_divisible(deed: Deed[Any]) -> bool:
    """Whether the deed says what of it is done when its doer dies half-way."""
    return "halfway" in vars(type(deed))
