"""Files that the grader must judge in a known way: mistakes, laggards, right alternatives and exploits."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.course import catalog
from grader.course.catalog import Day
from grader.errors import TrackError
from grader.verdict import Verdict

TESTS = catalog.ROOT / "tests"


def swapped(day: Day, swap: Mapping[str, str]) -> str:
    """The day's solution with each key of `swap`, which stands in it exactly once, replaced by its value.

    A line … in a key stands for all lines between the one before it and the one after.

    Raises:
        TrackError: one stands there never, or several times.
    """
    source = day.solution.read_text(encoding="utf-8")
    for key, new in swap.items():
        first, _, last = key.partition("…\n")
        before, _, after = source.partition(first)
        _, end, rest = after.partition(last) if last else ("", first, after)
        if source.count(first) != 1 or not end:
            problem = (
                f"{key!r} stands {source.count(first)} times in solutions/{day.place}.py, and once is wanted"
            )
            raise TrackError(problem, "Swap more of the line, or less of it.")
        source = before + new + rest
    return source


def undone(day: Day, source: str, names: Sequence[str]) -> str:
    """The source with these functions as the skeleton has them.

    Raises:
        TrackError: there is none of that name.
    """
    skeleton = day.skeleton.read_text(encoding="utf-8")
    for name in names:
        (begin, end), (first, last) = _lines(source, name), _lines(skeleton, name)
        lines = source.splitlines(keepends=True)
        lines[begin:end] = skeleton.splitlines(keepends=True)[first:last]
        source = "".join(lines)
    return source


def _lines(source: str, name: str) -> tuple[int, int]:
    """From the `def` of a function, or of `Class.method`, to whatever follows it; lines from 0."""
    body, begin, end = ast.parse(source).body, 0, source.count("\n")
    for part in name.split("."):
        place = next((i for i, node in enumerate(body) if getattr(node, "name", "") == part), None)
        if place is None:
            raise TrackError(f"there is no {name} to leave undone", "Name a function of the day.")
        node, following = body[place], body[place + 1 : place + 2]
        starts = [at.lineno for n in following for at in (n, *getattr(n, "decorator_list", ()))]
        begin, end = node.lineno - 1, min([end, *(start - 1 for start in starts)])
        body = getattr(node, "body", [])
    return begin, end


@dataclass(frozen=True)
class Mistake:
    """A learner's plausible edit of the solution.

    Args:
        name: what was done wrong, in words.
        swap: the edit.
        says: what the diagnosis must contain; of several, where the draw decides, one.
        fails: the group of the first check that must not pass; a GPU has no `compiles`, and fails `correct`,
            or the edges in which an evaluator beside it looks at addresses. "limit" where it passes, and a
            limit says it.
            "correct or edges" where rounding may show in a plain case, by luck of the seed.
        gpu: only shows on a GPU.
        cpu: only shows without one: a config that an autotuner skips on a GPU, programs of a larger case that
            have no tile.
        on_gpu: what the diagnosis must contain there, where a GPU has other words; None where it is the same.
        wish: it fails, but the grader does not say this of it yet; once it does, the test says so.
        undone: functions, or `Class.method`, that are still the skeleton's: a day that is half done.
        so_far: what the line on the pieces must be without a GPU; any when empty.
        at: what stands on a line that the thing to look at must name without a GPU; any when empty.
    """

    name: str
    swap: Mapping[str, str]
    says: str | tuple[str, ...]
    fails: str = "correct"
    gpu: bool = False
    cpu: bool = False
    on_gpu: str | None = None
    wish: bool = False
    undone: Sequence[str] = ()
    so_far: str = ""
    at: str = ""

    def source(self, day: Day) -> str:
        return undone(day, swapped(day, self.swap), self.undone)

    def shows(self, on_gpu: bool) -> bool:
        """Whether it does there."""
        return not (self.cpu if on_gpu else self.gpu)

    def words(self, on_gpu: bool) -> tuple[str, ...]:
        """Of these the diagnosis must contain one there."""
        says = self.says if self.on_gpu is None or not on_gpu else self.on_gpu
        return (says,) if isinstance(says, str) else says

    def heard(self, verdict: Verdict) -> bool:
        """Whether it does, or a limit where it is one."""
        told = [limit.says for limit in verdict.limits] if self.fails == "limit" else [verdict.diagnosis]
        return any(words in said for words in self.words(verdict.on_gpu) for said in told)

    def groups(self, on_gpu: bool) -> list[str]:
        """The group that it fails there, or one of those."""
        if not on_gpu:
            return self.fails.split(" or ")
        own = "correct or compiles" if self.fails == "compiles" else self.fails
        return own.split(" or ") + ["by addresses"] * ("correct" in own)


@dataclass(frozen=True)
class Laggard:
    """A correct kernel that is needlessly slow: an edit of the solution, or a file in
    tests/laggards/<place>/.

    Args:
        unseen: why counts and compiler cannot tell it from a fast one; empty where they can.
        stores: an intermediate tensor, by which it fails `memory` on a GPU before it is timed there, and
            without one, where it is so large that it shows.
    """

    name: str
    swap: Mapping[str, str] = field(default_factory=dict)
    file: str = ""
    unseen: str = ""
    stores: bool = False

    def source(self, day: Day) -> str:
        return (
            (TESTS / "laggards" / day.place / self.file).read_text() if self.file else swapped(day, self.swap)
        )


@dataclass(frozen=True)
class Exploit:
    """A file of tests/exploits/<place>/ that must earn no pass. Its docstring says how it would get one, and
    ends in `fails GROUP: WORDS`; in `fails GROUP with CASE: WORDS` where a part of a case's name is enough to
    show it. Before the colon stands ` on a GPU` where only a GPU shows it, ` without a GPU` where it is right
    on one, ` under --strict` where it passes without that.

    Args:
        mechanism: the first line of the docstring.
        fails: the group of the first check that must not pass.
        says: what the diagnosis must contain; of several, `WORDS | OTHERS`, where versions decide, one.
        only: the part of a case's name.
        gpu, cpu: only shows on a GPU; only without one.
        strict: it is confinement that stops it.
    """

    path: Path
    mechanism: str
    fails: str
    says: str
    only: str | None = None
    gpu: bool = False
    cpu: bool = False
    strict: bool = False

    def shows(self, on_gpu: bool) -> bool:
        """Whether it can be told there."""
        return not (self.cpu if on_gpu else self.gpu)

    def heard(self, diagnosis: str) -> bool:
        """Whether a diagnosis says it."""
        return any(words in diagnosis for words in self.says.split(" | "))

    @property
    def stem(self) -> str:
        return self.path.stem


@dataclass(frozen=True)
class Equivalent:
    """A mutant that lives, and rightly so: a line of tests/equivalents.jsonl.

    Args:
        where: the file and the function, `solution:softmax_kernel`.
        line, becomes: the edited line, stripped, before and after.
        why: it computes the same; or how a GPU alone tells it.
        gpu: a GPU tells it.
    """

    where: str
    line: str
    becomes: str
    why: str
    gpu: bool = False

    @property
    def key(self) -> tuple[str, str, str]:
        return self.where, self.line, self.becomes


WHERE = r"(?: with (?P<only>\S+))?(?P<gpu> on a GPU)?(?P<cpu> without a GPU)?(?P<strict> under --strict)?"
HEADER = re.compile(rf"fails (?P<fails>\w+){WHERE}: (?P<says>.+)")


def exploits(day: Day) -> list[Exploit]:
    return [_exploit(path) for path in sorted((TESTS / "exploits" / day.place).glob("*.py"))]


def _exploit(path: Path) -> Exploit:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    told = HEADER.fullmatch(text.splitlines()[-1] if text else "")
    if told is None:
        raise TrackError(f"{path} does not say what it fails.", "The docstring ends in `fails GROUP: WORDS`.")
    where = {name: told[name] is not None for name in ("gpu", "cpu", "strict")}
    return Exploit(path, text.splitlines()[0], told["fails"], told["says"], told["only"], **where)


def mistakes(day: Day) -> list[Mistake]:
    return _named(day, "mistakes")


def bugs(day: Day) -> dict[str, Mapping[str, str]]:
    """Of a bug hunt, the edits of the solution that plant its bugs, by name; all together: the skeleton."""
    found: dict[str, Mapping[str, str]] = _scope(day, "mistakes").get("bugs", {})
    return found


def with_bugs(day: Day, names: Iterable[str]) -> str:
    """The solution with these of its bugs."""
    edits = bugs(day)
    return swapped(day, {old: new for name in names for old, new in edits[name].items()})


def laggards(day: Day) -> list[Laggard]:
    return _named(day, "laggards")


def equivalents(day: Day) -> list[Equivalent]:
    """Those of the day, in the order of the file."""
    rows = map(json.loads, (TESTS / "equivalents.jsonl").read_text(encoding="utf-8").splitlines())
    return [Equivalent(**row) for row in rows if row.pop("day") == day.place]


def right(day: Day) -> Iterator[Path]:
    """Right solutions in other styles than ours, public code's among them."""
    yield from sorted((TESTS / "right" / day.place).glob("*.py"))


def may_have_limits(path: Path) -> bool:
    """Whether a right solution's docstring says that it does: it then passes where limits are only told."""
    return "May have limits." in (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "")


def _named(day: Day, tree: str) -> list[Any]:
    """The list `mistakes` or `laggards` of tests/<tree>/<place>.py."""
    return list(_scope(day, tree)[tree])


def _scope(day: Day, tree: str) -> dict[str, Any]:
    path = TESTS / tree / f"{day.place}.py"
    scope: dict[str, Any] = {}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), scope)
    return scope
