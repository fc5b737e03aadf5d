"""How many instructions a warp issues, loop by loop, counted in a kernel's PTX.

PTX names the line that each instruction was made from, so that its loops can be told; and it is there
without a disassembler, which takes longer than all else that is read here. What becomes more or fewer of the
machine's own instructions is weighed below.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cache

Units = dict[str, float]  # what keeps which unit of an SM busy; see datasheets.LANES

TOKEN = re.compile(
    r"^(?P<label>\$L__BB\w+):"
    r"|^\s*\.loc\s[^/\n]*//(?P<place>.*)"
    r"|(?:^|[;{}])[ \t]*(?:@!?%\w+[ \t]+)?(?P<name>[a-z]\w*(?:\.[\w:]+)*)(?P<rest>[ \t][^;\n]*)?;",
    re.MULTILINE,
)
PLACE = re.compile(r"(\S+?):(\d+):\d+")
TARGET = re.compile(r"\$L__BB\w+")
LANE = re.compile(r"(?:\.v(\d))?\.[bufs](\d+)$")  # of a load or a store: what it moves for each lane

PLAIN: Units = {"issue": 1}
HALF: Units = {"issue": 1, "integer": 1}
SPECIAL: Units = {"issue": 1, "special": 1}
SHARED: Units = {"issue": 1, "shared": 1}
# The first that fits an instruction's name counts; "again" and so on are what `_told_apart` adds to it.
RULES: tuple[tuple[str, Units], ...] = (
    (r"mov\.b\d+ pack", HALF),  # bytes or halves of a register
    (r"mov|bra|ret|ld\.param|cvta|nop|prefetch|fence|membar|cp\.async\.(commit|wait)", {}),
    (r"wgmma\.(fence|commit|wait)|(abs|neg)\.\w*f", {}),  # a sign is a flag of whichever reads it
    (r"bar|shfl|redux", SHARED),
    (r"(ld|st)matrix.*\.x4", {"issue": 1, "shared": 4}),
    (r"cp\.async\.bulk|mbarrier|elect|wgmma|tcgen05|mma", PLAIN),
    (r"cp\.async|atom|red\.|ldmatrix|stmatrix", {"issue": 1, "shared": 2}),
    (r"(ex2|lg2|rcp|rsqrt|sqrt|sin|cos|tanh)\.approx.*(ftz|f16)|tanh", SPECIAL),
    (r"(sin|cos)\.approx", {"issue": 2, "special": 1}),
    (r"(ex2|lg2|rcp|rsqrt|sqrt)\.approx", {"issue": 4, "integer": 1, "special": 1}),  # below 2⁻¹²⁶, too
    (r"(sqrt|rcp|div)\.r\w.*f32", {"issue": 10, "integer": 1, "special": 1}),
    (r"div\.full.* again", {"issue": 3}),
    (r"div\.(full|approx)", {"issue": 7, "integer": 2, "special": 1}),
    (r"(div|rem)\.[su](16|32) again", {"issue": 8, "integer": 4, "product": 2}),
    (r"(div|rem)\.[su](16|32)", {"issue": 18, "integer": 6, "product": 6, "special": 3}),
    (r"(div|rem)\.[su]", {"issue": 50, "integer": 10, "product": 20, "special": 2}),
    (r"(mul|mad)\.(wide|hi)\.[su](16|32)", {"issue": 1, "product": 2}),  # a product of 64 bits
    (r"(mul|mad)\.\w+\.[su]64", {"issue": 4, "product": 5}),
    (r"(mul|mad)\.\w+\.[su]|mul24|mad24", {"issue": 1, "product": 1}),
    (r"(add|sub|neg)\.[su]64|shl\.b64", {"issue": 2}),
    (r"cvt\.(sat\.)?([su]64\.[su]|[su]\d+\.[su]64)", {}),
    (r"cvt\.(sat\.)?[su]\d+\.[su]", {"issue": 0.5, "integer": 0.5}),
    (r"cvt\.(\w+\.)*(f32\.[su]32|(\w+x2|f16|bf16|tf32)\.(f32|f16x2|\w+x2))", HALF),
    (r"cvt\.(\w+\.)*f32\.(f16|bf16)", PLAIN),
    (r"cvt|popc|clz|brev|bfind", SPECIAL),
    (r"shl\.", {"issue": 0.5}),  # most become part of an addition
    (r"(and|or|xor|not)\.pred", {"issue": 0.5, "integer": 0.5}),
    (r"(setp|set|selp|min|max|and|or|xor|not|shr)\.(\w+\.)*[busf]64", {"issue": 2, "integer": 2}),
    (r".* zero", {}),
    (r"and|or|xor|not", {"issue": 0.6, "integer": 0.6}),  # of three operands at once, and whether it is 0
    (r"setp|set|selp|min|max|shr|shf|prmt|lop3|bfe|bfi|abs|vote|match|activemask", HALF),
)
FLOAT = re.compile(r"^(?!mma|wgmma|tcgen05).*\.(b?f\d|tf32)")
DOUBLE = re.compile(r"(add|sub|mul|fma|div|rcp|sqrt|ex2)(\.\w+)*\.f64")  # arithmetic in fp64


@dataclass(frozen=True)
class Stretch:
    """A loop of a kernel, or the kernel itself, without the loops inside of it.

    Attributes:
        outer: index of the stretch around it; the kernel itself is around itself.
        lines: of the learner's file that it was made from, those of the loops inside of it too.
        length: instructions, those of the loops inside of it too.
        units: what one warp issues each time.
    """

    outer: int
    lines: list[int]
    length: int
    units: Units = field(default_factory=dict)


def stretches(ptx: str) -> list[Stretch]:
    """The kernel itself first, each loop before those inside of it."""
    names, lines, loops = read(ptx)
    spans = [(0, len(names)), *sorted(loops.items(), key=lambda span: (span[0], -span[1]))]
    owner = [0] * len(names)
    found = []
    for index, (first, behind) in enumerate(spans):
        outer = owner[first] if names else 0
        owner[first:behind] = [index] * (behind - first)
        found.append((outer, sorted(set().union(*lines[first:behind])), behind - first))
    counts = [Counter[str]() for _ in spans]
    for name, index in zip(names, owner, strict=True):
        counts[index][name] += 1
    return [Stretch(*about, _sum(count)) for about, count in zip(found, counts, strict=True)]


def read(ptx: str) -> tuple[list[str], list[frozenset[int]], dict[int, int]]:
    """Every instruction, the lines it was made from, and of every loop its first and the one behind it."""
    names, lines, labels, loops = list[str](), list[frozenset[int]](), dict[str, int](), dict[int, int]()
    here, file, seen = frozenset[int](), "", set[str]()
    for token in TOKEN.finditer(ptx, max(ptx.find("\n{"), 0)):
        label, place, name = token["label"], token["place"], token["name"]
        if label:
            labels[label] = len(names)
        elif place is not None:
            places = PLACE.findall(place)
            file = file or (places[0][0] if places else "")  # the kernel's own comes first
            here = frozenset(int(line) for where, line in places if where == file)
        else:
            rest = token["rest"] or ""
            target = TARGET.search(rest) if name.startswith("bra") else None
            lines.append(here)
            names.append(_told_apart(name, rest, seen))
            if target and target[0] in labels:
                first = labels[target[0]]
                loops[first] = max(loops.get(first, 0), len(names))
    return names, lines, loops


def _told_apart(name: str, rest: str, seen: set[str]) -> str:
    """An instruction by its name, and by what of its operands says what it takes.

    Args:
        seen: what was divided by, and results of logic.
    """
    operands = [operand.strip() for operand in rest.split(",")]
    if name.startswith("mov.b") and ", {" in rest:
        return f"{name} pack"
    if name.startswith(("and.b", "or.b", "xor.b")):
        seen.add(operands[0])
    if name.startswith(("setp.eq.b", "setp.ne.b")) and operands[-1] == "0" and operands[1] in seen:
        return f"{name} zero"
    if name.startswith(("div.full", "div.s", "div.u", "rem.")):
        divisor = f"{name[-3:]} {operands[-1]}"
        known = divisor in seen
        seen.add(divisor)
        return f"{name} again" if known else name
    return name


def _sum(counts: Counter[str]) -> Units:
    total = Counter[str]()
    for name, count in counts.items():
        for unit, times in of(name).items():
            total[unit] += count * times  # type: ignore[assignment]  # halves, too
    return {unit: round(float(count), 1) for unit, count in total.items()}


@cache
def of(name: str) -> Units:
    """What one instruction of PTX keeps busy, by its whole name."""
    moved = LANE.search(name)
    if moved and re.match(r"(ld|st)\.(?!param)", name):
        return {"issue": 1, "shared": max(int(moved[1] or 1) * int(moved[2]) // 32, 1)}
    units = next((units for pattern, units in RULES if re.match(pattern, name)), PLAIN)
    if FLOAT.search(name):
        units = {
            **units,
            "float": units.get("issue", 0.0) + units.get("integer", 0.0),
        }  # two of half the lanes
    if DOUBLE.match(name):
        units = {**units, "double": 20 if name.startswith(("div", "rcp", "sqrt")) else 1}
    return units
