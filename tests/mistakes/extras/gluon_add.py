"""Extra: what a sum by TMA gets wrong, and what is said of it. None of these waits for what never comes."""

from tools.planted import Mistake

ADD = "y = a_smem.index(stage).load(LAYOUT) + b_smem.index(stage).load(LAYOUT)"
ALLOCATION = "y = torch.empty(m, n, dtype=a.dtype, device=a.device)"
COPY_B = "global_to_shared(b_desc, [row, col], full.index(stage), b_smem.index(stage), pred=there)"
DESCS = "[TensorDescriptor.from_tensor(t, [BLOCK_M, BLOCK_N], shared) for t in (a, b, y)]"
STORE = "tma.async_copy_shared_to_global(y_desc, [row, col], y_smem)"

# fmt: off
mistakes = [
    Mistake("what lies in shared memory is added as if it were in registers",
            {ADD: "y = a_smem.index(stage) + b_smem.index(stage)"}, "Triton cannot compile",
            fails="compiles"),
    Mistake("sixteen stages",
            {"BLOCK_M, BLOCK_N, STAGES = 64, 64, 4": "BLOCK_M, BLOCK_N, STAGES = 64, 64, 16"},
            "shared memory", fails="compiles"),
    Mistake("a's tile is fetched twice", {COPY_B: COPY_B.replace("b_desc", "a_desc")},
            "This is a + a: b is never added", gpu=True),
    Mistake("b's tile is read twice, and a's never", {ADD: ADD.replace("a_smem", "b_smem")},
            "This is b + b: a is never added", gpu=True),
    Mistake("the sums are stored at column and row", {STORE: STORE.replace("[row, col]", "[col, row]")},
            "never written", gpu=True),
    Mistake("rows are taken to be n apart",
            {DESCS: "[TensorDescriptor(t, [m, n], [n, 1], [BLOCK_M, BLOCK_N], shared) for t in (a, b, y)]"},
            "stride", fails="edges", gpu=True),
    Mistake("torch copies a and b first",
            {ALLOCATION: f"a, b = a.contiguous(), b.contiguous()\n    {ALLOCATION}"}, "torch", fails="honest",
            gpu=True),
]
