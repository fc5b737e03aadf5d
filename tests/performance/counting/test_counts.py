"""What is counted of a launch, each in a fresh process whose kernels are evaluated."""

from __future__ import annotations

import random

import numpy as np
import pytest

from grader.kernel import execution_position
from grader.performance.counting import sampled_launch
from grader.performance.counting.l2_reuse import different
from grader.performance.counting.sectors import pattern
from tests.kernel.fresh import printed

SETUP = """
from grader.kernel.tensor_regions import OutOfBounds
from grader.performance.counting.access_counter import Counter
from grader.performance.counting.sampled_launch import Meter
from grader.performance.counting.loop_sampling import Loops
from grader.datasheets import GPUS
from grader.performance.counting.fake_tensors import Hollow
from grader.performance.counting.fake_gpu import pretended
from grader.performance.predict.autotuner_choice import tuned
launch_hook.install()
meter = Meter(Counter(__file__), {})
"""


def lanes(*strides: int, shape: tuple[int, ...], base: int = 0) -> np.ndarray:
    """Addresses of a block whose dimension d steps by strides[d] bytes."""
    steps = (
        np.arange(n).reshape([-1 if i == d else 1 for i in range(len(shape))]) for d, n in enumerate(shape)
    )
    return sum((s * step for s, step in zip(strides, steps, strict=True)), np.zeros(shape, int)).astype(
        np.uint64
    ) + np.uint64(base)


@pytest.mark.parametrize(
    ("addresses", "size", "sectors", "useful", "step"),
    [
        (lanes(4, shape=(1024,)), 4, 128, 1024, 4),
        (lanes(4, shape=(1024,), base=4), 4, 136, 1024, 4),  # a warp's 512 bytes begin within a sector
        (lanes(8192, shape=(1024,)), 4, 1024, 1024, 8192),
        (lanes(4096, 4, shape=(64, 64)), 4, 512, 4096, 4),
        (lanes(4, 4096, shape=(64, 64)), 4, 512, 4096, 4),  # the layout follows the addresses
        (lanes(0, 4, shape=(64, 32)), 4, 4, 32, 4),  # a row that all rows share
        (lanes(0, shape=(1,)), 4, 1, 1, 0),
        (lanes(2, shape=(256,)), 2, 16, 256, 2),
    ],
)
def test_sectors_are_those_that_the_warps_touch(
    addresses: np.ndarray, size: int, sectors: int, useful: int, step: int
) -> None:
    found = pattern(addresses, np.ones(addresses.shape, bool), size)
    assert (found.sectors, found.useful, found.step) == (sectors, useful, step)


def test_masked_lanes_touch_no_sector() -> None:
    addresses = lanes(4, shape=(256,))
    found = pattern(addresses, np.arange(256) < 20, 4)
    assert (found.sectors, found.useful) == (3, 20)
    assert pattern(addresses, np.zeros(256, bool), 4).sectors == 0


@pytest.mark.parametrize(("count", "wanted"), [(1, 4), (3, 4), (4, 4), (5, 4), (100_000, 10)])
def test_the_sampled_programs_stand_for_all(count: int, wanted: int) -> None:
    chosen = sorted(sampled_launch.programs(count, wanted))
    assert chosen[0] == 0
    assert chosen[-1] == count - 1
    assert len(set(chosen)) == len(chosen) <= wanted
    assert sum(sampled_launch.weights(chosen, count)) == pytest.approx(count)
    assert {count - 1 - number for number in chosen} == set(chosen)
    assert [execution_position.place(i, (3, 2, 2)) for i in (0, 2, 3, 11)] == [
        (0, 0, 0),
        (2, 0, 0),
        (0, 1, 0),
        (2, 1, 1),
    ]


WALK = """
@triton.jit
def walk(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    acc = tl.zeros((BLOCK,), tl.float32)
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        offs = start + tl.arange(0, BLOCK)
        acc += tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    tl.store(y_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), acc)

"""


def test_a_long_loop_is_counted_to_its_end_though_few_steps_run() -> None:
    out = printed(
        SETUP
        + WALK
        + """
x, y = torch.zeros(2**24 - 5), torch.zeros(2 * 1024)
with meter.installed():
    walk[(2,)](x, y, x.numel(), BLOCK=1024)
launch, = meter.launches
load, store = launch.sites
print(launch.programs, launch.cut, round(launch.mean_rounds))
print(round(load.calls), round(load.asked), round(load.efficiency, 3), round(load.masked))
print(round(launch.tensors['x_ptr'].read), launch.tensors['y_ptr'].stored)
"""
    )
    assert out.splitlines() == [
        "2 False 8192",
        f"{2**14} {4 * (2**24 - 5)} 1.0 5",
        f"{4 * (2**24 - 5)} 8192.0",
    ]


@pytest.mark.parametrize("tiles", [1, 8, 17, 60, 132])
def test_a_sample_of_a_wave_tells_how_many_of_its_tiles_are_different(tiles: int) -> None:
    drawn = random.Random(1)
    seen = [len({number % tiles for number in drawn.sample(range(132), 40)}) for _ in range(20)]
    assert sum(different(n, 132, 40 / 132) for n in seen) / 20 == pytest.approx(tiles, rel=0.1)


def test_what_a_program_comes_back_to_is_noted_with_what_it_touched_in_between() -> None:
    out = printed(
        SETUP
        + """
@triton.jit
def twice(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    x_ptr += tl.program_id(0) * n
    acc = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        acc += tl.load(x_ptr + start + tl.arange(0, BLOCK))
    for start in range(0, n, BLOCK):
        acc += tl.load(x_ptr + start + tl.arange(0, BLOCK))
    tl.store(y_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), acc)

x, y = torch.zeros(8, 2**16), torch.zeros(8, 1024)
with meter.installed():
    twice[(8,)](x, y, 2**16, BLOCK=1024)
x = meter.launches[0].tensors['x_ptr']
print(round(x.loaded), round(x.again), round(x.apart))
"""
    )
    assert out == f"{2 * 8 * 2**18} {8 * 2**18} {2**18 - 4096}\n"


ORDERED = """
@triton.jit
def product(a_ptr, b_ptr, c_ptr, m, n, k, GROUP: tl.constexpr):
    i, j = tl.swizzle2d(tl.program_id(0) // n, tl.program_id(0) % n, m, n, GROUP)
    offs = tl.arange(0, 64)
    acc = tl.zeros((64, 64), tl.float32)
    for start in range(0, k, 64):
        a = tl.load(a_ptr + (i * 64 + offs)[:, None] * k + (start + offs)[None, :])
        b = tl.load(b_ptr + (start + offs)[:, None] * (n * 64) + (j * 64 + offs)[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + (i * 64 + offs)[:, None] * (n * 64) + (j * 64 + offs)[None, :], acc.to(tl.float16))

a, b, c = (torch.empty(*shape, dtype=torch.float16) for shape in ((2048, 4096), (4096, 65536), (2048, 65536)))
meter.gpu = GPUS["h200"]
with meter.installed():
    for group in (1, 16):
        product[(32 * 1024,)](a, b, c, 32, 1024, 4096, GROUP=group)
for launch in meter.launches:
    print(round(launch.tensors["b_ptr"].fetched / 1e9, 1), launch.dots == 32 * 1024 * 64)
"""


@pytest.mark.every_triton
def test_the_order_of_tiles_decides_what_comes_from_dram() -> None:
    rows, groups = printed(SETUP + ORDERED).splitlines()
    assert rows == "17.2 True"  # all of b for each of 32 rows of tiles
    assert 1.0 <= float(groups.split()[0]) <= 1.4


def test_a_program_that_never_ends_is_cut_and_one_that_strays_is_told() -> None:
    out = printed(
        SETUP
        + """
@triton.jit
def spin(x_ptr):
    while tl.atomic_add(x_ptr, 0) == 0:
        pass

@triton.jit
def stray(x_ptr, n):
    tl.store(x_ptr + n + tl.arange(0, 4), 1.0)

with meter.installed():
    spin[(4,)](torch.zeros(4, dtype=torch.int32))
    print(meter.launches[0].cut)
    try:
        stray[(1,)](torch.zeros(4), 4)
    except OutOfBounds as error:
        print(error)
"""
    )
    assert out.splitlines()[0] == "True"
    assert "1 element past the end of x_ptr" in out


@pytest.mark.every_triton
def test_a_launcher_believes_in_the_gpu_and_takes_no_memory() -> None:
    out = printed(
        SETUP
        + """
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.zeros_like(x)
    @staticmethod
    def backward(ctx, dy):
        print(dy.is_cuda, torch.empty(3, device=dy.device).shape)
        return torch.empty(dy.shape, device="cuda")

noted = []
with meter.installed(), pretended(GPUS["h200"]), Hollow(lambda *op: noted.append(op)):
    x = torch.empty(2**30, device="cuda")
    print(x.is_cuda, x.device, x.to("cuda").cuda() is x, (x * 2).shape == x.shape)
    sms = torch.cuda.get_device_properties(x.device).multi_processor_count
    print(sms, torch.cuda.get_device_capability())
    print(triton.runtime.driver.active.get_current_target().arch)
    small = torch.ones(4, requires_grad=True)
    torch.autograd.grad(Twice.apply(small), small, torch.ones(4))
print(noted[0], torch.empty(1).is_cuda, torch.cuda.is_available())
"""
    )
    assert out.splitlines() == [
        "True cuda:0 True True",
        "132 (9, 0)",
        "90",
        "True torch.Size([3])",
        f"('mul', {2**32}, {2**32}) False False",
    ]


@pytest.mark.every_triton
def test_an_autotuner_chooses_what_is_predicted_to_be_fastest() -> None:
    out = printed(
        SETUP
        + """
@triton.autotune([triton.Config({"BLOCK": b}, num_warps=w) for b, w in ((32, 1), (1024, 4), (64, 1))], key=[])
@triton.jit
def double(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, 2 * tl.load(x_ptr + offs, mask=offs < n), mask=offs < n)

x = torch.zeros(2**22)
with meter.installed(), tuned(meter, GPUS["h200"]):
    double[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, x.numel())
launch, = meter.launches
print(launch.grid, launch.recipe["options"]["num_warps"], launch.recipe["arguments"]["x_ptr"])
"""
    )
    assert out == "(4096, 1, 1) 4 {'is': 'tensor', 'dtype': 'float32', 'aligned': True}\n"


FOURTHS = """
@triton.jit
def fourths(x, y, APART: tl.constexpr, BLOCK: tl.constexpr):
    lane = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for k in tl.static_range(4):
        acc += tl.load(x + APART * lane + k)
    tl.store(y + lane, acc)

x, y = torch.zeros(2**18), torch.zeros(4096)
with meter.installed():
    fourths[(4,)](x, y, 4, BLOCK=1024)
    fourths[(4,)](x, y, 64, BLOCK=1024)
print([round(launch.sites[0].efficiency, 3) for launch in meter.launches])
"""


def test_sectors_that_a_program_still_holds_are_moved_once() -> None:
    """Rows of 64 elements are too many sectors to be held until all of each is taken."""
    assert printed(SETUP + FOURTHS) == "[1.0, 0.125]\n"


LED = """
@triton.jit
def number(where_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(where_ptr + at, at, mask=at < n)

@triton.jit
def follow(where_ptr, y_ptr, n, past, BLOCK: tl.constexpr):
    at = (tl.num_programs(0) - 1 - tl.program_id(0)) * 2 % tl.num_programs(0) * BLOCK + tl.arange(0, BLOCK)
    to = tl.load(where_ptr + at, mask=at < n, other=0)
    tl.store(y_ptr + to + past, 1.0, mask=at < n)

def run(first, past=0):
    n = 64 * first
    where, y = torch.full((n,), 1 << 20, dtype=torch.int32), torch.empty(n)
    try:
        with meter.installed():
            number[(first,)](where, n, BLOCK=64)
            follow[(first,)](where, y, n, past, BLOCK=64)
    except OutOfBounds as error:
        print(error)
    else:
        print([round(launch.programs) for launch in meter.launches])
    meter.launches.clear()

"""


def test_who_follows_integers_that_a_sampled_launch_left_out_is_not_out_of_bounds() -> None:
    out = printed(SETUP + LED + "run(101)\nrun(4)\nrun(4, past=1 << 21)\n")
    led, whole, past = out.splitlines()
    assert (led, whole) == ("[101, 101]", "[4, 4]")
    assert "past the end of" in past, "where all programs ran, the kernel strays itself"
