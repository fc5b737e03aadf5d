"""GPU time of one call, measured alike by judge, runner and bench."""
