"""A table of questions; floor division instead of int(), and megabytes a second on the way."""


def read_report(loaded, stored, us, peak, sm, dram, sectors, warps, spilled):
    mb_s = (loaded + stored) / us
    busiest = max(sm, dram)
    asked = {4: spilled > 0, 2: sectors > 16, 1: busiest >= 60 and sm > dram, 0: busiest >= 60, 3: warps < 33}
    limiter = next((number for number, yes in asked.items() if yes), 0)
    return int(mb_s // 1000), int(mb_s / 10 // peak), limiter
