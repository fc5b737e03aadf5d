"""Extra: what has Triton compile too often, or goes wrong with fewer kernels, and what is said about it."""

from tools.planted import Mistake

BLOCK_N = "BLOCK_N = max(triton.next_power_of_2(n_cols), 128)"
EMPTY = "y = torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device)"
ENTRY = "def softmax(x: torch.Tensor) -> torch.Tensor:\n"
GRID = 'grid = (triton.cdiv(n_rows, meta["BLOCK_M"]),)'
JIT = "@triton.jit(do_not_specialize=PLAIN)"
PLAIN = 'PLAIN += ["n_rows", "n_cols", "stride_xm"]'
LAUNCH = "softmax_kernel[grid](x, y, n_rows, n_cols, x.stride(0), **meta)"
LOAD = 'x = tl.load(x_ptr + offs_m * stride_xm + offs_n, mask=mask, other=-float("inf")).to(tl.float32)'
MASK = "mask = (offs_m < n_rows) & (offs_n < n_cols)"
PARAMETERS = "n_rows, n_cols, stride_xm, BLOCK_M"
CHOICES = "[triton.Config({}, num_warps=count) for count in (4, 8, 16)]"

# fmt: off
mistakes = [
    Mistake("n_cols is a tl.constexpr",
            {PARAMETERS: "n_rows, n_cols: tl.constexpr, stride_xm, BLOCK_M",
             PLAIN: 'PLAIN += ["n_rows", "stride_xm"]'}, "As tl.constexpr each value of `n_cols`",
            fails="edges"),
    Mistake("the compiler may ask of all sizes", {PLAIN: ""}, "whether it is 1, and whether 16 divides it",
            fails="edges", wish=True),
    Mistake("the compiler may ask of the stride and the rows", {PLAIN: 'PLAIN += ["n_cols"]'},
            "whether it is 1, and whether 16 divides it", fails="edges", wish=True),
    Mistake(
        "the compiler may ask of the alignment alone",
        {
            JIT: "@triton.jit(do_not_specialize_on_alignment=PLAIN)",
            "BLOCK_N = max(triton.next_power_of_2(n_cols), 128)": "BLOCK_N = triton.next_power_of_2(n_cols)",
        },
        "is compiled",
        fails="edges",
    ),
    Mistake(
        "a bucket for every 128 columns",
        {
            "    return {": '    return {\n        "LANES": triton.cdiv(n_cols, 128),',
            "BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr": (
                "BLOCK_M: tl.constexpr, LANES: tl.constexpr, BLOCK_N: tl.constexpr"
            ),
        },
        "As tl.constexpr each value of `LANES`",
        fails="edges",
    ),
    Mistake("num_warps by the number of rows",
            {LAUNCH: 'meta["num_warps"] = 4 if n_rows < 16 else 8 if n_rows < 64 else 16\n    ' + LAUNCH},
            "`num_warps` differs", fails="edges", wish=True),
    Mistake("three configs are timed for every length",
            {JIT: f"@triton.autotune(configs={CHOICES}, key=['n_cols'])\n{JIT}",
             LAUNCH: 'del meta["num_warps"]\n    ' + LAUNCH}, "`num_warps` differs", fails="edges",
            wish=True),
    Mistake("a length just past a bucket falls into it",
            {BLOCK_N: "BLOCK_N = max(triton.next_power_of_2(n_cols + 1) // 2, 128)"}, "never written"),
    Mistake("the lanes behind the row hold 0", {'other=-float("inf")': "other=0.0"}, "are to hold -inf"),
    Mistake("no mask of the columns", {MASK: "mask = (offs_m < n_rows) & (offs_n >= 0)"}, "mask"),
    Mistake("rows are taken to follow one another", {LOAD: LOAD.replace("stride_xm", "n_cols")}, "stride",
            fails="edges"),
    Mistake("the result of a shape is allocated once",
            {EMPTY: f"y = RESULTS.setdefault((n_rows, n_cols, x.dtype), {EMPTY[4:]})",
             ENTRY: f"RESULTS = {{}}\n\n\n{ENTRY}"}, "an earlier call had already", fails="edges"),
    Mistake("the grid of a length is that of its first call",
            {GRID: f"grid = GRIDS.setdefault(n_cols, {GRID[7:]})", ENTRY: f"GRIDS = {{}}\n\n\n{ENTRY}"},
            "left over", fails="correct or edges"),
]
