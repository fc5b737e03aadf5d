"""What a kernel costs: its time measured, or counted, compiled and predicted without a GPU."""
