"""Softmax launchers of unknown quality: right ones in several styles, and a right one with an edit each."""

from __future__ import annotations

from grader.challenge import Candidate

IMPORTS = "import torch\nimport triton\nimport triton.language as tl\n\n"
ROWS = f"""{IMPORTS}
@triton.jit
def kernel(x_ptr, y_ptr, n_cols, stride_xm, BLOCK_N: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offs_n = tl.arange(0, BLOCK_N)
    mask = offs_n < n_cols
    x = tl.load(x_ptr + row * stride_xm + offs_n, mask=mask, other=-float("inf")).to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=0))
    denominator = tl.sum(numerator, axis=0)
    tl.store(y_ptr + row * n_cols + offs_n, numerator / denominator, mask=mask)


def softmax(x):
    n_rows, n_cols = x.shape
    y = torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device)
    kernel[(n_rows,)](x, y, n_cols, x.stride(0), BLOCK_N=triton.next_power_of_2(n_cols))
    return y
"""
TILES = f"""{IMPORTS}
@triton.jit
def kernel(x_ptr, y_ptr, M, N, stride_xm, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    offs_m = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    mask = (offs_m < M)[:, None] & (offs_n < N)[None, :]
    x = tl.load(x_ptr + offs_m[:, None] * stride_xm + offs_n[None, :], mask=mask, other=float("-inf"))
    x = x.to(tl.float32)
    p = tl.exp2((x - tl.max(x, axis=1, keep_dims=True)) * 1.4426950408889634)
    p *= 1.0 / tl.sum(p, axis=1, keep_dims=True)
    tl.store(y_ptr + offs_m[:, None] * N + offs_n[None, :], p, mask=mask)


def softmax(x):
    M, N = x.shape
    y = x.new_empty((M, N))
    BLOCK_N = triton.next_power_of_2(N)
    BLOCK_M = max(1, min(16, 2048 // BLOCK_N))
    kernel[(triton.cdiv(M, BLOCK_M),)](x, y, M, N, x.stride(0), BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N)
    return y
"""
ONLINE = f"""{IMPORTS}
@triton.jit
def kernel(x_ptr, y_ptr, n_rows, n_cols, stride_xm, BLOCK_N: tl.constexpr):
    offs_n = tl.arange(0, BLOCK_N)
    for row in range(tl.program_id(0).to(tl.int64), n_rows, tl.num_programs(0)):
        m_i = tl.full((BLOCK_N,), -3.4028234e38, tl.float32)
        l_i = tl.zeros((BLOCK_N,), tl.float32)
        for start in range(0, n_cols, BLOCK_N):
            mask = start + offs_n < n_cols
            x = tl.load(x_ptr + row * stride_xm + start + offs_n, mask=mask, other=-float("inf"))
            x = x.to(tl.float32)
            m_new = tl.where(x > m_i, x, m_i)
            l_i = l_i * tl.exp(m_i - m_new) + tl.exp(x - m_new)
            m_i = m_new
        m = tl.max(m_i, axis=0)
        scale = 1.0 / tl.sum(l_i * tl.exp(m_i - m), axis=0)
        for start in range(0, n_cols, BLOCK_N):
            mask = start + offs_n < n_cols
            x = tl.load(x_ptr + row * stride_xm + start + offs_n, mask=mask, other=-float("inf"))
            tl.store(y_ptr + row * n_cols + start + offs_n, tl.exp(x.to(tl.float32) - m) * scale, mask=mask)


def softmax(x):
    n_rows, n_cols = x.shape
    y = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    kernel[(min(n_rows, 64),)](x, y, n_rows, n_cols, x.stride(0), BLOCK_N=SIZE)
    return y
"""


def edited(wrong: str, *edits: tuple[str, str], source: str = ROWS) -> Candidate:
    """A right one with these edits, each at a text that stands in it once.

    Raises:
        ValueError: one does not.
    """
    for old, new in edits:
        if source.count(old) != 1:
            raise ValueError(f"{old!r} stands {source.count(old)} times in the candidate")
        source = source.replace(old, new)
    return Candidate(source, "softmax", wrong)


ALLOCATION = "y = torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device)"
TURNED = "y = torch.empty(n_cols, n_rows, dtype=x.dtype, device=x.device).T"
KEPT = "y = KEPT.setdefault((x.shape, x.dtype), torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device))"
NUMERATOR = "numerator = tl.exp(x - tl.max(x, axis=0))"
PARKED = "    tl.store(x_ptr + row * stride_xm + offs_n, numerator, mask=mask)\n"
ROUNDED = f"{NUMERATOR}.to(y_ptr.dtype.element_ty).to(tl.float32)"
SUM = "    denominator = tl.sum"
BLOCK = "triton.next_power_of_2(n_cols)"
OTHER = 'other=-float("inf")'
MAXIMUM = "tl.max(x, axis=0)"
QUOTIENT = "numerator / denominator"

# Right ones between wrong ones, in no order.
CANDIDATES = [
    edited("lengths of a row", (OTHER, "other=0.0")),
    edited("the numbers in x", (f"x - {MAXIMUM}", "x")),
    Candidate(ROWS, "softmax"),
    edited("how x lies in memory", ("row * stride_xm", "row * n_cols")),
    edited("the dtype of the result", ("dtype=x.dtype, ", "")),
    edited(
        "how the result lies in memory",
        (ALLOCATION, TURNED),
        ("row * n_cols + offs_n", "row + offs_n * tl.num_programs(0)"),
    ),
    Candidate(TILES, "softmax"),
    edited("what becomes of x", (SUM, PARKED + SUM)),
    edited("what becomes of x", (ALLOCATION, "y = x if x.is_contiguous() else torch.empty_like(x)")),
    edited(
        "results of earlier calls", (ALLOCATION, KEPT), ("\n\ndef softmax", "\n\nKEPT = {}\n\n\ndef softmax")
    ),
    edited("lengths of a row", (BLOCK, f"min({BLOCK}, 4096)")),
    Candidate(ONLINE.replace("SIZE", "1024"), "softmax"),
    edited("precision in fp32", (").to(tl.float32)", ").to(tl.float16).to(tl.float32)")),
    edited("precision in 16 bits", (NUMERATOR, ROUNDED)),
    edited("NaN", (f"    {NUMERATOR}", f"    x = tl.where(x == x, x, -float('inf'))\n    {NUMERATOR}")),
    Candidate(TILES.replace("2048", "256").replace("p *= 1.0 / tl", "p /= tl"), "softmax"),
    edited(
        "-inf",
        (f"x - {MAXIMUM}", f"x - tl.maximum({MAXIMUM}, -3.0e38)"),
        (QUOTIENT, f"tl.where(denominator > 0, {QUOTIENT}, 0.0)"),
    ),
    edited("the number of rows", ("kernel[(n_rows,)]", "kernel[(min(n_rows, 512),)]")),
    edited("the numbers in x", (OTHER, "other=-1000.0")),
    Candidate(ONLINE.replace("SIZE", "256"), "softmax"),
    edited(
        "rows of one element", ("    kernel[", "    if n_cols == 1:\n        return x.clone()\n    kernel[")
    ),
]
