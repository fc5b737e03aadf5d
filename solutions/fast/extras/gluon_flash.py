"""Tuned: flash attention by programs that stay and draw their tiles, three warp groups in turns for d = 64.

Three things stop the plain solution. A program's first scores and its last store have nothing to overlap
with: here a program goes on with the next tile, whose queries and keys its loader has fetched meanwhile. At
d = 64 a score costs as long in `exp2` as in both products (16 results a clock, beside 4096 FLOPs), so one
group's softmax has to run while others multiply: a third warp group, and turns in which each issues its
products. And causal tiles take unlike times: so the loader draws the next tile's number from a counter in
global memory, and numbers go from long rows to short ones.

On an H200, 16 heads in fp16 and 1k, 4k and 16k tokens, it took 0.81, 0.82 and 0.84 of the plain one's time
for d = 64, and 0.90, 0.95 and 0.97 for d = 128; causal 0.83, 0.82 and 0.83, and 0.86, 0.91 and 0.94. The same
causal tiles dealt out beforehand took 1.03 to 1.16 times as long as drawn ones. solutions/GLUON.md has it
beside cuDNN.

FlashAttention-3 (Shah et al., 2024, arXiv:2407.08608) has all three.
"""

from __future__ import annotations

import math

import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor
from triton.runtime import driver

ROWS, BLOCK_N = 64, 128  # queries of a warp group, keys of a turn
TILES = 2  # whose queries are in shared memory: one at work, one that is fetched
MIXED = 2**25  # bytes of keys and values of the heads that are worked on together: they stay in L2
DTYPES = {torch.float16: gl.float16, torch.bfloat16: gl.bfloat16}


@gluon.jit
def tile_at(tile, order, rows, CAUSAL: gl.constexpr, BLOCK_N: gl.constexpr):
    """Head, first query and number of key blocks: the longest rows of some heads, then their next ones, …"""
    heads, together, tiles, S = order
    before = tile // (together * tiles) * together
    here = gl.minimum(heads - before, together)
    at = tile - before * tiles
    row = (tiles - 1 - at // here) * rows
    end = gl.minimum(row + rows, S) if CAUSAL else S
    return before + at % here, row, gl.cdiv(end, BLOCK_N)


@gluon.jit
def fetch(desc, place, full, there):
    mbarrier.expect(full, desc.block_type.nbytes)
    tma.async_copy_global_to_shared(desc, place, full, there)


@gluon.jit
def load(fetched, CAUSAL: gl.constexpr, GROUPS: gl.constexpr):
    """One warp: a tile's number and queries, then its keys and values from the last block to the first."""
    q_desc, k_desc, v_desc, counter, queries, numbers, keys, values, order = fetched
    q_smem, q_full, q_empty = queries
    k_smem, k_full, k_empty = keys
    v_smem, v_full, v_empty = values
    TILES: gl.constexpr = q_smem.shape[0] // GROUPS
    STAGES: gl.constexpr = k_smem.shape[0]
    ROWS: gl.constexpr = q_desc.block_type.shape[1]
    BLOCK_N: gl.constexpr = k_desc.block_type.shape[1]
    ONE: gl.constexpr = gl.BlockedLayout([1], [32], [1], [0])
    count = order[0] * order[2]
    done, turn, tile = 0, 0, gl.program_id(0)
    while tile < count:
        head, row, blocks = tile_at(tile, order, GROUPS * ROWS, CAUSAL, BLOCK_N)
        for i in gl.static_range(GROUPS):
            at = done % TILES * GROUPS + i
            mbarrier.wait(q_empty.index(at), (done // TILES & 1) ^ 1)
            numbers.index(at).store(gl.full((1,), tile, gl.int32, ONE))
            fetch(q_desc, [head, row + i * ROWS, 0], q_full.index(at), q_smem.index(at))
        for block in range(blocks):
            at, free = turn % STAGES, (turn // STAGES & 1) ^ 1
            col = (blocks - 1 - block) * BLOCK_N
            mbarrier.wait(k_empty.index(at), free)
            fetch(k_desc, [head, col, 0], k_full.index(at), k_smem.index(at))
            mbarrier.wait(v_empty.index(at), free)
            fetch(v_desc, [head, col, 0], v_full.index(at), v_smem.index(at))
            turn += 1
        done += 1
        drawn = gl.atomic_add(counter, 1)
        tile = gl.num_programs(0) + drawn
        if drawn == count - 1:  # each program draws until one number is too large: this is the last draw
            gl.store(counter, 0)
    for i in gl.static_range(GROUPS):
        at = done % TILES * GROUPS + i
        mbarrier.wait(q_empty.index(at), (done // TILES & 1) ^ 1)
        numbers.index(at).store(gl.full((1,), tile, gl.int32, ONE))
        mbarrier.arrive(q_full.index(at), count=1)


@gluon.jit
def visible(s, first, block, S, CAUSAL: gl.constexpr):
    """The scores of a block, -inf where a row does not see the key."""
    cols = block * s.shape[1] + gl.arange(0, s.shape[1], layout=gl.SliceLayout(0, s.type.layout))
    seen = (cols < S)[None, :]
    if CAUSAL:
        rows = first + gl.arange(0, s.shape[0], layout=gl.SliceLayout(1, s.type.layout))
        seen = seen & (cols[None, :] <= rows[:, None])
    return gl.where(seen, s, -float("inf"))


@gluon.jit
def attend(group, shared, CAUSAL: gl.constexpr, GROUPS: gl.constexpr):
    """One warp group: 64 rows of every tile of this program."""
    o_desc, o_smem, queries, numbers, keys, values, turns, order, scale = shared
    q_smem, q_full, q_empty = queries
    k_smem, k_full, k_empty = keys
    v_smem, v_full, v_empty = values
    TILES: gl.constexpr = q_smem.shape[0] // GROUPS
    STAGES: gl.constexpr = k_smem.shape[0]
    BLOCK_N: gl.constexpr = k_smem.shape[2]
    ROWS: gl.constexpr = o_desc.block_type.shape[1]
    D: gl.constexpr = o_desc.block_type.shape[2]
    SCORES: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BLOCK_N, 16])
    OUT: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, D, 16])
    P: gl.constexpr = gl.DotOperandLayout(0, OUT, 2)
    ONE: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    none = gl.zeros((ROWS, BLOCK_N), gl.float32, SCORES)
    done, begun, taken = 0, 0, 0
    mbarrier.wait(q_full.index(group), 0)
    tile = gl.sum(numbers.index(group).load(ONE), 0)
    while tile < order[0] * order[2]:
        head, row, blocks = tile_at(tile, order, GROUPS * ROWS, CAUSAL, BLOCK_N)
        first = row + group * ROWS
        q_at = done % TILES * GROUPS + group
        q = q_smem.index(q_at).reshape((ROWS, D))
        acc = gl.zeros((ROWS, D), gl.float32, OUT)
        unseen = 0
        if CAUSAL and GROUPS == 3:  # 192 rows: the last block may lie behind the diagonal of the first 64
            unseen = blocks - gl.minimum(first // BLOCK_N + 1, blocks)
            if unseen == 1:
                at, phase = begun % STAGES, begun // STAGES & 1
                mbarrier.wait(k_full.index(at), phase)
                mbarrier.arrive(k_empty.index(at), count=1)
                mbarrier.wait(v_full.index(at), phase)
                mbarrier.arrive(v_empty.index(at), count=1)
                mbarrier.wait(turns.index(group), (taken & 1) ^ (1 if group == 0 else 0))
                mbarrier.arrive(turns.index((group + 1) % GROUPS), count=1)
            taken += unseen
        at = (begun + unseen) % STAGES
        mbarrier.wait(k_full.index(at), (begun + unseen) // STAGES & 1)
        k = k_smem.index(at).reshape((BLOCK_N, D)).permute((1, 0))
        s = warpgroup_mma(q, k, none, use_acc=False, is_async=True)
        s = warpgroup_mma_wait(0, deps=(s,))
        mbarrier.arrive(k_empty.index(at), count=1)
        s = visible(s, first, blocks - 1 - unseen, order[3], CAUSAL)
        m = gl.max(s, 1)
        p = gl.exp2(s * scale - (m * scale)[:, None])
        total = gl.sum(p, 1)
        p = gl.convert_layout(p.to(o_desc.dtype), P)
        for block in range(1 + unseen, blocks):
            turn = begun + block
            at, before = turn % STAGES, (turn - 1) % STAGES
            mbarrier.wait(k_full.index(at), turn // STAGES & 1)
            if GROUPS == 3:  # in turns: while one group's softmax runs, another's products do
                mbarrier.wait(turns.index(group), (taken & 1) ^ (1 if group == 0 else 0))
                taken += 1
            k = k_smem.index(at).reshape((BLOCK_N, D)).permute((1, 0))
            s = warpgroup_mma(q, k, none, use_acc=False, is_async=True)
            mbarrier.wait(v_full.index(before), (turn - 1) // STAGES & 1)
            acc = warpgroup_mma(p, v_smem.index(before).reshape((BLOCK_N, D)), acc, is_async=True)
            if GROUPS == 3:
                mbarrier.arrive(turns.index((group + 1) % GROUPS), count=1)
            s = warpgroup_mma_wait(1, deps=(s,))
            mbarrier.arrive(k_empty.index(at), count=1)
            higher = gl.maximum(m, gl.max(s, 1))
            alpha = gl.exp2((m - higher) * scale)
            m = higher
            e = gl.exp2(s * scale - (m * scale)[:, None])
            total = total * alpha + gl.sum(e, 1)
            acc = warpgroup_mma_wait(0, deps=(acc,))
            mbarrier.arrive(v_empty.index(before), count=1)
            acc = acc * gl.convert_layout(alpha, gl.SliceLayout(1, OUT))[:, None]
            p = gl.convert_layout(e.to(o_desc.dtype), P)
        mbarrier.arrive(q_empty.index(q_at), count=1)
        turn = begun + blocks - 1
        at = turn % STAGES
        mbarrier.wait(v_full.index(at), turn // STAGES & 1)
        acc = warpgroup_mma(p, v_smem.index(at).reshape((BLOCK_N, D)), acc, is_async=True)
        acc = warpgroup_mma_wait(0, deps=(acc,))
        mbarrier.arrive(v_empty.index(at), count=1)
        o = acc / gl.convert_layout(total, gl.SliceLayout(1, OUT))[:, None]
        tma.store_wait(0)
        o_smem.index(group).reshape((ROWS, D)).store(o.to(o_desc.dtype))
        fence_async_shared()
        tma.async_copy_shared_to_global(o_desc, [head, first, 0], o_smem.index(group))
        begun += blocks
        done += 1
        at = done % TILES * GROUPS + group
        mbarrier.wait(q_full.index(at), done // TILES & 1)
        tile = gl.sum(numbers.index(at).load(ONE), 0)
    tma.store_wait(0)


@gluon.jit
def ring(desc, SLOTS: gl.constexpr, READERS: gl.constexpr):
    """Shared memory for so many blocks; barriers that tell that one is full, or that its readers are done."""
    shape: gl.constexpr = desc.block_type.shape
    smem = gl.allocate_shared_memory(desc.dtype, [SLOTS, 1, shape[1], shape[2]], desc.layout)
    full = gl.allocate_shared_memory(gl.int64, [SLOTS, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [SLOTS, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(SLOTS):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=READERS)
    return smem, full, empty


@gluon.jit
def flash_kernel(
    q_desc,
    k_desc,
    v_desc,
    o_desc,
    counter,
    heads,
    together,
    tiles,
    S,
    scale,
    CAUSAL: gl.constexpr,
    TILES: gl.constexpr,
    STAGES: gl.constexpr,
    GROUPS: gl.constexpr,
):
    """All tiles of o, together heads at a time; counter is 0, and is left so."""
    queries = ring(q_desc, TILES * GROUPS, 1)
    numbers = gl.allocate_shared_memory(gl.int32, [TILES * GROUPS, 1], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    keys, values = ring(k_desc, STAGES, GROUPS), ring(v_desc, STAGES, GROUPS)
    turns = gl.allocate_shared_memory(gl.int64, [GROUPS, 1], mbarrier.MBarrierLayout())
    shape: gl.constexpr = o_desc.block_type.shape
    o_smem = gl.allocate_shared_memory(o_desc.dtype, [GROUPS, 1, shape[1], shape[2]], o_desc.layout)
    for i in gl.static_range(GROUPS):
        mbarrier.init(turns.index(i), count=1)
    fence_async_shared()
    order = (heads, together, tiles, S)
    shared = (o_desc, o_smem, queries, numbers, keys, values, turns, order, scale)
    fetched = (q_desc, k_desc, v_desc, counter, queries, numbers, keys, values, order)
    # 65,536 registers: 2 x 128 x 240, or 3 x 128 x 160, and 24 for each thread of the loader's group.
    if GROUPS == 2:
        gl.warp_specialize(
            [
                (attend, (0, shared, CAUSAL, GROUPS)),
                (attend, (1, shared, CAUSAL, GROUPS)),
                (load, (fetched, CAUSAL, GROUPS)),
            ],
            [4, 1],
            [240, 24],
        )
    else:
        gl.warp_specialize(
            [
                (attend, (0, shared, CAUSAL, GROUPS)),
                (attend, (1, shared, CAUSAL, GROUPS)),
                (attend, (2, shared, CAUSAL, GROUPS)),
                (load, (fetched, CAUSAL, GROUPS)),
            ],
            [4, 4, 1],
            [160, 160, 24],
        )


# By device and stream: calls on one stream never overlap.
COUNTERS: dict[tuple[int, int], torch.Tensor] = {}


def zero(q: torch.Tensor) -> torch.Tensor:
    """A 0 on q's device, which the kernel leaves as it finds it: no launch has to write it."""
    device = q.get_device()
    stream = driver.active.get_current_stream(device) if q.is_cuda else 0
    found = COUNTERS.get((device, stream))
    if found is None:
        found = torch.zeros(1, dtype=torch.int32, device=q.device)
        # What is made while a graph is captured is the graph's own.
        if not q.is_cuda or not torch.cuda.is_current_stream_capturing():
            COUNTERS[device, stream] = found
    return found


def descriptor(x: torch.Tensor, rows: int) -> TensorDescriptor:
    """Of x[b, h, s, d] as [b·h, s, d], in blocks of so many rows of one head."""
    block = [1, rows, x.shape[3]]
    layout = gl.NVMMASharedLayout.get_default_for(block, DTYPES[x.dtype])
    return TensorDescriptor.from_tensor(x.view(-1, *x.shape[2:]), block, layout)


def flash(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
    """Return softmax(q k.T / √d) v, [b, h, s, d]; q, k, v [b, h, s, d] of fp16 or bf16, d 64 or 128."""
    b, h, s, d = q.shape
    o = torch.empty_like(q)
    # A short causal head leaves many of 192 rows empty.
    groups = 3 if d == 64 and (s >= 2048 or not causal) else 2
    stages = 3 if d == 64 else 2
    tiles = triton.cdiv(s, groups * ROWS)
    sms = torch.cuda.get_device_properties(q.device).multi_processor_count if q.is_cuda else 132
    together = max(1, MIXED // (4 * s * d)) if causal else 1
    scale = math.log2(math.e) / math.sqrt(d)
    flash_kernel[(min(sms, b * h * tiles),)](
        descriptor(q, ROWS),
        descriptor(k, BLOCK_N),
        descriptor(v, BLOCK_N),
        descriptor(o, ROWS),
        zero(q),
        b * h,
        together,
        tiles,
        s,
        scale,
        causal,
        TILES,
        stages,
        groups,
        num_warps=4,
    )
    return o
