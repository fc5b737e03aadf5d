"""From what failed and what passed to one sentence: one rule of thumb a file."""
