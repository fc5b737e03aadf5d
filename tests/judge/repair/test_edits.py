"""Each kind of edit is made where a learner's slip needs it, and what is made can be read."""

from __future__ import annotations

import ast

import pytest

from grader.diagnosis.provenance import made_on
from grader.judge.repair.candidates import Candidates
from grader.judge.repair.edits import KINDS

KERNEL = """
@triton.jit
def kernel(x_ptr, y_ptr, n_rows, n_cols, stride_xm, stride_xn, scale, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n_cols
    x_ptrs = x_ptr + pid * stride_xm + offs
    x = tl.load(x_ptrs, mask=mask, other=0.0)
    m = tl.max(x, axis=0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n_rows):
        total += tl.exp(x - m)
    {line}
    tl.store(y_ptr + offs, total, mask=mask)
"""
LOOP = """
@triton.jit
def kernel(x_ptr, y_ptr, n_rows, stride_xm, BLOCK: tl.constexpr):
    x_ptrs = x_ptr + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n_rows, BLOCK):
        {line}
    tl.store(y_ptr + tl.arange(0, BLOCK), total)
"""
SUM = """
@triton.jit
def kernel(x_ptr, y_ptr, n_rows, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n_rows, BLOCK):
        x = tl.load(x_ptr + start + offs)
        m = tl.max(x, axis=0)
        {line}
    tl.store(y_ptr + offs, total)
"""
LAUNCHER = """
def run(x, w):
    m, n = x.shape
    BLOCK_M, BLOCK_N = 16, 32
    y = torch.empty(m, n, dtype=x.dtype)
    {line}
"""
RESTARTED = """p = x_ptr
    for turn in range(0, 2):
        p += BLOCK
    s = 0.0
    p = x_ptr
    for turn in range(0, 2):
        p += BLOCK"""
WRONG = [
    ("mask", KERNEL, "seen = offs < n_rows", "seen = offs < n_cols"),
    ("mask", KERNEL, "seen = offs < n_rows", "seen = (offs < n_rows) & (offs >= 0)"),
    ("mask_and_fill", KERNEL, "s = tl.sum(x, axis=0)", "s = tl.sum(tl.where(mask, x, 0.0), axis=0)"),
    ("reordered", KERNEL, "m = total\n    s = m", "s = m\n    m = total"),
    ("reordered", KERNEL, "s = pid // 2\n    t = pid % 2", "s = pid % 2\n    t = pid // 2"),
    ("other_axis", LAUNCHER, "tiles = triton.cdiv(m, BLOCK_M)", "tiles = triton.cdiv(n, BLOCK_N)"),
    ("grid", LAUNCHER, "kernel[(m, n)](x, y)", "kernel[(m * n,)](x, y)"),
    ("grid", LAUNCHER, "kernel[(m,)](x, y)", "kernel[(m * n,)](x, y)"),
    ("restarted", KERNEL, RESTARTED.replace("    p = x_ptr\n    for", "    for"), RESTARTED),
    ("axis", KERNEL, "s = tl.sum(x, axis=1)", "s = tl.sum(x, axis=0)"),
    ("axis", KERNEL, "s = tl.sum(x)", "s = tl.sum(x, axis=0)"),
    ("broadcast", KERNEL, "s = offs[:, None] * n_cols", "s = offs[None, :] * n_cols"),
    ("fill", KERNEL, "s = tl.load(x_ptr, mask=mask)", "s = tl.load(x_ptr, mask=mask, other=float('inf'))"),
    ("unmasked", KERNEL, "s = tl.load(x_ptr + offs)", "s = tl.load(x_ptr + offs, mask=mask)"),
    ("cast", KERNEL, "s = x.to(tl.float16)", "s = x"),
    ("cast", KERNEL, "s = tl.exp(x)", "s = tl.exp((x).to(tl.float32))"),
    ("loaded", KERNEL, "s = x_ptr + offs", "s = tl.load(x_ptr + offs)"),
    ("bound", KERNEL, "s = sum(1 for _ in range(1, n_rows))", "s = sum(1 for _ in range(0, n_rows))"),
    ("atomic", KERNEL, "tl.store(y_ptr, x)", "tl.atomic_add(y_ptr, x)"),
    ("block_start", KERNEL, "at = tl.arange(0, BLOCK)", "at = pid * BLOCK + tl.arange(0, BLOCK)"),
    ("block_start", KERNEL, "at = pid + tl.arange(0, BLOCK)", "at = pid * BLOCK + tl.arange(0, BLOCK)"),
    ("block_start", KERNEL, "at = tl.program_id(1)", "at = tl.program_id(1) * BLOCK"),
    ("name", KERNEL, "at = pid * stride_xn", "at = pid * stride_xm"),
    ("other_name", KERNEL, "at = pid * stride_xn", "at = pid * n_cols"),
    ("size_of_data", KERNEL, "s = tl.sum(x) / BLOCK", "s = tl.sum(x) / n_cols"),
    ("constant", KERNEL, "at = pid + 1", "at = pid + 0"),
    ("exchanged", KERNEL, "at = pid * stride_xn + stride_xm", "at = pid * stride_xm + stride_xn"),
    ("mask_and_fill", KERNEL, "s = x - m", "s = tl.where(mask, x - m, 0.0)"),
    ("comparison", KERNEL, "live = offs <= n_cols", "live = offs < n_cols"),
    ("operator", KERNEL, "at = pid // n_rows", "at = pid % n_rows"),
    ("operands", KERNEL, "s = m - x", "s = x - m"),
    ("dropped", KERNEL, "s = x * scale", "s = x"),
    ("factor", KERNEL, "s = scale + x", "s = scale + x * scale"),
    ("function", KERNEL, "s = tl.min(x)", "s = tl.max(x)"),
    ("unwrapped", KERNEL, "s = tl.abs(x)", "s = x"),
    ("accumulation", KERNEL, "total = x", "total += x"),
    ("rounded_up", LAUNCHER, "grid = (m // BLOCK_M,)", "grid = (triton.cdiv(m, BLOCK_M),)"),
    ("arguments", LAUNCHER, "run(y, x)", "run(x, y)"),
    ("arguments", LAUNCHER, "run(m, n, x, w)", "run(x, w, m, n)"),
    ("advanced", LOOP, "total += x_ptrs", "total += x_ptrs\n        x_ptrs += BLOCK * stride_xm"),
    ("pair", LAUNCHER, "n, m = w.shape", "m, n = w.shape"),
    ("grid", LAUNCHER, "g = triton.cdiv(m, 16)", "g = triton.cdiv(m, 16) * triton.cdiv(n, BLOCK_N)"),
    ("allocation", LAUNCHER, "z = torch.empty(n, m)", "z = torch.empty_like(x)"),
    ("name", LAUNCHER, "run(w.stride(0))", "run(x.stride(0))"),
    ("constant", LAUNCHER, "run(x.shape[-1])", "run(x.numel())"),
    ("unread", KERNEL, "s = x * 2", "s = x * 2 + scale"),
    ("unread", KERNEL, "at = pid * n_rows", "at = pid * stride_xn"),
    ("step", LOOP, "x_ptrs += BLOCK; n = stride_xm", "x_ptrs += BLOCK * stride_xm; n = stride_xm"),
    ("rescaled", SUM, "total += x", "total = total * m + x"),
    ("flag", LAUNCHER, "run(x, False)", "run(x, True)"),
    ("allocation", LAUNCHER, "z = x", "z = torch.empty_like(x)"),
    ("constant", LAUNCHER, "run(x, BLOCK=64)", "run(x, BLOCK=triton.next_power_of_2(n))"),
    ("returned", LAUNCHER, "return y", "return y, None, None"),
    ("far_name", KERNEL, "s = x * 2", "s = total * 2"),
    ("value_factor", KERNEL, "s = x + m", "s = x * total + m"),
    ("term", KERNEL, "at = pid * BLOCK", "at = (pid + 1) * BLOCK"),
    ("term", KERNEL, "s = tl.log(total)", "s = tl.log(total) + m"),
    ("term", KERNEL, "tl.store(y_ptr, x)", "tl.store(y_ptr + pid, x)"),
    ("term", KERNEL, "tl.store(y_ptr, tl.log(total))", "tl.store(y_ptr, tl.log(total) + m)"),
    ("divided", KERNEL, "at = pid * BLOCK", "at = (pid // n_rows) * BLOCK"),
    ("infinity", KERNEL, "s = tl.where(mask, x, 0.0)", "s = tl.where(mask, x, float('-inf'))"),
    ("offset", KERNEL, "s = tl.load(x_ptr)", "s = tl.load(x_ptr + pid * stride_xm)"),
    ("operands", KERNEL, "at = offs + n_rows - n_cols", "at = offs + n_cols - n_rows"),
    ("returned", LAUNCHER, "y", "return y"),
    ("returned", LAUNCHER, "kernel[(m,)](x, y)", "kernel[(m,)](x, y)\n    return y"),
    ("regrouped", KERNEL, "at = (pid + n_rows) * n_cols", "at = pid + n_rows * n_cols"),
    ("regrouped", KERNEL, "at = x_ptr + pid + n_rows * n_cols", "at = x_ptr + (pid + n_rows) * n_cols"),
    ("regrouped", KERNEL, "at = pid * n_rows + n_cols", "at = pid * (n_rows + n_cols)"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "around", "wrong", "right"), WRONG, ids=[f"{w[0]}: {w[3]}" for w in WRONG])
def test_what_a_slip_needs_is_among_the_edits(kind: str, around: str, wrong: str, right: str) -> None:
    made = [one for one in Candidates(around.format(line=wrong), frozenset()) if one.kind == kind]
    wanted = ast.dump(ast.parse(around.format(line=right)))
    assert any(ast.dump(ast.parse(one.source)) == wanted for one in made)


def test_every_edit_of_kernels_can_be_read_and_says_what_is_wrong() -> None:
    for around in (KERNEL, LAUNCHER):
        source = around.format(line="pass")
        for one in Candidates(source, frozenset()):
            ast.parse(one.source)
            assert one.kind in KINDS
            assert one.source != source


def test_a_load_that_is_forgotten_is_looked_for_where_the_file_does_not_compile() -> None:
    source = KERNEL.format(line="s = x_ptr + offs")
    assert "loaded" in {one.kind for one in Candidates(source, frozenset())}
    assert "loaded" not in {one.kind for one in Candidates(source, frozenset(), compiles=True)}


def test_lines_that_are_handed_out_are_not_edited() -> None:
    source = KERNEL.format(line="s = tl.sum(x, axis=1)")
    line = source[: source.index("tl.sum")].count("\n") + 1
    kept = frozenset(range(1, source.count("\n") + 2)) - {line}
    assert {one.line for one in Candidates(source, kept)} == {line}


def test_lines_that_the_diagnosis_names_come_first_then_those_behind_them() -> None:
    source = KERNEL.format(line="tl.store(y_ptr, x)")
    near = source[: source.index("tl.store(y_ptr, x)")].count("\n") + 1
    made = Candidates(
        source,
        frozenset(),
        frozenset({near}),
        behind=frozenset(made_on(frozenset({near}), ast.parse(source))),
    )
    loads = source[: source.index("tl.load")].count("\n") + 1
    total = source[: source.index("total =")].count("\n") + 1
    assert made.weight(near) > made.weight(loads) > made.weight(total)
    assert next(one for one in made if one.kind == "unmasked").line == near


def test_lines_that_only_wrong_results_are_made_from_come_before_others() -> None:
    source = KERNEL.format(line="pass")
    loads = source[: source.index("tl.load")].count("\n") + 1
    made = Candidates(source, frozenset(), alone=frozenset({loads}))
    assert made.weight(loads) > made.weight(loads + 1)


def test_arguments_that_change_over_are_named_from_the_first_line_to_the_last() -> None:
    source = LAUNCHER.format(line="run(\n        m,\n        n,\n        x,\n        w,\n    )")
    turned = source.replace("m,\n        n,\n        x,\n        w", "x, w, m, n")
    made = [one for one in Candidates(source, frozenset()) if one.kind == "arguments"]
    (one,) = [one for one in made if ast.dump(ast.parse(one.source)) == ast.dump(ast.parse(turned))]
    first = source[: source.index("        m,")].count("\n") + 1
    assert (one.line, one.last) == (first, first + 3)
