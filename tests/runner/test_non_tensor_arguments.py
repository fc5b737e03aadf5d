"""What the learner's function takes that is no tensor is made of the tensors that the judge knows."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from grader.runner.non_tensor_arguments import AllReduce, DLPackExporter, TakingTensors
from grader.runner_answers import Parameter


def test_a_list_is_made_of_its_tensors_and_the_rest_stays() -> None:
    given: list[Any] = []
    function = TakingTensors(lambda *arguments: given.extend(arguments), [(1, "list", 2)])
    x, p, q = torch.ones(1), torch.zeros(2), torch.zeros(3)
    function(x, p, q, 7)
    assert given[0] is x
    assert given[1] == [p, q]
    assert given[2] == 7


def test_each_tensor_has_a_name_and_the_function_one_parameter() -> None:
    function = TakingTensors(lambda *_: None, [(1, "list", 2), (3, "all_reduce", 2)])
    own = [Parameter(name, True) for name in ("x", "params", "reduce")]
    names = [one.name for one in function.parameters(own) or []]
    assert names == ["x", "params[0]", "params[1]", "what reduce adds", "the record of reduce's calls"]
    assert function.parameters(None) is None


def test_a_dlpack_exporter_hands_over_its_memory_alone() -> None:
    x = torch.arange(6.0).view(2, 3).T
    exporter = DLPackExporter(x)
    got = torch.from_dlpack(exporter)
    assert got.data_ptr() == x.data_ptr()
    assert got.stride() == x.stride()
    assert not hasattr(exporter, "shape")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (torch.ones(2, 3, dtype=torch.float16), "float16 [2, 3]"),
        (torch.ones(3, 2), "float32 [3, 2]"),
        (torch.ones(3, 2).T, "float32 [2, 3], not contiguous"),
    ],
)
def test_ranks_have_to_hold_tensors_that_are_alike(given: torch.Tensor, told: str) -> None:
    reduce = AllReduce(torch.zeros(2, 3), torch.zeros(2, 3))
    with pytest.raises(ValueError, match="all ranks hold") as failed:
        reduce(given)
    assert f"calls reduce with {told}:" in str(failed.value)
