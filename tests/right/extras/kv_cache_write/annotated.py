"""As vLLM's reshape_and_cache: strides annotated as int64, a row of heads in tiles, an early return."""

import triton
import triton.language as tl


@triton.jit
def write_kernel(
    key_ptr, value_ptr, key_cache_ptr, value_cache_ptr, slots_ptr,
    key_token: tl.int64, key_head: tl.int64, value_token: tl.int64, value_head: tl.int64,
    page_stride: tl.int64, place_stride: tl.int64,
    heads: tl.constexpr, head_size: tl.constexpr, page_size: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    token = tl.program_id(0)
    slot = tl.load(slots_ptr + token)
    if slot < 0:
        return
    at = tl.program_id(1) * TILE + tl.arange(0, TILE)
    inside = at < heads * head_size
    head, lane = at // head_size, at % head_size
    key = tl.load(key_ptr + token * key_token + head * key_head + lane, mask=inside)
    value = tl.load(value_ptr + token * value_token + head * value_head + lane, mask=inside)
    row = slot // page_size * page_stride + slot % page_size * place_stride
    tl.store(key_cache_ptr + row + at, key, mask=inside)
    tl.store(value_cache_ptr + row + at, value, mask=inside)


def kv_cache_write(key, value, key_cache, value_cache, slots):
    tokens, heads, head_size = key.shape
    if key.numel() == 0:
        return
    tile = min(2048, triton.next_power_of_2(heads * head_size))
    write_kernel[lambda meta: (tokens, triton.cdiv(heads * head_size, meta["TILE"]))](
        key_ptr=key, value_ptr=value, key_cache_ptr=key_cache, value_cache_ptr=value_cache, slots_ptr=slots,
        key_token=key.stride(0), key_head=key.stride(1),
        value_token=value.stride(0), value_head=value.stride(1),
        page_stride=key_cache.stride(0), place_stride=key_cache.stride(1),
        heads=heads, head_size=head_size, page_size=key_cache.shape[1], TILE=tile, num_warps=4,
    )  # fmt: skip
