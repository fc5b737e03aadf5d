"""Score a batch of candidate kernels, as a search or a training loop does: best first.

    python examples/score_kernels.py 13 candidates/*.py

The parents stay warm between candidates, and each candidate is confined (`strict`), since nobody has read it.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from grader import Pool, Verdict


async def scores(day: str, sources: dict[str, bytes]) -> dict[str, Verdict | BaseException]:
    """A verdict for each source, by name; an exception where none could be given, which is not its fault."""
    async with Pool(workers=len(os.sched_getaffinity(0)), device="cpu") as pool:
        gradings = (pool.grade(day, source, strict=True) for source in sources.values())
        return dict(zip(sources, await asyncio.gather(*gradings, return_exceptions=True), strict=True))


def main() -> None:
    day, *paths = sys.argv[1:]
    found = asyncio.run(scores(day, {path: Path(path).read_bytes() for path in paths}))
    verdicts = {name: one for name, one in found.items() if isinstance(one, Verdict)}
    for name, verdict in sorted(verdicts.items(), key=lambda item: -item[1].score()):
        print(f"{verdict.score():.3f}  {verdict.status:<12}  {name}  {verdict.diagnosis}")
    for name, problem in found.items():
        if name not in verdicts:
            print(f"    -  not graded    {name}  {problem}")


if __name__ == "__main__":
    main()
