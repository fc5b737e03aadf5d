"""The generic pytest module: the same checks, in the same order, over any day's Challenge.

pytest runs it inside the judge; `session.py` provides the `session` fixture and turns results into events. A
check fails by raising CheckFailed; anything else that escapes is our own bug and no verdict on the learner.
"""

from __future__ import annotations

from typing import Any

from grader.challenge import Case, Challenge, Claim, Relation
from grader.judge import acceptance, ahead, early
from grader.judge.checks import (
    capability,
    claims,
    compilations,
    compiles,
    correct,
    edges,
    honest,
    imports,
    memory,
    tuned,
    turned,
    walked,
)
from grader.judge.checks import (
    interpreted as interpreting,
)
from grader.judge.checks import (
    staged as onstage,
)
from grader.judge.failures import CheckFailed
from grader.judge.following import Following
from grader.judge.meanwhile import Meanwhile
from grader.judge.session import Session


def test_imports(session: Session) -> None:
    """The file imports, and defines the entry with the signature that the cases call."""
    session.ahead = ahead.begin(session)
    imports.check(session)
    session.acceptance = acceptance.begin(session)
    if session.ahead:
        session.meanwhile = Meanwhile(session)
        session.following = Following(session, session.meanwhile)
    early.begin(session)


def test_correct(session: Session, case: tuple[Challenge, Case]) -> None:
    """Plain inputs, smallest first."""
    correct.check(session, *case)


def test_edges(session: Session, case: tuple[Challenge, Case]) -> None:
    """Unusual layouts and values."""
    interpreting.begin(session)
    edges.check(session, *case)


def test_related(session: Session, relation: tuple[Challenge, Relation]) -> None:
    """What two calls have to do with one another; shown as one of the edges."""
    edges.relate(session, *relation)


def test_compiled(session: Session, compiled: Challenge) -> None:
    """How often kernels are compiled over some calls; shown as one of the edges."""
    compilations.check(session, compiled)


def test_staged(session: Session, staged: tuple[Challenge, Case]) -> None:
    """A case whose launcher believes in a GPU that is not there; shown as one of the edges."""
    onstage.check(session, *staged)


def test_interpreted(session: Session, interpreted: tuple[Challenge, Case]) -> None:
    """On a GPU: the addresses of small cases, which no GPU shows; shown as edges."""
    interpreting.check(session, *interpreted)


def test_walked(session: Session, walk: tuple[Challenge, Case]) -> None:
    """The addresses of huge cases; shown as edges."""
    try:
        huge = walked.check(session, *walk)
    except CheckFailed as failed:
        if failed.outcome == "limit":
            turned.check(session, walk[0], None)
        raise
    turned.check(session, walk[0], huge)


def test_compiles(session: Session) -> None:
    """Without a GPU: the compiler takes what a GPU would be handed."""
    compiles.check(session)


def test_honest(session: Session) -> None:
    """The answers came from the learner's kernels."""
    honest.check(session)


def test_memory(session: Session, part: Challenge) -> None:
    """What a call allocates beyond its outputs."""
    memory.check(session, part)


def test_fast(session: Session, bar: tuple[Challenge, Any]) -> None:
    """Time of a call against the bar on a GPU; without one, what counts and compiler say of it. Then what the
    autotuner chose among, where the day asks for one.
    """
    from grader.judge.checks import fast, predicted

    capability.check(session, bar[1].capability)
    tuned.named(session, bar[0])
    (predicted if session.device == "cpu" else fast).check(session, *bar)
    tuned.check(session, bar[0])


def test_claims(session: Session, claimed: tuple[Challenge, Claim, Case]) -> None:
    """One shape of a claim, where claims were asked for."""
    claims.check(session, *claimed)
