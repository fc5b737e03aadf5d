"""Score a batch of candidate kernels, as a search or a training loop does: best first.

    python examples/score_kernels.py 13 candidates/*.py
    python examples/score_kernels.py examples/tasks/relu/ candidates/*.py

The parents stay warm between candidates, and each candidate is confined (`strict`), since nobody has read it.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from grader import Pool, Verdict


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("day", help="a day, an extra, or the folder of a task")
    parser.add_argument("names", nargs="+", metavar="FILE", help="a candidate's kernel.py")
    arguments = parser.parse_args()
    day, names = arguments.day, arguments.names
    with Pool(workers=len(os.sched_getaffinity(0)), device="cpu", strict=True) as pool:
        found = dict(
            zip(names, pool.grade_many(day, [Path(name).read_bytes() for name in names]), strict=True)
        )
    verdicts = {name: one for name, one in found.items() if isinstance(one, Verdict)}
    for name, verdict in sorted(verdicts.items(), key=lambda item: -item[1].score()):
        print(f"{verdict.score():.3f}  {verdict.status:<12}  {name}  {verdict.diagnosis}")
    for name, problem in found.items():
        if name not in verdicts:
            print(f"    -  not graded    {name}  {problem}")


if __name__ == "__main__":
    main()
