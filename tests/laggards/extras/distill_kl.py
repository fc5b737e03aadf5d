"""Extra: right answers that send both softmaxes through memory."""

from tools.planted import Laggard

BEFORE = "@triton.jit\ndef mean_kernel("
GRID = "        backward_kernel[(n_rows, triton.cdiv(n_cols, BLOCK_N))](\n"
BACKWARD = f"{GRID}            dmean,\n"
P_S = "tl.exp2((s - tl.load(stats_ptr + row * 4)) * scale) * (1 / tl.load(stats_ptr + row * 4 + 1))"
P_T = "tl.exp2((t - tl.load(stats_ptr + row * 4 + 2)) * scale) * (1 / tl.load(stats_ptr + row * 4 + 3))"
SOFTMAX = '''@triton.jit
def softmax_kernel(
    x_ptr, stats_ptr, y_ptr, n_cols, stride_m, scale, WHICH: tl.constexpr, BLOCK_N: tl.constexpr
):
    """Reads v, writes v in fp32."""
    row = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    x = tl.load(x_ptr + row * stride_m + cols, mask=cols < n_cols, other=0.0).to(tl.float32)
    top, total = tl.load(stats_ptr + row * 4 + WHICH), tl.load(stats_ptr + row * 4 + WHICH + 1)
    y = tl.exp2((x - top) * scale) * (1 / total)
    tl.store(y_ptr + row * n_cols + cols, y, mask=cols < n_cols)


'''
STORED = """        scale = 1 / (math.log(2) * ctx.temperature)
        both = []
        for which, x in ((0, student), (2, teacher)):
            y = torch.empty(n_rows, n_cols, dtype=torch.float32, device=x.device)
            softmax_kernel[(n_rows, triton.cdiv(n_cols, 2048))](
                x, stats, y, n_cols, x.stride(0), scale, WHICH=which, BLOCK_N=2048
            )
            both.append(y)
        p, q = both
"""

laggards = [
    # 4 bytes a logit of bf16 forwards; 12 to store both softmaxes and 10 for their difference: 26, not 10.
    Laggard(
        "both softmaxes go through memory on the way back",
        swap={
            BEFORE: SOFTMAX + BEFORE,
            BACKWARD: f"{STORED}{BACKWARD}            p,\n            q,\n",
            "    dmean_ptr,\n    student_ptr,": "    dmean_ptr,\n    p_ptr,\n    q_ptr,\n    student_ptr,",
            P_S: "tl.load(p_ptr + row * n_cols + cols, mask=mask, other=0.0)",
            P_T: "tl.load(q_ptr + row * n_cols + cols, mask=mask, other=0.0)",
        },
    )
]
