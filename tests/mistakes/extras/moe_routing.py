"""Extra: what goes wrong when tokens are routed, and what the grader must say about it."""

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

# fmt: off
mistakes = [
    Mistake("a winner is put at -3e38, which is not below every logit",
            {TAKEN: TAKEN.replace('-float("inf")', "-3e38"),
             CHOSEN: CHOSEN.replace('-float("inf")', "-3e38")}, "is right", fails="limit"),
    Mistake(
        "the weights are shares of all experts",
        {
            WIDE: WIDE
            + "    largest = tl.max(tl.max(x, axis=0), axis=1)[None, :, None]\n"
            + "    whole = tl.sum(tl.sum(tl.exp(x - largest), axis=0), axis=1)\n",
            DIVIDED: "weights / whole[:, None]",
        },
        "shares of all experts",
    ),
    Mistake("the weights are not divided by their sum", {DIVIDED: "weights"}, "not divided by their sum"),
    Mistake("the chosen logits are the weights", {DIVIDED: "logits"}, "logits as they are"),
    Mistake("the last of equal logits is chosen",
            {TOP: "equal = tl.where(x == top[None, :, None], offs_e, -1)\n"
             "        expert = tl.max(tl.max(equal, axis=0), axis=1)"},
            "Of equal logits the later expert is taken"),
    Mistake("the smallest logits are chosen",
            {WIDE: WIDE + "    x = tl.where(inside, -x, x)\n",
             "== slot, top[:, None], logits)": "== slot, -top[:, None], logits)"},
            "smallest logits are chosen"),
    Mistake("the largest |logits| are chosen", {WIDE: WIDE + "    x = tl.where(inside, tl.abs(x), x)\n"},
            "largest |logits|"),
    Mistake("a chosen expert stays in the running", {CHOSEN: "pass"}, "counts[0] is 0 where 1 is right"),
    Mistake("a chosen logit becomes 0", {CHOSEN: CHOSEN.replace('-float("inf")', "0.0")},
            ("nobody is seen to be chosen", "counts[0] is 0 where 1 is right")),
    Mistake("lanes that are no expert hold 0", {LOADED: "mask=inside, other=0.0"}, "is right",
            fails="correct or edges"),
    Mistake("lanes that are no expert hold -1e9", {LOADED: "mask=inside, other=-1e9"}, "hold a finite number",
            fails="limit"),
    Mistake(
        "probabilities are compared, not logits",
        {
            WIDE: WIDE + "    x = tl.exp(x - tl.max(tl.max(x, axis=0), axis=1)[None, :, None])\n"
            f'    x = tl.where(inside, x / {TOTAL.format("x")}, -float("inf"))\n',
            "weights = tl.exp(logits - tl.max(logits, axis=1)[:, None])": (
                "weights = tl.where(offs_k[None, :] < k, logits, 0.0)"
            ),
        },
        "Probabilities are compared",
        fails="limit",
    ),
    Mistake("a chosen logit becomes 0, and may be chosen twice",
            {CHOSEN: CHOSEN.replace('-float("inf")', "0.0"), **BY_EXPERTS}, "A chosen logit becomes 0"),
    Mistake("a chosen expert stays in the running, and is counted k times", {CHOSEN: "pass", **BY_EXPERTS},
            "All k choices of a token are the same expert"),
    Mistake(
        "experts stand in the order of their numbers",
        {
            WIDE: WIDE + "    whole = tl.reshape(tl.permute(x, (1, 0, 2)), (BLOCK_T, BLOCK_E))\n",
            TAKEN: TAKEN
            + "\n    experts = tl.sort(tl.where(offs_k[None, :] < k, experts, BLOCK_E - 1))\n"
            + '    logits = tl.where(offs_k[None, :] < k, tl.gather(whole, experts, 1), -float("inf"))',
        },
        "sorted by their numbers",
    ),
    Mistake("rank counts the token itself", {RANK: RANK.replace("1 <<", "2 <<")}, "past the end of"),
    Mistake("rank counts the tokens behind", {RANK: "(-2 << offs_t)[:, None]"}, "order"),
    Mistake("rank counts all tokens", {f" & {RANK}": ""}, "past the end of",
            so_far="experts ✓ · weights ✓ · ranks ✗ · sums over programs ✓ · order ✓"),
    Mistake("a word stands for the number of its ones", {COUNTED: BY_EXPERTS[COUNTED]},
            "counts[0] is 31 where 5 is right"),
    Mistake("rank is forgotten", {PLACED: PLACED.replace(" + rank", "")}, "never written"),
    Mistake("a program's own entries count as those before it", {SCANNED: SCANNED.replace(" - count", "")},
            "past the end of", so_far="experts ✓ · weights ✓ · ranks ✓ · sums over programs ✗ · order ✓"),
    Mistake("order holds tokens",
            {PLACED: PLACED.replace("entries,", "entries // k,"),
             "    n,\n    e,\n    ENTRIES": "    n,\n    e,\n    k,\n    ENTRIES",
             "        t * k,\n        e,\n": "        t * k,\n        e,\n        k,\n"},
            "order holds tokens"),
    Mistake("order says where entries go",
            {PLACED: "tl.store(order_ptr + entries, tl.gather(first, experts, 0) + rank, mask=mask)"},
            "order says where each entry goes"),
    Mistake("places are handed out by atomics",
            {BEFORE: "before_ptr += tl.program_id(0) * 0",
             FIRST: "first = tl.cumsum(counts, axis=0) - counts",
             PLACED: "rank = tl.atomic_add(before_ptr + experts, 1, mask=mask)\n    " + PLACED,
             "    # 8 words are a sector.\n": ""}, "is right"),
    Mistake("lanes past the last entry are placed too", {MASK: "mask = entries < n"}, "order["),
    Mistake("rows are taken to be a block long", {ROWS: ROWS.replace("* e", "* BLOCK_E")},
            "past the end of router"),
    Mistake("rows past the last token count for the first expert",
            {TAKEN: 'taken = ((offs_e < e) & (x == -float("inf"))).to(tl.int32)'},
            ("counts[0] is 32 where 1 is right", "right for a longer row that ends in 0"),
            on_gpu="right for a longer row that ends in 0"),
    Mistake("weights are rounded to 16 bits", {DIVIDED: f"({DIVIDED}).to(tl.float16)"},
            "Every element is a number of"),
    Mistake(
        "the weights have the logits' dtype",
        {
            "weights = torch.empty(t, k, dtype=torch.float32": (
                "weights = torch.empty(t, k, dtype=router.dtype"
            )
        },
        "weights is fp16 where fp32 is asked for",
    ),
    Mistake(
        "experts are int64",
        {
            "(torch.empty(t, k, dtype=torch.int32, device=router.device) for _ in range(2))": (
                "(torch.empty(t, k, dtype=d, device=router.device) for d in (torch.int64, torch.int32))"
            ),
            "experts = tl.load(experts_ptr + entries, mask=mask, other=0)": (
                "experts = tl.load(experts_ptr + entries, mask=mask, other=0).to(tl.int32)"
            ),
        },
        "experts is int64 where int32 is asked for",
    ),
    Mistake("of no tokens there are no counts",
            {SIZES: SIZES,
             COUNTS: COUNTS + "\n    if t == 0:\n        return weights, experts, order, counts"},
            "no kernel runs", fails="limit"),
    Mistake("counts go on where the last call ended",
            {COUNTS: "zeros = torch.zeros(e, dtype=torch.int32, device=router.device)\n"
             "    counts = KEPT.setdefault(e, zeros)",
             "import triton.language as tl\n": "import triton.language as tl\n\nKEPT = {}\n",
             "total = tl.zeros((BLOCK_E,), tl.int32)": ("total = tl.zeros((BLOCK_E,), tl.int32)\n"
             "    had = tl.load(counts_ptr + offs_e, mask=offs_e < e, other=0)"),
             "tl.store(counts_ptr + offs_e, total, mask": "tl.store(counts_ptr + offs_e, total + had, mask",
             BACK: "return weights, experts, order, counts.clone()"}, "right in the first call of a process",
            fails="correct or edges"),
    Mistake("only the choices are there yet", {}, undone=("scan_kernel", "place_kernel"), fails="correct",
            says="The result order was never written",
            so_far="experts ✓ · weights ✓ · ranks ✓ · not started: sums over programs, order"),
    Mistake("only order is missing yet", {}, undone=("place_kernel",), fails="correct",
            says="The result order was never written",
            so_far="experts ✓ · weights ✓ · ranks ✓ · sums over programs ✓ · not started: order"),
]
