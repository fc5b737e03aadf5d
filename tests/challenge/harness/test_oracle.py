"""What a timed part is held against has the dtypes that the challenge asks for."""

from __future__ import annotations

import torch

from grader.challenge import Case, Challenge, Speed
from grader.challenge.harness.oracle import alike, as_asked


def challenge(returns: torch.dtype | None = None, writes: tuple[int, ...] = ()) -> Challenge:
    speed = Speed(Case(n=4), moved=lambda x: x.nbytes, of_copy=0.5)
    return Challenge(
        "f", lambda case, draw: (), lambda x: x, [Case(n=4)], returns=returns, writes=writes, speed=speed
    )


def dtypes(*given: object) -> list[torch.dtype]:
    return [out.dtype for out in as_asked(*given)]  # type: ignore[arg-type]


X, WIDE = torch.ones(2).half(), torch.ones(2).double()


def test_outputs_have_the_dtype_that_is_asked_for_and_gradients_their_own() -> None:
    one = challenge(returns=torch.bfloat16)
    assert dtypes(one, (X,), (WIDE,), "forward", ()) == [torch.bfloat16]
    assert dtypes(one, (X,), (WIDE, X), "both", (0,)) == [torch.bfloat16, torch.float16]
    assert dtypes(one, (X,), (X,), "backward", (0,)) == [torch.float16]


def test_without_one_they_stay_as_they_are() -> None:
    assert dtypes(challenge(), (X,), (WIDE,), "forward", ()) == [torch.float64]


def test_what_is_written_has_the_dtype_of_its_argument() -> None:
    assert dtypes(challenge(writes=(0,)), (X,), (WIDE,), "forward", ()) == [torch.float16]


def test_gigabytes_that_nobody_kept_are_like_nothing() -> None:
    assert alike(torch.tensor([1.0, torch.nan]), torch.tensor([1.0, torch.nan]))
    assert not alike(torch.empty(2, device="meta"), torch.ones(2))
