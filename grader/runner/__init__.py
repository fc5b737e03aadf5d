"""The untrusted side of a grading: the process that imports the learner's file. It knows no expected
value.
"""
