"""Which config an autotuner is taken to choose, and what is said where that is a guess."""

from __future__ import annotations

import pytest

from grader.course import catalog
from tests.conftest import Grade
from tests.kernel.fresh import printed
from tests.performance.counting.test_counts import SETUP
from tools.planted import swapped

KERNEL = """
CONFIGS = [triton.Config({{"BLOCK": b}}, num_warps=w) for b in (4096, 2048, 1024, 512) for w in (4, 8)]

@triton.autotune(CONFIGS, key=[])
@triton.jit
def double(x_ptr, n, BLOCK: tl.constexpr):
    {loop}
        offs = at + tl.arange(0, BLOCK)
        x = tl.zeros((BLOCK,), tl.float32)
        for _ in range(20):
            x = tl.load(x_ptr + offs, mask=offs < n)
        tl.store(x_ptr + offs, 2 * x, mask=offs < n)
        {step}

x = torch.zeros(2**26)
how = {how}
with meter.installed(), tuned(meter, GPUS["h200"], **how):
    double[lambda meta: (64,)](x, x.numel())
launch, = meter.launches
print(launch.config["BLOCK"], launch.config["num_warps"], launch.guessed, launch.cut)
"""
FOR = "for at in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):"
UNKNOWN = "at, more = tl.program_id(0) * BLOCK, True\n    while more:"
ON = "at += tl.num_programs(0) * BLOCK\n        more = at < n"


def chosen(loop: str = FOR, step: str = "", how: str = "{}") -> str:
    return printed(SETUP + KERNEL.format(loop=loop, step=step, how=how)).strip()


@pytest.mark.every_triton
def test_every_config_is_counted_alike_and_the_one_that_is_taken_as_ever() -> None:
    assert chosen() == "4096 4 False False"


def test_where_a_config_was_not_counted_whole_which_one_is_taken_is_a_guess() -> None:
    assert chosen(UNKNOWN, ON).endswith("True True")


def test_a_config_that_spills_is_left_out_and_then_those_whose_threads_hold_as_much() -> None:
    but = '{"but": [CONFIGS[0].all_kwargs()]}'
    assert chosen(how=but) == "4096 8 False False"
    assert chosen(how='{"lighter": {"double": 16.0}}') == "2048 8 False False"


SPILLING = "config(128, 128, 64, num_warps=2, num_stages=3), config(64, 64, 32, num_warps=4, num_stages=3)"


def test_a_spill_of_a_config_is_held_against_nobody_who_has_another(graded: Grade) -> None:
    day = catalog.find("19")
    source = swapped(
        day, {"    if m >= 128 and": "    if False and", "configs=CONFIGS": f"configs=[{SPILLING}]"}
    )
    assert graded("19", source, cases=False).status == "passed"
    alone = source.replace("config(64, 64, 32, num_warps=4", "config(128, 128, 32, num_warps=2")
    verdict = graded("19", alone, cases=False)
    assert verdict.status == "slow"
    assert "with BLOCK_M=128, BLOCK_N=128, BLOCK_K=" in verdict.diagnosis
    assert "num_warps=2, num_stages=3, by prediction its fastest config, spills" in verdict.diagnosis
