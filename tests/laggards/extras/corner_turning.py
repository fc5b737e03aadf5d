"""Extra: right products whose compiler is not told how the matrices lie, or whose operands become fp32."""

from tools.planted import Laggard

STRIDES = '["stride_am", "stride_ak", "stride_bn", "stride_bk"]'

laggards = [
    # A stride that is only known at run time may be anything: each thread loads 2 bytes at a time, where it
    # could load 16, and no copy to shared memory runs ahead, for such a copy moves 4 at least.
    Laggard(
        "do_not_specialize hides the strides of 1",
        swap={
            "@triton.jit\ndef matmul_nt_kernel": f"@triton.jit(do_not_specialize={STRIDES})\n"
            "def matmul_nt_kernel"
        },
        unseen="the same sectors are asked for; that nothing of them is on its way ahead only a GPU tells",
    ),
    # 68.7 G products, each an instruction of its own in one of 32 lanes.
    Laggard(
        "both tiles are converted to fp32 before the dot",
        swap={
            "return 128, 128, 64": "return 64, 64, 32",
            "num_warps=4": "num_warps=8",
            "tl.dot(a, tl.trans(b), acc)": (
                'tl.dot(a.to(tl.float32), tl.trans(b.to(tl.float32)), acc, input_precision="ieee")'
            ),
        },
    ),
]
