"""Seconds and bytes, as a data sheet has them, and a return for each limiter."""

import math


def limiter(sm_pct, dram_pct, sectors, warps, spills):
    if spills:
        return 4
    if sectors > 16:
        return 2
    if dram_pct < 60 and sm_pct < 60:
        return 3 if warps < 33 else 0
    return int(sm_pct > dram_pct)


def read_report(bytes_read, bytes_written, time_us, dram_peak, sm_pct, dram_pct, sectors, warps, spills):
    rate = (bytes_read + bytes_written) / (time_us * 1e-6)
    share = rate / (dram_peak * 1e9)
    return math.floor(rate * 1e-9), math.floor(share * 100), limiter(sm_pct, dram_pct, sectors, warps, spills)
