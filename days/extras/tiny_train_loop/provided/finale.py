"""The finale of the course: your kernels train a language model on Python's own manual, beside torch.

track python kernel.py [STEPS]
"""

from __future__ import annotations

import math
import pydoc_data.topics
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
import torch_model
from torch import Tensor

TEXT = "\n".join(pydoc_data.topics.topics.values()).encode("ascii", "ignore")  # Python's manual: 465 KB
BAR = 46  # columns
# b, s, e, f and steps: what two cores evaluate in a minute, and a real one.
SMALL = (2, 48, 64, 128, 300)
LARGE = (16, 256, 512, 1408, 400)
VOCABULARY = 256  # bytes


def weights_of(e: int, f: int, device: str) -> list[Tensor]:
    """Parameters of two blocks, drawn; the same each time."""
    generator = torch.Generator().manual_seed(35)

    def matrix(rows: int, cols: int) -> Tensor:
        return (torch.randn(rows, cols, generator=generator) * cols**-0.5).to(device)

    found = [matrix(VOCABULARY, e)]
    for _ in range(2):
        ones = torch.ones(e, device=device)
        found += [
            ones,
            matrix(3 * e, e),
            matrix(e, e),
            ones.clone(),
            matrix(f, e),
            matrix(f, e),
            matrix(e, f),
        ]
    return [*found, torch.ones(e, device=device), matrix(VOCABULARY, e)]


def batches(steps: int, b: int, s: int, device: str) -> Tensor:
    """tokens[steps, b, s + 1]: pieces of the text, drawn; the same each time."""
    text = torch.frombuffer(bytearray(TEXT), dtype=torch.uint8).long()
    starts = torch.randint(len(text) - s - 1, (steps, b, 1), generator=torch.Generator().manual_seed(1))
    return text[starts + torch.arange(s + 1)].to(device)


def run(
    training: Iterable[tuple[Any, list[Tensor]]], steps: int, told: bool
) -> tuple[list[float], float, list[Tensor]]:
    """The losses of so many steps, shown as they come; seconds of each but the first three; the weights."""
    found: list[Any] = []
    start, every = time.perf_counter(), max(steps // 20, 1)
    for step, (loss, trained) in zip(range(steps), training, strict=False):
        found.append(loss.detach())
        weights = trained
        if told and (step % every == every - 1 or step == steps - 1):
            value = sum(map(float, found[-every:])) / len(found[-every:])
            bar = "█" * max(round(BAR * value / math.log(VOCABULARY)), 1)
            print(f"  step {step + 1:4}   loss {value:.3f}  {bar}", flush=True)
        if step == 2:
            start = time.perf_counter()
    losses = [float(loss) for loss in found]  # waits for the last kernel
    return losses, (time.perf_counter() - start) / max(steps - 3, 1), weights


def written(weights: list[Tensor], begin: str = "The ", length: int = 160) -> str:
    """What the model writes behind `begin`: drawn byte by byte, the likely ones more often."""
    ids = torch.tensor([list(begin.encode())], device=weights[0].device)
    generator = torch.Generator(ids.device).manual_seed(2)
    with torch.no_grad():
        for _ in range(length):
            chances = torch.softmax(torch_model.logits_of(ids[:, -48:], weights)[0, -1] / 0.7, dim=-1)
            ids = torch.cat((ids, torch.multinomial(chances, 1, generator=generator)[None]), dim=1)
    text = " ".join(bytes(ids[0].tolist()).decode("ascii", "replace").split())
    return "".join(letter if letter.isascii() and letter.isprintable() else "·" for letter in text)


def plot(path: Path, curves: dict[str, list[float]]) -> None:
    """Write the loss curves as an SVG."""
    steps, top = len(next(iter(curves.values()))), math.log(VOCABULARY)
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 620 340" font-family="Arial" fill="#555">',
        '<rect width="620" height="340" fill="white"/>',
        f'<text x="60" y="28">loss of {steps} steps on Python\'s manual</text>',
        *(f'<text x="30" y="{304 - 260 * loss / top:.0f}">{loss}</text>' for loss in range(6)),
    ]
    for row, (name, losses) in enumerate(curves.items()):
        color, width = ("#9aa0a6", 6) if row == 0 else ("#e8590c", 2)
        places = (
            (60 + 520 * at / max(steps - 1, 1), 300 - 260 * loss / top) for at, loss in enumerate(losses)
        )
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="{width}"/>')
        parts.append(f'<text x="440" y="{70 + 22 * row}" fill="{color}">{name}: {losses[-1]:.3f}</text>')
    path.write_text("\n".join([*parts, "</svg>\n"]), encoding="utf-8")


def main(training: Callable[..., Iterable[Any]]) -> None:
    """Train by `training(tokens, params, lr, precision)`, then by torch, and compare losses and speed."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    b, s, e, f, steps = LARGE if device == "cuda" else SMALL
    precision, rate = ("fp16", 3e-3) if device == "cuda" else ("fp32", 2e-3)
    steps = max(int(sys.argv[1]), 4) if len(sys.argv) > 1 else steps
    asked = batches(steps, b, s, device), weights_of(e, f, device), rate, precision
    count = sum(one.numel() for one in asked[1])
    print(f"{count:,} parameters, {steps} steps of {b * s} bytes, {precision}. Your kernels train:\n")
    own, seconds, trained = run(training(*asked), steps, told=True)
    by_torch, torch_seconds, _ = run(torch_model.training(*asked), steps, told=False)
    apart = max(abs(one - other) / other for one, other in zip(own, by_torch, strict=True))
    print(f"\nThe last loss is {own[-1]:.3f}, and {by_torch[-1]:.3f} by torch.")
    print(f"At no step are the two further apart than {apart:.1g} of it.")
    if device == "cuda":
        compiled = torch.compile(torch_model.loss_of)
        third = run(torch_model.training(*asked, loss_of=compiled), steps, told=False)[1]
        for name, each in ("yours", seconds), ("torch", torch_seconds), ("torch.compile", third):
            print(f"  {name:14} {b * s / each:10,.0f} tokens a second")
    plot(Path("loss.svg"), {"torch": by_torch, "yours": own})
    print(f"Both curves are in loss.svg. The model wrote at first:\n\n  {written(asked[1])}\n")
    print(f"and after {steps} steps:\n\n  {written(trained)}\n")
    print("Each product, norm, loss and update of it was a kernel of this course.")
