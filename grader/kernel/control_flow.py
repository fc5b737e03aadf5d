"""Loops, branches and calls: programs that go different ways go on as smaller batches."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from grader.kernel.batch import Batch, Runs, chosen, merged
from grader.kernel.number_formats import Array
from grader.kernel.ttir import Operation, Region, outer


def loop(machine: Runs, operation: Operation) -> Callable[[Batch], list[Array]]:
    """scf.for: each program its own number of turns."""
    body, slots = operation.regions[0].body, outer(operation.regions[0])
    variable, *carried = body.args

    def run(batch: Batch) -> list[Array]:
        first, last, step, *values = (batch[slot] for slot in operation.ins)
        turns = np.maximum(-((first.astype(np.int64) - last) // step.astype(np.int64)), 0)
        if len(turns) > 1 and (turns == turns[0]).all():
            turns = turns[:1]
        which, parts, left = np.arange(batch.size), list[tuple[Array, list[Array]]](), batch
        for turn in range(int(turns.max()) + 1):
            done = turns == turn
            if done.all():
                break
            if done.any():  # never where all have the same number
                gone, stay = np.flatnonzero(done), np.flatnonzero(~done)
                parts.append((which[gone], [chosen(value, gone) for value in values]))
                which, left, turns = which[stay], left.some(stay, slots), turns[stay]
                first, step = chosen(first, stay), chosen(step, stay)
                values = [chosen(value, stay) for value in values]
            left[variable] = first
            for slot, value in zip(carried, values, strict=True):
                left[slot] = value
            values = machine.steps(body, left)
            first = first + step
        return merged(batch.size, [*parts, (which, values)])

    return run


def branch(machine: Runs, operation: Operation) -> Callable[[Batch], list[Array]]:
    """scf.if."""
    ways = [(region.body, outer(region)) for region in operation.regions]
    (slot,) = operation.ins

    def run(batch: Batch) -> list[Array]:
        condition = batch[slot]
        if condition.ndim > 1:  # of lanes, in a function that combines them
            yes, no = (machine.steps(body, batch) for body, _ in ways)
            return [np.where(condition, *pair) for pair in zip(yes, no, strict=True)]
        if condition.all() or not condition.any():
            return machine.steps(ways[0 if condition[0] else 1][0], batch)
        parts = []
        for (body, slots), taken in zip(ways, (condition, ~condition), strict=True):
            which = np.flatnonzero(taken)
            parts.append((which, machine.steps(body, batch.some(which, slots))))
        return merged(batch.size, parts)

    return run


def repeat(machine: Runs, operation: Operation) -> Callable[[Batch], list[Array]]:
    """scf.while."""
    (before, after), slots = [region.body for region in operation.regions], set[int]()
    for region in operation.regions:
        slots |= outer(region)

    def run(batch: Batch) -> list[Array]:
        values = [batch[slot] for slot in operation.ins]
        which, parts, left = np.arange(batch.size), list[tuple[Array, list[Array]]](), batch
        while True:
            for slot, value in zip(before.args, values, strict=True):
                left[slot] = value
            goes_on, *values = machine.steps(before, left)
            if not goes_on.any():
                return merged(batch.size, [*parts, (which, values)])
            if not goes_on.all():
                gone, stay = np.flatnonzero(~goes_on), np.flatnonzero(goes_on)
                parts.append((which[gone], [chosen(value, gone) for value in values]))
                which, left = which[stay], left.some(stay, slots)
                values = [chosen(value, stay) for value in values]
            for slot, value in zip(after.args, values, strict=True):
                left[slot] = value
            values = machine.steps(after, left)

    return run


def call(machine: Runs, operation: Operation) -> Callable[[Batch], list[Array]]:
    """A device function that is not inlined."""
    name = re.search(r"@([^\s(]+)", operation.text)
    assert name, operation.text

    def run(batch: Batch) -> list[Array]:
        region = machine.program.functions[name[1]].region
        for slot, given in zip(region.body.args, operation.ins, strict=True):
            batch[slot] = batch[given]
        return follow(machine, region, "", batch)

    return run


def follow(machine: Runs, region: Region, at: str, batch: Batch) -> list[Array]:
    """Run a region's blocks from one on to their return; what it gives."""
    while True:
        block = region.blocks[at]
        values = machine.steps(block, batch)
        last = machine.ends[block.number]
        if last.name != "cf.br" and last.name != "cf.cond_br":
            return values
        goes = last.next[0]
        if last.name == "cf.cond_br":
            condition = values[0]
            if condition.any() and not condition.all():
                return _parted(machine, region, batch, last, condition)
            goes = last.next[0 if condition.all() else 1]
        _enter(region, batch, *goes)
        at = goes[0]


def _enter(region: Region, batch: Batch, name: str, given: list[int]) -> None:
    values = [batch[slot] for slot in given]
    for slot, value in zip(region.blocks[name].args, values, strict=True):
        batch[slot] = value


def _parted(machine: Runs, region: Region, batch: Batch, last: Operation, condition: Array) -> list[Array]:
    parts = []
    for goes, taken in zip(last.next, (condition, ~condition), strict=True):
        which = np.flatnonzero(taken)
        part = batch.some(which, range(len(batch)))
        _enter(region, part, *goes)
        parts.append((which, follow(machine, region, goes[0], part)))
    return merged(batch.size, parts)
