"""Day 19: what a tuned kernel with an epilogue gets wrong, and what the grader must say about it."""

from __future__ import annotations

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

mistakes = [
    Mistake(
        "the bias is added after the relu",
        swap={SUM: "y = acc", RELU: f"y = tl.where(y < 0, 0.0, y) + {BIAS}"},
        fails="correct",
        says="negative",
    ),
    Mistake("there is no relu", swap={RELU: "y = y"}, fails="correct", says="negative"),
    Mistake("the bias is left out", swap={SUM: "y = acc"}, fails="correct", says="bias"),
    Mistake(
        "the bias is indexed by row",
        swap={BIAS: "tl.load(b_ptr + (offs_m % n) * stride_b)[:, None]"},
        fails="correct",
        says="bias",
    ),
    Mistake(
        "the bias is read with w's stride",
        swap={"w.stride(), b.stride(0)": "w.stride(), w.stride(1)"},
        fails="edges",
        says="past the end of",
    ),
    Mistake(
        "relu turns NaN into 0",
        swap={RELU: "y = tl.maximum(y, 0.0)"},
        fails="limit",
        says="where nan is right",
    ),
    Mistake(
        "w is read as if it were [k, n]",
        swap={TO_KERNEL: "w.stride(1), w.stride(0), b.stride(0)"},
        fails="correct",
        says="stride",
    ),
    Mistake(
        "the strides of x are handed over in the wrong order",
        swap={f"*x.stride(), {TO_KERNEL})": f"x.stride(1), x.stride(0), {TO_KERNEL})"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "w is taken to be contiguous",
        swap={TO_KERNEL: "k, 1, b.stride(0)"},
        fails="edges",
        says=("Only contiguous inputs come out right", "Of the inputs that are not contiguous"),
    ),
    Mistake(
        "the sums are rounded to fp16 before the bias",
        swap={SUM: f"y = acc.to(tl.float16) + {BIAS}"},
        fails="correct",
        says="precision",
    ),
    Mistake(
        "a descriptor takes the rows of a slice for packed",
        swap={
            "TensorDescriptor.from_tensor(w, [BLOCK_N, BLOCK_K])": (
                "TensorDescriptor(w, [*w.shape], [w.shape[1], 1], [BLOCK_N, BLOCK_K])"
            )
        },
        fails="edges",
        says="loads from a gap between the elements of w",
    ),
    Mistake(
        "the tail of k is not masked",
        swap={'args["k"] % args["BLOCK_K"] == 0': "True"},
        fails="correct",
        says="Unmasked load",
    ),
    Mistake("the store has no mask", swap={"y, mask=mask)": "y)"}, fails="correct", says="Unmasked store"),
    Mistake(
        "the grid is that of one config, the largest",
        swap={GRID: "(triton.cdiv(m, 128) * triton.cdiv(n, 256),)"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the grid rounds down",
        swap={GRID: '(max(m // meta["BLOCK_M"], 1) * max(n // meta["BLOCK_N"], 1),)'},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "a block size is no power of two",
        swap={"config(32, 32, 32,": "config(48, 48, 32,"},
        fails="correct",
        says="power of 2",
    ),
    Mistake(
        "a block size is passed by hand too",
        swap={TO_KERNEL: "*w.stride(), b.stride(0), BLOCK_M=64"},
        fails="correct",
        says="BLOCK_M",
    ),
    Mistake(
        "pruning keeps nothing of a small problem",
        swap={"return kept or configs[-1:]": "return kept"},
        fails="correct",
        says="pruning",
    ),
    Mistake(
        "the step along k is that of some configs only",
        swap={"range(k, 0, -BLOCK_K)": "range(k, 0, -64)"},
        fails="correct",
        says="config",
    ),
    # Triton ignores the names without a word, so the 16 x 16 problem that comes first decides for all that is
    # asked of the tuned kernel; here that is the large problem too, which is too slow for that alone.
    Mistake(
        "the key names no argument",
        swap={'key=["m", "n", "k"]': 'key=["M", "N", "K"]', "    if m >= 128 and": "    if False and"},
        fails="fast",
        says="names 'M', 'N', 'K', which are no arguments of linear_relu_kernel",
    ),
    Mistake(
        "the key names m and n alone",
        swap={KEY: 'key=["m", "n"]'},
        fails="fast",
        says="does not tell k = 20 from k = 515",
    ),
    Mistake(
        "the key names the rows that a tile begins with",
        swap={KEY: 'key=["n", "k", "pid_m"]'},
        fails="fast",
        says="names 'pid_m', which is no argument of linear_relu_kernel",
    ),
    Mistake(
        "there is one config to choose among",
        swap={"configs=CONFIGS": "configs=CONFIGS[-1:]"},
        fails="fast",
        says="nothing to choose among",
    ),
    Mistake(
        "nothing is pruned",
        swap={"return kept or configs[-1:]": "return configs"},
        fails="fast",
        says="Pruning drops no config",
    ),
    Mistake(
        "pruning does not look at shared memory",
        swap={"fits = stage * candidate.num_stages <= shared and block_m * block_n <= area": "fits = True"},
        fails="fast",
        says="pruning leaves a config of linear_relu_kernel that needs",
        cpu=True,
    ),
    Mistake(
        "pruning takes every element for two bytes",
        swap={"block_k * x.element_size()": "block_k * 2", " and block_m * block_n <= area": ""},
        fails="fast",
        says="pruning leaves a config of linear_relu_kernel that needs",
        cpu=True,
    ),
    Mistake(
        "no autotuner stands above the kernel",
        swap={
            TUNER: "",
            "linear_relu_kernel[grid](": "best = CONFIGS[-1].kwargs\n    linear_relu_kernel[grid](",
            "*x.stride(), *w.stride(), b.stride(0))": "*x.stride(), *w.stride(), b.stride(0), **best)",
        },
        fails="fast",
        says="No autotuner chose a config",
    ),
    Mistake(
        "no config fits shared memory",
        swap={"configs=CONFIGS": "configs=[config(128, 128, 128, num_warps=8, num_stages=8)]"},
        fails="compiles",
        says="shared memory",
    ),
    Mistake(
        "fp32 is multiplied in TF32",
        swap={', input_precision="ieee"': ""},
        fails="correct",
        says="precision",
    ),
    Mistake("the result is always fp32", swap={"dtype=x.dtype, ": ""}, fails="correct", says="dtype"),
    Mistake(
        "nothing is returned",
        swap={"b.stride(0))\n    return y": "b.stride(0))\n    y"},
        fails="correct",
        says="None",
    ),
    Mistake(
        "torch does the relu",
        swap={RELU: "y = y", "b.stride(0))\n    return y": "b.stride(0))\n    return torch.relu(y)"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "torch copies w.T first",
        swap={
            TO_KERNEL: "*w.T.contiguous().T.stride(), b.stride(0)",
            "x, w, b, y, m, n": "x, w.T.contiguous().T, b, y, m, n",
        },
        fails="honest",
        says="torch",
    ),
    Mistake(
        "the kernel counts a tile too many along n",
        swap={"tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N), 8": "tl.cdiv(m, BLOCK_M), n // BLOCK_N + 1, 8"},
        fails="correct or edges",
        says="were never written",
    ),
]
