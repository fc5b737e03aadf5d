"""Extra: how a report is misread, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

BUSY = """    elif max(sm_pct, dram_pct) >= 60:
        limiter = MEMORY if dram_pct >= sm_pct else COMPUTE
"""
FLOORS = "gb_s, percent = int(rate), int(100 * rate / dram_peak)"
RATE = "rate = (bytes_read + bytes_written) / time_us / 1e3"

mistakes = [
    Mistake(
        "a GB is 2**30 bytes",
        swap={RATE: "rate = (bytes_read + bytes_written) / (time_us * 1e-6) / 1024**3"},
        fails="correct",
        says="2³⁰",
    ),
    Mistake(
        "a fraction for percent",
        swap={FLOORS: FLOORS.replace("100 * ", "")},
        fails="correct",
        says="fraction",
    ),
    Mistake(
        "rounded to the nearest",
        swap={FLOORS: "gb_s, percent = round(rate), round(100 * rate / dram_peak)"},
        fails="correct",
        says="rounded down",
    ),
    Mistake(
        "the percent of a rate that is rounded already",
        swap={FLOORS: "gb_s = int(rate)\n    percent = int(100 * gb_s / dram_peak)"},
        fails="correct",
        says=("percent", "rounded"),
    ),
    Mistake(
        "milliseconds for microseconds",
        swap={RATE: "rate = (bytes_read + bytes_written) / time_us / 1e6"},
        fails="correct",
        says="gb_s",
    ),
    Mistake(
        "what is written is left out",
        swap={RATE: "rate = bytes_read / time_us / 1e3"},
        fails="correct",
        says="What is written is left out",
    ),
    Mistake(
        "low DRAM is taken for compute",
        swap={BUSY: "    elif dram_pct < 60:\n        limiter = COMPUTE\n" + BUSY},
        fails="correct",
        says="taken for compute",
    ),
    Mistake(
        "spills are hidden by bandwidth",
        swap={"if spills > 0:": "if spills > 0 and dram_pct < 60:"},
        fails="correct",
        says="spills are traffic",
    ),
    Mistake(
        "sectors are asked for last",
        swap={
            "sectors_per_request > 16:": "sectors_per_request > 16 and max(sm_pct, dram_pct) < 60:",
        },
        fails="correct",
        says="comes before sectors",
    ),
    Mistake(
        "more than four sectors are too many",
        swap={"sectors_per_request > 16": "sectors_per_request > 4"},
        fails="correct",
        says="one lane may move",
    ),
    Mistake(
        "L2 hits are taken for too little parallelism",
        swap={"elif warps_active_pct < 33:": "elif True:"},
        fails="correct",
        says="wait for L2",
    ),
    Mistake(
        "few warps are taken for memory",
        swap={"elif warps_active_pct < 33:": "elif False:"},
        fails="correct",
        says="memory is always blamed",
    ),
    Mistake(
        "memory and compute change places",
        swap={"MEMORY, COMPUTE, UNCOALESCED": "COMPUTE, MEMORY, UNCOALESCED"},
        fails="correct",
        says="limiter",
    ),
    Mistake(
        "the limiter in words",
        swap={"percent, limiter\n": 'percent, ("memory", "compute")[limiter == COMPUTE]\n'},
        fails="correct",
        says="where 0 is right",
    ),
]
