"""Which lines of a launcher compute on tensors."""

from __future__ import annotations

import ast

from grader.judge.diagnosis.eager import computes, signs

LAUNCHER = """
def backward(ctx, dy: torch.Tensor):
    sms = torch.cuda.get_device_properties(dy.device).multi_processor_count
    programs = sms * 4
    low = -torch.finfo(dy.dtype).max
    kernel[(programs,)](dy, dy.stride(0) * 2, low)
    return 2 * dy
"""


def test_what_torch_knows_of_a_device_or_a_dtype_is_no_tensor() -> None:
    tree = ast.parse(LAUNCHER)
    assert signs(tree, "mul") == {7}
    assert signs(tree, "neg") == set()
    assert computes(tree) == {7}
