"""The names of Triton that nobody promised us; one that has moved is named before anything is graded."""

from __future__ import annotations

import importlib
from operator import attrgetter

NAMES: dict[str, tuple[str, ...]] = {
    "triton.runtime.interpreter": (
        "TensorHandle.__post_init__",
        "interpreter_semantic",
        "ASTTransformer",
        *(
            "FunctionRewriter._transform_ast",
            "FunctionRewriter._find_def",
            "FunctionRewriter.ast_transformer",
            "InterpretedFunction.rewrite",
        ),
        "_get_np_dtype",
        "_implicit_cvt",
        "_patch_builtin",
        "_patch_lang",
        "_patch_lang_core",
        "_patch_lang_tensor",
        *(f"GridExecutor.{name}" for name in ("__init__", "__call__", "_init_args_hst", "_restore_args_dev")),
        *(f"InterpreterBuilder.{name}" for name in ("set_grid_dim", "set_grid_idx", "binary_op", "unary_op")),
        *(f"InterpreterBuilder.create_{name}" for name in ("dot", "fma", "fp_to_fp", "clampf", "maxnumf")),
        *(f"InterpreterBuilder.create_{name}" for name in ("masked_load", "masked_store", "select", "splat")),
        *(f"InterpreterBuilder.{name}" for name in ("cast_impl", "get_all_ones_value", "create_gather")),
        *(f"_interpreter.{name}" for name in ("load", "store", "atomic_rmw", "atomic_cas")),
        *(f"interpreter_builder.{name}" for name in ("options", "grid_dim", "grid_idx")),
        *("ReduceOps.sum", "ReduceOps.generic_reduce", "ReduceOps.to_tensor", "ReduceOps.apply_impl"),
        *("ScanOps.cumsum", "ScanOps.cumprod", "ScanOps.generic_scan", "ScanOps.apply_impl"),
    ),
    "triton.runtime.jit": ("_normalize_ty",),
    "triton.runtime.autotuner": ("Autotuner._bench",),
    "triton.language.core": (
        *("_unwrap_if_constexpr", "block_type.__init__", "is_builtin", "tensor.__init__", "tensor.__not__"),
        *("tensor.logical_and", "tensor.logical_or", "tuple", "block_type.with_element_ty"),
    ),
    "triton.language.random": ("philox_impl",),
    "triton.language.semantic": (
        "TritonSemantic.binary_op_type_checking_impl",
        "TritonSemantic.broadcast_impl_value",
        "TritonSemantic.cast",
    ),
}


def missing() -> str:
    """The first name that this version of Triton lacks; empty where it has all."""
    for module, names in NAMES.items():
        try:
            found = importlib.import_module(module)
        except ImportError:
            return module
        for name in names:
            try:
                attrgetter(name)(found)
                if name == "InterpreterBuilder.set_grid_idx":  # it and set_grid_dim make what is read later
                    found.interpreter_builder.set_grid_dim(1, 1, 1)
                    found.interpreter_builder.set_grid_idx(0, 0, 0)
            except AttributeError:
                return f"{module}.{name}"
    return ""
