"""What profilers write, as one `Kernel` for each launch. Finished: nothing is to be done here."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Of `ncu --csv --page raw`. The first row below the names has the units.
READ, WRITTEN, TIME = "dram__bytes_read.sum", "dram__bytes_write.sum", "gpu__time_duration.sum"
SM = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
DRAM = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum"  # ld, st
REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum"
WARPS = "sm__warps_active.avg.pct_of_peak_sustained_active"
SPILLS = ("smsp__sass_inst_executed_op_local_ld.sum", "smsp__sass_inst_executed_op_local_st.sum")
PLAIN = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"  # fadd, fmul, ffma: of single lanes
CYCLES = "smsp__cycles_elapsed.max"  # `--set full` has PLAIN by the cycle alone
TENSOR = "sm__ops_path_tensor_src_"  # the matrix units', by dtype
# nsecond, usecond, Kbyte and the like: older versions of ncu write `us`, newer ones `usecond`.
PREFIX = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


@dataclass(frozen=True)
class Kernel:
    """One launch: what `read_report` is given of it, but for the GPU's own rate, and its operations.

    Attributes:
        flops: 0 where the report counts none.
        counted: whether the percentages are counters; of a trace they are not.
    """

    name: str
    bytes_read: int
    bytes_written: int
    time_us: float
    sm_pct: float
    dram_pct: float
    sectors_per_request: float
    warps_active_pct: float
    spills: int
    flops: float = 0.0
    counted: bool = True


def kernels(path: Path, given: dict[str, int], dram_peak: float) -> list[Kernel]:
    """The launches of a file: Nsight Compute's CSV, or a trace that torch.profiler exported.

    Args:
        given: of a trace, the bytes that each kernel moves, by its name: no trace counts them.
        dram_peak: GB/s, to say what share of it those bytes are.

    Raises:
        ValueError: the file is neither.
    """
    text = path.read_text(encoding="utf-8")
    if text.lstrip().startswith(("{", "[")):
        return list(_of_trace(json.loads(text), given, dram_peak))
    rows = text.splitlines()
    first = next((n for n, row in enumerate(rows) if '"Kernel Name"' in row), None)
    if first is None:
        raise ValueError(f"{path} is neither `ncu --csv --page raw` nor a trace of torch.profiler.")
    named = list(csv.DictReader(rows[first:]))
    return [_of_row(row, named[0]) for row in named[1:]]


def _of_row(row: dict[str, str], units: dict[str, str]) -> Kernel:
    def number(name: str) -> float:
        value = (row.get(name) or "0").replace(",", "")
        return float(value) * _scale(units.get(name) or "") if _is_number(value) else 0.0

    def sectors(access: str) -> float:
        return number(SECTORS.format(access)) / max(1.0, number(REQUESTS.format(access)))

    def plain(operation: str) -> float:
        name = PLAIN.format(operation)
        return number(name) or number(f"{name}.per_cycle_elapsed") * number(CYCLES)

    tensor = sum(number(name) for name in row if name.startswith(TENSOR) and name.endswith(".sum"))
    return Kernel(
        name=row["Kernel Name"],
        bytes_read=int(number(READ)),
        bytes_written=int(number(WRITTEN)),
        time_us=number(TIME) * 1e6,
        sm_pct=number(SM),
        dram_pct=number(DRAM),
        sectors_per_request=max(sectors("ld"), sectors("st")),
        warps_active_pct=number(WARPS),
        spills=int(sum(map(number, SPILLS))),
        flops=tensor + plain("fadd") + plain("fmul") + 2 * plain("ffma"),
    )


def _is_number(value: str) -> bool:
    return value.replace(".", "", 1).replace("e+", "").isdigit()


def _scale(unit: str) -> float:
    """1000 for Kbyte, 1e-9 for nsecond or ns, 1 for byte, %, inst."""
    word = unit.removesuffix("byte").removesuffix("second").removesuffix("s")
    return PREFIX.get(word, 1.0)


def _of_trace(trace: dict | list, given: dict[str, int], dram_peak: float) -> Iterator[Kernel]:
    """A trace has no counters: bytes are those that you give, and what else is unknown is 0."""
    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    for event in events:
        if event.get("cat") == "kernel":
            name, time_us = event["name"], float(event["dur"])
            moved = given.get(name, 0)
            share = 100 * moved / (time_us * 1e3 * dram_peak)
            warps = float(event["args"].get("est. achieved occupancy %", 0))
            yield Kernel(name, moved, 0, time_us, 0.0, share, 0.0, warps, 0, counted=False)
