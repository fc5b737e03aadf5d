"""A product that torch makes is counted with its operations, and takes the time that they take."""

from __future__ import annotations

import pytest
import torch

from grader.datasheets import GPUS
from grader.performance.counting.counts import LaunchCounts
from grader.performance.counting.fake_tensors import Hollow
from grader.performance.predict.roofline import Built, seconds

H200 = GPUS["h200"]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_a_product_is_noted_with_its_operations(dtype: torch.dtype) -> None:
    noted: list[tuple[object, ...]] = []
    with Hollow(lambda *operation: noted.append(operation)):
        torch.mm(torch.ones(4, 8, dtype=dtype), torch.ones(8, 16, dtype=dtype))
    size = dtype.itemsize
    assert noted[-1] == ("mm", (4 * 8 + 8 * 16) * size, 4 * 16 * size, 2 * 4 * 8 * 16, size)


def test_in_fp32_it_does_without_matrix_units() -> None:
    narrow, wide = (LaunchCounts("torch.mm", 0, (1, 1, 1), 1, flops=1e12) for _ in range(2))
    wide.single = 1e12
    times = [seconds(product, H200, Built()) for product in (narrow, wide)]
    assert times[1] / times[0] == pytest.approx(H200.tensor / H200.fp32, rel=0.01)
