"""What the elements that were never written have in common."""

from __future__ import annotations

import torch

from grader.judge.diagnosis.tiles import _rows


def test_rows_and_columns_are_those_of_a_matrix() -> None:
    hole = torch.zeros(4, 6, dtype=torch.bool)
    hole[2:] = True
    told = _rows(hole, 2)
    assert told is not None
    assert told[0].startswith("Rows from 2 on were never written")
    assert _rows(hole.expand(3, 4, 6), 2) is None
