"""Mutation testing: systematic wrong edits of right files, and which of them pass."""
