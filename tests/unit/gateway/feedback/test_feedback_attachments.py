"""What goes with an answer is checked before a model gets it, and a refusal says what would fit."""

import base64
import struct
from pathlib import Path

import pytest
from tests.fakes.pictures import attached, png

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.questions import FeedbackAttachment
from tooltray.gateway.feedback.feedback_attachments import (
    GIF,
    JPEG,
    MIB,
    MOST_ATTACHMENTS,
    MOST_FILE_BYTES,
    MOST_PICTURE_BYTES,
    MOST_SEGMENTS,
    PNG,
    WEBP,
    read_attachments,
    read_picture,
)


def refusal(*given: FeedbackAttachment) -> str:
    with pytest.raises(TooltrayError) as raised:
        read_attachments(given)
    return str(raised.value)


def test_a_picture_goes_on_as_it_was_sent_and_its_kind_is_what_it_really_is() -> None:
    given = attached(png(), mime_type="image/jpeg")
    read = read_attachments([given])
    assert read.blocks == ({"type": "image", "data": given.data, "mimeType": "image/png"},)
    assert (read.names, read.paths) == (("a.png",), ())


def test_pictures_come_first_and_files_of_one_name_stay_apart() -> None:
    blocks = read_attachments([attached(b"a", "x.txt", ""), attached(b"b", "x.txt", ""), attached(png(), "file", "")]).blocks
    assert [each["type"] for each in blocks] == ["image", "resource", "resource"]
    assert [each["resource"]["uri"] for each in blocks[1:]] == ["feedback:///1/x.txt", "feedback:///2/x.txt"]


@pytest.mark.parametrize(
    ("data", "mime_type", "resource"),
    [
        ("héllo".encode(), "text/markdown", {"mimeType": "text/markdown", "text": "héllo"}),
        (b"hello", "no type at all", {"mimeType": "text/plain", "text": "hello"}),
        (b"\xff\xfe", "", {"mimeType": "application/octet-stream", "blob": "//4="}),
        (b"a\0b", "application/x-thing", {"mimeType": "application/x-thing", "blob": "YQBi"}),
        (b"<svg/>", "image/svg+xml", {"mimeType": "image/svg+xml", "text": "<svg/>"}),
    ],
)
def test_a_file_is_a_resource_of_text_or_of_bytes(data: bytes, mime_type: str, resource: dict[str, str]) -> None:
    (block,) = read_attachments([attached(data, "näme 1.bin", mime_type)]).blocks
    assert block == {"type": "resource", "resource": {"uri": "feedback:///1/n%C3%A4me%201.bin", **resource}}


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\a.png", "a.png"),
        ("a\x1b[31m\n.png", "a[31m .png"),
        ("\u202egnp.exe", "gnp.exe"),
        ("/", "attachment 1"),
        ("x" * 500, "x" * 119 + "…"),
        ("half \udcff\ud800.txt", "half .txt"),
    ],
)
def test_a_name_loses_its_folders_and_what_cannot_be_seen(name: str, kept: str) -> None:
    assert read_attachments([attached(png(), name)]).names == (kept,)


def test_a_large_file_is_named_by_its_path(tmp_path: Path) -> None:
    large = tmp_path / "large $(x).log"
    large.write_bytes(b"x")
    read = read_attachments([FeedbackAttachment("large.log", "text/plain", path=str(large))])
    assert (read.blocks, read.paths, read.names) == ((), (str(large),), ("large.log",))


def test_paths_that_name_no_file_are_refused(tmp_path: Path) -> None:
    for path in (str(tmp_path), str(tmp_path / "gone")):
        assert "no such file" in refusal(FeedbackAttachment("f", "", path=path))
    for path in ("relative", "/a\nb", "/" + "a" * 5000):
        assert "absolute and printable" in refusal(FeedbackAttachment("f", "", path=path))


def test_what_is_too_large_is_refused_with_what_would_fit() -> None:
    fits = (
        "A picture (PNG, JPEG, GIF, WebP) may have 3.75 MiB, 8,000 pixels a side and 50 million in all, a file 1 MiB, all together 20 MiB"
    )
    assert read_attachments([attached(png(padding=MOST_PICTURE_BYTES - len(png())))]).blocks
    for words in (
        refusal(attached(png(padding=MOST_PICTURE_BYTES))),
        refusal(attached(b"x" * (MOST_FILE_BYTES + 1), "a.txt", "text/plain")),
        refusal(*[attached(png(padding=3 * MIB + MIB // 2))] * 6),
        refusal(attached(png(8001, 1))),
        refusal(attached(png(1, 8001))),
        refusal(attached(png(7500, 7500))),
    ):
        assert fits in words
    five = [attached(png(8000, 6000, padding=MOST_PICTURE_BYTES - len(png(8000, 6000))), f"{number}.png") for number in range(5)]
    assert [len(block["data"]) for block in read_attachments(five).blocks] == [5 * MIB] * 5
    assert f"at most {MOST_ATTACHMENTS}" in refusal(*[attached(b"x", "x", "")] * (MOST_ATTACHMENTS + 1))


def test_a_small_file_that_would_become_a_huge_picture_is_refused() -> None:
    assert "100,000 x 100,000 pixels" in refusal(attached(png(100_000, 100_000)))
    assert "cannot be read" in refusal(attached(png(0, 5)))


def test_what_is_no_picture_and_no_base64_is_refused() -> None:
    assert "its content is not image/png" in refusal(attached(b"<html>"))
    for data in ("no base64!", "YQ", base64.b64encode(b"a").decode() + "\n", "é"):
        assert "not base64" in refusal(FeedbackAttachment("f", "text/plain", data))
    assert "it is empty" in refusal(FeedbackAttachment("f", "text/plain"))


SOF = b"\xff\xc0\x00\x11\x08" + struct.pack(">HH", 480, 640)


def png_header(width: int, height: int, chunk: bytes = b"IHDR") -> bytes:
    return b"\x89PNG\r\n\x1a\n\0\0\0\x0d" + chunk + struct.pack(">II", width, height)


def webp(kind: bytes, content: bytes) -> bytes:
    return b"RIFF\0\0\0\0WEBP" + kind + b"\0\0\0\0" + content


@pytest.mark.parametrize(
    ("data", "read"),
    [
        (png_header(3, 4), (PNG, 3, 4)),
        (png_header(2**31, 2**31), (PNG, 2**31, 2**31)),
        (png_header(3, 4, b"tEXt"), (PNG, 0, 0)),
        (png_header(3, 4)[:20], (PNG, 3, 0)),
        (b"GIF89a" + struct.pack("<HH", 5, 6), (GIF, 5, 6)),
        (b"GIF87a", (GIF, 0, 0)),
        (b"\xff\xd8" + SOF, (JPEG, 640, 480)),
        (b"\xff\xd8\xff\xe0\x00\x04ab\xff\xff\xff\x01" + SOF, (JPEG, 640, 480)),  # a segment, filling, a marker that stands alone
        (b"\xff\xd8\xff\xc4\x00\x02" + SOF, (JPEG, 640, 480)),  # a table is no frame
        (b"\xff\xd8\xff\xe0\x00\x00" + SOF, (JPEG, 640, 480)),  # a length that leads nowhere
        (b"\xff\xd8\xff\xe0\xff\xff", (JPEG, 0, 0)),
        (b"\xff\xd8\xff\xe0\x00\x02\x00", (JPEG, 0, 0)),
        (b"\xff\xd8" + b"\xff\xe0\x00\x02" * MOST_SEGMENTS + SOF, (JPEG, 0, 0)),
        (webp(b"VP8 ", b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 7 | 0x4000, 8 | 0x8000)), (WEBP, 7, 8)),
        (webp(b"VP8 ", b"\0\0\0nothing"), (WEBP, 0, 0)),
        (webp(b"VP8L", b"\x2f" + struct.pack("<I", 8 | 9 << 14 | 1 << 28)), (WEBP, 9, 10)),
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
