"""`track dev table FILE`: how good every solution is beside its peers, as solutions/README.md has it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from grader.cli.benchmark.results import Machine, Result
from grader.course import catalog
from grader.course.catalog import Day
from tools.measure import TORCH, record, timed

PAGE = catalog.ROOT / "solutions" / "README.md"
LIBRARIES = ("liger", "cudnn", "efficient", "math", "flex")
GLUON = ("gluon", "gluon fast")
TOP = """\
# The solutions, measured

One kernel a day, written to be read; `fast/` holds tuned ones of some days (`track solution N --fast`).
Each was timed at the size that a grading times, in turns with its peers, by `track dev measured`; a row is
of one run. The last was on one {gpu}, {date}: driver {driver}, {versions}; {clocks}its copy ran
at {copy:,.0f} GB/s, its 8192³ products at {products} TFLOP/s (fp32: 4096³).

`of limit` is the share of what this GPU could do at best: the bytes that must move at the rate of its copy,
or the operations at that of its product, whichever takes longer. `×` is the time of a peer over ours, so
above 1 ours is faster: torch's eager mode, `torch.compile`, the fastest library, by name, and an extra in
Gluon that does the same ([more of it](GLUON.md)). `of best torch` is that of the faster of the first
two; – stands where a peer was not timed in that run. `by the clock` counts the launches from Python, too, of
ours and of torch's eager mode. Made by `track dev table --write` from [what was
measured](../tools/measured.jsonl); only what stands below the table is typed by hand.

| day | case | µs | of limit | × eager | × compile | of best torch | × library | × Gluon | by the clock, µs |
|---|---|---|---|---|---|---|---|---|---|
"""
BOTTOM = """
## Where a peer is ahead

- **Day 4.** `--fast` moves its bytes as fast as a copy.
- **Day 17.** `--fast` is within the noise: cuBLAS, timed twice in one run, differed by up to 6 %.
- **Day 20.** torch's product took 15.5 µs of an H200 in another run, `--fast` 17.4; fifteen other tiles and
  splits took 17.2 to 24.7. By the clock they took 25 and 36: from Python to the launch of an empty kernel,
  with as many arguments, Triton needed 29.
- **Days 28, 32, 34 and 35.** cuDNN's attention gives the warps of a program different work. On a Hopper GPU
  Triton 3.6 does not; [Gluon](GLUON.md) does where you say so, and is faster than cuDNN in day 32's
  case. Our solutions stay in Triton, which older GPUs run as well.
"""
NONE = "–"


def page(file: Path) -> str:
    """The whole page.

    Raises:
        TrackError: the file holds no measurement.
    """
    kept = record(file)
    machine, bars = list(kept.machines.values())[-1], timed(kept)
    rows = [row for day in catalog.days() for row in _rows(day, bars)]
    return _top(machine) + "\n".join(rows) + "\n" + BOTTOM


def _top(machine: Machine) -> str:
    clocks = f"{machine.clock_mhz} of {machine.most_mhz} MHz under load, " if machine.clock_mhz else ""
    return TOP.format(
        gpu=machine.gpu,
        date=machine.at[:10],
        driver=machine.driver or "unknown",
        versions=", ".join(f"{name} {version}" for name, version in machine.versions.items()),
        clocks=clocks,
        copy=machine.copy_gb_s,
        products=", ".join(f"{name} {rate:,.0f}" for name, rate in machine.tflops.items()),
    )


def _rows(day: Day, bars: Mapping[str, Mapping[str, Result]]) -> Iterator[str]:
    """A row for each of a day's bars, and one more for the tuned solution."""
    for bar, results in bars.items():
        if bar.split("/")[0] == day.stem:
            for name in ("ours", "fast"):
                if name in results:
                    yield _row(day, name, results)


def _row(day: Day, name: str, results: Mapping[str, Result]) -> str:
    own = results[name]
    # Where a run had other limits, its times are of another GPU, or of this one at other clocks.
    results = {peer: one for peer, one in results.items() if one.point.limit_us == own.point.limit_us}
    path = f"{'fast/' if name == 'fast' else ''}{day.place}.py"
    passes = f", {own.point.part}" if own.point.part != "forward" else ""
    what = f"`{own.point.entry}` {own.point.case}{passes}"
    if not own.us:
        return f"| [{day.label}]({path}) | {what} | {own.problem} |" + f" {NONE} |" * 7
    torch = [results[peer].us for peer in TORCH if peer in results and _counts(results[peer])]
    cells = [f"{own.us:,.1f}", f"{own.of_limit:.2f}", *(_times(results.get(peer), own) for peer in TORCH)]
    cells += [
        f"{min(torch) / own.us:.2f}" if torch else NONE,
        _library(results, own),
        _times(_fastest(results, GLUON), own),
        _clock(results, own),
    ]
    return f"| [{day.label}]({path}) | {what} | " + " | ".join(cells) + " |"


def _counts(result: Result) -> bool:
    """Whether it has a time, of right values."""
    return bool(result.us) and not result.problem


def _times(peer: Result | None, own: Result) -> str:
    return f"{peer.us / own.us:.2f}" if peer and _counts(peer) else NONE


def _library(results: Mapping[str, Result], own: Result) -> str:
    best = _fastest(results, LIBRARIES)
    return f"{best.us / own.us:.2f} {best.provider}" if best else NONE


def _fastest(results: Mapping[str, Result], names: Sequence[str]) -> Result | None:
    found = [results[name] for name in names if name in results and _counts(results[name])]
    return min(found, key=lambda one: one.us, default=None)


def _clock(results: Mapping[str, Result], own: Result) -> str:
    eager = results.get("eager")
    return (
        f"{own.wall_us:,.0f}, eager {eager.wall_us:,.0f}"
        if eager and eager.wall_us
        else f"{own.wall_us:,.0f}"
    )
