"""Extra: what is counted wrongly, and what goes wrong in the loop, and what the grader must say about it."""

from tools.planted import Mistake

LIMITS = "limits = [max_warps // num_warps, max_programs, sm_registers // (num_warps * of_a_warp)]"
LOOP = "for start in range(first, n, stride):"
MASK = "mask = offs < n"
OF_A_WARP = "of_a_warp = triton.cdiv(32 * registers, 256) * 256"
RETURN = "    return min(limits)\n"
SHARED = "limits.append(sm_shared // (shared + reserved))"
IF_SHARED = "    if shared + reserved > 0:  # a T4 reserves nothing\n        " + SHARED

# fmt: off
mistakes = [
    Mistake("registers are counted one by one", {OF_A_WARP: "of_a_warp = 32 * registers"}, "in pieces"),
    Mistake("the registers of a thread are rounded up, not those of a warp",
            {OF_A_WARP: "of_a_warp = 32 * triton.next_power_of_2(registers)"}, "is right"),
    Mistake("a warp has the registers of one thread",
            {OF_A_WARP: "of_a_warp = triton.cdiv(registers, 256) * 256"}, "a warp has 32 of them"),
    Mistake("a program has the registers of one warp",
            {LIMITS: LIMITS.replace("(num_warps * of_a_warp)", "of_a_warp")}, "each of them its registers"),
    Mistake("what is reserved is not counted",
            {IF_SHARED: "    if shared > 0:\n        limits.append(sm_shared // shared)"}, "reserved bytes"),
    Mistake("a kernel without shared memory divides by 0", {IF_SHARED: f"    {SHARED}"}, "ZeroDivisionError"),
    Mistake("what is reserved is reserved once",
            {IF_SHARED: "    if shared > 0:\n        limits.append((sm_shared - reserved) // shared)"},
            "for each program"),
    Mistake("the most programs are not asked for", {LIMITS: LIMITS.replace("max_programs, ", "")},
            "however small they are"),
    Mistake("warps are taken for programs", {LIMITS: LIMITS.replace("max_warps // num_warps", "max_warps")},
            "num_warps of them"),
    Mistake("registers are not counted",
            {LIMITS: "of_a_warp += 0\n    limits = [max_warps // num_warps, max_programs]"}, "registers"),
    Mistake("at least one program", {RETURN: "    return max(min(limits), 1)\n"}, "it is 0"),
    Mistake("the loop has no mask", {MASK: "mask = offs >= 0"}, "mask"),
    Mistake("each program copies one block",
            {LOOP: "for start in range(first, tl.minimum(n, first + BLOCK), stride):"}, "never written"),
]
