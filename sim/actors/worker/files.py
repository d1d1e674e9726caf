"""The file tools, as the worker of a Workspace runs them: each changes at most one file, and answers at once."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import TypeAlias

from sim.deeds import ListFiles, ReadFile, WriteFile
from sim.effects import Act, Failed
from sim.protocol import EDIT, READ, WRITE
from sim.text import Json, utf8

Answer: TypeAlias = tuple[str, str]
"""How a file tool ended, success or error, and what it answers."""


class FileTool:
    """One execution of a file tool in its Workspace."""

    def __init__(self, execution: str, workspace: str, arguments: Mapping[str, Json]) -> None:
        self._execution = execution
        self._workspace = workspace
        self._arguments = arguments

    async def run(self, tool: str) -> Answer:
        """Do what the tool does; a file that cannot be read or written is an error of the tool, not a doubt."""
        try:
            if tool == READ:
                return await self._read()
            if tool == WRITE:
                return await self._write(self._text("content"))
            if tool == EDIT:
                return await self._edit()
            return await self._glob()
        except Failed:
            return "error", f"{tool} could not be done."

    def _text(self, name: str) -> str:
        return str(self._arguments.get(name, ""))

    async def _content(self) -> str | None:
        content = await Act(ReadFile(self._execution, self._workspace, self._text("file_path")))
        return None if content is None else content.decode(errors="replace")

    async def _read(self) -> Answer:
        content = await self._content()
        return ("error", "The file does not exist.") if content is None else ("success", content)

    async def _write(self, content: str) -> Answer:
        await Act(WriteFile(self._execution, self._workspace, self._text("file_path"), utf8(content)))
        return "success", f"Wrote {len(utf8(content))} bytes."

    async def _edit(self) -> Answer:
        """Replace one text, which must stand in the file exactly once: an edit done again finds nothing to edit."""
        content = await self._content()
        old, new = self._text("old_string"), self._text("new_string")
        times = 0 if content is None or not old else content.count(old)
        if content is None or times != 1:
            return "error", f"old_string stands {times} times in the file, not once."
        return await self._write(content.replace(old, new))

    async def _glob(self) -> Answer:
        """The matching names, the file that was changed last first."""
        names = await Act(ListFiles(self._execution, self._workspace))
        inside = self._text("path").rstrip("/")
        below = [name for name in names if not inside or name.startswith(f"{inside}/")]
        matching = [
            name for name in below if fnmatchcase(name[len(inside) :].lstrip("/"), self._text("pattern"))
        ]
        return "success", "\n".join(matching) or "No file matches."
