"""Extra: right answers that read each key once for every query head, or write it out for each of them."""

from tools.planted import Laggard

WRITTEN = """@triton.jit
def write_kernel(
    x_ptr, wide_ptr, rows, s, h, group, stride_b, stride_s, stride_h, D: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64) * 256 + tl.arange(0, 256)
    offs_d = tl.arange(0, BLOCK)
    at = row // (s * h) * stride_b + row // h % s * stride_s + row % h // group * stride_h
    mask = (row < rows)[:, None] & (offs_d < D)[None, :]
    x = tl.load(x_ptr + at[:, None] + offs_d[None, :], mask=mask)
    tl.store(wide_ptr + row[:, None] * D + offs_d[None, :], x, mask=mask)


def written_out(x, h):
    b, s, n_kv, d = x.shape
    wide = torch.empty(b, s, h, d, dtype=x.dtype, device=x.device)
    write_kernel[(triton.cdiv(b * s * h, 256),)](
        x, wide, b * s * h, s, h, h // n_kv, *x.stride()[:3], D=d, BLOCK=triton.next_power_of_2(d)
    )
    return wide


"""

laggards = [
    # 4.3 GB are asked for where 537 MB lie in memory: a key is loaded by 8 programs.
    Laggard(
        "a program for every query head",
        swap={
            "k_ptr += pid // n_kv * stride_kb + pid % n_kv * stride_kh": (
                "k_ptr += pid // n_kv * stride_kb + pid % n_kv // MEMBERS * stride_kh"
            ),
            "v_ptr += pid // n_kv * stride_vb + pid % n_kv * stride_vh": (
                "v_ptr += pid // n_kv * stride_vb + pid % n_kv // MEMBERS * stride_vh"
            ),
            "    GROUP: tl.constexpr, D: tl.constexpr,\n": (
                "    MEMBERS: tl.constexpr, GROUP: tl.constexpr, D: tl.constexpr,\n"
            ),
            "group_kernel[(B * n_kv, n_splits)]": "group_kernel[(B * H, n_splits)]",
            "maxima, sums, parts, n_kv, scale,": "maxima, sums, parts, H, scale,",
            "GROUP=H // n_kv, D=D": "MEMBERS=H // n_kv, GROUP=1, D=D",
        },
    ),
    # 64 heads of keys and values where 8 are: 4.3 GB written and read again.
    Laggard(
        "keys are written out for each query head",
        stores=True,
        swap={
            "def choose_splits": f"{WRITTEN}def choose_splits",
            "    S, n_kv = k_cache.shape[1:3]\n": (
                "    k_cache, v_cache = written_out(k_cache, H), written_out(v_cache, H)\n"
                "    S, n_kv = k_cache.shape[1:3]\n"
            ),
        },
    ),
]
