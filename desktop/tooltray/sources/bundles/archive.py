"""A bundle as a file: read from a path or an address, checked and unpacked.

A copy of each bundle that was read is kept, so that exactly this copy is installed. It is a ZIP whose members and names are checked before
anything is unpacked, and a signature, which is not verified. A bundle is refused as a whole or unpacked as a whole, into a new folder that
gets its name when everything is in it. Names must be good on every system, so that all users of a bundle get the same files. All but
BundleSources blocks on the disk.
"""

import asyncio
import hashlib
import importlib
import os
import re
import shutil
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp, mkstemp
from typing import IO, Any
from urllib.parse import urlsplit

import msgspec

from tooltray.foundation.errors import Conflict, TooltrayError
from tooltray.foundation.home.home import hint_for
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.tasks import finish_in_thread

MAX_BYTES = 2**30  # of a bundle; one with a browser in it has 300 MB
MOST_KEPT = 3  # between reading and installing; if more bundles are read, the first ones can no longer be installed
READING = ".reading-"  # prefix of copies; the next start removes files with it
_CHUNK_BYTES = 2**20


class BundleFile(msgspec.Struct, frozen=True):
    """A bundle that was read.

    Attributes:
        path: of Tooltray's own copy.
        sha256: of the whole file, in hexadecimal.
    """

    path: Path
    sha256: str
    size_bytes: int


Download = Callable[..., Awaitable[None]]
"""Fetches an address into a file, as `download.download`."""


async def download(url: str, into: Callable[[bytes], None], **limits: Any) -> None:
    """Calls `download.download`, which is imported in a thread on first use, since the HTTP library is large."""
    module = await asyncio.to_thread(importlib.import_module, "tooltray.sources.bundles.download")
    await module.download(url, into, **limits)


class BundleSources:
    """Copies of the bundles that were read last. Belongs to one event loop."""

    def __init__(self, *, folder: Path, environ: Callable[[], Awaitable[Mapping[str, str]]], fetch: Download = download) -> None:
        """
        Args:
            folder: where copies are kept for a while.
            environ: gives the user's environment, for proxies and certificate authorities.
        """
        self._folder, self._environ, self._fetch = folder, environ, fetch
        self._kept: dict[tuple[str, str], BundleFile] = {}

    async def read(self, source: str) -> BundleFile:
        """Copies a bundle.

        Args:
            source: an absolute path, or an address that begins with `file:`, `https:` or, on this computer, `http:`.

        Raises:
            TooltrayError: it cannot be read; the error has the reason.
        """
        file = await self._copied(source)
        for key, kept in list(self._kept.items()):
            if key == (source, file.sha256) or len(self._kept) >= MOST_KEPT:
                del self._kept[key]
                await finish_in_thread(_remove, kept.path)
        self._kept[source, file.sha256] = file
        return file

    async def again(self, source: str, sha256: str) -> BundleFile:
        """Returns a bundle that was read before, or reads it again.

        Raises:
            Conflict: the source has another bundle now.
            TooltrayError: as `read`.
        """
        kept = self._kept.get((source, sha256))
        if kept and await finish_in_thread(_digest, kept.path) == sha256:
            return kept
        found = await self.read(source)
        if found.sha256 != sha256:
            hint = Phrase("Review it and decide again.")
            raise Conflict(Phrase("This bundle has changed meanwhile"), Phrase("its SHA-256 is {sum}", sum=found.sha256), hint)
        return found

    async def close(self) -> None:
        """Deletes all copies."""
        for source, sha256 in list(self._kept):
            await self.forget(source, sha256)

    async def forget(self, source: str, sha256: str) -> None:
        """Deletes the copy of a bundle."""
        if kept := self._kept.pop((source, sha256), None):
            await finish_in_thread(_remove, kept.path)

    async def _copied(self, source: str) -> BundleFile:
        try:
            with await finish_in_thread(_Copy, self._folder) as copy:
                if source.lower().startswith(("http:", "https:")):
                    await self._fetch(source, copy.add, environ=await self._environ(), most_bytes=MAX_BYTES)
                else:
                    await finish_in_thread(_copy_file, _path_of(source), copy)
                return copy.finished()
        except OSError as error:
            hint = hint_for(error, Phrase("Check the path, and that you may read the file."))
            raise TooltrayError(Phrase("This bundle cannot be read"), f"{error.filename or source}: {error.strerror}", hint) from error


class _Copy:
    """A copy that is being written; deleted unless it is finished."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, name = mkstemp(dir=folder, prefix=f"{READING}{os.getpid()}-")
        self._path, self._file = Path(name), os.fdopen(descriptor, "wb")
        self._sum, self._size, self._is_finished = hashlib.sha256(), 0, False

    def add(self, data: bytes) -> None:
        """Appends data.

        Raises:
            TooltrayError: the bundle is too large.
            OSError: the disk is full.
        """
        self._size += len(data)
        if self._size > MAX_BYTES:
            raise TooltrayError(Phrase("This bundle is too large"), Phrase("it has more than {most} GiB", most=MAX_BYTES // 2**30))
        self._sum.update(data)
        self._file.write(data)

    def finished(self) -> BundleFile:
        self._file.close()
        self._is_finished = True
        return BundleFile(self._path, self._sum.hexdigest(), self._size)

    def __enter__(self) -> "_Copy":
        return self

    def __exit__(self, *error: object) -> None:
        if not self._is_finished:
            with suppress(OSError):  # the rest does not fit on the disk
                self._file.close()
            _remove(self._path)


def _path_of(source: str) -> Path:
    """Returns the path of a file.

    Raises:
        TooltrayError: the source is neither an absolute path nor an address of a file.
    """
    if source.lower().startswith("file:"):
        parts = urlsplit(source)
        if parts.netloc not in ("", "localhost"):
            raise TooltrayError(Phrase("This bundle cannot be read"), Phrase("its address names another computer"))
        from urllib.request import url2pathname  # with the client for HTTP behind it

        source = url2pathname(parts.path)
    if not os.path.isabs(source) or "\0" in source:
        raise TooltrayError(Phrase("This bundle cannot be read"), Phrase("it needs a whole path, or an address that begins with https://"))
    return Path(source)


def _copy_file(path: Path, copy: _Copy) -> None:
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # a pipe would block
    with open(os.open(path, flags), "rb") as file:
        _check_is_file(file, path)
        while data := file.read(_CHUNK_BYTES):
            copy.add(data)


def _check_is_file(file: IO[bytes], path: Path) -> None:
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        raise TooltrayError(Phrase("This bundle cannot be read"), Phrase("{path} is not a file", path=path))


def _digest(path: Path) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


MAX_NAME_BYTES = 200  # of one part; file systems allow 255, and encryption of folders needs some of them
MAX_PATH_BYTES = 1024  # of a whole name; macOS allows no more
MAX_DEPTH = 40  # nested folders; node_modules of real bundles have some 15 levels
_NOT_ON_WINDOWS = lazy_pattern(r'[<>:"|?*]')  # a colon is also a drive letter, or a second stream of a file
_DEVICES = lazy_pattern(r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?: *\..*)?", re.IGNORECASE)
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
        raise refused(Phrase("it is not a ZIP file, or is damaged ({reason})", reason=error)) from error
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
        raise refused(Phrase("it is not a ZIP file, or is damaged ({reason})", reason=error)) from error
    except OSError as error:
        hint = hint_for(error, Phrase("Look at the folder, and try again"))
        raise TooltrayError(Phrase("This bundle could not be unpacked"), f"{error.filename or target}: {error.strerror}", hint) from error


def refused(reason: str) -> TooltrayError:
    return TooltrayError(Phrase("This bundle cannot be used"), reason, Phrase("Ask its author for another one"))


def _opened(file: IO[bytes]) -> zipfile.ZipFile:
    if file.read(len(_START)) != _START:
        raise refused(Phrase("it is not a ZIP file"))
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
