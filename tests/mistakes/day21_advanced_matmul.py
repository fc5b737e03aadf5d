"""Day 21: what a grouped product gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

LOAD_SIZES = "tl.load(group_sizes_ptr + offs_e, mask=offs_e < e, other=0)"
NUM_PID_M = "num_pid_m = t // BLOCK_M + min(e, t)"
OUT = "out = torch.empty(x.shape[0], w.shape[2], dtype=x.dtype, device=x.device)"
ROW_END = "row_end = tl.sum(tl.where(offs_e <= group, sizes, 0), axis=0)"
SHAPE = "    (t, k), (e, _, n) = x.shape, w.shape"
STORE = "tl.store(out_ptr + offs_m[:, None] * n + offs_n[None, :], acc, mask=mask_m & mask_n)"
W_GROUP = "w_ptr += group.to(tl.int64) * stride_we"
W_MASK = "mask=(offs_k[:, None] < k - start_k) & mask_n, other=0.0)"

# fmt: off
mistakes = [
    Mistake("the grid counts the tiles of one group of t rows",
            {NUM_PID_M: "num_pid_m = triton.cdiv(t, BLOCK_M)"}, "never written"),
    Mistake(
        "a group's last tile writes on into the next group",
        {ROW_END: "row_end = tl.sum(sizes, axis=0)"},
        ("weights", "A race between programs"),  # the case that fails first says which
    ),
    Mistake("every group has the weights of the first", {W_GROUP: "w_ptr += 0"}, "is right"),
    Mistake("the groups' sizes are read past the last", {LOAD_SIZES: "tl.load(group_sizes_ptr + offs_e)"},
            "group_sizes"),
    Mistake("the lanes past the last group have a row each",
            {LOAD_SIZES: LOAD_SIZES.replace("other=0", "other=1")}, "past the end"),
    Mistake("the launcher asks the device for the sizes",
            {NUM_PID_M: "num_pid_m = sum(-(-size // BLOCK_M) for size in group_sizes.tolist())"},
            "on the host"),
    Mistake("w is read past the end of K", {W_MASK: "mask=mask_n, other=0.0)"}, "past the end of w"),
    Mistake("the store has no mask over columns", {STORE: STORE.replace(" & mask_n", "")}, "both sides"),
    Mistake("x is taken to be contiguous", {"*x.stride()": "k, 1"}, "past the end of", fails="edges"),
    Mistake("the result is always fp32", {OUT: OUT.replace("dtype=x.dtype, ", "")}, "dtype"),
    Mistake(
        "a descriptor takes the rows of a slice for packed",
        {
            "TensorDescriptor.from_tensor(x, [BLOCK_M, BLOCK_K])": (
                "TensorDescriptor(x, [*x.shape], [x.shape[1], 1], [BLOCK_M, BLOCK_K])"
            )
        },
        "loads from a gap between",
        fails="edges",
    ),
    Mistake(
        "torch does the work",
        {SHAPE: "    return torch.bmm(x[:, None], w.repeat_interleave(group_sizes, dim=0))[:, 0]\n" + SHAPE},
        "torch",
        fails="honest",
    ),
    Mistake("fp32 is multiplied as TF32", {'input_precision="ieee"': 'input_precision="tf32"'}, "precision"),
]
