"""The formulas of the days are those of torch, and their parts are what they say."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from grader.challenge import Case
from grader.challenge.formulas.attention import attention, attention_lse, by_head, forward
from grader.challenge.formulas.attention_backward import Backward
from grader.challenge.formulas.decoding import Rules as Step
from grader.challenge.formulas.decoding import drawn
from grader.challenge.formulas.grouped_attention import Rules
from grader.challenge.formulas.layer_norm import dx_of, layer_norm, mean_of, rstd_of, var_of
from grader.challenge.formulas.partial_softmax import merge
from grader.challenge.formulas.qkv_layouts import at, heads, lying
from grader.challenge.formulas.split_kv_suspects import factored, merging
from grader.challenge.formulas.stride_suspects import swapped_strides, through
from grader.challenge.harness.draw import Draw

Three = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


def qkv(Sq: int, Sk: int) -> Three:
    torch.manual_seed(1)
    q, k, v = (torch.randn(2, 3, length, 8, dtype=torch.float64) for length in (Sq, Sk, Sk))
    return q, k, v


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("Sq", "Sk"), [(5, 5), (4, 7)])
def test_attention_in_steps_by_head_and_by_torch_agree(Sq: int, Sk: int, causal: bool) -> None:
    q, k, v = qkv(Sq, Sk)
    seen = torch.ones(Sq, Sk, dtype=torch.bool).tril(Sk - Sq) if causal else None
    right = F.scaled_dot_product_attention(q, k, v, attn_mask=seen, scale=0.3)
    o, lse = by_head(forward)(q, k, v, 0.3, causal)
    torch.testing.assert_close(attention(q, k, v, 0.3, causal), right)
    torch.testing.assert_close(o, right)
    torch.testing.assert_close(lse, attention_lse(q, k, 0.3, causal))
    torch.testing.assert_close(Rules()(q, k, v, 0.3, causal), right)


def test_a_query_that_sees_no_key_gives_0_and_minus_infinity() -> None:
    q, k, v = qkv(6, 4)
    o, lse = by_head(forward)(q, k, v, 0.3, True)
    assert not o[:, :, :2].any()
    assert bool((lse[:, :, :2] == -torch.inf).all())
    assert bool(lse[:, :, 2:].isfinite().all())
    torch.testing.assert_close(attention(q, k, v, 0.3, True), o)


@pytest.mark.parametrize("causal", [False, True])
def test_the_gradients_are_those_of_autograd(causal: bool) -> None:
    leaves = [x.requires_grad_() for x in qkv(5, 7)]
    do = torch.randn(2, 3, 5, 8, dtype=torch.float64)
    right = torch.autograd.grad(attention(*leaves, 0.3, causal), leaves, do)
    q, k, v = (x.detach() for x in leaves)
    o, lse = by_head(forward)(q, k, v, 0.3, causal)
    for found in (
        by_head(Backward())(q, k, v, o, lse, do, 0.3, causal),
        torch.autograd.grad(Rules()(*leaves, 0.3, causal), leaves, do),
    ):
        for mine, theirs in zip(found, right, strict=True):
            torch.testing.assert_close(mine, theirs)


def test_layer_norm_by_its_parts_is_torchs() -> None:
    torch.manual_seed(1)
    x = torch.randn(3, 10, dtype=torch.float64, requires_grad=True)
    weight, bias, dy = (torch.randn(*shape, dtype=torch.float64) for shape in ((10,), (10,), (3, 10)))
    y = layer_norm(x, weight, bias, 1e-3)
    x_hat, rstd = (x - mean_of(x)) / (var_of(x) + 1e-3).sqrt(), rstd_of(x, 1e-3)
    torch.testing.assert_close(y, x_hat * weight + bias)
    torch.testing.assert_close(dx_of(dy, weight, x_hat, rstd), torch.autograd.grad(y, x, dy)[0])


def test_two_parts_of_a_softmax_merge_to_the_whole() -> None:
    s, v = torch.randn(3, 10, dtype=torch.float64), torch.randn(10, 4, dtype=torch.float64)

    def part(keys: slice) -> Three:
        m = s[:, keys].amax(dim=1)
        p = torch.exp(s[:, keys] - m[:, None])
        return m, p.sum(dim=1), p @ v[keys]

    _, total, o = merge(*part(slice(0, 4)), *part(slice(4, 10)))
    torch.testing.assert_close(o / total[:, None], torch.softmax(s, dim=1) @ v)


def test_what_is_misread_lies_in_the_same_memory_or_is_zeros() -> None:
    x = torch.arange(6.0).view(2, 3)
    assert swapped_strides(x.view(3, 2)).tolist() == [[0, 2], [1, 3], [2, 4]]
    assert through((2, 1), x).tolist() == [[0, 1, 2], [2, 3, 4]]
    assert not through((9, 1), x).any()
    assert not through((1, 2), x.T).any()


@pytest.mark.parametrize("order", ["bshd", "hbsd", "bhds"])
def test_heads_lie_in_memory_in_the_order_asked_for(order: str) -> None:
    case = at(5, 6, 8, k_order=order, B=2, H=3)
    k = heads(case, Draw(case, 1), "k", case.H, case.Sk)
    assert k.shape == (2, 3, 6, 8)
    assert k.permute(["bhsd".index(axis) for axis in order]).is_contiguous()


def test_an_order_that_is_none_is_told() -> None:
    with pytest.raises(ValueError, match="no order 'bshh'"):
        lying(Draw(Case(), 1), "bshh", (1, 1, 1, 1))


def test_a_decoding_step_is_attention_of_the_last_query_and_so_are_its_parts_merged() -> None:
    case = Case(lengths="7+0+5", s=7, h=4, h_k=2, d=16, stale=True)
    q, k, v, lengths, scale = drawn(case, Draw(case, 1))
    o = Step()(q, k, v, lengths, scale)
    assert not o[1].any()
    for i in (0, 2):
        k_i, v_i = (x[i : i + 1, : int(lengths[i])].transpose(1, 2) for x in (k, v))
        right = F.scaled_dot_product_attention(q[i : i + 1, :, None], k_i, v_i, scale=scale, enable_gqa=True)
        torch.testing.assert_close(o[i : i + 1], right[:, :, 0])
    in_parts = Step(weighed=merging(factored(torch.exp, torch.exp)), part=lambda q, k, length: 3)
    torch.testing.assert_close(in_parts(q, k, v, lengths, scale), o)
