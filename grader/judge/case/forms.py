"""The form of every answer a runner may give. What does not fit is no answer: the other end may lie."""

from __future__ import annotations

from typing import Any

NUMBER = (int, float)
FAULT = {
    "kind": str, "type": str, "message": str, "line": int, "source": str, "traceback": [str],
}  # fmt: skip
LOADED = {"functions": {str: (list, type(None))}}
CALLED = {
    "structure": str,
    "outputs": [dict],
    "launches": [{"kernel": str, "grid": [int]}],
    "foreign": [str],
    "tampered": [str],
    "reads": [str],
    "backward": bool,
    "saved": [{"name": str, "bytes": int}],
    "allocated": int,
    "races": [{"kind": str, "line": int}],
    "guards": [{"tensor": str, "side": str, "bytes": int, "nearest": int}],
    "overruns": [
        {
            "kind": str,
            "tensor": str,
            "line": int,
            "where": str,
            "masked": bool,
            "tile": bool,
            "crowded": bool,
            "step": int,
            "itemsize": int,
        }
    ],
}
TENSOR = {"dtype": str, "shape": [int], "stride": [int], "device": str, "source": str, "launched": bool}
PREPARED = {"us": NUMBER, "graph_calls": int}
TIMED = {"us": [NUMBER]}
BURST: dict[str, Any] = {}
VERIFIED = {"nonce": int, "outputs": [dict]}
PEAK = {"peak": int, "outputs": int}
METERED = {
    "launches": [
        {
            "kernel": str,
            "line": int,
            "grid": [int],
            "programs": int,
            "sampled": int,
            "cut": bool,
            "shortened": bool,
            "sites": [
                {
                    "kind": str,
                    "line": int,
                    "tensor": str,
                    "itemsize": int,
                    "step": int,
                    **dict.fromkeys(("calls", "lanes", "masked", "asked", "useful", "sectors"), NUMBER),
                }
            ],
            "tensors": {
                str: {
                    "bytes": int,
                    "own": bool,
                    "read": NUMBER,
                    "written": NUMBER,
                    "stored": NUMBER,
                    "line": int,
                }
            },
            "ops": {str: NUMBER},
            "lines": {str: int},
            **dict.fromkeys(("dots", "flops", "rounds", "mean_rounds", "heaviest", "heaviest_flops"), NUMBER),
            "recipe": dict,
        }
    ]
}
STEP = {
    "kind": str,
    "line": int,
    "time": int,
    "times": int,
    "tensor": str,
    "touched": [[int]],
    "strays": [[int]],
    "stray": int,
    "masked": [[int]],
    "left": int,
    "lanes": [(int, type(None))],
    "apart": int,
    "sectors": int,
    "needed": int,
}
TRACED = {
    "launches": [
        {
            "kernel": str,
            "line": int,
            "grid": [int],
            "total": int,
            "tensors": {str: {"shape": [int], "stride": [int], "itemsize": int}},
            "programs": [{"at": [int], "number": int, "steps": [STEP]}],
            "findings": [{"says": str, "line": int, "program": int, "step": int}],
        }
    ]
}
BUILT = {
    "code": str,
    "facts": {
        **dict.fromkeys(("registers", "stack", "shared", "warps", "stages", "resident"), int),
        **dict.fromkeys(("matrix", "warpgroup", "doubles", "divisions", "tma", "copies"), int),
        "fits": bool,
        "limiter": str,
        "occupancy": NUMBER,
        "loads": {str: int},
        "stores": {str: int},
        "machine": {str: int},
    },
}


def fits(value: Any, form: Any) -> bool:
    """Whether `value` has this form: a type, several of them, [form of each item], or {key: form}.

    A dictionary may hold more keys than its form; {str: form} stands for any string keys.
    """
    if isinstance(form, list):
        return isinstance(value, list) and all(fits(item, form[0]) for item in value)
    if isinstance(form, dict) and str in form:
        return isinstance(value, dict) and all(fits(item, form[str]) for item in value.values())
    if isinstance(form, dict):
        return isinstance(value, dict) and all(key in value and fits(value[key], form[key]) for key in form)
    return isinstance(value, form)


def answers(header: Any, form: Any) -> bool:
    """Whether a header is an answer of this form, or the report of a fault."""
    if isinstance(header, dict) and "fault" in header:
        return fits(header["fault"], FAULT)
    if not fits(header, form):
        return False
    return all(fits(entry, TENSOR if "dtype" in entry else {"type": str}) for entry in _outputs(header))


def _outputs(header: dict[str, Any]) -> list[Any]:
    outputs = header.get("outputs")
    return outputs if isinstance(outputs, list) else []
