"""Day 28: what attention without scores in memory gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

BYTES = "itemsize * (4 * S * D + 4 * S * S)"
DOT = 'acc = tl.dot(p.to(v.dtype), v, acc, input_precision="ieee")'
LAUNCH = "    attention_kernel[("
LOAD_K = "mask=(offs_d < D)[:, None] & cols[None, :]"
MAXIMUM = "m_i = tl.maximum(m_i, tl.max(s, axis=1))"
MOVE_V = "\n        v_ptrs += BLOCK_N * stride_vn"
PASS_1 = "tl.max(s, axis=1))\n        k_ptrs += BLOCK_N * stride_kn"
PASS_2 = "acc = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)\n    k_ptrs = k_start"
OUTPUT = "o = torch.empty(B, H, Sq, D, dtype=q.dtype, device=q.device)"
RETURN = "    return o"
SCORES = 'tl.where(cols[None, :], tl.dot(q, k, input_precision="ieee") * scale, -float("inf"))'
SHAPE = "B, H, Sq, D = q.shape"
STORE = "torch.empty(B, H, Sq, k.shape[2], device=q.device)"
SUM = "l_i += tl.sum(p, axis=1)"

# fmt: off
mistakes = [
    Mistake("the count of bytes is not returned", {"    return itemsize * (4 * S": "    itemsize * (4 * S"},
            "attention_bytes() returns None where 8 is right"),
    Mistake("the scale is forgotten", {SCORES: SCORES.replace(" * scale", "")}, "scale is missing"),
    Mistake("q was scaled, and so are the scores", {SCORES: SCORES.replace(" * scale", " * scale * scale")},
            "scale is applied twice"),
    Mistake("keys past the last have a score of 0", {SCORES: 'tl.dot(q, k, input_precision="ieee") * scale'},
            "Lanes past the last key count with score 0"),
    Mistake("keys past the last have a merely small score", {SCORES: SCORES.replace('-float("inf")', "-1e4")},
            "is right", fails="edges"),
    Mistake("every frame is masked as if it were the first", {"cols = offs_n < left": "cols = offs_n < 2048"},
            "mask"),
    Mistake("the maximum is that of the last frame", {MAXIMUM: "m_i = tl.max(s, axis=1)"},
            "becomes Inf in fp16", fails="correct or edges"),
    Mistake("the sum is that of the last frame", {SUM: "l_i = tl.sum(p, axis=1)"},
            "divided by the sum of the last block"),
    Mistake("no maximum is subtracted", {"tl.exp(s - m_i[:, None])": "tl.exp(s)"}, "becomes Inf in fp16"),
    Mistake("the weights are not divided by their sum", {"acc / l_i[:, None]": "acc"}, "not divided"),
    Mistake("pass 2 goes on where pass 1 ended", {PASS_2: PASS_2.replace("\n    k_ptrs = k_start", "")},
            "past the end", at="k_ptrs += BLOCK_N * stride_kn"),
    Mistake("the values stand still", {MOVE_V: ""}, "move the pointer on"),
    Mistake("the keys move on by one row", {PASS_1: PASS_1.replace("BLOCK_N * ", "")},
            ("becomes Inf in fp16", "Large values overflow"), fails="edges"),
    Mistake("only the last frame of values counts", {DOT: DOT.replace(", acc,", ",")}, "Only the last block"),
    Mistake("the last, partial frame is left out of pass 2",
            {"in range(Sk, 0, -BLOCK_N)": "in range(Sk, BLOCK_N - 1, -BLOCK_N)"}, "last, partial block"),
    Mistake("keys are read past D", {LOAD_K: "mask=cols[None, :]"}, "past the end of"),
    Mistake("weights and values are rounded to fp16",
            {DOT: DOT.replace("p.to(v.dtype), v", "p.to(tl.float16), v.to(tl.float16)")},
            "Every element is a number of"),
    Mistake("the sum over the keys is rounded to v's dtype at every block",
            {DOT: DOT + ".to(v.dtype).to(tl.float32)"}, "too low a precision"),
    Mistake("all heads read the values of head 0", {" + pid_h * stride_vh": ""}, "values of head 0"),
    Mistake("the values are read with the strides of the keys", {"*v.stride(),": "*k.stride(),"}, "stride"),
    Mistake("the last queries get no program", {"triton.cdiv(Sq, BLOCK_M),)": "Sq // BLOCK_M,)"},
            "never written"),
    Mistake("fp32 is left to tl.dot, which cuts it to TF32",
            {SCORES: SCORES.replace(', input_precision="ieee"', "")}, "TF32"),
    Mistake("the result is always fp32", {"dtype=q.dtype, ": ""}, "dtype"),
    Mistake("day 27's scores are still allocated", {OUTPUT: f"s = {STORE}\n    {OUTPUT}"},
            "intermediate tensor", fails="memory"),
    Mistake("torch copies strided inputs first",
            {SHAPE: f"q, k, v = q.contiguous(), k.contiguous(), v.contiguous()\n    {SHAPE}"}, "strides",
            fails="honest"),
    Mistake("torch converts to fp32 first",
            {LAUNCH: f"    q, k, v = q.float(), k.float(), v.float()\n{LAUNCH}"}, "torch converted",
            fails="honest"),
    Mistake("the bytes are counted in elements", {BYTES: "4 * S * D + 4 * S * S"}, "multiply by itemsize"),
    Mistake("scores and weights are counted once each", {BYTES: "itemsize * (4 * S * D + 2 * S * S)"},
            "four passes"),
    Mistake("the scores are forgotten", {BYTES: "itemsize * 4 * S * D"}, "pass through memory"),
    Mistake("nothing is returned", {RETURN: "    o.shape"}, "returns nothing"),
    Mistake("the maximum is taken down the queries, the sum along the keys",
            {MAXIMUM: "m_i = tl.maximum(m_i, tl.reshape(tl.max(s, axis=0), (BLOCK_M,)))"}, "is NaN"),
    Mistake(
        "the maximum starts from 0",
        {'m_i = tl.full((BLOCK_M,), -float("inf"), tl.float32)': "m_i = tl.zeros((BLOCK_M,), tl.float32)"},
        "0 / 0 is NaN",
        fails="edges",
    ),
    Mistake(
        "lanes past the last key of a frame load -inf",
        {
            "k = tl.load(k_ptrs, mask=(offs_d < D)[:, None] & cols[None, :], other=0.0)": (
                "k = tl.load(k_ptrs, mask=(offs_d < D)[:, None] & cols[None, :], other=-float('inf'))"
            )
        },
        "in the tl.dot, is NaN",
    ),
    Mistake(
        "scores are rounded to q's dtype, and weights as tl.dot wants them",
        {
            SCORES: SCORES.replace("* scale,", "* scale).to(q.dtype).to(tl.float32),").replace(
                "tl.dot(q", "(tl.dot(q"
            )
        },
        "too low a precision",
        fails="correct or edges",  # where the draw has such scores
    ),
    Mistake("the batch is found from the number of query blocks",
            {"pid_bh // H, pid_bh % H": "pid_bh // tl.maximum(H, tiles_m), pid_bh % H"}, "is right"),
    Mistake("the running sum begins as a number, and becomes a block",
            {"l_i = tl.zeros((BLOCK_M,), tl.float32)": "l_i = 0.0"},
            "start it on line 73 as what it becomes"),
    Mistake(
        "at most 512 programs, and none takes a second block of queries",
        {"(B * H * triton.cdiv(Sq, BLOCK_M),)": "(min(B * H * triton.cdiv(Sq, BLOCK_M), 512),)"},
        "part of it is left out",
        fails="fast",
        cpu=True,  # on a GPU the timed calls are held against torch's
    ),
    Mistake("the sum starts at 1",
            {"l_i = tl.zeros((BLOCK_M,), tl.float32)": "l_i = tl.full((BLOCK_M,), 1.0, tl.float32)"},
            "is right"),
    Mistake(
        "both loops step by two blocks",
        {
            "range(Sk, 0, -BLOCK_N, num_stages": "range(Sk, 0, -2 * BLOCK_N, num_stages",
            "in range(Sk, 0, -BLOCK_N)": "in range(Sk, 0, -2 * BLOCK_N)",
            "k_ptrs += BLOCK_N * stride_kn\n\n": "k_ptrs += 2 * BLOCK_N * stride_kn\n\n",
            f"k_ptrs += BLOCK_N * stride_kn{MOVE_V}": (
                f"k_ptrs += 2 * BLOCK_N * stride_kn{MOVE_V.replace('BLOCK_N', '2 * BLOCK_N')}"
            ),
        },
        "Every second tile of 32 keys is skipped",
    ),
    Mistake("the keys stand still in both passes",
            {"axis=1))\n        k_ptrs += BLOCK_N * stride_kn\n\n": "axis=1))\n\n",
             f"        k_ptrs += BLOCK_N * stride_kn{MOVE_V}": f"        {MOVE_V.strip()}"},
            "k stands still"),
    Mistake("only the first block of keys is walked",
            {"range(Sk, 0, -BLOCK_N, num_stages": "range(Sk, Sk - 1, -BLOCK_N, num_stages",
             "in range(Sk, 0, -BLOCK_N)": "in range(Sk, Sk - 1, -BLOCK_N)"}, "Only the first 32 keys count",
            at="range(Sk, Sk - 1"),
]
