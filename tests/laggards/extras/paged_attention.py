"""Extra: right answers that copy the pages together first."""

from tools.planted import Laggard

GATHERED = """@triton.jit
def gather_kernel(cache_ptr, flat_ptr, tables_ptr, size, BLOCK: tl.constexpr):
    entry = tl.program_id(0).to(tl.int64)
    page = tl.load(tables_ptr + entry).to(tl.int64)
    for start in range(0, size, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        mask = (offs < size) & (page >= 0)
        part = tl.load(cache_ptr + page * size + offs, mask=mask)
        tl.store(flat_ptr + entry * size + offs, part, mask=mask)


@triton.jit
def count_kernel(tables_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(tables_ptr + offs, offs, mask=offs < n)


def gathered(cache, tables):
    flat = torch.empty(tables.numel(), *cache.shape[1:], dtype=cache.dtype, device=cache.device)
    gather_kernel[(tables.numel(),)](cache, flat, tables, flat.stride(0), BLOCK=2048)
    return flat


def counted(tables):
    order = torch.empty_like(tables)
    count_kernel[(triton.cdiv(tables.numel(), 1024),)](order, tables.numel(), BLOCK=1024)
    return order


"""

laggards = [
    # Every page is read, written and read again: three times the bytes, and a copy as large as the cache.
    Laggard(
        "pages are gathered into one piece",
        stores=True,
        swap={
            "def choose_splits": f"{GATHERED}def choose_splits",
            "    B, H, D = q.shape\n": (
                "    key_cache = gathered(key_cache, block_tables)\n"
                "    value_cache = gathered(value_cache, block_tables)\n"
                "    block_tables = counted(block_tables)\n"
                "    B, H, D = q.shape\n"
            ),
        },
    )
]
