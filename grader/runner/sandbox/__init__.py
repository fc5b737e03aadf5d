"""What a process of the learner's code gives up before it loads a byte of it: `track grade --strict`."""
