"""What a learner may have computed on day 24: of x, p, seed and what was kept, y and the mask."""

from __future__ import annotations

import torch


def dropped(kept: torch.Tensor, keep: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """`kept` where `keep` says so and 0 elsewhere, and the mask."""
    return torch.where(keep, kept, 0), keep


SUSPECTS = {
    "Kept elements are not scaled: divide them by 1 - p, and the mean of y stays that of x.": (
        lambda x, p, seed, keep: dropped(x, keep)
    ),
    "Kept elements are divided by p where 1 - p, the share that is kept, is right.": (
        lambda x, p, seed, keep: dropped(x / p if p else x, keep)
    ),
    "Kept elements are multiplied by 1 - p where they should be divided by it.": (
        lambda x, p, seed, keep: dropped(x * (1 - p), keep)
    ),
    "y is 0 where mask is true: it must be true where an element is kept.": (
        lambda x, p, seed, keep: (dropped(x / (1 - p or 1), ~keep)[0], keep)
    ),
    "Dropped elements come out as they went in: they must be 0.": (
        lambda x, p, seed, keep: (torch.where(keep, x / (1 - p or 1), x), keep)
    ),
    "Every element is scaled and none is dropped: y does not follow the mask.": (
        lambda x, p, seed, keep: (x / (1 - p or 1), keep)
    ),
    "Dropped elements are multiplied by 0, and 0 · Inf and 0 · NaN are NaN: choose, as tl.where does.": (
        lambda x, p, seed, keep: (x * keep / (1 - p or 1), keep)
    ),
    "At p = 1 the scale 1 / (1 - p) is Inf, and 0 · Inf is NaN: choose 0, do not multiply by it.": (
        lambda x, p, seed, keep: (x * keep * (1 / (1 - p) if p < 1 else torch.inf), keep)
    ),
}
