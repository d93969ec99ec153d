"""What stays for long is left out of the garbage collector's full passes. The lowest layer, beside tasks.

A full pass looks at every object there is and stops all threads meanwhile: 100 ms with 50,000 tools. It would come again and again and
find nothing, for lists of definitions hold no cycles: they go when nobody refers to them any more.
"""

import gc

MANY = 1000  # objects of one list; with fewer, full passes stay below 20 ms


def keep_for_long(count: int) -> None:
    """Called when a list of so many objects has been made that stays. What is garbage now, and young, is collected before."""
    if count >= MANY:
        gc.collect(1)
        gc.freeze()
