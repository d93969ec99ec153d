"""Reads a text file that another program or the user owns: bounded in size, never blocking on a pipe, in its own encoding.

Blocks for as long as the disk takes.
"""

import codecs
import errno
import hashlib
from pathlib import Path
from typing import ClassVar

from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.regular_file import NotRegular, open_regular

MAX_FILE_BYTES = 8 * 1024 * 1024  # the largest configs that people have are a hundredth of it
# the byte order mark of UTF-32 begins like that of UTF-16, so it is checked first; without one, the zero bytes decide (RFC 4627)
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ZEROS = {(False, True): "utf-16-le", (True, False): "utf-16-be"}


class CannotOpen(Exception):
    """A path that exists, but from which no text can be read.

    Attributes:
        reason: for the user.
        line: the line that cannot be read, from 1; 0: none in particular.
        digest: of the bytes that were read; empty if there are none.
    """

    def __init__(self, reason: str, line: int = 0, digest: str = "") -> None:
        super().__init__(reason)
        self.reason, self.line, self.digest = reason, line, digest


class FileText(HidesFields, frozen=True):
    """The text of a file, with the facts that are needed to write the file again.

    Attributes:
        text: with the byte order mark at its beginning, if the file has one.
        digest: SHA-256 of the file's bytes; empty: the file does not exist.
        encoding: Python's name of the file's encoding.
    """

    hidden: ClassVar = ("text",)

    text: str = ""
    digest: str = ""
    encoding: str = "utf-8"

    def to_bytes(self, text: str) -> bytes:
        """Encodes a new text in this file's encoding."""
        return text.encode(self.encoding)


def read_text(path: Path, most_bytes: int = MAX_FILE_BYTES) -> FileText:
    """Reads a file; one that does not exist is an empty text without a digest.

    Raises:
        CannotOpen: it is not a regular file, may not be read, is larger than `most_bytes`, or is not text.
    """
    try:
        data = _bytes_of(path, most_bytes)
    except (FileNotFoundError, NotADirectoryError):
        return FileText()
    except NotRegular as error:
        kind = Phrase("it is a folder") if error.errno == errno.EISDIR else Phrase("it is not a file, but a pipe or a device")
        raise CannotOpen(kind) from None
    except OSError as error:
        raise CannotOpen(Phrase("it cannot be read: {reason}", reason=error.strerror or type(error).__name__)) from None
    except ValueError:  # a zero character in the path
        raise CannotOpen(Phrase("a file cannot have this name")) from None
    return text_of(data)


def text_of(data: bytes) -> FileText:
    """Decodes a file's bytes.

    Raises:
        CannotOpen: they are not text.
    """
    digest, encoding = hashlib.sha256(data).hexdigest(), _encoding_of(data)
    try:
        return FileText(data.decode(encoding), digest, encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].decode(encoding, "replace").count("\n") + 1
        name = encoding.upper().removesuffix("-LE").removesuffix("-BE")
        raise CannotOpen(Phrase("byte {number} is not {encoding}", number=error.start + 1, encoding=name), line, digest) from None


def _bytes_of(path: Path, most_bytes: int) -> bytes:
    """
    Raises:
        OSError, ValueError: it cannot be opened or read.
        CannotOpen: it is too large.
    """
    with open(path, "rb", opener=open_regular) as file:
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise CannotOpen(Phrase("it is larger than {size} MB", size=most_bytes // 1024 // 1024))
    return data


def _encoding_of(data: bytes) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return encoding
    return _ZEROS.get((data[:1] == b"\0", data[1:2] == b"\0"), "utf-8")
