"""Only the old x is kept in registers: y's values pass through, 16 at a time in a loop."""

import triton
import triton.language as tl


@triton.jit
def turn(first, second, count, STEP: tl.constexpr):
    for start in range(0, count, STEP):
        lane = start + tl.arange(0, STEP)
        kept = tl.load(first + lane, mask=lane < count)
        tl.store(first + lane, tl.load(second + lane, mask=lane < count), mask=lane < count)
        tl.store(second + lane, kept, mask=lane < count)


def swap(x, y):
    turn[(1,)](x, y, x.shape[0], STEP=min(512, x.shape[0]))
