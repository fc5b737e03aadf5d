"""The walls of the house: which room of grader/ may use which."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import grader
from grader.diagnosis.diagnose import RULES

pytestmark = pytest.mark.xdist_group("house")
PACKAGE = Path(grader.__file__).parent
TOOLS = PACKAGE.parent / "tools"
MODULES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in (*PACKAGE.rglob("*.py"), *TOOLS.rglob("*.py"))
    if "_content" not in path.parts
}


def imports(module: str) -> Iterator[str]:
    """Every module of ours that this one imports, inside of functions too."""
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        if isinstance(node, ast.Constant) and node.value in MODULES and node.value != PACKAGE.name:
            yield node.value  # importlib's, or what a process is started with
        if isinstance(node, ast.ImportFrom) and node.module in MODULES:
            whole = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in MODULES else node.module for name in whole)


@cache  # not as the tests are collected: every core does that
def arrows() -> dict[str, set[str]]:
    return {module: set(imports(module)) - {module} for module in MODULES}


def room(module: str) -> str:
    """`grader.challenge` for grader.challenge.harness.draw; a module at the top is a room of its own."""
    if module in ("grader.__main__", "grader.notebook"):
        return "grader.cli"
    return "tools" if module.startswith("tools") else ".".join(module.split(".")[:2])


def test_no_module_imports_itself_by_way_of_others() -> None:
    try:
        TopologicalSorter(arrows()).prepare()
    except CycleError as circle:
        pytest.fail(" → ".join(circle.args[1]))


def test_no_room_needs_a_room_that_needs_it() -> None:
    rooms: dict[str, set[str]] = {}
    for module, others in arrows().items():
        behind = {room(other) for other in others if not other.startswith("tools")}
        rooms.setdefault(room(module), set()).update(behind - {room(module)})
    try:
        TopologicalSorter(rooms).prepare()
    except CycleError as circle:
        pytest.fail(" → ".join(circle.args[1]))


@pytest.mark.parametrize(
    ("inside", "outside", "why"),
    [
        ("judge", "runner", "no expected value may come near the learner's code"),
        ("challenge", "runner", "no expected value may come near the learner's code"),
        ("runner", "judge", "the learner's code must not reach an expected value"),
        ("runner", "challenge", "the learner's code must not reach an expected value"),
        ("performance", "runner", "it counts for whoever asks"),
        ("kernel", "performance", "kernels are evaluated in every grading"),
        ("course", "judge", "a learner's files are kept without torch"),
    ],
)
def test_a_wall_has_no_door(inside: str, outside: str, why: str) -> None:
    doors = [
        f"{module} imports {other}: {why}"
        for module, others in arrows().items()
        for other in others
        if room(module) == f"grader.{inside}" and room(other) == f"grader.{outside}"
    ]
    assert not doors


def test_nothing_that_is_installed_needs_the_tools() -> None:
    assert [
        module
        for module, others in arrows().items()
        if room(module).startswith("grader") and any(other.startswith("tools") for other in others)
    ] == ["grader.cli.shell_integration"], "which imports them where `track dev` is typed"


def test_every_room_says_what_it_is_for() -> None:
    mute = [name for name, path in MODULES.items() if not ast.get_docstring(ast.parse(path.read_text()))]
    assert not mute


ROOMS = sorted({path.parent for path in MODULES.values()} - {PACKAGE})


@pytest.mark.parametrize("folder", ROOMS, ids=lambda folder: str(folder.relative_to(PACKAGE.parent)))
def test_a_room_of_more_than_five_files_has_a_page_that_names_each(folder: Path) -> None:
    files = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
    page = folder / "README.md"
    if len(files) <= 5 and not page.exists():
        return
    text = page.read_text(encoding="utf-8")
    assert [path.name for path in files if path.name not in text and f"`{path.stem}`" not in text] == []
    named = set(re.findall(r"`([a-z_0-9]+\.py)`", text))
    assert named <= {path.name for path in files}, "files that are no longer there"


def test_no_room_has_more_lines_than_its_page_allows() -> None:
    page = (PACKAGE / "README.md").read_text(encoding="utf-8")
    allowed = {
        name: int(most.replace(",", ""))
        for name, most in re.findall(r"^\| \[`(\w+)/`\].*\| ([\d,]+) \|$", page, re.M)
    }
    rooms = {folder.name for folder in PACKAGE.iterdir() if (folder / "__init__.py").exists()}
    assert allowed.keys() == rooms
    lines = {
        name: sum(path.read_text(encoding="utf-8").count("\n") for path in (PACKAGE / name).rglob("*.py"))
        for name in rooms
    }
    assert {name: count for name, count in lines.items() if count > allowed[name]} == {}


def test_the_rules_of_the_diagnosis_stand_in_the_order_of_its_page() -> None:
    text = (PACKAGE / "diagnosis" / "README.md").read_text(encoding="utf-8")
    rows = (line.split("|")[1] for line in text.splitlines() if line.startswith("| `"))
    listed = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert listed == [rule.__name__ for rule in RULES]
