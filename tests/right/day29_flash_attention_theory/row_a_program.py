"""merge as vLLM's merge_attn_states: a row a program, the head padded to a power of two, int32 offsets."""

import torch
import triton
import triton.language as tl


@triton.jit
def merge_attn_states_kernel(
    m1,
    l1,
    o1,
    m2,
    l2,
    o2,
    out_m,
    out_l,
    out_o,
    o1_stride,
    o2_stride,
    HEAD_SIZE: tl.constexpr,
    PADDED_HEAD_SIZE: tl.constexpr,
):
    row = tl.program_id(0)
    p_max = tl.load(m1 + row)
    s_max = tl.load(m2 + row)
    max_lse = tl.maximum(p_max, s_max)
    safe = tl.where(max_lse == float("-inf"), 0.0, max_lse)
    p_scale = tl.exp(p_max - safe)
    s_scale = tl.exp(s_max - safe)
    tl.store(out_m + row, max_lse)
    tl.store(out_l + row, tl.load(l1 + row) * p_scale + tl.load(l2 + row) * s_scale)
    head_arange = tl.arange(0, PADDED_HEAD_SIZE)
    head_mask = head_arange < HEAD_SIZE
    p_out = tl.load(o1 + row * o1_stride + head_arange, mask=head_mask)
    s_out = tl.load(o2 + row * o2_stride + head_arange, mask=head_mask)
    out = p_out * p_scale + s_out * s_scale
    tl.store(out_o + row * HEAD_SIZE + head_arange, out, mask=head_mask)


def merge(m1, l1, o1, m2, l2, o2):
    rows, D = o1.shape
    m, l_, o = torch.empty_like(m1), torch.empty_like(l1), o1.new_empty(rows, D)
    if rows > 0:
        merge_attn_states_kernel[(rows,)](
            m1,
            l1,
            o1,
            m2,
            l2,
            o2,
            m,
            l_,
            o,
            o1.stride(0),
            o2.stride(0),
            HEAD_SIZE=D,
            PADDED_HEAD_SIZE=triton.next_power_of_2(D),
            num_warps=1 if D <= 256 else 4,
        )
    return m, l_, o


def flash_traffic(S, D, block_m, itemsize):
    return itemsize * S * D * (2 + 2 * triton.cdiv(S, block_m))
