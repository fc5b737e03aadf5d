"""What else somebody would call for a day's work: the best libraries, each in the day's own signature.

Liger Kernel by its functional interface (https://github.com/linkedin/Liger-Kernel,
liger_kernel/transformers/functional.py), torch's attention by backend, and FlexAttention
(https://pytorch.org/docs/stable/nn.attention.flex_attention.html). None of them is needed: what is not
installed is left out, by name. And which extra in Gluon does a day's work on a Hopper GPU.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

Function = Callable[..., Any]
CHOSEN = {
    "cudnn": SDPBackend.CUDNN_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "math": SDPBackend.MATH,
}


@dataclass(frozen=True)
class Library:
    """One way to do a day's work by a library.

    Attributes:
        package: that must be installed, as pip calls it.
        make: from the arguments to a function with the day's signature; what it prepares is not timed. It
            may return fewer outputs than the day asks for, of which the first is the same.
    """

    name: str
    package: str
    make: Callable[[Sequence[Any]], Function]


def liger(name: str, adapt: Callable[[Function], Function] = lambda function: function) -> Library:
    """A function of Liger's, adapted to the day's signature."""

    def make(_: Sequence[Any]) -> Function:
        functional = importlib.import_module("liger_kernel.transformers.functional")
        return adapt(getattr(functional, name))

    return Library("liger", "liger-kernel", make)


def sdpa(backend: str) -> Library:
    """torch's attention by one backend; `causal` may be missing behind q, k, v and scale."""

    def attend(q: Any, k: Any, v: Any, scale: float, causal: bool = False) -> Any:
        with sdpa_kernel(CHOSEN[backend]):
            grouped = q.shape[1] != k.shape[1]
            return scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale, enable_gqa=grouped)

    return Library(backend, "torch", lambda _: attend)


def flex() -> Library:
    """Compiled FlexAttention; its mask is made before the clock runs."""

    def make(arguments: Sequence[Any]) -> Function:
        flex_attention: Any = importlib.import_module("torch.nn.attention.flex_attention")
        q, k, _, _, *causal = arguments
        lengths = (None, None, q.shape[2], k.shape[2])
        mask = flex_attention.create_block_mask(_seen, *lengths, device=q.device) if any(causal) else None
        compiled: Any = torch.compile(flex_attention.flex_attention, dynamic=False)
        how = {"block_mask": mask, "enable_gqa": q.shape[1] != k.shape[1]}
        return lambda q, k, v, scale, *_: compiled(q, k, v, scale=scale, **how)

    return Library("flex", "torch", make)


def _seen(b: Any, h: Any, query: Any, key: Any) -> Any:
    return query >= key


def backward_of(library: Library) -> Library:
    """Of a day whose function is the backward pass: that of a library's forward pass, made beforehand."""

    def make(arguments: Sequence[Any]) -> Function:
        q, k, v, _, _, _, scale, causal = arguments
        leaves = [x.detach().requires_grad_() for x in (q, k, v)]
        out = library.make([q, k, v, scale, causal])(*leaves, scale, causal)
        return lambda q, k, v, o, lse, do, *_: torch.autograd.grad(out, leaves, do, retain_graph=True)

    return Library(library.name, library.package, make)


ATTENTION = (sdpa("cudnn"), sdpa("efficient"), sdpa("math"), flex())
# By a day's place and the function that it asks for.
LIBRARIES: Mapping[tuple[str, str], Sequence[Library]] = {
    ("day13_fused_softmax", "softmax"): (liger("liger_softmax"),),
    ("day14_softmax_optimization", "softmax"): (liger("liger_softmax"),),
    ("day22_layer_normalization", "layer_norm"): (liger("liger_layer_norm"),),
    ("day28_attention_memory", "attention"): ATTENTION,
    ("day32_flash_forward_pass", "flash_forward"): ATTENTION,
    ("day34_flash_backward_pass", "flash_backward"): tuple(backward_of(one) for one in ATTENTION),
    ("day35_complete_flash_attention", "flash_attention"): ATTENTION,
    ("extras/find_the_bug_softmax", "softmax"): (liger("liger_softmax"),),
    ("extras/find_the_bug_flash", "flash_forward"): ATTENTION,
    ("extras/rms_norm", "rms_norm"): (
        liger(
            "liger_rms_norm",
            lambda f: lambda x, weight, eps, offset: f(x, weight, eps, offset, in_place=False),
        ),
    ),
    ("extras/dyt", "dyt"): (liger("liger_dyt"),),
    ("extras/swiglu_geglu", "swiglu"): (liger("liger_swiglu"),),
    ("extras/swiglu_geglu", "geglu"): (liger("liger_geglu"),),
    ("extras/cross_entropy", "cross_entropy"): (
        liger(
            "liger_cross_entropy",
            lambda f: (
                lambda logits, target, ignore_index, label_smoothing: f(
                    logits, target, ignore_index=ignore_index, label_smoothing=label_smoothing
                )
            ),
        ),
    ),
    ("extras/linear_cross_entropy", "linear_cross_entropy"): (
        liger(
            "liger_fused_linear_cross_entropy",
            lambda f: lambda x, weight, target, ignore_index: f(x, weight, target, ignore_index=ignore_index),
        ),
    ),
}


@dataclass(frozen=True)
class Gluon:
    """An extra in Gluon that does the same.

    Attributes:
        adapt: from its function to one with the day's signature.
    """

    slug: str
    entry: str
    adapt: Callable[[Function], Function] = lambda function: function


GLUON: Mapping[tuple[str, str], Gluon] = {
    ("day18_cache_optimization", "matmul"): Gluon("gluon_persistent_matmul", "matmul"),
    # Its scale is 1 / sqrt(D), as that of the day's bar.
    ("day32_flash_forward_pass", "flash_forward"): Gluon(
        "gluon_flash", "flash", lambda flash: lambda q, k, v, scale, causal: flash(q, k, v, causal)
    ),
    ("extras/fp8_matmul", "fp8_matmul"): Gluon("gluon_fp8_matmul", "fp8_matmul"),
}
