"""`track dev peers FILE`: products and attention in Triton, in Gluon and by libraries, on a Hopper GPU.

Each shape is a case of the day that asks for it; all its kernels are timed in turns, as `track bench` times
them. What is kept of it, tools/peers.jsonl, becomes solutions/GLUON.md.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from grader.challenge import Case, Challenge
from grader.challenge.case import SHORT
from grader.challenge.loading import load_challenges
from grader.cli.benchmark import contenders, measured_peaks, results
from grader.cli.benchmark.contenders import Contender
from grader.cli.benchmark.interleaved_timing import Turns
from grader.cli.benchmark.libraries import Gluon
from grader.cli.benchmark.results import COPY, Machine, Point, Result
from grader.cli.benchmark.times import Times
from grader.course import catalog
from grader.course.catalog import Day
from grader.grading.grade import versions
from grader.performance.predict.reference_predictions import bar_name
from grader.performance.timing.stopwatch import own_stream
from tools.measure import record
from tools.solutions_table import NONE

KEPT = catalog.ROOT / "tools" / "peers.jsonl"  # the times that the page shows
PAGE = catalog.ROOT / "solutions" / "GLUON.md"
HALF, BRAIN, E4M3 = torch.float16, torch.bfloat16, torch.float8_e4m3fn
PIPELINED = Gluon("gluon_matmul", "matmul")
BACKWARD = Gluon(
    "gluon_flash_backward",
    "flash_backward",
    lambda f: lambda q, k, v, o, lse, do, scale, causal: f(q, k, v, o, lse, do, causal),
)
COLUMNS = {
    "ours": "Triton",
    "fast": "Triton, tuned",
    "pipelined": "Gluon, pipelined",
    "gluon": "Gluon",
    "gluon fast": "Gluon, tuned",
    "eager": "torch",
    "compile": "compile",
    "cudnn": "cuDNN",
    "flex": "FlexAttention",
}
PEERS = ("eager", "compile", "cudnn", "flex")
TOP = """\
# Gluon beside its peers

By `track dev peers`, {date}, each row on one {gpu}: driver {driver}, {versions}.
After products its clock stood at {clock} of {most} MHz; a copy ran at {copy:,.0f} GB/s, products of 8192³ at
{products} TFLOP/s.

Times are microseconds, of all kernels of a row in turns. *Best* is the fastest of torch and the libraries
over our fastest in Gluon: above 1, Gluon is faster. In *torch* stands cuBLAS for products, `torch._scaled_mm`
for FP8, and FlashAttention-2 for attention; *compile* is `torch.compile` of the same, which calls the same
kernel for most: then their difference is noise. A dash: there is no such kernel. Attention has 16 heads, and
as many sequences as make 16384 tokens.

FlashAttention-3 is missing: no wheel of it was found for this torch. That of sgl-kernel 0.3.21, for torch
2.9, answered some calls and refused others. Two that it answered, causal and of 16384 tokens, took 997 µs for
D 64 and 1,537 for D 128, in another run.
"""


@dataclass(frozen=True)
class Family:
    """Shapes of one function.

    Attributes:
        cases: by the words of their row.
    """

    title: str
    day: Day
    entry: str
    cases: Mapping[str, Case]

    @property
    def challenge(self) -> Challenge:
        return next(one for one in load_challenges(self.day.hidden_tests) if one.entry == self.entry)


def _products() -> Iterator[tuple[str, Case]]:
    for dtype in (HALF, BRAIN):
        for m, n, k in ((8192, 8192, 8192), (8192, 28672, 4096), (4096, 4096, 4096)):
            yield f"{m} × {n} × {k}, {SHORT[dtype]}", Case(m=m, n=n, k=k, dtype=dtype, gpu=True)


def _attention(*lengths: int) -> Iterator[tuple[str, Case]]:
    for d in (64, 128):
        for causal in (False, True):
            for s in lengths:
                case = Case(B=16384 // s, H=16, Sq=s, Sk=s, D=d, causal=causal, dtype=HALF, gpu=True)
                yield f"D {d}, {s} tokens{', causal' * causal}", case


FAMILIES = (
    Family("Products", catalog.find("18"), "matmul", dict(_products())),
    Family(
        "The FP8 product",
        catalog.find("fp8_matmul"),
        "fp8_matmul",
        {"8192 × 8192 × 8192": Case(m=8192, n=8192, k=8192, dtype=E4M3, gpu=True)},
    ),
    Family("Attention", catalog.find("32"), "flash_forward", dict(_attention(1024, 4096, 16384))),
    Family("Its backward pass", catalog.find("34"), "flash_backward", dict(_attention(4096, 16384))),
)


def run(file: Path, jobs: int) -> None:
    """Measures every shape; what could not be timed says so in the file."""
    _ahead(jobs)
    with own_stream():
        machine = measured_peaks.measure(versions())
        results.append(file, [machine])
        for family in FAMILIES:
            for case in family.cases.values():
                results.append(file, _measured(family, case, machine))
                torch.cuda.empty_cache()


def _ahead(jobs: int) -> None:
    """Compiles for so many shapes at once."""
    environment = os.environ | {"TORCHINDUCTOR_COMPILE_THREADS": "1"}

    def compile_one(number: int) -> None:
        command = [sys.executable, "-m", "tools.peers", str(number)]
        silent = subprocess.DEVNULL
        subprocess.run(command, cwd=catalog.ROOT, env=environment, stdout=silent, stderr=silent, check=False)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(compile_one, range(sum(len(family.cases) for family in FAMILIES))))


def _measured(family: Family, case: Case, machine: Machine) -> Iterator[Result]:
    challenge = family.challenge
    (speed, *_) = challenge.speeds
    turns = Turns(challenge, speed, case, lambda name: None)
    found: dict[str, Times] = {}
    given = list(_contenders(family, case))
    turns.run(given, found)
    bar = bar_name(family.day.stem, challenge.entry, case.id, speed.part)
    limit = machine.limit_us(turns.moved, turns.flops, turns.operands)
    timed = case.id == speed.case.id
    point = Point(family.day.key, bar, family.entry, speed.part, case.id, SHORT[case.dtype], {}, timed, limit)
    stamps = {one.name: one.stamp for one in given} | {COPY: contenders.TORCH}
    for name, times in found.items():
        what = times.us, *times.interval, times.wall_us, times.problem, times.kernels
        yield Result(point, machine.gpu, name, stamps[name], *what)


def _contenders(family: Family, case: Case) -> Iterator[Contender]:
    challenge = family.challenge
    every = contenders.contenders(
        family.day, challenge, challenge.speeds[0], contenders.files(family.day, {})
    )
    yield from (one for one in every if one.name in COLUMNS)
    if family.entry == "matmul":
        yield from (replace(one, name="pipelined") for one in contenders.gluon(PIPELINED))
    if family.entry == "flash_backward" and case.D == 64:
        yield from contenders.gluon(BACKWARD)


def page(file: Path) -> str:
    """The whole page.

    Raises:
        TrackError: the file holds no measurement.
    """
    kept = record(file)
    machine = list(kept.machines.values())[-1]
    every: dict[str, dict[str, Result]] = {}
    for result in kept.newest(machine.gpu):
        every.setdefault(result.point.bar, {})[result.provider] = result
    return _top(machine) + "".join(table(family, every) for family in FAMILIES)


def _top(machine: Machine) -> str:
    return TOP.format(
        gpu=machine.gpu,
        date=machine.at[:10],
        driver=machine.driver,
        versions=", ".join(f"{name} {version}" for name, version in machine.versions.items()),
        clock=machine.clock_mhz,
        most=machine.most_mhz,
        copy=machine.copy_gb_s,
        products=", ".join(f"{name} {rate:,.0f}" for name, rate in machine.tflops.items() if name != "fp32"),
    )


def table(family: Family, every: Mapping[str, Mapping[str, Result]]) -> str:
    """Its heading, and a row a case; a column that nobody has is left out."""
    part = family.challenge.speeds[0].part
    rows = {
        words: every.get(bar_name(family.day.stem, family.entry, case.id, part), {})
        for words, case in family.cases.items()
    }
    names = [name for name in COLUMNS if any(_us(row, name) for row in rows.values())]
    lines = [f"\n## {family.title}\n", "| | " + " | ".join([*(COLUMNS[n] for n in names), "best"]) + " |"]
    lines.append("|---|" + "---|" * (len(names) + 1))
    for words, row in rows.items():
        cells = [f"{us:,.0f}" if (us := _us(row, name)) else NONE for name in names]
        lines.append(f"| {words} | " + " | ".join([*cells, _best(row)]) + " |")
    return "\n".join(lines) + "\n"


def _best(row: Mapping[str, Result]) -> str:
    peers = [us for name in PEERS if (us := _us(row, name))]
    own = [us for name in ("pipelined", "gluon", "gluon fast") if (us := _us(row, name))]
    return f"{min(peers) / min(own):.2f}" if peers and own else NONE


def _us(row: Mapping[str, Result], name: str) -> float:
    return row[name].us if name in row and not row[name].problem else 0.0


def main(number: int) -> None:
    """Call every kernel of one shape once."""
    family, case = [(family, case) for family in FAMILIES for case in family.cases.values()][number]
    with own_stream():
        turns = Turns(family.challenge, family.challenge.speeds[0], case, lambda name: None)
        for one in _contenders(family, case):
            with suppress(Exception):
                turns.once(one)
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main(int(sys.argv[1]))
