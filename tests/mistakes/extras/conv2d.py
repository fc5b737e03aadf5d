"""Extra: what a convolution gets wrong, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

DOT = 'acc = tl.dot(x, w, acc, input_precision="ieee")'
GRID = "grid = (triton.cdiv(features, BLOCK_O) * groups * triton.cdiv(pixels, BLOCK_P),)"
INSIDE = "inside = rows & (at_h >= 0) & (at_h < height) & (at_w >= 0) & (at_w < width)"
LOAD_W = "w = tl.load(w_ptrs[None, :] + w_offs[:, None], mask=inner[:, None] & cols[None, :], other=0.0)"
LOAD_X = "x = tl.load(x_ptrs[:, None] + x_offs[None, :], mask=inside[:, None] & inner[None, :], other=0.0)"
LOOP = "for turn in range(tl.cdiv(channels, BLOCK_K) * r * s):"
PIXELS = "    pixels = batch * out_h * out_w"
PLANES = "planes = (image * groups + group)[:, None] * features + offs_o[None, :]"
RETURN = "    return out\n"
SHIFT = "down, right = i * dilation, j * dilation"
SIZE = "return (size + 2 * padding - dilation * (window - 1) - 1) // stride + 1"
TOP = "top, left = place // out_w * stride - padding, place % out_w * stride - padding"
W_OFFS = "w_offs = c * stride_wc + i * stride_wr + j * stride_ws"
W_PTRS = "w_ptrs = w_ptr + (group * features + offs_o) * stride_wo"
X_PTRS = "x_ptrs = x_ptr + image.to(tl.int64) * stride_xb + group * channels * stride_xc"

mistakes = [
    Mistake(
        "rows above and below an image are read",
        swap={INSIDE: "inside = rows & (at_w >= 0) & (at_w < width)"},
        fails="correct",
        says=("before the start of x", "past the end of x"),
    ),
    Mistake(
        "left and right of an image its other rows are read",
        swap={INSIDE: "inside = rows & (at_h >= 0) & (at_h < height)"},
        fails="correct",
        says=("before the start of x", "past the end of x", "is right"),
    ),
    Mistake(
        "the edge of the image counts as outside",
        swap={INSIDE: INSIDE.replace("at_h >= 0", "at_h > 0")},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "rows and columns of the window are swapped",
        swap={W_OFFS: "w_offs = c * stride_wc + j * stride_wr + i * stride_ws"},
        fails="correct",
        says=("Rows and columns of the window are swapped", "past the end of w"),
    ),
    Mistake(
        "the window is flipped",
        swap={W_OFFS: "w_offs = c * stride_wc + (r - 1 - i) * stride_wr + (s - 1 - j) * stride_ws"},
        fails="correct",
        says="The window is flipped",
    ),
    Mistake(
        "the dilation is ignored",
        swap={SHIFT: "down, right = i, j"},
        fails="correct",
        says="The dilation is ignored",
    ),
    Mistake(
        "the stride is ignored",
        swap={TOP: TOP.replace(" * stride", "")},
        fails="correct",
        says="The stride is ignored",
    ),
    Mistake(
        "the padding is ignored",
        swap={TOP: TOP.replace(" - padding", "")},
        fails="correct",
        says="The padding is ignored",
    ),
    Mistake(
        "out is as large as without a dilation",
        swap={SIZE: "return (size + 2 * padding - window) // stride + 1"},
        fails="correct",
        says="shape",
    ),
    Mistake(
        "out is padded on one side only",
        swap={SIZE: SIZE.replace("2 * padding", "padding")},
        fails="correct",
        says="shape",
    ),
    Mistake(
        "every group reads the channels of the first",
        swap={X_PTRS: "x_ptrs = x_ptr + image.to(tl.int64) * stride_xb"},
        fails="correct",
        says="Every group reads the channels of the first one",
    ),
    Mistake(
        "every group takes the weights of the first",
        swap={W_PTRS: "w_ptrs = w_ptr + offs_o.to(tl.int64) * stride_wo"},
        fails="correct",
        says="Every group takes the weights of the first one",
    ),
    Mistake(
        "a group begins one channel after the other",
        swap={X_PTRS: X_PTRS.replace("group * channels", "group")},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "every image is the first one",
        swap={X_PTRS: X_PTRS.replace("image.to(tl.int64) * stride_xb + ", "")},
        fails="correct",
        says="Every image of the batch is the first one",
    ),
    Mistake(
        "the bias is not added",
        swap={"if bias_ptr is not None:": "if False:"},
        fails="correct",
        says="The bias is not added",
    ),
    Mistake(
        "there always is a bias",
        swap={"    if bias_ptr is not None:\n": "    if True:\n"},
        fails="correct",
        says="None stands in this line",
    ),
    Mistake(
        "every group has the first group's bias",
        swap={"bias_ptr + group * features + offs_o": "bias_ptr + offs_o"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "x is not masked along the channels",
        swap={LOAD_X: LOAD_X.replace(" & inner[None, :]", "")},
        fails="correct",
        says=("past the end of x", "both sides"),
    ),
    Mistake(
        "w is not masked along the channels",
        swap={LOAD_W: LOAD_W.replace("inner[:, None] & ", "")},
        fails="correct",
        says=("past the end of w", "both sides"),
    ),
    Mistake(
        "the last, partial piece of the channels is left out",
        swap={LOOP: "for turn in range(max(channels // BLOCK_K, 1) * r * s):"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "the sums of earlier turns are lost",
        swap={DOT: 'acc = tl.dot(w, x, input_precision="ieee")'},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "fp32 is left to tl.dot, which cuts it to TF32",
        swap={DOT: "acc = tl.dot(x, w, acc)"},
        fails="correct",
        says="TF32",
    ),
    Mistake(
        "planes of out are taken to be those of one group",
        swap={PLANES: "planes = image[:, None] * features + offs_o[None, :]"},
        fails="correct",
        says=("race", "never written"),
    ),
    Mistake(
        "the tiles of one group alone are launched",
        swap={GRID: GRID.replace(" * groups", "")},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "x's columns are taken to lie side by side",
        swap={"right * stride_xw": "right"},
        fails="edges",
        says="Of the inputs that are not contiguous, some come out wrong",
    ),
    Mistake(
        "the weights are taken to be contiguous",
        swap={W_OFFS: "w_offs = (c * r + i) * s + j"},
        fails="edges",
        says="Of the inputs that are not contiguous, some come out wrong",
    ),
    Mistake(
        "images are counted in 32 bits",
        swap={
            "image.to(tl.int64) * stride_xb": "image * stride_xb",
        },
        fails="limit",
        says="in int32",
    ),
    Mistake(
        "torch copies strided images first",
        swap={PIXELS: f"    x, w = x.contiguous(), w.contiguous()\n{PIXELS}"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "torch does the work",
        swap={
            RETURN: "    return torch.nn.functional.conv2d(x, w, bias, stride, padding, dilation, groups)\n"
        },
        fails="correct or edges or honest",
        # cuDNN rounds fp32 to TF32.
        says=("torch", "must be contiguous", "close but not close enough"),
    ),
]
