"""A launch for each cache; programs take runs of elements, whatever token and head they belong to."""

import triton
import triton.language as tl


@triton.jit
def run(X, CACHE, SLOTS, total, H, D, step_t, step_h, SIZE: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    t, h, e = i // (H * D), i // D % H, i % D
    slot = tl.load(SLOTS + t, mask=i < total, other=-1)
    x = tl.load(X + t * step_t + h * step_h + e, mask=slot >= 0, other=0.0)
    tl.store(CACHE + slot * (H * D) + h * D + e, x, mask=slot >= 0)


def kv_cache_write(key, value, key_cache, value_cache, slots):
    for x, cache in ((key, key_cache), (value, value_cache)):
        h, d = x.shape[1:]
        grid = (triton.cdiv(x.numel(), 1024),)
        run[grid](x, cache, slots, x.numel(), h, d, x.stride(0), x.stride(1), SIZE=1024)
