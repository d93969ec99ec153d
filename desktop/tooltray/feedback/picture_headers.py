"""Reads the type of a picture and its size in pixels from its first bytes. Decodes nothing.

Above it: feedback_attachments. Below it: nothing. Knows the four types that AI clients accept: PNG, JPEG, GIF and WebP.
"""

from typing import NamedTuple

PNG, JPEG, GIF, WEBP = "image/png", "image/jpeg", "image/gif", "image/webp"
KINDS = (PNG, JPEG, GIF, WEBP)
MOST_SEGMENTS = 1000  # before a JPEG's size; cameras write a few dozen
_NO_SIZE = (0, 0)
_MARKERS_ALONE = {0x01, *range(0xD0, 0xD9)}  # markers without a length field
_FRAMES = set(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # SOF0 to SOF15; the three between are tables


class Picture(NamedTuple):
    """
    Attributes:
        mime_type: one of KINDS.
        width, height: in pixels; 0 if they cannot be read.
    """

    mime_type: str
    width: int
    height: int


def read_picture(data: bytes) -> Picture | None:
    """Reads a picture's header; None for data that is none of `KINDS`."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return Picture(PNG, *_size_of_png(data))
    if data.startswith((b"GIF87a", b"GIF89a")):
        return Picture(GIF, _little(data, 6, 2), _little(data, 8, 2))
    if data.startswith(b"\xff\xd8\xff"):
        return Picture(JPEG, *_size_of_jpeg(data))
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return Picture(WEBP, *_size_of_webp(data))
    return None


def _size_of_png(data: bytes) -> tuple[int, int]:
    return (_big(data, 16, 4), _big(data, 20, 4)) if data[12:16] == b"IHDR" else _NO_SIZE


def _size_of_jpeg(data: bytes) -> tuple[int, int]:
    """Skips segments up to the frame header (SOF), which has the size."""
    at = 2
    for _ in range(MOST_SEGMENTS):
        if data[at : at + 1] != b"\xff":
            return _NO_SIZE
        marker = _big(data, at + 1, 1)
        if marker in _FRAMES:
            return _big(data, at + 7, 2), _big(data, at + 5, 2)
        at += 1 if marker == 0xFF else 2 if marker in _MARKERS_ALONE else 2 + max(_big(data, at + 2, 2), 2)
    return _NO_SIZE


def _size_of_webp(data: bytes) -> tuple[int, int]:
    match data[12:16]:
        case b"VP8 " if data[23:26] == b"\x9d\x01\x2a":
            return _little(data, 26, 2) & 0x3FFF, _little(data, 28, 2) & 0x3FFF
        case b"VP8L" if data[20:21] == b"\x2f" and len(data) >= 25:
            bits = _little(data, 21, 4)
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8X" if len(data) >= 30:
            return _little(data, 24, 3) + 1, _little(data, 27, 3) + 1
    return _NO_SIZE


def _big(data: bytes, at: int, size: int) -> int:
    """Reads a big-endian number; 0 if the data ends before."""
    return int.from_bytes(data[at : at + size], "big") if len(data) >= at + size else 0


def _little(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "little") if len(data) >= at + size else 0
