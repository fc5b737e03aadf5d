"""Extra: a @ b with a tile for any GPU, from four facts about it; at 0.35 of torch's speed on this one.

The facts are those of data sheets. An MI300's capability is 94, as torch has it, and its `sms` are compute
units. On a GPU, shared memory and capability are at most its own, so that every case runs there.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from grader.challenge import Case, Challenge, Memory, Speed, between
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.challenge.formulas.matmul import flops, moved, swinging
from grader.datasheets import GPUS, present

H200 = GPUS["h200"]
FACTS = GPUS | {
    "orin": replace(H200, name="Orin", capability=87, sms=16, shared=166912),
    "b200": replace(H200, name="B200", capability=100, sms=148, shared=232448),
    "5090": replace(GPUS["4090"], name="RTX 5090", capability=120, sms=170),
    "mi300": replace(H200, name="MI300X", capability=94, sms=304, shared=65536),
    "gb10": replace(GPUS["4090"], name="GB10", capability=121, sms=48),
}


def inputs(case: Case, draw) -> tuple[Tensor, Tensor, int, int, int, int]:
    """a, b and the facts of the GPU that the case is for; of `here`, this GPU's, or an H200's without one.

    With `swing`, every sum first runs far out and then most of the way back. With `overflows`, sums leave
    fp16 on the way and come back.
    """
    there = present(torch.cuda.get_device_properties(draw.device)) if draw.device != "cpu" else None
    gpu = there or H200 if case.on == "here" else FACTS[case.on]
    if there:
        smaller = min(gpu.shared, there.shared), min(gpu.capability, there.capability)
        gpu = replace(gpu, shared=smaller[0], capability=smaller[1])
    return *swinging(case, draw), gpu.sms, gpu.shared, 64 if case.on == "mi300" else 32, gpu.capability


big = Case(m=4096, k=4096, n=4096, on="here", dtype=HALF, gpu=True)

CASES = [
    Case(m=16, k=16, n=16, on="h100"),
    Case(m=1, k=1, n=1, on="t4"),
    Case(m=0, k=8, n=8, on="a100"),
    Case(m=8, k=0, n=9, on="4090"),
    Case(m=5, k=17, n=7, on="mi300"),
    Case(m=2, k=3, n=4, on="h100", dtype=HALF),
    Case(m=9, k=31, n=20, on="t4", dtype=HALF),
    Case(m=9, k=32, n=20, on="a100", dtype=HALF),
    Case(m=9, k=63, n=20, on="4090", dtype=BRAIN),
    Case(m=9, k=64, n=20, on="h100", dtype=BRAIN),
    Case(m=9, k=65, n=20, on="mi300", dtype=HALF),
    Case(m=65, k=100, n=63, on="b200"),
    Case(m=65, k=100, n=63, on="b200", dtype=HALF),
    Case(m=150, k=129, n=40, on="5090", dtype=HALF),
    Case(m=between(33, 47), k=between(194, 222), n=between(145, 159), on="t4"),
    Case(m=between(97, 111), k=between(66, 79), n=between(145, 159), on="4090", dtype=HALF),
    Case(m=7, k=2003, n=11, on="a100"),
    Case(m=1, k=500, n=60, on="h100", dtype=BRAIN),
    # Enough for large tiles on few SMs: the largest, and those that little shared memory leaves.
    Case(m=500, k=70, n=1000, on="orin", dtype=HALF),
    Case(m=700, k=70, n=1100, on="gb10", dtype=HALF),
    Case(m=520, k=40, n=520, on="orin"),
    Case(m=16, k=2048, n=15, on="h100", swing=True, dtype=HALF),
    Case(m=5, k=512, n=7, on="a100", values="negative", overflows=True, dtype=HALF),
    Case(m=70, k=140, n=90, on="h100", layout="transposed"),
    Case(m=70, k=140, n=90, on="mi300", layout="columns", dtype=HALF),
    Case(m=72, k=144, n=96, on="4090", layout="padded", dtype=HALF),
    Case(m=70, k=140, n=90, on="t4", layout="transposed", b_layout="contiguous"),
    Case(m=50, k=141, n=60, on="a100", layout="sliced", dtype=HALF),
    Case(m=50, k=141, n=60, on="5090", layout="strided", dtype=BRAIN),
    Case(m=50, k=141, n=60, on="h100", layout="offset", dtype=HALF),
    Case(m=30, k=120, n=40, on="4090", layout="expanded"),
    Case(m=70, k=300, n=90, on="t4", values="integers", exact=True),
    Case(m=70, k=40, n=90, on="h100", values="integers", dtype=HALF, exact=True),
    Case(m=30, k=200, n=40, on="a100", values="large", dtype=BRAIN),
    Case(m=30, k=200, n=40, on="4090", values="heavy"),
    Case(m=30, k=150, n=40, on="h100", values="nan", a_values="zeros"),
    Case(m=50, k=150, n=50, on="mi300", calls=2),
    Case(m=85_001, k=67, n=32_771, on="h100", dtype=HALF, huge=True),
]

TARGETS = {
    Case(m=4096, k=64, n=4096, on=name, dtype=dtype): FACTS[name]
    for dtype, names in (
        (HALF, ("t4", "a100", "3090", "4090", "h100", "b200", "5090", "mi300")),
        (torch.float32, ("t4", "h100", "mi300")),
    )
    for name in names
}

challenge = Challenge(
    entry="matmul",
    inputs=inputs,
    reference=lambda a, b, *_: a @ b,
    reduces=lambda case: case.k,
    shown=Case(m=65, k=100, n=63, on="b200", dtype=HALF),
    cases=CASES,
    targets=TARGETS,
    speed=Speed(big, moved=lambda a, b, *_: moved(a, b), flops=lambda a, b, *_: flops(a, b), of_torch=0.35),
    memory=Memory(big),
)
