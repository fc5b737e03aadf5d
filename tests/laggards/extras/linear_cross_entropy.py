"""Extra: right answers whose products are slow."""

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
    )
]
