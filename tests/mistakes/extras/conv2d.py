"""Extra: what a convolution gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

DOT = 'acc = tl.dot(x, w, acc, input_precision="ieee")'
GRID = "grid = (triton.cdiv(features, BLOCK_O) * groups * triton.cdiv(pixels, BLOCK_P),)"
INSIDE = "inside = rows & (at_h >= 0) & (at_h < height) & (at_w >= 0) & (at_w < width)"
LOAD_W = "w = tl.load(w_ptrs[None, :] + w_offs[:, None], mask=inner[:, None] & cols[None, :], other=0.0)"
LOAD_X = "x = tl.load(x_ptrs[:, None] + x_offs[None, :], mask=inside[:, None] & inner[None, :], other=0.0)"
PLANES = "planes = (image * groups + group)[:, None] * features + offs_o[None, :]"
RETURN = "    return out\n"
SHIFT = "down, right = i * dilation, j * dilation"
TOP = "top, left = place // out_w * stride - padding, place % out_w * stride - padding"
W_OFFS = "w_offs = c * stride_wc + i * stride_wr + j * stride_ws"
W_PTRS = "w_ptrs = w_ptr + (group * features + offs_o) * stride_wo"
X_PTRS = "x_ptrs = x_ptr + image.to(tl.int64) * stride_xb + group * channels * stride_xc"

# fmt: off
mistakes = [
    Mistake("rows above and below an image are read",
            {INSIDE: "inside = rows & (at_w >= 0) & (at_w < width)"},
            ("before the start of x", "past the end of x")),
    Mistake("left and right of an image its other rows are read",
            {INSIDE: "inside = rows & (at_h >= 0) & (at_h < height)"},
            ("before the start of x", "past the end of x", "is right")),
    Mistake("rows and columns of the window are swapped",
            {W_OFFS: "w_offs = c * stride_wc + j * stride_wr + i * stride_ws"},
            ("Rows and columns of the window are swapped", "past the end of w")),
    Mistake("the window is flipped",
            {W_OFFS: "w_offs = c * stride_wc + (r - 1 - i) * stride_wr + (s - 1 - j) * stride_ws"},
            "The window is flipped"),
    Mistake("the dilation is ignored", {SHIFT: "down, right = i, j"}, "The dilation is ignored"),
    Mistake("the stride is ignored", {TOP: TOP.replace(" * stride", "")}, "The stride is ignored"),
    Mistake("the padding is ignored", {TOP: TOP.replace(" - padding", "")}, "The padding is ignored"),
    Mistake("every group reads the channels of the first",
            {X_PTRS: "x_ptrs = x_ptr + image.to(tl.int64) * stride_xb"},
            "Every group reads the channels of the first one"),
    Mistake("every group takes the weights of the first",
            {W_PTRS: "w_ptrs = w_ptr + offs_o.to(tl.int64) * stride_wo"},
            "Every group takes the weights of the first one"),
    Mistake("every image is the first one", {X_PTRS: X_PTRS.replace("image.to(tl.int64) * stride_xb + ", "")},
            "Every image of the batch is the first one"),
    Mistake("the bias is not added", {"if bias_ptr is not None:": "if False:"}, "The bias is not added"),
    Mistake("there always is a bias", {"    if bias_ptr is not None:\n": "    if True:\n"},
            "None stands in this line"),
    Mistake("x is not masked along the channels", {LOAD_X: LOAD_X.replace(" & inner[None, :]", "")},
            ("past the end of x", "both sides")),
    Mistake("w is not masked along the channels", {LOAD_W: LOAD_W.replace("inner[:, None] & ", "")},
            ("past the end of w", "both sides")),
    Mistake("the sums of earlier turns are lost", {DOT: 'acc = tl.dot(w, x, input_precision="ieee")'},
            "is right"),
    Mistake("planes of out are taken to be those of one group",
            {PLANES: "planes = image[:, None] * features + offs_o[None, :]"}, ("race", "never written")),
    Mistake("the tiles of one group alone are launched", {GRID: GRID.replace(" * groups", "")},
            "never written"),
    Mistake("x's columns are taken to lie side by side", {"right * stride_xw": "right"},
            "Of the inputs that are not contiguous, some come out wrong", fails="edges"),
    Mistake(
        "torch does the work",
        {RETURN: "    return torch.nn.functional.conv2d(x, w, bias, stride, padding, dilation, groups)\n"},
        # cuDNN rounds fp32 to TF32.
        ("torch", "must be contiguous", "close but not close enough"),
        fails="correct or edges or honest",
    ),
]
