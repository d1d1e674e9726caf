"""What a command's process does to the world outside. Values only, so that a judge can read them too."""

from __future__ import annotations

from sim.content import Content
from sim.effects import Deed, Outside

NO_CODE = -1
"""The exit code of a process that a signal ended."""


class Spawn(Deed[None], frozen=True, gc=False):
    """A command becomes a process in its Workspace; ``command`` is the UTF-8 text that the shell is given."""

    execution: str
    worker_call: str
    workspace: str
    command: bytes

    identity = "{0.execution}"

    def happen(self, outside: Outside) -> None:
        """A process by itself changes no file."""


class TouchFile(Deed[None], frozen=True, gc=False):
    """A command appends a line to a file of its Workspace; who dies half-way leaves half of its bytes."""

    execution: str
    workspace: str
    file: str
    line: bytes

    identity = "{0.execution}:{0.file}"

    def happen(self, outside: Outside) -> None:
        outside.append(self.workspace, self.file, self.line)

    def halfway(self, outside: Outside) -> None:
        outside.append(self.workspace, self.file, self.line[: len(self.line) // 2])


class ReadFile(Deed[bytes | None], frozen=True, gc=False):
    """A file tool reads a whole file of its Workspace; None when there is none."""

    execution: str
    workspace: str
    file: str

    identity = "{0.execution}:{0.file}"

    def happen(self, outside: Outside) -> bytes | None:
        return outside.read(self.workspace, self.file) if self.file in outside.names(self.workspace) else None


class WriteFile(Deed[None], frozen=True, gc=False):
    """A file tool replaces a file of its Workspace; who dies half-way leaves half of the new content."""

    execution: str
    workspace: str
    file: str
    content: bytes

    identity = "{0.execution}:{0.file}"

    def happen(self, outside: Outside) -> None:
        outside.replace(self.workspace, self.file, self.content)

    def halfway(self, outside: Outside) -> None:
        outside.replace(self.workspace, self.file, self.content[: len(self.content) // 2])


class ListFiles(Deed[tuple[str, ...]], frozen=True, gc=False):
    """A file tool looks which files its Workspace has, the one that was changed last first."""

    execution: str
    workspace: str

    identity = "{0.execution}"

    def happen(self, outside: Outside) -> tuple[str, ...]:
        return outside.names(self.workspace)


class Emit(Deed[None], frozen=True, gc=False):
    """A command writes bytes into one of its two pipes: what a complete capture must hold, told apart from it.

    ``late`` says that a detached child writes them, after the command itself has ended.
    """

    execution: str
    stream: str
    content: Content
    late: bool = False

    @property
    def label(self) -> str:
        return f"Emit.{self.stream}"

    identity = "{0.execution}:{0.stream}"

    def happen(self, outside: Outside) -> None:
        """Bytes in a pipe change no file."""


class ExitProcess(Deed[None], frozen=True, gc=False):
    """A command's process ends: with an exit code, or with :data:`NO_CODE` by a signal."""

    execution: str
    exit_code: int
    signal: str

    identity = "{0.execution}"

    def happen(self, outside: Outside) -> None:
        """The end of a process changes no file."""
