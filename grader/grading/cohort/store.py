"""Where verdicts are kept: SQLite, in WAL mode, with one writer. schema.sql says what each table holds."""

from __future__ import annotations

import fcntl
import hashlib
import json
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from types import TracebackType

from grader.course import catalog
from grader.course.catalog import Day
from grader.course.learner.workspace import writing
from grader.errors import BadSubmission, TrackError, pasted
from grader.grading.cohort import roster
from grader.grading.cohort.course_digest import of_day
from grader.grading.cohort.report import in_order
from grader.grading.cohort.roster import Learner
from grader.grading.cohort.submission import Submission, Trouble
from grader.printable_names import visible
from grader.verdict import Verdict

SCHEMA = Path(__file__).with_name("schema.sql")
ANOTHER = "track cohort grade SUBMISSIONS --db FILE"
VERSION = 2  # of the schema: PRAGMA user_version
HAND_IN = """INSERT INTO submission VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
    course = excluded.course, run = excluded.run, place = excluded.place,
    handed_in = coalesce(min(handed_in, excluded.handed_in), handed_in, excluded.handed_in)"""


@dataclass(frozen=True)
class Conditions:
    """Under what a run grades. With a source and a day they are the key of a verdict.

    Attributes:
        course: its version and a digest of the engine's files; of one day (`of`) also of that day's files.
        gpu: `cpu` where there is none.
        strict: the code is confined.
    """

    course: str
    torch: str
    triton: str
    gpu: str
    strict: bool

    def of(self, day: Day) -> Conditions:
        """The same for one day: a change of its files changes no other day's."""
        return replace(self, course=f"{self.course}.{of_day(day)}")


@dataclass(frozen=True)
class Result:
    """A row of the view `result`; what comes behind sha256 is None where there is no verdict yet."""

    id: str
    day: str
    sha256: str
    status: str | None
    score: float | None
    diagnosis: str | None
    yours_us: float | None
    evidence: str | None
    at: str | None
    handed_in: str | None
    place: str


class Twice(Exception):
    """Two files of one learner for one day; the message says so."""


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """The database, to be read; also while a run writes it.

    Raises:
        TrackError: there is none, or the file is none of ours, or damaged.
    """
    if not path.is_file():
        raise BadSubmission(f"There is no cohort in {path}.", "track cohort grade SUBMISSIONS")
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=30)
    try:
        _check(connection, path)
        connection.create_function("in_order", 1, lambda day: "{:03}{}{}".format(*in_order(day)))
        yield connection
    except sqlite3.DatabaseError as error:
        raise TrackError(f"{path} cannot be read: {error}.", ANOTHER) from error
    finally:
        connection.close()


def _check(connection: sqlite3.Connection, path: Path, *, new: bool = False) -> None:
    """Lets a database of ours pass, or an empty one where it is to be `new`.

    Raises:
        TrackError: it is neither.
    """
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.DatabaseError as error:
        raise TrackError(f"{path} is no database: {error}.", ANOTHER) from None
    if 0 < version < VERSION:
        raise TrackError(f"An earlier version of this course wrote {path}.", ANOTHER)
    if version != VERSION and (tables or not new):
        raise TrackError(f"{path} is no cohort of this course.", ANOTHER)


class Store:
    """The database, to be written: one run of `track cohort grade`.

    Args:
        path: made where there is none.

    Raises:
        TrackError: another run writes it, or it is none of ours.
    """

    def __init__(self, path: Path, conditions: Conditions) -> None:
        self.conditions = conditions
        if path.is_dir() or not path.parent.is_dir():
            problem = f"{path} is a folder" if path.is_dir() else f"There is no folder {path.parent}"
            raise TrackError(f"{problem}.", ANOTHER)
        with writing(path):
            self._lock = path.with_name(f"{path.name}.lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fix = f"track cohort status --db {pasted(path)}"
            raise TrackError(f"Another run writes {path}.", fix) from None
        self._db = sqlite3.connect(path, timeout=30)
        _check(self._db, path, new=True)
        self._db.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL")
        self._db.executescript(f"BEGIN; {SCHEMA.read_text()} PRAGMA user_version={VERSION}; COMMIT")
        run = "INSERT INTO run (at, course, torch, triton, gpu, strict) VALUES (?, ?, ?, ?, ?, ?)"
        self.run = self._db.execute(run, (_now(), *astuple(conditions))).lastrowid
        self.commit()

    def hand_in(self, submission: Submission) -> str:
        """Note who handed in what and when, and return the source's sha256. A source that was handed in
        before keeps its first time.

        Raises:
            Twice: in this run that learner handed in another file for that day.
        """
        sha256 = hashlib.sha256(submission.source).hexdigest()
        key = submission.id, str(submission.day.key)
        query = "SELECT sha256 FROM submission WHERE (id, day, run) = (?, ?, ?)"
        before = self._db.execute(query, (*key, self.run)).fetchone()
        if before and before[0] != sha256:
            raise Twice(f"another file for day {key[1]} was handed in before, and counts")
        course = self.conditions.of(submission.day).course
        when = _utc(submission.when) if submission.when else None
        self._db.execute(HAND_IN, (*key, sha256, course, self.run, when, visible(submission.where)))
        if self._db.execute("SELECT 1 FROM source WHERE sha256 = ?", (sha256,)).fetchone() is None:
            self._db.execute("INSERT INTO source VALUES (?, ?)", (sha256, zlib.compress(submission.source)))
        return sha256

    def has(self, sha256: str, day: str) -> bool:
        """Whether there is a verdict on it under this run's conditions."""
        key = sha256, day, *astuple(self.conditions.of(catalog.find(day)))
        where = "(sha256, day, course, torch, triton, gpu, strict) = (?, ?, ?, ?, ?, ?, ?)"
        return self._db.execute(f"SELECT 1 FROM verdict WHERE {where}", key).fetchone() is not None

    def keep(self, verdict: Verdict) -> None:
        """Write a verdict; one that is there stays."""
        speed, day = verdict.speed, str(verdict.day)
        self._db.execute(
            f"INSERT OR IGNORE INTO verdict VALUES ({', '.join('?' * 14)})",
            (
                *(verdict.sha256, day, *astuple(self.conditions.of(catalog.find(day))), _now()),
                *(verdict.status, verdict.score(), verdict.diagnosis),
                *((speed.yours_us, speed.evidence) if speed else (None, None)),
                json.dumps(verdict.to_json()),
            ),
        )

    def note(self, trouble: Trouble) -> None:
        """Write down what could not be graded."""
        words = (visible(text) for text in (trouble.where, trouble.problem))
        self._db.execute("INSERT INTO trouble VALUES (?, ?, ?)", (self.run, *words))

    def commit(self) -> None:
        """What was written outlives this process from here on."""
        self._db.commit()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.commit()
        self._db.close()
        self._lock.close()


def files_of(path: Path) -> tuple[Path, ...]:
    """What SQLite keeps of a database, and the folder around it, where pages and exports are written."""
    whole = path.absolute()
    return (whole.parent, whole, *(whole.with_name(whole.name + end) for end in ("-wal", "-shm", ".lock")))


def _utc(moment: datetime) -> str:
    return moment.astimezone(timezone.utc).isoformat(timespec="seconds")


def _now() -> str:
    return _utc(datetime.now())


COLUMNS = tuple(Result.__dataclass_fields__)


def results(connection: sqlite3.Connection) -> Iterator[Result]:
    """Every submission with its verdict, by id and day."""
    rows = connection.execute(f"SELECT {', '.join(COLUMNS)} FROM result ORDER BY id, in_order(day)")
    return (Result(*row) for row in rows)


def hide_withdrawn(connection: sqlite3.Connection, learners: Sequence[Learner] | None) -> list[str]:
    """From here on `result` has nothing of who is withdrawn; returns the names of who handed in nothing."""
    owners = {}
    for (id,) in connection.execute("SELECT DISTINCT id FROM submission"):
        with suppress(TrackError):
            owners[id] = roster.find(id, learners)
    hidden = json.dumps([id for id, one in owners.items() if one.withdrawn])
    connection.execute("CREATE TEMP TABLE hidden AS SELECT value AS id FROM json_each(?)", (hidden,))
    kept = "SELECT * FROM main.result WHERE id NOT IN (SELECT id FROM hidden)"
    connection.execute(f"CREATE TEMP VIEW result AS {kept}")
    there = {one.names for one in owners.values()}
    return [one.name for one in learners or () if not one.withdrawn and one.names not in there]


def meant(connection: sqlite3.Connection, who: str, day: Day | None) -> list[Result]:
    """What was handed in by whom a part of a name or number can mean; a whole id means no other."""
    found = [one for one in results(connection) if day is None or one.day == str(day.key)]
    exact = [one for one in found if one.id == who]
    part, number = roster.squashed(who), f"_{who}_"  # Moodle's number stands in the path alone
    return exact or [one for one in found if part in roster.squashed(one.id) or number in one.place]


def verdict_of(connection: sqlite3.Connection, id: str, day: str) -> tuple[Verdict | None, bytes]:
    """The verdict on what a learner handed in, None where there is none yet; and the source.

    Raises:
        TrackError: nothing was handed in.
    """
    query = "SELECT verdict, deflated FROM result JOIN source USING (sha256) WHERE (id, day) = (?, ?)"
    found = connection.execute(query, (id, day)).fetchone()
    if found is None:
        raise TrackError(f"{id} handed in nothing for day {day}.", "track cohort status")
    return Verdict.from_json(json.loads(found[0])) if found[0] else None, zlib.decompress(found[1])


def troubles(connection: sqlite3.Connection) -> list[Trouble]:
    """What the last run could not grade."""
    query = "SELECT place, problem FROM trouble WHERE run = (SELECT max(run) FROM run) ORDER BY rowid"
    return [Trouble(*row) for row in connection.execute(query)]
