"""A launch is handed to whoever asked for it; an autotuner's choice follows the seed of the call."""

from __future__ import annotations

import pytest

from tests.kernel.fresh import printed

pytestmark = pytest.mark.every_triton

SETUP = """
from grader.kernel import execution_position
from grader.kernel.launch_hook import GridTooLarge, handed_to

@triton.jit
def visit(out_ptr, turn, BLOCK: tl.constexpr = 1):
    pid = tl.program_id(0) * tl.num_programs(1) + tl.program_id(1)
    for _ in tl.range(turn):
        tl.store(out_ptr + pid + tl.arange(0, BLOCK), 7)

out = torch.zeros(6, dtype=torch.int32)
"""
HANDED = """
def take(launch):
    named = launch.named()
    print(launch.kernel.__name__, list(named), named["turn"], named["BLOCK"], launch.options["num_warps"])
    print(launch.grid(), execution_position.grid())

def grid(meta):
    print(type(meta["turn"]).__name__, meta["BLOCK"], meta["out_ptr"].numel())
    return (2, meta["turn"])

with handed_to(take):
    visit[grid](out, turn=3, num_warps=2)
print(out.tolist())
visit[(2, 3)](out, 1)
print(out.tolist())
try:
    visit[(1, 65536)](out, 1)
except GridTooLarge as error:
    print(error)
"""


def test_a_launch_is_run_by_whom_it_is_handed_to_and_a_grid_is_handed_what_it_is_on_a_gpu() -> None:
    assert printed(SETUP + HANDED).splitlines() == [
        "visit ['out_ptr', 'turn', 'BLOCK'] 3 1 2",
        "int 1 6",
        "(2, 3, 1) (2, 3, 1)",
        "[0, 0, 0, 0, 0, 0]",
        "[7, 7, 7, 7, 7, 7]",
        "the grid is (1, 65536, 1); axes 1 and 2 end at 65535 programs, axis 0 at 2³¹ − 1",
    ]


TUNED = """
@triton.autotune([triton.Config({"BLOCK": 16 << i}) for i in range(4)], key=["n"])
@triton.jit
def tuned(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=offs < n) + BLOCK, mask=offs < n)
    tl.atomic_add(out_ptr + n + tl.program_id(0), 1.0)

def block(n):
    x, out = torch.zeros(n), torch.zeros(n + 99)
    tuned[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, out, n)
    return int(out[0]), int(out[n])  # the config that was kept, and how many configs ran

autotuning.install()
"""
EVERY = """
seen = []
for n in range(1, 31):
    program_order.shuffle(n)
    seen.append(block(n))
print(sorted({kept for kept, _ in seen}), [runs for _, runs in seen][:3])
"""


def test_over_many_calls_every_config_is_kept_and_the_first_tuning_runs_them_all() -> None:
    assert printed(TUNED + EVERY) == "[16, 32, 64, 128] [5, 1, 1]\n"


def test_a_seed_keeps_the_same_config_whatever_was_tuned_before() -> None:
    code = TUNED + "for n in SIZES:\n    program_order.shuffle(7)\n    kept = block(n)[0]\nprint(kept)\n"
    assert printed(code.replace("SIZES", "[5]")) == printed(code.replace("SIZES", "[3, 4, 5]"))


def test_a_config_that_raises_shows_in_the_first_tuning() -> None:
    code = TUNED.replace("16 << i", "12 * i + 16") + "program_order.shuffle(1)\nblock(3)\n"
    assert "power of 2" in printed(code)
