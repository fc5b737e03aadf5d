"""Time of a call: measured against its bar on a GPU, foretold from counts without one."""
