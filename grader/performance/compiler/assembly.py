"""What the compiler made of a kernel, read from its PTX, its cubin and its machine code."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import triton

from grader.datasheets import Gpu
from grader.performance.compiler.instructions import DOUBLE, Stretch, read, stretches

TOOLS = Path(triton.__file__).parent / "backends" / "nvidia" / "bin"
REGISTERS = 65536  # of an SM
ACCESS = re.compile(r"\b(ld|st)\.global(?:\.[a-zA-Z][\w:]*)*?(?:\.v(\d))?\.[bufs](\d+)\b")
COPY = re.compile(r"cp\.async\.c[ag]\.shared\.global[^;]*?\],\s*\[[^\]]*\],\s*(0x[0-9a-f]+|\d+)")
MATRIX = re.compile(r"\b(?:wgmma\.mma_async|mma\.sync|tcgen05\.mma)")
DIVIDE = re.compile(r"\b(?:div|rem)\.[su]64\b")


@dataclass(frozen=True)
class Facts:
    """One compiled launch on one GPU.

    Attributes:
        registers: of a thread.
        stack: bytes of a thread that lie in memory: registers that spilled.
        shared: bytes of shared memory of a program; `fits` if a program may have as many.
        resident: programs that an SM holds at once, and what keeps it from more.
        occupancy: warps on an SM, of those that it could hold.
        loads, stores: instructions in the code by the bytes that each lane moves; copies to shared memory
            count as loads.
        matrix: matrix instructions in the code.
        doubles: fp64 arithmetic in the code; the first of it is made from `double_line`.
        divisions: of 64-bit integers, each a loop of its own.
        tma: copies by the tensor memory accelerator.
        code: the kernel and its loops, as instructions.py has them.
    """

    registers: int
    stack: int
    shared: int
    fits: bool
    warps: int
    stages: int
    resident: int
    limiter: str
    occupancy: float
    loads: dict[int, int] = field(default_factory=dict)
    stores: dict[int, int] = field(default_factory=dict)
    matrix: int = 0
    doubles: int = 0
    double_line: int = 0
    divisions: int = 0
    tma: int = 0
    copies: int = 0
    code: list[Stretch] = field(default_factory=list)


def facts(kernel: object, gpu: Gpu) -> Facts:
    """What is known of a compiled kernel.

    Args:
        kernel: what JITFunction.warmup returns.
    """
    asm, metadata = kernel.asm, kernel.metadata  # type: ignore[attr-defined]
    if "amdgcn" in asm:
        return _of_amd(asm["amdgcn"], metadata, gpu)
    ptx = asm["ptx"]
    registers, stack = _used(asm["cubin"])
    resident, limiter = residency(gpu, registers, metadata.shared, metadata.num_warps)
    widths = _widths(ptx)
    names, lines, _ = read(ptx)
    doubles = [places for name, places in zip(names, lines, strict=True) if DOUBLE.match(name)]
    copied = Counter(int(size, 0) for size in COPY.findall(ptx))
    return Facts(
        registers,
        stack,
        metadata.shared,
        metadata.shared <= gpu.shared,
        metadata.num_warps,
        int(getattr(metadata, "num_stages", 1) or 1),
        resident,
        limiter,
        round(resident * metadata.num_warps / gpu.warps, 3),
        loads=dict(widths["ld"] + copied),
        stores=dict(widths["st"]),
        matrix=len(MATRIX.findall(ptx)),
        doubles=len(doubles),
        double_line=next((min(lines) for lines in doubles if lines), 0),
        divisions=len(DIVIDE.findall(ptx)),
        tma=ptx.count("cp.async.bulk.tensor"),
        copies=copied.total(),
        code=stretches(ptx),
    )


def _of_amd(code: str, metadata: Any, gpu: Gpu) -> Facts:
    """What AMD's assembler says at its end: registers, what spills, and shared memory."""
    said = dict(re.findall(r"\.(vgpr_count|private_segment_fixed_size):\s+(\d+)", code))
    registers, stack = (int(said.get(name, 0)) for name in ("vgpr_count", "private_segment_fixed_size"))
    fits, warps = metadata.shared <= gpu.shared, metadata.num_warps
    return Facts(registers, stack, metadata.shared, fits, warps, int(metadata.num_stages), 1, "unknown", 0.0)


def _used(cubin: bytes) -> tuple[int, int]:
    """Registers, and bytes of a thread in memory."""
    usage = _tool(cubin, "cuobjdump", "-res-usage")
    match = re.search(r"REG:(\d+) STACK:(\d+) SHARED:\d+ LOCAL:(\d+)", usage)
    registers, stack, local = (int(number) for number in match.groups()) if match else (0, 0, 0)
    return registers, stack + local


def residency(gpu: Gpu, registers: int, shared: int, warps: int) -> tuple[int, str]:
    """Programs that an SM holds at once, and the resource that runs out first."""
    a_warp = -(-max(registers, 1) * 32 // 256) * 256  # handed out in units of 256
    reserved = 1024 if gpu.capability >= 80 else 0
    a_program = -(-(shared + reserved) // 128) * 128
    limits = {
        "registers": REGISTERS // a_warp // warps,
        "warps": gpu.warps // warps,
        "programs": gpu.programs,
    }
    if shared:
        limits["shared memory"] = gpu.shared_sm // a_program
    limiter = min(limits, key=lambda name: limits[name])
    return limits[limiter], limiter


def _widths(ptx: str) -> dict[str, Counter[int]]:
    """Bytes that a lane moves at once, by direction; `ld.global.v4.b32` moves 16."""
    found: dict[str, Counter[int]] = {"ld": Counter(), "st": Counter()}
    for kind, vector, bits in ACCESS.findall(ptx):
        found[kind][int(vector or 1) * int(bits) // 8] += 1
    return found


def _tool(cubin: bytes, name: str, *arguments: str) -> str:
    """What one of NVIDIA's tools prints of a cubin."""
    path = TOOLS / name
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        command = [str(path) if path.exists() else name, *arguments, file.name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def disassembled(cubin: bytes) -> str:
    """The machine code of a cubin, with `//## File … line N` above what came from line N."""
    return _tool(cubin, "nvdisasm", "-g", "-c")
