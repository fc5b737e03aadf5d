"""Mutants of day 21 that live, and why."""

from tools.planted import Equivalent

equivalents = [
    Equivalent(
        "solution:find_rows",
        "group = tl.sum((tile_ends <= pid_m).to(tl.int32), axis=0)",
        "group = tl.sum(tile_ends <= pid_m, axis=0)",
        "tl.sum counts booleans in int32",
    ),
    Equivalent(
        "solution:persistent_kernel",
        "for tile in tl.range(tl.program_id(0), num_pid_m * num_pid_n, tl.num_programs(0), flatten=True):",
        "for tile in tl.range(tl.program_id(0), num_pid_m * num_pid_n, tl.num_programs(1), flatten=True):",
        "slower alone: every program makes all tiles that follow",
    ),
    Equivalent(
        "solution:persistent_kernel",
        "tl.store(out_ptr + offs_m[:, None] * n + offs_n[None, :], acc.to(out_ptr.dtype.element_ty), mask=mask)",  # noqa: E501
        "tl.store(out_ptr + offs_m[:, None] * n + offs_n[None, :], acc, mask=mask)",
        "tl.store converts to the dtype of what it writes to",
    ),
    Equivalent(
        "solution:grouped_matmul",
        "average = triton.cdiv(t, max(e, 1))",
        "average = t // max(e, 1)",
        "slower alone: which of two kernels is taken",
    ),
    Equivalent(
        "solution:grouped_matmul",
        "if average >= 128 and suits_descriptors(x, w):",
        "if average >= 128 and suits_descriptors(w, x):",
        "symmetrical in both",
    ),
    Equivalent(
        "solution:grouped_matmul",
        "num_pid_m = t // BLOCK_M + min(e, t)",
        "num_pid_m = t // BLOCK_M + min(t, e)",
        "symmetrical in both",
    ),
]
