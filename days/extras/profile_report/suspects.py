"""How a report is read, and readings that a learner may have tried instead."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

Reading = tuple[int, int, int]


def read(
    bytes_read: int,
    bytes_written: int,
    time_us: float,
    dram_peak: float,
    sm_pct: float,
    dram_pct: float,
    sectors: float,
    warps: float,
    spills: int,
    *,
    giga: float = 1e9,
    whole: int = 100,
    down: Callable[[float], int] = int,
    order: str = "spills sectors busy",
    least: float = 33.0,
    most: float = 16.0,
) -> Reading:
    """As the lesson says; by keyword what another reading has else.

    Args:
        giga: bytes of a GB.
        whole: what a share of 1 is.
        order: in which the questions are asked.
        least: percent of warps, below which there are too few.
        most: sectors of a coalesced access.
    """
    rate = (bytes_read + bytes_written) / (time_us * 1e-6 * giga)
    answers = {
        "spills": 4 if spills > 0 else None,
        "quiet": 4 if spills > 0 and dram_pct < 60 else None,
        "sectors": 2 if sectors > most else None,
        "busy": (0 if dram_pct >= sm_pct else 1) if max(dram_pct, sm_pct) >= 60 else None,
        "low": 1 if dram_pct < 60 else None,
    }
    told = [answers[word] for word in order.split() if answers[word] is not None]
    return down(rate), down(whole * rate / dram_peak), told[0] if told else 3 if warps < least else 0


SUSPECTS = {
    "A GB is taken for 2³⁰ bytes: data sheets and profilers count 10⁹.": partial(read, giga=2**30),
    "The share of the peak comes as a fraction, rounded down to 0: it is asked for in percent.": partial(
        read, whole=1
    ),
    "The numbers are rounded to the nearest: they are to be rounded down.": partial(read, down=round),
    "Bandwidth is looked at before spills, and spills are traffic that makes memory look busy.": partial(
        read, order="quiet sectors busy"
    ),
    "How busy memory is comes before sectors, and what is read in vain makes it look busy.": (
        partial(read, order="spills busy sectors")
    ),
    "DRAM that is not busy is taken for compute: ask how busy the SMs are.": partial(
        read, order="spills sectors low busy"
    ),
    "Where neither memory nor SMs are busy, few warps are always blamed: many warps wait for L2.": partial(
        read, least=101.0
    ),
    "Where neither memory nor SMs are busy, memory is always blamed: a few warps are too few.": (
        partial(read, least=0.0)
    ),
    "Wide loads that are coalesced are called uncoalesced: one lane may move sixteen bytes.": partial(
        read, most=4.0
    ),
    "What is written is left out of the bytes.": lambda read_, written, *rest: read(read_, 0, *rest),
}
