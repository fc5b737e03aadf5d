"""What `track inspect` and `track show` ask a judge for."""
