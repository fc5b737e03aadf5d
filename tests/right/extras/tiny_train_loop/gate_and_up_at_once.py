"""Honest: gate and up in one product, whose halves lie beside each other in a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

import torch
import triton
import triton.language as tl
from mine import adamw, cross_entropy, embedding, flash_attention, matmul, rms_norm, rope, swiglu

HEAD = 64  # the most columns a head has
EPS, BETAS, DECAY = 1e-6, (0.9, 0.95), 0.1
SCALE = 1024.0  # of the loss in fp16: a power of two, which rounds nothing


@triton.jit
def record_kernel(loss_ptr, losses_ptr, step):
    """losses[step] = loss. It stays on the device: a host that reads each loss waits for each step."""
    tl.store(losses_ptr + step, tl.load(loss_ptr))


class Linear(torch.autograd.Function):
    """x @ w.T for x[m, k] and w[n, k], and both gradients, by one kernel."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        """x @ w.T."""
        ctx.save_for_backward(x, w)
        return matmul(x, w.T)

    @staticmethod
    def backward(ctx: Any, dy: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """dx and dw, of dy[m, n]."""
        x, w = ctx.saved_tensors
        return matmul(dy, w), matmul(dy.T, x)


def angles(s: int, d: int, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """cos and sin of position · 10000^(−2i/d), fp32 [s, d / 2], as `rope` takes them."""
    rates = 10000.0 ** (-torch.arange(0, d, 2, dtype=torch.float32, device=device) / d)
    angle = torch.arange(s, dtype=torch.float32, device=device)[:, None] * rates
    return angle.cos(), angle.sin()


def block(
    x: torch.Tensor,
    weights: Sequence[torch.Tensor],
    positions: torch.Tensor,
    tables: tuple[torch.Tensor, torch.Tensor],
    d: int,
) -> torch.Tensor:
    """One block of a Llama: x[b · s, e] plus attention, plus the MLP, each behind a norm.

    The weights are norm_1, qkv, out, norm_2, gate, up and down; positions is [b, s], a head has d columns.
    """
    norm_1, qkv, out, norm_2, gate, up, down = weights
    b, s = positions.shape
    q, k, v = Linear.apply(rms_norm(x, norm_1, EPS, 0.0), qkv).view(b, s, 3, -1, d).unbind(2)
    q, k = rope(q, k, *tables, positions, False)
    found = flash_attention(*(one.transpose(1, 2) for one in (q, k, v)), d**-0.5, True)
    # Heads back beside each other: [b, h, s, d] is stored, and [b, s, h · d] is wanted.
    x = x + Linear.apply(found.transpose(1, 2).reshape(x.shape), out)
    h = rms_norm(x, norm_2, EPS, 0.0)
    both = Linear.apply(h, torch.cat((gate, up)))
    return x + Linear.apply(swiglu(*both.chunk(2, dim=1)), down)


def next_token_loss(tokens: torch.Tensor, weights: Sequence[torch.Tensor]) -> torch.Tensor:
    """The mean cross-entropy of tokens[b, s + 1]: of each token, given those before it. 0-d, fp32."""
    ids, target = tokens[:, :-1].contiguous(), tokens[:, 1:].reshape(-1)
    (b, s), e = ids.shape, weights[0].shape[1]
    d = min(e, HEAD) if e % HEAD == 0 else 16
    positions = torch.arange(s, device=tokens.device).expand(b, s).contiguous()
    tables = angles(s, d, tokens.device)
    x = embedding(weights[0], ids, -1).view(b * s, e)
    for first in range(1, len(weights) - 2, 7):
        x = block(x, weights[first : first + 7], positions, tables, d)
    logits = Linear.apply(rms_norm(x, weights[-2], EPS, 0.0), weights[-1])
    return cross_entropy(logits, target, -1, 0.0)


def loss_and_gradients(
    tokens: torch.Tensor, master: list[torch.Tensor], half: bool
) -> tuple[torch.Tensor, Sequence[torch.Tensor]]:
    """The loss of tokens[b, s + 1], and the gradients of all weights: if half, of SCALE times the loss."""
    weights = [param.half() for param in master] if half else master
    loss = next_token_loss(tokens, weights)
    # As if the loss were larger: what is below 6e-8 is nothing in fp16, and gradients are small.
    upstream = torch.full((), SCALE if half else 1.0, device=tokens.device)
    return loss.detach(), torch.autograd.grad(loss, master, upstream)


def update(
    master: list[torch.Tensor],
    grads: Sequence[torch.Tensor],
    states: list[tuple[torch.Tensor, torch.Tensor]],
    lr: float,
    step: int,
    half: bool,
) -> None:
    """Step number `step`, from 1 on, of AdamW on all weights and both their states, in place."""
    for param, grad, (m, v) in zip(master, grads, states, strict=True):
        grad = grad.contiguous() * (1.0 / SCALE) if half else grad.contiguous()
        flat = (one.detach().view(-1) for one in (param, grad, m, v))
        adamw(*flat, lr, *BETAS, 1e-8, DECAY, step)


def training(
    tokens: torch.Tensor, params: Sequence[torch.Tensor], lr: float, precision: str
) -> Iterator[tuple[torch.Tensor, list[torch.Tensor]]]:
    """Yield the loss of each step and the weights, before that step's update.

    Step i trains on tokens[i % len(tokens)]. params stay as they are: copies of them are trained, in fp32.
    """
    master = [param.clone().requires_grad_() for param in params]
    states = [(torch.zeros_like(param), torch.zeros_like(param)) for param in params]
    for step in count(1):
        batch = tokens[(step - 1) % len(tokens)]
        loss, grads = loss_and_gradients(batch, master, precision == "fp16")
        yield loss, master
        update(master, grads, states, lr, step, precision == "fp16")


def train(
    tokens: torch.Tensor, params: list[torch.Tensor], steps: int, lr: float, precision: str
) -> torch.Tensor:
    """Return the loss of each of so many steps of AdamW, fp32 [steps]; params stay as they are.

    tokens[n, b, s + 1] int64: step i trains on tokens[i % n]. params, fp32 and contiguous: embedding[v, e];
    for each block norm[e], qkv[3e, e], out[e, e], norm[e], gate[f, e], up[f, e], down[e, f]; at last norm[e]
    and head[v, e]. Heads have 64 columns where that divides e, else 16. precision: "fp32"; or "fp16" for
    all but the loss, the weights that are updated, and their states.
    """
    losses = torch.empty(steps, dtype=torch.float32, device=tokens.device)
    for step, (loss, _) in zip(range(steps), training(tokens, params, lr, precision), strict=False):
        record_kernel[(1,)](loss, losses, step)
    return losses
