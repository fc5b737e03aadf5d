"""The days, the learner's work and this machine."""
