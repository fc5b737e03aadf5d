"""Loops of a program that is counted: of long ones some turns run, and stand for the others."""

from __future__ import annotations

import itertools
import math
import operator
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from grader.kernel.batch import Batch
from grader.kernel.number_formats import Array
from grader.kernel.ttir import Block, Operation

SIGNS = {"slt": "<", "sle": "<=", "sgt": ">", "sge": ">=", "ult": "<", "ule": "<=", "ugt": ">", "uge": ">="}
MOVES = {"arith.addi": 2, "arith.subi": 1}  # and which of its operands may be what is moved
LOOKED = 4  # turns, whose tests tell how many there are


def loop(machine: Any, operation: Operation) -> Callable[[Batch], list[Array]]:
    """scf.for."""
    body, line = operation.regions[0].body, machine.places.site(operation.place, []).line
    variable, *carried = body.args
    factor = re.search(r"tt\.loop_unroll_factor = (\d+)", operation.text)
    unrolled, loops = int(factor[1]) if factor else 1, machine.loops

    def run(batch: Batch) -> list[Array]:
        first, last, step, *values = (batch[slot] for slot in operation.ins)
        whole = range(int(first[0]), int(last[0]), int(step[0]))
        tiles = whole.start == batch.programs[0] and whole.stop > whole.step == math.prod(batch.grid)
        for value in loops.walk(whole, unrolled, line, tiles=tiles):
            batch[variable] = np.array([value], first.dtype)
            for slot, each in zip(carried, values, strict=True):
                batch[slot] = each
            values = machine.steps(body, batch)
        return values

    return run


class Counts(NamedTuple):
    """A `while` that counts as a `for` does: it compares two numbers, of which each turn moves one.

    Attributes:
        at: which of the carried values is moved.
        step: the slot of what it is moved by; `away` if that is taken away.
        fixed: operations in the body that give the same in every turn.
        sides: the slots of what is compared.
        sign: how: <, <=, > or >=.
    """

    at: int
    step: int
    away: bool
    fixed: list[Operation]
    sides: list[int]
    sign: str


def repeat(machine: Any, operation: Operation) -> Callable[[Batch], list[Array]]:
    """scf.while: one that counts is walked as a `for` is, of any other all turns run."""
    before, after = (region.body for region in operation.regions)
    line, loops = machine.places.site(operation.place, []).line, machine.loops
    known = _counts(before, after)
    fixed = [machine.step(one) for one in known.fixed] if known else []

    def asked(batch: Batch, values: list[Array]) -> list[Array]:
        for slot, value in zip(before.args, values, strict=True):
            batch[slot] = value
        return list(machine.steps(before, batch))

    def counter(batch: Batch, values: list[Array]) -> range:
        """What the moved number is, turn by turn; nothing where nobody knows."""
        if not known or not asked(batch, values)[0][0]:
            return range(0)
        for step in fixed:
            step(batch)
        apart, moved = list[int](), [*values]
        by = -batch[known.step] if known.away else batch[known.step]
        for _ in range(LOOKED):
            asked(batch, moved)
            apart.append(operator.sub(*(int(batch[slot][0]) for slot in known.sides)))
            moved[known.at] = moved[known.at] + by
        begin, step = int(values[known.at][0]), int(by[0])
        return range(begin, begin + step * _turns(apart, known.sign), step or 1)

    def run(batch: Batch) -> list[Array]:
        values = [batch[slot] for slot in operation.ins]
        whole = counter(batch, values)
        for value in loops.walk(whole, 1, line, waits=True) if whole else loops.endless(line):
            if known and whole:
                values[known.at] = np.array([value], values[known.at].dtype)
            goes_on, *handed = asked(batch, values)
            if not goes_on[0]:
                return handed
            for slot, given in zip(after.args, handed, strict=True):
                batch[slot] = given
            values = machine.steps(after, batch)
        return asked(batch, values)[1:]

    return run


def _turns(apart: Sequence[int], sign: str) -> int:
    """How many turns a loop takes whose sides are so far apart before its first ones; 0 where nobody knows.

    Args:
        sign: which ends it once it holds no more.
    """
    steps = {later - earlier for earlier, later in itertools.pairwise(apart)}
    first, step = apart[0], steps.pop()
    if sign[0] == "<":
        first, step = -first, -step
    if steps or step >= 0:
        return 0
    return max(first // -step + 1 if "=" in sign else -(first // step), 0)


def _counts(before: Block, after: Block) -> Counts | None:
    """What a `while` compares and moves; None of one that does not count."""
    condition, yields = before.operations[-1], after.operations[-1]
    made = {out: one for one in before.operations for out in one.outs}
    test = made.get(condition.ins[0])
    sign = SIGNS.get(test.text.split(" ")[1].rstrip(",")) if test and test.name == "arith.cmpi" else None
    if test is None or sign is None or not all(map(_plain, before.operations[:-1])):
        return None
    asked, slots = set[int](), [*test.ins]
    while slots:
        slot = slots.pop()
        asked.add(slot)
        slots += made[slot].ins if slot in made else []
    inside = dict(zip(condition.ins[1:], after.args, strict=True))
    moved = [n for n, slot in enumerate(before.args) if slot in asked and yields.ins[n] != inside.get(slot)]
    if len(moved) != 1 or before.args[moved[0]] not in inside:
        return None
    made = {out: one for one in after.operations for out in one.outs}
    move, own = made.get(yields.ins[moved[0]]), inside[before.args[moved[0]]]
    if move is None or move.name not in MOVES or own not in move.ins[: MOVES[move.name]]:
        return None
    step = next((slot for slot in move.ins if slot != own), own)
    fixed = _fixed(after)
    known = {out for one in fixed for out in one.outs}
    if step in after.args or (step in made and step not in known):
        return None
    return Counts(moved[0], step, move.name == "arith.subi", fixed, test.ins, sign)


def _plain(operation: Operation) -> bool:
    """Whether it says the same each time, and nothing happens by it."""
    return operation.name.startswith(("arith.", "tt.get_"))


def _fixed(block: Block) -> list[Operation]:
    """The operations of a body that give the same in every turn, in order."""
    changing, found = {*block.args}, list[Operation]()
    for operation in block.operations:
        if _plain(operation) and not changing.intersection(operation.ins):
            found.append(operation)
        else:
            changing.update(operation.outs)
    return found
