"""What the elements that were never written have in common."""

from __future__ import annotations

import torch

from grader.judge.diagnosis.tiles import _one_early, _rows


def test_rows_and_columns_are_those_of_a_matrix() -> None:
    hole = torch.zeros(4, 6, dtype=torch.bool)
    hole[2:] = True
    told = _rows(hole, 2, False)
    assert told is not None
    assert told[0].startswith("Rows from 2 on were never written")
    assert _rows(hole.expand(3, 4, 6), 2, False) is None


def left(*columns: tuple[int, int]) -> list[torch.Tensor]:
    """Holes in matrices of three rows: how many columns were written, of how many."""
    return [torch.arange(full).expand(3, full) >= written for written, full in columns]


def test_one_block_less_each_time_is_told_from_partial_ones() -> None:
    assert _one_early(left((0, 1), (128, 256), (128, 129), (384, 512))) == "columns"
    assert _one_early([hole.T for hole in left((0, 8), (16, 32))]) == "rows"
    assert not _one_early(left((0, 1), (128, 129), (256, 300)))
    assert not _one_early(left((0, 1), (128, 256), (128, 513)))


def test_columns_that_no_loop_reached_are_not_laid_to_the_grid_alone() -> None:
    (hole,) = left((128, 256))
    told = _rows(hole, 2, True)
    assert told is not None
    assert "no program's loop comes there" in told[0]
