"""What a plain check says of the tasks' answers, beside what the grader says.

    track python examples/tasks/plain_check.py

Plain is: one shape, a few random draws, and torch.allclose. With a tolerance of 0.01 that is what KernelBench
did up to its version 0.1, with 0.0001 what it does later for fp32 (Ouyang et al. 2025, arXiv:2502.10517;
`run_and_check_correctness` and `get_tolerance_for_precision` in its eval.py).
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import torch

from grader import Pool
from grader.challenge.harness.draw import Draw
from grader.challenge.loading import load_challenges

HERE = Path(__file__).parent
TOLERANCES = 1e-2, 1e-4
DRAWS = 5
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def taken(answer: Path) -> list[bool]:
    """Whether the plain check takes it, by TOLERANCES, at the first of its task's shapes."""
    (challenge,) = load_challenges(answer.parent / "hidden_tests.py")
    spec = importlib.util.spec_from_file_location(f"{answer.parent.name}_{answer.stem}", answer)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    entry, case = getattr(module, challenge.entry), challenge.cases[0]
    draws = [challenge.inputs(case, Draw(case, seed, DEVICE)) for seed in range(DRAWS)]
    pairs = [(entry(*inputs), challenge.reference(*inputs)) for inputs in draws]
    return [all(torch.allclose(*pair, rtol=most, atol=most) for pair in pairs) for most in TOLERANCES]


def main() -> None:
    answers = sorted(HERE.glob("*/solution.py")) + sorted(HERE.glob("*/wrong.py"))
    print(f"{'answer':<28} plain checks, {' and '.join(map(str, TOLERANCES))}   grader")
    with Pool(1) as pool:
        for answer in answers:
            (verdict,) = pool.grade_many(answer.parent, [answer])
            plain = "  ".join("takes it  " if one else "refuses it" for one in taken(answer))
            name = f"{answer.parent.name}/{answer.name}"
            print(f"{name:<28} {plain}   {verdict.status}  {verdict.diagnosis}", flush=True)


if __name__ == "__main__":
    main()
