"""Lanes that a mask holds back, of a load without `other=`, are 0 in the interpreter as on an NVIDIA GPU.

Triton promises nothing of them. But a kernel that takes them for 0 is right on a GPU, so it must be without.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.interpreter.fresh import REPO

COMPILED = """
import re, torch, triton, triton.language as tl
from triton.runtime import driver
from grader import datasheets
from grader.compiler.driver import Driver
from grader.compiler.recipe import Mock

@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(y_ptr, tl.sum(tl.load(x_ptr + offs, mask=offs < n).to(tl.float32), axis=0))

driver.set_active(Driver(datasheets.GPUS["h200"]))
for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.int32, torch.int64):
    built = kernel.warmup(Mock(dtype), Mock(torch.float32), 100, BLOCK=256, grid=(1, 1, 1))
    built = built.result() if hasattr(built, "result") else built
    ptx = built.asm["ptx"]
    loads = re.findall(r"@%p\\d+ ld\\.global\\.\\S+ \\{ ([^}]*) \\}", ptx)
    registers = [register.strip() for load in loads for register in load.split(",")]
    begun = [re.search(rf"mov\\.[bu](16|32|64)\\s+{register}, 0x0;", ptx) for register in registers]
    print(len(begun) > 0 and all(begun))
"""


def test_the_compiler_sets_the_registers_of_such_lanes_to_0(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(COMPILED)
    answer = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=False, env={"PYTHONPATH": str(REPO)}
    )
    assert answer.stdout == "True\n" * 5, answer.stderr
