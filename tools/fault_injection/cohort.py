"""A cohort graded while what grades it is killed: `track dev drill [--files N] [--seed N]`.

On this machine a Ray cluster of two nodes is made, a core each, and `track cohort grade` started on it.

Without `--kills`, what is planted for the first days is handed in, solutions, mistakes, right files and
exploits. After a third of the verdicts a node is killed and another one joins, after two thirds the driver is
killed and started again. Then the table must hold the same statuses and diagnoses as single gradings.

With `--kills`, right files of day 1 are handed in, all different, and at random moments a worker, a warm
parent, a node or the driver gets SIGKILL, so many times. After each kill no verdict is lost, and others come.

"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from grader.course import catalog
from grader.errors import TrackError
from grader.grading.api import Pool
from grader.grading.environment import import_path
from tools import planted
from tools.fault_injection.processes import marked, told

ROLES = ("worker", "warm parent", "node", "driver")
MARKS = {"worker": "ray::grade", "warm parent": "grader.grading.warm_parent"}
DAYS = 14  # whose planted files are graded: the quick ones
PATIENCE = 180.0  # seconds in which verdicts must come again after a kill
FRESH = 4  # verdicts that show that nothing hangs
SEED = 4021


@dataclass
class Bench:
    """A cluster of two nodes, a driver, and what is handed in."""

    folder: Path
    lines: list[dict[str, Any]]
    cluster: Any
    nodes: list[Any] = field(default_factory=list)
    driver: subprocess.Popen[bytes] | None = None

    @property
    def database(self) -> Path:
        return self.folder / "cohort.db"

    @property
    def log(self) -> str:
        """What the driver printed."""
        return (self.folder / "driver.log").read_text(errors="replace")

    def join(self) -> None:
        self.nodes.append(self.cluster.add_node(num_cpus=1))

    def start(self) -> None:
        command = [sys.executable, "-m", "grader", "cohort", "grade", str(self.folder / "handed-in.jsonl")]
        command += ["--db", str(self.database), "--ray", self.cluster.address, "--seed", str(SEED)]
        with (self.folder / "driver.log").open("ab") as log:
            self.driver = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)

    def verdicts(self) -> dict[tuple[str, str], tuple[str, str]]:
        """Status and diagnosis by id and day, of all that have a verdict."""
        if not self.database.is_file():
            return {}
        query = "SELECT id, day, status, diagnosis FROM result WHERE status IS NOT NULL"
        with suppress(sqlite3.OperationalError), closing(sqlite3.connect(self.database, timeout=30)) as db:
            return {(id, day): (status, words) for id, day, status, words in db.execute(query)}
        return {}  # it is just being made

    def until(self, number: int, patience: float) -> bool:
        """Whether there are so many verdicts in time; a driver that is done leaves all of them."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            if len(self.verdicts()) >= number:
                return True
            if self.driver and self.driver.poll() in (0, 1):  # it is done
                return len(self.verdicts()) >= number
            if self.driver and self.driver.poll() is not None:
                raise TrackError("The driver ended: " + self.log)
            time.sleep(0.2)
        return False

    def kill(self, role: str, rng: random.Random) -> bool:
        """Whether there was somebody to kill."""
        if role == "driver":
            assert self.driver
            self.driver.kill()
            self.driver.wait()
            self.start()
            return True
        if role == "node":
            self.cluster.remove_node(self.nodes.pop(rng.randrange(2)), allow_graceful=False)
            self.join()
            return True
        found = [pid for pid in marked(f"TRACK_DRILL={os.getpid()}") if MARKS[role] in told(pid, "cmdline")]
        for pid in rng.sample(sorted(found), min(1, len(found))):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                return True
        return False


def sources(number: int, rng: random.Random) -> list[dict[str, Any]]:
    """What is planted for the first days, so many files of it, as lines to hand in."""
    found = []
    for day in catalog.days()[:DAYS]:
        wrong = ((one.name, one.source(day)) for one in planted.mistakes(day) if one.shows(on_gpu=False))
        whole = (one for one in planted.exploits(day) if not (one.gpu or one.only))
        files = (*planted.right(day), *(one.path for one in whole), day.solution)
        right = ((path.stem, path.read_text(encoding="utf-8")) for path in files)
        found += [{"day": day.key, "source": source} for _, source in chain(wrong, right)]
    taken = rng.sample(found, min(number, len(found)))
    return [{"id": f"file{place}", **line} for place, line in enumerate(taken)]


def different(number: int) -> list[dict[str, Any]]:
    """The solution of day 1, so many times, each another file."""
    text = catalog.find("1").solution.read_text(encoding="utf-8")
    return [{"id": f"file{n}", "day": 1, "source": f"{text}# {n}\n"} for n in range(number)]


async def singly(lines: list[dict[str, Any]]) -> dict[tuple[str, str], tuple[str, str]]:
    """The same table by single gradings, without Ray."""
    async with Pool(2, "cpu") as pool:
        gradings = (pool.grade(one["day"], one["source"], seed=SEED, strict=True) for one in lines)
        found = await asyncio.gather(*gradings)
    keys = ((one["id"], str(one["day"])) for one in lines)
    return {key: (one.status, one.diagnosis) for key, one in zip(keys, found, strict=True)}


def _settled(told: tuple[str, str]) -> tuple[str, str]:
    """What every grading says alike: an endless loop is met at one of its lines, by chance."""
    return told[0], re.sub(r"it was at line \d+", "it was at a line", told[1])


def once(bench: Bench, rng: random.Random) -> Iterator[str]:
    """One node and one driver killed; what should not be, in words."""
    for third, role in ((1, "node"), (2, "driver")):
        bench.until(len(bench.lines) * third // 3, 3600)
        bench.kill(role, rng)
        print(f"{role} killed after {len(bench.verdicts())} verdicts", flush=True)
    bench.until(len(bench.lines), 3600)
    assert bench.driver
    bench.driver.wait()
    table, wanted = bench.verdicts(), asyncio.run(singly(bench.lines))
    for key in wanted:
        if _settled(table.get(key, ("", ""))) != _settled(wanted[key]):
            yield f"{key}: {table.get(key)}, and by itself {wanted[key]}"
    print(f"{len(wanted)} verdicts: {dict(Counter(status for status, _ in wanted.values()))}")


def many(bench: Bench, rng: random.Random, kills: int) -> Iterator[str]:
    """So many kills; what should not be, in words."""
    struck: Counter[str] = Counter()
    before: dict[tuple[str, str], tuple[str, str]] = {}
    while struck.total() < kills:
        time.sleep(rng.uniform(0, 2))
        role = rng.choice(ROLES)
        if not bench.kill(role, rng):
            continue
        struck[role] += 1
        now = bench.verdicts()
        if before.items() - now.items():
            yield f"{role}, {struck.total()}: verdicts are lost or changed"
        if not bench.until(len(now) + FRESH, PATIENCE):
            yield f"{role}, {struck.total()}: no verdict for {PATIENCE:.0f} s"
        before = now
        print(f"\r{struck.total()} kills", end="", file=sys.stderr, flush=True)
    found = Counter(status for status, _ in bench.verdicts().values())
    print(f"{found.total()} verdicts on right files: {dict(found)}; killed: {dict(struck)}")
    if found.total() > found["passed"] + found["crashed"]:  # crashed: hit three times, and reported
        yield "a right file got another verdict than it should"


def main() -> None:
    parser = argparse.ArgumentParser(
        "track dev drill", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=300, help="how many are handed in; 300 unless told")
    parser.add_argument("--kills", type=int, default=0, help="how often somebody is killed, at random")
    parser.add_argument("--seed", type=int, default=1, help="of what is taken, and of who is killed when")
    chosen = parser.parse_args()
    rng = random.Random(chosen.seed)
    lines = different(200 * chosen.kills) if chosen.kills else sources(chosen.files, rng)
    with tempfile.TemporaryDirectory(prefix="track-drill-") as folder:
        problems = drill(
            Path(folder),
            lines,
            lambda bench: many(bench, rng, chosen.kills) if chosen.kills else once(bench, rng),
        )
    sys.exit(1 if problems else 0)


def drill(folder: Path, lines: list[dict[str, Any]], act: Callable[[Bench], Iterator[str]]) -> int:
    """Make the cluster, hand in, act; prints what should not be, and returns how much of it there was."""
    os.environ |= {
        "TRACK_DRILL": str(os.getpid()),
        "PYTHONPATH": import_path(),
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    from ray.cluster_utils import Cluster

    (folder / "handed-in.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    bench = Bench(folder, lines, Cluster(initialize_head=True, head_node_args={"num_cpus": 0}))
    number = 0
    try:
        bench.join()
        bench.join()
        bench.start()
        if not bench.until(1, PATIENCE):
            raise TrackError("No verdict came: " + bench.log)
        for problem in act(bench):
            print(problem, flush=True)
            number += 1
    finally:
        if bench.driver:
            bench.driver.kill()
            bench.driver.wait()
        bench.cluster.shutdown()
    return number


if __name__ == "__main__":
    main()
