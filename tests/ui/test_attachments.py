"""What goes with an answer is read as it is, and what cannot be taken is refused in words before anything is sent."""

import base64
import os
import struct
import zlib
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMimeData, QUrl
from PySide6.QtGui import QColor, QImage, QImageWriter
from PySide6.QtWidgets import QApplication

from tooltray.foundation.errors import TooltrayError
from tooltray.ui.feedback.answer_box import (
    LARGEST_FILE_BYTES,
    LARGEST_PICTURE_BYTES,
    MIB,
    MOST_ATTACHMENTS,
    THUMBNAIL,
    Attachment,
    check_room,
    harmless_name,
    has_sources,
    picture_kind,
    read,
    size_words,
    sources_of,
)

NOTE = Attachment("note.txt", "text/plain", 1, b"x")


def pixels(width: int = 40, height: int = 30) -> QImage:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(QColor("steelblue"))
    return image


def encoded(kind: bytes, width: int = 40, height: int = 30) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    assert QImageWriter(buffer, QByteArray(kind)).write(pixels(width, height))
    return bytes(buffer.data().data())


def bomb(width: int = 100_000, height: int = 100_000) -> bytes:
    """A small PNG file that says it is a huge picture."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(100_000))) + chunk(b"IEND", b"")


def refusal(source: str | bytes | QImage) -> str:
    with pytest.raises(TooltrayError) as caught:
        read(source)
    problem = caught.value.problem
    return f"{problem.title}. {problem.message}"


@pytest.mark.parametrize("kind", ["png", "jpeg", "webp"])
def test_a_pasted_picture_is_sent_byte_for_byte(app: QApplication, kind: str) -> None:
    data = encoded(kind.encode())
    found = read(data)
    assert (found.name, found.mime_type, found.size_bytes) == (f"picture.{kind}", f"image/{kind}", len(data))
    sent = found.for_engine()
    assert base64.b64decode(sent.data) == data
    assert sent.path == ""


def test_pasted_pixels_become_a_png(app: QApplication) -> None:
    found = read(pixels())
    assert (found.name, found.mime_type) == ("picture.png", "image/png")
    assert QImage.fromData(found.data) == pixels()


def test_a_thumbnail_of_a_large_picture_is_small_and_a_small_picture_is_not_blown_up(app: QApplication) -> None:
    large, small, thin = (read(encoded(b"png", *size)).thumbnail for size in ((2000, 1000), (40, 30), (1, 5000)))
    assert large is not None
    assert small is not None
    assert thin is not None
    assert (large.width(), large.height()) == (384, THUMBNAIL.height())
    assert (small.width(), small.height()) == (40, 30)
    assert thin.height() <= 4 * THUMBNAIL.width()


def test_a_picture_that_would_fill_the_memory_is_refused_by_what_it_says_of_itself(app: QApplication, tmp_path: Path) -> None:
    assert "100000 x 100000 points" in refusal(bomb())
    path = tmp_path / "bomb.png"
    path.write_bytes(bomb())
    assert refusal(str(path)).startswith("'bomb.png' is too large")


def test_pixels_that_fill_the_memory_are_refused_before_they_are_packed(app: QApplication) -> None:
    assert "more than 50 million" in refusal(QImage(7500, 7500, QImage.Format.Format_Mono))
    assert "It has 8001 x 10 points; a side may have 8000." in refusal(QImage(8001, 10, QImage.Format.Format_Mono))
    assert read(QImage(8000, 10, QImage.Format.Format_Mono)).mime_type == "image/png"


def test_a_damaged_picture_is_refused(app: QApplication) -> None:
    assert refusal(encoded(b"png")[:60]) == "'picture.png' cannot be read. It is a damaged picture."
    assert refusal(b"no picture at all").startswith("The picture cannot be read")


def test_a_picture_that_is_too_large_for_models_is_refused_with_its_size(app: QApplication, tmp_path: Path) -> None:
    path = tmp_path / "photo.png"
    path.write_bytes(encoded(b"png") + bytes(LARGEST_PICTURE_BYTES))
    assert refusal(str(path)) == "'photo.png' is too large. It has 3.8 MiB; a picture may have 3.8 MiB."


def test_a_file_is_sent_with_its_content_and_a_large_one_by_its_path(app: QApplication, tmp_path: Path) -> None:
    small, large = tmp_path / "note.md", tmp_path / "dump.bin"
    small.write_bytes(b"# Note")
    large.write_bytes(bytes(LARGEST_FILE_BYTES + 1))
    note, dump = read(str(small)).for_engine(), read(str(large)).for_engine()
    assert (note.name, note.mime_type, base64.b64decode(note.data), note.path) == ("note.md", "text/markdown", b"# Note", "")
    assert (dump.name, dump.data, dump.path) == ("dump.bin", "", str(large))


def test_a_picture_file_is_known_by_its_content_and_not_by_its_name(app: QApplication, tmp_path: Path) -> None:
    picture, text = tmp_path / "picture.txt", tmp_path / "text.png"
    picture.write_bytes(encoded(b"jpeg"))
    text.write_bytes(b"just words")
    assert read(str(picture)).mime_type == "image/jpeg"
    assert read(str(text)).mime_type == "application/octet-stream"


def test_folders_pipes_empty_and_missing_files_are_refused_with_the_reason(app: QApplication, tmp_path: Path) -> None:
    pipe, empty = tmp_path / "pipe", tmp_path / "empty.txt"
    os.mkfifo(pipe)
    empty.touch()
    assert refusal(str(pipe)).startswith("'pipe' is not a file")  # reading from it would never end
    assert refusal(str(tmp_path)) == f"'{tmp_path.name}' is a folder. "
    assert refusal(str(empty)).startswith("'empty.txt' is empty")
    assert refusal(str(tmp_path / "gone")) == "'gone' cannot be read. No such file or directory"


def test_an_answer_takes_so_many_and_so_much_and_says_what_is_left(app: QApplication) -> None:
    check_room([NOTE] * (MOST_ATTACHMENTS - 1), NOTE)
    with pytest.raises(TooltrayError, match=r"'note.txt' does not fit any more"):
        check_room([NOTE] * MOST_ATTACHMENTS, NOTE)
    five = replace(NOTE, data=bytes(5 * MIB))
    check_room([five] * 3, five)
    with pytest.raises(TooltrayError) as caught:
        check_room([five] * 4, NOTE)
    assert caught.value.problem.message == "An answer takes 20.0 MiB in all; 0 B are left."


def test_names_lose_what_cannot_be_seen() -> None:
    assert harmless_name("a\u202egnp.exe\n") == "a_gnp.exe_"
    assert len(harmless_name("n" * 500 + ".log")) == 120
    assert harmless_name("n" * 500 + ".log").endswith(".log")


def test_sizes_are_said_with_their_unit() -> None:
    assert [size_words(size) for size in (9, 2048, 5 * MIB + 1)] == ["9 B", "2.0 KiB", "5.0 MiB"]


def test_only_kinds_that_models_take_are_pictures() -> None:
    assert picture_kind(b"GIF89a") == "image/gif"
    assert picture_kind(b"RIFF....WEBP") == "image/webp"
    assert picture_kind(b"RIFF....WAVE") == ""
    assert picture_kind(b"BM") == ""


def mime(**formats: bytes) -> QMimeData:
    result = QMimeData()
    for name, data in formats.items():
        result.setData(name.replace("_", "/"), data)
    return result


def test_files_are_found_in_what_is_dropped_and_pages_of_the_web_are_not(app: QApplication, tmp_path: Path) -> None:
    dropped = QMimeData()
    dropped.setUrls([QUrl.fromLocalFile(str(tmp_path / "a b.txt")), QUrl("https://x.example/y.png")])
    assert has_sources(dropped)
    assert sources_of(dropped) == [str(tmp_path / "a b.txt")]


def test_a_picture_is_taken_as_its_file_where_there_is_one_and_as_pixels_else(app: QApplication) -> None:
    assert sources_of(mime(image_png=b"data", text_html=b"<img>")) == [b"data"]
    copied = QMimeData()
    copied.setImageData(pixels())
    assert has_sources(copied)
    assert sources_of(copied) == [pixels()]


def test_text_that_comes_with_a_picture_of_itself_is_text(app: QApplication) -> None:
    both = mime(image_png=b"data")
    both.setText("a cell of a table")
    assert sources_of(both) == []
    assert sources_of(mime(text_plain=b"words")) == []
