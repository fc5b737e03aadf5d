"""What a kernel makes an image of: for `track show`."""

from __future__ import annotations

import numpy as np
import torch


def house() -> torch.Tensor:
    """A sky that fades, the sun, a striped house on speckled ground: uint8 [96, 144, 3]."""
    y, x = np.mgrid[:96, :144]
    pixels = np.stack([40 + x, 90 + y, 255 - y], axis=-1)
    pixels[(x - 112) ** 2 + (y - 24) ** 2 < 300] = 255, 210, 40
    pixels[78:] = np.random.default_rng(1).integers((20, 90, 20), (90, 200, 60), (18, 144, 3))
    pixels[38:84, 20:76] = np.where(x[38:84, 20:76, None] % 8 < 3, (250, 245, 235), (190, 40, 40))
    return torch.from_numpy(pixels.astype(np.uint8))


def rainbow() -> torch.Tensor:
    """The colours of a rainbow: uint8 [256, 3]."""
    turns = torch.arange(256)[:, None] / 256 + torch.arange(3) / 3
    return (128 + 127 * torch.cos(2 * torch.pi * turns)).byte()
