"""What a learner types: each command a few lines over the rooms below."""
