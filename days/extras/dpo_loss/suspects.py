"""What a learner may have computed in the place of log-probabilities, of DPO's loss, or of a gradient."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import log_softmax, pad, softplus

from grader.challenge.formulas.block_bounds import lanes

MASKED = -100


def logprobs(
    result=lambda at, lse: at - lse,
    masked=torch.zeros_like,
    slope=lambda p, hot: hot - p,
    upstream=lambda d: d,
    masked_slope=torch.zeros_like,
    seen=lambda x: x,
):
    """What kernels compute that are like the lesson's but for one of these.

    Args:
        result: from the logit at the label and the logsumexp of its token.
        masked: what a masked token's log-probability is, from the one of label 0.
        slope: the gradient before it is scaled, from softmax and the row of the label.
        upstream: the factor of each token, from the gradient handed down.
        masked_slope: what a masked token gets, from the gradient for label 0.
        seen: what the sum of exponentials is taken over, from the logits.
    """

    def wrong(logits: Tensor, labels: Tensor) -> Tensor:
        class Logprobs(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                at = labels.clamp(min=0)[..., None]
                lse = seen(x).logsumexp(-1)
                ctx.hot = torch.zeros_like(x).scatter_(-1, at, 1.0)
                ctx.p = (x - lse[..., None]).exp()
                found = result(x.gather(-1, at)[..., 0], lse)
                return torch.where(labels == MASKED, masked(found), found)

            @staticmethod
            def backward(ctx, d):
                rows = slope(ctx.p, ctx.hot) * upstream(d)[..., None]
                return torch.where((labels == MASKED)[..., None], masked_slope(rows), rows)

        return Logprobs.apply(logits)

    return wrong


def of_step(logits: Tensor, labels: Tensor) -> Tensor:
    """Someone who takes the next token's label, as language models that shift their inputs do."""
    return log_softmax(logits, -1).gather(-1, labels.roll(-1, 1).clamp(min=0)[..., None])[..., 0] * (
        labels != MASKED
    )


OF_LOGPROBS = {
    "Lanes past the row count as logits of 0: load them as -inf, whose exponential is 0.": logprobs(
        seen=lambda x: pad(x, (0, lanes(x.shape[-1]) - x.shape[-1]))
    ),
    "The result is turned round: a log-probability is the logit less the logsumexp, and never above 0.": (
        logprobs(result=lambda at, lse: lse - at)
    ),
    "The logsumexp is missing: this is the logit at the label.": logprobs(
        result=lambda at, lse: at + 0 * lse
    ),
    "This is the probability, not its logarithm.": logprobs(result=lambda at, lse: (at - lse).exp()),
    "A masked token has the log-probability of label 0: its own is 0.": logprobs(masked=lambda found: found),
    "The label is the next token's: logits and labels of one token belong together here.": of_step,
    "A masked token gets a gradient: its own is 0.": logprobs(masked_slope=lambda rows: rows),
    "The upstream gradient is dropped: each token has one of its own.": logprobs(upstream=torch.ones_like),
    "All tokens take the first one's upstream gradient: each has one of its own.": logprobs(
        upstream=lambda d: d.flatten()[:1].expand(d.numel()).reshape(d.shape)
    ),
    "All tokens of a row take its first one's upstream gradient: each has one of its own.": logprobs(
        upstream=lambda d: d[:, :1].expand_as(d)
    ),
    "The upstream gradients are averaged: each token has one of its own.": logprobs(
        upstream=lambda d: d.mean().expand_as(d)
    ),
    "The gradient is turned round: it is the label's row less softmax.": logprobs(
        slope=lambda p, hot: p - hot
    ),
    "The gradient lacks the label: it is 1 minus softmax there.": logprobs(slope=lambda p, hot: -p),
    "The gradient lacks softmax: every other column has one, too.": logprobs(slope=lambda p, hot: hot),
}


def dpo(
    margin=lambda chosen, rejected, beta: beta * (chosen - rejected),
    loss=lambda z: softplus(-z),
    reward=lambda ratio, beta: beta * ratio,
    ratio=lambda policy, reference: policy - reference,
):
    """DPO with one part of it replaced; autograd finds the gradient."""

    def wrong(pc: Tensor, pr: Tensor, rc: Tensor, rr: Tensor, beta: float) -> tuple[Tensor, Tensor, Tensor]:
        chosen, rejected = ratio(pc, rc), ratio(pr, rr)
        return loss(margin(chosen, rejected, beta)), reward(chosen, beta), reward(rejected, beta)

    return wrong


def pulled(by_loss=lambda wrong, beta: beta * wrong, by_reward=lambda beta: beta, second=1.0, first=1.0):
    """The right results, with other gradients.

    Args:
        by_loss: how the loss falls as the chosen answer gets likelier, from sigmoid(-z) and beta.
        by_reward: how a reward rises with its answer.
        first, second: a factor of the loss's part in the gradient of the chosen, of the rejected answer.
    """

    def wrong(pc: Tensor, pr: Tensor, rc: Tensor, rr: Tensor, beta: float):
        class Loss(torch.autograd.Function):
            @staticmethod
            def forward(ctx, pc, pr):
                z = beta * ((pc - rc) - (pr - rr))
                ctx.slope = by_loss(torch.sigmoid(-z), beta)
                return softplus(-z), beta * (pc - rc), beta * (pr - rr)

            @staticmethod
            def backward(ctx, dloss, dchosen, drejected):
                pull = ctx.slope * dloss
                return by_reward(beta) * dchosen - first * pull, by_reward(beta) * drejected + second * pull

        return Loss.apply(pc, pr)

    return wrong


OF_DPO = {
    "The loss is turned round: it falls as the chosen answer gets likelier than the rejected one.": dpo(
        loss=softplus
    ),
    "beta counts twice: the rewards hold it already.": dpo(
        margin=lambda chosen, rejected, beta: beta * beta * (chosen - rejected)
    ),
    "The loss forgets beta.": dpo(margin=lambda chosen, rejected, beta: chosen - rejected),
    "The rewards forget beta.": dpo(reward=lambda ratio, beta: ratio),
    "The references are left out.": dpo(ratio=lambda policy, reference: policy + 0 * reference),
    "The references are added: what counts is how far the policy has moved away from them.": dpo(
        ratio=lambda policy, reference: policy + reference
    ),
    "The rejected answer is left out of the loss.": dpo(
        margin=lambda chosen, rejected, beta: beta * chosen + 0 * rejected
    ),
    "The rejected answer's ratio is added: z is a difference of two ratios.": dpo(
        margin=lambda chosen, rejected, beta: beta * (chosen + rejected)
    ),
    "This is sigmoid(-z): the loss is -log sigmoid(z).": dpo(loss=lambda z: torch.sigmoid(-z)),
    "The logarithm's sign is missing: the loss is never below 0.": dpo(loss=lambda z: -softplus(-z)),
    "The gradient of the loss takes sigmoid(z): it is sigmoid(-z), large where the policy is wrong.": pulled(
        by_loss=lambda wrong, beta: beta * (1 - wrong)
    ),
    "The gradient of the loss forgets beta.": pulled(by_loss=lambda wrong, beta: wrong),
    "The gradients of the rewards forget beta.": pulled(by_reward=lambda beta: 1.0),
    "The upstream gradients of the rewards are dropped: a policy is seen by the loss and by its reward.": (
        pulled(by_reward=lambda beta: 0.0)
    ),
    "The loss pulls the rejected answer up as well: its gradient has the other sign.": pulled(second=-1.0),
    "The loss pulls at the chosen answer alone.": pulled(second=0.0),
    "The loss pulls at the rejected answer alone.": pulled(first=0.0),
    "The loss's part of both gradients has the wrong sign.": pulled(first=-1.0, second=-1.0),
}
