"""Repairs of the interpreter, the shuffled grid and the watched addresses, each in a process of its own."""

from __future__ import annotations

import pytest

from tests.interpreter.fresh import interpreted


@pytest.mark.every_triton
def test_the_canaries_are_silent_without_the_repairs_and_sing_with_them() -> None:
    out = interpreted("print(canaries.failures())\nrepairs.install()\nprint(canaries.failures())")
    before, after = out.splitlines()
    assert {"bf16 arithmetic", "fp32 to bf16 rounding", "bf16 tl.dot", "libdevice", "autotune"} <= set(
        eval(before)
    )
    assert after == "[]"


def test_rounding_to_bf16_is_torchs_for_every_kind_of_number() -> None:
    out = interpreted("""
bits = torch.arange(-2**31, 2**31, 65537 * 3, dtype=torch.int64).to(torch.int32)
x = bits.view(torch.float32)
mine = torch.from_numpy(bf16.narrow(x.numpy()).view('int16')).view(torch.bfloat16)
want = x.bfloat16()
print(bool(((mine == want) | (mine.isnan() & want.isnan())).all()), len(x))
""")
    assert out == "True 21846\n"


DOTS = """
@triton.jit
def multiply(a_ptr, b_ptr, out_ptr, BLOCK: tl.constexpr, PRECISION: tl.constexpr, OUT: tl.constexpr):
    offs = tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    out = tl.dot(tl.load(a_ptr + offs), tl.load(b_ptr + offs), input_precision=PRECISION, out_dtype=OUT)
    tl.store(out_ptr + offs, out)

def error(dtype, precision="tf32", accumulator=tl.float32):
    torch.manual_seed(0)
    a, b, out = torch.rand(64, 64).to(dtype), torch.rand(64, 64).to(dtype), torch.empty(64, 64)
    multiply[(1,)](a, b, out, BLOCK=64, PRECISION=precision, OUT=accumulator)
    exact = a.double() @ b.double()
    return float((out - exact).norm() / exact.norm())

repairs.install()
single, half = torch.float32, torch.float16
print(1e-5 < error(single) < 1e-3, error(single, "ieee") < 1e-6, error(single, "tf32x3") < 1e-6)
print(error(half) < 1e-6, 1e-4 < error(half, "ieee", tl.float16) < 5e-3, error(torch.bfloat16) < 1e-6)
"""


@pytest.mark.every_triton
def test_a_dot_is_as_exact_as_the_matrix_units_make_it() -> None:
    assert interpreted(DOTS) == "True True True\nTrue True True\n"


VISITS = """
@triton.jit
def visit(out_ptr, count_ptr):
    turn = tl.atomic_add(count_ptr, 1)
    pid = tl.program_id(0) * tl.num_programs(1) + tl.program_id(1)
    tl.store(out_ptr + pid, turn)

def visited(seed):
    order.shuffle(seed)
    out, count = torch.full((12,), -1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    visit[(3, 4)](out, count)
    return out.tolist()

repairs.install()
order.install()
print([visited(None) == list(range(12)), sorted(visited(1)) == list(range(12)),
       visited(1) == visited(1), visited(1) == visited(2)])
"""


@pytest.mark.every_triton
def test_a_private_name_that_has_moved_is_named_before_anything_is_graded() -> None:
    printed = interpreted("""
from grader.interpreter import private
from triton.runtime import interpreter
print(repr(private.missing()))
del interpreter.GridExecutor._init_args_hst
print(private.missing())
""")
    assert printed == "''\ntriton.runtime.interpreter.GridExecutor._init_args_hst\n"


@pytest.mark.every_triton
def test_a_shuffled_grid_visits_every_program_once_in_another_order() -> None:
    assert interpreted(VISITS) == "[True, True, True, False]\n"


BOUNDS = """
@triton.jit
def past(x_ptr, offset):
    tl.store(x_ptr + offset + tl.arange(0, 4), 1.0)

from grader.interpreter.bounds import Bounds
from grader.interpreter.regions import Region

proxy.install()
x = torch.zeros(1024)
base = x.data_ptr()
bounds = Bounds(__file__)
bounds.regions = [Region("x", base, base + 400, base + 800, base + 4096)]
with proxy.watching(bounds):
    past[(1,)](x, 150)
    print(bounds.report())
    past[(1,)](x, 198)
    print(bounds.report())
    try:
        past[(1,)](x, 1023)
    except Exception as error:
        print(error.__cause__)
"""


@pytest.mark.every_triton
def test_an_access_beside_a_tensor_is_noted_and_a_wild_one_stops_the_kernel() -> None:
    inside, beside, wild = interpreted(BOUNDS).splitlines()
    assert inside == "[]"
    assert "line=8" in beside
    assert "where='up to 2 elements past the end of x', lanes=2" in beside
    assert wild.startswith("line 8 stores up to 825 elements past the end of x")


TUNED = """
tried = []

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

repairs.install()
order.install()
"""


def test_over_many_calls_every_config_is_kept_and_the_first_tuning_runs_them_all() -> None:
    out = interpreted(
        TUNED
        + """
seen = []
for n in range(1, 31):
    order.shuffle(n)
    seen.append(block(n))
print(sorted({kept for kept, _ in seen}), [runs for _, runs in seen][:3])
"""
    )
    assert out == "[16, 32, 64, 128] [5, 1, 1]\n"


def test_a_seed_keeps_the_same_config_whatever_was_tuned_before() -> None:
    code = TUNED + "for n in SIZES:\n    order.shuffle(7)\n    kept = block(n)[0]\nprint(kept)\n"
    assert interpreted(code.replace("SIZES", "[5]")) == interpreted(code.replace("SIZES", "[3, 4, 5]"))


def test_a_config_that_raises_shows_in_the_first_tuning() -> None:
    out = interpreted(
        TUNED.replace("16 << i", "12 * i + 16")
        + "try:\n    block(3)\nexcept Exception as error:\n    print(error)\n"
    )
    assert "power of 2" in out


@pytest.mark.every_triton
def test_random_numbers_are_tritons_own_bit_for_bit() -> None:
    out = interpreted("""
@triton.jit
def kernel(out_ptr, seed, first, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    a, b, c, d = tl.randint4x(seed, first + offs)
    tl.store(out_ptr + offs, a)
    tl.store(out_ptr + BLOCK + offs, b)
    tl.store(out_ptr + 2 * BLOCK + offs, c)
    tl.store(out_ptr + 3 * BLOCK + offs, d)

def numbers():
    out = [torch.empty(64, dtype=torch.int32) for _ in range(3)]
    for x, first in zip(out, (0, 2**31 - 7, 2**33 + 5)):
        kernel[(1,)](x, 12345, first, BLOCK=16)
    return torch.cat(out)

stock = numbers()
repairs.install()
print(torch.equal(stock, numbers()))
""")
    assert out.splitlines() == ["True"], out


def test_an_interpreted_kernel_needs_no_wrapping_whatever_torch_says_of_it() -> None:
    out = interpreted("""
def refused(kernel):
    raise RuntimeError("wrap_triton only works on functions annotated with triton.jit or triton.autotune")

torch.library.wrap_triton = refused
repairs.install()

@triton.jit
def double(x_ptr):
    tl.store(x_ptr, tl.load(x_ptr) * 2)

tuned = triton.autotune([triton.Config({})], key=[])(double)
x = torch.ones(1)
torch.library.wrap_triton(double)[(1,)](x)
print(x.item(), torch.library.wrap_triton(tuned) is tuned)
try:
    torch.library.wrap_triton(print)
except RuntimeError as error:
    print(error)
""")
    assert out.splitlines()[0] == "2.0 True"
    assert "wrap_triton only works" in out
