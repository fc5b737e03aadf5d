"""The model of tiny_train_loop by torch: what a loss has to be, and what trains beside yours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, linear, scaled_dot_product_attention, silu

EPS, BETAS, DECAY = 1e-6, (0.9, 0.95), 0.1


def rms_norm(x: Tensor, weight: Tensor) -> Tensor:
    """x[…, e] over the root of its mean square, times weight[e]; in fp32: in fp16 256² is Inf."""
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + EPS) * weight).to(x.dtype)


def rotated(x: Tensor) -> Tensor:
    """Each pair of halves of x[b, h, s, d] turned by position · 10000^(−2i/d)."""
    s, d = x.shape[-2:]
    rates = 10000.0 ** (-torch.arange(0, d, 2, device=x.device, dtype=torch.float64) / d)
    angle = torch.arange(s, device=x.device)[:, None] * rates
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


def logits_of(ids: Tensor, params: Sequence[Tensor]) -> Tensor:
    """The logits [b, s, v] behind each token of ids[b, s]; params as those of `train`."""
    (b, s), e = ids.shape, params[0].shape[1]
    d = 64 if e % 64 == 0 else 16
    x = params[0][ids]
    for first in range(1, len(params) - 2, 7):
        norm_1, qkv, out, norm_2, gate, up, down = params[first : first + 7]
        q, k, v = linear(rms_norm(x, norm_1), qkv).view(b, s, 3, e // d, d).permute(2, 0, 3, 1, 4)
        found = scaled_dot_product_attention(rotated(q), rotated(k), v, is_causal=True)
        x = x + linear(found.transpose(1, 2).reshape(x.shape), out)
        h = rms_norm(x, norm_2)
        x = x + linear(silu(linear(h, gate)) * linear(h, up), down)
    return linear(rms_norm(x, params[-2]), params[-1])


def loss_of(tokens: Tensor, params: Sequence[Tensor]) -> Tensor:
    """The mean cross-entropy of tokens[b, s + 1], each given those before it; fp32, or fp64 of fp64."""
    logits = logits_of(tokens[:, :-1], params).flatten(0, 1)
    wide = torch.promote_types(logits.dtype, torch.float32)
    return cross_entropy(logits.to(wide), tokens[:, 1:].flatten())


def training(
    tokens: Tensor, params: Sequence[Tensor], lr: float, precision: str, loss_of=loss_of
) -> Iterator[tuple[Tensor, list[Tensor]]]:
    """Yield the loss of each step and the weights, by torch's autograd and AdamW's formula.

    Source: Loshchilov and Hutter, Decoupled Weight Decay Regularization (2019, arXiv:1711.05101).
    """
    params = [param.detach().clone() for param in params]
    states = [(torch.zeros_like(param), torch.zeros_like(param)) for param in params]
    step = 0
    while True:
        with torch.enable_grad():
            leaves = [param.requires_grad_() for param in params]
            half = precision == "fp16" and leaves[0].dtype == torch.float32
            loss = loss_of(tokens[step % len(tokens)], [leaf.half() for leaf in leaves] if half else leaves)
            grads = torch.autograd.grad(loss * (1024 if half else 1), leaves)
        step += 1
        params = [param.detach() for param in params]
        yield loss.detach(), params
        for param, grad, (m, v) in zip(params, grads, states, strict=True):
            grad = grad / 1024 if half else grad
            m.lerp_(grad, 1 - BETAS[0])
            v.lerp_(grad.square(), 1 - BETAS[1])
            m_hat, v_hat = m / (1 - BETAS[0] ** step), v / (1 - BETAS[1] ** step)
            param.mul_(1 - lr * DECAY).sub_(lr * m_hat / (v_hat.sqrt() + 1e-8))


def train(tokens: Tensor, params: Sequence[Tensor], steps: int, lr: float, precision: str) -> Tensor:
    """The losses of so many steps, fp32 [steps], or fp64 of fp64 parameters."""
    run = training(tokens, params, lr, precision)
    losses = [loss for _, (loss, _) in zip(range(steps), run, strict=False)]
    return torch.stack(losses)
