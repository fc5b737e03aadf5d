"""The operators that make mutants, by name. An edit that changes speed alone is none, so a launcher keeps its
block sizes, and the branches and sums that lead to them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from tools import crossings, edits


@dataclass(frozen=True)
class Operator:
    """An edit of one kind.

    Args:
        edits: what may stand in the place of a node.
        kernels, launchers: where it is made.
    """

    edits: Callable[[ast.AST], edits.Edits]
    kernels: bool = True
    launchers: bool = False


OPERATORS = {
    "drop-mask": Operator(edits.drop_mask),
    "drop-condition": Operator(edits.drop_condition),
    "drop-other": Operator(edits.drop_other),
    "change-other": Operator(edits.change_other),
    "drop-term": Operator(edits.drop_term),
    "drop-factor": Operator(edits.drop_factor),
    "turn-sign": Operator(edits.turn_sign),
    "shrink-loop": Operator(edits.shrink_loop),
    "round-down": Operator(edits.round_down, launchers=True),
    "move-edge": Operator(edits.move_edge),
    "turn-comparison": Operator(edits.turn_comparison),
    "change-constant": Operator(edits.change_constant),
    "lower-precision": Operator(edits.lower_precision),
    "drop-cast": Operator(edits.drop_cast),
    "swap-axis": Operator(crossings.swap_axis),
    "swap-function": Operator(edits.swap_function),
    "drop-choice": Operator(edits.drop_choice),
    "fix-branch": Operator(edits.fix_branch),
    "drop-statement": Operator(edits.drop_statement, launchers=True),
    "drop-barrier": Operator(edits.drop_barrier),
    "drop-atomic": Operator(edits.drop_atomic),
    "drop-transpose": Operator(crossings.drop_transpose),
    "swap-programs": Operator(crossings.swap_programs),
    "swap-arguments": Operator(crossings.swap_arguments, launchers=True),
    "swap-strides": Operator(crossings.swap_strides, launchers=True),
    "drop-fill": Operator(edits.drop_fill, kernels=False, launchers=True),
    "change-shape": Operator(crossings.change_shape, kernels=False, launchers=True),
}
