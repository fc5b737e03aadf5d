"""Extra: GB/s, percent of the peak, and the limiter of a kernel, from a profiler's numbers.

Twelve reports are of kernels whose cause is known: our solutions and laggards on an H200. Their times are
measured, and their bytes are what such a kernel has to move, as the days' bars count them. Spills are the
words of a thread that the driver reported. Where bytes and time make it so, `dram` is their share of
4800 GB/s, and `sm` of products their share of 989 TFLOP/s. Sectors follow from the addresses: 32 where each
lane has one of its own. All other percentages are made up, as nobody has profiled these kernels.
"""

from __future__ import annotations

from grader.challenge import Case, Challenge, between

from .suspects import SUSPECTS, read

PEAK = 4800.0  # GB/s
FIELDS = ("read", "written", "us", "peak", "sm", "dram", "sectors", "warps", "spills")
MiB = 1 << 20
REPORTS = {
    # days 04 and 10: as it should be, and one program alone.
    "axpy": (256 * MiB, 128 * MiB, 100.6, PEAK, 18.0, 83.4, 16.0, 72.0, 0),
    "axpy_by_program_0": (256 * MiB, 128 * MiB, 15997.2, PEAK, 0.4, 0.5, 16.0, 6.2, 0),
    "a_sum_by_one_program": (512 * MiB, 0, 19908.2, PEAK, 0.5, 0.6, 16.0, 24.9, 0),
    # day 07: stores, then loads, of 4 bytes from each sector.
    "pieces_of_rows_in": (256 * MiB, 256 * MiB, 1119.7, PEAK, 9.0, 10.0, 32.0, 88.0, 0),
    "pieces_of_columns_in": (256 * MiB, 256 * MiB, 506.0, PEAK, 14.0, 66.0, 32.0, 90.0, 0),
    # day 09: fp64 has its units busy, and memory waits for them.
    "GELU_in_fp64": (256 * MiB, 256 * MiB, 453.1, PEAK, 91.0, 24.7, 16.0, 18.0, 0),
    # day 13: ours, and one warp for 8192 columns, whose spills are traffic, too.
    "softmax": (256 * MiB, 256 * MiB, 132.7, PEAK, 45.0, 84.3, 16.0, 95.0, 0),
    "softmax_by_one_warp": (256 * MiB, 256 * MiB, 244.9, PEAK, 31.0, 71.0, 16.0, 12.4, 160),
    # days 17 to 20: 137 GFLOP; tiles of 64 x 64, whose 34 GB come from L2; four programs for 132 SMs; spills.
    "matmul": (64 * MiB, 32 * MiB, 193.9, PEAK, 71.7, 10.8, 16.0, 12.5, 0),
    "matmul_of_small_tiles": (256 * MiB, 128 * MiB, 3955.1, PEAK, 28.1, 2.1, 16.0, 37.5, 0),
    "matmul_without_a_split": (32 * MiB, MiB // 8, 252.3, PEAK, 1.7, 2.8, 16.0, 12.5, 0),
    "128_x_128_by_one_warp": (40 * MiB, 128 * MiB, 19117.1, PEAK, 38.0, 1.9, 8.0, 6.2, 2364),
}
USUAL = dict(zip(FIELDS, REPORTS["axpy"], strict=True))


def inputs(case: Case, draw) -> tuple[int | float, ...]:
    """The report of a known kernel, or axpy's with what the case says instead: bytes `read` and `written`,
    `us`, the `peak`, the percentages `sm` and `dram`, `sectors`, `warps` and `spills`.

    A little more is read until neither quotient is near a whole number: roundings on the way do not matter.
    """
    if "report" in case:
        return REPORTS[case.report]
    report = [case.get(name, usual) for name, usual in USUAL.items()]
    while report[0] + report[1] and not _clear(*report):
        report[0] += 1 + report[0] // 1000
    return tuple(report)


def _clear(bytes_read: int, bytes_written: int, time_us: float, peak: float, *_) -> bool:
    rate = (bytes_read + bytes_written) / time_us / 1e3
    return all(0.01 < value % 1 < 0.99 for value in (rate, 100 * rate / peak))


CASES = [
    Case(),
    *(Case(report=name) for name in REPORTS),
    Case(read=0),
    Case(written=0),
    Case(read=0, written=0),
    Case(read=between(10**9, 4 * 10**9), written=between(10**6, 10**9), us=1234.5),
    Case(read=between(10**11, 4 * 10**11), us=98765.4, peak=3350.0),
    Case(us=2.5, read=2_000_003, written=1_000_007, peak=320.0),
    Case(peak=1008.0, us=450.25),
    # A hair below the next number: both are rounded down.
    Case(read=4_019_900_000, written=0, us=1000.0),
    Case(read=6_450_000, written=0, us=1000.0, peak=320.0),  # of 6, and not 6.45, it would be 1 %
    # On both sides of each threshold, and each that comes first where another would do as well.
    Case(dram=60.0, sm=12.0),
    Case(dram=59.9, sm=12.0),
    Case(dram=12.0, sm=60.0),
    Case(dram=12.0, sm=59.9, warps=32.9),
    Case(dram=12.0, sm=59.9, warps=33.0),
    Case(dram=70.0, sm=70.0),
    Case(dram=70.0, sm=70.5),
    Case(dram=90.0, sm=88.0, warps=10.0),
    Case(dram=3.0, sm=5.0, warps=90.0),
    Case(dram=3.0, sm=5.0, warps=9.0),
    Case(sectors=16.5),
    Case(sectors=32.0, sm=85.0, dram=20.0),
    Case(sectors=4.0, dram=30.0, sm=20.0, warps=20.0),
    Case(spills=1),
    Case(spills=900, sectors=32.0),
    Case(spills=900, dram=93.0),
    Case(spills=64, sm=90.0, dram=10.0),
]

challenge = Challenge(entry="read_report", inputs=inputs, reference=read, suspects=SUSPECTS, cases=CASES)
