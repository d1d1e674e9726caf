"""Every request that an outsider sends: for each route, by what is wrong with it.

What is not said to be wrong is right, as far as the outsider can know it; *stolen* in a name, and every request to the
publisher that names no bearer, means that it carries the right capability or token.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

from sim.actors.intruder.known import Known
from sim.actors.intruder.trap import TRAP
from sim.deeds import NO_CODE
from sim.effects import Request, Secret
from sim.protocol import (
    SHELL,
    STDOUT,
    AcceptCapture,
    Acknowledge,
    Acquire,
    CancelExecution,
    Descriptor,
    FinalizeCapture,
    FinishOutput,
    InstallPublisher,
    Physical,
    Prepare,
    PreparePublication,
    Publish,
    RegisterPublisher,
    StartExecution,
    Status,
    WriteOutput,
    WriterToken,
)
from sim.text import tool_digest

BROKER, STORE = "broker", "store"
V3, V2 = "managed-tool/v3", "managed-tool/v2"
NOBODY = "nobody.p1"
UNKNOWN = "execution-unknown"
TENANT = "intruder.p1"
"""The Runtime Session of an outsider that takes a Workspace as anybody may."""
NO_BEARER = Secret("no capability", "")
GUESS = Secret("a guessed capability", "A" * 43)
LARGE = 100 * 1024
"""More bytes than are read at once, and less than a body may have."""
TOO_LARGE = 300 * 1024
"""More bytes than any body may have."""
FORGED = Physical("success", 0, "", "forged", False, False)


class Forged(msgspec.Struct, frozen=True):
    """One request, and to whom it goes."""

    to: str
    request: Request[Any]


Forge: TypeAlias = Callable[[Known], Forged]
Forgery: TypeAlias = tuple[str, str, Forge]
"""The route, what is wrong, and how it is made."""


@cache
def forgeries() -> Mapping[tuple[str, str], Forge]:
    """Every forgery by route and what is wrong."""
    found = (*_of_publisher(), *_of_worker(), *_of_broker(), *_of_tenant(), *_of_store())
    return MappingProxyType({(route, wrong): forge for route, wrong, forge in found})


# --- the publisher: prepare, write, finish, finalize, accept


def _of_publisher() -> Iterator[Forgery]:
    for bearer, wrong in ((NO_BEARER, "no bearer"), (GUESS, "wrong bearer")):
        yield from _borne(bearer, wrong)
    for wrong, named in (
        ("nothing", {}),
        ("unknown execution", {"execution": UNKNOWN}),
        ("other worker call", {"worker_call": "another"}),
        ("other Runtime Session", {"runtime_session": NOBODY}),
        ("other generation", {"generation": 7}),
        ("other digest", {"input_digest": "0" * 64}),
    ):
        yield "PreparePublication", wrong, _preparing(named)
    yield from _of_stream()
    for wrong, execution, physical in (
        ("nothing", "", FORGED),
        ("unknown execution", UNKNOWN, FORGED),
        ("a large body", "", replace(FORGED, preview="x" * LARGE)),
        ("oversized", "", replace(FORGED, preview="x" * TOO_LARGE)),
    ):
        yield "FinalizeCapture", wrong, _finalizing(execution, physical)
    for wrong, execution, changed in (
        ("nothing", "", {}),
        ("unknown execution", UNKNOWN, {}),
        ("other envelope", "", {"exit_code": NO_CODE, "preview": "forged"}),
        ("oversized", "", {"preview": "x" * TOO_LARGE}),
    ):
        yield "AcceptCapture", wrong, _accepting(execution, changed)


def _of_stream() -> Iterator[Forgery]:
    for wrong, execution, stream, offset, size in (
        ("nothing", "", STDOUT, 0, 1),
        ("unknown execution", UNKNOWN, STDOUT, 0, 1),
        ("other stream", "", "stdlog", 0, 1),
        ("gap", "", STDOUT, 1_000_000, 1),
        ("oversized", "", STDOUT, 0, TOO_LARGE),
    ):
        yield "WriteOutput", wrong, _writing(execution, stream, offset, b"!" * size)
    for wrong, execution, stream in (
        ("nothing", "", STDOUT),
        ("unknown execution", UNKNOWN, STDOUT),
        ("other stream", "", "stdlog"),
    ):
        yield "FinishOutput", wrong, _finishing(execution, stream)


def _borne(bearer: Secret, wrong: str) -> Iterator[Forgery]:
    """The five operations with another bearer, and nothing else wrong."""

    def prepare(known: Known) -> Forged:
        return Forged(_listener(known), PreparePublication(bearer, known.reference))

    def write(known: Known) -> Forged:
        return Forged(_listener(known), WriteOutput(bearer, known.reference.execution, STDOUT, 0, b"!"))

    def finish(known: Known) -> Forged:
        return Forged(_listener(known), FinishOutput(bearer, known.reference.execution, STDOUT, True))

    def finalize(known: Known) -> Forged:
        return Forged(_listener(known), FinalizeCapture(bearer, known.reference.execution, FORGED))

    def accept(known: Known) -> Forged:
        return Forged(_listener(known), AcceptCapture(bearer, known.reference.execution, known.envelope))

    yield "PreparePublication", wrong, prepare
    yield "WriteOutput", wrong, write
    yield "FinishOutput", wrong, finish
    yield "FinalizeCapture", wrong, finalize
    yield "AcceptCapture", wrong, accept


def _listener(known: Known) -> str:
    return f"publisher:{known.session}"


def _preparing(named: Mapping[str, Any]) -> Forge:
    def forge(known: Known) -> Forged:
        reference = replace(known.reference, **named)
        return Forged(_listener(known), PreparePublication(known.capability, reference))

    return forge


def _writing(execution: str, stream: str, offset: int, content: bytes) -> Forge:
    def forge(known: Known) -> Forged:
        name = execution or known.reference.execution
        return Forged(_listener(known), WriteOutput(known.capability, name, stream, offset, content))

    return forge


def _finishing(execution: str, stream: str) -> Forge:
    def forge(known: Known) -> Forged:
        name = execution or known.reference.execution
        return Forged(_listener(known), FinishOutput(known.capability, name, stream, True))

    return forge


def _finalizing(execution: str, physical: Physical) -> Forge:
    def forge(known: Known) -> Forged:
        name = execution or known.reference.execution
        return Forged(_listener(known), FinalizeCapture(known.capability, name, physical))

    return forge


def _accepting(execution: str, changed: Mapping[str, Any]) -> Forge:
    def forge(known: Known) -> Forged:
        name = execution or known.reference.execution
        envelope = replace(known.envelope, **changed)
        return Forged(_listener(known), AcceptCapture(known.capability, name, envelope))

    return forge


# --- the worker: registration

PATH = "/internal/hosted-shell-publisher/v1"
URL = f"http://127.0.0.1:50000{PATH}"


def _of_worker() -> Iterator[Forgery]:
    for wrong, url in (
        ("localhost", f"http://localhost:50000{PATH}"),
        ("another host", f"http://10.0.0.7:50000{PATH}"),
        ("https", f"https://127.0.0.1:50000{PATH}"),
        ("a query", f"{URL}?to=elsewhere"),
        ("another path", "http://127.0.0.1:50000/elsewhere"),
        ("port 0", f"http://127.0.0.1:0{PATH}"),
        ("port 65536", f"http://127.0.0.1:65536{PATH}"),
        ("a leading zero", f"http://127.0.0.1:050000{PATH}"),
        ("user info", f"http://user@127.0.0.1:50000{PATH}"),
        ("other descriptor", URL),
    ):
        yield "InstallPublisher", wrong, _installing(Descriptor(url, GUESS, "intruder"))
    for wrong, capability in (("short capability", "A" * 42), ("foreign alphabet", "A" * 42 + "+")):
        secret = Secret(f"a capability with {wrong}", capability)
        yield "InstallPublisher", wrong, _installing(Descriptor(URL, secret, "intruder"))
    trap = Descriptor(URL, GUESS, "intruder")
    yield "InstallPublisher", "oversized", _installing(trap, runtime_session="x" * TOO_LARGE)
    yield "InstallPublisher", "other generation", _reinstalling(6)
    yield "InstallPublisher", "stolen descriptor", _reinstalling(0)


def _installing(descriptor: Descriptor, runtime_session: str = "") -> Forge:
    def forge(known: Known) -> Forged:
        name = runtime_session or known.prompt
        install = InstallPublisher(name, known.reference.generation, descriptor)
        return Forged(f"worker:{known.workspace}", install)

    return forge


def _reinstalling(lives: int) -> Forge:
    """The stolen descriptor, for a life of the worker that is so many lives on."""

    def forge(known: Known) -> Forged:
        install = InstallPublisher(known.prompt, known.reference.generation + lives, known.descriptor)
        return Forged(f"worker:{known.workspace}", install)

    return forge


# --- the broker: registration, reservation, start, status, cancel, ACK


def _of_broker() -> Iterator[Forgery]:
    trap = Descriptor(URL, GUESS, "intruder")
    yield (
        "RegisterPublisher",
        "foreign Runtime Session",
        _to_broker(lambda _: RegisterPublisher(NOBODY, trap)),
    )
    yield "RegisterPublisher", "other descriptor", _to_broker(lambda k: RegisterPublisher(k.prompt, trap))
    for wrong, changed in (
        ("foreign Runtime Session", {"runtime_session": NOBODY}),
        ("another tool", {"tool": "write_file", "worker_call": "another"}),
        ("protocol v2", {"protocol": V2, "worker_call": "another"}),
        ("other content", {"payload_digest": "sha256:0"}),
    ):
        yield "Prepare", wrong, _reserving(changed)
    yield "StartExecution", "unknown execution", _to_broker(lambda k: StartExecution(UNKNOWN, k.payload))
    yield "StartExecution", "other payload", _starting(lambda payload: payload.replace(b'"make"', b'"rm -r"'))
    yield "StartExecution", "more fields", _starting(lambda payload: payload[:-1] + b',"more":1}')
    yield "StartExecution", "nothing", _starting(lambda payload: payload)
    yield "Status", "unknown execution", _to_broker(lambda _: Status(UNKNOWN))
    yield "CancelExecution", "unknown execution", _to_broker(lambda _: CancelExecution(UNKNOWN))
    yield "Acknowledge", "unknown execution", _to_broker(lambda k: Acknowledge(UNKNOWN, k.receipt))
    yield (
        "Acknowledge",
        "another receipt",
        _to_broker(lambda k: Acknowledge(k.reference.execution, k.receipt)),
    )


def _to_broker(make: Callable[[Known], Request[Any]]) -> Forge:
    return lambda known: Forged(BROKER, make(known))


def _reserving(changed: Mapping[str, str]) -> Forge:
    def forge(known: Known) -> Forged:
        reference = known.reference
        digest = _payload_digest(known.payload)
        prepare = Prepare(known.prompt, reference.worker_call, SHELL, V3, digest, reference.input_digest)
        return Forged(BROKER, replace(prepare, **changed))

    return forge


def _starting(change: Callable[[bytes], bytes]) -> Forge:
    def forge(known: Known) -> Forged:
        return Forged(BROKER, StartExecution(known.reference.execution, change(known.payload)))

    return forge


def _payload_digest(payload: bytes) -> str:
    return f"sha256:{hashlib.sha256(payload).hexdigest()}"


# --- the broker, as a tenant like any other, whose listener is the trap

ARGUMENTS = {"command": "make", "is_background": False}
PAYLOAD = f'{{"toolName":"{SHELL}","input":{{"command":"make","is_background":false}}}}'.encode()


def _of_tenant() -> Iterator[Forgery]:
    trap = Descriptor(URL, GUESS, TRAP.partition(":")[2])
    digests = (_payload_digest(PAYLOAD), tool_digest(ARGUMENTS))
    yield "Acquire", "own", _to_broker(lambda known: Acquire("intruder", TENANT, known.workspace))
    yield "RegisterPublisher", "own", _to_broker(lambda _: RegisterPublisher(TENANT, trap))
    yield "Prepare", "own", _to_broker(lambda _: Prepare(TENANT, "intruder.w", SHELL, V3, *digests))
    yield "StartExecution", "own", _to_broker(_own_start)


def _own_start(known: Known) -> StartExecution:
    """The one execution that is reserved for the tenant."""
    tenant = known.of(TENANT)
    return StartExecution(tenant.reference.execution, PAYLOAD)


# --- the Store: durable output


def _of_store() -> Iterator[Forgery]:
    yield "Publish", "guessed token", _publishing(token=GUESS)
    yield "Publish", "stale generation", _publishing(back=1)
    yield "Publish", "other Session", _publishing(session="another")
    yield "Publish", "stolen token", _publishing()
    yield "Publish", "wrong kind", _publishing(kind="secret")
    yield "Publish", "oversized", _publishing(kind="manifest", content=b"x" * TOO_LARGE)
    for wrong, kind, bound in (
        ("content over its bound", "content", 1024 * 1024),
        ("a page over its bound", "page", 256 * 1024),
        ("a manifest over its bound", "manifest", 64 * 1024),
    ):
        yield "Publish", wrong, _publishing(kind=kind, content=b"x" * (bound + 1))
    yield "Publish", "wrong digest", _publishing(digest="0" * 64)
    yield "Publish", "other bytes", _republishing(content=b"other bytes")
    yield "Publish", "other kind", _republishing(kind="page")
    yield "Publish", "same again", _republishing()


def _publishing(
    session: str = "",
    kind: str = "content",
    content: bytes = b"forged",
    digest: str = "",
    token: Secret | None = None,
    back: int = 0,
) -> Forge:
    """A piece of output of a name of its own, under the stolen token unless it is said otherwise."""

    def forge(known: Known) -> Forged:
        held = known.writer
        writer = WriterToken(held.owner, token or held.token, held.generation - back)
        told = digest or hashlib.sha256(content).hexdigest()
        return Forged(STORE, Publish(session or known.session, kind, "forged", content, told, writer))

    return forge


def _republishing(kind: str = "content", content: bytes = b"") -> Forge:
    """A piece that is durable already, under the stolen token."""

    def forge(known: Known) -> Forged:
        resource, held = known.published
        given = content or held
        digest = hashlib.sha256(given).hexdigest()
        return Forged(STORE, Publish(known.session, kind, resource, given, digest, known.writer))

    return forge
