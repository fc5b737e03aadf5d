"""The operators that make mutants, by name. An edit that changes speed alone is none, so a launcher keeps its
block sizes, and the branches and sums that lead to them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from tools.mutation import expression_edits, swap_edits


@dataclass(frozen=True)
class Operator:
    """An edit of one kind.

    Args:
        edits: what may stand in the place of a node.
        kernels, launchers: where it is made.
    """

    edits: Callable[[ast.AST], expression_edits.Edits]
    kernels: bool = True
    launchers: bool = False


OPERATORS = {
    "drop-mask": Operator(expression_edits.drop_mask),
    "drop-condition": Operator(expression_edits.drop_condition),
    "drop-other": Operator(expression_edits.drop_other),
    "change-other": Operator(expression_edits.change_other),
    "drop-term": Operator(expression_edits.drop_term),
    "drop-factor": Operator(expression_edits.drop_factor),
    "turn-sign": Operator(expression_edits.turn_sign),
    "shrink-loop": Operator(expression_edits.shrink_loop),
    "round-down": Operator(expression_edits.round_down, launchers=True),
    "move-edge": Operator(expression_edits.move_edge),
    "turn-comparison": Operator(expression_edits.turn_comparison),
    "change-constant": Operator(expression_edits.change_constant),
    "lower-precision": Operator(expression_edits.lower_precision),
    "drop-cast": Operator(expression_edits.drop_cast),
    "swap-axis": Operator(swap_edits.swap_axis),
    "swap-function": Operator(expression_edits.swap_function),
    "drop-choice": Operator(expression_edits.drop_choice),
    "fix-branch": Operator(expression_edits.fix_branch),
    "drop-statement": Operator(expression_edits.drop_statement, launchers=True),
    "drop-barrier": Operator(expression_edits.drop_barrier),
    "drop-atomic": Operator(expression_edits.drop_atomic),
    "drop-transpose": Operator(swap_edits.drop_transpose),
    "swap-programs": Operator(swap_edits.swap_programs),
    "swap-arguments": Operator(swap_edits.swap_arguments, launchers=True),
    "swap-strides": Operator(swap_edits.swap_strides, launchers=True),
    "drop-fill": Operator(expression_edits.drop_fill, kernels=False, launchers=True),
    "change-shape": Operator(swap_edits.change_shape, kernels=False, launchers=True),
}
