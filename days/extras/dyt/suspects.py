"""What a learner may have computed in the place of a dynamic tanh, forwards or backwards."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Parts = dict[str, Tensor]  # of a backward pass: dy, x, alpha, weight, t = tanh(alpha · x) and slope = 1 − t²


def right_dx(p: Parts) -> Tensor:
    return p["dy"] * p["weight"] * p["slope"] * p["alpha"]


def right_dalpha(p: Parts) -> Tensor:
    """The terms of dalpha, [m, n]."""
    return p["dy"] * p["weight"] * p["slope"] * p["x"]


def dynamic_tanh(
    y: Callable[[Parts], Tensor] = lambda p: p["weight"] * p["t"] + p["bias"],
    dx: Callable[[Parts], Tensor] = right_dx,
    dalpha: Callable[[Parts], Tensor] = right_dalpha,
    dweight: Callable[[Parts], Tensor] = lambda p: p["dy"] * p["t"],
    dbias: Callable[[Parts], Tensor] = lambda p: p["dy"],
):
    """The layer, but for one of these.

    Args:
        y: from x, alpha, weight, bias and t.
        dx: from these parts and dy, slope.
        dalpha, dweight, dbias: the terms that are summed over everything, and down the columns.
    """

    class Layer(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, alpha, weight, bias):
            t = torch.tanh(alpha * x)
            ctx.known = {"x": x, "alpha": alpha, "weight": weight, "bias": bias, "t": t, "slope": 1 - t * t}
            return y(ctx.known)

        @staticmethod
        def backward(ctx, dy):
            p = ctx.known | {"dy": dy}
            return dx(p), dalpha(p).sum().reshape(1), dweight(p).sum(dim=0), dbias(p).sum(dim=0)

    return Layer.apply


def of_rows(count: Callable[[Tensor, int], Tensor]) -> Callable[[Callable[[Parts], Tensor]], Callable]:
    """The same terms, but only those of the rows that `count(row, m)` names."""

    def only(terms: Callable[[Parts], Tensor]) -> Callable[[Parts], Tensor]:
        def some(p: Parts) -> Tensor:
            row = torch.arange(len(p["x"]), device=p["x"].device)
            return terms(p) * count(row, len(row))[:, None]

        return some

    return only


last_row = of_rows(lambda row, m: row == m - 1)
first_half = of_rows(lambda row, m: row < -(-m // 2))
last_rows = of_rows(lambda row, m: (row == -(-m // 2) - 1) | (row == m - 1))


def dweight_of(p: Parts) -> Tensor:
    return p["dy"] * p["t"]


SUSPECTS = {
    "alpha is left out: it is tanh(alpha · x).": lambda x, alpha, weight, bias: (
        weight * torch.tanh(x) + bias + 0 * alpha
    ),
    "alpha stands outside of tanh: it is tanh(alpha · x).": lambda x, alpha, weight, bias: (
        weight * alpha * torch.tanh(x) + bias
    ),
    "tanh is left out: it is weight · tanh(alpha · x) + bias.": dynamic_tanh(
        y=lambda p: p["weight"] * p["alpha"] * p["x"] + p["bias"]
    ),
    "This is a sigmoid, and not tanh, of alpha · x.": lambda x, alpha, weight, bias: (
        weight * torch.sigmoid(alpha * x) + bias
    ),
    "bias is left out.": dynamic_tanh(y=lambda p: p["weight"] * p["t"]),
    "bias is multiplied by the weight as well: add it last.": dynamic_tanh(
        y=lambda p: p["weight"] * (p["t"] + p["bias"])
    ),
    "weight and bias have changed places.": lambda x, alpha, weight, bias: (
        bias * torch.tanh(alpha * x) + weight
    ),
    "The slope of tanh, 1 − tanh², is left out of dx and dalpha.": dynamic_tanh(
        dx=lambda p: p["dy"] * p["weight"] * p["alpha"], dalpha=lambda p: p["dy"] * p["weight"] * p["x"]
    ),
    "dx and dalpha take tanh for its slope, which is 1 − tanh².": dynamic_tanh(
        dx=lambda p: p["dy"] * p["weight"] * p["t"] * p["alpha"],
        dalpha=lambda p: p["dy"] * p["weight"] * p["t"] * p["x"],
    ),
    "dx and dalpha lack the weight.": dynamic_tanh(
        dx=lambda p: p["dy"] * p["slope"] * p["alpha"], dalpha=lambda p: p["dy"] * p["slope"] * p["x"]
    ),
    "dx lacks alpha, its last factor.": dynamic_tanh(dx=lambda p: p["dy"] * p["weight"] * p["slope"]),
    "dx lacks the weight.": dynamic_tanh(dx=lambda p: p["dy"] * p["slope"] * p["alpha"]),
    "dx lacks the slope of tanh, 1 − tanh².": dynamic_tanh(dx=lambda p: p["dy"] * p["weight"] * p["alpha"]),
    "dx takes tanh for its slope, which is 1 − tanh².": dynamic_tanh(
        dx=lambda p: p["dy"] * p["weight"] * p["t"] * p["alpha"]
    ),
    "dalpha lacks x: what arrives at alpha · x goes to alpha times x.": dynamic_tanh(
        dalpha=lambda p: p["dy"] * p["weight"] * p["slope"]
    ),
    "dalpha takes dx · x, and has the factor alpha too many.": dynamic_tanh(
        dalpha=lambda p: right_dx(p) * p["x"]
    ),
    "dalpha lacks the weight.": dynamic_tanh(dalpha=lambda p: p["dy"] * p["slope"] * p["x"]),
    "dalpha lacks the slope of tanh, 1 − tanh².": dynamic_tanh(
        dalpha=lambda p: p["dy"] * p["weight"] * p["x"]
    ),
    "dalpha is that of the last row alone: it sums over all elements.": dynamic_tanh(
        dalpha=last_row(right_dalpha)
    ),
    "dalpha is that of one program's rows alone: add what all of them found.": dynamic_tanh(
        dalpha=first_half(right_dalpha)
    ),
    "dalpha holds the last row of each program alone: every row adds to it.": dynamic_tanh(
        dalpha=last_rows(right_dalpha)
    ),
    "dweight takes x: it is the sum of dy · tanh(alpha · x) down the columns.": dynamic_tanh(
        dweight=lambda p: p["dy"] * p["x"]
    ),
    "dweight lacks tanh: it is the sum of dy · tanh(alpha · x) down the columns.": dynamic_tanh(
        dweight=lambda p: p["dy"] + 0 * p["t"]
    ),
    "dweight has the factor weight too many: it takes dy as it comes.": dynamic_tanh(
        dweight=lambda p: p["dy"] * p["weight"] * p["t"]
    ),
    "dweight holds the last row of each program alone: every row adds to it.": dynamic_tanh(
        dweight=last_rows(dweight_of)
    ),
    "dweight holds the rows of one program alone: add all partial sums.": dynamic_tanh(
        dweight=first_half(dweight_of)
    ),
    "dbias takes dy · weight: it is the sum of dy alone.": dynamic_tanh(
        dbias=lambda p: p["dy"] * p["weight"]
    ),
    "dbias takes dy · tanh(alpha · x): it is the sum of dy alone.": dynamic_tanh(dbias=dweight_of),
    "The gradients of weight and bias have changed places.": dynamic_tanh(
        dweight=lambda p: p["dy"], dbias=dweight_of
    ),
}
