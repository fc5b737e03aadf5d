"""`track python` runs a file as Python does, its kernels in the mended interpreter where there is no GPU."""

from __future__ import annotations

from tests.learner import Learner

DOUBLING = """import sys
import torch, triton, triton.language as tl

@triton.jit
def double(x_ptr, N: tl.constexpr):
    offs = tl.arange(0, N)
    tl.store(x_ptr + offs, tl.load(x_ptr + offs) * 2)

x = torch.arange(4, dtype=torch.bfloat16)
double[(1,)](x, N=4)
print(x.tolist(), sys.argv[1:], __name__)
if "--fall" in sys.argv:
    raise ValueError("fell")
"""


def test_a_file_runs_with_its_arguments_and_its_kernels_interpreted(learner: Learner) -> None:
    (learner.folder / "try.py").write_text(DOUBLING)
    answer = learner.types("python", "--cpu", "try.py", "-k", "--size", "3")
    assert answer.code == 0, answer.err
    assert answer.out == "[0.0, 2.0, 4.0, 6.0] ['-k', '--size', '3'] __main__\n"


def test_its_traceback_begins_in_the_file_and_its_exit_code_is_kept(learner: Learner) -> None:
    (learner.folder / "try.py").write_text(DOUBLING)
    answer = learner.types("python", "--cpu", "try.py", "--fall")
    assert answer.code == 1
    told = answer.err[answer.err.index("Traceback") :].splitlines()
    assert "try.py" in told[1]
    assert told[-1] == "ValueError: fell"


def test_a_file_of_the_course_is_found_from_anywhere_and_another_is_missed(learner: Learner) -> None:
    answer = learner.types("python", "--cpu", "examples/train_copy.py", "--help")
    assert answer.code == 0
    assert "--autocast" in answer.out
    missing = learner.types("python", "nope.py")
    assert missing.code == 2
    assert missing.err.splitlines()[0] == "error: There is no file nope.py."
