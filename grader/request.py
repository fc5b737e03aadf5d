"""What a judge is asked to do with one file: how it travels from the command line by the warm parent."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from grader.randomness import rng

Device = Literal["cpu", "gpu"]
CACHE = "compiled"  # in a scratch folder, the kernels that were compiled
PATHS = ("hidden_tests", "path", "provided")


@dataclass(frozen=True)
class Request:
    """One grading, or one look inside.

    Attributes:
        do: `grade`, or what `inspect`, `show` and `dev seeds` ask for.
        hidden_tests: path of the day's hidden tests.
        path: where the learner's file lies: messages name it, and beside it lies what it imports.
        provided: the folder of the day's finished helpers, which a file may import from wherever it lies.
        source: its bytes, read once: a save in mid-grading is not graded under another file's sha256.
        device: `cpu` evaluates kernels, `gpu` compiles them.
        seed: of all that is drawn.
        seeds: of `seeds`, how many are tried, from `seed` on.
        skeleton, solution: the day's own files as text, for a judge that tells how far a file is; empty where
            nobody asks.
        scratch: the only folder that the learner's code may write to; empty where it is not confined.
        hidden: folders that it may not read then.
        call_timeout: seconds that one call of the learner's function may take.
        limit: seconds that the whole grading may take, kept by the warm parent; 0 sets none.
        fail_fast: end at the first check that fails, and look for no reasons.
        only: a substring of the ids of the cases to try; all when None.
        cases, speed: whether cases are tried, and bars.
        claims: whether claims are held against torch.
        limits: make every limit a requirement.
        explain: seconds to look for the edit that makes wrong values right; 0 looks for none.
        gpu: of `inspect`, whose data sheet a prediction is for; of a call, which one its launcher is to see.
        code: of `inspect`, what to print: ptx, sass, ttgir or nothing.
    """

    do: Literal["grade", "inspect", "show", "seeds"]
    hidden_tests: Path
    path: Path
    provided: Path
    source: bytes
    device: Device
    seed: int
    call_timeout: float
    limit: float = 0.0
    fail_fast: bool = False
    only: str | None = None
    cases: bool = True
    speed: bool = True
    claims: bool = False
    limits: bool = False
    explain: float = 0.0
    gpu: str = ""
    code: str = ""
    seeds: int = 1
    skeleton: str = ""
    solution: str = ""
    scratch: str = ""
    hidden: Sequence[str] | None = None

    @property
    def torch_device(self) -> Literal["cpu", "cuda"]:
        """The device of its tensors, as torch calls it."""
        return "cuda" if self.device == "gpu" else "cpu"

    def rng(self, *purpose: str) -> random.Random:
        """The generator for one purpose."""
        return rng(self.seed, *purpose)

    def to_wire(self) -> tuple[dict[str, Any], list[bytes]]:
        """A header and its blobs, for a `Channel`."""
        fields = asdict(self)
        source = fields.pop("source")
        return {**fields, **{name: str(fields[name]) for name in PATHS}}, [source]

    @classmethod
    def from_wire(cls, header: dict[str, Any], blobs: Sequence[bytes | bytearray]) -> Request:
        """The request that `to_wire` wrote."""
        paths = {name: Path(header[name]) for name in PATHS}
        return cls(**{**header, **paths, "source": bytes(blobs[0])})
