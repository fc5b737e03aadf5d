"""How many programs an SM holds, and how a learner may have counted instead."""

from __future__ import annotations

from collections.abc import Callable

UNLIMITED = 1 << 30


def shares(
    registers: int,
    shared: int,
    num_warps: int,
    max_warps: int,
    max_programs: int,
    sm_registers: int,
    sm_shared: int,
    reserved: int,
) -> dict[str, int]:
    """For how many programs each thing that an SM has is enough."""
    of_a_warp = -(-32 * registers // 256) * 256
    return {
        "warps": max_warps // num_warps,
        "programs": max_programs,
        "registers": sm_registers // (num_warps * of_a_warp),
        "shared": sm_shared // (shared + reserved) if shared + reserved else UNLIMITED,
    }


def resident(*given: int) -> int:
    return min(shares(*given).values())


def without(what: str) -> Callable[..., int]:
    """Someone who does not count one thing."""
    return lambda *given: min(share for name, share in shares(*given).items() if name != what)


def other(what: str, share: Callable[..., int]) -> Callable[..., int]:
    """Someone who counts one thing otherwise."""
    return lambda *given: min({**shares(*given), what: share(*given)}.values())


SUSPECTS = {
    "A warp gets its registers in pieces: round those of a warp up to whole pieces before you divide.": other(
        "registers", lambda regs, shared, warps, *sm: sm[2] // (warps * 32 * max(regs, 1))
    ),
    "The registers are those of a thread, and a warp has 32 of them.": other(
        "registers", lambda regs, shared, warps, *sm: sm[2] // (warps * (-(-regs // 256) * 256))
    ),
    "A program has num_warps warps, and each of them its registers.": other(
        "registers", lambda regs, shared, warps, *sm: sm[2] // (-(-32 * regs // 256) * 256)
    ),
    "Each program takes its reserved bytes beside its own shared memory.": other(
        "shared", lambda regs, shared, warps, *sm: sm[3] // shared if shared else UNLIMITED
    ),
    "The SM reserves shared memory for each program, not once.": other(
        "shared", lambda regs, shared, warps, *sm: (sm[3] - sm[4]) // shared if shared else UNLIMITED
    ),
    "An SM holds max_programs programs, however small they are.": without("programs"),
    "An SM holds max_warps warps, and a program has num_warps of them.": without("warps"),
    "The registers of an SM are not counted.": without("registers"),
    "The shared memory of an SM is not counted.": without("shared"),
    "The SM's warps are taken for programs: a program has num_warps of them.": other(
        "warps", lambda regs, shared, warps, *sm: sm[0]
    ),
    "At least one program is said to fit: where none does, it is 0.": lambda *given: max(resident(*given), 1),
}
