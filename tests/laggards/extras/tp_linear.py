"""Extra: right answers that are needlessly slow, two for every speed bar."""

from tools.planted import Laggard

laggards = [
    # 8 operations a byte from L2 where a tile of 128 x 256 does 85.
    Laggard(
        "tiles of 16 x 16",
        swap={"(128, 128, 32) if large": "(16, 16, 16) if large", "optin >= 144 << 10": "optin >= 1 << 40"},
    ),
    # IEEE fp32 runs on the plain units: 60 TFLOP/s at best, where the matrix units do 700.
    Laggard(
        "the product in fp32",
        swap={
            "acc = tl.dot(x, w, acc,": "acc = tl.dot(x.to(tl.float32), w.to(tl.float32), acc,",
            "(128, 128, 32) if large": "(64, 64, 32) if large",
            "optin >= 144 << 10": "optin >= 1 << 40",
        },
    ),
]
