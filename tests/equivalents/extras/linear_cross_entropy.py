"""Mutants of the chunked loss that live, and why."""

from tools.planted import Equivalent

LOSS, GRADIENT, SUM = "chunk_loss_kernel", "chunk_grad_kernel", "sum_kernel"
PART = "part = tl.load(part_ptr + offs, mask=offs < n, other=0.0).to(tl.float32)"
LOGIT = "x = tl.load(logits_ptrs, mask=mask, other=0.0).to(tl.float32)"
AIM = "tl.store(aim_ptr + row, tl.load(logits_ptr + at, mask=mine, other=0.0).to(tl.float32), mask=mine)"
OFFS = "offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)"
ROWS = "rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)"
COUNT = "count += counts.to(tl.int32)"
LSE = "lse = tl.load(lse_ptr + row, mask=used, other=0.0)"
UNTOLD = "other=-float('inf')"


def uncast(where: str, line: str, why: str, cast: str = ".to(tl.float32)") -> Equivalent:
    return Equivalent(where, line, line.replace(cast, ""), why)


equivalents = [
    Equivalent(
        f"solution:{LOSS}",
        "if target != ignore_index:",
        "if True:",
        "slower alone: nobody reads the sums of a row that does not count",
    ),
    Equivalent(
        f"solution:{GRADIENT}",
        LOGIT,
        LOGIT.replace("other=0.0", UNTOLD),
        "nothing is stored of masked lanes",
    ),
    Equivalent(
        f"solution:{SUM}", PART, PART.replace("other=0.0", UNTOLD), "nothing is stored of masked lanes"
    ),
    uncast(f"solution:{SUM}", OFFS, "a chunk of 2³¹ gradients takes an h of 200,000", ".to(tl.int64)"),
    uncast(f"backwards:{LOSS}", AIM, "a store converts to what it points at"),
    Equivalent(
        "backwards:start_kernel",
        ROWS,
        ROWS.replace(" * BLOCK_M", ""),
        "cases of a CPU have fewer rows than a block; a GPU's have 3000",
        gpu=True,
    ),
    uncast("backwards:mean_kernel", COUNT, "what is added to int32 is promoted", ".to(tl.int32)"),
    uncast(
        "backwards:mean_kernel",
        "n_valid = tl.sum(count, axis=0).to(tl.float32)",
        "a division of fp32 by an integer promotes it, and a store converts",
    ),
    Equivalent(
        f"backwards:{GRADIENT}",
        LSE,
        LSE.replace("other=0.0", UNTOLD),
        "of a row that does not count nothing but 0 is stored",
    ),
    Equivalent(
        "merged:finish",
        "count += used.to(tl.float32)",
        "count += used.to(tl.float16)",
        "0 and 1 are exact in fp16, and the sum is in fp32",
    ),
    uncast(f"merged:{GRADIENT}", LOGIT, "fp32 on the other side promotes it"),
    uncast(
        f"merged:{SUM}", PART, "fp32 on the other side promotes it, or a store of x's dtype takes it as it is"
    ),
]
