"""libdevice in the interpreter: what its functions give, of which dtypes, and those that are not there."""

from __future__ import annotations

import pytest

from tests.interpreter.fresh import interpreted

TABLES = """
import inspect, re
from triton.language.extra import cuda
from grader.interpreter.libdevice import CONVERSIONS

row = re.compile(r'dtype\\("(\\w+)"\\), ?\\): \\("\\w+", core\\.dtype\\("(\\w+)"\\)\\)')
for name, (_, takes, gives) in CONVERSIONS.items():
    found = row.findall(inspect.getsource(getattr(cuda.libdevice, name)))
    if found != [(str(dtype), str(gives)) for dtype in takes]:
        print(name, found)
"""


@pytest.mark.every_triton
def test_dtypes_are_those_of_tritons_own_tables() -> None:
    assert interpreted(TABLES) == ""


VALUES = """
from triton.language.extra import libdevice

@triton.jit
def floats(x_ptr, out_ptr):
    offs = tl.arange(0, 4)
    x = tl.load(x_ptr + offs)
    tl.store(out_ptr + offs, libdevice.normcdf(x))
    tl.store(out_ptr + 4 + offs, libdevice.erf(libdevice.erfinv(x * 0.25)) * 4)
    tl.store(out_ptr + 8 + offs, libdevice.int_as_float(libdevice.float_as_int(x)))
    tl.store(out_ptr + 12 + offs, tl.where(~libdevice.isnan(x / x), x, 7.0))

@triton.jit
def integers(x_ptr, out_ptr):
    offs = tl.arange(0, 4)
    x = tl.load(x_ptr + offs)
    word = libdevice.float2int_rn(x)
    tl.store(out_ptr + offs, word)
    tl.store(out_ptr + 4 + offs, libdevice.popc(word))
    tl.store(out_ptr + 8 + offs, libdevice.clz(word))
    tl.store(out_ptr + 12 + offs, libdevice.ffs(word))
    tl.store(out_ptr + 16 + offs, libdevice.float2int_rd(x))

repairs.install()
x, out = torch.tensor([0.0, -1.5, 2.5, 0.5]), torch.empty(16)
floats[(1,)](x, out)
normal = torch.special.ndtr(x)
print(torch.allclose(out.view(4, 4), torch.stack([normal, x, x, torch.tensor([7.0, -1.5, 2.5, 0.5])])))
x, out = torch.tensor([12.0, -1.5, 2.5e10, float("nan")]), torch.empty(20, dtype=torch.int32)
integers[(1,)](x, out)
print(out.view(5, 4).tolist())
"""


@pytest.mark.every_triton
def test_functions_give_what_a_gpu_gives() -> None:
    same, words = interpreted(VALUES).splitlines()
    assert same == "True"
    most = 2**31 - 1
    assert eval(words) == [
        [12, -2, most, 0],
        [2, 31, 31, 0],
        [28, 0, 1, 32],
        [3, 2, 1, 0],
        [12, -2, most, 0],
    ]


ABSENT = """
from triton.language.extra import libdevice

@triton.jit
def bessel(x_ptr):
    tl.store(x_ptr, libdevice.j0(tl.load(x_ptr)))

repairs.install()
try:
    bessel[(1,)](torch.zeros(1))
except Exception as error:
    print(error.__cause__ or error)
"""


@pytest.mark.every_triton
def test_one_that_is_not_there_says_so() -> None:
    assert "libdevice.j0 not supported in interpreter mode" in interpreted(ABSENT)
