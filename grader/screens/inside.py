"""What was found inside a kernel: the table of `track inspect`, its code, and the page of `track show`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from grader.catalog import Day
from grader.meter.gpus import Gpu
from grader.screens.terminal import Part, Terminal, near
from grader.screens.verdict import duration

Found = dict[str, Any]
LINE = re.compile(r'(?:\.loc\s+\d+|loc\("[^"]*":|line)\s*(\d+)')


def table(terminal: Terminal, day: Day, path: Path, gpu: Gpu, parts: Sequence[Found]) -> None:
    """Prints every bar's launches, line by line."""
    source = path.read_text(encoding="utf-8", errors="replace").splitlines()
    terminal.line((f"Day {day.number} · {day.title}", "bold"), (f"   predicted for one {gpu.name}", "dim"))
    for part in parts:
        terminal.line()
        terminal.line((f"{part['entry']}()", "bold"), f"  {part['case']}  {part['part']}")
        terminal.table(_sums(part), indent=2)
        for launch in part["launches"]:
            _launch(terminal, launch, source)
        for fact in part["facts"]:
            if not fact["passed"]:
                terminal.line(terminal.mark("slow"), f"  {fact['says']}", indent=2)
    terminal.next(f"track grade {day.number}", "holds it against the day's bar")


def _sums(part: Found) -> list[list[Part]]:
    moved = sum(t["read"] + t["written"] for launch in part["launches"] for t in launch["tensors"].values())
    rows: list[list[Part]] = [["time", f"{duration(part['us'])}   predicted, not measured"]]
    if part["ours_us"]:
        rows[0] = [
            "time",
            f"{duration(part['us'])}   predicted; {duration(part['ours_us'])} for our solution",
        ]
    if part["ideal"]:
        rows.append(["memory", f"{_bytes(moved)}   {moved / part['ideal']:.2f}× the least"])
    rows.append(["launches", str(len(part["launches"]))])
    if part["at_least"]:
        rows.append(["note", "a program was too long to be counted whole: figures are lower bounds"])
    return rows


def _launch(terminal: Terminal, launch: Found, source: Sequence[str]) -> None:
    grid = " × ".join(map(str, launch["grid"]))
    terminal.line()
    terminal.line(
        (launch["kernel"], "cyan"),
        f"  grid {grid} = {launch['programs']:,} programs, limit: {launch['limit']}",
    )
    terminal.table(_compiled(launch["compiled"]), indent=4)
    terminal.table(list(_sites(launch["sites"], source)), indent=4)


def _compiled(compiled: Found) -> list[list[Part]]:
    if compiled["fault"]:
        return [["compiler", f"rejects it: {compiled['fault']['message'].splitlines()[0]}"]]
    facts = compiled["facts"]
    if not facts:
        late = f"was not done after {compiled['runaway']:.0f} s" if compiled["runaway"] else ""
        return [["compiler", late or compiled["unknown"]]]
    machine = "  ".join(f"{name} {count}" for name, count in facts["machine"].items() if count)
    spilled = f", {facts['stack']} bytes a thread spilled" if facts["stack"] else ""
    rows: list[list[Part]] = [
        ["registers", f"{facts['registers']} a thread{spilled}"],
        ["shared", f"{facts['shared']:,} bytes" + ("" if facts["fits"] else ", more than there is")],
        [
            "occupancy",
            f"{facts['occupancy']:.0%}: {facts['resident']} programs of {facts['warps']} warps an SM, "
            f"limited by {facts['limiter']}",
        ],
        ["vectors", f"loads {_widths(facts['loads'])}; stores {_widths(facts['stores'])}"],
        ["matrix", f"{facts['matrix']} instructions" if facts["matrix"] else "none"],
    ]
    return [*rows, ["machine", machine]] if machine else rows


def _widths(counts: dict[str, int]) -> str:
    """`4 of 16 bytes, 1 of 4`: instructions by what a lane moves at once."""
    widest = sorted(counts.items(), key=lambda item: -int(item[0]))
    return ", ".join(f"{count} of {width} bytes" for width, count in widest) or "none"


def _sites(sites: Sequence[Found], source: Sequence[str]) -> Iterator[list[Part]]:
    for site in sites:
        text = source[site["line"] - 1].strip() if 0 < site["line"] <= len(source) else ""
        moved = 32 * site["sectors"]
        share = min(site["useful"] / moved, 1.0) if moved else 1.0
        masked = site["masked"] / site["lanes"] if site["lanes"] else 0.0
        style = "yellow" if share < 0.8 else ""
        yield [
            f"line {site['line']}",
            f"{site['kind']}s {_bytes(site['asked'])}",
            (f"{share:.0%} of sectors", style),
            f"{masked:.0%} masked" if masked >= 0.005 else "",
            (text, "dim"),
        ]


def _bytes(count: float) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} bytes"


def code(out: Terminal, err: Terminal, day: Day, path: Path, parts: Sequence[Found]) -> None:
    """Prints the code of each kernel once, with the learner's lines between where the compiler kept them."""
    source = path.read_text(encoding="utf-8", errors="replace").splitlines()
    seen: set[str] = set()
    for launch in (launch for part in parts for launch in part["launches"]):
        if not launch["code"] or launch["code"] in seen:
            continue
        seen.add(launch["code"])
        out.line((f"{launch['kernel']}", "bold"))
        for text, own in interleaved(launch["code"], source):
            out.line((text, "cyan" if own else ""))
    err.next(f"track inspect {day.number}", "says what it adds up to")


def interleaved(code: str, source: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """The code's lines, each of the learner's above what came from it; and whether it is the learner's."""
    last = 0
    for line in code.splitlines():
        match = LINE.search(line)
        number = int(match[1]) if match else 0
        if number and number != last and number <= len(source) and source[number - 1].strip():
            yield f"# line {number}: {source[number - 1].strip()}", True
            last = number
        yield line.rstrip(), False


def shown(terminal: Terminal, day: Day, page: Path, parts: Sequence[Found]) -> None:
    """Says where the page is."""
    terminal.line((f"Day {day.number} · {day.title}", "bold"))
    pictures = sum(len(part["launches"]) for part in parts)
    terminal.table([("page", near(page)), ("launches", str(pictures)), ("case", str(parts[0]["case"]))])
    terminal.next(f"track grade {day.number}", "open the page in a browser first")
