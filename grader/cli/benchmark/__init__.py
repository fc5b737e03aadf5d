"""A learner's kernel and ours beside what else one could call, over sizes and dtypes, on this GPU."""
