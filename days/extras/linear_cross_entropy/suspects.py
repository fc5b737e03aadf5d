"""What a learner may have computed in the place of the loss of a product, or of its gradients."""

from __future__ import annotations

import torch
from torch import Tensor


def variant(
    divisor=lambda counts: counts.sum(),
    slope=lambda p, hot: p - hot,
    scale=lambda dloss, divisor: dloss / divisor,
    ignored_slope=torch.zeros_like,
    aimed=lambda at_target: at_target,
):
    """What kernels compute that are like the lesson's but for one of these.

    Args:
        divisor: what the sum of the losses is divided by, from which rows count.
        slope: the gradient of a row's logits before it is scaled, from its softmax and the row of its target.
        scale: the factor of all gradients.
        ignored_slope: the gradient of rows that are ignored, before it is scaled.
        aimed: what is subtracted from a row's logsumexp, from its logit at the target.
    """

    def wrong(x: Tensor, weight: Tensor, target: Tensor, ignore_index: int) -> Tensor:
        class Loss(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, weight):
                logits, ctx.counts = x @ weight.T, target != ignore_index
                at = target.clamp(0, len(weight) - 1)[:, None]
                ctx.hot, ctx.operands = torch.zeros_like(logits).scatter_(1, at, 1.0), (x, weight)
                lse = logits.logsumexp(dim=1)
                ctx.p = (logits - lse[:, None]).exp()
                losses = lse - aimed(logits.gather(1, at)[:, 0])
                return torch.where(ctx.counts, losses, 0.0).sum() / divisor(ctx.counts)

            @staticmethod
            def backward(ctx, dloss):
                by = scale(dloss, max(int(divisor(ctx.counts)), 1))  # of no rows all gradients are 0
                rows = by * torch.where(ctx.counts[:, None], slope(ctx.p, ctx.hot), ignored_slope(ctx.p))
                x, weight = ctx.operands
                return rows @ weight, rows.T @ x

        return Loss.apply(x, weight)

    return wrong


SUSPECTS = {
    "The sum is divided by all rows: divide by those that are not ignored.": variant(divisor=len),
    "This is the sum of the losses: divide it by the number of rows that are not ignored.": variant(
        divisor=lambda counts: 1
    ),
    "The upstream gradient is dropped: all gradients take dloss as a factor.": variant(
        scale=lambda dloss, divisor: 1 / divisor
    ),
    "The gradients are not divided by the number of rows that count, as the mean is.": variant(
        scale=lambda dloss, divisor: dloss
    ),
    "Ignored rows get a gradient: theirs is 0.": variant(ignored_slope=lambda p: p),
    "The gradient of the logits lacks the target: it is softmax minus 1 there.": variant(
        slope=lambda p, hot: p
    ),
    "The gradient of the logits is turned round: it is softmax minus target.": variant(
        slope=lambda p, hot: hot - p
    ),
    "The loss lacks the logit at the target: this is the mean of logsumexp.": variant(
        aimed=lambda at_target: 0 * at_target
    ),
}
