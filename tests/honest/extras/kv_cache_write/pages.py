"""Blocks of tokens, one head a program; pages and places told apart, and the caches' own strides."""

import triton
import triton.language as tl


@triton.jit
def copied(x_ptr, cache_ptr, x_at, cache_at, width, ok, COLS: tl.constexpr):
    for start in range(0, width, COLS):
        j = start + tl.arange(0, COLS)
        lanes = ok[:, None] & (j < width)[None, :]
        x = tl.load(x_ptr + x_at[:, None] + j[None, :], mask=lanes)
        tl.store(cache_ptr + cache_at[:, None] + j[None, :], x, mask=lanes)


@triton.jit
def pages(
    K, V, KC, VC, SLOTS, T, heads, width, size, kt, kh, vt, vh, page, place, head,
    ROWS: tl.constexpr, COLS: tl.constexpr,
):  # fmt: skip
    h = tl.program_id(0).to(tl.int64) % heads
    t = tl.program_id(0).to(tl.int64) // heads * ROWS + tl.arange(0, ROWS)
    slot = tl.load(SLOTS + t, mask=t < T, other=-1)
    ok = slot != -1
    at = slot // size * page + slot % size * place + h * head
    copied(K, KC, t * kt + h * kh, at, width, ok, COLS)
    copied(V, VC, t * vt + h * vh, at, width, ok, COLS)


def kv_cache_write(key, value, key_cache, value_cache, slots):
    t, h, d = key.shape
    rows, cols = 8, 128
    if t:
        pages[(triton.cdiv(t, rows) * h,)](
            key, value, key_cache, value_cache, slots, t, h, d, key_cache.shape[1],
            *key.stride()[:2], *value.stride()[:2], *key_cache.stride()[:3], ROWS=rows, COLS=cols,
        )  # fmt: skip
