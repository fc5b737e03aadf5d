"""What a learner may have computed in the place of a decoding step of grouped heads."""

from __future__ import annotations

from grader.challenge.formulas.decoding_suspects import GROUPED
from grader.challenge.formulas.decoding_suspects import SUSPECTS as OF_ANY
from grader.challenge.formulas.split_kv_suspects import of_splits

SUSPECTS = {**GROUPED, **OF_ANY, **of_splits(16)}
