"""A bundle as a file: a ZIP whose members and names are checked before anything is unpacked, and a signature, which is not verified.

A bundle is refused as a whole or unpacked as a whole, into a new folder that gets its name when everything is in it. Names must be good on
every system, so that all users of a bundle get the same files. Everything here blocks on the disk.
"""

import os
import re
import shutil
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import IO

import msgspec

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import hint_for
from tooltray.foundation.phrases import Phrase

MAX_NAME_BYTES = 200  # of one part; file systems allow 255, and encryption of folders needs some of them
MAX_PATH_BYTES = 1024  # of a whole name; macOS allows no more
MAX_DEPTH = 40  # nested folders; node_modules of real bundles have some 15 levels
_NOT_ON_WINDOWS = re.compile(r'[<>:"|?*]')  # a colon is also a drive letter, or a second stream of a file
_DEVICES = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?: *\..*)?", re.IGNORECASE)
MANIFEST = "manifest.json"
MAX_MANIFEST_BYTES = 2**20  # a manifest with a hundred tools has 50 KB
MAX_FILES = 60_000  # node_modules of the largest known bundles have some 20,000
MAX_UNPACKED_BYTES = 2 * 2**30  # a bundle may contain a browser or a model's runtime
MAX_RATIO = 200  # texts are packed to a fifteenth; only bombs are packed better than this
SMALL_BYTES = 32 * 2**20  # up to this size the ratio is harmless
MAX_SIGNATURE_BYTES = 60_000  # certificates have a few thousand; zipfile looks for the directory in the last 64 KiB
UNPACKING = ".unpacking-"  # prefix of folders of an unfinished install; the next start removes them
_START = b"PK\x03\x04"
_SIGNATURE, _SIGNATURE_END = b"MCPB_SIG_V1", b"MCPB_SIG_END"
_ENCRYPTED = 0x1 | 0x40 | 0x2000  # flags for an encrypted member, a strongly encrypted one, and an encrypted directory
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_REPARSE_POINT = 0x400  # Windows' attribute for a link
_PROGRAMS = (b"#!", b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
_CHUNK_BYTES = 2**20
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, struct.error, ValueError, NotImplementedError, OverflowError, RuntimeError)


def why_not(name: str) -> str:
    """Returns why a file may not have a name; empty if it may.

    Args:
        name: as in the archive; a folder's ends with a slash.
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
    """Returns a key that is equal for names that some file system considers the same."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def clash_among(names: Iterable[str]) -> tuple[str, str]:
    """Returns two names that are the same file or folder on some system, or a file and a folder with the same name; empty without such a
    pair.
    """
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


class Archive(msgspec.Struct, frozen=True):
    """The contents of a bundle.

    Attributes:
        manifest: as it is in the file.
        files: their names, with slashes.
        is_signed: the ZIP is followed by a signature, which is not verified.
    """

    manifest: bytes
    files: frozenset[str]
    unpacked_bytes: int
    is_signed: bool


def read_archive(path: Path) -> Archive:
    """Checks everything in a bundle, and unpacks only its manifest.

    Raises:
        TooltrayError: it cannot be read, or something in it would not stay inside its folder; the error names it.
    """
    try:
        with open(path, "rb") as file, _opened(file) as archive:
            members = _checked(archive)
            info = next((info for info in members if info.filename == MANIFEST), None)
            if info is None:
                raise refused(Phrase("it has no manifest.json"))
            if info.file_size > MAX_MANIFEST_BYTES:
                raise refused(Phrase("its manifest.json is larger than {most} MiB", most=MAX_MANIFEST_BYTES // 2**20))
            names = frozenset(info.filename for info in members if not info.is_dir())
            size = sum(info.file_size for info in members)
            return Archive(archive.read(info), names, size, _is_signed(file))
    except _BROKEN as error:
        raise refused(Phrase("it is no ZIP file, or damaged ({reason})", reason=error)) from error
    except OSError as error:
        raise TooltrayError(Phrase("This bundle cannot be read"), f"{path}: {error.strerror or error}") from error


def unpack(path: Path, target: Path, *, programs: Collection[str] = ()) -> None:
    """Unpacks a bundle into a new folder, which appears only when it is complete.

    Args:
        target: the new folder; before it gets this name, it is unpacked in the parent of its parent.
        programs: names of files that have to be executable whatever their mode in the archive.

    Raises:
        TooltrayError: `read_archive` does not accept it, or it cannot be written.
    """
    try:
        root = target.parent.parent
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside = Path(mkdtemp(dir=root, prefix=f"{UNPACKING}{os.getpid()}-"))
        try:
            with open(path, "rb") as file, _opened(file) as archive:
                for info in _checked(archive):
                    _write(archive, info, beside, is_program=info.filename in programs)
            target.parent.mkdir(mode=0o700, exist_ok=True)
            os.rename(beside, target)
        except BaseException:
            shutil.rmtree(beside, ignore_errors=True)
            with suppress(OSError):  # other versions are in it
                target.parent.rmdir()
            raise
    except _BROKEN as error:
        raise refused(Phrase("it is no ZIP file, or damaged ({reason})", reason=error)) from error
    except OSError as error:
        hint = hint_for(error, Phrase("Look at the folder, and try again"))
        raise TooltrayError(Phrase("This bundle could not be unpacked"), f"{error.filename or target}: {error.strerror}", hint) from error


def refused(reason: str) -> TooltrayError:
    return TooltrayError(Phrase("This bundle cannot be used"), reason, Phrase("Ask whoever made it for another one"))


def _opened(file: IO[bytes]) -> zipfile.ZipFile:
    if file.read(len(_START)) != _START:
        raise refused(Phrase("it is no ZIP file"))
    return zipfile.ZipFile(file)


def _checked(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Checks each member, and all together; returns them."""
    members = archive.infolist()
    if len(members) > MAX_FILES:
        raise refused(Phrase("it has more than {most} files", most=MAX_FILES))
    for info in members:
        if reason := _why_not_member(info):
            raise refused(Phrase("{name}: {reason}", name=repr(info.orig_filename[:200]), reason=reason))
    first, second = clash_among(info.filename for info in members)
    if first:
        raise refused(Phrase("{first} and {second} are one file on some systems", first=repr(first), second=repr(second)))
    size, packed = sum(info.file_size for info in members), sum(info.compress_size for info in members)
    if size > MAX_UNPACKED_BYTES:
        raise refused(Phrase("unpacked it would be larger than {most} GiB", most=MAX_UNPACKED_BYTES // 2**30))
    if size > SMALL_BYTES and size > packed * MAX_RATIO:
        raise refused(Phrase("it unpacks to more than {most} times its size, as files do that are made to fill disks", most=MAX_RATIO))
    return members


def _why_not_member(info: zipfile.ZipInfo) -> str:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if reason := why_not(info.orig_filename):
        return reason
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR) or info.external_attr & _REPARSE_POINT:
        return Phrase("it is a link or a device, and no file")
    if kind and (kind == stat.S_IFDIR) != info.is_dir():
        return Phrase("it is a folder by one sign and a file by another")
    if info.flag_bits & _ENCRYPTED:
        return Phrase("it is encrypted")
    return "" if info.compress_type in _METHODS else Phrase("it is packed in a way that bundles do not use")


def _write(archive: zipfile.ZipFile, info: zipfile.ZipInfo, folder: Path, *, is_program: bool) -> None:
    path = folder.joinpath(*info.filename.removesuffix("/").split("/"))
    if info.is_dir():
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with archive.open(info) as source, open(path, "xb") as written:  # zipfile reads no more than the directory's size, and checks the sum
        start = source.read(_CHUNK_BYTES)
        written.write(start)
        shutil.copyfileobj(source, written, _CHUNK_BYTES)
    is_marked = bool(info.external_attr >> 16 & 0o111) and start.startswith(_PROGRAMS)
    path.chmod(0o700 if is_program or is_marked else 0o600)


def _is_signed(file: IO[bytes]) -> bool:
    """Returns whether the file ends with `MCPB_SIG_V1`, a length, so many bytes and `MCPB_SIG_END`."""
    end = file.seek(0, os.SEEK_END)
    file.seek(max(0, end - MAX_SIGNATURE_BYTES))
    tail = file.read()
    at = tail.rfind(_SIGNATURE)
    block = tail[at + len(_SIGNATURE) :] if at >= 0 else b""
    if len(block) < 4 or not block.endswith(_SIGNATURE_END):
        return False
    return int.from_bytes(block[:4], "little") == len(block) - 4 - len(_SIGNATURE_END)
