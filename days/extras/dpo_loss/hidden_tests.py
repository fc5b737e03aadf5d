"""Extra: log-probabilities of tokens, both passes at 0.5 of a plain copy, and DPO's loss of their sums."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import log_softmax, logsigmoid

from grader.challenge import Case, Challenge, Gradients, Piece, Speed, between
from grader.challenge.formulas.dtypes import BRAIN, HALF

from .suspects import MASKED, OF_DPO, OF_LOGPROBS


def tokens(case: Case, draw) -> tuple[Tensor, Tensor]:
    """logits, the first `blank` of a row -inf; labels, about `masked` of them -100, and with
    `lost` the logits there are NaN.

    The first label is the last column.
    """
    logits = draw(case.b, case.s, case.v)
    logits[..., : case.get("blank", 0)] = -float("inf")
    labels = draw.integers(case.b, case.s, low=0, high=case.v)
    labels[:1, :1] = case.v - 1
    labels[draw.integers(case.b, case.s, low=0, high=1000) < 1000 * case.get("masked", 0.0)] = MASKED
    if "lost" in case:
        logits[labels == MASKED] = float("nan")
    return logits, labels


def logprobs(logits: Tensor, labels: Tensor) -> Tensor:
    """In fp32 or wider; what stands at masked labels is kept out of it."""
    used = labels != MASKED
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    wide = torch.where(used[..., None], wide, 0.0)
    return log_softmax(wide, dim=-1).gather(-1, labels.clamp(min=0)[..., None])[..., 0] * used


def plain(logits: Tensor, labels: Tensor) -> Tensor:
    """What someone with torch alone would write."""
    return log_softmax(logits, dim=-1, dtype=torch.float32).gather(-1, labels[..., None])[..., 0]


def pairs(case: Case, draw) -> tuple:
    """Log-probabilities of `b` pairs under policy and reference, and beta.

    Both are near `level`, and the policy prefers the chosen answer by `lead`.
    """
    four = [draw(case.b) for _ in range(4)]
    for one in four:
        one += case.get("level", -40.0)
    four[0] += case.get("lead", 0.0)
    return *four, case.get("beta", 0.5)


def dpo(policy_chosen, policy_rejected, ref_chosen, ref_rejected, beta) -> tuple[Tensor, Tensor, Tensor]:
    chosen, rejected = policy_chosen - ref_chosen, policy_rejected - ref_rejected
    return -logsigmoid(beta * (chosen - rejected)), beta * chosen, beta * rejected


wide = Case(b=8, s=512, v=128256, dtype=BRAIN, gpu=True)

of_tokens = Challenge(
    entry="token_logprobs",
    inputs=tokens,
    reference=logprobs,
    no_host_reads=True,
    gradients=Gradients(of=(0,), saved=lambda x, labels: x.numel() * x.element_size() + 2 * labels.nbytes),
    suspects=OF_LOGPROBS,
    shown=Case(b=3, s=7, v=33, masked=0.3),
    pieces=(
        Piece("log-probabilities", "logprob_kernel", results=(0,)),
        Piece("dlogits", "logprob_backward_kernel", results=(1,)),
    ),
    cases=[
        Case(b=2, s=3, v=8),
        Case(b=1, s=1, v=50),
        Case(b=2, s=3, v=1, values="zeros"),
        Case(b=0, s=3, v=8),
        Case(b=3, s=0, v=8),
        Case(b=3, s=7, v=33, masked=0.3),
        Case(b=2, s=5, v=33, masked=1.0),
        Case(b=2, s=3, v=127),
        Case(b=2, s=3, v=128, masked=0.3),
        Case(b=2, s=3, v=129),
        Case(b=1, s=3, v=1025),
        Case(b=1, s=2, v=between(19_000, 21_000)),
        Case(b=1, s=2, v=40000),
        Case(b=5, s=60, v=9, masked=0.2),
        Case(b=3, s=6, v=480, dtype=HALF, masked=0.2),
        Case(b=3, s=6, v=496, dtype=BRAIN, masked=0.2),
        Case(b=3, s=4, v=70, layout="sliced", masked=0.2),
        Case(b=3, s=4, v=72, layout="padded", dtype=HALF),
        Case(b=3, s=4, v=70, layout="offset", dtype=BRAIN),
        Case(b=3, s=4, v=70, layout="expanded"),
        Case(b=3, s=6, v=70, masked=0.4, lost=True, values="negative", demand="extreme_inputs"),
        Case(b=1, s=3, v=20011, values="rising"),
        Case(b=3, s=3, v=300, values="low"),
        Case(b=3, s=3, v=300, values="heavy"),
        Case(b=1, s=2, v=20011, blank=9000),
        Case(b=3, s=3, v=300, values="constant"),
        Case(b=3, s=3, v=300, values="large", dtype=BRAIN),
        Case(b=3, s=3, v=300, values="some_minus_inf", demand="values"),
        Case(b=3, s=3, v=300, values="inf"),
        Case(b=3, s=3, v=300, values="nan"),
        Case(b=3, s=5, v=40, upstream="sliced"),
        Case(b=3, s=5, v=40, upstream="transposed"),
        Case(b=3, s=5, v=40, upstream="expanded", dtype=BRAIN),
        Case(b=3, s=5, v=40, upstream="scalar", masked=0.3),
        Case(b=3, s=5, v=70, masked=0.2, calls=2),
        Case(b=18, s=1001, v=131_075, dtype=BRAIN, huge=True),
    ],
    speed=Speed(wide, moved=lambda x, _: 3 * x.nbytes, torch=plain, of_copy=0.50, part="both"),
)

of_pairs = Challenge(
    entry="dpo_loss",
    inputs=pairs,
    reference=dpo,
    no_host_reads=True,
    gradients=Gradients(of=(0, 1), saved=lambda *four_and_beta: 4 * four_and_beta[0].nbytes),
    suspects=OF_DPO,
    pieces=(
        Piece("loss", "dpo_kernel", results=(0,)),
        Piece("rewards", "dpo_kernel", results=(1, 2)),
        Piece("both gradients", "dpo_backward_kernel", results=(3, 4)),
    ),
    cases=[
        Case(b=8),
        Case(b=1),
        Case(b=0),
        Case(b=255),
        Case(b=257),
        Case(b=between(1026, 1100)),
        Case(b=304, beta=0.1),
        Case(b=288, beta=2.0, level=0.0),
        Case(b=300, beta=1.0, lead=30.0),  # the loss is 1e-13: log(1 + e) would say 0
        Case(b=300, beta=1.0, lead=-200.0),
        Case(b=300, layout="offset"),
        Case(b=300, values="large", level=0.0),
        Case(b=300, values="heavy", level=0.0),
        Case(b=300, values="nan"),
        Case(b=300, values="inf"),
        *(Case(b=300, upstream=how) for how in ("strided", "unlike", "expanded", "first")),
        *(Case(b=300, alone=which) for which in range(2)),
        Case(b=300, calls=2),
    ],
)

challenge = (of_tokens, of_pairs)
