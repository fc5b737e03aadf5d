"""Extra: right answers that store rows twice, or leave most of a sector unread."""

from tools.planted import Laggard

COLS = "cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)"
SELECT = '''@triton.jit
def swap_kernel(
    reward_a_ptr, reward_b_ptr, chosen_ptr, rejected_ptr, margin_ptr, n_cols, BLOCK_N: tl.constexpr
):
    """Reads 2d, writes 2d."""
    row = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = cols < n_cols
    reward_a, reward_b = tl.load(reward_a_ptr + row), tl.load(reward_b_ptr + row)
    a = tl.load(chosen_ptr + row * n_cols + cols, mask=mask)
    b = tl.load(rejected_ptr + row * n_cols + cols, mask=mask)
    tl.store(chosen_ptr + row * n_cols + cols, tl.where(reward_b > reward_a, b, a), mask=mask)
    tl.store(rejected_ptr + row * n_cols + cols, tl.where(reward_b > reward_a, a, b), mask=mask)
    if tl.program_id(1) == 0:
        margin = reward_a - reward_b
        tl.store(margin_ptr + row, tl.where(reward_b > reward_a, -margin, margin))


'''

BACK = "    return chosen, rejected, margin\n"
LAUNCH = """    swap_kernel[(n_rows, triton.cdiv(n_cols, BLOCK_N))](
        reward_a, reward_b, chosen, rejected, margin, n_cols, BLOCK_N=BLOCK_N
    )
"""

laggards = [
    # Rows are read twice and written twice: 8d elements where 4d would do.
    Laggard(
        "both rows are copied first, and changed round later",
        swap={
            "@triton.jit\ndef pull_kernel(": SELECT + "@triton.jit\ndef pull_kernel(",
            "swap = reward_b > reward_a": "swap = row < 0",
            BACK: LAUNCH + BACK,
        },
    ),
    # 4 million programs, each of which waits for two rewards and moves 64 bytes.
    Laggard(
        "blocks of 16 elements", swap={"BLOCK_N = min(triton.next_power_of_2(n_cols), 4096)": "BLOCK_N = 16"}
    ),
]
