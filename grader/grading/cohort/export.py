"""Every submission with its verdict, as a table for other programs."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path

from grader.course.learner.workspace import writing
from grader.course.setup.doctor import PIP
from grader.errors import CannotGrade, TrackError
from grader.grading.cohort.store import Result, results

BATCH = 10_000  # rows of a row group in Parquet
COLUMNS = tuple(Result.__dataclass_fields__)


def export(db: sqlite3.Connection, path: Path) -> int:
    """Write the view `result`, without whole verdicts but in JSON lines; returns the number of rows.

    Args:
        path: `.csv`, `.jsonl` or `.parquet` says which form.

    Raises:
        TrackError: another ending, or it cannot be written.
        CannotGrade: Parquet without pyarrow.
    """
    forms = {".csv": _csv, ".jsonl": _jsonl, ".parquet": _parquet}
    if path.suffix not in forms:
        raise TrackError(f"{path} ends in none of {', '.join(forms)}.", "track cohort export results.csv")
    with writing(path, "track cohort export results.csv"):
        return forms[path.suffix](db, path)


def _csv(db: sqlite3.Connection, path: Path) -> int:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        number = 0
        for one in results(db):
            writer.writerow(asdict(one))
            number += 1
        return number


def _jsonl(db: sqlite3.Connection, path: Path) -> int:
    number = 0
    with path.open("w", encoding="utf-8") as file:
        query = f"SELECT {', '.join(COLUMNS)}, verdict FROM result ORDER BY id, in_order(day)"
        for *row, verdict in db.execute(query):
            record = dict(zip(COLUMNS, row, strict=True)) | {"verdict": json.loads(verdict or "null")}
            file.write(json.dumps(record) + "\n")
            number += 1
    return number


def _parquet(db: sqlite3.Connection, path: Path) -> int:
    try:
        import pyarrow
        from pyarrow import parquet
    except ModuleNotFoundError as error:
        raise CannotGrade(f"{error.name} is not installed.", f"{PIP} pyarrow") from None
    numbers = ("score", "yours_us")
    types = {name: pyarrow.float64() if name in numbers else pyarrow.string() for name in COLUMNS}
    schema, number = pyarrow.schema(types.items()), 0
    with parquet.ParquetWriter(path, schema) as writer:
        for batch in _batches(results(db)):
            writer.write_table(pyarrow.Table.from_pylist([asdict(one) for one in batch], schema))
            number += len(batch)
    return number


def _batches(rows: Iterator[Result]) -> Iterator[list[Result]]:
    while batch := list(islice(rows, BATCH)):
        yield batch
