"""`track python` runs a file as Python does, its kernels as in a grading where there is no GPU."""

from __future__ import annotations

import hashlib

from grader.course import catalog
from grader.course.learner import journal
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


def test_a_file_runs_with_its_arguments_and_its_traceback_begins_in_it(learner: Learner) -> None:
    (learner.folder / "try.py").write_text(DOUBLING)
    answer = learner.starts("python", "--cpu", "try.py", "-k", "--fall")
    assert answer.out == "[0.0, 2.0, 4.0, 6.0] ['-k', '--fall'] __main__\n"
    assert answer.code == 1
    told = answer.err[answer.err.index("Traceback") :].splitlines()
    assert "try.py" in told[1]
    assert told[-1] == "ValueError: fell"


def test_with_interpret_a_kernel_runs_line_by_line_and_may_print(learner: Learner) -> None:
    printing = DOUBLING.replace("    tl.store", "    print(offs)\n    tl.store").replace(
        "bfloat16", "float32"
    )
    (learner.folder / "try.py").write_text(printing)
    answer = learner.starts("python", "--interpret", "try.py")
    assert answer.code == 0, answer.err
    assert answer.out == "[0 1 2 3]\n[0.0, 2.0, 4.0, 6.0] [] __main__\n"
    assert answer.err == "kernels run in Triton's interpreter, where bf16 may be wrong or fail\n"
    refused = learner.starts("python", "--cpu", "try.py")
    assert refused.code == 1
    assert "int32[constexpr[4]] is not string" in refused.err


def test_a_file_of_the_course_is_found_from_anywhere_and_another_is_missed(learner: Learner) -> None:
    answer = learner.starts("python", "--cpu", "examples/train_copy.py", "--help")
    assert answer.code == 0
    assert "--autocast" in answer.out
    missing = learner.starts("python", "nope.py")
    assert missing.code == 2
    assert missing.err.splitlines()[0] == "error: There is no file nope.py."


USES = """from mine import add
import torch
print(add(torch.arange(3.0), torch.arange(3.0)).tolist())
"""


def test_it_imports_kernels_of_earlier_days_as_a_grading_does(learner: Learner) -> None:
    day = catalog.find("8")
    (learner.folder / "try.py").write_text(USES)
    answer = learner.starts("python", "--cpu", "try.py")
    assert answer.out == "[0.0, 2.0, 4.0]\n", answer.err
    assert answer.err == "add of day 8: ours; yours is taken once it has passed as it stands\n"
    kernel = learner.kernel(day.stem)
    kernel.parent.mkdir(parents=True)
    learner.journal.parent.mkdir()
    own = day.solution.read_text(encoding="utf-8") + "\nprint('mine')\n"
    kernel.write_text(own, encoding="utf-8")
    sha256 = hashlib.sha256(own.encode()).hexdigest()
    journal.append(learner.journal, "graded", 8, status="passed", sha256=sha256)
    answer = learner.starts("python", "--cpu", "try.py")
    assert (answer.out, answer.err) == ("mine\n[0.0, 2.0, 4.0]\n", "add of day 8: yours\n")


def test_what_no_earlier_day_asks_for_is_not_there(learner: Learner) -> None:
    folder = learner.home / "self_attention"
    folder.mkdir(parents=True)
    (learner.home / ".track").mkdir()
    (folder / "try.py").write_text("from mine import self_attention\n")
    answer = learner.starts("python", "--cpu", str(folder / "try.py"))
    assert answer.code == 1
    assert "cannot import name 'self_attention' from 'mine'" in answer.err.splitlines()[-1]
