"""Extra: right attention whose matrix units wait: for loads, for softmax, and for one another."""

from tools.planted import Laggard

UNSEEN = "its values need a GPU, and so does its time"

laggards = [
    # A turn of 16 keys has the barriers and the latencies of one of 128, for an eighth of the products.
    Laggard("16 keys a turn, one stage, scores waited for", file="sixteen_keys.py", unseen=UNSEEN)
]
