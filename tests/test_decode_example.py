"""A tiny Llama made of the course's own kernels writes the tokens that torch writes.

Kernels are evaluated without a GPU, as all launches of a process are then: so in one of its own.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.kernel.fresh import answer

pytestmark = pytest.mark.xdist_group("decode")  # what is written, once
HEAD = """
import dataclasses
import torch
import decode_llama
llama = decode_llama.model(decode_llama.Setup(), decode_llama.SEED, "cpu")
prompts = decode_llama.PROMPTS
"""
WRITTEN = """
ours, theirs = decode_llama.by_kernels(llama, prompts, "cpu"), decode_llama.by_torch(llama, prompts)
kernels = decode_llama.Kernels(llama, len(prompts), "cpu")
got = kernels.step([(i, token) for i, prompt in enumerate(prompts) for token in prompt])
wanted = torch.cat([decode_llama.logits_of_torch(llama, prompt) for prompt in prompts])
leads = []
for prompt, text in zip(prompts, theirs):
    logits = decode_llama.logits_of_torch(llama, [*prompt, *text])[len(prompt) - 1 : -1].float()
    leads += (logits.topk(2).values @ torch.tensor([1.0, -1.0])).tolist()
answer = ours, theirs, float((got - wanted).abs().max()), min(leads)
"""
UNWRITTEN = """
short = llama._replace(setup=dataclasses.replace(llama.setup, new=2))
class Forgetful(decode_llama.Kernels):
    def __init__(self, *args):
        super().__init__(*args)
        write, self.write = self.write, lambda k, v, *rest: write(k, k, *rest)
right = decode_llama.by_torch(short, prompts)
decode_llama.Kernels = Forgetful
answer = decode_llama.by_kernels(short, prompts, "cpu"), right
"""


@pytest.fixture(scope="module")
def written() -> Any:
    return answer(HEAD + WRITTEN)


def test_our_kernels_write_the_tokens_that_torch_writes(written: Any) -> None:
    ours, theirs, _, _ = written
    assert [len(text) for text in ours] == [10, 10, 10]
    assert ours == theirs


def test_no_token_is_the_same_by_luck(written: Any) -> None:
    *_, off, lead = written
    assert off < lead / 2, "logits differ by less than half of what the first token leads the second by"


def test_values_that_are_not_those_of_the_tokens_are_noticed() -> None:
    ours, right = answer(HEAD + UNWRITTEN)
    assert ours != right
