"""Slips that a beginner makes in a kernel or its launch, and what is said of them.

Each is an edit of VECTOR or MATRIX, whichever holds the old text: the old text, the new one, the beginning of
the sentence, and the line that it is told of, where that is not the last one of the new text. Where the
interpreter and the compiler differ, or one of them sees nothing wrong, a slip stands in a list of its own.
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

BOTH: list[tuple[str, ...]] = [
    (LOAD, "x = x_ptr[offs]", "x_ptr[offs] does not read memory, since x_ptr is a pointer: tl.load(x_ptr +"),
    (STORE, "y_ptr[offs] = y", "y_ptr[offs] = … does not write memory, since y_ptr is a pointer:"),
    (LAUNCH, "kernel(x, y, n, BLOCK=BLOCK)",
     "kernel is called like a function, and a kernel needs a grid: kernel[grid](…)."),
    (STRIDES, "x.stride(), x.stride()",
     "x.stride() is a tuple with a number for each axis, and is used as one number:"),
    (STRIDES, "x.stride()", "The launch lacks an argument of kernel: stride_xn, and x.stride() is one"),
    (STRIDES, "x.stride, x.stride", "x.stride is a method that was not called: write x.stride(0)."),
    (LAUNCH, "kernel[grid](x, y, x.shape, BLOCK=BLOCK)",
     "x.shape is a tuple with a number for each axis, and is used as one number:"),
    ("n = x.numel()", "n = x.numel", "x.numel is a method that was not called: write x.numel()."),
    (OFFS, "offs = pid * BLOCK + range(BLOCK)",
     "A range only drives a loop. A block of offsets is tl.arange(0, BLOCK)."),
    ("BLOCK = 64", "BLOCK = 0",
     "BLOCK is 0 here, and something is divided by it. A block has at least one", GRID),
    (LAUNCH, "kernel[grid](x, y, n, BLOCK=0)",
     "tl.arange(0, BLOCK) is empty: its end must be larger than its start, and a", OFFS),
    (LOAD, "x = tl.load(x_ptr, mask=mask)",
     "tl.load reads at one address here, x_ptr, and its mask is a block: add the"),
    (STORE, "tl.store(y_ptr, y, mask=mask)",
     "tl.store writes to one address here, y_ptr, and is given a block: add the"),
    (OFFS, "offs = pid * BLOCK + tl.arange(0, n)",
     "The ends of tl.arange must be integers known to the compiler, and n is not"),
    ("BLOCK = 64", "BLOCK = 48",
     "The length of tl.arange(0, BLOCK) is no power of 2: make it the next one,", OFFS),
    (OFFS, "offs = pid * BLOCK + tl.arange(BLOCK)",
     "tl.arange takes a start and an end: tl.arange(0, BLOCK)."),
    (OFFS, "offs = tl.arange(pid * BLOCK, pid * BLOCK + BLOCK)",
     "The ends of tl.arange must be integers known to the compiler, and pid * BLOCK"),
    (OFFS, "offs = tl.arange(BLOCK, 0)",
     "tl.arange(BLOCK, 0) is empty: its end must be larger than its start, and a"),
    ("BLOCK: tl.constexpr", "BLOCK",
     "The ends of tl.arange must be integers known to the compiler, and BLOCK is"),
    (LAUNCH, "kernel[grid](x, y, n, BLOCK=64.0)",
     "The ends of tl.arange must be integers known to the compiler, and BLOCK is", OFFS),
    (MASK, "mask = offs < len(x_ptr)",
     "A kernel has no len(): a block's length is its BLOCK, that of the data"),
    (MASK, "mask = offs < len(offs)",
     "A kernel has no len(): a block's length is its BLOCK, that of the data"),
    (MASK, "mask = offs < x_ptr.shape[0]",
     "x_ptr is a pointer and does not know the tensor's shape: the launcher gives"),
    (MASK, "mask = offs < x_ptr.numel()",
     "x_ptr is a pointer and does not know the tensor's numel: the launcher gives"),
    (MASK, "mask = offs < x_ptr.stride(0)",
     "x_ptr is a pointer and does not know the tensor's stride: the launcher gives"),
    (Y, "y = torch.exp(x)", "torch.exp does not run in a kernel: write tl.exp."),
    (OFFS, "offs = pid * BLOCK + torch.arange(0, BLOCK)",
     "torch.arange does not run in a kernel: write tl.arange."),
    (Y, "y = torch.where(x > 0, x, 0.0)", "torch.where does not run in a kernel: write tl.where."),
    (Y, "y = math.exp(x)", "math.exp does not run in a kernel: write tl.exp."),
    (Y, "y = np.exp(x)", "np.exp does not run in a kernel: write tl.exp."),
    (OFFS, "offs = pid * BLOCK + np.arange(0, BLOCK)",
     "np.arange does not run in a kernel: write tl.arange."),
    (Y, "y = (2 * x).to(np.float32)", "np.float32 is no dtype of Triton: write tl.float32."),
    (Y, "y = 2 * x - x.mean()",
     "What a kernel computes with has no .mean: write the sum by tl.sum, divided by"),
    (Y, "y = 2 * x.float()", "What a kernel computes with has no .float: write x.to(tl.float32)."),
    (Y, "y = x.masked_fill(x > 0, 0.0)",
     "What a kernel computes with has no .masked_fill: write tl.where(mask, value,"),
    (Y, "y = x.unsqueeze(0)",
     "What a kernel computes with has no .unsqueeze: write x[:, None] or x[None, :]."),
    (Y, "y = x ** 2", "A kernel has no **: a square is x * x, and tl.exp2(x) is 2 to the power of x."),
    (Y, "y = x @ x", "A kernel has no @: the product of two blocks is tl.dot(a, b)."),
    (Y, "y = tl.mean(x, axis=0)",
     "triton.language has no mean: write the sum by tl.sum, divided by the number"),
    (Y, "y = tl.tanh(x)", "triton.language has no tanh: write 2 * tl.sigmoid(2 * x) - 1."),
    (LOAD, "x = tl.load(x_ptr + offs, mask=mask, other=-tl.inf)",
     "triton.language has no inf: write float(\"inf\")."),
    (LOAD, LOAD + "\n    x = tl.load(x, mask=mask)",
     "x holds numbers (fp32) and no addresses: tl.load wants a pointer plus offsets"),
    (STORE, "tl.store(y, y_ptr + offs, mask=mask)",
     "tl.store takes first where to store and then what: y_ptr + offs is made of"),
    (STORE, "tl.store(y_ptr + offs, mask=mask)",
     "tl.store(y_ptr + offs, mask=mask) lacks an argument: value."),
    (LOAD, "x = tl.load(x_ptr, offs, mask=mask)",
     "tl.load takes offs for its mask: offsets are added to the pointer, x_ptr +"),
    (LOAD, "x = tl.load(x_ptr + offs, masks=mask)", "tl.load has no argument masks=: write mask=."),
    (LOAD, "x = tl.load(x_ptr + offs, other=0.0)",
     "other= is for the lanes that a mask leaves out, and this tl.load has no mask=."),
    (LAUNCH, "kernel[grid](x, y, BLOCK=BLOCK)",
     "The launch lacks an argument of kernel: n. Its parameters are x_ptr, y_ptr, n,"),
    (LAUNCH, "kernel[grid](x, y, n, n, BLOCK, BLOCK)",
     "The launch gives kernel 6 arguments, and it takes 4: x_ptr, y_ptr, n, BLOCK."),
    (LAUNCH, "kernel[grid](x, y, n, BLOCK_SIZE=BLOCK)",
     "The launch lacks an argument of kernel: BLOCK; it has no BLOCK_SIZE."),
    (LAUNCH, "kernel[grid](x, y, n, BLOCK, BLOCK=BLOCK)",
     "The launch gives kernel its BLOCK twice, by place and by name. Its parameters"),
    (LAUNCH, "kernel[grid](None, y, n, BLOCK=BLOCK)",
     "None stands in this line where a tensor or a number belongs. Does the launch", LOAD),
    (LAUNCH, "kernel[grid](x.data_ptr(), y, n, BLOCK=BLOCK)",
     "x.data_ptr() is a plain number: hand over the tensor itself, x, and the"),
    (LAUNCH, "kernel[grid](n, x, y, BLOCK=BLOCK)",
     "Only integers can be added to a pointer: tl.load gives the numbers", MASK),
    ("@triton.jit\n", "",
     "kernel is a plain Python function: @triton.jit above its def makes it a",
     "def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):"),
    ("@triton.jit\n", "@triton.autotune(configs=[triton.Config({})], key=['n'])\n",
     "kernel is a plain Python function: @triton.jit belongs right above its def,"),
    (Y, "y = tl.dot(x, x)", "tl.dot multiplies blocks of two axes. For two vectors it is tl.sum(a * b,"),
    (SUM, "total += tl.sum(x.to(tl.float32), axis=0)",
     "Two blocks do not fit together: along axis 0 one has 16 elements, the other"),
    ("axis=1", "axis=2", "This block has no axis 2: axes count from 0."),
    ("axis=1", "dim=1", "tl.sum has no argument dim=: write axis=."),
    ("axis=1", "axis=1, keepdim=True", "tl.sum has no argument keepdim=: write keep_dims=."),
    (ADDRESS, "rows * stride_xm + cols * stride_xn",
     "Two blocks do not fit together: along axis 0 one has 16 elements, the other"),
    (MASKS, "mask = rows[:, None] < m & cols[None, :] < n",
     "& binds tighter than a comparison: put both sides in parentheses, (a < m) &"),
    (Y, "y = tl.reshape(2 * x, (32,))", "tl.reshape(2 * x, (32,)): a block keeps its number of elements"),
    (Y, "y = x.reshape(BLOCK * 2)", "x.reshape(BLOCK * 2): a block keeps its number of elements"),
    (Y, "y = tl.broadcast_to(x, (32, 2))", "tl.broadcast_to(x, (32, 2)): the block has another number"),
    (Y, "y = x.item()", "x.item(): a kernel computes on whole blocks"),
    ("tl.program_id(0)\n    offs", "tl.program_id(3)\n    offs",
     "A grid has the axes 0, 1 and 2, and this line asks for axis 3.", "pid = tl.program_id(3)"),
    ("tl.program_id(0)\n    offs", "tl.num_programs(axis=-1)\n    offs",
     "A grid has the axes 0, 1 and 2, and this line asks for axis -1.", "pid = tl.num_programs(axis=-1)"),
    (SUM, "z = x.reshape(BLOCK_N, BLOCK_M + 1)",
     "Each side of a block must be a power of 2: make it the next one, and mask"),
    (SUM, "z = x[0:4]", "x[0:4]: [] only adds axes to a block, by : and None. It picks no element and"),
    (SUM, "z = x[0]", "x[0]: [] only adds axes to a block, by : and None. It picks no element and"),
    (SUM, "z = x[:, rows]", "x[:, rows]: [] only adds axes to a block, by : and None. It picks no element"),
    (SUM, "total[0] = 1.0", "total[0] = …: single elements of a block cannot be set. tl.where(condition,"),
    (Y, "y = 2 * x[0]", "x[0]: [] only adds axes to a block, by : and None. It picks no element and"),
    (Y, "y = (2 * x).to(torch.float32)", "torch.float32 is no dtype of Triton: write tl.float32."),
    (Y, "y = (2 * x).to('float32')", "'float32' is no dtype of Triton: write tl.float32."),
    (ZEROS, "tl.zeros(BLOCK_M, dtype=tl.float32)",
     "The shape of tl.zeros(BLOCK_M, dtype=tl.float32) must be a tuple: with one"),
    (ZEROS, "tl.zeros((BLOCK_M,))", "tl.zeros((BLOCK_M,)) has no dtype: add dtype=tl.float32, or another."),
    (ZEROS, "tl.zeros((BLOCK_M,), dtype=torch.float32)",
     "torch.float32 is no dtype of Triton: write tl.float32."),
    (ZEROS, "tl.zeros((m,), dtype=tl.float32)",
     "The shape of a block must be known to the compiler: integers, or parameters"),
    (ZEROS, "tl.zeros((24,), dtype=tl.float32)",
     "Each side of a block must be a power of 2: make it the next one, and mask"),
    (Y, "y = tl.where(x > 0, x)", "tl.where(x > 0, x) lacks an argument: y."),
    ("total = tl.zeros((BLOCK_M,), dtype=tl.float32)\n    ", "",
     "total has no value yet on this line. A sum that a loop adds to starts before", SUM),
    (Y, "if n > 1000000:\n        z = 2 * x\n    y = z",
     "z has no value yet on this line. It needs one on every way that leads here."),
    (STORE, "tl.store(y_ptr + offs, y, mask=tl.max(x))",
     "The mask of this tl.store holds numbers: make it of comparisons, such as offs"),
    (Y, "y = sum(x)", "sum() is Python's, and does not work "),
    (Y, "y = abs(x)", "abs() is Python's, and does not work "),
    (Y, "y = float(x)", "float() is Python's, and does not work on a block: write x.to(tl.float32)."),
    (Y, "y = round(x)", "round() is Python's, and does not work "),
    (Y, "for v in x:\n        y += v",
     "A loop in a kernel counts with range(…), and cannot walk x: a block is", "for v in x:"),
    (MASK, "mask = offs < grid", "grid belongs to entry, and kernel does not know it: hand it over as an"),
    (f"{LOAD}\n    {Y}", "y = 2 * x", "x has no value in kernel. tl.load(x_ptr + offsets) reads what lies"),
    (f"{LOAD}\n    {Y}", "y = tl.load(x + offs, mask=mask)", "x has no value in kernel. Is x_ptr meant?"),
    (f"{LOAD}\n    {Y}", "y = torch.add(x, x)", "torch.add does not run in a kernel: write a + b."),
    (LOAD, "x = tl.load(x + offs, mask=mask)", "x has no value yet on this line. Is x_ptr meant?"),
    ("tl.program_id(0)", "tl.program_id()", "tl.program_id() lacks an argument: axis."),
    ("tl.program_id(0)", "tl.program_id", "tl.program_id was not called: write tl.program_id(0)."),
    (LOAD, "x = triton.load(x_ptr + offs, mask=mask)", "triton has no load: write tl.load."),
    (Y, "y = tl.concatenate([x, x])",
     "triton.language has no concatenate: write tl.cat(a, b) or tl.join(a, b)."),
    (LOAD, "x = tl.load(x_ptr + offs * 1.0, mask=mask)",
     "A pointer meets a float here: offsets are integers. In a kernel / gives"),
    (LOAD, "x = tl.load(x_ptr * offs, mask=mask)",
     "Only integers can be added to a pointer: tl.load gives the numbers"),
    (LOAD, "x = tl.load(x_ptr + offs & (n - 1), mask=mask)",
     "Python adds before it takes &, so that & meets the pointer: put brackets around offs & (n - 1)."),
    (LOAD, "x = tl.load(x_ptr + y_ptr, mask=mask)",
     "Only integers can be added to a pointer: tl.load gives the numbers"),
    (Y, "y = x // 2", "// and % are for integers, and these are floats: / divides them, and tl.floor"),
    (Y, "y = x & 1", "&, | and ^ join integers and comparisons, and one side here is a float."),
    ("x_ptr + rows[:, None] * stride_xm + cols[None, :] * stride_xn", "x_ptr[rows, cols]",
     "x_ptr[rows, cols] does not read memory, since x_ptr is a pointer:"),
    (STORES, "tl.store(y_ptr + rows[:, None], total, mask=rows < m)",
     "The pointers here form a block of 16 × 1, value and mask one of 16 × 16:"),
    (SUM, "tl.store(y_ptr + rows, x, mask=rows < m)",
     "Two blocks do not fit together: along axis 1 one has 16 elements, the other"),
    (STORE, "tl.atomic_add(y, y_ptr + offs, mask=mask)",
     "tl.atomic_add takes first where to store and then what: y_ptr + offs is made"),
    (LAUNCH, "y = tl.load(x)", "tl.load works in kernels alone, and this line is outside of one."),
    (Y, "y = tl.exp(x.to(tl.float16))", "tl.exp takes no fp16: convert it first, ….to(tl.float32)."),
    (Y, "h = x.to(tl.bfloat16)\n    y = 1 - tl.sqrt(h)",
     "tl.sqrt takes no bf16: convert it first, tl.sqrt(h.to(tl.float32))."),
    (Y, "y = tl.log(x.to(tl.float16)) + tl.sigmoid(x.to(tl.float16))",
     "A function on this line takes no fp16: convert it first, ….to(tl.float32)."),
    (Y, "y = tl.floor(offs)", "tl.floor takes no int32: convert it first, tl.floor(offs.to(tl.float32))."),
    (Y, "y = tl.cdiv(x, 2)", "tl.cdiv(x, 2): tl.cdiv divides integers and rounds up, and these are floats."),
    (Y, "y = ~x", "~ is for integers and comparisons, and this is a float."),
    (Y, "y = x << 1", "<< and >> move the bits of integers, and one side here is a float."),
    (Y, "y = not x", "not is for comparisons, and these are numbers: compare them with 0."),
    (Y, "y = tl.histogram(x, 4)", "tl.histogram takes integers: tl.histogram(x, 4) is given floats."),
    (Y, "y = tl.xor_sum(x, 0)", "tl.xor_sum takes integers: tl.xor_sum(x, 0) is given floats."),
    (Y, "y = tl.flip(x)", "tl.flip(x) lacks its axis: tl.flip(x, 0)."),
    (SUM, "z = tl.sort(x, dim=0)", "tl.sort sorts along the last axis alone: turn the block by tl.trans"),
    (Y, "y = tl.atomic_max(y_ptr.to(tl.pointer_type(tl.float16)) + offs, x.to(tl.float16))",
     "tl.atomic_max has no form for fp16: give it memory of fp32 or of integers."),
    (OFFS, OFFS + "\n    far = offs * 2**31",
     "2147483648 does not fit int32, which the other side is: convert that first, by .to(tl.int64)."),
    (OFFS, OFFS + "\n    wide = offs[:, None] + tl.arange(0, 65536)[None, :]",
     "A block on this line has 4194304 elements, and no block in Triton more than"),
    (Y, "y = x.to(int)", "int is no dtype of Triton: write tl.int32."),
    (Y, "y = x.to('fp16')", "'fp16' is no dtype of Triton: write tl.float16."),
    (Y, "y = tl.float32(x)", "tl.float32 is a dtype: x.to(tl.float32) converts."),
    (Y, "y = tl.math.tanh(x)", "triton.language.math has no tanh: write 2 * tl.sigmoid(2 * x) - 1."),
    (SUM, "h = x.to(tl.float16)\n        z = tl.dot(h, tl.trans(h), h)",
     "What tl.dot(h, tl.trans(h), h) adds to must be of the product's shape, and in"),
    (Y, "d = tl.make_tensor_descriptor(x_ptr, [n, n], [1, BLOCK], [4, 4])\n    y = d.load([0, 0])",
     "A tensor descriptor needs elements that lie side by side: its last stride must",
     "d = tl.make_tensor_descriptor"),
    (Y, "y = {0: x}[0]", "Triton cannot compile this part of Python (Dict): a kernel is arithmetic"),
    (SUM, "z = tl.dot(x, x)", "In tl.dot(x, x) the first must have as many columns as the second has rows."),
    (SUM, "z = tl.dot(x.to(tl.float16), tl.trans(x))",
     "tl.dot(x.to(tl.float16), tl.trans(x)) multiplies fp16 by fp32, and both must"),
]  # fmt: skip
COMPILED: list[tuple[str, ...]] = [
    (Y, "y = tl.fdiv(x.to(tl.float16), x.to(tl.float16))", "The compiler fails without a word. tl.fdiv("),
    (Y, "y = x.to(tl.float8e4nv) / x.to(tl.float8e4nv)",
     "The compiler fails without a word. There is no arithmetic in fp8e4nv, as in x.to(tl.float8e4nv) / "),
    (Y, "y = tl.fma(offs, offs, offs)", "The compiler fails without a word. tl.fma(offs, offs, offs) is for"),
    (LOAD, "x = tl.load(x_ptr + offs, mask=1)",
     "The compiler fails without a word, and the mask of this tl.load is 1, a number"),
    (LOAD, "x = tl.load(x_ptr + offs, mask=n)",
     "The compiler fails without a word, and the mask of this tl.load is n, a number"),
    (LOAD, "x = tl.load(x_ptr + offs, mask=offs)",
     "The compiler fails without a word, and the mask of this tl.load is offs, a number"),
    (Y, "y = tl.fdiv(offs, offs)", "tl.fdiv(offs, offs) divides floats: of integers / makes a float"),
    (Y, "y = tl.clamp(offs, 0, 5)", "tl.clamp(offs, 0, 5) takes floats: of integers write tl.minimum"),
    (Y, "y = tl.umulhi(x, x)", "tl.umulhi(x, x) multiplies integers, and is given fp32."),
    (LAUNCH, LAUNCH[:-1] + ", num_warps=3)", "The launch asks for a num_warps that no GPU has"),
    (MASK, "blocks = triton.cdiv(n, BLOCK)", "triton.cdiv is for launchers: in a kernel write tl.cdiv."),
    (OFFS, "offs = range(BLOCK)", "A range only drives a loop. A block of offsets is tl.arange(0, BLOCK)."),
    (OFFS, "offs = [i for i in range(BLOCK)]",
     "A kernel has no lists: what it computes of a block holds for all elements of"),
    (Y, "if x > 0:\n        y = x",
     "An if decides once for the whole block: tl.where(condition, a, b) chooses for", "if x > 0:"),
    (Y, "y = x if x > 0 else 0.0",
     "An if decides once for the whole block: tl.where(condition, a, b) chooses for"),
    (Y, "y = torch.zeros(BLOCK)", "torch.zeros does not run in a kernel: write tl.zeros."),
    (Y, "print(x)", "In a kernel print begins with a text: tl.device_print(\"x\", x)."),
    (Y, "print(f'x = {x}')", "A kernel cannot put values into an f-string: tl.device_print(\"x\", x) prints"),
    (LAUNCH, "kernel[grid](x, y, n, BLOCK=BLOCK, SIZE=3)",
     "kernel has no parameter SIZE. Its parameters are x_ptr, y_ptr, n, BLOCK."),
    (LAUNCH, "kernel[grid](x.numpy(), y, n, BLOCK=BLOCK)",
     "An argument of this launch is of type numpy.ndarray: kernel can take tensors"),
    (Y, "y = entry(x)",
     "entry is called in a kernel: it needs @triton.jit above its def as well.", "def entry(x):"),
    (ADDRESS, "rows[:, None] * stride_xm + cols[None, :] * stride_xn.to(tl.int64)",
     "stride_xn is a plain number here, without .to(): an argument that is 1 is compiled in as a constant. "
     "tl.cast(stride_xn, tl.int64) converts it either way."),
    (ADDRESS, "rows[:, None] * stride_xm + cols[None, :] * (stride_xn * 1).to(tl.int64)",
     "stride_xn * 1 is a plain number here, without .to(): an argument that is 1, here stride_xn, is "
     "compiled in as a constant. tl.cast(stride_xn * 1, tl.int64) converts it either way."),
    (ADDRESS, "rows[:, None] * stride_xm + cols[None, :] * tl.multiple_of(stride_xn, 8)",
     "stride_xn is compiled in as a constant where it is 1, and tl.multiple_of takes none. That 16 divides"),
    (OFFS, "offs = pid * BLOCK.to(tl.int64) + tl.arange(0, BLOCK)",
     "BLOCK is a plain number that the compiler knows, without .to(): tl.cast(BLOCK, tl.int64) works."),
    ("axis=1", "axis=1, keep_dims=True",
     "total is a block of 16 fp32 before the loop and a block of 16 × 16",
     "for start in range(0, n, BLOCK_N):"),
    (STORE, "tl.store(y_ptr + offs, y, mask=mask)\n    return y",
     "A kernel returns no value: what it computes leaves it by tl.store."),
    (ZEROS, "0", "total is int32 before the loop and a block of 16 fp32 after it: start it"),
    ("for start in range(0, n, BLOCK_N):", "for i, start in enumerate(range(0, n, BLOCK_N)):",
     "enumerate() is Python's, and does not work in a kernel."),
    ("for start in range(0, n, BLOCK_N):", "for start in range(0, n / BLOCK_N):",
     "A loop in a kernel counts in integers: / gives a float, and // an integer."),
    (MASK, "mask = 0 <= offs < n",
     "A kernel takes no chained comparison such as 0 <= offs < n: write (a <= b) & (b"),
    (Y, "try:\n        y = 2 * x\n    except Exception:\n        y = x",
     "Triton cannot compile this part of Python (Try): a kernel is", "try:"),
    (GRID, "grid = (tl.cdiv(n, BLOCK),)",
     "tl.cdiv works in kernels alone, and this line is outside of one: a launcher"),
]  # fmt: skip
INTERPRETED: list[tuple[str, ...]] = [
    (Y, "y = tl.inline_asm_elementwise('mov.b32 $0, $1;', '=f,f', [x], tl.float32, True, 1)",
     "Inline assembly is run by a GPU alone, and there is none here: that says nothing against"),
    (Y, "y = tl.extra.libdevice.j0(x)",
     "Without a GPU a kernel runs in Triton's interpreter, which has no libdevice.j0: write it in words"),
    (Y, "y = pow(x, 2)", "pow() is Python's, and does not work on a block: write x * x for a square."),
    (LAUNCH, "kernel[triton.cdiv(n, BLOCK)](x, y, n, BLOCK=BLOCK)",
     "The grid of kernel must be a tuple: with one axis it is (blocks,), with a"),
    (GRID, f"{GRID}\n    assert x.is_cuda", "This line insists on a GPU's tensors, and kernels are"),
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
    (GRID, "grid = lambda meta: (triton.cdiv(n, meta['BLOCK_SIZE']),)",
     "No argument of the launch is called BLOCK_SIZE. The parameters of kernel are"),
    (GRID, "grid = lambda: (triton.cdiv(n, BLOCK),)",
     "A grid that is a function is called with the arguments of the launch: lambda", LAUNCH),
    (OFFS, "offs = range(BLOCK)",
     "A range only drives a loop. A block of offsets is tl.arange(0, BLOCK).", MASK),
    (OFFS, "offs = [i for i in range(BLOCK)]",
     "A list stands in this line, and a kernel computes with numbers and with what", MASK),
    (Y, "y = torch.zeros(BLOCK)", "torch.zeros does not run in a kernel: write tl.zeros."),
    (LAUNCH, "kernel[grid](x.numpy(), y, n, BLOCK=BLOCK)",
     "A numpy.ndarray stands in this line where a tensor or a number belongs. Does", LOAD),
    ("axis=1", "axis=1, keep_dims=True",
     "The pointers here form a block of 16, value and mask one of 16 × 16: give", STORES),
]  # fmt: skip
