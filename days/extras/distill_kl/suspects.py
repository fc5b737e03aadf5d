"""What a learner may have computed in the place of a student's divergence from its teacher."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import log_softmax, pad

from grader.challenge.formulas.block_bounds import lanes


def divergence(of: Tensor, towards: Tensor) -> Tensor:
    """KL(of || towards) of each row of logarithms of probabilities; what is ruled out adds nothing."""
    p = of.exp()
    return torch.where(p == 0, 0.0, p * (of - towards)).sum(dim=1)


def distilled(
    student: Tensor,
    teacher: Tensor,
    temperature: float,
    *,
    loss=lambda s, t: divergence(t, s),
    mean=lambda losses, x: losses.mean(),
    factor=lambda temperature: temperature**2,
    heat=lambda temperature: temperature,
    seen=lambda x: x,
) -> Tensor:
    """The loss, differentiable by autograd.

    Args:
        loss: of each row, from both logarithms of probabilities, the student's first.
        heat: what logits are divided by.
        seen: what the softmaxes are taken over, from the logits.
    """
    logs = [log_softmax(seen(x) / heat(temperature), dim=1) for x in (student, teacher)]
    return mean(loss(*logs), student) * factor(temperature)


def other(**how):
    return lambda *given: distilled(*given, **how)


def sloping(slope=lambda p_s, p_t: p_s - p_t, factor=lambda temperature: temperature, scale=None):
    """The right loss, with another gradient: `slope` times `factor`, times dmean over the rows or `scale`."""

    def wrong(student: Tensor, teacher: Tensor, temperature: float) -> Tensor:
        class Loss(torch.autograd.Function):
            @staticmethod
            def forward(ctx, leaf):
                return distilled(student, teacher, temperature)

            @staticmethod
            def backward(ctx, dmean):
                p_s, p_t = ((x / temperature).softmax(dim=1) for x in (student, teacher))
                by = scale(dmean, student) if scale else dmean / len(student)
                return slope(p_s, p_t) * factor(temperature) * by

        return Loss.apply(student)

    return wrong


SUSPECTS = {
    "Lanes past the row count as logits of 0: load them as -inf, whose exponential is 0.": other(
        seen=lambda x: pad(x, (0, max(lanes(x.shape[1]), 4) - x.shape[1]))
    ),
    "The divergence goes the other way: it is KL(teacher ‖ student), weighed by the teacher.": other(
        loss=lambda s, t: divergence(s, t)
    ),
    "The sign is turned round: a divergence is never below 0.": other(loss=lambda s, t: -divergence(t, s)),
    "The teacher's entropy is missing: this is the cross-entropy of the two.": other(
        loss=lambda s, t: -(t.exp() * s).sum(dim=1)
    ),
    "T² is left out: the gradient would shrink as T grows.": other(factor=lambda temperature: 1.0),
    "The factor is T: it is T².": other(factor=lambda temperature: temperature),
    "The temperature is left out of both softmaxes.": other(heat=lambda temperature: 1.0),
    "The logits are multiplied by T: they are divided by it.": other(
        heat=lambda temperature: 1 / temperature
    ),
    "The mean is over all m · v elements: divide by the rows.": other(
        mean=lambda losses, x: losses.sum() / max(x.numel(), 1)
    ),
    "This is the sum over the rows: divide by their number.": other(mean=lambda losses, x: losses.sum()),
    "The gradient is turned round: it is the student's softmax less the teacher's.": sloping(
        slope=lambda p_s, p_t: p_t - p_s
    ),
    "The gradient lacks the teacher.": sloping(slope=lambda p_s, p_t: p_s),
    "The gradient takes T²: one of the two goes with the chain rule.": sloping(
        factor=lambda temperature: temperature**2
    ),
    "The gradient lacks T: T² of the loss, and 1 / T of the chain rule.": sloping(
        factor=lambda temperature: 1.0
    ),
    "The gradient takes 1 / T: the loss has a factor T², too.": sloping(
        factor=lambda temperature: 1 / temperature
    ),
    "The upstream gradient is dropped: dstudent takes it as a factor.": sloping(
        scale=lambda dmean, x: 1 / max(len(x), 1)
    ),
    "The gradient is not divided by the number of rows, as the mean is.": sloping(
        scale=lambda dmean, x: dmean
    ),
}
