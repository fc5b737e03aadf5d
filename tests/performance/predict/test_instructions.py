"""Instructions: counted in PTX, loop by loop, and what they take."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from grader import datasheets
from grader.course import catalog
from grader.grading.inspection_request import ask
from grader.grading.warm_client import Warm
from grader.performance.compiler.instructions import Stretch, of, stretches
from grader.performance.counting.counts import Extent, LaunchCounts, Site
from grader.performance.predict.roofline import IDLE, Built, issued, roofs

H200 = datasheets.GPUS["h200"]
PTX = """
.visible .entry k(
	.param .u64 k_param_0
)
.reqntid 128
{
	.reg .b32 	%r<9>;
	.loc	1 7 0                          // kernel.py:7:0
$L__func_begin0:
	ld.param.b64 	%rd1, [k_param_0];
	.loc	1 9 21                         // kernel.py:9:21
	mov.u32 	%r1, %tid.x;
$L__BB0_1:                              // =>This Loop Header: Depth=1
	.loc	2 291 36                       // standard.py:291:36 @[ kernel.py:12:15 ]
	max.f32 	%r2, %r2, %r1;
$L__BB0_2:                              //   Parent Loop BB0_1 Depth=1
	.loc	1 11 18                        // kernel.py:11:18
	// begin inline asm
	mov.u32 %r3, 0x0;
	@%p1 ld.global.v4.b32 { %r3, %r4, %r5, %r6 }, [ %rd1 + 0 ];
	// end inline asm
	and.b32 	%r7, %r3, 8;
	setp.eq.b32 	%p2, %r7, 0;
	add.f32 	%r2, %r2, %r3;
	@%p3 bra 	$L__BB0_2;
	.loc	1 10 24                        // kernel.py:10:24
	add.s32 	%r1, %r1, 1;
	@%p4 bra 	$L__BB0_1;
	.loc	1 13 9                         // kernel.py:13:9
	div.full.f32 	%r3, %r3, %r2;
	div.full.f32 	%r4, %r4, %r2;
	ret;
                                        // -- End function
}
"""
LOOPS = """
import torch
import triton
import triton.language as tl


@triton.jit
def twice(x, ROUNDS: tl.constexpr):
    for _ in range(ROUNDS):
        x = tl.exp(x) * 0.5
    return x


@triton.jit
def softmax_kernel(x_ptr, y_ptr, n_cols, stride_xm, rows, BLOCK_N: tl.constexpr):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0)):
        for start in tl.range(0, n_cols, BLOCK_N, loop_unroll_factor=2):
            offs_n = start + tl.arange(0, BLOCK_N)
            x = tl.load(x_ptr + row * stride_xm + offs_n, offs_n < n_cols).to(tl.float32)
            x = twice(x, n_cols // 1024)
            tl.store(y_ptr + row * n_cols + offs_n, x, offs_n < n_cols)


def softmax(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    softmax_kernel[(1024,)](x, y, x.shape[1], x.stride(0), len(x), BLOCK_N=1024, num_warps=8)
    return y
"""


def launch(**about: object) -> LaunchCounts:
    return replace(LaunchCounts("k", 7, (1320, 1, 1), 1320), **about)


def test_ptx_is_told_by_loops_with_the_lines_that_they_were_made_from() -> None:
    kernel, outer, inner = stretches(PTX)
    assert [(one.outer, one.lines) for one in (outer, inner)] == [(0, [10, 11, 12]), (1, [11])]
    assert kernel.units == {"issue": 10, "integer": 2, "special": 1, "float": 12}  # the second 1/x is known
    assert outer.units == {"issue": 2, "integer": 1, "float": 2}
    assert inner.units == {"issue": 2.6, "shared": 4, "integer": 0.6, "float": 1}  # `and` says if it is 0


def test_without_lines_a_loop_is_one_still() -> None:
    bare = "\n".join(line for line in PTX.splitlines() if ".loc" not in line)
    odd = PTX.replace("kernel.py:7:0", "somewhere")
    assert [one.lines for one in stretches(bare)] == [[], [], []]
    assert [one.units for one in stretches(bare)] == [one.units for one in stretches(PTX)]
    assert len(stretches(odd)) == 3
    assert [one.length for one in stretches("")] == [0]


@pytest.mark.parametrize(
    ("name", "units"),
    [
        ("fma.rn.f64", {"issue": 1, "float": 1, "double": 1}),
        ("fma.rn.f32", {"issue": 1, "float": 1}),
        ("setp.lt.s32", {"issue": 1, "integer": 1}),
        ("max.f32", {"issue": 1, "integer": 1, "float": 2}),
        ("mad.lo.s32", {"issue": 1, "product": 1}),
        ("mul.hi.u32", {"issue": 1, "product": 2}),
        ("ex2.approx.ftz.f32", {"issue": 1, "special": 1, "float": 1}),
        ("cvt.rn.f16.s16", {"issue": 1, "special": 1, "float": 1}),
        ("cvt.rn.f32.s32", {"issue": 1, "integer": 1, "float": 2}),
        ("cvt.rn.bf16x2.f32", {"issue": 1, "integer": 1, "float": 2}),
        ("shfl.sync.bfly.b32", {"issue": 1, "shared": 1}),
        ("ld.shared.v4.b32", {"issue": 1, "shared": 4}),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", {"issue": 1}),
        ("cvt.u64.u32", {}),
        ("mov.b32", {}),
    ],
)
def test_an_instruction_keeps_the_unit_busy_that_does_it(name: str, units: dict[str, float]) -> None:
    assert of(name) == units


def test_a_loop_is_run_through_as_often_as_it_was_counted() -> None:
    code = [
        Stretch(0, [7, 9, 10, 11], 100, {"issue": 5}),
        Stretch(0, [9, 10, 11], 60, {"issue": 3}),  # `for` in line 9, and another one inside of it in line 10
        Stretch(1, [10, 11], 40, {"issue": 2}),
        Stretch(0, [20, 21], 10, {"special": 1}),  # a `while`, which is not counted, around line 21
    ]
    counted = launch(trips={9: 2640.0, 10: 26400.0}, sites=[Site("load", 21, "x", 4, calls=5000.0)])
    assert issued(counted, code) == {"issue": 5 * 1320 + 3 * 2640 + 2 * 26400, "special": 5000}
    assert issued(counted, []) == {}


def test_two_loops_of_one_for_share_its_steps() -> None:
    code = [Stretch(0, [7, 9], 30), Stretch(0, [9], 10, {"issue": 1}), Stretch(0, [9], 10, {"issue": 1})]
    assert issued(launch(trips={9: 100.0}), code) == {"issue": 100}


def test_the_busiest_unit_sets_the_pace_and_few_warps_do_not_fill_it() -> None:
    units = {"issue": 1e6, "integer": 6e5, "special": 1e5, "shared": 1e5}
    built = Built(resident=8, warps=8, code=[Stretch(0, [7], 9, units)])
    found = roofs(launch(), H200, built)
    clocks = 10 * 8 * 32 * max(1e6 / 128, 6e5 / 64, 1e5 / 16, 1e5 / 32)  # of 10 programs an SM
    assert found["instructions"] == pytest.approx(clocks / 1.83e9 * (1 + IDLE / 16))
    alone = roofs(launch(), H200, replace(built, resident=1))
    assert alone["instructions"] == pytest.approx(clocks / 1.83e9 * (1 + IDLE / 2))
    uneven = roofs(launch(programs=1321), H200, built)  # one SM has 11
    assert uneven["instructions"] > 1.09 * found["instructions"]


def test_millions_of_programs_take_their_time_to_start() -> None:
    """Measured on an H200: 2.53 ms, for blocks of 32 and of 64 elements, of seven kernels."""
    assert roofs(launch(programs=4194304), H200, Built())["starts"] == pytest.approx(2.53e-3, rel=0.02)


def test_atomics_of_all_lanes_to_one_address_queue() -> None:
    """2²⁷ of them, one a clock; where no two lanes share an address nobody waits for another."""
    counts = launch(programs=2**15)
    counts.tensors = {"out_ptr": Extent(4)}
    for useful, clocks in ((4 * 2**15, 2**27), (4 * 2**27, 0)):
        counts.sites = [Site("atomic", 9, "out_ptr", 4, asked=4 * 2**27, useful=useful)]
        assert roofs(counts, H200, Built())["atomics"] == pytest.approx(clocks / (H200.clock * 1e9))


def test_loops_of_a_compiled_kernel_are_found_again(warm: Warm, tmp_path: Path) -> None:
    """16384 × 8192 elements, each exp() 8 times; the loop over columns is unrolled twice."""
    path = tmp_path / "kernel.py"
    path.write_text(LOOPS, encoding="utf-8")
    part = ask(catalog.find("13"), path, "inspect", warm=warm, gpu="h200", code="")[0]
    seen = part["launches"][0]
    line = {text: number for number, text in enumerate(LOOPS.splitlines(), 1)}
    rows, columns, rounds = (
        next(number for text, number in line.items() if head in text)
        for head in ("for row", "for start", "for _")
    )
    trips = {int(number): count for number, count in seen["trips"].items()}
    assert trips == pytest.approx({rows: 16384, columns: 16384 * 4, rounds: 16384 * 8 * 8})
    code = [Stretch(**stretch) for stretch in seen["compiled"]["facts"]["code"]]
    counted = launch(programs=seen["programs"], trips=trips)
    exps = issued(counted, code)["special"] * 32 * 8  # the first warps', of eight
    assert exps == pytest.approx(16384 * 8192 * 8, rel=0.01)
