"""Day 28: what attention without scores in memory gets wrong, and what the grader must say about it."""

from __future__ import annotations

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
STORED = (
    "s_ptrs = s_ptr + pid_bh * Sq * Sk + offs_m[:, None] * Sk + Sk - left + offs_n[None, :]\n"
    "        s_mask = rows[:, None] & (offs_n < left)[None, :]"
)
SUM = "l_i += tl.sum(p, axis=1)"

mistakes = [
    Mistake(
        "the count of bytes is not returned",
        swap={"    return itemsize * (4 * S": "    itemsize * (4 * S"},
        fails="correct",
        says="attention_bytes() returns None where 8 is right",
    ),
    Mistake(
        "the scale is forgotten",
        swap={SCORES: SCORES.replace(" * scale", "")},
        fails="correct",
        says="scale is missing",
    ),
    Mistake(
        "q was scaled, and so are the scores",
        swap={SCORES: SCORES.replace(" * scale", " * scale * scale")},
        fails="correct",
        says="scale is applied twice",
    ),
    Mistake(
        "keys past the last have a score of 0",
        swap={SCORES: 'tl.dot(q, k, input_precision="ieee") * scale'},
        fails="correct",
        says="Lanes past the last key count with score 0",
    ),
    Mistake(
        "keys past the last have a merely small score",
        swap={SCORES: SCORES.replace('-float("inf")', "-1e4")},
        fails="edges",
        says="is right",
    ),
    Mistake(
        "every frame is masked as if it were the first",
        swap={"cols = offs_n < left": "cols = offs_n < 2048"},
        fails="correct",
        says="mask",
    ),
    Mistake(
        "the maximum is that of the last frame",
        swap={MAXIMUM: "m_i = tl.max(s, axis=1)"},
        fails="correct or edges",
        says="becomes Inf in fp16",
    ),
    Mistake(
        "the sum is that of the last frame",
        swap={SUM: "l_i = tl.sum(p, axis=1)"},
        fails="correct",
        says="divided by the sum of the last block",
    ),
    Mistake(
        "no maximum is subtracted",
        swap={"tl.exp(s - m_i[:, None])": "tl.exp(s)"},
        fails="correct",
        says="becomes Inf in fp16",
    ),
    Mistake(
        "the weights are not divided by their sum",
        swap={"acc / l_i[:, None]": "acc"},
        fails="correct",
        says="not divided",
    ),
    Mistake(
        "pass 2 goes on where pass 1 ended",
        swap={PASS_2: PASS_2.replace("\n    k_ptrs = k_start", "")},
        fails="correct",
        says="past the end",
        at="k_ptrs += BLOCK_N * stride_kn",
    ),
    Mistake("the values stand still", swap={MOVE_V: ""}, fails="correct", says="move the pointer on"),
    Mistake(
        "the keys move on by one row",
        swap={PASS_1: PASS_1.replace("BLOCK_N * ", "")},
        fails="edges",
        says=("becomes Inf in fp16", "Large values overflow"),
    ),
    Mistake(
        "only the last frame of values counts",
        swap={DOT: DOT.replace(", acc,", ",")},
        fails="correct",
        says="Only the last block",
    ),
    Mistake(
        "the last, partial frame is left out of pass 2",
        swap={"in range(Sk, 0, -BLOCK_N)": "in range(Sk, BLOCK_N - 1, -BLOCK_N)"},
        fails="correct",
        says="last, partial block",
    ),
    Mistake(
        "keys are read past D",
        swap={LOAD_K: "mask=cols[None, :]"},
        fails="correct",
        says="past the end of",
    ),
    Mistake(
        "columns of v past 64 are left out",
        swap={"BLOCK_D=max(triton.next_power_of_2(D), 16)": "BLOCK_D=64"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "weights and values are rounded to fp16",
        swap={DOT: DOT.replace("p.to(v.dtype), v", "p.to(tl.float16), v.to(tl.float16)")},
        fails="correct",
        says="Every element is a number of",
    ),
    Mistake(
        "the sum over the keys is rounded to v's dtype at every block",
        swap={DOT: DOT + ".to(v.dtype).to(tl.float32)"},
        fails="correct",
        says="too low a precision",
    ),
    Mistake(
        "programs count the batches first, results the heads",
        swap={
            "pid_b, pid_h = pid_bh // H, pid_bh % H": (
                "B = tl.num_programs(0) // tiles_m // H\n    pid_b, pid_h = pid_bh % B, pid_bh // B"
            )
        },
        fails="correct",
        says="is right",
    ),
    Mistake(
        "all heads read the values of head 0",
        swap={" + pid_h * stride_vh": ""},
        fails="correct",
        says="values of head 0",
    ),
    Mistake(
        "the values are read with the strides of the keys",
        swap={"*v.stride(),": "*k.stride(),"},
        fails="correct",
        says="stride",
    ),
    Mistake(
        "the last queries get no program",
        swap={"triton.cdiv(Sq, BLOCK_M),)": "Sq // BLOCK_M,)"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "fp32 is left to tl.dot, which cuts it to TF32",
        swap={SCORES: SCORES.replace(', input_precision="ieee"', "")},
        fails="correct",
        says="TF32",
    ),
    Mistake("the result is always fp32", swap={"dtype=q.dtype, ": ""}, fails="correct", says="dtype"),
    Mistake(
        "day 27's scores are still allocated",
        swap={OUTPUT: f"s = {STORE}\n    {OUTPUT}"},
        fails="memory",
        says="intermediate tensor",
    ),
    Mistake(
        "pass 1 stores its scores for pass 2",
        swap={
            "    o_ptr,\n    H,": "    o_ptr,\n    s_ptr,\n    H,",
            f"        {MAXIMUM}": f"        {MAXIMUM}\n"
            f"        {STORED}\n"
            "        tl.store(s_ptrs, s, mask=s_mask)",
            "        p = tl.exp(": f"        {STORED}\n"
            '        s = tl.load(s_ptrs, mask=s_mask, other=-float("inf"))\n'
            "        p = tl.exp(",
            "        o,\n        H,": f"        o,\n        {STORE},\n        H,",
        },
        fails="memory",
        says="intermediate tensor",
    ),
    Mistake(
        "torch copies strided inputs first",
        swap={SHAPE: f"q, k, v = q.contiguous(), k.contiguous(), v.contiguous()\n    {SHAPE}"},
        fails="honest",
        says="strides",
    ),
    Mistake(
        "torch converts to fp32 first",
        swap={LAUNCH: f"    q, k, v = q.float(), k.float(), v.float()\n{LAUNCH}"},
        fails="honest",
        says="torch converted",
    ),
    Mistake(
        "the bytes are counted in elements",
        swap={BYTES: "4 * S * D + 4 * S * S"},
        fails="correct",
        says="multiply by itemsize",
    ),
    Mistake(
        "scores and weights are counted once each",
        swap={BYTES: "itemsize * (4 * S * D + 2 * S * S)"},
        fails="correct",
        says="four passes",
    ),
    Mistake(
        "the scores are forgotten",
        swap={BYTES: "itemsize * 4 * S * D"},
        fails="correct",
        says="pass through memory",
    ),
    Mistake("nothing is returned", swap={RETURN: "    o.shape"}, fails="correct", says="returns nothing"),
    Mistake(
        "lanes past the last key get a score of 0 by tl.where",
        swap={SCORES: SCORES.replace('-float("inf")', "0.0")},
        fails="correct",
        says="Lanes past the last key count with score 0",
    ),
    Mistake(
        "the maximum is taken down the queries, the sum along the keys",
        swap={MAXIMUM: "m_i = tl.maximum(m_i, tl.reshape(tl.max(s, axis=0), (BLOCK_M,)))"},
        fails="correct",
        says="is NaN",
    ),
    Mistake(
        "the maximum starts from 0",
        swap={
            'm_i = tl.full((BLOCK_M,), -float("inf"), tl.float32)': "m_i = tl.zeros((BLOCK_M,), tl.float32)"
        },
        fails="edges",
        says="0 / 0 is NaN",
    ),
    Mistake(
        "lanes past the last key of a frame load -inf",
        swap={
            "k = tl.load(k_ptrs, mask=(offs_d < D)[:, None] & cols[None, :], other=0.0)": (
                "k = tl.load(k_ptrs, mask=(offs_d < D)[:, None] & cols[None, :], other=-float('inf'))"
            )
        },
        fails="correct",
        says="which masked lanes of that load hold by `other=`",
        at="k = tl.load(",
    ),
    Mistake(
        "scores are rounded to q's dtype, and weights as tl.dot wants them",
        swap={
            SCORES: SCORES.replace("* scale,", "* scale).to(q.dtype).to(tl.float32),").replace(
                "tl.dot(q", "(tl.dot(q"
            )
        },
        fails="correct or edges",
        says=("half precision is too low", "becomes Inf in fp16"),  # where the draw has such scores
    ),
    Mistake(
        "the batch is found from the number of query blocks",
        swap={"pid_bh // H, pid_bh % H": "pid_bh // tl.maximum(H, tiles_m), pid_bh % H"},
        fails="correct",
        says="first axis",
    ),
    Mistake(
        "the running sum begins as a number, and becomes a block",
        swap={"l_i = tl.zeros((BLOCK_M,), tl.float32)": "l_i = 0.0"},
        fails="correct",
        says="start it on line 73 as what it becomes",
    ),
    Mistake(
        "at most 512 programs, and none takes a second block of queries",
        swap={"(B * H * triton.cdiv(Sq, BLOCK_M),)": "(min(B * H * triton.cdiv(Sq, BLOCK_M), 512),)"},
        fails="fast",
        says="part of it is left out",
        cpu=True,  # on a GPU the timed calls are held against torch's
    ),
    Mistake(
        "the sum starts at 1",
        swap={"l_i = tl.zeros((BLOCK_M,), tl.float32)": "l_i = tl.full((BLOCK_M,), 1.0, tl.float32)"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "both loops step by two blocks",
        swap={
            "range(Sk, 0, -BLOCK_N, num_stages": "range(Sk, 0, -2 * BLOCK_N, num_stages",
            "in range(Sk, 0, -BLOCK_N)": "in range(Sk, 0, -2 * BLOCK_N)",
            "k_ptrs += BLOCK_N * stride_kn\n\n": "k_ptrs += 2 * BLOCK_N * stride_kn\n\n",
            f"k_ptrs += BLOCK_N * stride_kn{MOVE_V}": (
                f"k_ptrs += 2 * BLOCK_N * stride_kn{MOVE_V.replace('BLOCK_N', '2 * BLOCK_N')}"
            ),
        },
        fails="correct",
        says="Every second tile of 32 keys is skipped",
    ),
    Mistake(
        "the keys stand still in both passes",
        swap={
            "axis=1))\n        k_ptrs += BLOCK_N * stride_kn\n\n": "axis=1))\n\n",
            f"        k_ptrs += BLOCK_N * stride_kn{MOVE_V}": f"        {MOVE_V.strip()}",
        },
        fails="correct",
        says="k stands still",
    ),
    Mistake(
        "only the first block of keys is walked",
        swap={
            "range(Sk, 0, -BLOCK_N, num_stages": "range(Sk, Sk - 1, -BLOCK_N, num_stages",
            "in range(Sk, 0, -BLOCK_N)": "in range(Sk, Sk - 1, -BLOCK_N)",
        },
        fails="correct",
        says="Only the first 32 keys count",
        at="range(Sk, Sk - 1",
    ),
]
