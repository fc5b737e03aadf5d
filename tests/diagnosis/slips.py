"""Slips that a beginner makes in a kernel or its launch, and what is said of them.

Each is an edit of VECTOR or MATRIX, whichever holds the old text: the old text, the new one, the beginning of
the sentence, and the line that it is told of, where that is not the last one of the new text. COMPILED are
those that only later passes of the compiler see.
"""

from __future__ import annotations

HEAD = """import math

import numpy as np
import torch
import triton
import triton.language as tl


"""
VECTOR = (
    HEAD
    + """@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    y = 2 * x
    tl.store(y_ptr + offs, y, mask=mask)


def entry(x):
    n = x.numel()
    y = torch.empty_like(x)
    BLOCK = 64
    grid = (triton.cdiv(n, BLOCK),)
    kernel[grid](x, y, n, BLOCK=BLOCK)
    return y
"""
)
MATRIX = (
    HEAD
    + """@triton.jit
def kernel(x_ptr, y_ptr, m, n, stride_xm, stride_xn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    total = tl.zeros((BLOCK_M,), dtype=tl.float32)
    for start in range(0, n, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        mask = (rows[:, None] < m) & (cols[None, :] < n)
        x = tl.load(x_ptr + rows[:, None] * stride_xm + cols[None, :] * stride_xn, mask=mask, other=0.0)
        total += tl.sum(x.to(tl.float32), axis=1)
    tl.store(y_ptr + rows, total, mask=rows < m)


def entry(x):
    m, n = x.shape
    y = torch.empty(m, dtype=torch.float32, device=x.device)
    grid = (triton.cdiv(m, 16),)
    kernel[grid](x, y, m, n, x.stride(0), x.stride(1), BLOCK_M=16, BLOCK_N=32)
    return y
"""
)

HEADED = "@triton.jit\ndef kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):\n"
OFFS = "offs = pid * BLOCK + tl.arange(0, BLOCK)"
LOAD = "x = tl.load(x_ptr + offs, mask=mask)"
STORE = "tl.store(y_ptr + offs, y, mask=mask)"
LAUNCH = "kernel[grid](x, y, n, BLOCK=BLOCK)"
GRID = "grid = (triton.cdiv(n, BLOCK),)"
MASK = "mask = offs < n"
Y = "y = 2 * x"
ADDRESS = "rows[:, None] * stride_xm + cols[None, :] * stride_xn"
MASKS = "mask = (rows[:, None] < m) & (cols[None, :] < n)"
ZEROS = "tl.zeros((BLOCK_M,), dtype=tl.float32)"
STORES = "tl.store(y_ptr + rows, total, mask=rows < m)"
SUM = "total += tl.sum(x.to(tl.float32), axis=1)"
STRIDES = "x.stride(0), x.stride(1)"

EVALUATED: list[tuple[str, ...]] = [
    (LOAD, "x = x_ptr[offs]", "x_ptr[offs] does not read memory, since x_ptr is a pointer: tl.load(x_ptr +"),
    (STORE, "y_ptr[offs] = y", "y_ptr[offs] = … does not write memory, since y_ptr is a pointer:"),
    (LAUNCH, "kernel(x, y, n, BLOCK=BLOCK)",
     "kernel is called like a function, and a kernel needs a grid: kernel[grid](…)."),
    (OFFS, "offs = pid * BLOCK + range(BLOCK)",
     "A range stands in this line where a tensor or a number belongs."),
    (LOAD, "x = tl.load(x_ptr, mask=mask)",
     "tl.load is given one address here, x_ptr, and a block beside it: add the"),
    (LOAD, "x = tl.load(x_ptr + offs, mask=n)",
     "mask= of tl.load says of each lane whether it takes part: a comparison such"),
    (STORE, "print(y)\n    " + STORE,
     'What a kernel prints begins with words: tl.device_print("y is", y).', "print(y)"),
    (STORE, "breakpoint()\n    " + STORE,
     "A compiled kernel stops nowhere. track python --interpret FILE runs it line by", "breakpoint()"),
    (STORE, "tl.store(y_ptr, y, mask=mask)",
     "tl.store is given one address here, y_ptr, and a block beside it: add the"),
    (OFFS, "offs = pid * BLOCK + tl.arange(0, n)",
     "The ends of tl.arange must be integers known to the compiler, and n is not"),
    ("BLOCK = 64", "BLOCK = 48",
     "The length of tl.arange(0, BLOCK) is no power of 2: make it the next one,", "BLOCK = 48"),
    (OFFS, "offs = tl.arange(pid * BLOCK, pid * BLOCK + BLOCK)",
     "The ends of tl.arange must be integers known to the compiler, and pid * BLOCK"),
    ("BLOCK: tl.constexpr", "BLOCK",
     "The ends of tl.arange must be integers known to the compiler, and BLOCK is"),
    (MASK, "mask = offs < x_ptr.shape[0]",
     "x_ptr is a pointer and does not know the tensor's shape: the launcher gives"),
    (MASK, "mask = offs < x_ptr.numel()",
     "x_ptr is a pointer and does not know the tensor's numel: the launcher gives"),
    (MASK, "mask = offs < x_ptr.stride(0)",
     "x_ptr is a pointer and does not know the tensor's stride: the launcher gives"),
    (Y, "y = torch.exp(x)",
     "torch.exp does not run in a kernel: tl has functions of its own."),
    (OFFS, "offs = pid * BLOCK + torch.arange(0, BLOCK)",
     "torch.arange does not run in a kernel: tl has functions of its own."),
    (Y, "y = math.exp(x)",
     "math.exp does not run in a kernel: tl has functions of its own."),
    (Y, "y = (2 * x).to(np.float32)", "np.float32 is no dtype of Triton: write tl.float32."),
    (LOAD, LOAD + "\n    x = tl.load(x, mask=mask)",
     "x holds numbers (fp32) and no addresses: tl.load wants a pointer plus offsets"),
    (STORE, "tl.store(y, y_ptr + offs, mask=mask)",
     "y holds numbers (fp32) and no addresses: tl.store wants a pointer plus"),
    (LAUNCH, "kernel[grid](None, y, n, BLOCK=BLOCK)",
     "None stands in this line where a tensor or a number belongs. Does the launch", LOAD),
    (LAUNCH, "kernel[grid](x.data_ptr(), y, n, BLOCK=BLOCK)",
     "x_ptr + offs holds numbers (int64) and no addresses: tl.load wants a pointer", LOAD),
    (LAUNCH, "kernel[grid](n, x, y, BLOCK=BLOCK)",
     "Only integers can be added to a pointer, and nothing else is done with one.", MASK),
    ("@triton.jit\n", "",
     "kernel is a plain Python function: @triton.jit above its def makes it a",
     "def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):"),
    (SUM, "total += tl.sum(x.to(tl.float32), axis=0)",
     "Two blocks do not fit together: along axis 0 one has 16 elements, the other"),
    (ADDRESS, "rows * stride_xm + cols * stride_xn",
     "Two blocks do not fit together: along axis 0 one has 16 elements, the other"),
    (MASKS, "mask = rows[:, None] < m & cols[None, :] < n",
     "& binds tighter than a comparison: put both sides in parentheses, (a < m) &"),
    (SUM, "z = x[0]",
     "A block is computed on as a whole: [] only adds axes to it, by : and None."),
    (SUM, "z = x[:, rows]",
     "A block is computed on as a whole: [] only adds axes to it, by : and None."),
    (Y, "y = (2 * x).to(torch.float32)", "torch.float32 is no dtype of Triton: write tl.float32."),
    (Y, "y = (2 * x).to('float32')", "'float32' is no dtype of Triton: write tl.float32."),
    (ZEROS, "tl.zeros(BLOCK_M, dtype=tl.float32)",
     "The shape of tl.zeros(BLOCK_M, dtype=tl.float32) must be a tuple: with one"),
    (ZEROS, "tl.zeros((BLOCK_M,), dtype=torch.float32)",
     "torch.float32 is no dtype of Triton: write tl.float32."),
    (ZEROS, "tl.zeros((m,), dtype=tl.float32)",
     "The shape of a block must be known to the compiler: integers, or parameters"),
    (f"{LOAD}\n    {Y}", "y = 2 * x", "x has no value in kernel. tl.load(x_ptr + offsets) reads what lies"),
    (f"{LOAD}\n    {Y}", "y = tl.load(x + offs, mask=mask)", "x has no value in kernel. Is x_ptr meant?"),
    (LOAD, "x = tl.load(x + offs, mask=mask)",
     "x has no value in kernel. Is x_ptr meant?"),
    (LOAD, "x = tl.load(x_ptr + offs * 1.0, mask=mask)",
     "A pointer meets a float here: offsets are integers. In a kernel / gives"),
    (LOAD, "x = tl.load(x_ptr * offs, mask=mask)",
     "Only integers can be added to a pointer, and nothing else is done with one."),
    (LOAD, "x = tl.load(x_ptr + offs & (n - 1), mask=mask)",
     "Only integers can be added to a pointer, and nothing else is done with one."),
    (LOAD, "x = tl.load(x_ptr + y_ptr, mask=mask)",
     "Only integers can be added to a pointer, and nothing else is done with one."),
    (Y, "y = x // 2",
     "//, % and tl.cdiv are for integers, and these are floats: / divides them, and"),
    ("x_ptr + rows[:, None] * stride_xm + cols[None, :] * stride_xn", "x_ptr[rows, cols]",
     "x_ptr[rows, cols] does not read memory, since x_ptr is a pointer:"),
    (STORES, "tl.store(y_ptr + rows[:, None], total, mask=rows < m)",
     "The pointers here form a block of 16 × 1, value and mask one of 16 × 16:"),
    (STORE, "tl.atomic_add(y, y_ptr + offs, mask=mask)",
     "y holds numbers (fp32) and no addresses: tl.atomic_add wants a pointer plus"),
    (Y, "y = tl.exp(x.to(tl.float16))",
     "A function on this line takes no fp16: convert it first, ….to(tl.float32)."),
    (Y, "h = x.to(tl.bfloat16)\n    y = 1 - tl.sqrt(h)",
     "A function on this line takes no bf16: convert it first, ….to(tl.float32)."),
    (Y, "y = tl.floor(offs)",
     "A function on this line takes no int32: convert it first, ….to(tl.float32)."),
    (Y, "y = tl.cdiv(x, 2)",
     "//, % and tl.cdiv are for integers, and these are floats: / divides them, and"),
    (Y, "y = not x", "not is for comparisons, and these are numbers: compare them with 0."),
    (SUM, "h = x.to(tl.float16)\n        z = tl.dot(h, tl.trans(h), h)",
     "What tl.dot(h, tl.trans(h), h) adds to must be of the product's shape, and in"),
    (SUM, "z = tl.dot(x, x)", "In tl.dot(x, x) the first must have as many columns as the second has rows."),
    (LOAD, "x = x_ptr + offs",
     "x holds addresses, and numbers belong here: tl.load(x_ptr + offs) reads what"),
    (f"{LOAD}\n    {Y}", "x = x_ptr + offs\n    y = x * 0.5",
     "x holds addresses, and numbers belong here: tl.load(x_ptr + offs) reads what", "x = x_ptr + offs"),
    (f"{LOAD}\n    {Y}", "x = x_ptr + offs\n    y = x + 1",
     "x holds addresses, and numbers belong here: tl.load(x_ptr + offs) reads what", "x = x_ptr + offs"),
    (f"{LOAD}\n    {Y}", "x = x_ptr + offs\n    y = tl.exp(x)",
     "x holds addresses, and numbers belong here: tl.load(x_ptr + offs) reads what", "x = x_ptr + offs"),
    (f"{LOAD}\n    {Y}", "x = x_ptr + offs\n    y = x + x",
     "x holds addresses, and numbers belong here: tl.load(x_ptr + offs) reads what", "x = x_ptr + offs"),
    (f"{LOAD}\n    {Y}", "x = x_ptr + offs\n    y = tl.max(x, axis=0)",
     "x holds addresses, and numbers belong here: tl.load(x_ptr + offs) reads what", "x = x_ptr + offs"),
    (f"{LOAD}\n    {Y}", "x = x_ptr + offs\n    y = x",
     "x holds addresses, and numbers belong here: tl.load(x_ptr + offs) reads what", "x = x_ptr + offs"),
    (f"{LOAD}\n    {Y}", "y = x_ptr + offs",
     "y holds addresses, and numbers belong here: tl.load(x_ptr + offs) reads what"),
    (f"{LOAD}\n    {Y}", "y = 2 * x_ptr",
     "x_ptr holds addresses, and numbers belong here: tl.load(x_ptr + offsets) reads"),
    (f"{LOAD}\n    {Y}", "x_ptrs = x_ptr + offs\n    y = x_ptrs * 2.0",
     "x_ptrs holds addresses, and numbers belong here: tl.load(x_ptrs) reads what"),
    (LOAD, "x_ptrs = x_ptr + offs / 2\n    x = tl.load(x_ptrs)",
     "A pointer meets a float here: offsets are integers. In a kernel / gives", "x_ptrs = x_ptr + offs / 2"),
    (OFFS, "offs = pid * BLOCK + tl.arange(0, BLOCK, 1)",
     "tl.arange takes a start and an end, and no step: start + step * tl.arange(0,"),
    (OFFS, "offs = pid * BLOCK + tl.arange(0, BLOCK, step=1)",
     "tl.arange takes a start and an end, and no step: start + step * tl.arange(0,"),
    (MASK, "blocks = triton.cdiv(n, BLOCK)",
     "triton.cdiv does not run in a kernel: tl has functions of its own."),
    (Y, "if x > 0:\n        y = x",
     "An if decides once for the whole block: tl.where(condition, a, b) chooses for", "if x > 0:"),
    (Y, "y = x if x > 0 else 0.0",
     "An if decides once for the whole block: tl.where(condition, a, b) chooses for"),
    (Y, "y = torch.zeros(BLOCK)",
     "torch.zeros does not run in a kernel: tl has functions of its own."),
    (ADDRESS, "rows[:, None] * stride_xm + cols[None, :] * stride_xn.to(tl.int64)",
     "stride_xn is a plain number here, without .to(): an argument that is 1, or a"),
    (ADDRESS, "rows[:, None] * stride_xm + cols[None, :] * (stride_xn * 1).to(tl.int64)",
     "stride_xn * 1 is a plain number here, without .to(): an argument that is 1,"),
    (OFFS, "offs = pid * BLOCK.to(tl.int64) + tl.arange(0, BLOCK)",
     "BLOCK is a plain number here, without .to(): an argument that is 1, or a"),
    ("axis=1", "axis=1, keep_dims=True",
     "total is a block of 16 fp32 before the loop and a block of 16 × 16",
     "for start in range(0, n, BLOCK_N):"),
    (ZEROS, "0", "total is int32 before the loop and a block of 16 fp32 after it: start it"),
    (Y, "for i in range(3):\n        if i == 2:\n            break",
     "A kernel takes no `break` and no `continue`: let the loop's limits end it"),
    (OFFS, "offs = range(BLOCK)",
     "A range stands in this line where a tensor or a number belongs."),
    (LAUNCH, "kernel[grid](x.numpy(), y, n, BLOCK=BLOCK)",
     "kernel takes tensors and plain numbers, and this launch gives it a numpy.ndarray."),
    (LAUNCH, "kernel[grid](x, y, np.int64(n), BLOCK=BLOCK)",
     "kernel takes tensors and plain numbers, and this launch gives it a numpy.int64."),
    (LAUNCH, "kernel[grid](x, y, x.shape, BLOCK=BLOCK)",
     "A tuple stands in this line where a tensor or a number belongs. Does the", MASK),
    (STRIDES, "x.stride(), x.stride()",
     "A tuple stands in this line where a tensor or a number belongs. Does the", "x = tl.load"),
    (Y, "for v in x:\n        y += v",
     "A loop of a kernel counts, by range(…), and walks over nothing: a block is", "for v in x:"),
    (SUM, "z = tl.dot(x, tl.trans(x), tl.zeros((16, 16), tl.int32))",
     "What tl.dot(x, tl.trans(x), tl.zeros((16, 16), tl.int32)) adds to must be of"),
    (HEADED, f"def plain(x):\n    return x\n\n\n{HEADED}    n = plain(n)\n",
     "plain is called in a kernel: it needs @triton.jit above its def as well.", "def plain(x):"),
    (HEADED, f"FACTOR = 2\n\n\n{HEADED}    n = FACTOR\n",
     "A kernel takes no plain global, and FACTOR is one: make it FACTOR ="),
    (LAUNCH, "kernel[triton.cdiv(n, BLOCK)](x, y, n, BLOCK=BLOCK)",
     "The grid of kernel must be a tuple: with one axis it is (blocks,), with a"),
    (GRID, f"{GRID}\n    assert x.is_cuda",
     "This line asks for a GPU, and there is none. Kernels are evaluated then, on"),
    (GRID, f"{GRID}\n    x = x.cuda()", "This line asks for a GPU, and there is none. Kernels are"),
    (GRID, f'{GRID}\n    y = torch.empty(n, device="cuda")', "This line asks for a GPU, and there is none."),
    (GRID, f"{GRID}\n    torch.cuda.get_device_properties(0)", "This line asks for a GPU, and there is"),
    (GRID, "grid = (triton.cdiv(n, BLOCK))",
     "The grid of kernel must be a tuple: with one axis it is (blocks,), with a", LAUNCH),
    (GRID, "grid = (n / BLOCK,)",
     "The grid of kernel counts programs, and holds a float: triton.cdiv(n, BLOCK)", LAUNCH),
    (GRID, "grid = (np.ceil(n / BLOCK),)",
     "The grid of kernel counts programs, and holds a float: triton.cdiv(n, BLOCK)", LAUNCH),
    (GRID, "grid = lambda meta: triton.cdiv(n, meta['BLOCK'])",
     "The grid of kernel must be a tuple: with one axis it is (blocks,), with a", LAUNCH),
]  # fmt: skip
COMPILED: list[tuple[str, ...]] = [
    (STORE, "tl.store(y_ptr + offs, y, mask=mask)\n    return y",
     "A kernel returns no value: what it computes leaves it by tl.store."),
]  # fmt: skip
