"""Programs that meet in an element are found out though they run one by one; taking turns is no race."""

from __future__ import annotations

import pytest

from tests.made_up_day import Judged

HIDDEN = """
challenge = Challenge(
    entry="column_sums",
    inputs=lambda case, draw: (draw(case.rows, case.cols),),
    reference=lambda x: x.sum(0),
    cases=[Case(rows=4, cols=8), Case(rows=6, cols=5)],
)
"""
KERNEL = """@triton.jit
def sums_kernel(x_ptr, y_ptr, lock_ptr, n_cols, BLOCK: tl.constexpr):
    row, offs = tl.program_id(0), tl.arange(0, BLOCK)
    mask = offs < n_cols
    x = tl.load(x_ptr + row * n_cols + offs, mask=mask)
    ADD


def column_sums(x):
    y = torch.zeros(x.shape[1], device=x.device)
    lock = torch.zeros(1, dtype=torch.int32, device=x.device)
    sums_kernel[(x.shape[0],)](x, y, lock, x.shape[1], BLOCK=8)
    return y
"""
LOAD_ADD_STORE = "tl.store(y_ptr + offs, tl.load(y_ptr + offs, mask=mask) + x, mask=mask)"
ATOMIC = "tl.atomic_add(y_ptr + offs, x, mask=mask)"
LOCKED = f"""while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    {LOAD_ADD_STORE}
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)"""


@pytest.mark.parametrize("add", [ATOMIC, LOCKED], ids=["atomics", "a spin lock"])
def test_programs_that_take_turns_are_no_race(judged: Judged, add: str) -> None:
    verdict = judged(HIDDEN, KERNEL.replace("ADD", add))
    assert verdict.status == "passed", verdict.diagnosis


def test_a_lost_update_is_a_race_though_its_values_are_right_here(judged: Judged) -> None:
    verdict = judged(HIDDEN, KERNEL.replace("ADD", LOAD_ADD_STORE))
    assert verdict.status == "failed"
    assert "A race between programs: line 11 meets what another program" in verdict.diagnosis


def test_what_another_program_is_still_to_store_is_no_memory_that_nobody_wrote(judged: Judged) -> None:
    add = """tl.store(z_ptr + row * n_cols + offs, x, mask=mask)
    if row == 1:
        for other in range(tl.num_programs(0)):
            y += tl.load(z_ptr + other * n_cols + offs, mask=mask)
        tl.store(y_ptr + offs, y, mask=mask)"""
    kernel = KERNEL.replace("ADD", add).replace("lock_ptr, n_cols", "z_ptr, n_cols")
    kernel = kernel.replace("    row, offs", "    y = tl.zeros((BLOCK,), tl.float32)\n    row, offs")
    kernel = kernel.replace("torch.zeros(x.shape[1]", "torch.empty(x.shape[1]")
    verdict = judged(HIDDEN, kernel.replace("torch.zeros(1, dtype=torch.int32", "torch.empty(x.shape"))
    assert "what one stores for others to read, a launch of its own" in verdict.diagnosis
    assert verdict.failed is not None
    assert "never written" not in str(verdict.failed.cause)


def test_two_programs_may_store_the_same_value_but_not_different_ones(judged: Judged) -> None:
    hidden = HIDDEN.replace("x.sum(0)", "x[0]").replace("Case(rows=6, cols=5)", "Case(rows=1, cols=5)")
    same = "tl.store(y_ptr + offs, tl.load(x_ptr + offs, mask=mask), mask=mask)"
    assert judged(hidden, KERNEL.replace("ADD", same)).status == "passed"
    differing = f"""{same}
    if row > 0:
        tl.store(y_ptr + offs, x, mask=mask & (x == 1e9))
    tl.store(lock_ptr, row)"""
    verdict = judged(hidden, KERNEL.replace("ADD", differing))
    assert "A race between programs: line 14 stores another value" in verdict.diagnosis


@pytest.mark.parametrize("first", ["row == 0", "row == 2"], ids=["before all others", "in the middle"])
def test_a_store_meets_atomics_of_other_programs(judged: Judged, first: str) -> None:
    add = f"""if {first}:
        tl.store(y_ptr + offs, 0.0 * x, mask=mask)
    {ATOMIC}"""
    verdict = judged(HIDDEN, KERNEL.replace("ADD", add))
    assert "a store of one program meets an atomic of another of the same launch" in verdict.diagnosis


def test_a_load_beside_atomics_may_be_a_guess(judged: Judged) -> None:
    add = f"""so_far = tl.load(y_ptr + offs, mask=mask, other=0.0)
    {ATOMIC.replace("mask=mask", "mask=mask & (so_far < 1e30)")}"""
    verdict = judged(HIDDEN, KERNEL.replace("ADD", add))
    assert verdict.status == "passed", verdict.diagnosis
