"""reshape_and_cache_flash as vLLM has it in Triton: an early return for padded tokens, tiles on axis 1."""

import triton
import triton.language as tl


@triton.jit
def reshape_and_cache_kernel_flash(
    key_ptr,
    value_ptr,
    key_cache_ptr,
    value_cache_ptr,
    slot_mapping_ptr,
    key_stride,
    key_head_stride,
    value_stride,
    value_head_stride,
    block_stride,
    page_stride,
    num_heads: tl.constexpr,
    head_size: tl.constexpr,
    block_size: tl.constexpr,
    TILE_SIZE: tl.constexpr,
):
    token_idx = tl.program_id(axis=0)
    slot_idx = tl.load(slot_mapping_ptr + token_idx).to(tl.int64)
    if slot_idx < 0:
        return
    tile_pos = tl.program_id(axis=1) * TILE_SIZE + tl.arange(0, TILE_SIZE)
    block_idx = slot_idx // block_size
    block_offset = slot_idx % block_size
    mask = tile_pos < num_heads * head_size
    head, lane = tile_pos // head_size, tile_pos % head_size
    key_load = tl.load(key_ptr + token_idx * key_stride + head * key_head_stride + lane, mask=mask)
    value_load = tl.load(value_ptr + token_idx * value_stride + head * value_head_stride + lane, mask=mask)
    tgt_idx = block_idx * block_stride + block_offset * page_stride
    tl.store(key_cache_ptr + tgt_idx + tile_pos, key_load, mask=mask)
    tl.store(value_cache_ptr + tgt_idx + tile_pos, value_load, mask=mask)


def kv_cache_write(key, value, key_cache, value_cache, slots):
    num_tokens, num_heads, head_size = key.shape
    assert key_cache.shape == value_cache.shape and key_cache.shape[2:] == key.shape[1:]
    n = num_heads * head_size
    TILE_SIZE = min(2048, triton.next_power_of_2(n))
    grid = lambda meta: (num_tokens, triton.cdiv(n, meta["TILE_SIZE"]))  # noqa: E731
    reshape_and_cache_kernel_flash[grid](
        key,
        value,
        key_cache,
        value_cache,
        slots,
        key.stride(0),
        key.stride(1),
        value.stride(0),
        value.stride(1),
        key_cache.stride(0),
        key_cache.stride(1),
        num_heads=num_heads,
        head_size=head_size,
        block_size=key_cache.shape[1],
        TILE_SIZE=TILE_SIZE,
        num_warps=8 if TILE_SIZE >= 1024 else 4,
    )
