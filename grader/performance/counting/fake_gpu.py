"""A stage on which a launcher believes that it runs on a GPU: real sizes, no data, no GPU.

Solutions choose their tiles by `x.is_cuda` and by what torch.cuda says of the device. Here tensors say that
they lie on a GPU; fake_tensors.py sees to it that they need no memory.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any
from unittest import mock

import torch
from triton.runtime import driver

from grader.datasheets import GPUS, USUAL, Gpu
from grader.performance.compiler.fake_driver import Driver

DEVICE, META = torch.device("cuda", 0), torch.device("meta")
# What Triton says of its device where kernels are evaluated. A file that keeps it, as Triton's tutorials do
# when they are imported, has the GPU's on stage.
TRITONS = torch.device("cpu")
FACTORIES = (
    "empty", "empty_like", "empty_strided", "zeros", "zeros_like", "ones", "ones_like", "full", "full_like",
    "tensor", "as_tensor", "asarray", "scalar_tensor", "arange", "linspace", "eye",
    "rand", "rand_like", "randn", "randn_like", "randint", "randint_like", "randperm",
)  # fmt: skip
METHODS = ("to", "new_empty", "new_zeros", "new_ones", "new_full", "new_tensor", "new_empty_strided")


def _on_cpu(function: Callable[..., Any]) -> Callable[..., Any]:
    """Whoever asks for memory on a GPU gets it on the CPU."""

    @functools.wraps(function)
    def asked(*args: Any, **kwargs: Any) -> Any:
        device = kwargs.get("device")
        if _is_gpu(device) or type(device) is int:  # torch.cuda.current_device() says one
            kwargs["device"] = "cpu"
        return function(*("cpu" if _is_gpu(arg) else arg for arg in args), **kwargs)

    return asked


def _is_gpu(value: Any) -> bool:
    return str(value).startswith("cuda") if isinstance(value, str | torch.device) else False


class Stream:
    """Of the GPU's streams the one that is asked for: all is done on it, in order."""

    cuda_stream = stream_id = 0
    device = DEVICE

    def query(self) -> bool:
        return True

    def synchronize(self, *_: Any) -> None:
        """There is nothing to wait for."""

    wait_stream = wait_event = record_event = synchronize


def _answers(gpu: Gpu) -> dict[str, Any]:
    """What torch.cuda says where this GPU is."""
    properties = SimpleNamespace(
        name=f"NVIDIA {gpu.name}",
        major=gpu.major,
        minor=gpu.minor,
        multi_processor_count=gpu.sms,
        total_memory=gpu.memory << 30,
        shared_memory_per_block=48 << 10,
        shared_memory_per_block_optin=gpu.shared,
        shared_memory_per_multiprocessor=gpu.shared_sm,
        regs_per_multiprocessor=65536,
        max_threads_per_multi_processor=32 * gpu.warps,
        warp_size=32,
        L2_cache_size=int(gpu.cache),
    )
    does_nothing = ("init", "set_device", "synchronize", "empty_cache", "reset_peak_memory_stats")
    enters_nothing = ("device", "device_of", "stream")
    its_stream = ("current_stream", "default_stream")
    holds_nothing = ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved")
    return {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "is_current_stream_capturing": lambda: False,
        "is_bf16_supported": lambda including_emulation=True: gpu.major >= 8,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "get_device_properties": lambda device=None: properties,
        "get_device_capability": lambda device=None: (gpu.major, gpu.minor),
        "get_device_name": lambda device=None: properties.name,
        "mem_get_info": lambda device=None: (properties.total_memory, properties.total_memory),
        **dict.fromkeys(does_nothing, lambda *_, **__: None),
        **dict.fromkeys(enters_nothing, lambda *_, **__: contextlib.nullcontext()),
        **dict.fromkeys(its_stream, lambda device=None: Stream()),
        **dict.fromkeys(holds_nothing, lambda device=None: 0),
    }


@contextlib.contextmanager
def pretended(gpu: Gpu) -> Iterator[None]:
    """While the block runs, torch and Triton speak of this GPU."""
    tensor: Any = torch.Tensor
    swaps: list[tuple[Any, str, Any]] = [(torch.cuda, name, answer) for name, answer in _answers(gpu).items()]
    swaps += [(torch, name, _on_cpu(getattr(torch, name))) for name in FACTORIES]
    # A file may have them by `from torch import empty`.
    theirs = {id(getattr(owner, name)): answer for owner, name, answer in swaps} | {id(TRITONS): DEVICE}
    swaps += [(f, name, theirs[id(at)]) for f in _files() for name, at in vars(f).items() if id(at) in theirs]
    swaps += [(tensor, name, _on_cpu(getattr(tensor, name))) for name in METHODS]
    swaps += [(tensor, name, lambda self, *_, **__: self) for name in ("cuda", "pin_memory")]
    # Torch works out shapes on tensors of the device `meta`, which have to stay there.
    swaps += [(tensor, "is_cuda", property(lambda self: not self.is_meta))]
    swaps += [(tensor, "is_cpu", property(lambda self: False))]
    swaps += [(tensor, "get_device", lambda self: -1 if self.is_meta else DEVICE.index)]
    swaps += [(tensor, "device", property(lambda self: META if self.is_meta else DEVICE))]
    driver.set_active(Driver(gpu))  # launchers ask Triton, too; there is no other to return to
    with contextlib.ExitStack() as stack:
        for owner, name, answer in swaps:
            stack.enter_context(mock.patch.object(owner, name, answer))
        yield


def without_gpu() -> None:
    """Files that ask Triton for its device find the CPU, and the SMs of the GPU that is predicted for."""
    driver.set_active(Driver(GPUS[USUAL], TRITONS))


def _files() -> list[Any]:
    """The learner's modules, as loading.py calls them."""
    return [module for name, module in sys.modules.items() if name == "kernel" or name.startswith("mine.")]


@contextlib.contextmanager
def on_stage(sheet: dict[str, Any] | None) -> Iterator[None]:
    """`pretended` of the GPU with this data sheet, if there is one."""
    with pretended(Gpu(**sheet)) if sheet else contextlib.nullcontext():
        yield
