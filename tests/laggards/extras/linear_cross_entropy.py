"""Extra: right answers whose products are slow, or whose chunks go through memory again and again."""

from __future__ import annotations

from tools.planted import Laggard

CHUNKS = "def chunks(n_classes: int) -> Iterator[slice]:"
WIDE = '''def wide(part: torch.Tensor) -> torch.Tensor:
    """A copy in fp32."""
    out = torch.empty(part.shape, dtype=torch.float32, device=part.device)
    add(part, None, out)
    return out


'''
FORWARD, BACKWARD = "        for chunk in chunks(len(weight)):\n", "        for chunk in chunks(n_classes):\n"
LOGITS = "            logits = torch.mm(x, weight[chunk].t())\n"
ROWS = "            rows = wide(weight[chunk])\n            logits = torch.mm(x32, rows.t())\n"

laggards = [
    # 8.6 TFLOP without matrix units. Chunks are narrower, for their weights are held in fp32 as well.
    Laggard(
        "products in fp32",
        swap={
            CHUNKS: WIDE + CHUNKS,
            "24 * 64": "32 * 64",
            FORWARD: "        x32 = wide(x)\n" + FORWARD,
            f"{LOGITS}            chunk_loss": f"{ROWS}            chunk_loss",
            "del logits\n        mean": "del logits, rows\n        mean",
            BACKWARD: "        x32 = wide(x)\n" + BACKWARD,
            f"{LOGITS}            chunk_grad": f"{ROWS}            chunk_grad",
            "torch.mm(logits, weight[chunk])": "torch.mm(logits, rows)",
            "torch.mm(logits.t(), x)": "torch.mm(logits.t(), x32)",
            "del logits\n        return": "del logits, rows\n        return",
        },
    ),
    # Softmax, then the target, then the factor: each reads the chunk and writes it.
    Laggard(
        "the gradient of the logits by three kernels, in fp32",
        file="three_kernels.py",
        unseen="most of the time is torch.mm's: it is predicted at twice our time, and three are slow",
    ),
]
