"""From what a few programs did to what the launch does."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from grader.kernel.tensor_regions import Region
from grader.performance.compiler.recipe import defined
from grader.performance.counting.access_counter import Tally
from grader.performance.counting.counts import Extent, LaunchCounts, Site
from grader.performance.counting.data_dependent import DataFlow


def launch_of(
    fn: Any,
    grid: tuple[int, ...],
    flow: DataFlow,
    regions: Sequence[Region],
    tallies: Sequence[Tally],
    weights: Sequence[float],
) -> LaunchCounts:
    """The launch whose sampled programs did `tallies`, each standing for `weights` programs."""
    queued = flow.queued()
    if queued:  # together they emptied it, or would have
        weights = [1.0] * len(tallies)
    parts = [*zip(tallies, weights, strict=True)]
    launch = LaunchCounts(fn.__name__, defined(fn), grid, grid[0] * grid[1] * grid[2], len(tallies))
    for name in ("dots", "flops", "narrow"):
        setattr(launch, name, sum(weight * getattr(tally, name) for tally, weight in parts))
    launch.mean_rounds = sum(weight * tally.rounds for tally, weight in parts) / launch.programs
    launch.dot_line = next((tally.dot_line for tally in tallies if tally.dot_line), 0)
    for tally, weight in parts:
        for line, count in tally.loops.trips.items():
            launch.trips[line] = launch.trips.get(line, 0.0) + weight * count
    launch.sites = _sites(parts, launch.programs)
    launch.tensors = {region.name: _extent(region, launch.sites, parts) for region in regions}
    unknown = flow.data_dependent(unstored=any(tally.unstored for tally in tallies))
    launch.cut = unknown or any(tally.cut for tally in tallies)
    flops = [tally.flops for tally in tallies]
    launch.heaviest, launch.heaviest_flops = max(tally.asked for tally in tallies), max(flops)
    launch.scatter = _scatter(flops)
    tiles = [tally.flops_a_tile for tally in tallies]
    mean = sum(map(operator.mul, weights, tiles)) / sum(weights)
    launch.uneven = max(tiles) / mean if mean else 1.0
    if queued:  # by all programs: what these took
        launch.heaviest = sum(tally.asked for tally in tallies) / launch.programs
        launch.heaviest_flops, launch.scatter = launch.flops / launch.programs, 1.0
    return launch


def _sites(parts: Sequence[tuple[Tally, float]], programs: int) -> list[Site]:
    sites: dict[tuple[str, int, str, int], Site] = {}
    for tally, weight in parts:
        for key, site in tally.sites.items():
            whole = sites.setdefault(key, Site(*key))
            whole.add(site, weight)
            whole.most = max(whole.most, programs * site.asked)
    return sorted(sites.values(), key=lambda site: (site.line, site.kind))


def _scatter(products: Sequence[float]) -> float:
    """Largest over mean of what two programs do, of which one mirrors the other."""
    pairs = [one + other for one, other in zip(products, reversed(products), strict=True)]
    return max(pairs) * len(pairs) / sum(pairs) if sum(pairs) else 1.0


def _extent(region: Region, sites: Sequence[Site], parts: Sequence[tuple[Tally, float]]) -> Extent:
    """What the lines that touch this tensor make of it: each byte at most once, but whole sectors."""
    mine = [site for site in sites if site.tensor == region.name]
    extent = Extent(region.stop - region.start, region.own, low=region.low)
    for site in mine:
        once = min(max(site.useful, site.moved), extent.bytes)
        if site.kind != "store":
            extent.read = min(extent.read + once, extent.bytes)
        if site.kind != "load":
            extent.written = min(extent.written + once, extent.bytes)
    stores = sorted((site for site in mine if site.kind == "store"), key=lambda site: -site.useful)
    extent.stored = sum(site.useful for site in stores)
    extent.loaded = sum(site.useful for site in mine if site.kind == "load")
    extent.line = next((site.line for site in [*stores, *mine]), 0)
    returns = [(weight, *tally.again.get(region.name, (0.0, 0.0))) for tally, weight in parts]
    extent.again = sum(weight * count for weight, count, _ in returns)
    extent.apart = sum(weight * apart for weight, _, apart in returns) / max(extent.again, 1.0)
    return extent
