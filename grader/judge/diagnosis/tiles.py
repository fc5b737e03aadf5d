"""Results of two or three dimensions that were written in part: which box of them, and what that says."""

from __future__ import annotations

import math

import torch

from grader.judge.case.compare import Expected
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.blocks import Launched, Pairs, extent, rounds_down
from grader.judge.diagnosis.evidence import Diagnosis, Speech
from grader.judge.diagnosis.fit import close, out_dtype
from grader.judge.diagnosis.launched import programs

Owner = tuple[Trial, int]  # a trial, and the programs it launched


def tiles(
    first: Owner, largest: Owner, pairs: Pairs, launches: Launched, looped: bool
) -> Diagnosis | Speech | None:
    """What the holes say.

    Args:
        first, largest: the first failed trial and the one with the largest hole, with the programs that they
            launched, 0 where that tells nothing: several kernels may have stored what is wrong.
        pairs: all holes.
        launches: of all trials like the first.
        looped: a kernel stores in a loop.
    """
    hole = _hole(largest[0], pairs)
    matrices = ((_matrices(_hole(other, pairs), count), other) for other, count in (first, largest))
    of_one = next(((*told, other) for told, other in matrices if told), None)
    if hole.dim() == 3 and of_one:
        return of_one
    apart = next(((*told, other) for _, other in pairs if (told := _stored_apart(other))), None)
    told = _boxes([hole for hole, _ in pairs], largest[1], launches, looped)
    if apart or told or hole.dim() != 2:
        return apart or told
    owners = [first, largest]
    if looped:  # a case of which nothing was written tells no rows or columns
        owners += [(other, largest[1] and programs(other)) for _, other in pairs]
        owners.sort(key=lambda owner: bool(_hole(owner[0], pairs).all()))
    rows = ((_rows(_hole(other, pairs), count, looped), other) for other, count in owners)
    return next(((*told, other) for told, other in rows if told), None)


def _hole(owner: Trial, pairs: Pairs) -> torch.Tensor:
    return next(hole for hole, other in pairs if other is owner)


def _matrices(hole: torch.Tensor, programs: int) -> Diagnosis | None:
    if not programs or len(hole) < 2 or bool(hole[0].any()) or not bool(hole[1:].all()):
        return None
    if programs >= len(hole):
        return (
            "Only matrix 0 of the batch was written: every program stores to the same matrix.",
            "the batch stride of the store",
        )
    return "Only the first matrix of the batch was written: the grid has no axis for the batch.", "the grid"


def _stored_apart(trial: Trial) -> Diagnosis | None:
    """The rows of the result lie another distance apart than they are long."""
    assert trial.answer is not None
    want = next(want.exact for want in trial.expected if isinstance(want, Expected))
    if want.dim() != 2 or min(want.shape) < 2:
        return None
    flat = trial.answer.outputs[0].double().reshape(-1)
    n_rows, n_cols = want.shape
    for label, step in {**trial.case.sizes, "": 1}.items():
        if not isinstance(step, int) or step < 1 or step == n_cols:
            continue
        there = torch.arange(n_rows)[:, None] * step + torch.arange(n_cols)
        inside = there < len(flat)
        if step < n_cols:
            inside[:-1, step:] = False  # the next row overwrites the end of this one
        if int(inside.sum()) > n_cols and close(flat[there[inside]], want[inside], out_dtype(trial)):
            told = f"{label} = {step} elements" if label else "1 element"
            return (
                f"Rows of the result are stored {told} apart; they are {n_cols} apart.",
                "the strides of the store",
            )
    return None


def _boxes(holes: list[torch.Tensor], programs: int, launches: Launched, looped: bool) -> Diagnosis | None:
    """What was written is a box in the corner: all whole tiles, or one tile."""
    cuts: dict[int, list[tuple[int, int]]] = {}  # by axis: how far it was written, of how much
    for hole in holes:
        box = _box(~hole)
        if box is None:
            return None
        for axis, (size, full) in enumerate(zip(box, hole.shape, strict=True)):
            if size < full:
                cuts.setdefault(axis, []).append((size, full))
    if looped and (along := _one_early(holes)):
        return (
            f"The last block of {along} was never written, a whole one, too: does the loop end one block "
            "early, or the grid?",
            "where the loop over blocks ends, and the grid",
        )
    if all(_whole_tiles(along) for along in cuts.values()):
        return _last_tiles(rounds_down(launches, holes), looped)
    if programs and len(cuts) > 1 and all(len({size for size, _ in along}) == 1 for along in cuts.values()):
        if programs == 1:
            return (
                "All but the first tile was never written: the grid has one program, for one tile.",
                "the grid",
            )
        return (
            f"Only the first tile was written, by {programs} programs: all take the same tile, or tiles "
            "beside the result.",
            "tl.program_id in the offsets, and the axes of the grid",
        )
    return None


def _last_tiles(by_grid: bool, looped: bool) -> Diagnosis:
    start = "The last, partial tiles were never written"
    if by_grid:
        return f"{start}: the grid leaves them out. Round up.", "triton.cdiv in the grid"
    return (
        f"{start}: too few programs, {'a loop that ends too early ' * looped}or a mask leaves them out.",
        f"the grid{', the masks and the loops' if looped else ' and the masks'}",
    )


def _box(written: torch.Tensor) -> list[int] | None:
    """Sides of the box in the corner that was written; None when that is no box."""
    box = [extent(written, axis) for axis in range(written.dim())]
    whole = bool(written[tuple(slice(size) for size in box)].all())
    return box if whole and int(written.sum()) == math.prod(box) else None


def _whole_tiles(along: list[tuple[int, int]]) -> bool:
    """Along one axis only less than a tile is missing, every time."""
    tile = math.gcd(*(size for size, _ in along))
    return all(size == 0 or full - size < tile for size, full in along) and any(
        tile == 0 or size % 2 == 0 for size, _ in along
    )


def _one_early(holes: list[torch.Tensor]) -> str:
    """Along what, rows or columns, one tile is missing every time, a whole one at times; empty where none
    is.
    """
    boxes = [(box, hole.shape) for hole in holes if (box := _box(~hole))]
    for axis, name in enumerate(("rows", "columns") if holes[0].dim() == 2 else ()):
        along = [(box[axis], shape[axis]) for box, shape in boxes]
        across = all(not any(box) or box[1 - axis] == shape[1 - axis] for box, shape in boxes)
        tile = math.gcd(*(size for size, _ in along))
        left = {full - size for size, full in along}
        if across and max(left) == tile and min(left) > 0:
            return name
    return ""


def _rows(hole: torch.Tensor, programs: int, looped: bool) -> Diagnosis | None:
    """Whole rows or whole columns of a matrix left out."""
    if hole.dim() != 2:
        return None
    rows, columns = hole.all(dim=1), hole.all(dim=0)
    first = int(rows.nonzero()[0]) if bool(rows.any()) else 0
    if bool((rows[:, None] == hole).all()) and bool(rows.any()) and bool(rows[first:].all()):
        if first == 1 and programs >= len(rows):
            return (
                "Only row 0 was written: every program stores to the same row.",
                "tl.program_id in the store's offsets",
            )
        ran = {0: "no program stores there", 1: "the one program stores none of them"}
        turned = f" There are {first} columns: is their limit held against rows?" * (first == len(columns))
        return (
            f"Rows from {first} on were never written: "
            f"{ran.get(programs, f'none of {programs} programs stores there')}.{turned}",
            f"{'the limits of the store, ' * bool(turned)}the grid{', where the loop ends' * looped}, and "
            "which rows a program takes",
        )
    first = int(columns.nonzero()[0]) if bool(columns.any()) else 0
    if bool((columns[None, :] == hole).all()) and bool(columns.any()) and bool(columns[first:].all()):
        return _columns(first, len(rows), looped)
    return None


def _columns(first: int, n_rows: int, looped: bool) -> Diagnosis:
    start = f"Columns from {first} on were never written"
    if first == n_rows:
        return f"{start}, and there are {n_rows} rows: is a mask of columns held against rows?", "the masks"
    if looped:
        return (
            f"{start}: no program's loop comes there, or a mask leaves them out.",
            "where the loop over blocks ends, the grid, and the masks",
        )
    if first & (first - 1):
        return f"{start}: no program takes them, or a mask leaves them out.", "the grid and the masks"
    return (
        f"{start}: the block is narrower than the row, and no program takes the rest.",
        "block size and grid",
    )
