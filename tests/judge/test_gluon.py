"""Kernels that a GPU alone can run are compiled without one, and nothing is claimed of their values."""

from __future__ import annotations

import pytest

from grader.course import catalog
from grader.errors import TrackError
from grader.judge.main import UNSEEN
from tests.conftest import Grade
from tests.kernel.fresh import printed

DAY = catalog.find("gluon_transpose")
SOURCE = DAY.solution.read_text(encoding="utf-8")


def test_what_compiles_is_neither_passed_nor_failed_and_is_worth_nothing(graded: Grade) -> None:
    verdict = graded(DAY.key, SOURCE)
    assert (verdict.status, verdict.diagnosis, verdict.score()) == ("inconclusive", UNSEEN, 0.0)
    told = {check.name: check.outcome for check in verdict.checks}
    assert told.pop("honest") == told.pop("memory") == told.pop("fast") == "not measured"
    assert set(told.values()) == {"passed"}
    assert "compiles[targets]" in told
    assert not any(check.group in ("correct", "edges") for check in verdict.checks)


def test_what_does_not_compile_fails(graded: Grade) -> None:
    source = SOURCE.replace("    x = gl.convert_layout(x, WRITE)\n", "")
    verdict = graded(DAY.key, source)
    assert verdict.status == "failed"
    assert "ayout" in verdict.diagnosis
    at = next(n for n, line in enumerate(source.splitlines(), 1) if "gl.store" in line)
    assert verdict.look_at == f"line {at}"


def test_a_case_by_name_cannot_be_tried_here(graded: Grade) -> None:
    with pytest.raises(TrackError, match="every case needs a GPU"):
        graded(DAY.key, SOURCE, only="m=64")


LAUNCHED = """
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

@gluon.jit
def kernel(x_ptr):
    gl.store(x_ptr, 1.0)

try:
    kernel[(1,)](torch.zeros(1))
except RuntimeError as error:
    print(error)
"""


def test_a_launch_without_a_gpu_says_what_is_missing() -> None:
    assert printed(LAUNCHED) == "kernel is in Gluon, and runs on a GPU alone\n"


DESCRIBED = """
from types import SimpleNamespace
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor
from grader.performance.compiler.recipe import read, written

parent = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
shared = gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16)
x = TensorDescriptor.from_tensor(torch.zeros(128, 64, dtype=torch.float16), [64, 64], shared)
given = {"x": x, "layout": gl.SliceLayout(1, parent)}
recipe = json.loads(json.dumps(written(kernel.fn, given, {})))
back = read(recipe, None)
print(back["layout"] == given["layout"], back["x"].layout == shared, back["x"].block_shape)
"""


def test_a_layout_is_written_into_a_recipe_and_read_back() -> None:
    assert printed("import json\n" + LAUNCHED + DESCRIBED).splitlines()[-1] == "True True [64, 64]"
