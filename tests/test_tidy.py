"""The rules of style that a linter cannot say, held over the whole tree.

With them a script's position and locals are its whole state, the dead do not tidy up, and no world can draw
a number or read a clock. Each rule is shown to fire on a bad snippet and to leave a good one alone.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("sim", "scenarios", "faults", "reports")
LONGEST_FUNCTION = 40
LONGEST_BOOTSTRAP = 80
BANNED_IN_SIM = frozenset(
    ("time", "datetime", "random", "secrets", "uuid", "os", "socket", "asyncio", "threading")
)
CATCH_ALL = ("Exception", "BaseException")
Offence = tuple[int, str]
Rule = Callable[[ast.Module], Iterator[Offence]]


# --- the rules


def the_dead_do_not_tidy_up(tree: ast.Module) -> Iterator[Offence]:
    """No `finally`, no `with`, no `except` that catches everything."""
    for node in ast.walk(tree):
        if isinstance(node, ast.With | ast.AsyncWith):
            yield node.lineno, "`with` would tidy up after a death"
        elif isinstance(node, ast.Try | ast.TryStar) and node.finalbody:
            yield node.lineno, "`finally` would tidy up after a death"
        elif isinstance(node, ast.ExceptHandler) and catches_everything(node.type):
            yield node.lineno, "an `except` names the doubt or the failure that it answers"


def catches_everything(caught: ast.expr | None) -> bool:
    if isinstance(caught, ast.Tuple):
        return any(catches_everything(item) for item in caught.elts)
    return caught is None or ast.unparse(caught).rpartition(".")[2] in CATCH_ALL


def a_world_draws_nothing_and_reads_no_clock(tree: ast.Module) -> Iterator[Offence]:
    """No module in `sim` imports what could make two runs differ."""
    for node in ast.walk(tree):
        for name in imported(node):
            if name.partition(".")[0] in BANNED_IN_SIM:
                yield node.lineno, f"imports {name}"  # type: ignore[attr-defined]
        if isinstance(node, ast.Name) and node.id == "__import__":
            yield node.lineno, "imports by name"


def imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []


def a_function_fits_on_a_page(tree: ast.Module) -> Iterator[Offence]:
    """At most forty lines, docstring and signature included, decorators not."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > LONGEST_FUNCTION:
                yield node.lineno, f"{node.name} has {lines} lines"


def an_await_stands_alone(tree: ast.Module) -> Iterator[Offence]:
    """`await` is a statement, or the whole right side of an assignment or a `return`."""
    allowed = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr | ast.Assign | ast.AnnAssign | ast.Return)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Await) and id(node) not in allowed:
            yield node.lineno, f"`{ast.unparse(node)}` is part of a larger expression"
        elif isinstance(node, ast.AsyncFor):
            yield node.lineno, "`async for` hides an await"
        elif isinstance(node, ast.comprehension) and node.is_async:
            yield node.target.lineno, "an asynchronous comprehension hides an await"


def a_loop_that_awaits_counts(tree: ast.Module) -> Iterator[Offence]:
    """A `for` with an `await` inside iterates over `enumerate(...)`, so that its position is a local."""
    for node in ast.walk(tree):
        if isinstance(node, ast.For) and not is_enumerate(node.iter) and awaits(node.body):
            yield node.lineno, f"iterates over `{ast.unparse(node.iter)}` and awaits inside"


def is_enumerate(iterated: ast.expr) -> bool:
    return isinstance(iterated, ast.Call) and ast.unparse(iterated.func) == "enumerate"


def awaits(body: list[ast.stmt]) -> bool:
    """Whether any of these statements awaits, functions defined in them aside."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Await):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))
    return False


def imports_only_the_standard_library(tree: ast.Module) -> Iterator[Offence]:
    """The bootstrap runs before anything is installed."""
    for node in ast.walk(tree):
        for name in imported(node):
            if name.partition(".")[0] not in sys.stdlib_module_names:
                yield node.lineno, f"imports {name}"  # type: ignore[attr-defined]


def names_a_place(requirements: str) -> Iterator[Offence]:
    """Pinned requirements name no host, no index and no file, and each carries its hashes."""
    for number, line in enumerate(requirements.splitlines(), 1):
        if re.search(r"http|://|file:|--index|--find-links|--extra|@", line):
            yield number, line.strip()
        elif re.match(r"\w", line) and not re.match(r"[\w.-]+==[\w.]+( ;.*)? \\$", line):
            yield number, f"not pinned with a hash: {line.strip()}"


# --- the tree


IN_THE_TREE: list[tuple[Rule, tuple[str, ...]]] = [
    (the_dead_do_not_tidy_up, ("sim/actors", "sim/shell")),
    (an_await_stands_alone, ("sim/actors", "sim/shell")),
    (a_loop_that_awaits_counts, ("sim/actors", "sim/shell")),
    (a_world_draws_nothing_and_reads_no_clock, ("sim",)),
    (a_function_fits_on_a_page, PACKAGES),
    (imports_only_the_standard_library, ("run.py",)),
]


def modules(*places: str) -> list[Path]:
    found = [ROOT / place if place.endswith(".py") else None for place in places]
    files = [file for file in found if file] + [
        file for place in places for file in sorted((ROOT / place).rglob("*.py"))
    ]
    assert len(files) >= len(places), f"nothing to judge in {places}"
    return files


@pytest.mark.parametrize(("rule", "places"), IN_THE_TREE, ids=lambda value: getattr(value, "__name__", ""))
def test_the_tree_keeps_the_rule(rule: Rule, places: tuple[str, ...]) -> None:
    offences = [
        f"{file.relative_to(ROOT)}:{line}: {offence}"
        for file in modules(*places)
        for line, offence in rule(ast.parse(file.read_bytes(), str(file)))
    ]
    assert not offences, "\n".join([rule.__doc__ or "", *offences])


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_requirements_name_no_place(name: str) -> None:
    assert not list(names_a_place((ROOT / name).read_text(encoding="utf-8")))


def test_the_tests_run_on_the_very_pins_of_the_main_job() -> None:
    pins, dev_pins = (
        set(re.findall(r"^\S+==\S+", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE))
        for name in ("requirements.txt", "requirements-dev.txt")
    )
    assert len(pins) > 10
    assert pins <= dev_pins


def test_every_dependency_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [*project["project"]["dependencies"], *project["dependency-groups"]["build"]]
    pinned = re.findall(
        r"^([\w.-]+)==", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert {re.split(r"[\[><=]", one)[0] for one in wanted} <= set(pinned)


def test_the_linter_bans_what_this_file_bans() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    banned = project["tool"]["ruff"]["lint"]["flake8-tidy-imports"]["banned-api"]
    assert set(banned) == BANNED_IN_SIM


def test_the_bootstrap_is_short() -> None:
    assert len((ROOT / "run.py").read_text(encoding="utf-8").splitlines()) <= LONGEST_BOOTSTRAP


def test_no_source_holds_a_raw_surrogate() -> None:
    kinds = {".py", ".md", ".toml", ".txt", ".json", ".jsonl"}
    folders = [ROOT / name for name in (*PACKAGES, "tests", "docs")]
    files = [*ROOT.glob("*.*"), *(file for folder in folders for file in folder.rglob("*"))]
    judged = [file for file in files if file.is_file() and file.suffix in kinds]
    assert len(judged) > 20
    assert not [str(file.relative_to(ROOT)) for file in judged if not well_formed(file.read_bytes())]


def well_formed(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


# --- the rules themselves


BAD = [
    (the_dead_do_not_tidy_up, "try:\n    go()\nfinally:\n    stop()"),
    (the_dead_do_not_tidy_up, "try:\n    go()\nexcept* ValueError:\n    pass\nfinally:\n    stop()"),
    (the_dead_do_not_tidy_up, "with lock:\n    go()"),
    (the_dead_do_not_tidy_up, "async def f():\n    async with lock:\n        go()"),
    (the_dead_do_not_tidy_up, "try:\n    go()\nexcept:\n    pass"),
    (the_dead_do_not_tidy_up, "try:\n    go()\nexcept Exception:\n    pass"),
    (the_dead_do_not_tidy_up, "try:\n    go()\nexcept builtins.BaseException as doubt:\n    pass"),
    (the_dead_do_not_tidy_up, "try:\n    go()\nexcept (Failed, Exception):\n    pass"),
    (a_world_draws_nothing_and_reads_no_clock, "import random"),
    (a_world_draws_nothing_and_reads_no_clock, "import os.path as path"),
    (a_world_draws_nothing_and_reads_no_clock, "def f():\n    from time import monotonic"),
    (a_world_draws_nothing_and_reads_no_clock, "from asyncio import run"),
    (a_world_draws_nothing_and_reads_no_clock, "import json, uuid"),
    (a_world_draws_nothing_and_reads_no_clock, "clock = __import__('time')"),
    (a_function_fits_on_a_page, "def f():\n" + "    go()\n" * LONGEST_FUNCTION),
    (a_function_fits_on_a_page, "class A:\n    async def f(self):\n" + "        go()\n" * LONGEST_FUNCTION),
    (an_await_stands_alone, "async def f():\n    return (await ask()).answer"),
    (an_await_stands_alone, "async def f():\n    x = go(await ask())"),
    (an_await_stands_alone, "async def f():\n    x = await ask(await ask())"),
    (an_await_stands_alone, "async def f():\n    if await ask():\n        go()"),
    (an_await_stands_alone, "async def f():\n    if (x := await ask()):\n        go()"),
    (an_await_stands_alone, "async def f():\n    x += await ask()"),
    (an_await_stands_alone, "async def f():\n    a, b = await ask(), await ask()"),
    (an_await_stands_alone, "async def f():\n    for x in await ask():\n        go()"),
    (an_await_stands_alone, "async def f():\n    async for x in xs:\n        go()"),
    (an_await_stands_alone, "async def f():\n    return [x async for x in xs]"),
    (an_await_stands_alone, "async def f():\n    return [await ask(x) for x in xs]"),
    (a_loop_that_awaits_counts, "async def f():\n    for x in xs:\n        await ask(x)"),
    (
        a_loop_that_awaits_counts,
        "async def f():\n    for x in xs:\n        if x:\n            y = await ask(x)",
    ),
    (a_loop_that_awaits_counts, "async def f():\n    for x in my.enumerate(xs):\n        await ask(x)"),
    (imports_only_the_standard_library, "import msgspec"),
    (imports_only_the_standard_library, "from sim.text import pair"),
]
GOOD = [
    (
        the_dead_do_not_tidy_up,
        "try:\n    go()\nexcept (Failed, Uncertain) as doubt:\n    stop()\nelse:\n    go()",
    ),
    (
        a_world_draws_nothing_and_reads_no_clock,
        "import json\nfrom sim.history import times\nfrom oslo import os",
    ),
    (a_function_fits_on_a_page, "@mark\ndef f():\n" + "    go()\n" * (LONGEST_FUNCTION - 1)),
    (
        an_await_stands_alone,
        "async def f():\n    await ask()\n    x: int = await ask()\n    return await ask()",
    ),
    (an_await_stands_alone, "async def f():\n    a, b = await ask(one, *two)\n    self.x = await ask()"),
    (a_loop_that_awaits_counts, "async def f():\n    for i, x in enumerate(xs):\n        await ask(x)"),
    (
        a_loop_that_awaits_counts,
        "async def f():\n    while True:\n        await ask(x)\n    for x in xs:\n        go()",
    ),
    (
        a_loop_that_awaits_counts,
        "def f():\n    for x in xs:\n        async def g():\n            await ask(x)",
    ),
    (imports_only_the_standard_library, "import os\nfrom pathlib import Path"),
]


@pytest.mark.parametrize(("rule", "snippet"), BAD)
def test_the_rule_fires(rule: Rule, snippet: str) -> None:
    assert list(rule(ast.parse(snippet)))


@pytest.mark.parametrize(("rule", "snippet"), GOOD)
def test_the_rule_leaves_good_code_alone(rule: Rule, snippet: str) -> None:
    assert not list(rule(ast.parse(snippet)))


@pytest.mark.parametrize(
    "line",
    ["--index-url http://x", "a @ file:///x", "a @ https://x", "--find-links /x", "simpy>=4", "simpy==4"],
)
def test_a_place_in_the_requirements_is_noticed(line: str) -> None:
    assert list(names_a_place(line))


def test_a_raw_surrogate_is_noticed() -> None:
    assert well_formed(rb"\ud800")
    assert not well_formed(b"\xed\xa0\x80")
