"""The table of the extras, solutions/extras/README.md, made of measured files:
`track dev table [FILE] [--proof FILE …]`.

FILE is what `track dev measured` wrote on a GPU: of every bar the time of our solution, of honest
alternatives and laggards, of torch, torch.compile and a copy. `--proof` is what `track dev proof --json`
wrote: how many mistakes were caught. What was not measured is a dash, and our own time then a prediction. The
rule by which bars are set is printed for each that was.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader import catalog
from grader.catalog import Day
from grader.challenge import Speed
from grader.dev import planted
from grader.dev.measured import bars
from grader.predict.prediction import ours as predicted

PAGE = catalog.ROOT / "solutions" / "extras" / "README.md"
PLAIN, SLOW = 0.85, 1.15  # a bar is at most so much of the slower plain kernel, at least so much of a laggard
# µs, by Liger 0.8.5 with torch 2.11 and Triton 3.6 on an H200, of the bars that it has a kernel for.
LIGER = {
    "rms_norm/rms_norm/rows=16384-cols=4096-bf16/forward": 69.0,
    "cross_entropy/cross_entropy/m=4096-v=128256-bf16/both": 1825.9,
}
TOP = """\
# The extras, measured

{how}
`track dev table` makes this page of what `track dev measured` and `track dev proof --json` wrote. All times
are milliseconds; `self_attention` and `write_the_test` have no bar.

- *ours* is the solution in this folder, *honest* our right kernels in another style, *laggards* right ones
  that are slow by design.
- *torch* is the call that the bar is set against, or the reference; *compile* is the same by torch.compile.
  *Liger* is Liger 0.8.5, in another run.
- The *limit* is a copy of as many bytes as the best kernel moves, or as many operations at the rate of a bf16
  product of 8192³, whichever takes longer. *needed* is the slowest time that passes.
- *mistakes* are planted ones that the grader caught, of a bug hunt all sets of its bugs among them.

| extra | bar | limit | ours | honest | laggards | torch | compile | Liger | needed | mistakes |
|---|---|---|---|---|---|---|---|---|---|---|
"""
MEASURED = "Measured on one {gpu}, torch {torch}, Triton {triton}, by `triton.testing.do_bench`."
UNMEASURED = (
    "Not measured yet: times of ours in brackets are predicted for an H200, and the bars are estimates."
)


@dataclass(frozen=True)
class Bar:
    """One bar of an extra, as far as it was measured; µs.

    Attributes:
        times: by kernel, `torch`, `torch.compile` and `copy` among them.
        product: operations a µs of a large product; 0 where that is not known.
        caught: of its extra, how many mistakes were caught, of how many.
    """

    day: Day
    name: str
    speed: Speed
    flops: float = 0.0
    product: float = 0.0
    times: dict[str, float] = field(default_factory=dict)
    caught: str = ""

    def of(self, *names: str) -> list[float]:
        """The times of kernels whose names begin so, in their order."""
        return [us for kernel, us in self.times.items() if kernel.startswith(names)]

    @property
    def laggards(self) -> list[float]:
        return [self.times[one.name] for one in planted.laggards(self.day) if one.name in self.times]

    @property
    def limit(self) -> float:
        work = self.flops / self.product if self.product else 0.0
        return max(self.times.get("copy", 0.0), work)

    @property
    def needed(self) -> float:
        """The slowest time that passes; 0 where it is not known."""
        shares = {"copy": self.speed.of_copy, "torch": self.speed.of_torch}
        return max(self.times.get(who, 0.0) / share if share else 0.0 for who, share in shares.items())

    @property
    def words(self) -> str:
        shares = [(self.speed.of_copy, "copy"), (self.speed.of_torch, "torch")]
        return " or ".join(f"{share:g} {who}" for share, who in shares if share)


def every(record: dict[str, Any], caught: dict[str, str]) -> Iterator[Bar]:
    """The bars of all extras, in the order of the syllabus."""
    for day in catalog.extras():
        for name, _, speed in bars(day):
            times = dict(record.get("times", {}).get(name, {}))
            mistakes = caught.get(day.slug, f"{_planted(day)} planted")
            known = predicted(name)
            yield Bar(
                day, name, speed, known.flops if known else 0.0, record.get("product", 0.0), times, mistakes
            )


def _planted(day: Day) -> int:
    """Mistakes, and of a bug hunt the sets of its bugs."""
    return len(planted.mistakes(day)) + (1 << len(planted.bugs(day))) - 1


def row(bar: Bar) -> str:
    """A row of the table."""
    _, entry, case, part = bar.name.split("/")
    known = predicted(bar.name)
    guess = f"({known.us / 1e3:.3f})" if known else "–"
    cells = [
        f"[{bar.day.slug}](../../days/{bar.day.place}/README.md)",
        f"`{entry}` {case.replace('-', ' ')}, {part}: {bar.words}",
        _ms([bar.limit] if bar.limit else []),
        _ms(bar.of("ours")) if bar.of("ours") else guess,
        _ms(bar.of("honest")),
        _ms(bar.laggards),
        _ms([bar.times["torch"]] if "torch" in bar.times else []),
        _ms(bar.of("torch.compile")),
        _ms([LIGER[bar.name]] if bar.name in LIGER else []),
        _ms([bar.needed] if bar.needed else []),
        bar.caught,
    ]
    return "| " + " | ".join(cells) + " |"


def _ms(times: list[float]) -> str:
    return " / ".join(f"{us / 1e3:.3f}" for us in times) or "–"


def rule(bar: Bar) -> str:
    """What the rule for bars says of one that was measured: how slow a kernel may be that passes.

    It lies between the slower plain kernel and the faster laggard, with room for both.
    """
    plain, slow = [*bar.of("ours", "honest")], bar.laggards
    if not plain or not slow or not bar.needed:
        return ""
    least, most = max(plain) / PLAIN, min(slow) / SLOW
    peers = {"copy": bar.speed.of_copy, "torch": bar.speed.of_torch}
    shares = ", ".join(
        f"{bar.times[who] / most:.3f} to {bar.times[who] / least:.3f} of {who}"
        for who, share in peers.items()
        if share
    )
    if least > most:
        return f"{bar.name}: no bar keeps to the rule: plain {max(plain):.0f} µs, a laggard {min(slow):.0f}"
    kept = "keeps to the rule" if least <= bar.needed <= most else "BREAKS the rule"
    return f"{bar.name}: {bar.words} {kept}: {shares}"


def page(found: list[Bar], record: dict[str, Any]) -> str:
    """The whole page, as Markdown."""
    how = MEASURED.format(**record) if record.get("times") else UNMEASURED
    return TOP.format(how=how) + "\n".join(map(row, found)) + "\n"


def caught_in(proofs: Iterable[Path]) -> dict[str, str]:
    """By extra, `12 of 12`."""
    entries = [entry for proof in proofs for entry in json.loads(proof.read_text(encoding="utf-8"))]
    return {str(entry["day"]): f"{entry['caught']} of {entry['planted']}" for entry in entries}


def main() -> None:
    parser = argparse.ArgumentParser(
        "track dev table", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("--proof", type=Path, nargs="*", default=[])
    chosen = parser.parse_args()
    record = json.loads(chosen.file.read_text(encoding="utf-8")) if chosen.file else {}
    found = list(every(record, caught_in(chosen.proof)))
    PAGE.write_text(page(found, record), encoding="utf-8")
    print(*filter(None, map(rule, found)), sep="\n")
    print(f"{PAGE.relative_to(catalog.ROOT)}: {len(found)} bars")


if __name__ == "__main__":
    main()
