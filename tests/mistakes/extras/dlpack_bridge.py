"""Extra: what goes wrong between two libraries, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

COLS = "cols = pid % n_blocks * BLOCK + tl.arange(0, BLOCK)"
FLAT = "    if all(tensor.is_contiguous() for tensor in tensors):\n"
FROM = "tensors.append(torch.from_dlpack(array))"
GRID = "grid = (n_rows * triton.cdiv(n_cols, BLOCK),)"
OUT = "out = torch.empty(x.shape, dtype=x.dtype, device=x.device)"
ROWS = "    tensors = [tensor if tensor.dim() == 2 else tensor.unsqueeze(0) for tensor in tensors]\n"
STORE = "tl.store(out_ptr + row * n_cols + cols, x + alpha * y, mask=mask)"
STRIDES = "*x.stride(), *y.stride(), BLOCK"
TENSORS = "x, y = as_tensors(x, y)"
VIEW = "tensor.view(1, -1) for"

mistakes = [
    Mistake(
        "what comes in is copied",
        swap={FROM: FROM.replace("(array)", "(array).clone()")},
        fails="honest",
        says="clone",
    ),
    Mistake(
        "what comes in is made contiguous",
        swap={FROM: FROM.replace("(array)", "(array).contiguous()")},
        fails="honest",
        says="needs no copy that is contiguous",
    ),
    Mistake(
        "rows are flattened by a reshape that copies",
        swap={FLAT: "", "        tensors = [tensor.view(1, -1)": "    tensors = [tensor.reshape(1, -1)"},
        fails="honest",
        says="copied",
    ),
    Mistake(
        "the way leads through NumPy, and a copy",
        swap={
            FROM: FROM.replace("torch.from_dlpack(array)", "torch.tensor(np.from_dlpack(array))"),
            "import torch\n": "import numpy as np\nimport torch\n",
        },
        fails="correct or honest",
        says="Unsupported dtype in DLTensor",
        on_gpu="Unsupported device in DLTensor",
    ),
    Mistake(
        "a capsule is taken twice",
        swap={
            FROM: (
                "capsule = array.__dlpack__()\n"
                "        assert torch.from_dlpack(capsule).dim() < 3\n"
                "        tensors.append(torch.from_dlpack(capsule))"
            )
        },
        fails="correct",
        says="consumed only once",
    ),
    Mistake(
        "an exporter is taken for a tensor",
        swap={FROM: "tensors.append(array)"},
        fails="correct",
        says="no attribute 'shape'",
    ),
    Mistake(
        "the result is written into the exporter's memory",
        swap={OUT: "out = x"},
        fails="correct",
        says="lies in the memory of the input x",
    ),
    Mistake(
        "strides are lost",
        swap={STRIDES: "n_cols, 1, n_cols, 1, BLOCK"},
        fails="correct",
        says="Only contiguous inputs come out right",
    ),
    Mistake(
        "y is read by the strides of x",
        swap={STRIDES: "*x.stride(), *x.stride(), BLOCK"},
        fails="correct",
        says="Only contiguous inputs come out right",
    ),
    Mistake(
        "rows and columns are swapped in x",
        swap={STRIDES: "*x.stride()[::-1], *y.stride(), BLOCK"},
        fails="correct",
        says="past the end of x",
    ),
    Mistake(
        "x alone is asked whether it is contiguous",
        swap={
            FLAT: "    if tensors[0].is_contiguous():\n",
            VIEW: "tensor.as_strided((1, tensor.numel()), (tensor.numel(), 1)) for",
        },
        fails="correct",
        says="out of bounds for storage",
    ),
    Mistake(
        "one dimension is left as it is",
        swap={ROWS: ""},
        fails="correct",
        says="not enough values to unpack",
    ),
    Mistake(
        "programs for one row alone",
        swap={GRID: "grid = (triton.cdiv(n_cols, BLOCK),)"},
        fails="correct",
        says="one program ran",
    ),
    Mistake(
        "only whole blocks of columns are launched",
        swap={
            GRID: "grid = (n_rows * (n_cols // BLOCK),)",
            "n_blocks = tl.cdiv(n_cols, BLOCK)": "n_blocks = n_cols // BLOCK",
        },
        fails="correct",
        says="Round up",
    ),
    Mistake(
        "rows are counted in elements",
        swap={COLS: COLS.replace("pid % n_blocks", "pid")},
        fails="correct",
        says="Rows from 1 on were never written",
    ),
    Mistake(
        "no mask",
        swap={"mask = cols < n_cols": "mask = cols >= 0"},
        fails="correct",
        says="mask",
    ),
    Mistake(
        "alpha is left out",
        swap={STORE: STORE.replace("alpha * y", "y")},
        fails="correct",
        says="alpha is left out",
    ),
    Mistake(
        "alpha goes with x",
        swap={STORE: STORE.replace("x + alpha * y", "alpha * x + y")},
        fails="correct",
        says="alpha goes with y",
    ),
]
