"""Extra: GB/s, percent of the peak, and the limiter of a kernel, from a profiler's numbers.

Twelve reports are of kernels whose cause is known: our solutions and laggards, as Nsight Compute 2025.3
counted them on an H200, at the GPU's own clocks. `tests/course/ncu_h200.csv` has them as it wrote them.
"""

from __future__ import annotations

from grader.challenge import Case, Challenge, between

from .suspects import SUSPECTS, read

PEAK = 4800.0  # GB/s
FIELDS = ("read", "written", "us", "peak", "sm", "dram", "sectors", "warps", "spills")
REPORTS = {
    # days 04 and 10: as it should be, and one program alone.
    "axpy": (268_450_560, 117_580_800, 95.392, PEAK, 4.79, 84.14, 16.0, 88.66, 0),
    "axpy_by_program_0": (269_576_704, 123_371_520, 15897.056, PEAK, 0.03, 0.51, 16.0, 6.38, 0),
    "a_sum_by_one_program": (537_071_872, 6_942_720, 19907.776, PEAK, 0.06, 0.57, 16.0, 25.0, 0),
    # day 07: stores, then loads, of 4 bytes from each sector.
    "pieces_of_rows_in": (389_940_480, 368_909_056, 1120.128, PEAK, 6.87, 14.08, 31.99, 72.27, 0),
    "pieces_of_columns_in": (268_505_344, 256_711_168, 503.584, PEAK, 8.35, 21.68, 32.0, 97.61, 0),
    # day 09: 160 registers a thread leave room for few warps.
    "GELU_in_fp64": (268_503_296, 252_375_040, 456.672, PEAK, 52.04, 23.71, 16.0, 17.89, 0),
    # day 13: ours, and one warp for 8192 columns: 281 MB of spills are written to DRAM.
    "softmax": (268_451_072, 244_327_424, 126.464, PEAK, 64.4, 84.28, 16.0, 94.06, 0),
    "softmax_by_one_warp": (268_536_832, 549_456_384, 242.464, PEAK, 25.97, 70.12, 16.0, 12.06, 5_718_016),
    # days 17 to 20: as it should be; tiles of 64 x 64, which read 14.5 GB; four programs for 132 SMs; spills.
    "matmul": (170_938_624, 31_505_408, 195.776, PEAK, 86.71, 21.49, 16.0, 12.46, 0),
    "matmul_of_small_tiles": (14_549_425_920, 135_444_736, 3845.472, PEAK, 35.08, 79.36, 16.0, 24.84, 0),
    "matmul_without_a_split": (33_577_728, 1_646_080, 274.752, PEAK, 1.48, 2.66, 16.0, 6.25, 0),
    "128_x_128_by_one_warp": (
        7_408_357_376,
        26_421_815_808,
        19182.592,
        PEAK,
        7.12,
        36.65,
        15.99,
        4.62,
        314_544_128,
    ),
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
