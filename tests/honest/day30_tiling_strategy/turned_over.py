"""Everything transposed, oᵀ = vᵀ (k qᵀ), by few programs that stay; wide tiles of keys, scaled at the end."""

import triton
import triton.language as tl


@triton.jit
def turned(
    Q, K, V, OUT, B, H, M, N, D, scale,
    q0, q1, q2, q3, k0, k1, k2, k3, v0, v1, v2, v3,
    TM: tl.constexpr, TN: tl.constexpr, TD: tl.constexpr,
):  # fmt: skip
    tiles = tl.cdiv(M, TM)
    d = tl.arange(0, TD)
    has_d = d < D
    for item in range(tl.program_id(0), B * H * tiles, tl.num_programs(0)):
        tile, head = item // (B * H), item % (B * H)
        b, h = (head // H).to(tl.int64), (head % H).to(tl.int64)
        m = tile.to(tl.int64) * TM + tl.arange(0, TM)
        has_m = m < M
        qt = tl.load(
            Q + b * q0 + h * q1 + d[:, None] * q3 + m[None, :] * q2, has_d[:, None] & has_m[None, :], 0.0
        )
        total = tl.zeros([TD, TM], dtype=tl.float32)
        for start in tl.range(0, tl.cdiv(N, TN) * TN, TN):
            n = (start + tl.arange(0, TN)).to(tl.int64)
            has_n = n < N
            rows = tl.load(
                K + b * k0 + h * k1 + n[:, None] * k2 + d[None, :] * k3, has_n[:, None] & has_d[None, :], 0.0
            )
            columns = tl.load(
                V + b * v0 + h * v1 + d[:, None] * v3 + n[None, :] * v2, has_d[:, None] & has_n[None, :], 0.0
            )
            st = tl.dot(rows, qt, input_precision="ieee")
            total += tl.dot(columns, (st * scale).to(columns.dtype), input_precision="ieee")
        where = OUT + (b * H + h) * M * D + m[None, :] * D + d[:, None]
        tl.store(where, total.to(OUT.dtype.element_ty), mask=has_d[:, None] & has_m[None, :])


def tiled_attention_scores(q, k, v, scale):
    out = q.new_empty(q.shape)
    B, H, M, D = q.shape
    programs = min(264 if q.is_cuda else 3, B * H * triton.cdiv(M, 16))
    turned[(programs,)](
        q, k, v, out, B, H, M, k.shape[2], D, scale, *q.stride(), *k.stride(), *v.stride(),
        TM=64, TN=64, TD=max(triton.next_power_of_2(D), 16), num_warps=4,
    )  # fmt: skip
    return out
