"""Loads, stores and atomics by pointers, block pointers and descriptors, and what is recorded of them."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from grader.kernel import program_order
from grader.kernel.tensor_regions import OutOfBounds
from tests.kernel.evaluated import evaluate, line, same

pytestmark = pytest.mark.every_triton


@triton.jit
def masked_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=7)
    tl.store(out_ptr + offs, x + tl.num_programs(0), mask=offs < n + 1)


@pytest.mark.parametrize("dtype", [torch.int8, torch.float16, torch.bfloat16, torch.float64])
def test_a_masked_lane_holds_other_and_stores_nothing(dtype):
    x, out = torch.arange(10).to(dtype), torch.zeros(16, dtype=dtype)
    evaluate(masked_kernel, (4,), x, out, 10, BLOCK=4)
    assert same(out, torch.tensor([*range(4, 14), 11, 0, 0, 0, 0, 0]).to(dtype))


@triton.jit
def atomic_kernel(x_ptr, old_ptr, BLOCK: tl.constexpr):
    pid, offs = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(old_ptr + pid, tl.atomic_add(x_ptr, 1))
    tl.store(old_ptr + 4 + pid, tl.atomic_max(x_ptr + 1, pid))
    tl.store(old_ptr + 8 + pid, tl.atomic_cas(x_ptr + 2, 0, pid + 1))
    tl.store(old_ptr + 12 + pid, tl.atomic_xchg(x_ptr + 3, pid))
    tl.atomic_xor(x_ptr + 4, 1 << pid)
    tl.atomic_or(x_ptr + 5, 1 << pid)
    tl.atomic_min(x_ptr + 6, -pid)
    tl.atomic_add(x_ptr + 8 + offs // 2, offs, mask=offs < 3)


def test_atomics_give_what_was_there_before():
    x, old = torch.zeros(12, dtype=torch.int32), torch.empty(16, dtype=torch.int32)
    x[3] = -1
    evaluate(atomic_kernel, (4,), x, old, BLOCK=4)
    assert x.tolist() == [4, 3, 1, 3, 15, 15, -3, 0, 4, 8, 0, 0]
    assert old.tolist() == [0, 1, 2, 3, 0, 0, 1, 2, 0, 1, 1, 1, -1, 0, 1, 2]


@triton.jit
def float_atomic_kernel(x_ptr, old_ptr):
    tl.store(old_ptr + tl.program_id(0), tl.atomic_add(x_ptr, 0.5))


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_programs_that_add_take_turns_in_the_order_that_was_drawn(dtype):
    x, old = torch.zeros(1, dtype=dtype), torch.empty(8, dtype=dtype)
    program_order.shuffle(3)
    try:
        evaluate(float_atomic_kernel, (8,), x, old)
    finally:
        program_order.shuffle(None)
    assert x == 4
    assert old.tolist() != [0.5 * n for n in range(8)]
    assert sorted(old.tolist()) == [0.5 * n for n in range(8)]


@triton.jit
def block_pointer_kernel(x_ptr, out_ptr, m, n, M: tl.constexpr, N: tl.constexpr):
    x = tl.make_block_ptr(x_ptr, (m, n), (n, 1), (0, 0), (M, N), (1, 0))
    out = tl.make_block_ptr(out_ptr, (n, m), (m, 1), (0, 0), (N, M), (1, 0))
    for _ in range(0, n, N):
        block = tl.load(x, boundary_check=(0, 1), padding_option="zero")
        tl.store(out, tl.trans(block), boundary_check=(0, 1))
        x, out = tl.advance(x, (0, N)), tl.advance(out, (N, 0))


@pytest.mark.skipif(triton.__version__ >= "3.9", reason="Triton has none from 3.9 on")
def test_a_block_pointer_stops_at_the_tensors_ends():
    x, out = torch.randn(5, 11), torch.zeros(11, 5)
    evaluate(block_pointer_kernel, (1,), x, out, 5, 11, M=8, N=4)
    assert same(out, x.T.contiguous())


@triton.jit
def descriptor_kernel(x_desc, out_ptr, M: tl.constexpr, N: tl.constexpr):
    out_desc = tl.make_tensor_descriptor(out_ptr, [M + 1, N], [N, 1], [M, N])
    x = x_desc.load([1, 4])
    out_desc.store([1, 0], x + 1)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_a_descriptor_gives_0_beyond_the_tensor_and_stores_nothing_there(dtype):
    x, out = torch.randn(6, 8).to(dtype), torch.zeros(5, 8, dtype=dtype)
    evaluate(descriptor_kernel, (1,), TensorDescriptor.from_tensor(x, [4, 8]), out, M=4, N=8)
    wanted = torch.zeros(5, 8, dtype=dtype)
    wanted[1:] = 1
    wanted[1:, :4] += x[1:5, 4:]
    assert same(out, wanted)


@triton.jit
def past_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    tl.store(out_ptr + offs, x)


def test_a_lane_past_the_end_is_told_with_its_line_its_tensor_and_its_program():
    with pytest.raises(OutOfBounds) as raised:
        evaluate(past_kernel, (3,), torch.zeros(20), torch.zeros(64), BLOCK=8)
    here = line(past_kernel, "tl.load")
    assert f"line {here} loads 1 element past the end of x_ptr" in str(raised.value)


@triton.jit
def race_kernel(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), tl.program_id(0))


@triton.jit
def neighbour_kernel(x_ptr, BLOCK: tl.constexpr):
    pid, offs = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + (pid + 1) % tl.num_programs(0) * BLOCK + offs)
    tl.store(x_ptr + pid * BLOCK + offs, x)


@pytest.mark.parametrize(
    ("kernel", "kind", "text"), [(race_kernel, "store", "tl.store"), (neighbour_kernel, "load", "tl.store")]
)
def test_programs_that_meet_are_a_race(kernel, kind, text):
    bounds = evaluate(kernel, (4,), torch.zeros(32), BLOCK=8)
    (race, *_) = bounds.races.report()
    assert (race.kind, race.line) == (kind, line(kernel, text))


def test_programs_that_store_the_same_do_not_race():
    assert not evaluate(race_kernel, (1,), torch.zeros(8), BLOCK=8).races.report()


@triton.jit
def half_kernel(x_ptr, BLOCK: tl.constexpr):
    offs = 2 * tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, 1.0)


def test_bytes_that_nobody_stored_are_known():
    x = torch.zeros(16)
    bounds = evaluate(half_kernel, (1,), x, BLOCK=8)
    stored = bounds.stored[x.untyped_storage().data_ptr()]
    assert stored.reshape(16, 4).tolist() == [[n % 2 == 0] * 4 for n in range(16)]
