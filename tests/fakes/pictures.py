"""Small pictures, and some that claim to be large."""

import base64
import struct
import zlib

from tooltray.foundation.snapshots.questions import FeedbackAttachment


def png(width: int = 1, height: int = 1, *, padding: int = 0) -> bytes:
    """A PNG of one colour; its header says `width` and `height`, its data have a single line.

    Args:
        padding: bytes of nothing behind it.
    """

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    line = zlib.compress(b"\0" + b"\0" * min(width, 1000))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", line) + chunk(b"IEND", b"") + b"\0" * padding


def attached(data: bytes, name: str = "a.png", mime_type: str = "image/png") -> FeedbackAttachment:
    return FeedbackAttachment(name, mime_type, base64.b64encode(data).decode())
