"""Loops and branches that go by numbers in memory: a chain of tokens, a list of a counted length.

At full size nobody knows what a tensor of the call's own holds: there such a loop ends at once, or never.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from grader.kernel.ttir import Operation, Program, operations


class DataFlow:
    """What the values of a kernel are made of."""

    def __init__(self, program: Program) -> None:
        self.all = list(operations(program))
        self.made = {out: one for one in self.all for out in one.outs}
        self.of: dict[int, set[int]] = {}
        for one in self.all:
            for slot, given in _handed(one):
                self.of.setdefault(slot, set()).update(given)

    def data_dependent(self, unstored: bool) -> bool:
        """Whether a loop ends where memory says, and nobody knows it: counts are lower bounds.

        Args:
            unstored: its programs loaded integers of which a launch, only sampled, stored some. What a `for`
                or an `if` that asks for one does is not known then; a `while` that asks for what its body
                loads always is.
        """
        chains = (one for one in self.all if one.name == "scf.while" and not _waits(one))
        asks = {"scf.for": 3, "scf.if": 1, "cf.cond_br": 1}  # for so many of its operands
        choices = (one.ins[: asks[one.name]] for one in self.all if one.name in asks)
        if any(self._asks_within(one, _loads) for one in chains):
            return True
        made = (self.made.get(slot) for slots in choices for slot in self.behind(slots))
        return unstored and any(map(_loads, filter(None, made)))

    def queued(self) -> bool:
        """Whether programs take from a queue until nothing is left in it: a `while` that asks for what an
        atomic addition gave. One that runs by itself takes what others would have had. Who adds 0 waits.
        """
        return any(self._asks_within(one, self._takes) for one in self.all if one.name == "scf.while")

    def behind(self, slots: Sequence[int]) -> set[int]:
        """These values, and all that they are made of."""
        seen, left = set[int](), [*slots]
        while left:
            slot = left.pop()
            if slot not in seen:
                seen.add(slot)
                left += self.of.get(slot, ())
        return seen

    def _asks_within(self, loop: Operation, such: Callable[[Operation], bool]) -> bool:
        asked = self.behind(loop.regions[0].body.operations[-1].ins[:1])
        return any(such(one) and asked.intersection(one.outs) for one in operations(loop))

    def _takes(self, one: Operation) -> bool:
        added = self.made.get(one.ins[1]) if one.name == "tt.atomic_rmw" and " add," in one.text else None
        return added is not None and " 0 :" not in added.text


def _handed(one: Operation) -> Iterator[tuple[int, set[int]]]:
    """Which values each value that an operation fills is made of."""
    yields = [region.body.operations[-1].ins for region in one.regions if region.blocks[""].operations]
    if one.name == "scf.for":
        first, *carried = one.regions[0].body.args
        yield first, {*one.ins[:3]}
        for slot, out, *given in zip(carried, one.outs, one.ins[3:], yields[0], strict=False):
            yield from ((slot, {*given}), (out, {*given}))
    elif one.name == "scf.while":
        before, after = (region.body.args for region in one.regions)
        yield from ((slot, {*given}) for slot, *given in zip(before, one.ins, yields[1], strict=False))
        for slot, out, handed in zip(after, one.outs, yields[0][1:], strict=False):
            yield from ((slot, {handed}), (out, {handed}))
    elif one.name == "scf.if":
        yield from ((out, {*one.ins, *given}) for out, *given in zip(one.outs, *yields, strict=False))
    else:
        yield from ((out, {*one.ins}) for out in one.outs)


def _loads(one: Operation) -> bool:
    return one.name in ("tt.load", "tt.atomic_cas") or (one.name == "tt.atomic_rmw" and " exch," in one.text)


def _waits(loop: Operation) -> bool:
    """Whether nothing happens in it: a lock, which is free where programs run one by one."""
    return len(loop.regions[1].body.operations) < 2
