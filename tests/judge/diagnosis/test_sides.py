"""Which side of a tile no mask limits, and whether strides stand by their own offsets."""

from __future__ import annotations

import pytest

from grader.judge.diagnosis.sides import by_name, inner_block, unlimited, wrapped

KERNEL = """@triton.jit
def kernel(a_ptr, m, k, stride_am, stride_ak, BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr):
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_k = tl.arange(0, BLOCK_K)
    mask_m, mask_k = offs_m < m, offs_k < k
    a_ptrs = a_ptr + offs_m[:, None] * {first} + offs_k[None, :] * {second}
    a = tl.load(a_ptrs{mask})
    c = tl.dot(a, a.T)
"""


def kernel(mask: str = "", first: str = "stride_am", second: str = "stride_ak") -> str:
    return KERNEL.format(mask=f", mask={mask}" if mask else "", first=first, second=second)


@pytest.mark.parametrize(
    ("mask", "bare"),
    [
        ("mask_m[:, None]", ["offs_k[None, :]"]),
        ("(offs_k < k)[None, :]", ["offs_m[:, None]"]),
        ("mask_m[:, None] & mask_k[None, :]", []),
        ("", []),
        ("mask_m", []),
    ],
)
def test_the_side_that_a_mask_leaves_open_is_named(mask: str, bare: list[str]) -> None:
    assert unlimited(kernel(mask), 7) == bare


def test_what_wraps_around_needs_no_limit() -> None:
    source = kernel("(offs_k < k)[None, :]").replace(
        "offs_m[:, None] * stride", "(offs_m % m)[:, None] * stride"
    )
    assert unlimited(source, 7) == []
    assert wrapped(source, 7) == "(offs_m % m)[:, None]"
    assert wrapped(kernel("(offs_k < k)[None, :]"), 7) == ""


def test_strides_stand_by_their_offsets_or_do_not_or_names_do_not_tell() -> None:
    assert by_name(kernel(), 7) is True
    assert by_name(kernel(first="stride_ak", second="stride_am"), 7) is False
    assert by_name(kernel(first="k", second="1"), 7) is None


def test_the_inner_side_of_a_product_has_a_name() -> None:
    assert inner_block(kernel("mask_m[:, None]"), 8) == "BLOCK_K"
    assert inner_block(kernel(), 7) == ""
