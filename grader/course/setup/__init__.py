"""This machine: what the first run installs, and whether it can grade."""
