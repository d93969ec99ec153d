"""Checks the pictures and files of a person's answer and turns them into content blocks of a tool result.

Above it: Feedbacks. Below it: picture_headers, and the disk for files given by their path. Pictures are passed on unchanged: only their
type and their size in pixels are read, from their first bytes.
"""

import binascii
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

import msgspec

from tooltray.errors import TooltrayError
from tooltray.feedback.picture_headers import KINDS, read_picture
from tooltray.sessions.elicitation_form import plain
from tooltray.snapshots.feedback import FeedbackAttachment

MIB = 2**20
MOST_ATTACHMENTS = 20  # nobody can read more
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
_MIME_TYPE = re.compile(r"[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}")  # RFC 6838, section 4.2
_TEXT, _BYTES = "text/plain", "application/octet-stream"  # if no valid type was given


class Attachments(msgspec.Struct, frozen=True):
    """
    Attributes:
        names: names of all attachments, for the history.
        blocks: pictures and files as content blocks.
        paths: paths of files that were too large to be sent.
    """

    names: tuple[str, ...] = ()
    blocks: tuple[dict[str, Any], ...] = ()
    paths: tuple[str, ...] = msgspec.field(default=())


def read_attachments(given: Sequence[FeedbackAttachment]) -> Attachments:
    """Checks the attachments of an answer. Reads the disk and takes 0.1 s for 20 MiB, so it must not run in the loop's thread.

    Raises:
        TooltrayError: an attachment cannot be sent; the error names it, the reason and the limits.
    """
    if len(given) > MOST_ATTACHMENTS:
        raise TooltrayError("These are too many attachments", f"there are {len(given)}", f"Send at most {MOST_ATTACHMENTS}.")
    if sum(len(each.data) for each in given) > MOST_BYTES * 4 // 3 + 4 * len(given):
        raise TooltrayError("The attachments are too large together", f"they have more than {MOST_BYTES // MIB} MiB", f"{LIMITS}.")
    names = tuple(_name(each.name, number) for number, each in enumerate(given, 1))
    blocks = tuple(_blocks(given, names))
    return Attachments(names, blocks, tuple(_path(each, name) for each, name in zip(given, names, strict=True) if each.path))


def _blocks(given: Sequence[FeedbackAttachment], names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yields the content blocks, pictures first: models read the rest with them in mind."""
    sent = [_block(each, name, number) for number, (each, name) in enumerate(zip(given, names, strict=True), 1) if not each.path]
    yield from sorted(sent, key=lambda block: block["type"] != "image")


def _block(attachment: FeedbackAttachment, name: str, number: int) -> dict[str, Any]:
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
        raise _refused(name, f"it says that it has {picture.width:,} x {picture.height:,} pixels")
    return {"type": "image", "data": attachment.data, "mimeType": picture.mime_type}


def _file(data: bytes, attachment: FeedbackAttachment, name: str, number: int) -> dict[str, Any]:
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
        raise _refused(name, "its data are no base64") from None
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
        raise _refused(name, "there is no such file")
    return path


def _name(name: str, number: int) -> str:
    """Returns the last part of a file name, made safe to display."""
    return plain(re.split(r"[/\\]", name)[-1], LONGEST_NAME) or f"attachment {number}"


def _refused(name: str, why: str) -> TooltrayError:
    return TooltrayError(f"'{name}' cannot be sent", why, f"{LIMITS}.")
