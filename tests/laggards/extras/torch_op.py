"""Extra: right answers that move bytes twice, or start a program for 32 elements."""

from tools.planted import Laggard

LAUNCHED = "    launch(scaled_add_kernel, x.numel(), x, y, out, alpha, *strides)\n"
COPIED = "    launch(scale_kernel, x.numel(), x, out, 1.0, x.stride(0))\n"

laggards = [
    # 20 bytes an element, and not 12: x is read, the copy written, and then read and written in place. The
    # copy is a launch as well, or the honest check would tell.
    Laggard(
        "x is cloned, and y is added to the clone in place",
        swap={
            "x.stride(0), y.stride(0), out.stride(0)": "out.stride(0), y.stride(0), out.stride(0)",
            LAUNCHED: COPIED + LAUNCHED.replace("x, y, out,", "out, y, out,"),
        },
    ),
    # 4.2 million programs of 32 elements: one load of 4 bytes a thread of each input.
    Laggard("32 elements a program", swap={"BLOCK = 1024": "BLOCK = 32"}),
]
