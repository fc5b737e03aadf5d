"""The same commands in a notebook."""
