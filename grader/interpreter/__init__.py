"""Triton's CPU interpreter made right, quick and watchful; everything is installed from outside."""
