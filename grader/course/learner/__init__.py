"""What a learner keeps: the workspace, its journal, the hints that were opened."""
