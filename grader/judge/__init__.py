"""The trusted side of a grading: hidden tests, oracle, tolerances, timing statistics, diagnosis."""
