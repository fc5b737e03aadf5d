"""GRPO's loss by torch, and what a learner may have computed in its place."""

from __future__ import annotations

import torch
from torch import Tensor


def distance(rewards: Tensor) -> Tensor:
    """Of each answer from its group's mean, [groups, g]; of equal ones 0, whatever a mean rounds to."""
    rewards = rewards - rewards[:, :1]
    return rewards - rewards.mean(dim=1, keepdim=True)


def spread(rewards: Tensor, correction: int = 1) -> Tensor:
    """The standard deviation of each group, and 1e-4, [groups, 1]."""
    squares = distance(rewards).square().sum(dim=1, keepdim=True)
    return (squares / (rewards.shape[1] - correction)).sqrt() + 1e-4


def advantages(rewards: Tensor, correction: int = 1) -> Tensor:
    """How much better each answer is than its group, in standard deviations, [b, 1]."""
    return (distance(rewards) / spread(rewards, correction)).reshape(-1, 1)


def lower(ratio: Tensor, held: Tensor, adv: Tensor) -> Tensor:
    return torch.minimum(ratio * adv, held * adv)


def divergence(delta: Tensor) -> Tensor:
    return delta.exp() - delta - 1


def by_tokens(losses: Tensor, mask: Tensor) -> Tensor:
    """The mean of an answer's tokens; 0 where there are none."""
    return torch.where(mask, losses, 0.0).sum(dim=1) / mask.sum(dim=1).clamp(min=1)


def grpo(
    logp: Tensor,
    old: Tensor,
    ref: Tensor,
    rewards: Tensor,
    mask: Tensor,
    eps: float,
    beta: float,
    *,
    adv=advantages,
    gain=lower,
    kl=divergence,
    row=by_tokens,
    mean=lambda losses, mask: losses.mean(),
    seen=lambda x, mask: torch.where(mask, x, 0.0),
) -> Tensor:
    """The loss, differentiable by autograd.

    Args:
        gain: of each token, from its ratio, the clipped ratio and the advantage.
        kl: of each token, from ref - logp.
        row: an answer's loss, from those of its tokens and the mask.
        seen: what is read of each input.
    """
    logp, old, ref = (seen(x, mask) for x in (logp, old, ref))
    ratio = (logp - old).exp()
    losses = beta * kl(ref - logp) - gain(ratio, ratio.clamp(1 - eps, 1 + eps), adv(rewards))
    return mean(row(losses, mask), mask)


def other(**how):
    return lambda *given: grpo(*given, **how)


def sloping(change):
    """The right loss, with a gradient that `change` makes of the right one: from it, and all arguments."""

    def wrong(logp: Tensor, *rest) -> Tensor:
        class Loss(torch.autograd.Function):
            @staticmethod
            def forward(ctx, leaf):
                with torch.enable_grad():
                    leaf = logp.detach().requires_grad_()
                    loss = grpo(leaf, *rest)
                    (ctx.slope,) = torch.autograd.grad(loss, leaf)
                return loss.detach()

            @staticmethod
            def backward(ctx, dmean):
                return change(ctx.slope, dmean, logp.detach(), *rest)

        return Loss.apply(logp)

    return wrong


def unclipped(slope, dmean, logp, old, ref, rewards, mask, eps, beta) -> Tensor:
    """Someone to whose gradient clipped tokens contribute as all others do."""
    logp, old, ref = (torch.where(mask, x, 0.0) for x in (logp, old, ref))
    by = dmean / (len(logp) * mask.sum(dim=1, keepdim=True).clamp(min=1))
    slope = beta * (1 - (ref - logp).exp()) - (logp - old).exp() * advantages(rewards)
    return torch.where(mask, slope * by, 0.0)


def without_divergence(slope, dmean, logp, *rest) -> Tensor:
    *given, _ = rest
    return sloping_of(logp, *given, 0.0) * dmean


def sloping_of(logp, *rest) -> Tensor:
    with torch.enable_grad():
        leaf = logp.detach().requires_grad_()
        return torch.autograd.grad(grpo(leaf, *rest), leaf)[0]


SUSPECTS = {
    "The sign of the gain is turned round: what pays is to be made likelier.": other(
        gain=lambda ratio, held, adv: -lower(ratio, held, adv)
    ),
    "The larger of the two gains is taken: the smaller one counts, whatever the advantage's sign.": other(
        gain=lambda ratio, held, adv: torch.maximum(ratio * adv, held * adv)
    ),
    "The ratio is clipped whichever way it moved: min lets a loss count in full.": other(
        gain=lambda ratio, held, adv: held * adv
    ),
    "The ratio is not clipped.": other(gain=lambda ratio, held, adv: ratio * adv),
    "The smaller ratio is taken, and multiplied then: with an advantage below 0 that is the larger gain.": (
        other(gain=lambda ratio, held, adv: torch.minimum(ratio, held) * adv)
    ),
    "The standard deviation divides by g: the unbiased one divides by g − 1.": other(
        adv=lambda r: advantages(r, correction=0)
    ),
    "The advantage is not divided by the standard deviation.": other(
        adv=lambda r: distance(r).reshape(-1, 1)
    ),
    "The reward itself is taken for the advantage: its group's mean is to be taken off.": other(
        adv=lambda r: (r / spread(r)).reshape(-1, 1)
    ),
    "The advantage is taken over all answers: each group is by itself.": other(
        adv=lambda r: advantages(r.reshape(1, -1)) if r.numel() else r.reshape(-1, 1)
    ),
    "The divergence lacks −1.": other(kl=lambda delta: delta.exp() - delta),
    "The divergence lacks − delta.": other(kl=lambda delta: delta.exp() - 1),
    "The divergence is turned round: delta is ref − logp.": other(kl=lambda delta: divergence(-delta)),
    "The divergence is left out.": other(kl=lambda delta: 0 * delta),
    "An answer's tokens are divided by s: divide by those that count.": other(
        row=lambda losses, mask: torch.where(mask, losses, 0.0).sum(dim=1) / max(mask.shape[1], 1)
    ),
    "An answer's tokens are added up: take their mean.": other(
        row=lambda losses, mask: torch.where(mask, losses, 0.0).sum(dim=1)
    ),
    "Tokens that do not count take part.": other(
        row=lambda losses, mask: losses.sum(dim=1) / mask.sum(dim=1).clamp(min=1)
    ),
    "Answers without tokens are left out of the mean: they count with 0.": other(
        mean=lambda losses, mask: losses.sum() / max(int(mask.any(dim=1).sum()), 1)
    ),
    "All tokens are averaged at once: first those of an answer, then the answers.": other(
        row=lambda losses, mask: torch.where(mask, losses, 0.0).sum(dim=1),
        mean=lambda losses, mask: losses.sum() / max(int(mask.sum()), 1),
    ),
    "This is the sum over the answers: take their mean.": other(mean=lambda losses, mask: losses.sum()),
    "Clipped tokens have a gradient: a ratio that is held does not move.": sloping(unclipped),
    "The gradient lacks the divergence's part.": sloping(without_divergence),
    "The upstream gradient is dropped: dlogp takes it as a factor.": sloping(lambda slope, dmean, *_: slope),
    "The gradient is turned round.": sloping(lambda slope, dmean, *_: -slope * dmean),
    "The gradient is not divided by the number of answers, as the mean is.": sloping(
        lambda slope, dmean, logp, *_: slope * dmean * len(logp)
    ),
    "The gradient is not divided by the number of an answer's tokens.": sloping(
        lambda slope, dmean, logp, old, ref, rewards, mask, *_: (
            slope * dmean * mask.sum(dim=1, keepdim=True).clamp(min=1)
        )
    ),
}
