"""Every submission with its verdict, as a table for other programs."""

from __future__ import annotations

import csv
import json
import sqlite3
from pathlib import Path

from grader.course.learner.workspace import writing
from grader.errors import TrackError
from grader.grading.cohort.store import COLUMNS


def export(db: sqlite3.Connection, path: Path) -> int:
    """Write the view `result`, with whole verdicts in JSON lines; returns the number of rows.

    Args:
        path: `.csv` or `.jsonl` says which form.

    Raises:
        TrackError: another ending, or it cannot be written.
    """
    again = "track cohort export results.csv"
    if path.suffix not in (".csv", ".jsonl"):
        raise TrackError(f"{path} ends neither in .csv nor in .jsonl.", again)
    number = 0
    with writing(path, again), path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file) if path.suffix == ".csv" else None
        if table:
            table.writerow(COLUMNS)
        query = f"SELECT {', '.join(COLUMNS)}, verdict FROM result ORDER BY id, in_order(day)"
        for *row, verdict in db.execute(query):
            number += 1
            if table:
                table.writerow(row)
            else:
                record = dict(zip(COLUMNS, row, strict=True)) | {"verdict": json.loads(verdict or "null")}
                file.write(json.dumps(record) + "\n")
    return number
