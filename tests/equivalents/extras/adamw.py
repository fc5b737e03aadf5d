"""Mutants of AdamW that live, and why."""

from tools.planted import Equivalent

MASKED = "masked lanes are computed and not stored"
PROMOTED = "the numbers that it is multiplied with are fp32, and promote it"


def _loads(name: str, vector: str, cast: str = "") -> tuple[Equivalent, ...]:
    """Of one of the four loads: another `other=`, and no cast, where there is one."""
    line = f"{name} = tl.load({vector}_ptr + offs, mask=mask, other=0.0)"
    infinite = line.replace("0.0", "-float('inf')")
    found = (Equivalent("solution:adamw_kernel", line + cast, infinite + cast, MASKED),)
    return found + ((Equivalent("solution:adamw_kernel", line + cast, line, PROMOTED),) if cast else ())


equivalents = [
    *_loads("p", "param", ".to(tl.float32)"),
    *_loads("g", "grad", ".to(tl.float32)"),
    *_loads("m", "exp_avg"),
    *_loads("v", "exp_avg_sq"),
]
