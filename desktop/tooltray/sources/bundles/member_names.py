"""Which names the files of a bundle may have: the same ones on every system, so that what a person looked at here is what others get.

Above it: archive. Pure; knows no ZIP and no disk.
"""

import re
import unicodedata
from collections.abc import Iterable

from tooltray.foundation.phrases import Phrase

MAX_NAME_BYTES = 200  # of one part; file systems take 255, and encryption of folders takes some of them
MAX_PATH_BYTES = 1024  # of a whole name; macOS takes no more
MAX_DEPTH = 40  # folders in one another; node_modules of real bundles have some 15
_NOT_ON_WINDOWS = re.compile(r'[<>:"|?*]')  # a colon is also a drive letter, or a second stream of a file
_DEVICES = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?: *\..*)?", re.IGNORECASE)


def why_not(name: str) -> str:
    """Why a file may not be called that; empty if it may.

    Args:
        name: as it stands in the archive; a folder's ends with a slash.
    """
    parts = name.removesuffix("/").split("/")
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in name):
        return Phrase("a control character is in its name")
    if "\\" in name:
        return Phrase("a backslash is in its name")
    if name.startswith("/") or _NOT_ON_WINDOWS.search(name):
        return Phrase("it names a place outside of the bundle, or has a character that not every system takes")
    if len(parts) > MAX_DEPTH or len(_bytes(name)) > MAX_PATH_BYTES or any(len(_bytes(part)) > MAX_NAME_BYTES for part in parts):
        return Phrase("its name is too long, or lies in too many folders")
    return next(filter(None, map(_why_not_part, parts)), "")


def folded(name: str) -> str:
    """The same for two names that some file system takes for one."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def clash_among(names: Iterable[str]) -> tuple[str, str]:
    """Two names that are one file or folder on some system, or of which one is a file where the other has a folder; empty: none."""
    seen: dict[str, tuple[str, bool]] = {}
    files: set[str] = set()
    for name in names:
        parts = name.removesuffix("/").split("/")
        for depth in range(1, len(parts) + 1):
            this = "/".join(parts[:depth]), depth < len(parts) or name.endswith("/")
            before = seen.setdefault(folded(this[0]), this)
            if before != this or this[0] in files:
                return before[0], this[0]
        if not name.endswith("/"):
            files.add(name)
    return "", ""


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _why_not_part(part: str) -> str:
    if part in ("", ".", ".."):
        return Phrase("it names a place outside of the bundle")
    if part.endswith((".", " ")) or part.startswith(" "):
        return Phrase("a part of its name ends with a full stop or a space, which Windows drops")
    return Phrase("Windows keeps this name for a device") if _DEVICES.fullmatch(part) else ""
