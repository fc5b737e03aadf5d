"""A driver for a GPU that is not there: enough for Triton to compile for it, and for launchers that ask."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch
from triton.backends.compiler import GPUTarget

from grader.datasheets import Gpu

GFX942 = 94  # what torch calls the capability of an MI300; NVIDIA has none of that number


class Driver:
    """What Triton asks of a driver outside of launches.

    Args:
        device: where tensors lie for whoever asks Triton.
    """

    def __init__(self, gpu: Gpu, device: torch.device | None = None) -> None:
        self.gpu = gpu
        self.device = device or torch.device("cuda", 0)
        facts = {
            "max_shared_mem": gpu.shared,
            "multiprocessor_count": gpu.sms,
            "max_num_regs": 65536,
            "warpSize": 32,
            "mem_bus_width": 5120,
            "sm_clock_rate": int(gpu.clock * 1e6),
            "mem_clock_rate": 2_600_000,
        }
        self.utils = SimpleNamespace(get_device_properties=lambda device=0: facts)

    def get_current_target(self) -> GPUTarget:
        if self.gpu.capability == GFX942:
            return GPUTarget("hip", "gfx942", 64)
        return GPUTarget("cuda", self.gpu.capability, 32)

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int | None = None) -> int:
        return 0

    def get_active_torch_device(self) -> torch.device:
        return self.device

    def get_device_interface(self) -> Any:
        return torch.cuda

    def get_device_capability(self, device: int = 0) -> tuple[int, int]:
        return self.gpu.major, self.gpu.minor

    def get_benchmarker(self) -> Any:
        return lambda function, quantiles=None: [1.0, 1.0, 1.0]
