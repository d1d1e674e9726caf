"""Where each key and value of a TOML text stands: tomllib tells values, and not their lines."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import TypeAlias

import tree_sitter_toml
from tree_sitter import Language, Node, Parser

Path: TypeAlias = tuple[str | int, ...]
"""Keys and places in arrays, from the top."""

Place: TypeAlias = tuple[int, int]
"""Line and column, each from 1; columns count characters."""

START: Place = (1, 1)
KEYS = ("bare_key", "quoted_key", "dotted_key")


class Places:
    """Finds the place of what stands under a path in a text that tomllib has accepted."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._found: dict[Path, Place] = {(): START}
        self._arrays: dict[Path, int] = {}
        root = Parser(Language(tree_sitter_toml.language())).parse(text.encode()).root_node
        for node in root.named_children:
            self._top(node)

    def of(self, path: Path) -> Place:
        """The place of a path; of the nearest table around it, when it is not there itself."""
        while path not in self._found:
            path = path[:-1]
        return self._found[path]

    def _top(self, node: Node) -> None:
        if node.type == "pair":
            self._pair(node, ())
        elif node.type in ("table", "table_array_element"):
            header, *pairs = [child for child in node.named_children if child.type != "comment"]
            path = self._opened(header, node.type == "table_array_element")
            for pair in pairs:
                self._pair(pair, path)

    def _opened(self, header: Node, is_element: bool) -> Path:
        """The path of a table that begins here; the last element of each array of tables on the way is meant."""
        path: Path = ()
        for key in _keys(header):
            path = (*path, key)
            self._note(path, header)
            if path in self._arrays:
                path = (*path, self._arrays[path])
        if is_element:
            path = self._next(path)
            self._note(path, header)
        return path

    def _next(self, path: Path) -> Path:
        array = path[:-1] if path and isinstance(path[-1], int) else path
        self._arrays[array] = self._arrays.get(array, -1) + 1
        for below in [
            known for known in self._arrays if len(known) > len(array) and known[: len(array)] == array
        ]:
            del self._arrays[below]
        return (*array, self._arrays[array])

    def _pair(self, pair: Node, above: Path) -> None:
        key, value = (child for child in pair.named_children if child.type != "comment")
        path = above
        for part in _keys(key):
            path = (*path, part)
            self._note(path, key)
        self._value(value, path)

    def _value(self, value: Node, path: Path) -> None:
        children = [child for child in value.named_children if child.type != "comment"]
        if value.type == "inline_table":
            for pair in children:
                self._pair(pair, path)
        elif value.type == "array":
            for index, element in enumerate(children):
                self._note((*path, index), element)
                self._value(element, (*path, index))

    def _note(self, path: Path, node: Node) -> None:
        row, column = node.start_point
        before = self._lines[row].encode()[:column].decode(errors="replace")
        self._found.setdefault(path, (row + 1, len(before) + 1))


def _keys(node: Node) -> Iterator[str]:
    """The parts of a key, as tomllib reads them."""
    if node.type == "dotted_key":
        for part in node.named_children:
            yield from _keys(part)
    elif node.type in KEYS:
        written = (node.text or b"").decode()
        yield next(iter(tomllib.loads(f"{written} = 0")))
