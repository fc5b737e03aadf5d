"""What was found inside a kernel: the table of `track inspect`, and where the page of `track show` is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grader.cli.screens.inspect_glossary import KINDS, LIMITS, meaning
from grader.cli.screens.speed_rows import duration, predicted
from grader.cli.screens.terminal import Next, Part, Terminal, counted, near
from grader.course.catalog import Day
from grader.datasheets import Gpu

Found = dict[str, Any]

PRINTED = 5  # findings under a picture
ALIKE = 1.0001  # times the mean of its programs that the busiest asks for, where all ask for the same
READABLE = 16  # columns of source text, below which it is left out


def table(terminal: Terminal, heading: str, source: Sequence[str], gpu: Gpu, parts: Sequence[Found]) -> None:
    """Prints every bar's launches, line by line; `source` are the lines of the file, as it was looked at."""
    terminal.line((heading, "bold"), (f"   predicted for one {gpu.name}", "dim"))
    backward = any(part["part"] != "forward" for part in parts)
    for part in parts:
        _part(terminal, part, f"  {part['part']}" if backward else "", source)


def what_follows(
    terminal: Terminal, day: Day, parts: Sequence[Found], given: str, explain: bool, passed: Next | None
) -> None:
    """Ends the screen.

    Args:
        given: what a command needs to take the same file again.
        explain: say what the words mean, instead of how to ask for it.
        passed: what follows, once the day is done.
    """
    if any(map(_own, parts)):
        meaning(terminal, f"track inspect {day.key}{given} --explain", explain)
    barred = any(part["ideal"] for part in parts)
    grade = f"track grade {day.key}{given}", f"holds it against the {day.kind}'s bar" if barred else ""
    terminal.next(*(passed or grade))


def _part(terminal: Terminal, part: Found, which: str, source: Sequence[str]) -> None:
    """One bar: its sums, its launches, and what is wrong with them."""
    terminal.line()
    terminal.line((f"{part['entry']}()", "bold"), f"  {part['case']}{which}")
    if not _own(part):
        return terminal.line(_foreign(part["launches"]), indent=2)
    terminal.table(_sums(part), indent=2)
    for launch in part["launches"]:
        _launch(terminal, launch, source)
    _findings(terminal, [fact for fact in part["facts"] if not fact["passed"]], source)


def _own(part: Found) -> bool:
    """Whether a kernel of the learner's runs in it."""
    return any(launch["line"] for launch in part["launches"])


def _foreign(launches: Sequence[Found]) -> str:
    """Why there is nothing to inspect."""
    names = ", ".join(dict.fromkeys(launch["kernel"] for launch in launches))
    return "There is no Triton kernel in it: " + (
        f"{names} does the work." if names else "nothing is launched."
    )


def _sums(part: Found) -> list[list[Part]]:
    moved = part["moved"]
    ratio = f", {moved / part['ideal']:.2f}× the least" if part["ideal"] else ""
    unknown = "unknown: a line leaves its tensor, as track show draws it"
    rows: list[list[Part]] = [
        ["time", _time(part)],
        ["memory", f"{counted_bytes(moved)} from and to DRAM{ratio}" if moved else unknown],
        ["launches", str(len(part["launches"]))],
    ]
    if part["at_least"]:
        why = (
            "not every step of a program could be counted"
            if part["cut"]
            else "less was counted than it takes"
        )
        rows.append(["note", f"{why}: figures are lower bounds"])
    return rows


def _time(part: Found) -> str:
    """A time only of what can run: the counts alone would foretell one of any kernel."""
    for launch in part["launches"]:
        facts = launch["compiled"]["facts"]
        if launch["line"] and not (facts and facts["fits"]):
            return f"no prediction: {launch['kernel']} " + ("does not fit" if facts else "was not compiled")
    ours = f"; {duration(part['ours_us'])} for our solution" if part["ours_us"] else ", not measured"
    return f"{predicted(part)} predicted{ours}"


def _launch(terminal: Terminal, launch: Found, source: Sequence[str]) -> None:
    terminal.line()
    if not launch["line"]:
        moved = counted_bytes(launch["heaviest"])
        terminal.line((launch["kernel"], "cyan"), f"  an operation of torch, {moved}")
        return
    terminal.line((launch["kernel"], "cyan"), f"  {_grid(launch)}")
    terminal.table(_compiled(launch), indent=4)
    _sites(terminal, launch["sites"], source, _about(launch))


def _grid(launch: Found) -> str:
    sides = list(launch["grid"])
    while len(sides) > 1 and sides[-1] == 1:
        sides.pop()
    shape = " × ".join(f"{side:,}" for side in sides) + " = " if len(sides) > 1 else ""
    return shape + counted(launch["programs"], "program")


def _compiled(launch: Found) -> list[list[Part]]:
    facts = launch["compiled"]["facts"]
    if not facts:
        return [["compiler", _refused(launch["compiled"])]]
    spilled = f", {facts['stack']} bytes a thread spilled" if facts["stack"] else ""
    full = f", limited by {facts['limiter']}" if facts["occupancy"] < 1 else ""
    resident = f"{counted(facts['resident'], 'program')} of {counted(facts['warps'], 'warp')} on an SM"
    idle = "none: tl.dot runs without them" if launch["dots"] else ""
    rows = {
        "limit": LIMITS.get(launch["limit"], launch["limit"]) if facts["fits"] else "",
        "registers": f"{facts['registers']} a thread{spilled}",
        "shared": f"{facts['shared']:,} bytes a program" + ("" if facts["fits"] else ", more than there is"),
        "occupancy": f"{facts['occupancy']:.0%}: {resident}{full}",
        "loads": _widths(facts["loads"]) or ("" if facts["tma"] else "none"),
        "stores": _widths(facts["stores"]) or ("" if facts["tma"] else "none"),
        "TMA": counted(facts["tma"], "tile") + " copied whole" if facts["tma"] else "",
        "matrix": counted(facts["matrix"], "instruction") if facts["matrix"] else idle,
    }
    return [[name, text] for name, text in rows.items() if text]


def _refused(compiled: Found) -> str:
    if compiled["fault"]:
        return f"rejects it: {compiled['fault']['message'].splitlines()[0]}"
    late = f"was not done after {compiled['runaway']:.0f} s" if compiled["runaway"] else ""
    return late or f"was not asked: {compiled['unknown']}"


def _widths(counts: dict[str, int]) -> str:
    """`4 instructions of 16 bytes a lane, 1 of 4`: instructions by what a lane moves at once."""
    widest = sorted(counts.items(), key=lambda item: -int(item[0]))
    first = [f"{counted(count, 'instruction')} of {width} bytes a lane" for width, count in widest[:1]]
    return ", ".join(first + [f"{count} of {width}" for width, count in widest[1:]])


def _about(launch: Found) -> str:
    """`~` before figures that stand for programs of which some do more than others, and not all were run."""
    asked = sum(site["asked"] for site in launch["sites"])
    unlike = launch["heaviest"] * launch["programs"] > ALIKE * asked
    return "~" if launch["sampled"] < launch["programs"] and unlike else ""


def _sites(terminal: Terminal, sites: Sequence[Found], source: Sequence[str], about: str) -> None:
    """One row a line of the kernel and tensor; the source text is cut to what the screen has left."""
    if not sites:
        return
    rows: list[list[Part]] = [
        ["", "", ("asks for", "dim"), ("bytes used", "dim"), ""],
        *(_site(site, about) for site in sites),
    ]
    left = terminal.console.width - 4
    left -= terminal.text(*terminal.aligned([[*row, "x"] for row in rows])[0][:-1]).cell_len
    texts = [""] + [_text(source, site["line"]) for site in sites]
    terminal.table(
        [[*row, (_cut(text, left), "dim")] for row, text in zip(rows, texts, strict=True)], indent=4
    )


def _site(site: Found, about: str) -> list[Part]:
    moved = 32 * site["sectors"]
    share = min(site["useful"] / moved, 1.0) if moved else 1.0
    masked = site["masked"] / site["lanes"] if site["lanes"] else 0.0
    return [
        f"line {site['line']}",
        f"{KINDS[site['kind']]} {site['tensor']}".rstrip(),
        f"{about + counted_bytes(site['asked']):>8}",
        (f"{share:>10.0%}", "yellow" if share < 0.8 else ""),
        f"{masked:.0%} masked" if masked >= 0.005 else "",
    ]


def _text(source: Sequence[str], number: int) -> str:
    return source[number - 1].strip() if 0 < number <= len(source) else ""


def _cut(text: str, width: int) -> str:
    if len(text) <= width:
        return text
    return text[: width - 3] + "…" if width >= READABLE else ""


def _findings(terminal: Terminal, findings: Sequence[Found], source: Sequence[str]) -> None:
    """Each ✗, and the line of the learner's that it is about."""
    if findings:
        terminal.line()
    mark = terminal.mark("failed")
    indent = 4 + len(mark[0])
    for one in findings:
        terminal.line(mark, f"  {one['says']}", indent=2)
        text, label = _text(source, one["line"]), f"line {one['line']}: "
        if text:
            cut = _cut(text, terminal.console.width - indent - len(label))
            terminal.line((label, "cyan"), (cut, "dim"), indent=indent)


def counted_bytes(count: float) -> str:
    """`537 MB`."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if count >= 0.9995 * size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} bytes"


def shown(
    terminal: Terminal,
    day: Day,
    source: Sequence[str],
    page: Path,
    parts: Sequence[Found],
    given: str = "",
    passed: Next | None = None,
    also: str = "",
) -> None:
    """Says where the page is, how to open it, and what strikes the eye on it; `also` what else is drawn."""
    launches = [launch for part in parts for launch in part["launches"]]
    terminal.line((day.heading, "bold"))
    terminal.table([_drawn(part) for part in parts if part["launches"]])
    here = ", in the current folder" if page.resolve().parent == Path.cwd() else ""
    terminal.line(f"Written to {near(page)}{here}. To open it:", indent=2)
    terminal.whole((page.resolve().as_uri(), "cyan"), indent=4)
    if also:
        terminal.line(also, indent=2)
    found = [one for launch in launches for one in launch.get("findings", ())]
    _findings(terminal, found[:PRINTED], source)
    if len(found) > PRINTED:
        terminal.line(f"and {len(found) - PRINTED} more in the picture", indent=5)
    terminal.next(*(passed or (f"track grade {day.key}{given}", "says whether it is right")))


def _drawn(part: Found) -> list[Part]:
    kernels = dict.fromkeys(launch["kernel"] for launch in part["launches"])
    return [f"{part['entry']}()", part["case"], (", ".join(kernels), "dim")]
