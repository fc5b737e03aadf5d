"""What a learner may have computed on day 35, forwards or backwards."""

from __future__ import annotations

from grader.challenge.formulas.grouped_attention import Rules

right = Rules()
MISREAD = "Query head h reads key head h % Hk: neighbours share, so it is h // (Hq // Hk). "


def in_backward(**other) -> Rules:
    """Right in the forward pass, and not in the backward pass."""
    return Rules(back=Rules(**other))


def modulo(h: int, group: int, heads: int) -> int:
    return h % heads


SUSPECTS = {
    MISREAD + "Both passes do.": Rules(reads=modulo),
    MISREAD + "The forward pass does.": Rules(reads=modulo, back=right),
    MISREAD + "The backward pass does.": in_backward(reads=modulo),
    "Query head h reads key head h: it is h // (Hq // Hk).": Rules(
        reads=lambda h, group, heads: min(h, heads - 1)
    ),
    "dk and dv hold the first query head of each group alone: they are sums over all that read the key.": (
        in_backward(members=lambda member, group: float(member == 0))
    ),
    "dk and dv hold the last query head of each group alone: they are sums over all that read the key.": (
        in_backward(members=lambda member, group: float(member == group - 1))
    ),
    "dk and dv are means over the query heads of a group: they are sums.": in_backward(
        members=lambda member, group: 1 / group
    ),
    "The last query head of each group is left out of dk and dv.": in_backward(
        members=lambda member, group: float(member < group - 1)
    ),
    "dq lacks the scale: s = q kᵀ · scale, so dq = scale · ds k.": in_backward(
        grads=lambda dq, dk, dv, scale: (dq / scale, dk, dv)
    ),
    "dk lacks the scale: s = q kᵀ · scale, so dk = scale · dsᵀ q.": in_backward(
        grads=lambda dq, dk, dv, scale: (dq, dk / scale, dv)
    ),
    "dq and dk lack the scale: s = q kᵀ · scale.": in_backward(
        grads=lambda dq, dk, dv, scale: (dq / scale, dk / scale, dv)
    ),
    "dq holds the scale twice.": in_backward(grads=lambda dq, dk, dv, scale: (dq * scale, dk, dv)),
    "dk holds the scale twice.": in_backward(grads=lambda dq, dk, dv, scale: (dq, dk * scale, dv)),
    "dq and dk hold the scale twice.": in_backward(
        grads=lambda dq, dk, dv, scale: (dq * scale, dk * scale, dv)
    ),
    "dk and dv are swapped: backward() returns gradients in the order of forward()'s arguments.": in_backward(
        grads=lambda dq, dk, dv, scale: (dq, dv, dk)
    ),
    "delta is not subtracted: ds = p ∘ (dp − delta).": in_backward(delta=0.0),
    "delta is added: ds = p ∘ (dp − delta).": in_backward(delta=-1.0),
    "The scale is missing: the scores are q kᵀ · scale.": Rules(scaled=lambda scale: 1.0),
    "The backward pass does not know the scale: keep it in ctx.": in_backward(scaled=lambda scale: 1.0),
    "The sign of the scale is lost.": Rules(scaled=abs),
    "The sign of the scale is lost in the forward pass.": Rules(scaled=abs, back=right),
    "The sign of the scale is lost in the backward pass.": in_backward(scaled=abs),
    "The causal mask is aligned at the top left: query i sees keys up to i + Sk - Sq.": Rules(
        shift=lambda last: 0
    ),
    "The causal mask is aligned at the top left in the backward pass: query i sees keys up to i + Sk - Sq.": (
        in_backward(shift=lambda last: 0)
    ),
    "causal=True masks nothing: every query sees every key.": Rules(shift=lambda last: None),
    "The backward pass does not mask: causal must reach it, by ctx.": in_backward(shift=lambda last: None),
    "The causal mask hides the diagonal: query i sees key i + Sk - Sq too.": Rules(
        shift=lambda last: last - 1
    ),
    "The causal mask of the backward pass hides the diagonal.": in_backward(shift=lambda last: last - 1),
    "The causal mask of the backward pass lets one key too many through.": in_backward(
        shift=lambda last: last + 1
    ),
}
