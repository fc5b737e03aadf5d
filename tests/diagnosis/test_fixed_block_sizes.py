"""Whose choice the sizes of blocks are."""

from __future__ import annotations

import pytest

from grader.diagnosis.fixed_block_sizes import fixed

KERNEL = """@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)


def config(n):
    return 256


def entry(x, size):
    n = len(x)
    block = {block}
    kernel[(4,)](x, n, BLOCK=block, num_warps=32)
"""


@pytest.mark.parametrize("block", ["1024", "min(triton.next_power_of_2(n), 1024)", "config(n)"])
def test_a_number_of_the_learners_is_a_choice(block: str) -> None:
    source = KERNEL.format(block=block)
    assert fixed(source, frozenset()) == frozenset()
    assert fixed(source, frozenset(range(1, 20))) == {"kernel"}  # the same lines, handed out


@pytest.mark.parametrize("block", ["size", "triton.next_power_of_2(n)", "max(triton.next_power_of_2(n), 16)"])
def test_what_the_inputs_say_is_none(block: str) -> None:
    assert fixed(KERNEL.format(block=block), frozenset()) == {"kernel"}


def test_a_length_in_the_kernel_and_a_config_are_choices() -> None:
    source = KERNEL.format(block="size")
    assert fixed(source.replace("arange(0, BLOCK)", "arange(0, 512)"), frozenset()) == frozenset()
    tuned = f"@triton.autotune([triton.Config({{'BLOCK': 128}})], key=[])\n{source}"
    assert fixed(tuned, frozenset()) == frozenset()
