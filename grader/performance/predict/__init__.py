"""A time from counts and from what the compiler says, and the facts that make a kernel slow."""
