"""Triton Track: the course's grader and command line."""

__version__ = "0.1.0"
