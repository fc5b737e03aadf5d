"""Two layers of attention learn to repeat what they read, with day 35's kernel and with torch's attention.

    track python examples/train_copy.py                                 # on a GPU well below a minute
    track python examples/train_copy.py --kernel kernel.py --autocast   # with your kernel, in bf16

Without a GPU the model is tiny and takes a few steps: kernels run on the CPU.

A sequence is a random word and then the same word again. To name the next token of the second, a query must
find the key that stands one word before it: nothing else tells.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Attention = Callable[[Tensor, Tensor, Tensor, float, bool], Tensor]
COURSE = Path(__file__).resolve().parents[1]
SOLUTION = COURSE / "solutions" / "day35_complete_flash_attention.py"
PROVIDED = COURSE / "days" / SOLUTION.stem / "provided"


@dataclass(frozen=True)
class Setup:
    """Sizes of the model and of its training; `length` is that of the word."""

    tokens: int = 64
    length: int = 128
    batch: int = 32
    query_heads: int = 4
    key_heads: int = 2
    head_dim: int = 32
    steps: int = 400
    rate: float = 2e-3


TINY = Setup(tokens=8, length=6, batch=1, query_heads=2, key_heads=1, head_dim=16, steps=3)


class Layer(nn.Module):
    """Attention with fewer key heads than query heads, then two linear maps; both beside the residual."""

    def __init__(self, setup: Setup, attention: Attention) -> None:
        super().__init__()
        self.setup, self.attention = setup, attention
        width = setup.query_heads * setup.head_dim
        self.norm, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv = nn.Linear(width, width + 2 * setup.key_heads * setup.head_dim)
        self.out = nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        heads, d = (self.setup.query_heads, self.setup.key_heads, self.setup.key_heads), self.setup.head_dim
        # [B, S, H, D], seen as [B, H, S, D]: no copy, and the kernel takes the strides.
        parts = self.qkv(self.norm(x)).split([h * d for h in heads], dim=-1)
        q, k, v = (part.unflatten(-1, (-1, d)).transpose(1, 2) for part in parts)
        x = x + self.out(self.attention(q, k, v, d**-0.5, True).transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Model(nn.Module):
    def __init__(self, setup: Setup, attention: Attention) -> None:
        super().__init__()
        width = setup.query_heads * setup.head_dim
        self.token = nn.Embedding(setup.tokens, width)
        self.place = nn.Embedding(2 * setup.length, width)
        self.layers = nn.Sequential(*(Layer(setup, attention) for _ in range(2)))
        self.head = nn.Linear(width, setup.tokens)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.layers(self.token(x) + self.place.weight[: x.shape[1]]))


def torch_attention(q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale, enable_gqa=True)


def train(
    attention: Attention, setup: Setup, device: str, autocast: bool = False, compiled: bool = False
) -> list[float]:
    """The loss of each step, over the second words alone; the same words and weights at every call."""
    torch.manual_seed(0)
    model = Model(setup, attention).to(device)
    run = torch.compile(model) if compiled else model
    optimizer = torch.optim.AdamW(model.parameters(), lr=setup.rate)
    generator = torch.Generator().manual_seed(1)
    losses = []
    for _ in range(setup.steps):
        word = torch.randint(setup.tokens, (setup.batch, setup.length), generator=generator).to(device)
        x = torch.cat([word, word], dim=1)
        with torch.autocast(device, dtype=torch.bfloat16, enabled=autocast):
            guess = run(x[:, :-1])[:, setup.length - 1 :]
            loss = F.cross_entropy(guess.flatten(0, 1).float(), word.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses).tolist()


def load(path: Path) -> Attention:
    """flash_attention of a kernel file; what the day hands out is imported from beside it, else as it was."""
    sys.path += [str(path.resolve().parent), str(PROVIDED)]
    spec = importlib.util.spec_from_file_location("kernel", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["kernel"] = importlib.util.module_from_spec(spec)  # where torch.compile looks for it
    spec.loader.exec_module(module)
    return module.flash_attention


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kernel", type=Path, default=SOLUTION)
    parser.add_argument("--autocast", action="store_true", help="bf16 where torch deems it safe")
    parser.add_argument("--compile", action="store_true", help="through torch.compile")
    parser.add_argument("--tiny", action="store_true", help="a few steps, as without a GPU")
    chosen = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    setup = TINY if chosen.tiny or device == "cpu" else Setup()
    for name, attention in (("torch", torch_attention), (str(chosen.kernel), load(chosen.kernel))):
        begin = time.perf_counter()
        losses = train(attention, setup, device, chosen.autocast, chosen.compile)
        every = max(len(losses) // 5, 1)
        curve = " ".join(f"{loss:.4f}" for loss in [*losses[::every], losses[-1]])
        print(f"{name}: {curve}  ({time.perf_counter() - begin:.1f} s)")


if __name__ == "__main__":
    main()
