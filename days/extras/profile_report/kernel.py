"""Extra: a profiler's numbers, read: how fast a kernel is, and what keeps it from being faster.

As a program it makes a page of a report: `python kernel.py report.csv page.html`; further words are the GPU's
GB/s and TFLOP/s, and of a trace of torch.profiler the bytes that a kernel moves: `axpy_kernel=402653184`.
"""

from __future__ import annotations

import sys
from pathlib import Path

MEMORY, COMPUTE, UNCOALESCED, TOO_FEW, SPILLS = range(5)
H200 = (4800.0, 989.0)  # GB/s of DRAM, and TFLOP/s of 16-bit products, by its data sheet


def read_report(
    bytes_read: int,
    bytes_written: int,
    time_us: float,
    dram_peak: float,
    sm_pct: float,
    dram_pct: float,
    sectors_per_request: float,
    warps_active_pct: float,
    spills: int,
) -> tuple[int, int, int]:
    """Return GB/s, percent of the peak, both rounded down, and which of the five limiters it is.

    Args:
        bytes_read, bytes_written: between DRAM and the chip.
        time_us: microseconds of the kernel.
        dram_peak: GB/s that the GPU's DRAM has; 1 GB is 1e9 bytes.
        sm_pct, dram_pct: how busy SMs and DRAM were, in percent.
        sectors_per_request: sectors of 32 bytes that a warp's load or store touches.
        warps_active_pct: warps on an SM, in percent of those that it could hold.
        spills: loads and stores of registers that spilled.
    """
    # TODO 1: the rate in GB/s, and its share of the peak in percent, both rounded down.
    # TODO 2: ask the five questions of the lesson in their order; the first yes is the limiter.
    # TODO 3: return the three numbers.


def main(report: str, target: str, *more: str) -> None:
    """Read a report of Nsight Compute or a trace of torch.profiler, and write the page."""
    from profiler import kernels  # beside this file: a grading needs neither
    from roofline import Row, page

    numbers = [float(word) for word in more if "=" not in word]
    given = dict(word.rsplit("=", 1) for word in more if "=" in word)
    dram_peak, flops_peak = (*numbers, *H200[len(numbers) :])
    rows = []
    for one in kernels(Path(report), {name: int(count) for name, count in given.items()}, dram_peak):
        said = read_report(
            one.bytes_read,
            one.bytes_written,
            one.time_us,
            dram_peak,
            one.sm_pct,
            one.dram_pct,
            one.sectors_per_request,
            one.warps_active_pct,
            one.spills,
        )
        rows.append(Row(one, *said))
    Path(target).write_text(page(rows, dram_peak, flops_peak), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("python kernel.py report.csv page.html [GB/s] [TFLOP/s] [kernel=bytes …]")
    main(*sys.argv[1:])
