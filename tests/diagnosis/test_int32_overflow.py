"""What passes 2³¹ in int32 is told with the line on which it did."""

from __future__ import annotations

from grader.diagnosis.int32_overflow import FIRST, advice, all_narrow, in_int32

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
    assert advice(SOURCE.format(row="")) == advice(SOURCE.format(row=""), [6]) == FIRST


def test_where_some_offsets_are_counted_in_64_bits_the_line_of_the_others_is_told() -> None:
    source = SOURCE.format(row=".to(tl.int64)")
    assert advice(source, [7, 3]).startswith("A number passes 2³¹ in int32 on lines 3 and 7. Make it int64")
    assert advice(source).startswith("Make every offset int64")


def test_in_short_a_product_is_named_where_it_alone_stands_on_the_line() -> None:
    source = SOURCE.format(row="")
    assert in_int32(source, 6, [7]) == "line 7 counts pid * n in int32"
    assert in_int32(source, 6, [6, 7]) == "lines 6 and 7 count an offset in int32"
    assert in_int32(source, 6, []) == "line 6 counts an offset in int32"


def test_a_kernel_without_64_bits_is_told_by_its_name() -> None:
    assert all_narrow(SOURCE.format(row=""), 6) == "kernel"
    assert all_narrow(SOURCE.format(row=".to(tl.int64)"), 6) == ""
    assert all_narrow(SOURCE.format(row=""), 99) == ""
