"""GPUs as data: what a prediction for one of them needs to know. No torch is imported here."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from typing import Any

from grader.errors import TrackError


@dataclass(frozen=True)
class Gpu:
    """One GPU, by its data sheet.

    Attributes:
        capability: 90 for compute capability 9.0; what kernels are compiled for.
        sms: streaming multiprocessors.
        clock: GHz, boosted.
        dram, l2: GB/s.
        l2_size: MB.
        fp32, fp64, tensor: TFLOP/s; `tensor` with 16-bit operands and 32-bit sums, dense.
        shared: bytes of shared memory that one program may have.
        shared_sm: bytes of it that an SM has.
        warps, programs: that an SM holds at most.
        memory: GB.
    """

    name: str
    capability: int
    sms: int
    clock: float
    dram: float
    l2: float
    l2_size: float
    fp32: float
    fp64: float
    tensor: float
    shared: int
    shared_sm: int
    warps: int
    programs: int
    memory: int

    @property
    def major(self) -> int:
        return self.capability // 10

    @property
    def cache(self) -> float:
        """Bytes of L2."""
        return self.l2_size * (1 << 20)

    @property
    def minor(self) -> int:
        return self.capability % 10


# fmt: off
GPUS = {
    "h200": Gpu("H200", 90, 132, 1.83, 4800, 8000, 50, 67, 34, 989, 232448, 233472, 64, 32, 141),
    "h100": Gpu("H100", 90, 132, 1.83, 3350, 8000, 50, 67, 34, 989, 232448, 233472, 64, 32, 80),
    "a100": Gpu("A100", 80, 108, 1.41, 1555, 5200, 40, 19.5, 9.7, 312, 166912, 167936, 64, 32, 40),
    "4090": Gpu("RTX 4090", 89, 128, 2.52, 1008, 5000, 72, 82, 1.3, 165, 101376, 102400, 48, 24, 24),
    "3090": Gpu("RTX 3090", 86, 82, 1.70, 936, 2500, 6, 35, 0.55, 71, 101376, 102400, 48, 16, 24),
    "a10": Gpu("A10", 86, 72, 1.70, 600, 2200, 6, 31, 0.49, 125, 101376, 102400, 48, 16, 24),
    # Of products what Triton reaches there: fp32 arithmetic.
    "t4": Gpu("T4", 75, 40, 1.59, 320, 1300, 4, 8.1, 0.25, 8.1, 65536, 65536, 32, 16, 16),
    "l4": Gpu("L4", 89, 58, 2.04, 300, 1900, 48, 30, 0.47, 121, 101376, 102400, 48, 24, 24),
}
# fmt: on
# Results a clock and SM, by what takes them: the throughput of arithmetic in the CUDA C++ Programming Guide,
# where 8.6 to 9.0 are alike, and 8.0 computes half as many floats. `issue` is whatever a scheduler issues,
# `float` what of it computes in floats; `integer` also compares, selects and packs; `product` is one of
# integers; `special` is exp, log, 1/x, and what converts otherwise; `shared` memory also shuffles.
LANES = {"issue": 128, "float": 128, "integer": 64, "product": 64, "special": 16, "shared": 32}
# Below this compute capability Triton lowers tl.dot to fp32 arithmetic, an eighth of what torch has on a T4.
MATRIX_UNITS = (8, 0)
SCHEDULERS = 4  # of an SM; each issues one warp's instruction a clock
USUAL = "h200"  # what a grading without a GPU predicts for


def sheet(key: str) -> dict[str, Any]:
    """One of these as a message has it; h200:1 is an H200 that has so many SMs."""
    name, _, sms = key.partition(":")
    return asdict(GPUS[name]) | ({"sms": int(sms)} if sms else {})


def present(said: Any) -> Gpu:
    """The GPU that has these properties; rates, which torch does not say, are those of the nearest known.

    Args:
        said: what torch.cuda.get_device_properties returns.
    """
    capability = 10 * said.major + said.minor
    nearest = min(GPUS.values(), key=lambda gpu: abs(gpu.capability - capability))
    return replace(
        nearest,
        name=said.name.removeprefix("NVIDIA "),
        capability=capability,
        sms=said.multi_processor_count,
        l2_size=said.L2_cache_size / (1 << 20),
        shared=said.shared_memory_per_block_optin,
        shared_sm=said.shared_memory_per_multiprocessor,
        warps=said.max_threads_per_multi_processor // 32,
        memory=said.total_memory >> 30,
    )


def key(name: str, again: str = "track inspect") -> str:
    """What `name` is called here: `RTX 4090` and `rtx4090` are `4090`.

    Args:
        again: the command that named it, without it.

    Raises:
        TrackError: it is not known here.
    """
    short = re.sub(r"nvidia|geforce|rtx|[\s_-]", "", name.lower())
    if short not in GPUS:
        raise TrackError(f'No GPU "{name}" is known here, only {", ".join(GPUS)}.', f"{again} --gpu {USUAL}")
    return short
