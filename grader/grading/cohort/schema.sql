-- One database for each cohort. Days are texts: '13', 'rope'. Times are ISO 8601 in UTC.

-- A start of `track cohort grade`, and under what it graded: the course (its version and a digest of its
-- engine's files), torch, Triton, the GPU ('cpu' where there was none), and whether code was confined.
CREATE TABLE IF NOT EXISTS run (
    run INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    course TEXT NOT NULL, torch TEXT NOT NULL, triton TEXT NOT NULL, gpu TEXT NOT NULL,
    strict INTEGER NOT NULL
) STRICT;

-- Who handed in what: each source of a learner for a day once. `run` is the last one that read it, `course` that
-- run's with a digest of the day's own files, `handed_in` the first time it was handed in, NULL where unknown, and
-- `place` its path in what was handed in.
CREATE TABLE IF NOT EXISTS submission (
    id TEXT NOT NULL, day TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    course TEXT NOT NULL,
    run INTEGER NOT NULL REFERENCES run,
    handed_in TEXT, place TEXT NOT NULL,
    PRIMARY KEY (id, day, sha256)
) STRICT, WITHOUT ROWID;

-- Each source once: deflated, as zlib has it.
CREATE TABLE IF NOT EXISTS source (sha256 TEXT PRIMARY KEY, deflated BLOB NOT NULL) STRICT;

-- A verdict, written once and never changed; `verdict` is the JSON document of `track grade --json`.
CREATE TABLE IF NOT EXISTS verdict (
    sha256 TEXT NOT NULL, day TEXT NOT NULL,
    course TEXT NOT NULL, torch TEXT NOT NULL, triton TEXT NOT NULL, gpu TEXT NOT NULL,
    strict INTEGER NOT NULL,
    at TEXT NOT NULL,
    status TEXT NOT NULL, score REAL NOT NULL, diagnosis TEXT NOT NULL,
    yours_us REAL, evidence TEXT,
    verdict TEXT NOT NULL,
    PRIMARY KEY (sha256, day, course, torch, triton, gpu, strict)
) STRICT, WITHOUT ROWID;

-- What could not be graded in a run, and why.
CREATE TABLE IF NOT EXISTS trouble (run INTEGER NOT NULL REFERENCES run, place TEXT NOT NULL, problem TEXT NOT NULL) STRICT;

-- Every submission with its verdict, under what the run graded that read it last; NULL where there is none yet.
CREATE VIEW IF NOT EXISTS attempt AS
SELECT s.id, s.day, s.sha256, v.status, v.score, v.diagnosis, v.yours_us, v.evidence, v.at, s.handed_in,
       s.place, s.run, s.course, r.torch, r.triton, r.gpu, r.strict, v.verdict
FROM submission s JOIN run r USING (run)
LEFT JOIN verdict v ON v.sha256 = s.sha256 AND v.day = s.day AND v.course = s.course AND v.torch = r.torch
    AND v.triton = r.triton AND v.gpu = r.gpu AND v.strict = r.strict;

-- Of each learner and day the last attempt: the one that the last run found.
CREATE VIEW IF NOT EXISTS result AS
SELECT * FROM attempt a WHERE run = (SELECT max(run) FROM submission s WHERE s.id = a.id AND s.day = a.day);
