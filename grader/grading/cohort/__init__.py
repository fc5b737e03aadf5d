"""Many gradings: from Python, and of a whole cohort on Ray."""
