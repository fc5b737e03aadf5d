"""Extra write_the_test: a test has no speed bar."""

from tools.planted import Laggard

laggards: list[Laggard] = []
