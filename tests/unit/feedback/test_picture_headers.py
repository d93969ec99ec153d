"""A picture's kind and size are read from its first bytes, whatever else is in it."""

import struct

import pytest

from tooltray.feedback.picture_headers import GIF, JPEG, MOST_SEGMENTS, PNG, WEBP, read_picture

SOF = b"\xff\xc0\x00\x11\x08" + struct.pack(">HH", 480, 640)


def png(width: int, height: int, chunk: bytes = b"IHDR") -> bytes:
    return b"\x89PNG\r\n\x1a\n\0\0\0\x0d" + chunk + struct.pack(">II", width, height)


def webp(kind: bytes, content: bytes) -> bytes:
    return b"RIFF\0\0\0\0WEBP" + kind + b"\0\0\0\0" + content


@pytest.mark.parametrize(
    ("data", "read"),
    [
        (png(3, 4), (PNG, 3, 4)),
        (png(2**31, 2**31), (PNG, 2**31, 2**31)),
        (png(3, 4, b"tEXt"), (PNG, 0, 0)),
        (png(3, 4)[:20], (PNG, 3, 0)),
        (b"GIF89a" + struct.pack("<HH", 5, 6), (GIF, 5, 6)),
        (b"GIF87a", (GIF, 0, 0)),
        (b"\xff\xd8" + SOF, (JPEG, 640, 480)),
        (b"\xff\xd8\xff\xe0\x00\x04ab\xff\xff\xff\x01" + SOF, (JPEG, 640, 480)),  # a segment, filling, a marker that stands alone
        (b"\xff\xd8\xff\xc4\x00\x02" + SOF, (JPEG, 640, 480)),  # a table is no frame
        (b"\xff\xd8\xff\xe0\x00\x00" + SOF, (JPEG, 640, 480)),  # a length that leads nowhere
        (b"\xff\xd8\xff\xe0\xff\xff", (JPEG, 0, 0)),
        (b"\xff\xd8\xff\xe0\x00\x02\x00", (JPEG, 0, 0)),
        (b"\xff\xd8" + b"\xff\xe0\x00\x02" * MOST_SEGMENTS + SOF, (JPEG, 0, 0)),
        (webp(b"VP8 ", b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 7 | 0x4000, 8)), (WEBP, 7, 8)),
        (webp(b"VP8 ", b"\0\0\0nothing"), (WEBP, 0, 0)),
        (webp(b"VP8L", b"\x2f" + struct.pack("<I", 8 | 9 << 14)), (WEBP, 9, 10)),
        (webp(b"VP8L", b"\x2f"), (WEBP, 0, 0)),
        (webp(b"VP8X", b"\0\0\0\0" + b"\x0a\0\0\x0b\0\0"), (WEBP, 11, 12)),
        (webp(b"VP8X", b""), (WEBP, 0, 0)),
        (webp(b"VP9 ", b""), (WEBP, 0, 0)),
    ],
)
def test_kind_and_size_are_read_and_a_size_that_cannot_be_is_nothing(data: bytes, read: tuple[str, int, int]) -> None:
    assert read_picture(data) == read


@pytest.mark.parametrize("data", [b"", b"\x89PNG", b"GIF90a", b"RIFF\0\0\0\0WAVE", b"<svg/>", b"BM"])
def test_what_is_none_of_the_four_kinds_is_no_picture(data: bytes) -> None:
    assert read_picture(data) is None
