"""Which small edit of the learner's file makes every case right."""
