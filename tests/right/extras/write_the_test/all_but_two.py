"""Sixteen bits and results of earlier calls are left out: two wrong candidates get by, and so many may."""

import math

import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def one(candidate, x) -> bool:
    copy = x.clone()
    y = candidate(x)
    wanted = torch.softmax(copy.double(), dim=-1)
    formed = y.shape == x.shape and y.dtype == x.dtype and y.is_contiguous() and y.data_ptr() != x.data_ptr()
    untouched = bool(((x == copy) | copy.isnan()).all())
    tolerance = 3e-5 if y.dtype == torch.float32 else 0.02
    near = ((y.double() - wanted).abs() <= tolerance * wanted + 1e-6) | (y.isnan() & wanted.isnan())
    return formed and untouched and bool(near.all())


def is_right(candidate) -> bool:
    x = torch.randn(3, 777, device=DEVICE)
    holes = x.clone()
    holes[0, 0], holes[1] = math.nan, -math.inf
    tried = [x, x.half(), x[:, :64], 100 * x, x - 2e4, holes, x[:, :1].contiguous()]
    tried += [torch.randn(shape, device=DEVICE) for shape in ((1, 16384), (2000, 2))]
    return all(one(candidate, each) for each in tried)
