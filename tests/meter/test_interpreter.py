"""Repairs of the interpreter, the shuffled grid and the watched addresses, each in a fresh process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
HEAD = """
import torch, triton, triton.language as tl
from grader.meter import bounds, canaries, order, repairs
torch.set_num_threads(1)
"""


def interpreted(code: str) -> str:
    """What `code` prints in a process whose kernels are interpreted; a kernel needs a source file."""
    path = Path(tempfile.gettempdir()) / f"probe-{os.getpid()}.py"
    path.write_text(HEAD + code, encoding="utf-8")
    environment = dict(os.environ, TRITON_INTERPRET="1", PYTHONPATH=str(REPO))
    try:
        done = subprocess.run(
            [sys.executable, path], env=environment, capture_output=True, text=True, timeout=60, check=False
        )
    finally:
        path.unlink()
    return done.stdout + done.stderr


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
mine = torch.from_numpy(repairs.narrow(x.numpy()).view('int16')).view(torch.bfloat16)
want = x.bfloat16()
print(bool(((mine == want) | (mine.isnan() & want.isnan())).all()), len(x))
""")
    assert out == "True 21846\n"


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


def test_a_shuffled_grid_visits_every_program_once_in_another_order() -> None:
    assert interpreted(VISITS) == "[True, True, True, False]\n"


BOUNDS = """
@triton.jit
def past(x_ptr, offset):
    tl.store(x_ptr + offset + tl.arange(0, 4), 1.0)

bounds.install()
x = torch.zeros(1024)
base = x.data_ptr()
watch = bounds.Bounds(__file__)
watch.regions = [bounds.Region("x", base, base + 400, base + 800, base + 4096)]
bounds.watch(watch)
past[(1,)](x, 150)
print(watch.report())
past[(1,)](x, 198)
print(watch.report())
try:
    past[(1,)](x, 1023)
except Exception as error:
    print(error.__cause__)
"""


def test_an_access_beside_a_tensor_is_noted_and_a_wild_one_stops_the_kernel() -> None:
    inside, beside, wild = interpreted(BOUNDS).splitlines()
    assert inside == "[]"
    assert "'line': 8" in beside
    assert "'where': '2 elements past the end of x', 'lanes': 2" in beside
    assert wild.startswith("line 8 stores 825 elements past the end of x")
