"""Extra: right answers that copy what they could read where it lies, or start a program for 32 columns."""

from tools.planted import Laggard

LAUNCH = "    scaled_add_kernel[grid](x, y, out, alpha, n_cols, *x.stride(), *y.stride(), BLOCK=BLOCK)\n"
COPIED = (
    "    scaled_add_kernel[grid]({0}, {0}, {1}, 0.0, n_cols, *{0}.stride(), *{0}.stride(), BLOCK=BLOCK)\n"
)

laggards = [
    # 8 bytes an element for each copy, by a kernel so that it is no work of torch's, and 12 for the sum: 28.
    # (x + 0 · x is read in two loads of the same line, of which the second finds it in L1 or L2.)
    Laggard(
        "both are copied first",
        swap={
            LAUNCH: (
                "    own_x, own_y = torch.empty_like(out), torch.empty_like(out)\n"
                f"{COPIED.format('x', 'own_x')}{COPIED.format('y', 'own_y')}"
                "    x, y = as_rows([own_x, own_y])\n"
                "    x, y = x.view(n_rows, n_cols), y.view(n_rows, n_cols)\n"
                f"{LAUNCH}"
            )
        },
    ),
    # 4.2 million programs of 32 elements: one load of 4 bytes a thread of each input.
    Laggard("32 columns a program", swap={"BLOCK = 1024": "BLOCK = 32"}),
]
