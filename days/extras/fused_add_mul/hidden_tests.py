"""Extra: (x + y) * z for tensors of any strides, at 0.80 of a plain copy."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.challenge import Case, Challenge, Claim, Memory, Own, Speed, between
from grader.challenge.formulas.draw_one_input import shape_of, tensor
from grader.challenge.formulas.dtypes import BRAIN, HALF

LAST_FIRST = Own("last_first")  # dimensions lie in memory the other way round
CHANNELS = Own("channels")  # the second dimension lies side by side, as images often have it


def inputs(case: Case, draw) -> tuple[Tensor, Tensor, Tensor]:
    """x, y and z of the sides a to d that the case has; `y_layout` and the like make one unlike the others.

    Where LAST_FIRST, dimensions lie in memory the other way round. Where CHANNELS, the second one lies side
    by side. Where `overflows`, the sums leave fp16, and the products are back in it.
    """
    x, y, z = (_drawn(case, draw, which) for which in "xyz")
    return (x * 5, y * 5, z / 16) if "overflows" in case else (x, y, z)


def _drawn(case: Case, draw, which: str) -> Tensor:
    shape, layout = shape_of(case, "a", "b", "c", "d"), case.get(f"{which}_layout", case.layout)
    if layout not in (LAST_FIRST, CHANNELS):
        return tensor(case, draw, which, *shape)
    order = [*range(len(shape))][::-1] if layout == LAST_FIRST else [0, *range(2, len(shape)), 1]
    values = case.get(f"{which}_values")
    lying = draw(*(shape[i] for i in order), layout="contiguous", values=values)
    return lying.permute([order.index(i) for i in range(len(shape))])


def reference(x: Tensor, y: Tensor, z: Tensor) -> Tensor:
    """(x + y) * z in fp32 or better, rounded once."""
    wide = torch.promote_types(x.dtype, torch.float32)
    return ((x.to(wide) + y.to(wide)) * z.to(wide)).to(x.dtype)


def plain(x: Tensor, y: Tensor, z: Tensor) -> Tensor:
    """As someone with torch writes it: two kernels, unless torch.compile makes one of them."""
    return (x + y) * z


big = Case(a=2**27, gpu=True)

# Fixed before anything was measured: 16 bits as well, a size whose sum stays in L2, and transposed tensors.
CLAIMED = [
    big,
    Case(a=2**27, dtype=HALF, gpu=True),
    Case(a=2**24, gpu=True),
    Case(a=2**20, gpu=True),
    Case(a=8192, b=8192, gpu=True),
    Case(a=8192, b=8192, layout="transposed", gpu=True),
]
SAYS = "One fused kernel is 1.5 times as fast as an addition and a multiplication by torch"

SUSPECTS = {
    "It computes x · z + y: the sum comes first.": lambda x, y, z: x * z + y,
    "It computes x + y · z: the sum comes first.": lambda x, y, z: x + y * z,
    "It computes x · y + z: x and y are added, and z multiplies the sum.": lambda x, y, z: x * y + z,
    "It computes (x + z) · y: x and y are added, and z multiplies the sum.": lambda x, y, z: (x + z) * y,
    "It computes (y + z) · x: x and y are added, and z multiplies the sum.": lambda x, y, z: (y + z) * x,
    "z is not used: it computes x + y.": lambda x, y, z: x + y,
}

challenge = Challenge(
    entry="fused_add_mul",
    inputs=inputs,
    reference=reference,
    suspects=SUSPECTS,
    cases=[
        Case(a=8),
        Case(),
        Case(a=1),
        Case(a=0),
        Case(a=3, b=0, c=2),
        Case(a=127),
        Case(a=1023),
        Case(a=1024),
        Case(a=1025),
        Case(a=between(4097, 5000)),
        Case(a=7, b=13),
        Case(a=2, b=3, c=5),
        Case(a=2, b=3, c=4, d=5),
        Case(a=500, dtype=HALF),
        Case(a=500, dtype=BRAIN),
        Case(a=2, b=3, c=35, dtype=BRAIN),
        Case(a=331, layout="offset"),
        Case(a=101, layout="strided"),
        Case(a=101, layout="strided", x_layout="contiguous", z_layout="contiguous"),
        Case(a=1025, layout="strided", x_layout="contiguous", y_layout="contiguous", dtype=HALF),
        Case(a=9, b=20, layout="sliced"),
        Case(a=9, b=20, layout="transposed"),
        Case(a=9, b=20, layout="sliced", x_layout="transposed", y_layout="contiguous"),
        Case(a=9, b=20, layout="expanded", x_layout="contiguous", z_layout="contiguous"),
        Case(a=9, b=20, layout="broadcast", x_layout="contiguous", z_layout="expanded"),
        Case(a=9, b=20, layout="scalar", x_layout="contiguous", y_layout="transposed", dtype=HALF),
        Case(a=2, b=1025, layout="transposed", dtype=BRAIN),
        Case(a=3, b=4, c=5, layout=LAST_FIRST),
        Case(a=2, b=3, c=4, d=5, layout=LAST_FIRST),
        Case(a=2, b=3, c=4, d=5, layout=LAST_FIRST, y_layout="contiguous", z_layout="sliced"),
        Case(a=2, b=5, c=3, d=4, layout=CHANNELS, y_layout="contiguous", z_layout="broadcast"),
        Case(a=2, b=5, c=3, d=4, layout="sliced", y_layout=CHANNELS, dtype=HALF),
        Case(a=200, values="integers", exact=True),
        Case(a=200, values="large"),
        Case(a=200, values="spike", dtype=HALF),
        Case(a=200, values="heavy", dtype=BRAIN),
        Case(a=200, values="large", z_values="normal", overflows=True, dtype=HALF),
        Case(a=200, values="signed_zeros"),
        Case(a=200, values="inf", z_values="nan"),
        Case(a=7, b=30, layout="sliced", calls=2),
        Case(a=3 * 2**30 + 77, dtype=HALF, huge=True),
        Case(a=3 * 2**29 + 77, dtype=HALF, layout="strided", huge=True),
        Case(a=70_001, b=70_001, dtype=HALF, layout="padded", huge=True),
    ],
    speed=Speed(big, moved=lambda x, y, z: 4 * x.nbytes, of_copy=0.80, torch=plain, sweep=("a",)),
    memory=Memory(big),
    claims=[Claim(SAYS, CLAIMED, of_torch=1.5, backend=b) for b in ("eager", "compile")],
)
