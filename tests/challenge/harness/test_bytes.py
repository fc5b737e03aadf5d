"""Images of bytes: every byte is legal, and what was never written or wraps is found all the same."""

from __future__ import annotations

import pytest

from tests.made_up_day import Judged, fails

HIDDEN = """
challenge = Challenge(
    entry="mean_of_channels",
    inputs=lambda case, draw: (draw(case.h, case.w, 3, values="bytes") | case.get("white", 0),),
    reference=lambda image: image.to(torch.int64).sum(dim=-1).add(1).div(3, rounding_mode="floor"),
    returns=torch.uint8,
    cases=[
        Case(h=7, w=33, dtype=torch.uint8),
        Case(h=1, w=300, dtype=torch.uint8),
        Case(h=6, w=20, dtype=torch.uint8, layout="offset"),
        Case(h=4, w=65, dtype=torch.uint8, white=255),
    ],
)
"""
KERNEL = """@triton.jit
def mean_kernel(image_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    total = tl.zeros((BLOCK,), tl.int32)
    for channel in range(3):
        total += tl.load(image_ptr + 3 * offs + channel, mask=mask, other=0).to(tl.int32)
    tl.store(out_ptr + offs, ((total + 1) // 3).to(tl.uint8), mask=mask)


def mean_of_channels(image):
    out = torch.empty(image.shape[:2], dtype=torch.uint8, device=image.device)
    mean_kernel[(triton.cdiv(out.numel(), 64),)](image, out, out.numel(), BLOCK=64)
    return out
"""


def test_bytes_are_compared_exactly(judged: Judged) -> None:
    verdict = judged(HIDDEN, KERNEL)
    assert verdict.status == "passed", verdict.diagnosis


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("triton.cdiv(out.numel(), 64)", "out.numel() // 64", "never written"),
        ("(total + 1)", "total", ""),
        ("tl.zeros((BLOCK,), tl.int32)", "tl.zeros((BLOCK,), tl.uint8)", ""),
        (", mask=mask, other=0)", ")", "past the end"),
    ],
)
def test_a_wrong_one_fails(judged: Judged, old: str, new: str, says: str) -> None:
    fails(judged, HIDDEN, KERNEL, (old, new), says)


@pytest.mark.parametrize("value", [250, 127])  # what memory that nobody wrote holds
def test_what_nobody_wrote_is_told_though_some_of_it_is_right_by_luck(judged: Judged, value: int) -> None:
    hidden = HIDDEN.replace("(draw(", "(torch.full_like(draw(").replace('"bytes") |', f'"bytes"), {value}) |')
    verdict = judged(hidden, KERNEL.replace("    tl.store(", "    # tl.store("))
    assert verdict.diagnosis.startswith("The result was never written")
