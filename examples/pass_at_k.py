"""pass@k and fast_p of kernels that a model wrote, from JSON lines with several samples an id.

    python examples/pass_at_k.py answers.jsonl --k 1 5 --p 1 2 --workers 4 --verdicts verdicts.jsonl

A line is {"id": "level1/19_ReLU", "task": "examples/tasks/relu/", "source": "…"}. The task is a folder or a
day, such as 13; without one, the id is it. The source is a text, or a model's whole answer. Lines with the
same id are its samples.

pass@k: Chen et al. 2021, arXiv:2107.03374. fast_p: Ouyang et al. 2025, arXiv:2502.10517.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from grader import Pool, Verdict

Samples = dict[str, list[Verdict]]


def pass_at_k(n: int, c: int, k: int) -> float:
    """The chance that one of k samples is right, where c of n are; unbiased: 1 - C(n-c, k) / C(n, k).

    Raises:
        ValueError: there are fewer than k samples.
    """
    if k > n:
        raise ValueError(f"pass@{k} takes {k} samples, and there are {n}")
    return 1.0 - math.comb(n - c, k) / math.comb(n, k)


def mean_pass_at_k(samples: Samples, k: int, right: Callable[[Verdict], bool]) -> float:
    """pass@k over all ids, where a sample counts as `right` says."""
    return sum(pass_at_k(len(own), sum(map(right, own)), k) for own in samples.values()) / len(samples)


def faster(p: float) -> Callable[[Verdict], bool]:
    """For fast_p: whether a sample is correct and more than p times as fast as torch, as it was measured."""
    return lambda verdict: (
        verdict.correct and (p == 0 or (verdict.speed is not None and verdict.speed.of_torch > p))
    )


def read(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of the file.

    Raises:
        SystemExit: one of them is not what it must be.
    """
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            line = json.loads(text) if text.strip() else None
            if line is not None:
                yield {**line, "id": str(line["id"]), "source": str(line["source"])}
        except (ValueError, KeyError, TypeError):
            sys.exit(f'{path}, line {number}: it must be {{"id": "…", "task": "…", "source": "…"}}')


async def graded(lines: Sequence[dict[str, Any]], workers: int, device: Any) -> list[Verdict | BaseException]:
    """A verdict for each line; an exception where none could be given, which is not the sample's fault."""
    async with Pool(workers, device) as pool:
        asked = (
            pool.grade(str(line.get("task") or line["id"]), line["source"], strict=True) for line in lines
        )
        return await asyncio.gather(*asked, return_exceptions=True)


def table(samples: Samples, ks: Iterable[int], ps: Iterable[float]) -> str:
    """A row for each id, then the means; ks that an id has too few samples for are left out."""
    ks = [k for k in ks if k <= min(map(len, samples.values()))]
    rows = [f"{'id':<32} {'samples':>7} {'correct':>7}" + "".join(f"{f'pass@{k}':>9}" for k in ks)]
    for name, own in samples.items():
        n, c = len(own), sum(verdict.correct for verdict in own)
        rows.append(f"{name:<32} {n:>7} {c:>7}" + "".join(f"{pass_at_k(n, c, k):>9.3f}" for k in ks))
    means = (mean_pass_at_k(samples, k, lambda verdict: verdict.correct) for k in ks)
    rows.append(f"{'mean':<48}" + "".join(f"{mean:>9.3f}" for mean in means))
    if any(v.speed and v.speed.evidence == "measured" for own in samples.values() for v in own):
        rows += [f"fast_{p:g}: {mean_pass_at_k(samples, 1, faster(p)):.3f}" for p in ps]
    else:
        rows.append("fast_p: speeds are measured on a GPU alone, of tasks with a bar")
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("answers", type=Path)
    parser.add_argument("--k", type=int, nargs="+", default=[1, 5, 10])
    parser.add_argument("--p", type=float, nargs="+", default=[0, 1, 2])
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--device", choices=("auto", "cpu", "gpu"), default="auto")
    parser.add_argument("--verdicts", type=Path, help="write a JSON line for each sample")
    given = parser.parse_args()
    lines = list(read(given.answers))
    verdicts = asyncio.run(graded(lines, given.workers, given.device))
    samples: Samples = defaultdict(list)
    for line, verdict in zip(lines, verdicts, strict=True):
        if isinstance(verdict, Verdict):
            samples[line["id"]].append(verdict)
        else:
            print(f"not graded, and left out: {line['id']}: {verdict}", file=sys.stderr)
    if given.verdicts:
        told = zip(lines, verdicts, strict=True)
        known = [
            {"id": line["id"], "score": v.score(), **v.to_json()}
            for line, v in told
            if isinstance(v, Verdict)
        ]
        given.verdicts.write_text("".join(json.dumps(one) + "\n" for one in known), encoding="utf-8")
    print(table(samples, given.k, given.p) if samples else "nothing was graded")


if __name__ == "__main__":
    main()
