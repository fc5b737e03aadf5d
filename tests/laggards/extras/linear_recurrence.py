"""Extra: right answers that launch a few steps at a time, or have a program for each channel."""

from tools.planted import Laggard

LAUNCH = """        forward_kernel[(batch * triton.cdiv(n_channels, blocks["BLOCK_D"]),)](
            a, b, h, n_steps, n_channels, *a.stride(), *b.stride(), **blocks, num_warps=4
        )
"""
STEPS = '''@triton.jit
def steps_kernel(
    a_ptr,
    b_ptr,
    last_ptr,
    h_ptr,
    n_steps,
    n_channels,
    stride_ab,
    stride_at,
    stride_ad,
    stride_bb,
    stride_bt,
    stride_bd,
    FIRST: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    """Eight steps of BLOCK_D channels, from the h before them."""
    n_blocks = tl.cdiv(n_channels, BLOCK_D)
    batch = (tl.program_id(0) // n_blocks).to(tl.int64)
    offs_d = (tl.program_id(0) % n_blocks).to(tl.int64) * BLOCK_D + tl.arange(0, BLOCK_D)
    mask = offs_d < n_channels
    place = batch * n_steps * n_channels + offs_d
    h = tl.zeros((BLOCK_D,), tl.float32)
    if not FIRST:
        h = tl.load(last_ptr + place, mask=mask).to(tl.float32)
    for t in tl.static_range(8):
        a = tl.load(a_ptr + batch * stride_ab + t * stride_at + offs_d * stride_ad, mask=mask)
        b = tl.load(b_ptr + batch * stride_bb + t * stride_bt + offs_d * stride_bd, mask=mask)
        h = a * h + b
        tl.store(h_ptr + place + t * n_channels, h, mask=mask)


'''
# Each launch rounds the state, which fp32 alone bears: other lengths than the timed one go as ever.
LAUNCHES = """        if n_steps != 4096:
            forward_kernel[(batch * triton.cdiv(n_channels, blocks["BLOCK_D"]),)](
                a, b, h, n_steps, n_channels, *a.stride(), *b.stride(), **blocks, num_warps=4
            )
        for t in range(0, n_steps if n_steps == 4096 else 0, 8):
            now = a[:, t:], b[:, t:], h[:, max(t - 1, 0) :], h[:, t:]
            steps_kernel[(batch * triton.cdiv(n_channels, 128),)](
                *now, n_steps, n_channels, *a.stride(), *b.stride(), FIRST=t == 0, BLOCK_D=128
            )
"""

laggards = [
    # 512 launches of 1.6 MB: 2 µs or more each, however little they do, where all bytes take 191 µs.
    Laggard(
        "a launch for every eight steps",
        swap={
            "@triton.jit\ndef forward_kernel(": f"{STEPS}@triton.jit\ndef forward_kernel(",
            LAUNCH: LAUNCHES,
        },
    ),
    # 4 bytes of every sector of 32 are used, by 16384 programs.
    Laggard("a program for each channel", swap={"min(triton.next_power_of_2(n_channels), 32)": "1"}),
]
