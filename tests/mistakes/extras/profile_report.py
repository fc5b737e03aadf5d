"""Extra: how a report is misread, and what the grader must say about it."""

from tools.planted import Mistake

BUSY = """    elif max(sm_pct, dram_pct) >= 60:
        limiter = MEMORY if dram_pct >= sm_pct else COMPUTE
"""
FLOORS = "gb_s, percent = int(rate), int(100 * rate / dram_peak)"
RATE = "rate = (bytes_read + bytes_written) / time_us / 1e3"

# fmt: off
mistakes = [
    Mistake("a GB is 2**30 bytes", {RATE: "rate = (bytes_read + bytes_written) / (time_us * 1e-6) / 1024**3"},
            "2³⁰"),
    Mistake("a fraction for percent", {FLOORS: FLOORS.replace("100 * ", "")}, "fraction"),
    Mistake("rounded to the nearest", {FLOORS: "gb_s, percent = round(rate), round(100 * rate / dram_peak)"},
            "rounded down"),
    Mistake("the percent of a rate that is rounded already",
            {FLOORS: "gb_s = int(rate)\n    percent = int(100 * gb_s / dram_peak)"}, ("percent", "rounded")),
    Mistake("milliseconds for microseconds", {RATE: "rate = (bytes_read + bytes_written) / time_us / 1e6"},
            "gb_s"),
    Mistake("what is written is left out", {RATE: "rate = bytes_read / time_us / 1e3"},
            "What is written is left out"),
    Mistake("low DRAM is taken for compute",
            {BUSY: "    elif dram_pct < 60:\n        limiter = COMPUTE\n" + BUSY}, "taken for compute"),
    Mistake("spills are hidden by bandwidth", {"if spills > 0:": "if spills > 0 and dram_pct < 60:"},
            "spills are traffic"),
    Mistake("sectors are asked for last",
            {"sectors_per_request > 16:": "sectors_per_request > 16 and max(sm_pct, dram_pct) < 60:"},
            "comes before sectors"),
    Mistake("more than four sectors are too many", {"sectors_per_request > 16": "sectors_per_request > 4"},
            "one lane may move"),
    Mistake("L2 hits are taken for too little parallelism", {"elif warps_active_pct < 33:": "elif True:"},
            "wait for L2"),
    Mistake("few warps are taken for memory", {"elif warps_active_pct < 33:": "elif False:"},
            "memory is always blamed"),
    Mistake("memory and compute change places",
            {"MEMORY, COMPUTE, UNCOALESCED": "COMPUTE, MEMORY, UNCOALESCED"}, "limiter"),
    Mistake("the limiter in words",
            {"percent, limiter\n": 'percent, ("memory", "compute")[limiter == COMPUTE]\n'},
            "where 0 is right"),
]
