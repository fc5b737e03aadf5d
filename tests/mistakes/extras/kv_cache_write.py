"""Extra: what goes wrong on the way into a cache, and what the grader must say about it."""

from tools.planted import Mistake

ARGUMENTS = "        n_heads,\n        width,\n"
GRID = "write_kernel[(len(key), triton.cdiv(n_heads, BLOCK_H))]"
KEPT = "kept = mask & (slot >= 0)"
LEFT = "# TODO 3: where does a slot lie in a contiguous cache? Store both there, unless the token has none."
MASK = "mask = (offs_h < n_heads)[:, None] & (offs_d < width)[None, :]"
OFFS = "offs = (slot * n_heads + offs_h[:, None]) * width + offs_d[None, :]"
PARAMETERS = "    n_heads,\n    width,\n    stride"
SLOT = "slot = tl.load(slots_ptr + token)"
STORE_K = "tl.store(key_cache_ptr + offs, key, mask=kept)"
STORE_V = "tl.store(value_cache_ptr + offs, value, mask=kept)"
VALUES = "value_ptrs = value_ptr + token * stride_vt + offs_h[:, None] * stride_vh + offs_d[None, :]"
START = "    n_heads, width = key.shape[1:]\n"

# fmt: off
mistakes = [
    Mistake("a slot of -1 is written before the cache", {KEPT: "kept = mask"},
            "before the start of key_cache"),
    Mistake("a slot of -1 is taken for the last one",
            {SLOT: f"{SLOT}\n    slot = tl.where(slot < 0, n_slots - 1, slot)",
             PARAMETERS: f"    n_slots,\n{PARAMETERS}",
             ARGUMENTS: f"        key_cache.shape[0] * key_cache.shape[1],\n{ARGUMENTS}"},
            "taken for the last slot"),
    Mistake("a slot of -1 is taken for slot 0", {SLOT: "slot = tl.maximum(tl.load(slots_ptr + token), 0)"},
            "taken for slot 0"),
    Mistake("slot 0 is taken for none", {KEPT: "kept = mask & (slot > 0)"}, "Slot 0 is taken for none"),
    Mistake(
        "a token's number is its slot",
        {KEPT: "kept = mask & (slot >= 0)\n    offs = (token * n_heads + offs_h[:, None]) * width + offs_d"},
        "is put into slot t",
    ),
    Mistake("pages and places are swapped",
            {SLOT: f"{SLOT}\n    at = slot % pages * size + slot // pages", OFFS: OFFS.replace("slot", "at"),
             PARAMETERS: f"    pages,\n    size,\n{PARAMETERS}",
             ARGUMENTS: f"        *key_cache.shape[:2],\n{ARGUMENTS}"}, "swapped"),
    Mistake(
        "a page is taken for [h, page_size, d]",
        {
            OFFS: "offs = ((slot // size * n_heads + offs_h[:, None]) * size + slot % size) * width + offs_d",
            PARAMETERS: f"    size,\n{PARAMETERS}",
            ARGUMENTS: f"        key_cache.shape[1],\n{ARGUMENTS}",
        },
        "A page is taken for",
    ),
    Mistake("a slot is one head wide", {OFFS: "offs = (slot + offs_h[:, None]) * width + offs_d[None, :]"},
            "race"),
    Mistake("a slot is a tile of heads wide", {OFFS: OFFS.replace("slot * n_heads", "slot * BLOCK_H")},
            "past the end of key_cache"),
    Mistake("values are read by the strides of the keys", {VALUES: VALUES.replace("stride_v", "stride_k")},
            "Only contiguous inputs come out right"),
    Mistake("the keys go into both caches", {STORE_V: STORE_V.replace("value, mask", "key, mask")},
            "keys are in both caches"),
    Mistake(
        "key_cache and value_cache are swapped",
        {
            "        key_cache,\n        value_cache,\n        slots,\n        n": (
                "        value_cache,\n        key_cache,\n        slots,\n        n"
            )
        },
        "Keys are in value_cache",
    ),
    Mistake("values are not stored", {f"    {STORE_V}\n": ""},
            "value_cache is after the call what it was before"),
    Mistake("values are still to be stored", {STORE_V: LEFT}, "Still in the file is"),
    Mistake("keys are added to what the cache held",
            {STORE_K: STORE_K.replace("key,", "key + tl.load(key_cache_ptr + offs, mask=kept),"),
             STORE_V: STORE_V.replace("value,", "value + tl.load(value_cache_ptr + offs, mask=kept),")},
            "added to what stood"),
    Mistake("lanes past a head's end are stored",
            {MASK: "mask = (offs_h < n_heads)[:, None] & (offs_d >= 0)[None, :]"}, "past the end"),
    Mistake("only whole blocks of heads are launched",
            {GRID: "write_kernel[(len(key), max(n_heads // BLOCK_H, 1))]"},
            "are what they were before the call"),
    Mistake("keys go through fp16",
            {STORE_K: STORE_K.replace("key,", "key.to(tl.float16).to(key_cache_ptr.dtype.element_ty),")},
            "close but not close enough"),
    Mistake("a new cache is made, and returned",
            {START: f"{START}    key_cache = torch.empty_like(key_cache)\n",
             "        num_warps=4,\n    )\n": "        num_warps=4,\n    )\n    return key_cache\n"},
            "where nothing is asked for"),
    Mistake("the caches are cleared first",
            {START: f"{START}    key_cache.zero_()\n    value_cache.zero_()\n"},
            "The rest of the caches is 0"),
    Mistake("torch makes the keys contiguous",
            {START: f"    key, value = key.contiguous(), value.contiguous()\n{START}"}, "contiguous",
            fails="edges or honest"),
    Mistake(
        "tokens without a slot are filtered by torch",
        {START: f"    key, value, slots = key[slots >= 0], value[slots >= 0], slots[slots >= 0]\n{START}"},
        "outside of your kernel",
        fails="correct or honest",
    ),
]
