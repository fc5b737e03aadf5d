"""The four activations, and what a learner may have computed in their place, forwards or backwards."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import gelu as gelu_of_torch
from torch.nn.functional import silu

Part = Callable[[Tensor], Tensor]
Suspects = dict[str, Callable[..., Tensor]]


def gelu(x: Tensor) -> Tensor:
    return gelu_of_torch(x, approximate="tanh")


ACTIVATIONS: dict[str, Part] = {"sigmoid": torch.sigmoid, "tanh": torch.tanh, "silu": silu, "gelu": gelu}


def slope_of(activation: Part) -> Part:
    """Its derivative, element by element."""

    def slope(x: Tensor) -> Tensor:
        with torch.enable_grad():
            leaf = x.detach().requires_grad_()
            return torch.autograd.grad(activation(leaf).sum(), leaf)[0]

    return slope


def share(activation: Part) -> Part:
    """What x is multiplied by: activation(x) / x, in the form that has a value at 0."""
    return lambda x: torch.where(x == 0, 0.5, activation(x) / x)


def with_slope(activation: Part, dx: Callable[[Tensor, Tensor], Tensor]) -> Part:
    """The activation, with a gradient that is made of dy and x."""

    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return activation(x)

        @staticmethod
        def backward(ctx, dy):
            return dx(dy, *ctx.saved_tensors)

    return Wrong.apply


def suspects_of(entry: str) -> Suspects:
    """The suspects of one of the four."""
    right = ACTIVATIONS[entry]
    others = {f"This is {name}, not {entry}.": ACTIVATIONS[name] for name in ACTIVATIONS if name != entry}
    return (
        others
        | {
            "dx is dy itself: multiply it by the slope.": with_slope(right, lambda dy, x: dy),
            "dx takes the activation for its slope.": with_slope(right, lambda dy, x: dy * right(x)),
            "dx lacks dy: it is dy times the slope.": with_slope(right, lambda dy, x: slope_of(right)(x)),
            "dx adds dy to the slope: it is their product.": with_slope(
                right, lambda dy, x: dy + slope_of(right)(x)
            ),
        }
        | OF[entry]
    )


def of_sigmoid() -> Suspects:
    s = torch.sigmoid
    return {
        "The sign of x is turned: sigmoid is 1 / (1 + e⁻ˣ).": lambda x: s(-x),
        "dx takes x for y: the slope is y · (1 − y).": with_slope(s, lambda dy, x: dy * x * (1 - x)),
        "dx takes the sigmoid of y: what is kept is the sigmoid already.": with_slope(
            s, lambda dy, x: dy * s(s(x)) * (1 - s(s(x)))
        ),
        "dx takes the slope of tanh, 1 − y²: of sigmoid it is y · (1 − y).": with_slope(
            s, lambda dy, x: dy * (1 - s(x) ** 2)
        ),
        "dx lacks the factor y: the slope is y · (1 − y).": with_slope(s, lambda dy, x: dy * (1 - s(x))),
    }


def of_tanh() -> Suspects:
    t = torch.tanh
    return {
        "The 2 in the exponent is missing: this is tanh(x / 2).": lambda x: t(x / 2),
        "This is sigmoid(2x): tanh is 2 · sigmoid(2x) − 1.": lambda x: torch.sigmoid(2 * x),
        "dx takes x for y: the slope is 1 − y².": with_slope(t, lambda dy, x: dy * (1 - x * x)),
        "dx takes tanh of y: what is kept is tanh already.": with_slope(
            t, lambda dy, x: dy * (1 - t(t(x)) ** 2)
        ),
        "dx takes the slope of sigmoid, y · (1 − y): of tanh it is 1 − y².": with_slope(
            t, lambda dy, x: dy * t(x) * (1 - t(x))
        ),
        "dx lacks the square: the slope is 1 − y².": with_slope(t, lambda dy, x: dy * (1 - t(x))),
    }


def of_product(entry: str, called: str) -> Suspects:
    """Of x · p(x), with a sigmoid p."""
    right = ACTIVATIONS[entry]
    p = share(right)
    slope = slope_of(right)
    return {
        f"The factor x is missing: this is {called} alone.": p,
        "dx lacks the product rule's second term: x times the slope of the sigmoid.": with_slope(
            right, lambda dy, x: dy * p(x)
        ),
        "dx lacks the product rule's first term: the sigmoid itself.": with_slope(
            right, lambda dy, x: dy * (slope(x) - p(x))
        ),
        "dx takes y for x: y does not tell where x was.": with_slope(
            right, lambda dy, x: dy * slope(right(x))
        ),
    }


def of_gelu() -> Suspects:
    p = share(gelu)
    return {
        "This is gelu by erf; the task asks for the tanh form, a few 1e-4 away.": lambda x: gelu_of_torch(x),
        "dx lacks the derivative of what stands inside the sigmoid: the chain rule's last factor.": (
            with_slope(gelu, lambda dy, x: dy * (p(x) + x * p(x) * (1 - p(x))))
        ),
    }


OF: dict[str, Suspects] = {
    "sigmoid": of_sigmoid(),
    "tanh": of_tanh(),
    "silu": of_product("silu", "sigmoid(x)"),
    "gelu": of_product("gelu", "the sigmoid") | of_gelu(),
}
