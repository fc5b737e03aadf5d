"""What was counted of a call: its launches, and of each launch every line that touches memory.

All numbers are for the whole launch, scaled up from the programs and loop steps that were run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

SECTOR = 32  # bytes: the smallest piece in which a GPU moves memory


@dataclass
class Site:
    """One line that loads, stores or adds atomically.

    Attributes:
        kind: load, store or atomic.
        tensor: the kernel's name for it; empty where it is not known.
        itemsize: bytes of an element.
        step: bytes between neighbouring lanes; 0 for a single address.
        calls: times the line ran.
        lanes, masked: lanes of all calls, and those of them that a mask held back.
        asked: bytes, lane by lane.
        useful: the same without the lanes that only repeat another's address.
        sectors: 32-byte pieces that a GPU moves for it, warp by warp.
        most: bytes, lane by lane, if every program did what the one does that does most of it.
    """

    kind: str
    line: int
    tensor: str
    itemsize: int
    step: int = 0
    calls: float = 0.0
    lanes: float = 0.0
    masked: float = 0.0
    asked: float = 0.0
    useful: float = 0.0
    sectors: float = 0.0
    most: float = 0.0

    @property
    def moved(self) -> float:
        """Bytes of its sectors."""
        return self.sectors * SECTOR

    @property
    def efficiency(self) -> float:
        """The share of those bytes that was asked for."""
        return min(self.useful / self.moved, 1.0) if self.moved else 1.0

    def add(self, other: Site, weight: float = 1.0) -> None:
        """Count `other` in, `weight` times."""
        for name in ("calls", "lanes", "masked", "asked", "useful", "sectors"):
            setattr(self, name, getattr(self, name) + weight * getattr(other, name))
        self.step = other.step or self.step


@dataclass
class Extent:
    """One tensor of a launch.

    Attributes:
        bytes: from its first element to behind its last.
        own: the call made it, it is no argument of the call.
        read, written: bytes of it that this launch moves at least: each once.
        stored: how many bytes were stored to it, again and again where that happens.
        line: where it is stored to most, or else loaded.
        fetched: bytes read if programs that run at the same time share their tiles, and later ones nothing; 0
            where that is not known.
        loaded: bytes loaded, again and again where that happens.
        again: those of them that the same program had loaded before; `apart` how many bytes it touched in
            between, on average.
        low: where its storage begins.
    """

    bytes: int
    own: bool = False
    read: float = 0.0
    written: float = 0.0
    stored: float = 0.0
    line: int = 0
    fetched: float = 0.0
    loaded: float = 0.0
    again: float = 0.0
    apart: float = 0.0
    low: int = 0


@dataclass
class LaunchCounts:
    """One launch of a kernel, or one operation of torch.

    Attributes:
        line: of the kernel's `def`; 0 for torch.
        programs: in the grid.
        sampled: how many of them ran here.
        cut: one was ended early, or stores once in so many steps of a long loop, or is led by what memory
            holds, so that all counts are "at least".
        dots, flops: calls of tl.dot, and their operations; of torch, those of a product.
        narrow, single: of the flops those on operands of 8 bits, and of torch's those in fp32.
        dot_line: where the first tl.dot stands.
        mean_rounds: loop steps with loads in them, of a program on average.
        trips: of each loop, by the line of its `for`, how often the compiled loop comes round.
        heaviest: bytes that the busiest program asks for.
        heaviest_flops: operations of its dots.
        uneven: largest over mean of the operations for one tile, where programs take several in turn.
        scatter: largest over mean of the operations of two sampled programs, the one as far from the grid's
            start as the other from its end.
        config: what an autotuner chose for it among several, as keywords.
        guessed: which one it would choose is not known: some of them were not counted whole.
        recipe: how to compile it (see performance/compiler/recipe.py).
        elsewhere: tensors in memory that is neither an argument's nor came from torch in this call.
    """

    kernel: str
    line: int
    grid: tuple[int, ...]
    programs: int
    sampled: int = 0
    cut: bool = False
    sites: list[Site] = field(default_factory=list)
    tensors: dict[str, Extent] = field(default_factory=dict)
    dots: float = 0.0
    flops: float = 0.0
    narrow: float = 0.0
    single: float = 0.0
    dot_line: int = 0
    mean_rounds: float = 0.0
    trips: dict[int, float] = field(default_factory=dict)
    heaviest: float = 0.0
    heaviest_flops: float = 0.0
    uneven: float = 1.0
    scatter: float = 1.0
    config: dict[str, Any] = field(default_factory=dict)
    guessed: bool = False
    recipe: dict[str, Any] = field(default_factory=dict)
    elsewhere: list[str] = field(default_factory=list)

    @property
    def asked(self) -> float:
        return sum(site.asked for site in self.sites)

    @property
    def named(self) -> str:
        """The kernel, and of an autotuner's configs which one it is launched with."""
        shown = {name: value for name, value in self.config.items() if name != "num_ctas"}
        config = ", ".join(f"{name}={value}" for name, value in shown.items())
        return f"{self.kernel} with {config}, by prediction its fastest config," if config else self.kernel

    @property
    def each(self) -> float:
        """Elements of the largest block that a line loads or stores, that a thread holds."""
        largest = max((site.lanes / site.calls for site in self.sites if site.calls), default=0.0)
        return largest / (32 * int(self.recipe.get("options", {}).get("num_warps", 4)))

    @property
    def busiest(self) -> float:
        """How many average programs' bytes the busiest asks for."""
        return self.heaviest * self.programs / self.asked if self.asked else 1.0

    @property
    def moved(self) -> float:
        """Bytes of all sectors, as L2 sees them."""
        return sum(site.moved for site in self.sites)
