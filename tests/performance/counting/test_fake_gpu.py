"""Whatever way a file has torch's functions, they believe in the GPU that is pretended."""

from __future__ import annotations

import pytest

from tests.kernel.fresh import printed

STYLES = """
import sys
from types import ModuleType
from grader.datasheets import GPUS
from grader.performance.counting.fake_gpu import pretended

FILE = '''
import torch
from torch import cuda, empty as alloc, zeros_like
from torch.cuda import current_device, get_device_properties, is_available

def made(x):
    first = [alloc(3, device=x.device), zeros_like(x, device="cuda:0")]
    return [*first, torch.full((3,), 1, device=current_device())]

def said(x):
    sms = get_device_properties(x.device).multi_processor_count
    return is_available(), cuda.is_available(), sms, x.is_cpu, x.get_device()
'''
module = sys.modules["kernel"] = ModuleType("kernel")
exec(FILE, vars(module))
x = torch.ones(3)
with pretended(GPUS["h200"]):
    print([len(one) for one in module.made(x)], all(one.is_cuda for one in module.made(x)))
    print(module.said(x))
print(module.is_available(), module.alloc(3).is_cuda)
"""


@pytest.mark.every_triton
def test_what_a_file_keeps_of_torch_believes_in_the_gpu_as_well() -> None:
    out = printed(STYLES)
    assert out.splitlines() == [
        "[3, 3, 3] True",
        "(True, True, 132, False, 0)",
        "False False",
    ]


def test_what_launchers_ask_torch_for_around_a_launch_is_there() -> None:
    out = printed(
        """
import torch
from grader.datasheets import GPUS
from grader.performance.counting.fake_gpu import pretended

x = torch.ones(3)
with pretended(GPUS["h200"]):
    torch.cuda.set_device(x.device)
    with torch.cuda.device(x.device), torch.cuda.device_of(x), torch.cuda.stream(torch.cuda.current_stream()):
        print(torch.cuda.current_stream(x.device).cuda_stream, torch.cuda.is_bf16_supported())
        print(torch.cuda.is_current_stream_capturing())
    torch.cuda.current_stream().wait_stream(torch.cuda.default_stream())
    torch.cuda.empty_cache()
    print(torch.cuda.mem_get_info()[1] >> 30, torch.cuda.max_memory_allocated(x.device))
print(torch.cuda.is_initialized())
"""
    )
    assert out.splitlines() == ["0 True", "False", "141 0", "False"]
