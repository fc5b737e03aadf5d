"""torch.testing says what is close, and what it raises is the refusal."""

import itertools

import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
RELATIVE = {torch.float32: 1e-5, torch.float16: 2**-11 * 1.1, torch.bfloat16: 2**-8 * 1.1}
SMALL = {torch.float32: 1e-30, torch.float16: 2**-24, torch.bfloat16: 1e-30}


def tried():
    torch.manual_seed(0)
    for shape, dtype in itertools.product([(7, 33), (7, 33), (2, 8001), (4, 1)], RELATIVE):
        yield torch.randn(shape, device=DEVICE, dtype=dtype)
    yield torch.randn(700, 5, device=DEVICE)
    wide = torch.randn(5, 40, device=DEVICE)
    yield wide[:, 3:23]
    yield wide[:1, :20].expand(6, 20)
    for low in (-1e4, 200.0):
        yield wide[:, :33] * 10 + low
    for odd in ("inf", "-inf", "nan"):
        holed = wide.clone()
        holed[1, 7] = float(odd)
        holed[3] = float(odd)
        yield holed


def is_right(candidate) -> bool:
    results = []
    for x in tried():
        same = x.clone()
        y = candidate(x)
        assert y.is_contiguous()
        assert y.untyped_storage().data_ptr() != x.untyped_storage().data_ptr()
        torch.testing.assert_close(x, same, rtol=0, atol=0, equal_nan=True)
        results.append((y, same))
    for y, x in results:
        wanted = torch.softmax(x.double(), dim=1)
        torch.testing.assert_close(
            y.double(), wanted, rtol=RELATIVE[x.dtype], atol=SMALL[x.dtype], equal_nan=True
        )
        assert y.dtype == x.dtype
    return True
