"""`track dev …`: what developers of the course run. Needs a clone."""
