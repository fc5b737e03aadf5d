"""The checks of a grading, one a file, in the order that judge/suite.py gives them."""
