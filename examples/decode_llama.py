"""A tiny Llama with 4-bit weights writes tokens, by the course's own kernels, and torch writes the same ones.

    track python examples/decode_llama.py

The weights are random, so the text means nothing. What it shows is that the extras fit together: a step is
rms_norm, int4_gemv, rope, kv_cache_write, paged_attention and swiglu in each layer, and sampling at its end.
torch's side keeps no cache: it computes every key anew for every token.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

SOLUTIONS = Path(__file__).resolve().parents[1] / "solutions" / "extras"
EPS = 1e-5
SEED = 2  # of weights with which no two tokens are so near that rounding decides between them
LONGEST = 64  # tokens of a text
PROMPTS = ([3, 14, 15, 9, 2, 6, 5, 35, 8], [27, 18, 28, 1, 8], [61, 8])  # 16 tokens: a product's rows


@dataclass(frozen=True)
class Setup:
    """Sizes of the model; `group` weights of a row share a scale, a page has room for `page_size` tokens."""

    tokens: int = 64
    layers: int = 2
    heads: int = 4
    key_heads: int = 2
    head_dim: int = 16
    inner: int = 96
    group: int = 32
    page_size: int = 16
    new: int = 10

    @property
    def width(self) -> int:
        return self.heads * self.head_dim

    def heads_of(self, qkv: Tensor) -> tuple[Tensor, ...]:
        """q, k and v [rows, heads, d] of what is projected, as they lie in it."""
        heads = qkv.view(len(qkv), -1, self.head_dim)
        return torch.split(heads, [self.heads, self.key_heads, self.key_heads], dim=1)


class FourBit(NamedTuple):
    """A matrix [n, k] as int4_gemv takes it: packed[n, k/2] uint8, scales and zeros [n, k/group]."""

    packed: Tensor
    scales: Tensor
    zeros: Tensor
    group: int

    def whole(self) -> Tensor:
        """The same matrix in the scales' dtype."""
        codes = torch.stack([self.packed & 15, self.packed >> 4], dim=-1).flatten(1)
        zeros, scales = (x.repeat_interleave(self.group, dim=1) for x in (self.zeros, self.scales))
        return (codes.to(scales.dtype) - zeros) * scales


class Layer(NamedTuple):
    norm: Tensor
    qkv: FourBit
    out: FourBit
    norm2: Tensor
    gate_up: FourBit
    down: FourBit


class Model(NamedTuple):
    setup: Setup
    embedding: Tensor
    layers: Sequence[Layer]
    norm: Tensor
    head: FourBit
    cos: Tensor
    sin: Tensor


def model(setup: Setup, seed: int, device: str) -> Model:
    """Random weights in fp16 and 4 bits; the same at every call with the same seed."""
    generator = torch.Generator().manual_seed(seed)
    w, inner = setup.width, setup.inner

    def matrix(n: int, k: int, size: float = 1.0) -> FourBit:
        packed = torch.randint(0, 256, (n, k // 2), generator=generator, dtype=torch.uint8)
        zeros = torch.randint(6, 10, (n, k // setup.group), generator=generator, dtype=torch.uint8)
        scales = 0.5 + torch.rand(n, k // setup.group, generator=generator)
        scales = (scales * size / (4.6 * k**0.5)).half()  # 4.6: how far the codes 0 to 15 spread
        return FourBit(packed.to(device), scales.to(device), zeros.to(device), setup.group)

    def vector(*shape: int) -> Tensor:
        return (1 + 0.1 * torch.randn(*shape, generator=generator)).half().to(device)

    def layer() -> Layer:
        qkv = matrix(w + 2 * setup.key_heads * setup.head_dim, w)
        return Layer(vector(w), qkv, matrix(w, w), vector(w), matrix(2 * inner, w), matrix(w, inner))

    embedding = torch.randn(setup.tokens, w, generator=generator).half().to(device)
    rates = 10_000.0 ** -(torch.arange(0, setup.head_dim, 2) / setup.head_dim)
    angles = (torch.arange(LONGEST)[:, None] * rates).to(device)
    layers = [layer() for _ in range(setup.layers)]
    head = matrix(setup.tokens, w, size=4.0)
    return Model(setup, embedding, layers, vector(w), head, angles.cos(), angles.sin())


def load(name: str, function: str = "") -> Callable[..., Any]:
    """A function of solutions/extras/<name>.py, by default that of the file's name."""
    spec = importlib.util.spec_from_file_location(f"solution_{name}", SOLUTIONS / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Callable[..., Any] = getattr(module, function or name)
    return found


class Pages:
    """Caches of all layers, and which pages each sequence has; a page is taken when a token needs one."""

    def __init__(self, setup: Setup, sequences: int, device: str) -> None:
        self.size = setup.page_size
        entries = LONGEST // self.size
        self.free = list(range(sequences * entries))[::-1]
        shape = len(self.free), self.size, setup.key_heads, setup.head_dim
        nothing = float("nan")  # whoever reads where nobody has written will see it
        self.caches = [
            tuple(torch.full(shape, nothing, dtype=torch.float16, device=device) for _ in "kv")
            for _ in range(setup.layers)
        ]
        self.tables = torch.full((sequences, entries), -1, dtype=torch.int32)
        self.lengths = [0] * sequences

    def place(self, sequence: int) -> tuple[int, int]:
        """The slot of a sequence's next token, and how many tokens it has then."""
        entry, place = divmod(self.lengths[sequence], self.size)
        if not place:
            self.tables[sequence, entry] = self.free.pop()
        self.lengths[sequence] += 1
        return int(self.tables[sequence, entry]) * self.size + place, self.lengths[sequence]


class Kernels:
    """The model by our kernels, on rows that are tokens of any sequences."""

    def __init__(self, model: Model, sequences: int, device: str) -> None:
        self.model, self.device = model, device
        self.pages = Pages(model.setup, sequences, device)
        self.rms_norm, self.rope, self.gemv = load("rms_norm"), load("rope"), load("int4_gemv")
        self.write, self.attention = load("kv_cache_write"), load("paged_attention")
        self.swiglu, self.sample = load("swiglu_geglu", "swiglu"), load("sampling", "sample")

    def step(self, rows: Sequence[tuple[int, int]]) -> Tensor:
        """Logits [rows, tokens] behind each token; rows are (sequence, token), a sequence's in order.

        All rows' keys are written before any is read, and each row sees those up to its own: so a prompt's
        tokens may be rows beside one another.
        """
        placed = [self.pages.place(sequence) for sequence, _ in rows]
        slots, lengths = (torch.tensor(column, device=self.device) for column in zip(*placed, strict=True))
        which, ids = (torch.tensor(column, device=self.device) for column in zip(*rows, strict=True))
        tables, seen = self.pages.tables.to(self.device)[which], lengths.int()
        x = self.model.embedding[ids]
        for layer, (keys, values) in zip(self.model.layers, self.pages.caches, strict=True):
            q, k, v = self.projected(x, layer, lengths - 1)
            self.write(k, v, keys, values, slots)
            y = self.attention(q, keys, values, tables, seen, self.model.setup.head_dim**-0.5)
            x = x + self.linear(y.flatten(1), layer.out)
            y = self.rms_norm(x, layer.norm2, EPS, 0.0)
            gate, up = self.linear(y, layer.gate_up).chunk(2, dim=1)
            x = x + self.linear(self.swiglu(gate, up), layer.down)
        return self.linear(self.rms_norm(x, self.model.norm, EPS, 0.0), self.model.head)

    def projected(self, x: Tensor, layer: Layer, at: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """q, k and v [rows, heads, d]: q and k turned by the rows' positions, v as it lies in the product."""
        qkv = self.linear(self.rms_norm(x, layer.norm, EPS, 0.0), layer.qkv)
        q, k, v = self.model.setup.heads_of(qkv)
        q, k = self.rope(q[None], k[None], self.model.cos, self.model.sin, at[None], False)
        return q[0], k[0], v

    def linear(self, x: Tensor, w: FourBit) -> Tensor:
        y: Tensor = self.gemv(x, w.packed, w.scales, w.zeros, w.group)
        return y


def by_kernels(model: Model, prompts: Sequence[Sequence[int]], device: str) -> list[list[int]]:
    """What is written behind each prompt: all prompts in one step, then a token of each sequence a step."""
    kernels = Kernels(model, len(prompts), device)
    rows = [(i, token) for i, prompt in enumerate(prompts) for token in prompt]
    last = [sum(map(len, prompts[: i + 1])) - 1 for i in range(len(prompts))]
    texts: list[list[int]] = [[] for _ in prompts]
    for _ in range(model.setup.new):
        ids = kernels.sample(kernels.step(rows)[last], 0.0, 0).tolist()
        for text, token in zip(texts, ids, strict=True):
            text.append(token)
        rows, last = list(enumerate(ids)), list(range(len(prompts)))
    return texts


def turned(x: Tensor, model: Model) -> Tensor:
    """Rotary embedding of x[s, h, d] at positions 0 to s - 1, by halves, in fp32."""
    cos, sin = (table[: len(x), None] for table in (model.cos, model.sin))
    a, b = x.float().chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1).to(x.dtype)


def logits_of_torch(model: Model, ids: Sequence[int]) -> Tensor:
    """Logits [s, tokens] behind each token of one sequence, by torch, nothing kept from call to call."""
    setup = model.setup
    x = model.embedding[torch.tensor(ids, device=model.embedding.device)]
    for layer in model.layers:
        q, k, v = setup.heads_of(F.linear(F.rms_norm(x, x.shape[1:], layer.norm, EPS), layer.qkv.whole()))
        q, k, v = (part.transpose(0, 1)[None] for part in (turned(q, model), turned(k, model), v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)[0]
        x = x + F.linear(y.transpose(0, 1).flatten(1), layer.out.whole())
        y = F.rms_norm(x, x.shape[1:], layer.norm2, EPS)
        gate, up = F.linear(y, layer.gate_up.whole()).chunk(2, dim=1)
        x = x + F.linear(F.silu(gate) * up, layer.down.whole())
    return F.linear(F.rms_norm(x, x.shape[1:], model.norm, EPS), model.head.whole())


def by_torch(model: Model, prompts: Sequence[Sequence[int]]) -> list[list[int]]:
    """What torch writes behind each prompt."""
    texts = []
    for prompt in prompts:
        ids = list(prompt)
        for _ in range(model.setup.new):
            ids.append(int(logits_of_torch(model, ids)[-1].argmax()))
        texts.append(ids[len(prompt) :])
    return texts


def main() -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    llama = model(Setup(), seed=SEED, device=device)
    ours, theirs = by_kernels(llama, PROMPTS, device), by_torch(llama, PROMPTS)
    for prompt, text, wanted in zip(PROMPTS, ours, theirs, strict=True):
        print(f"{prompt} -> {text}{'' if text == wanted else f', and torch writes {wanted}'}")
    print("The same tokens as torch's." if ours == theirs else "Other tokens than torch's.")


if __name__ == "__main__":
    main()
