"""The dtypes, by the names that cases use."""

from __future__ import annotations

import torch

HALF, BRAIN, SINGLE, DOUBLE = torch.float16, torch.bfloat16, torch.float32, torch.float64
E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
BYTE, SHORT, INT, LONG = torch.int8, torch.int16, torch.int32, torch.int64
