"""How far a file is that is not right yet, piece by piece."""
