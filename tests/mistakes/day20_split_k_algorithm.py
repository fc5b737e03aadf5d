"""Day 20: what a split-K product gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

ACC = "acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)"
MASK_A = ", mask=mask_m & (offs_k[None, :] < k - start_k), other=0.0)"
OFFSETS = "offs = pid_k * m * n + offs_m[:, None] * n + offs_n[None, :]"
OUT = "out = torch.empty(m, n, dtype=a.dtype, device=a.device)"
PARTIAL = "partial = torch.empty(SPLIT_K, m, n, dtype=torch.float32, device=a.device)"
PARTIAL_LOAD = "tl.load(partial_ptr + offs_s[:, None] * size + offs[None, :], mask=mask[None, :])"
REDUCE = "    reduce_kernel[(triton.cdiv(m * n, BLOCK),)](partial, out, m * n, SPLIT_K=SPLIT_K, BLOCK=BLOCK)"
RETURN = "    return out"
STORE = "tl.store(partial_ptr + offs, acc, mask=mask_m & mask_n)"
SUM = "tl.sum(partial, axis=0)"
# The edits that turn the two stages into one that adds to a single [m, n] accumulator.
ONE_SHEET = {
    OFFSETS: "offs = offs_m[:, None] * n + offs_n[None, :]",
    STORE: "tl.atomic_add(partial_ptr + offs, acc, mask=mask_m & mask_n)",
    PARTIAL_LOAD: "tl.load(partial_ptr + offs_s[:, None] * 0 + offs[None, :], mask=mask[None, :])",
    SUM: "tl.max(partial, axis=0)",
}

ZEROED = "tl.store(partial_ptr + offs_m[:, None] * n + offs_n[None, :], acc, mask=mask_m & mask_n)"

# fmt: off
mistakes = [
    Mistake(
        "partial sums are rounded to a's dtype before they are added",
        {PARTIAL: PARTIAL.replace("torch.float32", "a.dtype"), SUM: "tl.sum(partial.to(tl.float32), axis=0)"},
        ("is right", "close but not close enough"),
        on_gpu="is right",  # one case fails there, and two dtypes tell more
    ),
    Mistake("the reduction adds in a's dtype", {SUM: "tl.sum(partial.to(out_ptr.dtype.element_ty), axis=0)"},
            ("is right", "close but not close enough")),
    Mistake("atomics add to memory that nobody zeroed", ONE_SHEET, "torch.empty"),
    Mistake("the accumulator of the first call is used again",
            {**ONE_SHEET, "PROGRAMS = 128": "KEPT = {}\nPROGRAMS = 128",
             PARTIAL: ("partial = KEPT.setdefault((m, n, k, a.dtype, a.stride()), "
             "torch.zeros(m, n, dtype=torch.float32, device=a.device))")}, "is right", fails="edges"),
    Mistake("the pointers move on by one block, past what the neighbours read",
            {"a_ptrs += step * stride_ak": "a_ptrs += BLOCK_K * stride_ak",
             "b_ptrs += step * stride_bk": "b_ptrs += BLOCK_K * stride_bk"}, "counted", wish=True),
    Mistake("a is read past the end of K", {MASK_A: ", mask=mask_m, other=0.0)"}, "past the end of a"),
    Mistake("the partial sums are averaged", {SUM: SUM + " / SPLIT_K"}, "is right"),
    Mistake("the store of the result has no mask", {SUM + ", mask=mask)": SUM + ")"}, "Unmasked store"),
    Mistake("b is read with a's strides", {"*b.stride()": "*a.stride()"}, "stride"),
    Mistake("b is taken to be contiguous", {"*b.stride()": "n, 1"}, "past the end of", fails="edges"),
    Mistake("the result is always fp32", {OUT: OUT.replace("dtype=a.dtype, ", "")}, "dtype"),
    Mistake("torch does the work", {RETURN: "    return a @ b"}, "torch", fails="honest"),
    Mistake("fp32 is multiplied as TF32", {'input_precision="ieee"': 'input_precision="tf32"'}, "precision"),
    Mistake(
        "the first split sets a tile to 0 that others may have added to",
        {
            **ONE_SHEET,
            PARTIAL: PARTIAL.replace("SPLIT_K, m, n", "1, m, n"),
            ACC: f"{ACC}\n    if pid_k == 0:\n        {ZEROED}",
        },
        "a store of one program meets an atomic of another",
        at="partial_ptr + ",
        cpu=True,  # a GPU shows a race by wrong values, or not at all
    ),
    Mistake("rows of a whose distance suits a descriptor are taken for packed",
            {"*a.stride(),": "a.stride(0) - (8 if a.stride(0) == a.shape[1] + 8 else 0), a.stride(1),"},
            "loads from a gap between", fails="edges"),
    Mistake(
        "the first split adds up what others of its launch store",
        {
            STORE: f"""{STORE}
    if pid_k == 0:
        total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for split in range(SPLIT_K):
            offs_s = (split * m + offs_m[:, None]) * n + offs_n[None, :]
            total += tl.load(partial_ptr + offs_s, mask=mask_m & mask_n)
        tl.store(out_ptr + offs_m[:, None] * n + offs_n[None, :], total, mask=mask_m & mask_n)""",
            "    partial_ptr,\n    m,": "    partial_ptr,\n    out_ptr,\n    m,",
            "        partial,\n        m,": "        partial,\n        out,\n        m,",
            f"{REDUCE}\n": "",
        },
        "what one stores for others to read, a launch of its own",
        at="partial_ptr + ",
        cpu=True,  # a GPU shows a race by wrong values, or not at all
    ),
]
