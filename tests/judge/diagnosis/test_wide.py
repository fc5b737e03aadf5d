"""Where some offsets are counted in 64 bits, those that are not are named."""

from __future__ import annotations

from grader.judge.diagnosis.wide import FIRST, advice, all_narrow

SOURCE = """\
@triton.jit
def kernel(x_ptr, y_ptr, n, stride_xm, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    row = pid{row}
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride_xm + offs)
    tl.store(y_ptr + pid * n + offs, x)
"""


def test_a_kernel_that_never_counts_in_64_bits_is_told_where_to_begin() -> None:
    assert advice(SOURCE.format(row=""), 6) == FIRST


def test_what_is_left_in_32_bits_is_named() -> None:
    source = SOURCE.format(row=" + tl.program_id(1).to(tl.int64)")
    assert advice(source, 7).startswith("Counted in int32: pid * n on line 7.")
    assert "pid * n on line 7" in advice(source, 7)
    assert "Counted" not in advice(source, 6)


def test_a_number_that_is_widened_once_it_is_divided_is_no_beginner_s_and_a_divisor_overflows_nothing() -> (
    None
):
    source = SOURCE.format(row=" // (n * stride_xm)").replace("n * stride_xm)", "n * stride_xm).to(tl.int64)")
    assert "program_id" not in advice(source, 6)
    assert "n * stride_xm on" not in advice(source, 6)
    assert "pid * n on line 7" in advice(source, 7)


def test_a_kernel_without_64_bits_is_told_by_its_name() -> None:
    assert all_narrow(SOURCE.format(row=""), 6) == "kernel"
    assert all_narrow(SOURCE.format(row=".to(tl.int64)"), 6) == ""
    assert all_narrow(SOURCE.format(row=""), 99) == ""


def test_where_the_number_that_turned_is_known_no_other_is_named() -> None:
    source = SOURCE.format(row=".to(tl.int64)").replace("+ offs, x)", "+ offs * 2, x)")
    source = source.replace("offs = tl.arange(0, BLOCK)", "offs = n * tl.arange(0, BLOCK)")
    assert "pid * n on line 7 and n * tl.arange(0, BLOCK) on line 5" in advice(source, 7)
    assert advice(source, 7, [7]).startswith("Counted in int32: pid * n on line 7 and offs * 2 on line 7.")
    assert advice(source, 7, [5]).startswith("Counted in int32: n * tl.arange(0, BLOCK) on line 5. Make")
    assert advice(source, 7, [3]).startswith("A number passes 2³¹ in int32 on line 3. Make it int64 before")
