"""Extra: right answers that send a row of logits through memory more often than they must."""

from tools.planted import Laggard

BEFORE = "@triton.jit\ndef dpo_kernel("
LAUNCH = "        logprob_backward_kernel[(n_rows * n_steps, triton.cdiv(n_cols, BLOCK_N))]("
P = "p = tl.exp2((x - m) * LOG2_E) * (1 / l_row)"

LOG_SOFTMAX = '''@triton.jit
def log_softmax_kernel(
    x_ptr, max_ptr, sum_ptr, y_ptr, n_steps, n_cols, stride_b, stride_s, BLOCK_N: tl.constexpr
):
    """Reads v, writes v in fp32."""
    token = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    x_ptr += token // n_steps * stride_b + token % n_steps * stride_s
    x = tl.load(x_ptr + cols, mask=cols < n_cols, other=0.0).to(tl.float32)
    y = x - tl.load(max_ptr + token) - tl.log(tl.load(sum_ptr + token))
    tl.store(y_ptr + token * n_cols + cols, y, mask=cols < n_cols)


'''
STORED = """        logp = torch.empty(n_rows, n_steps, n_cols, dtype=torch.float32, device=logits.device)
        log_softmax_kernel[(n_rows * n_steps, triton.cdiv(n_cols, BLOCK_N))](
            logits, maxima, sums, logp, n_steps, n_cols, *logits.stride()[:2], BLOCK_N=BLOCK_N
        )
"""


laggards = [
    # 2 + 2 + 4 + 4 + 2 bytes a logit of bf16 where 6 would do.
    Laggard(
        "the logarithm of softmax goes through memory in fp32",
        swap={
            BEFORE: LOG_SOFTMAX + BEFORE,
            LAUNCH: STORED + LAUNCH,
            "            dlogprobs,\n            logits,": "            dlogprobs,\n            logp,",
            "logits_ptr + row * stride_b + step * stride_s + cols": "logits_ptr + token * n_cols + cols",
            P: "p = tl.exp(x)",
        },
    )
]
