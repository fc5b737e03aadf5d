"""Which sizes of a block explain how many programs were launched, over all sizes that were tried."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

import torch

from grader.judge.case.compare import Expected
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.evidence import Evidence
from grader.judge.diagnosis.launched import programs

LONG = [1 << power for power in range(25)]  # elements of a block of a vector
SIDES = [1 << power for power in range(13)]  # of a tile
FEW = 3  # launches, of different sizes: fewer agree with some block by chance
Block = tuple[int, ...]  # elements along each axis
Pairs = list[tuple[torch.Tensor, Trial]]  # holes (True where never written), each with its trial
Launched = set[tuple[Block, int]]  # shapes of results, and the programs that were launched


def launched(trial: Trial, evidence: Evidence) -> Launched:
    """Of all trials like this one; none where they are too few to tell anything."""
    found = {one for other in evidence.trials if alike(other, trial) and (one := _launched(other))}
    return found if len(found) >= FEW else set()


def alike(one: Trial, other: Trial) -> bool:
    """Of the same function and dtype, with something to write: blocks may go by the dtype."""
    same = one.challenge.entry == other.challenge.entry and one.case.dtype == other.case.dtype
    return same and one.case.calls == 1 and 0 not in one.case.sizes.values()


def rounds_down(launches: Launched, holes: list[torch.Tensor]) -> bool:
    """Whether a grid that counts whole blocks alone, along an axis or all, gives every launch and hole."""
    written = [(hole.shape, [extent(~hole, axis) for axis in range(hole.dim())]) for hole in holes]
    return any(
        all(math.prod(_counted(shape, block, down)) == count for shape, count in launches)
        and all(
            size == (full // side * side if less else full)
            for shape, sizes in written
            for size, full, side, less in zip(sizes, shape, block, down, strict=True)
        )
        for block in _blocks(launches)
        for down in itertools.product((False, True), repeat=len(block))
        if any(down)
    )


def explained(launches: Launched, by: Callable[[list[int]], int] = math.prod) -> list[Block]:
    """The blocks of which there are as many as programs, every time; as many as `by` makes of the numbers
    along each axis.
    """
    return [
        block
        for block in _blocks(launches)
        if all(by(_counted(shape, block, [False] * len(block))) == count for shape, count in launches)
    ]


def extent(written: torch.Tensor, axis: int) -> int:
    """How many places along an axis have something that was written."""
    others = [d for d in range(written.dim()) if d != axis]
    return int((written.any(dim=others) if others else written).sum())


def _blocks(launches: Launched) -> Iterator[Block]:
    """Of results with as many axes as all of these have; of a batch one matrix at most."""
    axes = {len(shape) for shape, _ in launches}
    if len(axes) != 1 or 0 in axes:
        return iter(())
    (axes_of_one,) = axes
    sides = [LONG] if axes_of_one == 1 else [[1]] * (axes_of_one - 2) + [SIDES] * 2
    return itertools.product(*sides)


def _counted(shape: Block, block: Block, down: Sequence[bool]) -> list[int]:
    sizes = zip(shape, block, down, strict=True)
    return [full // side if less else -(-full // side) for full, side, less in sizes]


def _launched(trial: Trial) -> tuple[Block, int] | None:
    want = next((want for want in trial.expected if isinstance(want, Expected)), None)
    return None if want is None else (tuple(want.exact.shape), programs(trial))
