"""Extra: right answers that move the cache through memory once more."""

from tools.planted import Laggard

WIDENED = """@triton.jit
def widen_kernel(
    x_ptr, wide_ptr, rows, s, h, stride_b, stride_s, stride_h, D: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64) * 256 + tl.arange(0, 256)
    offs_d = tl.arange(0, BLOCK)
    at = row // (s * h) * stride_b + row // h % s * stride_s + row % h * stride_h
    mask = (row < rows)[:, None] & (offs_d < D)[None, :]
    x = tl.load(x_ptr + at[:, None] + offs_d[None, :], mask=mask)
    tl.store(wide_ptr + row[:, None] * D + offs_d[None, :], x, mask=mask)


def widened(x):
    b, s, h, d = x.shape
    wide = torch.empty(b, s, h, d, dtype=torch.float32, device=x.device)
    widen_kernel[(triton.cdiv(b * s * h, 256),)](
        x, wide, b * s * h, s, h, *x.stride()[:3], D=d, BLOCK=triton.next_power_of_2(d)
    )
    return wide


"""

laggards = [
    # 2 bytes read, 4 written and 4 read of every element: five times the bytes.
    Laggard(
        "the caches are converted to fp32 first",
        swap={
            "def choose_splits": f"{WIDENED}def choose_splits",
            "other=0.0)\n    m_i =": "other=0.0).to(tl.float32)\n    m_i =",
            "    S = k_cache.shape[1]\n": "    k_cache, v_cache = widened(k_cache), widened(v_cache)\n"
            "    S = k_cache.shape[1]\n",
        },
    )
]
