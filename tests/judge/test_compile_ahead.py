"""What a runner on a GPU would compile is compiled before it asks: under the very names it looks for."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from grader.challenge import Case, Challenge, Gradients
from grader.judge import compile_ahead
from grader.judge.compile_ahead import Ahead
from grader.request import CACHE
from tests.kernel import fresh

HIDDEN = """
import torch
from grader.challenge import *
challenge = Challenge("f", lambda case, draw: (draw(case.n),), lambda x: x, [
    Case(n=16), Case(n=17), Case(n=16, dtype=torch.float16), Case(n=16, layout="offset"),
])
"""
TILES = """
import triton
import triton.language as tl
FACTOR = tl.constexpr(2.0)

@triton.jit
def scaled(x):
    return x * FACTOR
"""
HEAD = """
import torch
import triton
import triton.language as tl
from tiles import scaled

ONE = tl.constexpr(1.0)

"""
PLAIN = """
@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(y_ptr + offs, scaled(tl.load(x_ptr + offs, mask=offs < n)) + ONE, mask=offs < n)


@triton.jit
def other_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(y_ptr + offs, ONE + scaled(tl.load(x_ptr + offs, mask=offs < n)), mask=offs < n)


def f(x):
    y = torch.empty_like(x)
    kernel[(1,)](x, y, len(x), BLOCK=32, num_warps=2)
    other_kernel[(1,)](x, y, len(x), BLOCK=64 if x.is_cuda else 16)
    return y
"""
PROBED = """
import torch
from grader.challenge import *
challenge = Challenge(
    "f", lambda case, draw: (case.m, case.n, case.rows), lambda *_: 0,
    [Case(m=1, n=1, rows=1), Case(m=5, n=3, rows=2), Case(m=5, n=3, rows=4), Case(m=7, n=3, rows=4)],
    probe="tile_map",
)
"""
TILE = """
@triton.jit
def f(pid, num_pid_m, num_pid_n, GROUP_M: tl.constexpr):
    return scaled(pid // num_pid_n), pid % GROUP_M
"""
TUNED = """
@triton.autotune([triton.Config({"BLOCK": 32}), triton.Config({"BLOCK": 64}, num_warps=2)], key=["n"])
@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(y_ptr + offs, tl.load(x_ptr + offs, mask=offs < n) + ONE, mask=offs < n)


def f(x):
    y = torch.empty_like(x)
    kernel[(1,)](x, y, len(x))
    return y
"""
STUMBLES = """
@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(y_ptr + offs, tl.load(x_ptr + offs, mask=offs < n) + ONE, mask=offs < n)


def f(x):
    y = torch.empty_like(x)
    kernel[(1,)](x, y, len(x), BLOCK=32)
    name = kernel[(1,)](x, y, len(x), BLOCK=64).hash
    kernel[(1,)](x, y, len(x), BLOCK=128)
    return y, name
"""


def compiled(
    tmp_path: Path, kernel: str, cache: str = "cache", cores: int = 2, hidden_tests: str = HIDDEN
) -> list[int]:
    """Recipes, kernels compiled ahead, and kernels in the cache after all launches of all cases."""
    (tmp_path / cache).mkdir(parents=True)
    (tmp_path / "day").mkdir()
    (tmp_path / "provided").mkdir()
    (tmp_path / "provided" / "tiles.py").write_text(TILES)
    hidden, path = tmp_path / "day" / "hidden_tests.py", tmp_path / "kernel.py"
    hidden.write_text(hidden_tests)
    path.write_text(HEAD + kernel)
    words = (hidden, path, tmp_path / "provided", tmp_path / cache, str(cores))
    where = str(tmp_path / cache)
    found: list[int] = fresh.module("tests.judge.parent_without_gpu", *words, TRITON_CACHE_DIR=where)
    return found


@pytest.mark.every_triton
def test_all_that_is_launched_is_compiled_ahead(tmp_path: Path) -> None:
    assert compiled(tmp_path, PLAIN) == [8, 8, 8], "two kernels, four ways to specialise each"


def test_confined_code_compiles_for_the_other_processes_of_its_grading(tmp_path: Path) -> None:
    assert compiled(tmp_path, PLAIN, cache=f"scratch/{CACHE}") == [8, 8, 8]


@pytest.mark.every_triton
def test_so_is_the_kernel_of_ours_that_calls_a_device_function(tmp_path: Path) -> None:
    assert compiled(tmp_path, TILE, hidden_tests=PROBED) == [3, 3, 3], "sizes of 5 and 7 are alike"


def test_so_are_the_configs_of_an_autotuner(tmp_path: Path) -> None:
    assert compiled(tmp_path, TUNED) == [7, 7, 7], "two configs; the last case has the key of the first"


def test_with_cores_for_it_the_config_of_a_known_key_is_compiled_for_other_arguments_whichever_it_is(
    tmp_path: Path,
) -> None:
    assert compiled(tmp_path, TUNED, cores=4) == [8, 8, 8]


def test_where_a_launcher_stumbles_over_what_is_not_there_the_rest_is_left_to_the_runner(
    tmp_path: Path,
) -> None:
    assert compiled(tmp_path, STUMBLES) == [8, 8, 12], "nothing was compiled that could have a hash"


def test_a_case_waits_for_those_whose_forward_pass_comes_before_its_backward_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cases = [Case(n=4, calls=2), Case(n=5), Case(n=4)]
    challenge = Challenge("f", lambda case, draw: (), lambda x: x, cases, gradients=Gradients((0,), len))
    begun: Any = Ahead.__new__(Ahead)
    compiling = {case.id: Future[bool]() for case in cases}
    begun.surveyed = {f"f {case.id}": Future() for case in cases}
    for case in cases:
        begun.surveyed[f"f {case.id}"].set_result([compiling[case.id]])
    waited: list[list[Future[bool]]] = []
    monkeypatch.setattr(
        compile_ahead, "wait", lambda futures, _: (waited.append(list(futures)) or futures, ())
    )
    for case in cases[:2]:
        begun.wait(challenge, case)
    assert waited[1::2] == [[compiling[case.id] for case in cases[:2]], [compiling[cases[1].id]]]
