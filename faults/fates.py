"""The vocabulary of faults: every fate the kernel knows, what it means, and at which points it applies."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from sim.points import ACT, CALL, COMMIT, Fate, Sighting

ANY, TIME = "any", "time"
"""The doors of fates that strike at whatever is asked: the caller's death or sleep, and time running out."""

AUTHORITY = "journal:"
"""The actor through which a Session's owner speaks with the Store. Only there can the owner notice that its lease or
its activation is gone, so a loss at any other moment is equal to one at its next call."""

LOCAL_AUTHORITY = "local-journal:"
"""The same of a local Session, whose store is in its own process."""

OBSERVER = "client"
"""The actor that plays the user and the operator. It is not under test: it neither crashes nor pauses."""

OUTSIDER = "intruder"
"""The actor that sends what nobody may send. It is no part of the system: what befalls it harms nobody."""

UNSTRUCK = {
    "AwaitTurn": "it is how the bench learns the ending; the design has no such request",
    "LoadSession": "it is the operator's command to open the Session; lost, nobody opened one",
}
"""The client's requests that no fate strikes, each with the reason."""


class Kind(msgspec.Struct, frozen=True):
    """One fate of the vocabulary.

    ``door`` is the effect it strikes at: call, commit, act, any or time. ``sticky`` says whether it also
    has the form that all later attempts at the same operation share. ``where`` narrows the door to the
    points where it means something.
    """

    name: str
    door: str
    means: str
    story: str
    sticky: bool
    where: Callable[[Sighting], bool]

    def applies(self, sighting: Sighting) -> bool:
        """Whether this fate can befall what was asked at that point."""
        actor, label = sighting.point.actor, sighting.point.label
        if actor == OUTSIDER or (actor == OBSERVER and label in UNSTRUCK):
            return False
        return self.where(sighting)

    def forms(self) -> tuple[Fate, ...]:
        """The fate as plans name it: transient, and sticky where it has that form."""
        return (Fate(self.name), Fate(self.name, sticky=True)) if self.sticky else (Fate(self.name),)


def _remote(sighting: Sighting) -> bool:
    return sighting.point.door == CALL and not sighting.local


def _with_payload(sighting: Sighting) -> bool:
    """Bytes change between hosts, not on the loopback interface between a worker and its owner's publisher."""
    return _remote(sighting) and sighting.payload and not _publication(sighting)


def _crossable(sighting: Sighting) -> bool:
    return _remote(sighting) and sighting.crossable


def _commit(sighting: Sighting) -> bool:
    return sighting.point.door == COMMIT


def _stored(sighting: Sighting) -> bool:
    return _commit(sighting) and sighting.payload


def _act(sighting: Sighting) -> bool:
    return sighting.point.door == ACT


def _fallible(sighting: Sighting) -> bool:
    """Everything a process does can fail, but its end."""
    return _act(sighting) and sighting.point.label != "ExitProcess"


def _divisible(sighting: Sighting) -> bool:
    return _act(sighting) and sighting.divisible


def _mortal(sighting: Sighting) -> bool:
    return sighting.point.actor != OBSERVER


def _owner(sighting: Sighting) -> bool:
    hosted = _remote(sighting) and sighting.point.actor.startswith(AUTHORITY)
    return hosted or _local_owner(sighting)


def _local_owner(sighting: Sighting) -> bool:
    return sighting.point.door == CALL and sighting.point.actor.startswith(LOCAL_AUTHORITY)


def _publication(sighting: Sighting) -> bool:
    return sighting.point.actor.startswith("worker:") and sighting.peer.startswith("publisher:")


def _bearing(sighting: Sighting) -> bool:
    """A worker shows its capability to its owner's publisher, or to the publication services."""
    return _publication(sighting) or (
        sighting.point.actor.startswith("worker:") and sighting.peer == "publications"
    )


_ALL = (
    # --- a call between two processes
    Kind(
        "request-lost", CALL, "The request never arrives; the caller hears nothing.",
        "A connection is dropped before its first byte. Nothing happened, and the caller cannot know.",
        True, _remote,
    ),
    Kind(
        "reply-lost", CALL, "The peer does what was asked; its reply never arrives.",
        "The broker takes the Workspace, and the answer is lost: a retry may find its own lease in the way.",
        True, _remote,
    ),
    Kind(
        "reply-late", CALL, "The reply arrives after the caller gave up waiting.",
        "The answer comes at 31 s; the caller stopped listening at 30 s and has begun again.",
        True, _remote,
    ),
    Kind(
        "reply-truncated", CALL, "The peer does what was asked; its reply arrives cut and cannot be read.",
        "Half of the JSON is there. Something was answered, but not what.",
        True, _remote,
    ),
    Kind(
        "duplicated", CALL, "The request is delivered twice; the first answer counts.",
        "A proxy sends the same start again: a second dispatch would run the command twice.",
        False, _remote,
    ),
    Kind(
        "delivered-late", CALL, "The request arrives after the caller gave up and tried again.",
        "The retry has won; then the original turns up, with an identity that is already spent.",
        False, _remote,
    ),
    Kind(
        "refused", CALL, "The peer answers with a definite refusal, and nothing happened.",
        "409, before anything was touched.",
        True, _remote,
    ),
    Kind(
        "error-before", CALL, "An intermediary answers 5xx without forwarding; that proves nothing.",
        "A gateway says 503 because its upstream is being rolled.",
        True, _remote,
    ),
    Kind(
        "error-after", CALL, "The peer does what was asked; an intermediary answers 5xx in its place.",
        "The upstream committed; the gateway timed out reading from it and said 504.",
        True, _remote,
    ),
    Kind(
        "delayed", CALL, "The request takes seconds, within the caller's patience.",
        "A slow link. Nothing is lost, but others act meanwhile.",
        False, _remote,
    ),
    Kind(
        "request-altered", CALL, "One byte of the request's payload changes in transit.",
        "An encoder replaces what it cannot encode by a question mark: another command arrives.",
        False, _with_payload,
    ),
    Kind(
        "reply-crossed", CALL, "The caller gets the reply to another request of the same kind.",
        "Two answers on one connection change places: the result of another execution comes back.",
        False, _crossable,
    ),
    # --- a commit
    Kind(
        "commit-failed", COMMIT, "The database refuses the transaction; nothing is written.",
        "A deadlock victim: rolled back, and told so.",
        True, _commit,
    ),
    Kind(
        "unknown-applied", COMMIT, "The transaction is applied, and the database does not say so.",
        "The connection breaks after the server has committed.",
        True, _commit,
    ),
    Kind(
        "unknown-not-applied", COMMIT, "The transaction is not applied, and the database does not say so.",
        "The connection breaks before the server has committed.",
        True, _commit,
    ),
    Kind(
        "altered-at-rest", COMMIT, "The transaction is applied; then a stored byte changes on the disk.",
        "A stored page rots. Only a reader that checks the digest will notice.",
        False, _stored,
    ),
    # --- a deed in the world outside
    Kind(
        "act-failed", ACT, "The deed cannot be done, and was not.",
        "The file system is read-only.",
        True, _fallible,
    ),
    Kind(
        "act-half", ACT, "The doer dies half-way through a deed that can be halved.",
        "Half of a line is in the file when the process is gone.",
        False, _divisible,
    ),
    # --- whoever asks
    Kind(
        "crash-before", ANY, "The asking process dies just before.",
        "It meant to ask, and never did. Whatever it kept in memory is gone.",
        False, _mortal,
    ),
    Kind(
        "crash-waiting", ANY, "The asking process dies after asking and before the answer.",
        "What it asked goes on without it; nobody is there to hear the end.",
        False, _mortal,
    ),
    Kind(
        "crash-after", ANY, "The asking process dies with the answer in its hand, before it acts on it.",
        "The receipt is durable, and the one who was to write the history is dead.",
        False, _mortal,
    ),
    Kind(
        "paused", ANY, "The asking process stands still for longer than a writer lease, and then runs on.",
        "A laptop lid, a garbage collection, a migrated machine: it believes that no time has passed.",
        False, _mortal,
    ),
    # --- time, and whoever comes with it
    Kind(
        "writer-expired", TIME, "The Session's writer lease runs out at this moment; nobody took it.",
        "Renewals fell behind. The owner may extend, for the place is still free.",
        False, _owner,
    ),
    Kind(
        "writer-replaced", TIME, "Another owner takes the Session's writer lease at this moment.",
        "A second host opened the Session. The old one still runs, and must not write.",
        False, _owner,
    ),
    Kind(
        "activation-replaced", TIME, "Another activation becomes the Session's current one at this moment.",
        "A new owner is installed while a large output is verified: the old result must not get in.",
        False, _owner,
    ),
    Kind(
        "root-moved", TIME, "Another directory stands at the root of a local Session from this moment on.",
        "Somebody renames the checkout and clones another into its place, while a command is being prepared.",
        False, _local_owner,
    ),
    Kind(
        "capability-expired", TIME, "The worker's capability is no longer good when it is presented.",
        "The worker sends output with yesterday's key.",
        False, _bearing,
    ),
)  # fmt: skip

VOCABULARY: dict[str, Kind] = {kind.name: kind for kind in _ALL}
"""Every fate by the name that the kernel gives it, door by door."""


def applicable(sighting: Sighting) -> list[Fate]:
    """Every fate that can befall what was asked at that point, in the order of the vocabulary."""
    return [form for kind in _ALL if kind.applies(sighting) for form in kind.forms()]
