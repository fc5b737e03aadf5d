"""Rotary position embedding, and what a learner may have computed in its place."""

from __future__ import annotations

import torch
from torch import Tensor

Outputs = tuple[Tensor, Tensor]


def parts(x: Tensor, interleaved: bool) -> Outputs:
    """The first and the second elements of all pairs of the last dimension."""
    return (x[..., ::2], x[..., 1::2]) if interleaved else x.chunk(2, dim=-1)


def together(first: Tensor, second: Tensor, interleaved: bool) -> Tensor:
    """Both parts back in their places."""
    if interleaved:
        return torch.stack((first, second), dim=-1).flatten(-2)
    return torch.cat((first, second), dim=-1)


def turned(x: Tensor, cos: Tensor, sin: Tensor, interleaved: bool) -> Tensor:
    """Each pair of x[b, s, h, d] turned by an angle; cos and sin are [b, s, d/2]. Rounded once."""
    x1, x2 = parts(x, interleaved)
    c, s = cos[:, :, None], sin[:, :, None]
    return together(x1 * c - x2 * s, x2 * c + x1 * s, interleaved).to(x.dtype)


def rope(
    q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, positions: Tensor, interleaved: bool, turn=turned
) -> Outputs:
    """q and k with each token's pairs turned by the angles of its position.

    Source: Su et al., RoFormer (2021, arXiv:2104.09864), equation 34.
    """
    at = (cos[positions], sin[positions], interleaved)
    return turn(q, *at), turn(k, *at)


def with_turn(turn):
    return lambda *arguments: rope(*arguments, turn=turn)


def with_positions(positions):
    """As if tokens stood at other positions."""

    def wrong(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, given: Tensor, interleaved: bool) -> Outputs:
        return rope(q, k, cos, sin, positions(given) % max(len(cos), 1), interleaved)

    return wrong


def from_rotated(x: Tensor, cos: Tensor, sin: Tensor, interleaved: bool) -> Tensor:
    x1, x2 = parts(x, interleaved)
    c, s = cos[:, :, None], sin[:, :, None]
    y1 = x1 * c - x2 * s
    return together(y1, x2 * c + y1 * s, interleaved)


def places_exchanged(x: Tensor, cos: Tensor, sin: Tensor, interleaved: bool) -> Tensor:
    """Read as the task says, and written back as the other kind of pairs."""
    x1, x2 = parts(x, interleaved)
    c, s = cos[:, :, None], sin[:, :, None]
    return together(x1 * c - x2 * s, x2 * c + x1 * s, not interleaved)


def forwards_again(x: Tensor, cos: Tensor, sin: Tensor, interleaved: bool) -> Tensor:
    """Right forwards; the gradient is turned the same way once more, not back."""
    back = turned(x, cos, -sin, interleaved)
    return turned(x, cos, sin, interleaved).detach() + back - back.detach()


def left_as_it_comes(x: Tensor, cos: Tensor, sin: Tensor, interleaved: bool) -> Tensor:
    """Right forwards; the gradient is handed on."""
    return turned(x, cos, sin, interleaved).detach() + x - x.detach()


def either_way(step):
    """As if one kernel took this step forwards, and back with the sign of sin turned."""

    class Turn(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, cos, sin, interleaved):
            ctx.back = cos, -sin, interleaved
            return step(x, cos, sin, interleaved)

        @staticmethod
        def backward(ctx, dy):
            return step(dy, *ctx.back), None, None, None

    return with_turn(Turn.apply)


def rows(positions: Tensor) -> Tensor:
    return torch.arange(positions.shape[1], device=positions.device).expand(positions.shape)


SUSPECTS = {
    "Halves are taken for neighbours, or the reverse: interleaved pairs are x[2i], x[2i + 1].": with_turn(
        lambda x, cos, sin, interleaved: turned(x, cos, sin, not interleaved)
    ),
    "The pairs are right, their places are not: each result goes where its element was read.": either_way(
        places_exchanged
    ),
    "The second element is computed from the first one already turned: read both, then write.": either_way(
        from_rotated
    ),
    "The angle has the wrong sign: x1 · cos - x2 · sin, and x2 · cos + x1 · sin.": with_turn(
        lambda x, cos, sin, interleaved: turned(x, cos, -sin, interleaved)
    ),
    "cos and sin have changed places.": with_turn(
        lambda x, cos, sin, interleaved: turned(x, sin, cos, interleaved)
    ),
    "The gradient is turned forwards once more: the way back is the same angle with the sign turned.": (
        with_turn(forwards_again)
    ),
    "The gradient is handed on as it comes: it has to be turned back.": with_turn(left_as_it_comes),
    "Positions are ignored: token i is turned as if it stood at position i.": with_positions(rows),
    "All sequences take the positions of the first one.": with_positions(
        lambda positions: positions[:1].expand(positions.shape)
    ),
    "All tokens take the position of the first one.": with_positions(
        lambda positions: positions[:, :1].expand(positions.shape)
    ),
    "k comes back as it was: it is turned like q.": lambda q, k, *angles: (rope(q, k, *angles)[0], k),
    "The two results have changed places: q comes first.": lambda *arguments: rope(*arguments)[::-1],
}
