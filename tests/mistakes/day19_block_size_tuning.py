"""Day 19: what a tuned kernel with an epilogue gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

BIAS = "tl.load(b_ptr + (offs_n % n) * stride_b)[None, :]"
GRID = '(triton.cdiv(m, meta["BLOCK_M"]) * triton.cdiv(n, meta["BLOCK_N"]),)'
KEY = 'key=["m", "n", "k"]'
RELU = "y = tl.where(y < 0, 0.0, y)"
SUM = f"y = acc + {BIAS}"
TO_KERNEL = "*w.stride(), b.stride(0)"
TUNER = """@triton.autotune(
    configs=CONFIGS,
    # Another problem is tuned anew. dtypes count by themselves; strides and GPUs do not.
    key=["m", "n", "k"],
    prune_configs_by={"early_config_prune": worth_timing},
)
"""

# fmt: off
mistakes = [
    Mistake("the bias is added after the relu",
            {SUM: "y = acc", RELU: f"y = tl.where(y < 0, 0.0, y) + {BIAS}"}, "negative"),
    Mistake("the bias is left out", {SUM: "y = acc"}, "bias"),
    Mistake("the bias is read with w's stride", {"w.stride(), b.stride(0)": "w.stride(), w.stride(1)"},
            "past the end of", fails="edges"),
    Mistake("relu turns NaN into 0", {RELU: "y = tl.maximum(y, 0.0)"}, "where nan is right", fails="limit"),
    Mistake("w is read as if it were [k, n]", {TO_KERNEL: "w.stride(1), w.stride(0), b.stride(0)"}, "stride"),
    Mistake("the strides of x are handed over in the wrong order",
            {f"*x.stride(), {TO_KERNEL})": f"x.stride(1), x.stride(0), {TO_KERNEL})"}, "is right"),
    Mistake("w is taken to be contiguous", {TO_KERNEL: "k, 1, b.stride(0)"},
            ("Only contiguous inputs come out right", "Of the inputs that are not contiguous"),
            fails="edges"),
    Mistake(
        "a descriptor takes the rows of a slice for packed",
        {
            "TensorDescriptor.from_tensor(w, [BLOCK_N, BLOCK_K])": (
                "TensorDescriptor(w, [*w.shape], [w.shape[1], 1], [BLOCK_N, BLOCK_K])"
            )
        },
        "loads from a gap between the elements of w",
        fails="edges",
    ),
    Mistake("the tail of k is not masked", {'args["k"] % args["BLOCK_K"] == 0': "True"}, "Unmasked load"),
    Mistake("the store has no mask", {"y, mask=mask)": "y)"}, "Unmasked store"),
    Mistake("the grid is that of one config, the largest",
            {GRID: "(triton.cdiv(m, 128) * triton.cdiv(n, 256),)"}, "never written"),
    Mistake("a block size is no power of two", {"config(32, 32, 32,": "config(48, 48, 32,"}, "power of 2"),
    Mistake("a block size is passed by hand too", {TO_KERNEL: "*w.stride(), b.stride(0), BLOCK_M=64"},
            "BLOCK_M"),
    Mistake("pruning keeps nothing of a small problem", {"return kept or configs[-1:]": "return kept"},
            "pruning"),
    Mistake("the step along k is that of some configs only", {"range(k, 0, -BLOCK_K)": "range(k, 0, -64)"},
            "config"),
    # Triton ignores the names without a word, so the 16 x 16 problem that comes first decides for all that is
    # asked of the tuned kernel; here that is the large problem too, which is too slow for that alone.
    Mistake("the key names no argument",
            {'key=["m", "n", "k"]': 'key=["M", "N", "K"]', "    if m >= 128 and": "    if False and"},
            "names 'M', 'N', 'K', which are no arguments of linear_relu_kernel", fails="fast"),
    Mistake("the key names m and n alone", {KEY: 'key=["m", "n"]'}, "does not tell k = 20 from k = 515",
            fails="fast"),
    Mistake("the key names the rows that a tile begins with", {KEY: 'key=["n", "k", "pid_m"]'},
            "names 'pid_m', which is no argument of linear_relu_kernel", fails="fast"),
    Mistake("there is one config to choose among", {"configs=CONFIGS": "configs=CONFIGS[-1:]"},
            "nothing to choose among", fails="fast"),
    Mistake("nothing is pruned", {"return kept or configs[-1:]": "return configs"}, "Pruning drops no config",
            fails="fast"),
    Mistake("pruning does not look at shared memory",
            {"fits = stage * candidate.num_stages <= shared and block_m * block_n <= area": "fits = True"},
            "pruning leaves a config of linear_relu_kernel that needs", fails="fast", cpu=True),
    Mistake("no autotuner stands above the kernel",
            {TUNER: "",
             "linear_relu_kernel[grid](": "best = CONFIGS[-1].kwargs\n    linear_relu_kernel[grid](",
             "*x.stride(), *w.stride(), b.stride(0))": "*x.stride(), *w.stride(), b.stride(0), **best)"},
            "No autotuner chose a config", fails="fast"),
    Mistake("no config fits shared memory",
            {"configs=CONFIGS": "configs=[config(128, 128, 128, num_warps=8, num_stages=8)]"},
            "shared memory", fails="compiles"),
    Mistake("fp32 is multiplied in TF32", {', input_precision="ieee"': ""}, "precision"),
    Mistake("the result is always fp32", {"dtype=x.dtype, ": ""}, "dtype"),
    Mistake("nothing is returned", {"b.stride(0))\n    return y": "b.stride(0))\n    y"}, "None"),
    Mistake("torch does the relu",
            {RELU: "y = y", "b.stride(0))\n    return y": "b.stride(0))\n    return torch.relu(y)"}, "torch",
            fails="honest"),
    Mistake("the kernel counts a tile too many along n",
            {"tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N), 8": "tl.cdiv(m, BLOCK_M), n // BLOCK_N + 1, 8"},
            "were never written", fails="correct or edges"),
]
