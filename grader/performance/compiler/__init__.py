"""A kernel compiled for a GPU that is not there: how to launch it, a driver, and what came out."""
