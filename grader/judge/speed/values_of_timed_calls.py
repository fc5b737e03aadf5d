"""Is an output of a timed call right? Held against torch in fp32, with torch as the yardstick."""

from __future__ import annotations

from typing import Any

import torch

from grader.challenge.harness.compare import YARDSTICK_FACTOR, errors, gate

# What is 32 bits wide has only torch in as many bits beside it; what is 16 wide, sizes that no case had.
ROOM = {4: 4.0, 2: 2.0}
NEAR = 0.99  # of the gate: distances from torch's own are shares of its size, which is itself off by p


def near(got: torch.Tensor, plain: torch.Tensor, length: int = 1) -> bool:
    """Whether an output is so near to torch's own that `wrong` finds nothing, whatever is right in more bits.

    It is no further from what is right than from torch's own, g, and that is, p, together: with g within the
    gate that is less than twice the gate, or than twice p. So the call in more bits need not be made.
    """
    if not plain.dtype.is_floating_point:
        return torch.equal(got, plain)
    alike = torch.equal(got.isnan(), plain.isnan())
    return alike and errors(got, plain.double())[0] <= NEAR * gate(plain.dtype, length)


def wrong(got: torch.Tensor, plain: torch.Tensor, wide: torch.Tensor, length: int = 1) -> bool:
    """Whether an output is further off than a case allows, by ROOM times.

    A launcher that keeps its precision for small inputs is found here: sums of 4096 products in fp16 are off
    by 3e-3 and more, one rounding of a right sum by 2e-4.

    Args:
        got: elements of the output.
        plain: the same by torch in that dtype.
        wide: the same by torch in fp32, where the inputs have fewer bits.
        length: of the sum behind each.
    """
    if not plain.dtype.is_floating_point:
        return not torch.equal(got, plain)
    if bool(got.isnan().any() != plain.isnan().any()):
        return True
    exact = wide.double()
    allowed = max(gate(plain.dtype, length), YARDSTICK_FACTOR * errors(plain, exact)[0])
    return errors(got, exact)[0] > ROOM.get(plain.dtype.itemsize, ROOM[4]) * allowed


def distance(got: torch.Tensor, wide: torch.Tensor) -> float:
    """How far off an output is, as a share of its norm."""
    return errors(got, wide.double())[0]


def widened(value: Any) -> Any:
    """A floating tensor of 16 bits in fp32; anything else as it is."""
    narrow = isinstance(value, torch.Tensor) and value.is_floating_point() and value.dtype.itemsize == 2
    return value.float() if narrow else value
