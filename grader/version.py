"""Which course this is, for those who import nothing else of it."""

from __future__ import annotations

__version__ = "0.1.0"

# OWNER/NAME on GitHub, once the course has a place there: for the site's links into the repository, "Open in
# Colab", and what a notebook's first cell installs.
REPOSITORY = ""
