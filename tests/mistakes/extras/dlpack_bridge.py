"""Extra: what goes wrong between two libraries, and what the grader must say about it."""

from tools.planted import Mistake

COLS = "cols = pid % n_blocks * BLOCK + tl.arange(0, BLOCK)"
FLAT = "    if all(tensor.is_contiguous() for tensor in tensors):\n"
FROM = "tensors.append(torch.from_dlpack(array))"
GRID = "grid = (n_rows * triton.cdiv(n_cols, BLOCK),)"
OUT = "out = torch.empty(x.shape, dtype=x.dtype, device=x.device)"
ROWS = "    tensors = [tensor if tensor.dim() == 2 else tensor.unsqueeze(0) for tensor in tensors]\n"
STORE = "tl.store(out_ptr + row * n_cols + cols, x + alpha * y, mask=mask)"
STRIDES = "*x.stride(), *y.stride(), BLOCK"
VIEW = "tensor.view(1, -1) for"

# fmt: off
mistakes = [
    Mistake("what comes in is copied", {FROM: FROM.replace("(array)", "(array).clone()")}, "clone",
            fails="honest"),
    Mistake("what comes in is made contiguous", {FROM: FROM.replace("(array)", "(array).contiguous()")},
            "needs no copy that is contiguous", fails="honest"),
    Mistake("rows are flattened by a reshape that copies",
            {FLAT: "", "        tensors = [tensor.view(1, -1)": "    tensors = [tensor.reshape(1, -1)"},
            "copied", fails="honest"),
    Mistake("the way leads through NumPy, and a copy",
            {FROM: FROM.replace("torch.from_dlpack(array)", "torch.tensor(np.from_dlpack(array))"),
             "import torch\n": "import numpy as np\nimport torch\n"}, "Unsupported dtype in DLTensor",
            fails="correct or honest", on_gpu="Unsupported device in DLTensor"),
    Mistake("a capsule is taken twice",
            {FROM: ("capsule = array.__dlpack__()\n" "        assert torch.from_dlpack(capsule).dim() < 3\n"
             "        tensors.append(torch.from_dlpack(capsule))")}, "consumed only once"),
    Mistake("an exporter is taken for a tensor", {FROM: "tensors.append(array)"}, "no attribute 'shape'"),
    Mistake("the result is written into the exporter's memory", {OUT: "out = x"},
            "lies in the memory of the input x"),
    Mistake("strides are lost", {STRIDES: "n_cols, 1, n_cols, 1, BLOCK"},
            "Only contiguous inputs come out right"),
    Mistake("rows and columns are swapped in x", {STRIDES: "*x.stride()[::-1], *y.stride(), BLOCK"},
            "past the end of x"),
    Mistake("x alone is asked whether it is contiguous",
            {FLAT: "    if tensors[0].is_contiguous():\n",
             VIEW: "tensor.as_strided((1, tensor.numel()), (tensor.numel(), 1)) for"},
            "out of bounds for storage"),
    Mistake("one dimension is left as it is", {ROWS: ""}, "not enough values to unpack"),
    Mistake("programs for one row alone", {GRID: "grid = (triton.cdiv(n_cols, BLOCK),)"}, "one program ran"),
    Mistake("only whole blocks of columns are launched",
            {GRID: "grid = (n_rows * (n_cols // BLOCK),)",
             "n_blocks = tl.cdiv(n_cols, BLOCK)": "n_blocks = n_cols // BLOCK"}, "Round up"),
    Mistake("rows are counted in elements", {COLS: COLS.replace("pid % n_blocks", "pid")},
            "Rows from 1 on were never written"),
    Mistake("no mask", {"mask = cols < n_cols": "mask = cols >= 0"}, "mask"),
    Mistake("alpha is left out", {STORE: STORE.replace("alpha * y", "y")}, "alpha is left out"),
    Mistake("alpha goes with x", {STORE: STORE.replace("x + alpha * y", "alpha * x + y")},
            "alpha goes with y"),
]
