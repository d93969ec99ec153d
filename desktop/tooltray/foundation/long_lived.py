"""Keeps long-lived objects out of the garbage collector's full passes.

A full pass visits every object and stops all threads meanwhile: 100 ms with 50,000 tools. Repeated passes would find nothing, because lists
of definitions hold no cycles: they are freed when their last reference is.
"""

import gc

MANY = 1000  # objects of one list; with fewer, full passes stay below 20 ms


def keep_for_long(count: int) -> None:
    """Freezes all objects after a list of `count` objects was made that will stay. Young garbage is collected before."""
    if count >= MANY:
        gc.collect(1)
        gc.freeze()
