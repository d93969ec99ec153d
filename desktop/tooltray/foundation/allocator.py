"""Sets up the C library's allocator so that the memory of large results returns to the system.

glibc allocates a large block with mmap and returns it when it is freed. But each freed block raises the size from which it does so, up to
32 MB. Smaller blocks come from the heap, where any small block behind them keeps their memory for good. A threshold that is set explicitly
never rises.
"""

import ctypes
import sys

MAPPED_FROM_BYTES = 2**20  # of 256 KiB each in transports and pipes; the page faults of mapped ones would be felt
KEPT_FREE_BYTES = 2**23  # at the end of the heap, so that it does not grow and shrink with each call
ARENAS = 2  # more would reserve 64 MB of address space for each thread, and only one thread of Python allocates at a time
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8  # malloc.h of glibc


def return_large_blocks() -> None:
    """Sets the thresholds of this process. Does nothing where the C library has no such settings: macOS, Windows, musl."""
    if sys.platform == "linux" and (set_option := getattr(ctypes.CDLL(None), "mallopt", None)):
        set_option(_M_MMAP_THRESHOLD, MAPPED_FROM_BYTES)
        set_option(_M_TRIM_THRESHOLD, KEPT_FREE_BYTES)
        set_option(_M_ARENA_MAX, ARENAS)
