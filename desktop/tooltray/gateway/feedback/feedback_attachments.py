"""Checks the pictures and files of an answer and turns them into content blocks of a tool result.

Pictures are passed on unchanged: only their type and their size in pixels are read, from their first bytes. The types are those that AI
clients accept: PNG, JPEG, GIF and WebP.
"""

import binascii
import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from urllib.parse import quote

import msgspec

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.questions import FeedbackAttachment
from tooltray.foundation.verbs import JsonObject
from tooltray.protocol.sessions.elicitation_form import plain

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
    """Reads a picture's header; None for data of other types than `KINDS`."""
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


MIB = 2**20
MOST_ATTACHMENTS = 20  # more cannot be read
MOST_PICTURE_BYTES = 5 * MIB // 4 * 3  # 5 MiB as base64, the limit of model services; a conversation with a larger picture fails for good
MOST_BYTES = 20 * MIB  # in total; 27 MiB as base64, and a line of the control channel has at most 64
MOST_FILE_BYTES = MIB  # a model has to read it
MOST_SIDE = 8000  # pixels; model services refuse longer ones
MOST_PIXELS = 50_000_000  # a camera's picture has 12 to 48 million; a small file may claim a thousand times as many
LONGEST_NAME, LONGEST_PATH = 120, 4096  # characters
LIMITS = (
    f"A picture (PNG, JPEG, GIF, WebP) may have {MOST_PICTURE_BYTES / MIB:g} MiB, {MOST_SIDE:,} pixels a side and "
    f"{MOST_PIXELS // 10**6} million in all, a file {MOST_FILE_BYTES // MIB} MiB, all together {MOST_BYTES // MIB} MiB; "
    "give the path of a larger file"
)
_MIME_TYPE = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}")  # RFC 6838, section 4.2
_TEXT, _BYTES = "text/plain", "application/octet-stream"  # if no valid type was given


class Attachments(msgspec.Struct, frozen=True):
    """
    Attributes:
        names: names of all attachments, for the history.
        blocks: pictures and files as content blocks.
        paths: paths of files that were too large to be sent.
    """

    names: tuple[str, ...] = ()
    blocks: tuple[JsonObject, ...] = ()
    paths: tuple[str, ...] = msgspec.field(default=())


def read_attachments(given: Sequence[FeedbackAttachment]) -> Attachments:
    """Checks the attachments of an answer. Reads the disk and takes 0.1 s for 20 MiB, so it must not run in the loop's thread.

    Raises:
        TooltrayError: an attachment cannot be sent; the error names it, the reason and the limits.
    """
    if len(given) > MOST_ATTACHMENTS:
        raise TooltrayError(
            Phrase("These are too many attachments"),
            Phrase("there are {number}", number=len(given)),
            Phrase("Send at most {most_attachments}.", most_attachments=MOST_ATTACHMENTS),
        )
    if sum(len(each.data) for each in given) > MOST_BYTES * 4 // 3 + 4 * len(given):
        raise TooltrayError(
            Phrase("The attachments are too large together"),
            Phrase("they have more than {most_bytes} MiB", most_bytes=MOST_BYTES // MIB),
            f"{LIMITS}.",
        )
    names = tuple(_name(each.name, number) for number, each in enumerate(given, 1))
    blocks = tuple(_blocks(given, names))
    return Attachments(names, blocks, tuple(_path(each, name) for each, name in zip(given, names, strict=True) if each.path))


def _blocks(given: Sequence[FeedbackAttachment], names: Sequence[str]) -> Iterator[JsonObject]:
    """Yields the content blocks, pictures first: models read the rest with them in mind."""
    sent = [_block(each, name, number) for number, (each, name) in enumerate(zip(given, names, strict=True), 1) if not each.path]
    yield from sorted(sent, key=lambda block: block["type"] != "image")


def _block(attachment: FeedbackAttachment, name: str, number: int) -> JsonObject:
    data = _decoded(attachment.data, name)
    picture = read_picture(data)
    if picture is None:
        if attachment.mime_type in KINDS:
            raise _refused(name, f"its content is not {attachment.mime_type}")
        return _file(data, attachment, name, number)
    if len(data) > MOST_PICTURE_BYTES:
        raise _refused(name, f"it has {len(data) / MIB:.1f} MiB")
    if not picture.width or not picture.height:
        raise _refused(name, "its size in pixels cannot be read")
    if max(picture.width, picture.height) > MOST_SIDE or picture.width * picture.height > MOST_PIXELS:
        raise _refused(name, f"its header declares {picture.width:,} x {picture.height:,} pixels")
    return {"type": "image", "data": attachment.data, "mimeType": picture.mime_type}


def _file(data: bytes, attachment: FeedbackAttachment, name: str, number: int) -> JsonObject:
    """Makes an embedded resource; its number keeps the URIs of files with the same name apart."""
    if len(data) > MOST_FILE_BYTES:
        raise _refused(name, f"it has {len(data) / MIB:.1f} MiB")
    text = _text(data)
    mime_type = attachment.mime_type if _MIME_TYPE.fullmatch(attachment.mime_type) else _BYTES if text is None else _TEXT
    content = {"blob": attachment.data} if text is None else {"text": text}
    return {"type": "resource", "resource": {"uri": f"feedback:///{number}/{quote(name)}", "mimeType": mime_type, **content}}


def _decoded(data: str, name: str) -> bytes:
    try:
        decoded = binascii.a2b_base64(data, strict_mode=True)
    except (binascii.Error, ValueError):  # ValueError: not ASCII
        raise _refused(name, "its data is not base64") from None
    if not decoded:
        raise _refused(name, "it is empty")
    return decoded


def _text(data: bytes) -> str | None:
    try:
        return None if b"\0" in data else data.decode()
    except UnicodeDecodeError:
        return None


def _path(attachment: FeedbackAttachment, name: str) -> str:
    path = attachment.path
    if len(path) > LONGEST_PATH or not path.isprintable() or not os.path.isabs(path):
        raise _refused(name, "its path must be absolute and printable")
    if not os.path.isfile(path):
        raise _refused(name, "no such file exists")
    return path


def _name(name: str, number: int) -> str:
    """Returns the last part of a file name, made safe to display."""
    return plain(re.split(r"[/\\]", name)[-1], LONGEST_NAME) or f"attachment {number}"


def _refused(name: str, why: str) -> TooltrayError:
    return TooltrayError(Phrase("'{name}' cannot be sent", name=name), why, f"{LIMITS}.")
