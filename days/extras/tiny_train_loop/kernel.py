"""Extra: a small language model trained by the kernels of earlier days, in fp32 or in fp16."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

import torch
import triton
import triton.language as tl

HEAD = 64  # the most columns a head has
EPS, BETAS, DECAY = 1e-6, (0.9, 0.95), 0.1
SCALE = 1024.0  # of the loss in fp16: a power of two, which rounds nothing
# TODO 1: `from mine import …` the kernels that you need: your own where they have passed, else ours.


@triton.jit
def record_kernel(loss_ptr, losses_ptr, step):
    """losses[step] = loss. It stays on the device: a host that reads each loss waits for each step."""
    tl.store(losses_ptr + step, tl.load(loss_ptr))


class Linear(torch.autograd.Function):
    """x @ w.T for x[m, k] and w[n, k], and both gradients, by one kernel."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        """x @ w.T."""
        # TODO 2: day 18's matmul takes any strides; keep what backward needs.

    @staticmethod
    def backward(ctx: Any, dy: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """dx and dw, of dy[m, n]."""
        # TODO 3: both gradients are products, too: write down their shapes first.


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
    # TODO 4: attention: project x behind its norm, split heads, rotate q and k, attend, project, add to x.
    # TODO 5: the MLP behind its norm: down of silu(gate) * up. What comes back is x plus that.


def next_token_loss(tokens: torch.Tensor, weights: Sequence[torch.Tensor]) -> torch.Tensor:
    """The mean cross-entropy of tokens[b, s + 1]: of each token, given those before it. 0-d, fp32."""
    ids, target = tokens[:, :-1].contiguous(), tokens[:, 1:].reshape(-1)
    (b, s), e = ids.shape, weights[0].shape[1]
    d = min(e, HEAD) if e % HEAD == 0 else 16
    positions = torch.arange(s, device=tokens.device).expand(b, s).contiguous()
    tables = angles(s, d, tokens.device)
    # TODO 6: embed ids; go through the blocks, seven weights each; the last norm, the head, the loss.


def loss_and_gradients(
    tokens: torch.Tensor, master: list[torch.Tensor], half: bool
) -> tuple[torch.Tensor, Sequence[torch.Tensor]]:
    """The loss of tokens[b, s + 1], and the gradients of all weights: if half, of SCALE times the loss."""
    # TODO 7: the loss, by weights in fp16 if half, and the gradients of master, SCALE times as large in fp16.


def update(
    master: list[torch.Tensor],
    grads: Sequence[torch.Tensor],
    states: list[tuple[torch.Tensor, torch.Tensor]],
    lr: float,
    step: int,
    half: bool,
) -> None:
    """Step number `step`, from 1 on, of AdamW on all weights and both their states, in place."""
    # TODO 8: for each weight undo the scale, and let adamw update it. It takes flat, contiguous tensors.


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


if __name__ == "__main__":
    from finale import main

    main(training)
