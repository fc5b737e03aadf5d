"""Extra: what goes wrong when tokens are routed, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

BACK = "return weights, experts, order, counts"
# Who chose whom told by the experts, and added up, so that one who is chosen twice counts twice.
TAKEN = 'taken = (inside & (x == -float("inf"))).to(tl.int32)'
WORD = "word = tl.reshape(tl.sum(taken << offs_t[None, :, None], axis=1), (BLOCK_E,))"
RANKED = "rank = ones(tl.reshape(mine, (BLOCK_T, BLOCK_K)) & ((1 << offs_t) - 1)[:, None])"
COUNTED = "count = ones(tl.load(word_ptr + offs, mask=mask, other=0))"
BY_EXPERTS = {
    TAKEN: """slots = (tokens < t)[:, None] & (offs_k < k)[None, :]
    same = (experts[:, :, None] == tl.arange(0, BLOCK_E)[None, None, :]) & slots[:, :, None]
    taken = tl.sum(same.to(tl.int32), axis=1)""",
    WORD: "word = tl.sum(taken, axis=0)",
    RANKED: """twice = experts[:, :, None] == experts[:, None, :]
    earlier = (twice & (offs_k[None, None, :] < offs_k[None, :, None])).to(tl.int32)
    rank = tl.gather(tl.cumsum(taken, axis=0) - taken, experts, 1) + tl.sum(earlier, axis=2)""",
    COUNTED: "count = tl.load(word_ptr + offs, mask=mask, other=0)",
}
BEFORE = "before = tl.load(before_ptr + tl.program_id(0).to(tl.int64) * e + offs_e, mask=offs_e < e, other=0)"
CARRY = "total += tl.sum(count, axis=0)"
CHOSEN = 'x = tl.where(offs_e == expert[None, :, None], -float("inf"), x)'
COUNTS = "counts = torch.empty(e, dtype=torch.int32, device=router.device)"
DIVIDED = "weights / tl.sum(weights, axis=1)[:, None]"
FIRST = "first = tl.cumsum(counts, axis=0) - counts + before"
LOADED = 'mask=inside, other=-float("inf")'
MASK = "mask = (lanes < ENTRIES) & (entries < n)"
PLACED = "tl.store(order_ptr + tl.gather(first, experts, 0) + rank, entries, mask=mask)"
RANK = "((1 << offs_t) - 1)[:, None]"
ROWS = "row_tokens[:, None] * e + offs_e"
SIZES = "t, e = router.shape"
SCANNED = "total[None, :] + tl.cumsum(count, axis=0) - count"
TOP = """equal = tl.where(x == top[None, :, None], offs_e, BLOCK_E - 1)
        expert = tl.min(tl.min(equal, axis=0), axis=1)"""
TOTAL = "tl.sum(tl.sum({}, axis=0), axis=1)[None, :, None]"
WIDE = "inside = tl.reshape(inside, (STEPS, BLOCK_T, LANES))\n"

mistakes = [
    Mistake(
        "a winner is put at -3e38, which is not below every logit",
        swap={
            TAKEN: TAKEN.replace('-float("inf")', "-3e38"),
            CHOSEN: CHOSEN.replace('-float("inf")', "-3e38"),
        },
        fails="limit",
        says="the same",
    ),
    Mistake(
        "the weights are shares of all experts",
        swap={
            WIDE: WIDE
            + "    largest = tl.max(tl.max(x, axis=0), axis=1)[None, :, None]\n"
            + "    whole = tl.sum(tl.sum(tl.exp(x - largest), axis=0), axis=1)\n",
            DIVIDED: "weights / whole[:, None]",
        },
        fails="correct",
        says="shares of all experts",
    ),
    Mistake(
        "the weights are not divided by their sum",
        swap={DIVIDED: "weights"},
        fails="correct",
        says="not divided by their sum",
    ),
    Mistake(
        "the chosen logits are the weights",
        swap={DIVIDED: "logits"},
        fails="correct",
        says="logits as they are",
    ),
    Mistake(
        "the last of equal logits is chosen",
        swap={
            TOP: "equal = tl.where(x == top[None, :, None], offs_e, -1)\n"
            "        expert = tl.max(tl.max(equal, axis=0), axis=1)"
        },
        fails="correct",
        says="Of equal logits the later expert is taken",
    ),
    Mistake(
        "the smallest logits are chosen",
        swap={
            WIDE: WIDE + "    x = tl.where(inside, -x, x)\n",
            "== slot, top[:, None], logits)": "== slot, -top[:, None], logits)",
        },
        fails="correct",
        says="smallest logits are chosen",
    ),
    Mistake(
        "the largest |logits| are chosen",
        swap={WIDE: WIDE + "    x = tl.where(inside, tl.abs(x), x)\n"},
        fails="correct",
        says="largest |logits|",
    ),
    Mistake(
        "a chosen expert stays in the running",
        swap={CHOSEN: "pass"},
        fails="correct",
        says="counts[0] is 0 where 1 is right",
    ),
    Mistake(
        "a chosen logit becomes 0",
        swap={CHOSEN: CHOSEN.replace('-float("inf")', "0.0")},
        fails="correct",
        says=("nobody is seen to be chosen", "counts[0] is 0 where 1 is right"),
    ),
    Mistake(
        "lanes that are no expert hold 0",
        swap={LOADED: "mask=inside, other=0.0"},
        fails="correct or edges",
        says="is right",
    ),
    Mistake(
        "lanes that are no expert hold -1e9",
        swap={LOADED: "mask=inside, other=-1e9"},
        fails="limit",
        says="hold a finite number",
    ),
    Mistake(
        "probabilities are compared, not logits",
        swap={
            WIDE: WIDE + "    x = tl.exp(x - tl.max(tl.max(x, axis=0), axis=1)[None, :, None])\n"
            f'    x = tl.where(inside, x / {TOTAL.format("x")}, -float("inf"))\n',
            "weights = tl.exp(logits - tl.max(logits, axis=1)[:, None])": (
                "weights = tl.where(offs_k[None, :] < k, logits, 0.0)"
            ),
        },
        fails="limit",
        says="Probabilities are compared",
    ),
    Mistake(
        "a chosen logit becomes 0, and may be chosen twice",
        swap={CHOSEN: CHOSEN.replace('-float("inf")', "0.0"), **BY_EXPERTS},
        fails="correct",
        says="A chosen logit becomes 0",
    ),
    Mistake(
        "a chosen expert stays in the running, and is counted k times",
        swap={CHOSEN: "pass", **BY_EXPERTS},
        fails="correct",
        says="All k choices of a token are the same expert",
    ),
    Mistake(
        "experts stand in the order of their numbers",
        swap={
            WIDE: WIDE + "    whole = tl.reshape(tl.permute(x, (1, 0, 2)), (BLOCK_T, BLOCK_E))\n",
            TAKEN: TAKEN
            + "\n    experts = tl.sort(tl.where(offs_k[None, :] < k, experts, BLOCK_E - 1))\n"
            + '    logits = tl.where(offs_k[None, :] < k, tl.gather(whole, experts, 1), -float("inf"))',
        },
        fails="correct",
        says="sorted by their numbers",
    ),
    Mistake(
        "rank counts the token itself",
        swap={RANK: RANK.replace("1 <<", "2 <<")},
        fails="correct",
        says="past the end of",
    ),
    Mistake(
        "rank counts the tokens behind",
        swap={RANK: "(-2 << offs_t)[:, None]"},
        fails="correct",
        says="order",
    ),
    Mistake(
        "rank counts all tokens",
        swap={f" & {RANK}": ""},
        fails="correct",
        says="past the end of",
        so_far="experts ✓ · weights ✓ · ranks ✗ · sums over programs ✓ · order ✓",
    ),
    Mistake(
        "a word stands for the number of its ones",
        swap={COUNTED: BY_EXPERTS[COUNTED]},
        fails="correct",
        says="counts[0] is 31 where 5 is right",
    ),
    Mistake(
        "rank is forgotten",
        swap={PLACED: PLACED.replace(" + rank", "")},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "what the programs before have is forgotten",
        swap={FIRST: FIRST.replace(" + before", "")},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the experts before are forgotten",
        swap={FIRST: "first = before"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "an expert's entries begin where they end",
        swap={FIRST: FIRST.replace(" - counts", "")},
        fails="correct",
        says="past the end of",
    ),
    Mistake(
        "a program's own entries count as those before it",
        swap={SCANNED: SCANNED.replace(" - count", "")},
        fails="correct",
        says="past the end of",
        so_far="experts ✓ · weights ✓ · ranks ✓ · sums over programs ✗ · order ✓",
    ),
    Mistake(
        "the sum is not carried to the next programs",
        swap={SCANNED: SCANNED.replace("total[None, :] + ", "")},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "counts are those of the last programs alone",
        swap={CARRY: "total = tl.sum(count, axis=0)"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "order holds tokens",
        swap={
            PLACED: PLACED.replace("entries,", "entries // k,"),
            "    n,\n    e,\n    ENTRIES": "    n,\n    e,\n    k,\n    ENTRIES",
            "        t * k,\n        e,\n": "        t * k,\n        e,\n        k,\n",
        },
        fails="correct",
        says="order holds tokens",
    ),
    Mistake(
        "order says where entries go",
        swap={PLACED: "tl.store(order_ptr + entries, tl.gather(first, experts, 0) + rank, mask=mask)"},
        fails="correct",
        says="order says where each entry goes",
    ),
    Mistake(
        "places are handed out by atomics",
        swap={
            BEFORE: "before_ptr += tl.program_id(0) * 0",
            FIRST: "first = tl.cumsum(counts, axis=0) - counts",
            PLACED: "rank = tl.atomic_add(before_ptr + experts, 1, mask=mask)\n    " + PLACED,
            "    # 8 words are a sector.\n": "",
        },
        fails="correct",
        says="is right",
    ),
    Mistake(
        "lanes past the last entry are placed too",
        swap={MASK: "mask = entries < n"},
        fails="correct",
        says="order[",
    ),
    Mistake(
        "rows are taken to be a block long",
        swap={ROWS: ROWS.replace("* e", "* BLOCK_E")},
        fails="correct",
        says="past the end of router",
    ),
    Mistake(
        "rows of words are taken to be a block long",
        swap={BEFORE: BEFORE.replace("* e +", "* BLOCK_E +")},
        fails="correct",
        says="past the end of",
    ),
    Mistake(
        "rows past the last token count for the first expert",
        swap={TAKEN: 'taken = ((offs_e < e) & (x == -float("inf"))).to(tl.int32)'},
        fails="correct",
        says=("counts[0] is 32 where 1 is right", "right for a longer row that ends in 0"),
        on_gpu="right for a longer row that ends in 0",
    ),
    Mistake(
        "weights are rounded to 16 bits",
        swap={DIVIDED: f"({DIVIDED}).to(tl.float16)"},
        fails="correct",
        says="Every element is a number of",
    ),
    Mistake(
        "the weights have the logits' dtype",
        swap={
            "weights = torch.empty(t, k, dtype=torch.float32": (
                "weights = torch.empty(t, k, dtype=router.dtype"
            )
        },
        fails="correct",
        says="weights is fp16 where fp32 is asked for",
    ),
    Mistake(
        "experts are int64",
        swap={
            "(torch.empty(t, k, dtype=torch.int32, device=router.device) for _ in range(2))": (
                "(torch.empty(t, k, dtype=d, device=router.device) for d in (torch.int64, torch.int32))"
            ),
            "experts = tl.load(experts_ptr + entries, mask=mask, other=0)": (
                "experts = tl.load(experts_ptr + entries, mask=mask, other=0).to(tl.int32)"
            ),
        },
        fails="correct",
        says="experts is int64 where int32 is asked for",
    ),
    Mistake(
        "of no tokens there are no counts",
        swap={
            SIZES: SIZES,
            COUNTS: COUNTS + "\n    if t == 0:\n        return weights, experts, order, counts",
        },
        fails="limit",
        says="no kernel runs",
    ),
    Mistake(
        "counts go on where the last call ended",
        swap={
            COUNTS: "zeros = torch.zeros(e, dtype=torch.int32, device=router.device)\n"
            "    counts = KEPT.setdefault(e, zeros)",
            "import triton.language as tl\n": "import triton.language as tl\n\nKEPT = {}\n",
            "total = tl.zeros((BLOCK_E,), tl.int32)": (
                "total = tl.zeros((BLOCK_E,), tl.int32)\n"
                "    had = tl.load(counts_ptr + offs_e, mask=offs_e < e, other=0)"
            ),
            "tl.store(counts_ptr + offs_e, total, mask": "tl.store(counts_ptr + offs_e, total + had, mask",
            BACK: "return weights, experts, order, counts.clone()",
        },
        fails="correct or edges",
        says="right in the first call of a process",
    ),
    Mistake(
        "torch sorts",
        swap={BACK: "return weights, experts, experts.flatten().argsort(stable=True).int(), counts"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "the host reads how many entries there are",
        swap={BACK: "assert counts.sum().item() == t * k\n    " + BACK},
        fails="correct",
        says="on the host",
    ),
    Mistake(
        "only the choices are there yet",
        swap={},
        undone=("scan_kernel", "place_kernel"),
        fails="correct",
        says="The result order was never written",
        so_far="experts ✓ · weights ✓ · ranks ✓ · not started: sums over programs, order",
    ),
    Mistake(
        "only order is missing yet",
        swap={},
        undone=("place_kernel",),
        fails="correct",
        says="The result order was never written",
        so_far="experts ✓ · weights ✓ · ranks ✓ · sums over programs ✓ · not started: order",
    ),
]
