"""Extra: what a product by wgmma gets wrong, and what is said of it. None waits for what never comes."""

from tools.planted import Mistake

MULTIPLY = "warpgroup_mma(a_smem.index(stage), b_smem.index(stage), acc, is_async=True)"

# fmt: off
mistakes = [
    Mistake("b is turned, as for a dot of columns",
            {MULTIPLY: MULTIPLY.replace("b_smem.index(stage)", "b_smem.index(stage).permute((1, 0))")},
            "Triton cannot compile", fails="compiles"),
    Mistake("every product starts its sums anew",
            {MULTIPLY: MULTIPLY.replace("acc, is_async", "acc, use_acc=False, is_async")},
            "the sums of those before", gpu=True),
    Mistake("b is always read from the first stage",
            {MULTIPLY: MULTIPLY.replace("b_smem.index(stage)", "b_smem.index(0)")}, "b's first frame",
            gpu=True),
    Mistake("the last, partial frame is left out", {"triton.cdiv(k, BLOCK_K),": "k // BLOCK_K,"},
            "a partial one, is left out", gpu=True),
    Mistake("c's tile is stored at its column and row",
            {"(c_desc, [m, n], c_smem)": "(c_desc, [n, m], c_smem)"}, "never written", gpu=True),
    Mistake(
        "rows are taken to be packed",
        {
            "TensorDescriptor.from_tensor(x, block, shared)": (
                "TensorDescriptor(x, x.shape, [x.shape[1], 1], block, shared)"
            )
        },
        "stride",
        fails="edges",
        gpu=True,
    ),
    Mistake("torch does the work", {"    return c\n": "    return a @ b\n"}, "torch", fails="honest",
            gpu=True),
]
