"""What can be made true and known of a kernel without a GPU: repairs of Triton's interpreter, and what it
can observe.
"""
