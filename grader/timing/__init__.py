"""GPU time of one call, measured alike by the judge and by the runner."""
