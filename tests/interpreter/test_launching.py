"""A launch in the interpreter is handed to whoever asked for it, who runs it, or some of it, or nothing."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import grader
from grader.interpreter.private import NAMES
from tests.interpreter.fresh import interpreted

SETUP = """
from grader.interpreter import whereabouts
from grader.interpreter.launching import handed_to, speaking

@triton.jit
def visit(out_ptr, turn, BLOCK: tl.constexpr = 1):
    pid = tl.program_id(0) * tl.num_programs(1) + tl.program_id(1)
    for _ in tl.range(turn):
        tl.store(out_ptr + pid + tl.arange(0, BLOCK), 7)

class Anything:
    def allows(self, access):
        return True

repairs.install()
order.install()
proxy.install()
out = torch.zeros(6, dtype=torch.int32)
"""


@pytest.mark.every_triton
def test_a_grid_is_handed_what_the_launcher_gave_as_on_a_gpu() -> None:
    printed = interpreted(
        SETUP
        + """
def grid(meta):
    print(type(meta["turn"]).__name__, meta["BLOCK"], meta["out_ptr"].numel())
    return (meta["turn"], 1)

with handed_to(lambda launch: launch.run(Anything())):
    launch = visit[grid]
    launch(out, turn=2)
    launch(out, 3, BLOCK=2)
with handed_to(lambda launch: launch.sample(Anything(), lambda whole, program: print(whole))):
    launch(out, 4)
"""
    )
    assert printed.splitlines() == ["int 1 6", "int 2 6", "int 1 6", "(4, 1, 1)"]


@pytest.mark.every_triton
def test_a_launch_is_run_by_whom_it_is_handed_to_and_not_otherwise() -> None:
    printed = interpreted(
        SETUP
        + """
def take(launch):
    named = launch.named()
    print(launch.kernel.__name__, list(named), named["turn"], named["BLOCK"], launch.options["num_warps"])
    if runs:
        launch.run(Anything())
        print(whereabouts.grid())

for runs in (False, True):
    with handed_to(take):
        visit[lambda meta: (2, 3)](out, turn=1, num_warps=2)
    print(out.tolist())
out.zero_()
visit[(1,)](out, 1)
print(out.tolist())
"""
    )
    told = "visit ['out_ptr', 'turn', 'BLOCK'] 1 1 2"
    assert printed.splitlines() == [
        told, "[0, 0, 0, 0, 0, 0]",
        told, "(2, 3, 1)", "[7, 7, 7, 7, 7, 7]",
        "[7, 0, 0, 0, 0, 0]",
    ]  # fmt: skip


@pytest.mark.every_triton
def test_of_a_sample_the_chosen_programs_run_and_no_other_though_grids_are_shuffled() -> None:
    printed = interpreted(
        SETUP
        + """
def choose(grid, program):
    print(grid)
    program((0, 1, 0))
    program((1, 2, 0))
    print(whereabouts.program(), whereabouts.number())

order.shuffle(5)
launcher = visit[(2, 3)]
with handed_to(lambda launch: launch.sample(Anything(), choose)):
    launcher(out, 1)
    launcher(out, 1)  # a launcher that is used again still has its grid
print(out.tolist())
launcher(out, 1)
print(out.tolist())
"""
    )
    assert printed.splitlines() == [
        *(2 * ["(2, 3, 1)", "(1, 2, 0) 5"]),
        "[0, 7, 0, 0, 0, 7]",
        "[7, 7, 7, 7, 7, 7]",
    ]


@pytest.mark.every_triton
def test_a_sample_copies_no_tensor_and_may_be_ended_by_an_error() -> None:
    printed = interpreted(
        SETUP
        + """
from triton.runtime import interpreter
copied, executor = [], interpreter.GridExecutor

def noted(name, stock):
    return lambda *args: copied.append(name) or stock(*args)

for name in ("_init_args_hst", "_restore_args_dev"):
    setattr(executor, name, noted(name, getattr(executor, name)))

def choose(grid, program):
    raise KeyError("enough")

try:
    with handed_to(lambda launch: launch.sample(Anything(), choose)):
        visit[(6,)](out, 1)
except KeyError as error:
    print(error, copied)
visit[(6,)](out, 1)
print(out.tolist(), copied)
"""
    )
    assert printed.splitlines() == ["'enough' []", f"{[7] * 6} ['_init_args_hst', '_restore_args_dev']"]


@pytest.mark.every_triton
def test_a_kernel_may_be_given_another_word_for_a_while() -> None:
    printed = interpreted(
        SETUP
        + """
with speaking(range=lambda *_: ()):
    visit[(6,)](out, 3)
print(out.sum().item())
visit[(6,)](out, 3)
print(out.sum().item())
"""
    )
    assert printed.splitlines() == ["0", "42"]


def test_what_we_take_of_tritons_interpreter_is_listed_so_that_its_loss_is_noticed() -> None:
    listed = {name.split(".")[0] for name in NAMES["triton.runtime.interpreter"]}
    taken = {
        node.attr: path.name
        for path in Path(grader.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        if node.value.id == "interpreter"
    }
    assert not {name: file for name, file in taken.items() if name not in listed}
