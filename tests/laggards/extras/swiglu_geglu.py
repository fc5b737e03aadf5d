"""Extra: right answers that move more bytes than they must, forwards or backwards."""

from tools.planted import Laggard

laggards = [
    # The activation is written and read again, in fp32: 14 bytes an element of bf16 where 6 would do.
    Laggard(
        "the activation is stored, then multiplied by up",
        swap={
            """\
def forward_kernel(
…
    # Tiles are counted along a row first; 64 bits: row number times stride may pass 2**31.
""": '''\
def activate_kernel(gate_ptr, a_ptr, n_rows, n_cols, stride_gm, GEGLU: tl.constexpr, BLOCK_M: tl.constexpr,
                    BLOCK_N: tl.constexpr):  # fmt: skip
    """Reads mn, writes mn in fp32."""
''',
            """\
    # 2 reads and 1 write, 6 bytes an element of bf16; the activation itself never leaves the chip.
…
    tl.store(y_ptr + offs_m[:, None] * n_cols + offs_n[None, :], g * p * u, mask=mask)
""": '''\
    g = tl.load(gate_ptr + offs_m[:, None] * stride_gm + offs_n[None, :], mask=mask, other=0.0).to(tl.float32)
    p, _ = gate_parts(g, GEGLU)
    tl.store(a_ptr + offs_m[:, None] * n_cols + offs_n[None, :], g * p, mask=mask)


@triton.jit
def multiply_kernel(
    a_ptr, up_ptr, y_ptr, n_rows, n_cols, stride_um, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    """Reads mn in fp32 and mn, writes mn."""
    tiles_n = tl.cdiv(n_cols, BLOCK_N)
    offs_m = (tl.program_id(0) // tiles_n).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(0) % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (offs_m < n_rows)[:, None] & (offs_n < n_cols)[None, :]
    a = tl.load(a_ptr + offs_m[:, None] * n_cols + offs_n[None, :], mask=mask)
    up = tl.load(up_ptr + offs_m[:, None] * stride_um + offs_n[None, :], mask=mask)
    tl.store(y_ptr + offs_m[:, None] * n_cols + offs_n[None, :], a * up.to(tl.float32), mask=mask)
''',
            """\
        forward_kernel[grid](
            gate, up, y, n_rows, n_cols, gate.stride(0), up.stride(0), GEGLU=geglu, **shape, num_warps=4
        )
""": """\
        activated = torch.empty(n_rows, n_cols, dtype=torch.float32, device=gate.device)
        activate_kernel[grid](gate, activated, n_rows, n_cols, gate.stride(0), GEGLU=geglu, **shape)
        multiply_kernel[grid](activated, up, y, n_rows, n_cols, up.stride(0), **shape)
""",
        },
        stores=True,
    ),
    # gate, up and dy are read twice: 16 bytes an element of bf16 where 10 would do.
    Laggard(
        "dgate and dup by a kernel each, which both read everything",
        swap={
            "def backward_kernel(\n": "def dgate_kernel(\n",
            "    dup_ptr,\n": '''\
    n_rows,
    n_cols,
    stride_dym,
    stride_dyn,
    stride_gm,
    stride_um,
    GEGLU: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """Reads 3mn, writes mn."""
    tiles_n = tl.cdiv(n_cols, BLOCK_N)
    offs_m = (tl.program_id(0) // tiles_n).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = (tl.program_id(0) % tiles_n).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (offs_m < n_rows)[:, None] & (offs_n < n_cols)[None, :]
    dy = tl.load(dy_ptr + offs_m[:, None] * stride_dym + offs_n[None, :] * stride_dyn, mask=mask, other=0.0)
    gate = tl.load(gate_ptr + offs_m[:, None] * stride_gm + offs_n[None, :], mask=mask, other=0.0)
    up = tl.load(up_ptr + offs_m[:, None] * stride_um + offs_n[None, :], mask=mask, other=0.0)
    dy, g, u = dy.to(tl.float32), gate.to(tl.float32), up.to(tl.float32)
    p, dp = gate_parts(g, GEGLU)
    out = offs_m[:, None] * n_cols + offs_n[None, :]
    tl.store(dgate_ptr + out, dy * u * (p + g * dp), mask=mask)


@triton.jit
def dup_kernel(
    dy_ptr,
    gate_ptr,
    up_ptr,
    dup_ptr,
''',
            '''\
    """dgate = dy * up * activation'(gate) and dup = dy * activation(gate), for one tile."""
''': '    """Reads 3mn, up without need, writes mn."""\n',
            "    # 64 bits here too: the columns of a transposed dy lie n_rows apart.\n": """\
""",
            """\
    # 3 reads and 2 writes, 10 bytes an element of bf16: both gradients from one look at everything.
""": """\
""",
            """\
    p, dp = gate_parts(g, GEGLU)
    out = offs_m[:, None] * n_cols + offs_n[None, :]
    tl.store(dup_ptr + out, dy * (g * p), mask=mask)
    # The product rule: g stands in g * p twice.
    tl.store(dgate_ptr + out, dy * u * (p + g * dp), mask=mask)
""": """\
    p, _ = gate_parts(g, GEGLU)
    out = offs_m[:, None] * n_cols + offs_n[None, :]
    tl.store(dup_ptr + out, dy * (g * p) + 0 * u, mask=mask)
""",
            """\
        backward_kernel[grid](
…
        )
""": """\
        rest = (n_rows, n_cols, *dy.stride(), gate.stride(0), up.stride(0))
        dgate_kernel[grid](dy, gate, up, dgate, *rest, GEGLU=ctx.geglu, **shape)
        dup_kernel[grid](dy, gate, up, dup, *rest, GEGLU=ctx.geglu, **shape)
""",
        },
    ),
]
