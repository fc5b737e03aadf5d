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
