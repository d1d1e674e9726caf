"""Which tools a Session offers, and what it stays defined by from its first opening on."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sim.protocol import (
    EDIT,
    FILES_1,
    FILES_2,
    GLOB,
    LOCAL_SHELL,
    NO_TOOLS,
    READ,
    SAME_HOST,
    SHELL,
    SHELL_1,
    SHELL_2,
    WRITE,
    Definition,
)
from sim.rule import rule

TOOLS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        NO_TOOLS: (),
        FILES_1: (READ, WRITE, EDIT),
        FILES_2: (READ, WRITE, EDIT, GLOB),
        SHELL_1: (READ, WRITE, EDIT, SHELL),
        SHELL_2: (READ, WRITE, EDIT, GLOB, SHELL),
        LOCAL_SHELL: (SHELL,),
    }
)
"""The tools of each profile (003 Problem and scope; behaviour §8 D16)."""


@rule("003 Problem and scope", without="a tool outside the profile runs through it")
def offers(profile: str, tool: str) -> bool:
    """Only the profile's own tools may be called; another one ends the turn as a plain error."""
    return tool in TOOLS.get(profile, ())


@rule("003 Problem and scope", without="a Session without tools provisions a runtime that nobody uses")
def warms(profile: str) -> bool:
    """A runtime is warmed for a profile that has tools."""
    return bool(TOOLS.get(profile))


@rule("003 Problem and scope", without="output is captured from a machine whose loopback is not the owner's")
def provisioner_serves(profile: str, provisioner: str) -> bool:
    """A profile with Shell takes only the same-host process provisioner."""
    return SHELL not in TOOLS.get(profile, ()) or provisioner == SAME_HOST


@rule("behaviour §1.2, §7 guard 55", without="a Session goes on with other tools, or another way of capture")
def definition_holds(pinned: Definition, asked: Definition) -> bool:
    """A Session is opened under exactly the definition that was pinned when it was first opened."""
    return pinned == asked
