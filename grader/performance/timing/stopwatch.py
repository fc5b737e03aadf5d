"""GPU time of one call, measured the same way for the learner's kernel (in the runner) and for its peers (in
the judge).

Below 1 ms: R calls captured in a CUDA graph over rotating inputs, which with the outputs are at least 3× the
    L2 cache, and the replay timed, because launching from Python may take longer than the kernels: of some
    calls always, of others when something else keeps the host busy.
Above: one event pair a call, the L2 cache flushed before it by a large write, no synchronisation in between.

Before every timed call the inputs change: they are rolled by a distance that the judge draws anew, so that no
earlier result is of use; outputs are poisoned when they are let go. Arguments that a call writes to are
restored with that, and a graph has as many sets of them as calls.
"""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

WARM_UP = 0.1  # seconds; with 0.3 a grading takes 0.2 more, and its verdicts are no steadier
GRAPH_BELOW = 1000.0  # µs of a call; a backward pass takes autograd up to 500 to launch
GRAPH_SPAN = 1000.0  # µs of work in one graph, so that event resolution (0.5 µs) does not matter
MAX_GRAPH_CALLS = 256
FLUSH = 256 << 20
KEPT = 0.25  # of the free memory: a graph holds the outputs of all its calls


class Stopwatch:
    """Times `function(*arguments)`.

    Args:
        arguments: dense CUDA tensors and scalars; kept as they are, the timed calls get copies.
        rolled: positions of the tensors whose contents change before every timed call.
        writes: positions of those among them that a call changes in place.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        arguments: Sequence[Any],
        rolled: Sequence[int],
        writes: Sequence[int] = (),
    ) -> None:
        self.function = function
        self.bases = list(arguments)
        self.rolled = list(rolled)
        self.once = bool(writes)  # a set of arguments serves one call
        self.flush = torch.empty(max(FLUSH, 4 * l2_bytes()), dtype=torch.uint8, device="cuda")
        self.sets = [self._copies()]
        self.graph: torch.cuda.CUDAGraph | None = None
        self.outputs: list[Any] = []
        self.nonces: list[int] = []

    def warm_up(self, seconds: float = WARM_UP) -> float:
        """Compile, autotune and warm up; not counted. Returns the median time of a call in µs."""
        for _ in range(2):
            self.function(*self.sets[0])
        torch.cuda.synchronize()
        begin = time.perf_counter()
        times: list[float] = []
        while time.perf_counter() - begin < seconds or len(times) < 3:
            times += self._timed(3, [1, 2, 3])
        return sorted(times)[len(times) // 2]

    def capture(self, call_us: float) -> bool:
        """Capture enough calls in a graph, on `own_stream`; False when the function cannot be captured (it
        synchronises, say).
        """
        size, results = _size(self.bases), _size(self.outputs)
        rotating = min(MAX_GRAPH_CALLS, -(-3 * l2_bytes() // max(size + results, 1)))
        calls = min(MAX_GRAPH_CALLS, max(rotating, int(GRAPH_SPAN / max(call_us, 1.0)) + 1))
        room = int(KEPT * torch.cuda.mem_get_info()[0] / max(results, size * self.once, 1))
        calls = max(1, min(calls, room))
        rotating = calls if self.once else rotating
        try:
            self.sets = [self._copies() for _ in range(rotating)]
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=torch.cuda.current_stream()):
                outputs = [self.function(*self.sets[index % rotating]) for index in range(calls)]
            graph.replay()
            torch.cuda.synchronize()
        except Exception:
            torch.cuda.synchronize()
            self.sets = self.sets[:1]
            return False
        self.graph, self.outputs = graph, outputs
        return True

    def round(self, calls: int, nonces: Sequence[int]) -> list[float]:
        """Time `calls` calls (or one replay of the graph); µs of each."""
        return [self._replayed(nonces[0])] if self.graph else self._timed(calls, nonces)

    def burst(self, calls: int) -> None:
        """`calls` calls back to back, for a clock outside of this process."""
        for _ in range(calls):
            if self.graph:
                self.graph.replay()
            else:
                self.function(*self.sets[0])
        torch.cuda.synchronize()

    def result(self, which: int) -> tuple[Any, int]:
        """An output of the last round and the roll of its inputs; `which` counts from the end."""
        return self.outputs[-1 - which % len(self.outputs)], self.nonces[-1]

    def _timed(self, calls: int, nonces: Sequence[int]) -> list[float]:
        pairs = []
        for nonce in nonces[:calls]:
            self._poison()
            self._roll(self.sets[0], nonce)
            self.flush.zero_()
            start, end = _events()
            start.record()
            self.outputs = [self.function(*self.sets[0])]
            end.record()
            pairs.append((start, end))
        torch.cuda.synchronize()
        self.nonces = list(nonces)
        return [start.elapsed_time(end) * 1e3 for start, end in pairs]

    def _replayed(self, nonce: int) -> float:
        for output in self.outputs:
            poison(output)
        for arguments in self.sets:
            self._roll(arguments, nonce)
        start, end = _events()
        start.record()
        assert self.graph is not None
        self.graph.replay()
        end.record()
        torch.cuda.synchronize()
        self.nonces = [nonce]
        return float(start.elapsed_time(end)) * 1e3 / len(self.outputs)

    def _poison(self) -> None:
        """The next call is likely to be given the last one's memory: let it hold nothing of use."""
        for output in self.outputs:
            poison(output)
        self.outputs = []

    def _copies(self) -> list[Any]:
        return [base.clone() if isinstance(base, torch.Tensor) else base for base in self.bases]

    def _roll(self, arguments: Sequence[Any], nonce: int) -> None:
        for position in self.rolled:
            roll_into(arguments[position], self.bases[position], nonce)


def short(call_us: float) -> bool:
    """Whether calls of so many µs are captured. Ratios of the same call differ by up to 10 % between the two
    ways, so that nothing which varies from one grading to the next has a say.
    """
    return call_us < GRAPH_BELOW


@contextlib.contextmanager
def own_stream() -> Iterator[None]:
    """All that is timed runs on one stream of its own: a graph captures no work of the default one, where
    autograd would run a backward pass whose forward pass had been there.
    """
    torch.cuda.synchronize()
    with torch.cuda.stream(_stream()):
        try:
            yield
        finally:
            torch.cuda.synchronize()


@functools.cache
def _stream() -> torch.cuda.Stream:
    made: Any = torch.cuda.Stream
    return made()  # type: ignore[no-any-return]


def _size(values: Sequence[Any]) -> int:
    """Bytes of the tensors among a call's arguments or results."""
    flat = [out for value in values for out in (value if isinstance(value, tuple | list) else (value,))]
    return sum(out.nbytes for out in flat if isinstance(out, torch.Tensor))


def _events() -> tuple[Any, Any]:
    event: Any = torch.cuda.Event
    return event(enable_timing=True), event(enable_timing=True)


def roll_into(target: torch.Tensor, base: torch.Tensor, nonce: int) -> None:
    """target = base, rolled as one row by `nonce` elements, as they lie in memory."""
    if base.numel() == 0:
        return
    by = nonce % base.numel()
    flat, source = (_in_memory_order(tensor).view(-1) for tensor in (target, base))
    flat[by:].copy_(source[: len(source) - by])
    flat[:by].copy_(source[len(source) - by :])


def dense(tensor: torch.Tensor) -> bool:
    """Whether its elements lie in one piece, in whatever order."""
    return _in_memory_order(tensor).is_contiguous()


def _in_memory_order(tensor: torch.Tensor) -> torch.Tensor:
    strides = tensor.stride()
    return tensor.permute(sorted(range(tensor.ndim), key=strides.__getitem__, reverse=True))


def copying(moved: float) -> tuple[Callable[[torch.Tensor], torch.Tensor], torch.Tensor]:
    """A copy that moves so many bytes, all bits turned over, and what it reads.

    A kernel does it: as the node of a graph, a cudaMemcpy of some sizes ran at 2.77 TB/s on an H200, where
    the same one launched by itself, and this kernel in either way, ran at 4.25.
    """
    source = torch.empty(max(int(moved) // 8, 1), dtype=torch.int32, device="cuda").random_()
    target = torch.empty_like(source)
    return lambda given: torch.bitwise_not(given, out=target), source


def poison(output: Any) -> None:
    """Fill the floating tensors of a result with NaN, those of integers with the largest."""
    for tensor in output if isinstance(output, tuple | list) else (output,):
        if isinstance(tensor, torch.Tensor) and tensor.is_floating_point():
            tensor.detach().fill_(float("nan"))
        elif isinstance(tensor, torch.Tensor) and tensor.dtype != torch.bool:
            tensor.fill_(torch.iinfo(tensor.dtype).max)


def rollable(arguments: Sequence[Any], chosen: Sequence[int] | None, writes: Sequence[int] = ()) -> list[int]:
    """Positions to roll: those chosen, or every dense tensor; and what a call writes to."""
    usual = [at for at, value in enumerate(arguments) if isinstance(value, torch.Tensor) and dense(value)]
    return sorted({*(usual if chosen is None else chosen), *writes})


def l2_bytes() -> int:
    """Size of this GPU's L2 cache."""
    return int(torch.cuda.get_device_properties(torch.cuda.current_device()).L2_cache_size)
