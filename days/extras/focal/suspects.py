"""The focal loss of each element, and what a learner may have computed in its place or its slope's."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import softplus

TINY = 1e-60  # below it loss and slope are 0: their formulas ask for 0 * Inf


def entropy(x: Tensor, t: Tensor) -> Tensor:
    return t * softplus(-x) + (1 - t) * softplus(x)


def wrongness(x: Tensor, t: Tensor) -> Tensor:
    """How much probability the model gives to what is not the target."""
    return t * torch.sigmoid(-x) + (1 - t) * torch.sigmoid(x)


def weights(t: Tensor, alpha: float) -> Tensor:
    return alpha * t + (1 - alpha) * (1 - t) if alpha >= 0 else torch.ones_like(t)


def focal(
    x: Tensor, t: Tensor, alpha: float, gamma: float, *, ce=entropy, q=wrongness, alpha_t=weights
) -> Tensor:
    """The loss of each element, differentiable by autograd for any finite logits."""
    if gamma == 0:
        return alpha_t(t, alpha) * ce(x, t)
    gone = q(x, t) <= TINY
    power = torch.where(gone, 1.0, q(x, t)) ** gamma
    return torch.where(gone, 0.0, alpha_t(t, alpha) * ce(x, t) * power)


def slopes(
    x: Tensor, t: Tensor, alpha: float, gamma: float, first: float = 1.0, second: float = 1.0
) -> Tensor:
    """The derivative of `focal`, each term of its product rule times a factor."""
    both = torch.sigmoid(x) * torch.sigmoid(-x)
    q = wrongness(x, t).clamp(min=TINY)
    dce = (1 - t) * torch.sigmoid(x) - t * torch.sigmoid(-x)
    dq = (1 - 2 * t) * both / q
    return weights(t, alpha) * q**gamma * (first * dce + second * gamma * entropy(x, t) * dq)


def variant(
    loss=focal, slope=slopes, mean=lambda losses: losses.mean(), scale=lambda dmean, x: dmean / x.numel()
):
    """What kernels compute that are like the lesson's but for one of these."""

    def wrong(x: Tensor, t: Tensor, alpha: float, gamma: float) -> Tensor:
        class Loss(torch.autograd.Function):
            @staticmethod
            def forward(ctx, leaf):
                return mean(loss(x, t, alpha, gamma))

            @staticmethod
            def backward(ctx, dmean):
                return slope(x, t, alpha, gamma) * scale(dmean, x)

        return Loss.apply(x)

    return wrong


def other(**how):
    """Someone whose loss has another part, and whose gradient is right for that."""
    return lambda x, t, alpha, gamma: focal(x, t, alpha, gamma, **how).mean()


SUSPECTS = {
    "This is the sum of the losses: divide by the number of elements.": variant(mean=torch.sum),
    "alpha weighs the negatives: it belongs to the target, 1 − alpha to the rest.": other(
        alpha_t=lambda t, alpha: weights(1 - t, alpha)
    ),
    "alpha weighs the positives alone: the negatives count 1 − alpha.": other(
        alpha_t=lambda t, alpha: alpha * t + (1 - t) if alpha >= 0 else torch.ones_like(t)
    ),
    "alpha weighs positives and negatives alike: the negatives count 1 − alpha.": other(
        alpha_t=lambda t, alpha: alpha + 0 * t
    ),
    "alpha is left out.": other(alpha_t=lambda t, alpha: torch.ones_like(t)),
    "A negative alpha is a weight: it means that there is none.": other(
        alpha_t=lambda t, alpha: alpha * t + (1 - alpha) * (1 - t)
    ),
    "gamma is left out: this is the cross-entropy.": other(q=lambda x, t: torch.ones_like(x)),
    "What is raised to gamma is how right the model is: it is how wrong it is.": other(
        q=lambda x, t: 1 - wrongness(x, t)
    ),
    "What is raised to gamma is the probability of yes: for a target of yes it is that of no.": other(
        q=lambda x, t: torch.sigmoid(x)
    ),
    "The targets have changed places.": other(
        ce=lambda x, t: entropy(-x, t), q=lambda x, t: wrongness(-x, t)
    ),
    "The cross-entropy lacks the negatives.": other(ce=lambda x, t: t * softplus(-x)),
    "The gradient lacks the product rule's second term: q to the gamma has a slope, too.": variant(
        slope=lambda *given: slopes(*given, second=0.0)
    ),
    "The gradient lacks the product rule's first term: the cross-entropy has a slope, too.": variant(
        slope=lambda *given: slopes(*given, first=0.0)
    ),
    "The second term of the gradient has the wrong sign: q falls with x where the target is yes.": variant(
        slope=lambda *given: slopes(*given, second=-1.0)
    ),
    "The second term of the gradient lacks gamma.": variant(
        slope=lambda x, t, alpha, gamma: slopes(x, t, alpha, gamma, second=1 / gamma if gamma else 0.0)
    ),
    "The gradient forgets alpha.": variant(slope=lambda x, t, alpha, gamma: slopes(x, t, -1.0, gamma)),
    "The upstream gradient is dropped: dlogits takes it as a factor.": variant(
        scale=lambda dmean, x: 1 / max(x.numel(), 1)
    ),
    "The gradient is not divided by the number of elements, as the mean is.": variant(
        scale=lambda dmean, x: dmean
    ),
    "The gradient is turned round.": variant(slope=lambda *given: -slopes(*given)),
}
