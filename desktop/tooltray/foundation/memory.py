"""Returns the memory of large objects to the system, and keeps long-lived objects out of full passes of the garbage collector.

glibc maps a large block and unmaps it when it is freed. But each freed block raises the size from which it does so, up to 32 MB. Smaller
blocks come from the heap, where any small block behind them keeps them for good. A size that is set explicitly does not rise.

A full pass of the collector looks at every object and stops all threads meanwhile: 100 ms with 50,000 tools. It would be repeated and find
nothing, since lists of definitions hold no cycles: they are freed when nothing refers to them any more.
"""

import ctypes
import gc
import sys

MAPPED_FROM_BYTES = 2**20  # of 256 KiB each in transports and pipes; the page faults of mapped ones would be felt
KEPT_FREE_BYTES = 2**23  # at the end of the heap, so that it does not grow and shrink with each call
ARENAS = 2  # more would reserve 64 MB of address space for each thread, and only one thread of Python allocates at a time
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8  # malloc.h of glibc


def return_large_blocks() -> None:
    """Sets up the C library's allocator for this process. Does nothing if the C library has no such settings (macOS, Windows, musl)."""
    if sys.platform == "linux" and (set_option := getattr(ctypes.CDLL(None), "mallopt", None)):
        set_option(_M_MMAP_THRESHOLD, MAPPED_FROM_BYTES)
        set_option(_M_TRIM_THRESHOLD, KEPT_FREE_BYTES)
        set_option(_M_ARENA_MAX, ARENAS)


MANY = 1000  # objects of one list; with fewer, full passes stay below 20 ms


def keep_for_long(count: int) -> None:
    """Keeps a new list of `count` objects out of full passes. Young garbage is collected first."""
    if count >= MANY:
        gc.collect(1)
        gc.freeze()
