"""Makes an icon file for macOS (.icns) of PNGs, on any system.

The format is a header and a chunk for each size, both of a four-letter type and a
length that counts itself: https://en.wikipedia.org/wiki/Apple_Icon_Image_format (since macOS 10.7 the chunks of these types hold PNGs).
"""

import struct
from collections.abc import Callable

TYPES = {
    b"ic11": 32,  # 16 points at twice the density; macOS draws 16 and 32 at the single one from these, too
    b"ic12": 64,
    b"ic07": 128,
    b"ic13": 256,
    b"ic08": 256,
    b"ic14": 512,
    b"ic09": 512,
    b"ic10": 1024,
}
"""Pixels of each edge, by type."""


def icns(png: Callable[[int], bytes]) -> bytes:
    """
    Args:
        png: draws the icon with that many pixels on each edge.
    """
    pictures = {size: png(size) for size in set(TYPES.values())}
    return _chunk(b"icns", b"".join(_chunk(kind, pictures[size]) for kind, size in TYPES.items()))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return kind + struct.pack(">I", len(kind) + 4 + len(data)) + data
