"""Reads the answers with which sessions begin, as the last hub of this home has left them: a client that comes before the hub gets them at
once. tooltray/carriers/mcp/first_answers_file.py has the format, and the rules for what a hub leaves.

What decided about the answers (the settings, the saved lists, the program, a project's file) is compared by its metadata. Where anything
differs, or the file is not exactly right, the client waits for the hub.
"""

import sys
from zlib import crc32

if sys.platform == "win32":
    import nt as system

    from tooltray_bridge import paths_windows as paths

    SEPARATOR = "\\"
    PROGRAM = "tooltray.exe"
    FLAGS = system.O_RDONLY | system.O_BINARY | system.O_NOINHERIT
else:
    import posix as system

    from tooltray_bridge import paths_posix as paths

    SEPARATOR = "/"
    PROGRAM = "tooltray"
    FLAGS = system.O_RDONLY | system.O_NOFOLLOW | system.O_NONBLOCK | system.O_CLOEXEC

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tooltray_bridge.hot import Options

FILE = b"first-answers"
FORMAT = b"tooltray first answers 1"
ABSENT = b"absent"
MAX_BYTES = 9 << 20
KIND_OF_FILE, REGULAR = 0o170000, 0o100000
OTHERS_MAY_WRITE = 0o022


class FirstAnswers:
    """The answers for the sessions of one bridge, by the params of the client's `initialize`, the method and the params of a request."""

    def __init__(self, blobs: bytes, lines: list[list[bytes]]) -> None:
        """
        Args:
            blobs: all texts.
            lines: of the index, one for each answer; see `_answer`.
        """
        self._blobs, self._lines = blobs, lines

    def find(self, introduction: bytes, method: bytes, params: bytes) -> tuple[bytes, bytes]:
        """Returns a result and its checksum; empty if none is known.

        Args:
            introduction: the params of the session's `initialize`; empty: there was none.
        """
        for _, asked, *places, checksum in self._lines:
            if asked == method and self._text(places[0:2]) == introduction and self._text(places[2:4]) == params:
                result = self._text(places[4:6])
                return (result, checksum) if b"%08x" % crc32(result) == checksum else (b"", b"")
        return b"", b""

    def _text(self, place: list[bytes]) -> bytes:
        at, size = map(int, place)
        return self._blobs[at : at + size]


def answers_for(options: "Options", folder: bytes) -> FirstAnswers | None:
    """Returns the answers for a bridge; None if there are none, or if the bridge may not start a hub.

    Args:
        folder: in which the bridge was started.
    """
    try:
        home = paths.find_home(options.home, paths.ENVIRON)
        own = paths.own_home(paths.ENVIRON)
        if not options.may_start or not paths.is_private(home) or (home != own and _why_not(home, own)):
            return None
    except (OSError, KeyError):
        return None
    return read(_as_bytes(home), facts(options.server, options.profile, folder))


def facts(server: str | None, profile: str | None, folder: bytes) -> bytes:
    """Returns the facts about a bridge that decide about its answers, as the hub knows them from the hello."""
    given = (paths.to_bytes(server or ""), paths.to_bytes(profile or ""), folder)
    return b"\0".join(each.decode("utf-8", "replace").encode() for each in given)


def read(home: bytes, of: bytes) -> FirstAnswers | None:
    """Returns the answers for a bridge, None if there are none that a hub would give now.

    Args:
        home: the hub's.
        of: the facts about the bridge.
    """
    try:
        content = _content(home.rstrip(b"/\\") + SEPARATOR.encode() + FILE)
        head, _, rest = content.partition(b"\n")
        *words, checksum, size = head.split(b" ")
        index = rest[: int(size)]
        if b" ".join(words) != FORMAT or b"%08x" % crc32(index) != checksum:
            return None
        lines = _lines_of(index, of)
    except (OSError, ValueError):
        return None
    return FirstAnswers(rest[len(index) :], lines) if lines else None


def _content(path: bytes) -> bytes:
    """Returns the content of a file that only this user can have written.

    Raises:
        OSError: it does not exist, cannot be read, or may be of another user.
    """
    file = system.open(path, FLAGS)
    try:
        status = system.fstat(file)
        if status.st_mode & KIND_OF_FILE != REGULAR or status.st_size > MAX_BYTES or not _is_own(status):
            raise PermissionError
        return system.read(file, status.st_size)
    finally:
        system.close(file)


if sys.platform == "win32":

    def _is_own(status: object) -> bool:
        return True  # by the access list of the home

    def _as_bytes(home: str) -> bytes:
        return paths.to_bytes(home)

    def _why_not(home: str, own: str) -> str:
        from tooltray_bridge.start import why_not

        return why_not(home, own)

else:

    def _as_bytes(home: bytes) -> bytes:
        return home

    def _why_not(home: bytes, own: bytes) -> str:
        from os import fsdecode

        from tooltray_bridge.start import why_not

        return why_not(fsdecode(home), fsdecode(own))

    def _is_own(status: system.stat_result) -> bool:
        return status.st_uid == system.getuid() and not status.st_mode & OTHERS_MAY_WRITE


def _lines_of(index: bytes, of: bytes) -> list[list[bytes]]:
    """Returns the lines of the answers for a bridge; none if anything that has decided about them has changed."""
    found: list[list[bytes]] = []
    wanted = True  # what comes before the first kind of session concerns all
    for line in index.splitlines():
        words = line.split(b" ")
        if words[0] == b"kind":
            wanted = bytes.fromhex(words[1].decode()) == of
        elif wanted and words[0] == b"answer":
            found.append(words)
        elif wanted and signature(_program() if words[0] == b"program" else bytes.fromhex(words[2].decode())) != words[1]:
            return []
    return found


def _program() -> bytes:
    """Returns a file that every version of the program that this bridge starts has replaced."""
    if getattr(sys, "frozen", False):
        return paths.to_bytes(sys.executable.rpartition(SEPARATOR)[0] + SEPARATOR + PROGRAM)
    return paths.to_bytes(SEPARATOR.join((__file__.rsplit(SEPARATOR, 2)[0], "tooltray", "__init__.py")))


def signature(path: bytes) -> bytes:
    """Returns metadata of a file or folder that is different after every change."""
    try:
        status = system.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    return b"%d.%d.%d" % (status.st_mtime_ns, status.st_size, status.st_ino)
