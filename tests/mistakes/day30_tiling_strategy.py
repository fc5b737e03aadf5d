"""Day 30: what a tiled product of scores and values gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

ACC = 'acc = tl.dot(s.to(v.dtype), v, acc, input_precision="ieee")'
ALLOCATION = "o = torch.empty(B, H, Sq, D, dtype=q.dtype, device=q.device)"
BLOCK_D = "max(triton.next_power_of_2(D), 16)"
GRID = "triton.cdiv(Sq, BLOCK_M) * B * H"
LOAD_K = "k = tl.load(k_ptrs, mask=dims[:, None] & keys[None, :], other=0.0)"
LOAD_V = "v = tl.load(v_ptrs, mask=keys[:, None] & dims[None, :], other=0.0)"
LOOP = "range(Sk, 0, -BLOCK_N)"
MOVE_K = "        k_ptrs += BLOCK_N * stride_kn\n"
MOVE_V = "        v_ptrs += BLOCK_N * stride_vn\n"
O_PTRS = "o_ptr + (pid_bh * Sq + offs_m)[:, None] * D + offs_d[None, :]"
RETURN = "    return o"
SCORES = 's = tl.dot(q, k, input_precision="ieee") * scale'
STORE = "tl.store(o_ptrs, acc, mask=rows[:, None] & dims[None, :])"

# fmt: off
mistakes = [
    Mistake("keys past the last are not masked", {"keys = offs_n < left": "keys = offs_n < BLOCK_N"},
            "every lane through"),
    Mistake("every tile of keys is masked as if it were the first",
            {"keys = offs_n < left": "keys = offs_n < Sk"}, "mask"),
    Mistake("the last, partial tile of keys is left out", {LOOP: "range(Sk, BLOCK_N - 1, -BLOCK_N)"},
            "partial tile of keys"),
    Mistake("the values end one key early",
            {LOAD_V: LOAD_V.replace("keys[:, None]", "(offs_n < left - 1)[:, None]")},
            "The last key is left out"),
    Mistake("the loop runs over the queries' length", {LOOP: "range(Sq, 0, -BLOCK_N)"}, "Sk"),
    Mistake(
        "the dimensions past D are not masked in the loads of q and k",
        {
            "q = tl.load(q_ptrs, mask=rows[:, None] & dims[None, :], other=0.0)": (
                "q = tl.load(q_ptrs, mask=rows[:, None], other=0.0)"
            ),
            LOAD_K: "k = tl.load(k_ptrs, mask=keys[None, :], other=0.0)",
        },
        "past the end of",
    ),
    Mistake("the store forgets that D is padded", {STORE: "tl.store(o_ptrs, acc, mask=rows[:, None])"},
            "A tile's mask needs both sides"),
    Mistake("the store has no mask", {STORE: "tl.store(o_ptrs, acc)"}, "Unmasked store"),
    Mistake("D is taken to be 64 at most", {BLOCK_D: "64"}, "never written"),
    Mistake("BLOCK_D is D itself", {BLOCK_D: "D"}, "power of 2"),
    Mistake("small heads are not padded to 16", {BLOCK_D: "triton.next_power_of_2(D)"}, "16"),
    Mistake("the scale is forgotten", {SCORES: SCORES.replace(" * scale", "")}, "scale"),
    Mistake("q and the scores are both scaled", {SCORES: SCORES.replace("* scale", "* scale * scale")},
            "scale is applied twice"),
    Mistake("only the last tile of keys counts", {ACC: ACC.replace("v, acc,", "v,")}, "last tile of 16 keys"),
    Mistake("the sum so far is added twice, by tl.dot and by +=", {ACC: ACC.replace("acc =", "acc +=")},
            "added twice"),
    Mistake("k stands still", {MOVE_K: ""}, "k stands still"),
    Mistake("v stands still", {MOVE_V: ""}, "v stands still"),
    Mistake("the scores are rounded to fp16 whatever v is",
            {ACC: ACC.replace("s.to(v.dtype), v", "s.to(tl.float16), v.to(tl.float16)")}, "precision"),
    Mistake("k is taken to lie as q does",
            {"pid_b * stride_kb + pid_h * stride_kh": "pid_b * stride_qb + pid_h * stride_qh"},
            "strides of q"),
    Mistake("every head reads the keys of head 0",
            {"pid_b * stride_kb + pid_h * stride_kh": "pid_b * stride_kb"}, "head 0"),
    Mistake("every sequence reads the values of sequence 0",
            {"pid_b * stride_vb + pid_h * stride_vh": "pid_h * stride_vh"}, "sequence 0"),
    Mistake("dimensions are taken to lie side by side", {"offs_d[:, None] * stride_kd": "offs_d[:, None]"},
            "stride", fails="edges"),
    Mistake("the result is written as [B, S, H, D]",
            {O_PTRS: "o_ptr + ((pid_b * Sq + offs_m) * H + pid_h)[:, None] * D + offs_d[None, :]"},
            "[B, S, H, D]"),
    Mistake("there are as many tiles of queries as of keys", {GRID: "triton.cdiv(Sq, BLOCK_N) * B * H"},
            "past the end"),
    Mistake("only one sequence of the batch gets programs", {GRID: "triton.cdiv(Sq, BLOCK_M) * H"},
            "never written", at="* H,)"),
    Mistake("the heads stand on axis 1 of the grid, which ends at 65535",
            {f"({GRID},)": "(triton.cdiv(Sq, BLOCK_M), B * H)",
             "(tl.program_id(0) // tiles_m)": "tl.program_id(1)"}, "65535", fails="limit", gpu=True),
    Mistake("the result lies in memory as q does", {ALLOCATION: "o = torch.empty_like(q)"}, "contiguous",
            fails="edges"),
    Mistake("the scores are stored and read back",
            {"    o_ptr,\n    H,": "    o_ptr,\n    s_ptr,\n    H,", SCORES: (f"{SCORES}\n"
             "        s_ptrs = s_ptr + (pid_bh * Sq + offs_m)[:, None] * Sk\n"
             "        s_ptrs += Sk - left + offs_n[None, :]\n"
             "        tl.store(s_ptrs, s, mask=rows[:, None] & keys[None, :])\n"
             "        tl.debug_barrier()\n"
             "        s = tl.load(s_ptrs, mask=rows[:, None] & keys[None, :], other=0.0)"),
             ALLOCATION: (f"{ALLOCATION}\n"
             "    scores = torch.empty(B, H, Sq, k.shape[2], dtype=q.dtype, device=q.device)"),
             "        o,\n        H,": "        o,\n        scores,\n        H,"}, "intermediate tensor",
            fails="memory"),
    Mistake(
        "torch copies strided tensors first",
        {
            "B, H, Sq, D = q.shape": (
                "q, k, v = (x.contiguous() for x in (q, k, v))\n    B, H, Sq, D = q.shape"
            )
        },
        "strides",
        fails="honest",
    ),
    Mistake("torch does the work",
            {RETURN: "    return ((q.float() @ k.float().mT * scale) @ v.float()).to(q.dtype)"}, "torch",
            fails="honest"),
    Mistake("scores are rounded to fp16 before they are scaled",
            {SCORES: 's = tl.dot(q, k, input_precision="ieee").to(v.dtype) * scale'},
            "in fp16, which ends at 65504"),
    Mistake("the tiles fit in shared memory with heads of 64, not of 128",
            {"(128, 64) if matrix_units else (64, 16)": "(128, 64) if matrix_units else (128, 128)"},
            "KB of shared memory", fails="compiles", on_gpu="shared memory"),
    Mistake("q's heads are taken to lie D apart where there is one query",
            {"*q.stride(),": "q.stride(0), q.stride(1) if Sq > 1 else D, *q.stride()[2:],"}, "is right",
            fails="edges"),
    Mistake("every second tile of keys is skipped",
            {LOOP: "range(Sk, 0, -2 * BLOCK_N)", MOVE_K: MOVE_K.replace("+= BLOCK_N", "+= 2 * BLOCK_N"),
             MOVE_V: MOVE_V.replace("+= BLOCK_N", "+= 2 * BLOCK_N")},
            "Every second tile of 16 keys is skipped"),
]
