"""What a learner may have computed in the place of a gated unit, forwards or backwards."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import gelu, silu

Part = Callable[[Tensor], Tensor]


def tanh_form(x: Tensor) -> Tensor:
    return gelu(x, approximate="tanh")


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


def unit(activation: Part, slope: Part | None = None, dgate=None, dup=None):
    """A gated unit with this activation; `slope`, `dgate` and `dup` replace the derivative or a gradient.

    Args:
        dgate, dup: from dy, gate, up, activation(gate) and its slope.
    """
    slope = slope or slope_of(activation)

    class Unit(torch.autograd.Function):
        @staticmethod
        def forward(ctx, gate, up):
            ctx.save_for_backward(gate, up)
            return activation(gate) * up

        @staticmethod
        def backward(ctx, dy):
            gate, up = ctx.saved_tensors
            known = (dy, gate, up, activation(gate), slope(gate))
            dg = dgate(*known) if dgate else dy * up * known[4]
            return dg, dup(*known) if dup else dy * known[3]

    return Unit.apply


def of(activation: Part, other: Part, called: str, mixed_up: str) -> dict[str, Callable[..., Tensor]]:
    """The suspects of one entry.

    Args:
        other: the activation of the other entry.
        called: the activation's name.
        mixed_up: the sentence for someone who took the other one.
    """
    return {
        mixed_up: unit(other),
        "gate and up have changed places: the activation is gate's.": lambda gate, up: unit(activation)(
            up, gate
        ),
        f"up is left out: the result is {called}(gate) · up.": lambda gate, up: (
            activation(gate) + up - up.detach()
        ),
        "The activation lacks its factor gate: this is the sigmoid alone, times up.": unit(share(activation)),
        "dgate lacks up: it is dy · up · the slope of the activation.": unit(
            activation, dgate=lambda dy, g, u, a, s: dy * s
        ),
        "dgate takes the activation for its slope.": unit(
            activation, dgate=lambda dy, g, u, a, s: dy * u * a
        ),
        "dgate takes the sigmoid for the slope: the product rule adds gate times the sigmoid's slope.": unit(
            activation, dgate=lambda dy, g, u, a, s: dy * u * share(activation)(g)
        ),
        "dgate lacks the sigmoid itself: the product rule has two terms.": unit(
            activation, dgate=lambda dy, g, u, a, s: dy * u * (s - share(activation)(g))
        ),
        "dup takes up: it is dy · the activation of gate.": unit(
            activation, dup=lambda dy, g, u, a, s: dy * u
        ),
        "dup takes the slope of the activation: up is only multiplied by the activation itself.": unit(
            activation, dup=lambda dy, g, u, a, s: dy * s
        ),
        "The gradients of gate and up have changed places.": unit(
            activation, dgate=lambda dy, g, u, a, s: dy * a, dup=lambda dy, g, u, a, s: dy * u * s
        ),
        "dy is left out of both gradients.": unit(
            activation, dgate=lambda dy, g, u, a, s: u * s, dup=lambda dy, g, u, a, s: a
        ),
    }


def inner_forgotten(x: Tensor) -> Tensor:
    """The slope of the tanh form without the derivative of what stands in tanh."""
    p = share(tanh_form)(x)
    return p + x * p * (1 - p)


OF_SWIGLU = of(silu, tanh_form, "silu", "This is GeGLU: SwiGLU takes silu, gate · sigmoid(gate).")
OF_GEGLU = of(tanh_form, silu, "gelu", "This is SwiGLU: GeGLU takes gelu, in its tanh form.") | {
    "This is gelu by erf; the task asks for the tanh form, a few 1e-4 away.": unit(gelu),
    "dgate lacks the derivative of what stands inside the sigmoid: the chain rule's last factor.": unit(
        tanh_form, inner_forgotten
    ),
}
