"""Two kernels side by side: the table of `track inspect --ours`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from grader.cli.screens.inspection import Found, counted_bytes
from grader.cli.screens.speed_rows import predicted
from grader.cli.screens.terminal import Next, Part, Terminal
from grader.course.catalog import Day
from grader.datasheets import Gpu

NONE = "-"


def table(
    terminal: Terminal,
    day: Day,
    gpu: Gpu,
    mine: Sequence[Found],
    ours: Sequence[Found],
    given: str = "",
    passed: Next | None = None,
) -> None:
    """Prints what was counted and compiled of both on every bar.

    Args:
        mine, ours: the parts of the learner's file and of our solution, as judge/look/inspect.py gives them.
        given: what a command needs to take the same file again.
        passed: what follows, once the day is done.
    """
    terminal.line((day.heading, "bold"), (f"   predicted for one {gpu.name}", "dim"))
    for yours, other in zip(mine, ours, strict=True):
        backward = f"  {yours['part']}" if yours["part"] != "forward" else ""
        terminal.line()
        terminal.line((f"{yours['entry']}()", "bold"), f"  {yours['case']}{backward}")
        rows: list[Sequence[Part]] = [["", ("yours", "dim"), ("ours", "dim")]]
        rows += _rows(_sums(yours), _sums(other))
        for pair in zip_longest(
            *([one for one in part["launches"] if one["line"]] for part in (yours, other))
        ):
            rows += _launch(*pair)
        terminal.table(rows)
    terminal.next(*(passed or (f"track inspect {day.key}{given}", "has every line of yours")))


def _rows(mine: dict[str, str], ours: dict[str, str]) -> list[list[Part]]:
    """A row a name that either knows."""
    return [[name, mine.get(name, NONE), ours.get(name, NONE)] for name in {**mine, **ours}]


def _sums(part: Found) -> dict[str, str]:
    runs = all(launch["compiled"]["facts"].get("fits") for launch in part["launches"] if launch["line"])
    return {
        "time": predicted(part) if runs else "no prediction",
        "memory": f"{counted_bytes(part['moved'])} from and to DRAM" if part["moved"] else "unknown",
        "launches": str(len(part["launches"])),
    } | {one["kernel"]: counted_bytes(one["heaviest"]) for one in part["launches"] if not one["line"]}


def _launch(mine: Found | None, ours: Found | None) -> Iterator[Sequence[Part]]:
    """The rows of two launches that stand at the same place of their calls."""
    yield [""]
    yield ["", *((launch["kernel"] if launch else NONE, "cyan") for launch in (mine, ours))]
    yield from _rows(*(_cells(launch) if launch else {} for launch in (mine, ours)))


def _cells(launch: Found) -> dict[str, str]:
    words, facts = launch["recipe"].get("arguments", {}), launch["compiled"]["facts"]
    constants = {n: f"{word:,}" for n, word in words.items() if n.isupper() and isinstance(word, int)}
    cells = {"programs": f"{launch['programs']:,}", **constants}
    if not facts:
        return cells | {"compiler": "no code"}
    return cells | {
        "limit": launch["limit"],
        "warps": f"{facts['warps']} a program",
        "registers": f"{facts['registers']} a thread",
        "spilled": f"{facts['stack']} bytes a thread" if facts["stack"] else "none",
        "shared": f"{facts['shared']:,} bytes a program",
        "occupancy": f"{facts['occupancy']:.0%}",
        "loads": _widest(facts["loads"]) or ("by TMA" if facts["tma"] else "none"),
        "stores": _widest(facts["stores"]) or ("by TMA" if facts["tma"] else "none"),
        "matrix": f"{facts['matrix']:,} instructions" if facts["matrix"] else "none",
    }


def _widest(counts: dict[str, int]) -> str:
    return f"up to {max(map(int, counts))} bytes a lane" if counts else ""
