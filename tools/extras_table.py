"""`track dev table FILE --extras`: of every bar of the extras each time, for solutions/extras/README.md.

What was not measured is a dash, and our own time then what is predicted for an H200.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from grader.challenge import Speed
from grader.challenge.loading import load_challenges
from grader.cli.benchmark.results import Machine, Result
from grader.course import catalog
from grader.course.catalog import Day
from grader.performance.predict.reference_predictions import bar_name, known
from tools import planted
from tools.grade_planted import Record
from tools.measure import record, timed

PAGE = catalog.ROOT / "solutions" / "extras" / "README.md"
# µs, by Liger 0.8.5 with torch 2.11 and Triton 3.6 on an H200, in another run.
LIGER = {
    "rms_norm/rms_norm/rows=16384-cols=4096-bf16/forward": 69.0,
    "cross_entropy/cross_entropy/m=4096-v=128256-bf16/both": 1825.9,
}
TOP = """\
# The extras, measured

{how}
All times are milliseconds; `self_attention` and `write_the_test` have no bar.

- *ours* is the solution in this folder, *right* our right kernels in another style, *laggards* right ones
  that are slow by design; each was timed in turns with its peers, by `track dev measured`, which wrote
  [this file](../../tools/measured.jsonl).
- *torch* is the call that the bar is set against, or the reference; *compile* is the same by torch.compile.
  *Liger* is Liger 0.8.5, in another run.
- The *limit* is a copy of as many bytes as must move, or as many operations at the rate of a product of
  8192³, whichever takes longer. *needed* is the slowest time that passes.
- *mistakes* are planted ones that the grader caught, of a bug hunt all sets of its bugs among them.

[Gluon beside its peers](../GLUON.md): products and attention over more shapes, in Triton, in Gluon, by torch,
cuBLAS, cuDNN and FlexAttention.

| extra | bar | limit | ours | right | laggards | torch | compile | Liger | needed | mistakes |
|---|---|---|---|---|---|---|---|---|---|---|
"""
MEASURED = "A row is of one run, the last on one {gpu}, {date}: {versions}. Times in brackets are predicted."

Times = Mapping[str, Result]


def page(file: Path, proof: Path | None) -> str:
    """The whole page.

    Args:
        file: what `track dev measured` wrote.
        proof: what `track dev proof --json` wrote.

    Raises:
        TrackError: the file holds no measurement.
    """
    kept = record(file)
    how = _how(list(kept.machines.values())[-1])
    return TOP.format(how=how) + "\n".join(rows(timed(kept), proof)) + "\n"


def rows(measured: Mapping[str, Times], proof: Path | None) -> Iterator[str]:
    """A row for every bar of every extra."""
    for day in catalog.extras():
        yield from _rows(day, measured, _caught(day, proof))


def _how(machine: Machine) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in machine.versions.items())
    return MEASURED.format(gpu=machine.gpu, date=machine.at[:10], versions=versions)


def _caught(day: Day, proof: Path | None) -> str:
    """How many mistakes were caught, of how many; where no proof says it, how many there are."""
    every = len(planted.mistakes(day)) + (1 << len(planted.bugs(day))) - 1
    last = {
        tried.name: not tried.wrong
        for tried in Record(proof).tried.values()
        if tried.day == str(day.key) and tried.kind in ("mistake", "bugs")
    }
    return f"{sum(last.values())} of {every}" if last else f"{every} planted"


def _rows(day: Day, measured: Mapping[str, Times], caught: str) -> Iterator[str]:
    for challenge in load_challenges(day.hidden_tests):
        for speed in challenge.speeds:
            bar = bar_name(day.stem, challenge.entry, speed.case.id, speed.part)
            yield row(day, bar, speed, measured.get(bar, {}), caught)


def row(day: Day, bar: str, speed: Speed, times: Times, caught: str) -> str:
    """A row of the table."""
    _, entry, case, part = bar.split("/")
    shares = {"copy": speed.of_copy, "torch": speed.of_torch}
    asked = " or ".join(f"{share:g} {who}" for who, share in shares.items() if share)
    peers = {"copy": _us(times, "copy"), "torch": _us(times, "eager")}
    needed = max(peers[who] / share if share else 0.0 for who, share in shares.items())
    slow = [_us(times, laggard.name) for laggard in planted.laggards(day)]
    right = [_us(times, name) for name in times if name.startswith("right: ")]
    limit = next((result.point.limit_us for result in times.values()), 0.0)
    cells = [
        f"[{day.slug}](../../days/{day.place}/README.md)",
        f"`{entry}` {case.replace('-', ' ')}, {part}: {asked}",
        _ms(limit),
        _ms(_us(times, "ours")) if "ours" in times else f"({known()[bar].us / 1e3:.3f})",
        _ms(*right),
        _ms(*slow),
        _ms(peers["torch"]),
        _ms(_us(times, "compile")),
        _ms(_us(times, "liger") or LIGER.get(bar, 0.0)),
        _ms(needed),
        caught,
    ]
    return "| " + " | ".join(cells) + " |"


def _us(times: Times, name: str) -> float:
    return times[name].us if name in times else 0.0


def _ms(*times: float) -> str:
    return " / ".join(f"{us / 1e3:.3f}" for us in times if us) or "–"
