"""What only a GPU computes is no fault of the file's, and no pass: nobody knows whether it is right."""

from __future__ import annotations

from tests.judge.checks.test_compiles import HIDDEN, LAUNCH, source
from tests.made_up_day import Judged

ASM = "tl.inline_asm_elementwise('mov.b32 $0, $1;', '=r,r', [x], tl.float32, True, 1)"
SAYS = "Not measured here: line 12 needs a GPU (inline assembly is not evaluated)."


def test_inline_assembly_is_neither_passed_nor_failed(judged: Judged) -> None:
    verdict = judged(HIDDEN, source(f"    y = 2 * {ASM}"))
    assert (verdict.status, verdict.diagnosis, verdict.look_at) == ("inconclusive", SAYS, "line 12")
    assert verdict.score() == 0.0


def test_where_another_case_is_wrong_that_is_told(judged: Judged) -> None:
    launch = LAUNCH.replace("BLOCK=64", "BLOCK=64 if x.numel() < 99 else 128")
    asm = f"    y = 3 * x\n    if BLOCK == 128:\n        y = 2 * {ASM}"
    verdict = judged(HIDDEN, source(asm, launch=launch))
    assert verdict.status == "failed"
    assert "Not measured" not in verdict.diagnosis
