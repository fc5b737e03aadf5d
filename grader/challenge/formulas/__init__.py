"""Formulas that several days share, or the reference of a day and its suspects: each stands here once."""
