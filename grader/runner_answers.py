"""What runners answer of a file and of a call: the judge takes nothing of another form than these.

A learner's code runs beside whoever fills them in, so every field is a claim. What is judged is held against
something that the judge knows itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from grader.kernel.races import Race
from grader.kernel.tensor_regions import Overrun
from grader.kernel.traced_step import Step

LONGEST = 300  # characters of an exception's first line that are shown: some print whole tensors
BROKE = "PassManager::run failed", "error encountered during parsing"  # of a compiler that says no more
TOO_LARGE = "exceeds triton maximum tensor numel", "arange must fit in int32"  # as the compiler says, too


@dataclass(frozen=True)
class Fault:
    """An exception that the learner's code, or the compiler over it, raised.

    Attributes:
        kind: compile, bounds, grid, memory, launcher (outside of kernels), unevaluated (only a GPU tells what
            it computes) or exception.
        type, message: of its innermost cause.
        line: of the learner's file; 0 where no line of it is concerned.
        source: that line.
        traceback: the learner's frames, innermost last.
    """

    kind: str
    type: str
    message: str
    line: int
    source: str
    traceback: list[str]

    @property
    def first_line(self) -> str:
        """Of the message, as far as a screen takes it."""
        line = (self.message.splitlines() or [self.type])[0]
        return line if len(line) <= LONGEST else line[:LONGEST] + "…"

    @property
    def unsaid(self) -> bool:
        """Whether the compiler breaks off, and does not say where or why."""
        return any(words in self.message for words in BROKE)

    @property
    def too_large(self) -> bool:
        """Whether a block has more elements than the compiler takes."""
        return any(words in self.message for words in TOO_LARGE)


@dataclass(frozen=True)
class Failed:
    """The answer to any command in which the learner's code raised, with the accesses that led there."""

    fault: Fault
    overruns: list[Overrun] = field(default_factory=list)


# What `track grade --strict` asks of the kernel for a process of the learner's code; grader/README.md.
CONFINEMENTS = (
    "no new privileges",
    "limited memory",
    "limited files",
    "limited processes",
    "no network",
    "read-only files",
    "hidden files",
    "hidden processes",
)


@dataclass(frozen=True)
class Confined:
    """To `confine`: which of CONFINEMENTS are in force, and which this machine does not grant."""

    confined: list[str]
    not_confined: list[str]


@dataclass(frozen=True)
class Borrowed:
    """To `borrow`: whether what a judge lends on a GPU came over."""

    possible: bool


@dataclass(frozen=True)
class Parameter:
    """A positional parameter of a learner's function."""

    name: str
    required: bool


@dataclass(frozen=True)
class Loaded:
    """To `load`: the file's functions by name; None for one that takes any number of arguments.

    Attributes:
        replaced: names in modules of others that the file gave another meaning; they are put back.
    """

    functions: dict[str, list[Parameter] | None]
    replaced: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Launch:
    """One launch: the kernel's name and its grid; by parameter, the address of the memory it was handed; the
    line on which the kernel begins, as several may go by one name.
    """

    kernel: str
    grid: list[int]
    handed: dict[str, int] = field(default_factory=dict)
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Tuning:
    """One call of an autotuner: its kernel's name, how many configs it has, and its key.

    Attributes:
        strangers: names in the key that are no argument of the kernel; Triton ignores them.
        key: what it went by, as text: the values of the arguments that the key names.
        left: configs that pruning left to be timed; None where nothing was timed.
    """

    kernel: str
    configs: int
    strangers: list[str]
    key: list[str]
    left: int | None = None


@dataclass(frozen=True)
class TensorOutput:
    """A tensor that was returned.

    Attributes:
        shape, stride: in elements.
        source: which argument or allocation its memory is.
        launched: whether that memory was handed to a kernel.
        older: whether an earlier call had that memory already, and it is no argument's.
        memory: its address.
    """

    dtype: str
    shape: list[int]
    stride: list[int]
    device: str
    source: str
    launched: bool
    older: bool = False
    memory: int = 0


@dataclass(frozen=True)
class PlainOutput:
    """Something else that was returned; its value where that is a number."""

    type: str
    value: int | float | bool | None


@dataclass(frozen=True)
class Kept:
    """A storage that the graph behind the outputs holds on to."""

    name: str
    bytes: int


@dataclass(frozen=True)
class Guard:
    """Guard words of a tensor that were written over: how many bytes, the nearest so far from the data."""

    tensor: str
    side: str
    bytes: int
    nearest: int


@dataclass(frozen=True)
class Called:
    """To `call`: all that could be observed. The outputs' bytes follow, then those of the inputs' storages
    or, of those on a GPU that may not be written, their digests.

    Attributes:
        structure: type of what was returned.
        outputs: what was returned, then the gradients.
        launches: of kernels.
        foreign: torch operators that computed something.
        lines: of the file, from which each of those ran first; 0 where autograd ran it.
        late: those of them that ran after the last launch, and not before the first.
        replaced: names in modules of others that the file gave another meaning; they are put back.
        reads: methods by which the launcher looked at values.
        backward: whether there are gradients.
        saved: what the forward pass keeps for the backward pass.
        unasked: bytes of gradients that the backward pass computed for tensors that need none.
        allocated: bytes asked of torch in all.
        races, guards, overruns: what programs did to memory that they should not.
        tunings: of the calls of autotuners.
        inputs: addresses of the inputs' memory, in the order of their bytes.
        untouched: addresses of what torch.empty allocated, nobody wrote to, and kernels read; where
            they are evaluated.
        made: by which steps an element came to be NaN or Inf that was asked about, the last one first.
        holes: addresses of what torch.empty allocated, and of which bytes are left that nobody wrote; None
            on a GPU.
        looked: whether the launcher had a way to values, or read some.
        elsewhere: whether kernels were handed memory that is neither an argument's nor from torch.
    """

    structure: str
    outputs: list[TensorOutput | PlainOutput]
    launches: list[Launch]
    foreign: list[str]
    reads: list[str]
    backward: bool
    saved: list[Kept]
    allocated: int
    races: list[Race]
    guards: list[Guard]
    overruns: list[Overrun]
    lines: dict[str, int] = field(default_factory=dict)
    late: list[str] = field(default_factory=list)
    tunings: list[Tuning] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    inputs: list[int] = field(default_factory=list)
    untouched: list[int] = field(default_factory=list)
    holes: list[int] | None = None
    made: list[Step] = field(default_factory=list)
    unasked: int = 0
    looked: bool = False
    elsewhere: bool = False


@dataclass(frozen=True)
class Registered:
    """To `operator`: the first of torch's tests that failed, and what torch says; both "" where none did."""

    failed: str
    message: str


@dataclass(frozen=True)
class Compiled:
    """To `compile`: the numbers of the edits that can be chosen, and of those that the compiler refuses."""

    numbers: list[int]
    refused: list[int]


@dataclass(frozen=True)
class Repeated:
    """To `repeat`; the bytes follow of what stood where the outputs lay then."""
