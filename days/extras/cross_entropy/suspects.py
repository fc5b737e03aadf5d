"""What a learner may have computed in the place of a cross-entropy, or of its gradient."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import pad

from grader.challenge.formulas.block_bounds import lanes


def variant(
    aimed=lambda at_target, mean, eps: (1 - eps) * at_target + eps * mean,
    divisor=lambda counts: counts.sum(),
    slope=lambda p, hot, eps: p - (1 - eps) * hot - eps / p.shape[1],
    scale=lambda dloss, divisor: dloss / divisor,
    ignored_slope=torch.zeros_like,
    seen=lambda x: x,
):
    """What kernels compute that are like the lesson's but for one of these.

    Args:
        aimed: what is subtracted from a row's logsumexp, from its logit at the target and its mean.
        divisor: what the sum of the losses is divided by, from which rows count.
        slope: the gradient of a row before it is scaled, from its softmax and the row of its target.
        scale: the factor of all gradients.
        ignored_slope: the gradient of rows that are ignored, before it is scaled.
        seen: what the sums of exponentials are taken over, from the logits.
    """

    def wrong(logits: Tensor, target: Tensor, ignore_index: int, eps: float) -> Tensor:
        class Loss(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                counts = target != ignore_index
                at = target.clamp(0, x.shape[1] - 1)[:, None]
                ctx.hot = torch.zeros_like(x).scatter_(1, at, 1.0)
                lse = seen(x).logsumexp(dim=1)
                ctx.p, ctx.counts = (x - lse[:, None]).exp(), counts
                losses = lse - aimed(x.gather(1, at)[:, 0], x.mean(dim=1), eps)
                return torch.where(counts, losses, 0.0).sum() / divisor(counts)

            @staticmethod
            def backward(ctx, dloss):
                by = scale(dloss, max(int(divisor(ctx.counts)), 1))  # of no rows all gradients are 0
                rows = torch.where(ctx.counts[:, None], slope(ctx.p, ctx.hot, eps), ignored_slope(ctx.p))
                return rows * by

        return Loss.apply(logits)

    return wrong


SUSPECTS = {
    "Lanes past the row count as logits of 0: load them as -inf, whose exponential is 0.": variant(
        seen=lambda x: pad(x, (0, lanes(x.shape[1]) - x.shape[1]))
    ),
    "The sum is divided by all rows: divide by those that are not ignored.": variant(divisor=len),
    "This is the sum of the losses: divide it by the number of rows that are not ignored.": variant(
        divisor=lambda counts: 1
    ),
    "The upstream gradient is dropped: dlogits takes dloss as a factor.": variant(
        scale=lambda dloss, divisor: 1 / divisor
    ),
    "The gradient is not divided by the number of rows that count, as the mean is.": variant(
        scale=lambda dloss, divisor: dloss
    ),
    "Ignored rows get a gradient: theirs is 0.": variant(ignored_slope=lambda p: p),
    "The gradient lacks the target: it is softmax minus 1 there.": variant(
        slope=lambda p, hot, eps: p - eps / p.shape[1]
    ),
    "The gradient is turned round: it is softmax minus target, not target minus softmax.": variant(
        slope=lambda p, hot, eps: (1 - eps) * hot + eps / p.shape[1] - p
    ),
    "The gradient forgets label_smoothing.": variant(slope=lambda p, hot, eps: p - hot),
    "The gradient spreads label_smoothing over all columns, and leaves a whole 1 at the target.": variant(
        slope=lambda p, hot, eps: p - hot - eps / p.shape[1]
    ),
    "The loss forgets label_smoothing.": variant(aimed=lambda at_target, mean, eps: at_target),
    "The loss takes the whole target beside the smoothing: its share is 1 - label_smoothing.": variant(
        aimed=lambda at_target, mean, eps: at_target + eps * mean
    ),
    "The loss lacks the logit at the target: this is the mean of logsumexp.": variant(
        aimed=lambda at_target, mean, eps: 0 * at_target
    ),
}
