"""Extra: what a product by wgmma gets wrong, and what is said of it. None waits for what never comes."""

from __future__ import annotations

from tools.planted import Mistake

MULTIPLY = "warpgroup_mma(a_smem.index(stage), b_smem.index(stage), acc, is_async=True)"
SUMS = "version=[3, 0], warps_per_cta=[gl.num_warps(), 1], instr_shape=[16, BLOCK_N, 16]"

mistakes = [
    Mistake(
        "b is turned, as for a dot of columns",
        swap={MULTIPLY: MULTIPLY.replace("b_smem.index(stage)", "b_smem.index(stage).permute((1, 0))")},
        fails="compiles",
        says="Triton cannot compile",
    ),
    Mistake(
        "the sums' layout is for one warp group, and two are launched",
        swap={SUMS: SUMS.replace("gl.num_warps()", "4")},
        fails="compiles",
        says="Triton cannot compile",
    ),
    Mistake(
        "the sums are stored in fp32 where c is in 16 bits",
        swap={"c_smem.store(acc.to(c_desc.dtype))": "c_smem.store(acc)"},
        fails="compiles",
        says="Triton cannot compile",
    ),
    Mistake(
        "five stages",
        swap={
            "BLOCK_M, BLOCK_N, BLOCK_K, STAGES = 128, 256, 64, 4": (
                "BLOCK_M, BLOCK_N, BLOCK_K, STAGES = 128, 256, 64, 5"
            )
        },
        fails="compiles",
        says="shared memory",
    ),
    Mistake(
        "every product starts its sums anew",
        swap={MULTIPLY: MULTIPLY.replace("acc, is_async", "acc, use_acc=False, is_async")},
        fails="correct",
        says="the sums of those before",
        gpu=True,
    ),
    Mistake(
        "b is always read from the first stage",
        swap={MULTIPLY: MULTIPLY.replace("b_smem.index(stage)", "b_smem.index(0)")},
        fails="correct",
        says="b's first frame",
        gpu=True,
    ),
    Mistake(
        "the last, partial frame is left out",
        swap={"triton.cdiv(k, BLOCK_K),": "k // BLOCK_K,"},
        fails="correct",
        says="a partial one, is left out",
        gpu=True,
    ),
    Mistake(
        "c's tile is stored at its column and row",
        swap={"(c_desc, [m, n], c_smem)": "(c_desc, [n, m], c_smem)"},
        fails="correct",
        says="never written",
        gpu=True,
    ),
    Mistake(
        "the last group is walked as if it were full",
        swap={"rows = gl.minimum(num_pid_m - first_pid_m, GROUP_M)": "rows = GROUP_M"},
        fails="correct",
        says="never written",
        gpu=True,
    ),
    Mistake(
        "partial tiles on the right get no program",
        swap={"triton.cdiv(n, BLOCK_N)\n": "max(n // BLOCK_N, 1)\n"},
        fails="correct",
        says="never written",
        gpu=True,
    ),
    Mistake(
        "rows are taken to be packed",
        swap={
            "TensorDescriptor.from_tensor(x, block, shared)": (
                "TensorDescriptor(x, x.shape, [x.shape[1], 1], block, shared)"
            )
        },
        fails="edges",
        says="stride",
        gpu=True,
    ),
    Mistake(
        "torch does the work",
        swap={"    return c\n": "    return a @ b\n"},
        fails="honest",
        says="torch",
        gpu=True,
    ),
]
