"""Kernels without a GPU: compiled as far as TTIR, and evaluated."""

import os

# Of a process that has no GPU for kernels; nor does Triton interpret them there, whatever the shell says.
ENVIRONMENT = {"TRACK_EVALUATES": "1", "CUDA_VISIBLE_DEVICES": "", "TRITON_INTERPRET": "0"}
EVALUATES = os.environ.get("TRACK_EVALUATES") == "1"  # whether this is one
