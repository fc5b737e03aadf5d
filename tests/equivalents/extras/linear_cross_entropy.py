"""Mutants of the chunked loss that live, and why."""

from tools.planted import Equivalent

LOSS, GRADIENT, SUM = "chunk_loss_kernel", "chunk_grad_kernel", "sum_kernel"
PART = "part = tl.load(part_ptr + offs, mask=offs < n, other=0.0).to(tl.float32)"
LOGIT = "x = tl.load(logits_ptrs, mask=mask, other=0.0).to(tl.float32)"
OFFS = "offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)"
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
        f"solution:{GRADIENT}", LOGIT, LOGIT.replace("other=0.0", UNTOLD), "nothing is stored of masked lanes"
    ),
    Equivalent(
        f"solution:{SUM}", PART, PART.replace("other=0.0", UNTOLD), "nothing is stored of masked lanes"
    ),
    uncast(f"solution:{SUM}", OFFS, "a chunk of 2³¹ gradients takes an h of 200,000", ".to(tl.int64)"),
]
