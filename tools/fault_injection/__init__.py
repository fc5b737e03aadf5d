"""Fault injection: processes killed at random while they grade."""
