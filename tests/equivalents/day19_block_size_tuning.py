"""Mutants of day 19 that live, and why."""

from tools.planted import Equivalent

equivalents = [
    Equivalent(
        "solution:linear_relu_kernel",
        "pid_m, pid_n = grouped_tile(tl.program_id(0), tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N), 8)",
        "pid_m, pid_n = grouped_tile(tl.program_id(0), tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N), 9)",
        "slower alone: how many rows of tiles share what L2 holds",
    ),
    Equivalent(
        "solution:linear_relu_kernel", "if EVEN_K:", "if False:", "slower alone: a mask that is always true"
    ),
    Equivalent(
        "solution:linear_relu_kernel",
        "y = tl.where(y < 0, 0.0, y)  # tl.maximum would turn NaN into 0",
        "y = tl.where(y <= 0, 0.0, y)  # tl.maximum would turn NaN into 0",
        "0 stays 0",
    ),
    Equivalent(
        "solution:persistent_kernel",
        "for tile in tl.range(tl.program_id(0), num_pid_m * num_pid_n, tl.num_programs(0), flatten=True):",
        "for tile in tl.range(tl.program_id(0), num_pid_m * num_pid_n, tl.num_programs(1), flatten=True):",
        "slower alone: every program makes all tiles that follow",
    ),
    Equivalent(
        "solution:persistent_kernel",
        "pid_m, pid_n = grouped_tile(tile, num_pid_m, num_pid_n, 8)",
        "pid_m, pid_n = grouped_tile(tile, num_pid_m, num_pid_n, 9)",
        "slower alone: how many rows of tiles share what L2 holds",
    ),
    Equivalent(
        "solution:persistent_kernel",
        "acc += tl.load(b_ptr + offs_n * stride_b, mask=offs_n < n, other=0.0)[None, :]",
        "acc += tl.load(b_ptr + offs_n * stride_b, mask=offs_n < n, other=-float('inf'))[None, :]",
        "columns past the last, which are not stored",
    ),
    Equivalent(
        "solution:persistent_kernel",
        "acc = tl.where(acc < 0, 0.0, acc)",
        "acc = tl.where(acc <= 0, 0.0, acc)",
        "0 stays 0",
    ),
    Equivalent(
        "solution:persistent_kernel",
        "y_desc.store([pid_m * BLOCK_M, pid_n * BLOCK_N], acc.to(y_desc.dtype))",
        "y_desc.store([pid_m * BLOCK_M, pid_n * BLOCK_N], acc)",
        "acc is rounded to y's dtype by the store as well",
    ),
    Equivalent(
        "solution:linear_relu",
        "if m >= 128 and n >= 256 and k > 0 and suits_descriptors(x, w, y):",
        "if m >= 128 and n >= 256 and k > 0 and suits_descriptors(w, x, y):",
        "symmetrical in all three",
    ),
    Equivalent(
        "solution:linear_relu",
        "if m >= 128 and n >= 256 and k > 0 and suits_descriptors(x, w, y):",
        "if m >= 128 and n >= 256 and k > 0 and suits_descriptors(x, y, w):",
        "symmetrical in all three",
    ),
]
