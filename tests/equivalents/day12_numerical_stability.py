"""Mutants of day 12 that live, and why."""

from tools.planted import Equivalent

equivalents = [
    Equivalent(
        "solution:logsumexp_kernel",
        "m_i = tl.maximum(m_i, x.to(tl.float32))",
        "m_i = tl.maximum(m_i, x)",
        "fp32 on the other side promotes it: m_i and shift are",
    ),
    Equivalent(
        "solution:logsumexp_kernel",
        'shift = tl.where(tl.abs(m) == float("inf"), 0.0, m)',
        'shift = tl.where(tl.abs(m) == float("inf"), 1.0, m)',
        "inf and -inf stay what they are, shifted by 1 or not",
    ),
    Equivalent(
        "solution:logsumexp_kernel",
        "l_i += tl.exp(x.to(tl.float32) - shift)",
        "l_i += tl.exp(x - shift)",
        "fp32 on the other side promotes it: m_i and shift are",
    ),
]
