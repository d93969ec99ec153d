"""The meaning of calls on files: which path is opened, run or changed, and what is reported. An opened file is reported by the
kernel's path, since a rule on files counts for the target of a link; and only if it was opened. A lookup of a missing file is noise."""

import errno
import os
import stat
from typing import NamedTuple

from tooltray_watch.ptrace import SyscallStop
from tooltray_watch.report import Report
from tooltray_watch.traced_memory import AT_FDCWD, absolute, link, number64, opened, result, signed, text

O_PATH = 0o10000000
REFUSED = (errno.EACCES, errno.EPERM, errno.EROFS)
MOST_KNOWN = 200_000  # paths that are known to be reported already, so that opening them again costs one stop and not two

# where the paths of a call are: the argument with the folder (None: the current one) and the one with the path
CHANGES: dict[str, tuple[tuple[int | None, int], ...]] = {
    "unlink": ((None, 0),),
    "unlinkat": ((0, 1),),
    "rmdir": ((None, 0),),
    "mkdir": ((None, 0),),
    "mkdirat": ((0, 1),),
    "mknod": ((None, 0),),
    "mknodat": ((0, 1),),
    "rename": ((None, 0), (None, 1)),
    "renameat": ((0, 1), (2, 3)),
    "renameat2": ((0, 1), (2, 3)),
    "link": ((None, 0), (None, 1)),
    "linkat": ((0, 1), (2, 3)),
    "symlink": ((None, 1),),
    "symlinkat": ((1, 2),),
}
"""Calls that create or remove a name, so that the folder is changed, too."""
ALTERS: dict[str, tuple[tuple[int | None, int], ...]] = {
    "truncate": ((None, 0),),
    "chmod": ((None, 0),),
    "chown": ((None, 0),),
    "lchown": ((None, 0),),
    "fchmodat": ((0, 1),),
    "fchmodat2": ((0, 1),),
    "fchownat": ((0, 1),),
}
OPENS: dict[str, tuple[int | None, int]] = {"open": (None, 0), "creat": (None, 0), "openat": (0, 1), "openat2": (0, 1)}
EXECS: dict[str, tuple[int | None, int]] = {"execve": (None, 0), "execveat": (0, 1)}


class FileCall(NamedTuple):
    """A call that has begun, and is reported when it has succeeded.

    Attributes:
        kind: "open" and "exec"; "create" for calls that create or remove a name, "write" for those that alter an existing file.
        paths: absolute, links not resolved.
        writes: it opens for writing.
        is_new: the file that it opens did not exist before.
    """

    kind: str
    paths: tuple[str, ...]
    writes: bool = False
    is_new: bool = False


class FileCalls:
    """All calls on files of all watched threads."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._known: set[int] = set()

    def begun(self, tid: int, name: str, stop: SyscallStop) -> FileCall | None:
        """Returns a call of this name whose end must be awaited; None: it has nothing to report."""
        if not self._report.has_room_for_files:
            self._report.tell("failed", "")  # reports that there was more
            return None
        if name in OPENS:
            return self._open(tid, name, stop)
        if name in EXECS:
            path = _path(tid, EXECS[name], stop)
            return FileCall("exec", (path,)) if path else None
        kind, places = ("create", CHANGES[name]) if name in CHANGES else ("write", ALTERS[name])
        paths = tuple(filter(None, (_path(tid, place, stop) for place in places)))
        return FileCall(kind, paths) if paths and hash((kind, paths)) not in self._known else None

    def _open(self, tid: int, name: str, stop: SyscallStop) -> FileCall | None:
        flags = _flags(tid, name, stop)
        path = "" if flags & O_PATH else _path(tid, OPENS[name], stop)
        writes = bool(flags & (os.O_ACCMODE | os.O_CREAT | os.O_TRUNC))
        is_known = hash((path, writes)) in self._known and "/proc/" not in path
        if not path or is_known:
            return None
        is_unnamed = flags & os.O_TMPFILE == os.O_TMPFILE
        return FileCall("open", (path,), writes, is_unnamed or bool(flags & os.O_CREAT and not os.path.lexists(path)))

    def ended(self, tid: int, call: FileCall, returned: int) -> None:
        """Reports what a call has done."""
        code = result(returned)
        if call.kind == "open":
            self._opened(tid, call, code)
        elif call.kind in ("create", "write"):
            self._changed(call, code)
        elif -code in REFUSED:
            self._report.tell("failed", os.path.normpath(call.paths[0]))

    def executed(self, tid: int, call: FileCall | None) -> None:
        """Reports a program that runs: the requested file, which may be a script, and the one that the kernel runs."""
        program = link(f"/proc/{tid}/exe").removesuffix(" (deleted)")
        for path in dict.fromkeys(os.path.realpath(each) for each in (*(call.paths if call else ()), program) if each):
            self._report.tell("exec", path)
            if _mode(path) & (stat.S_ISUID | stat.S_ISGID):
                self._report.tell("setuid", path)

    def _opened(self, tid: int, call: FileCall, code: int) -> None:
        path = call.paths[0]
        if code < 0:
            if -code in REFUSED or (-code == errno.ENOENT and call.writes):
                self._report.tell("failed", os.path.normpath(path))
            return
        file = opened(tid, code, path)
        if not file:
            return
        self._know(hash((path, call.writes)))
        mode = _mode(f"/proc/{tid}/fd/{code}")
        if call.writes:
            self._report.tell("create" if call.is_new else "write", of_family(file, tid))
        elif mode and stat.S_ISDIR(mode):
            self._report.tell("list", of_family(file, tid))
        else:
            self._report.tell("read", of_family(file, tid))

    def _changed(self, call: FileCall, code: int) -> None:
        if code == 0:
            self._know(hash((call.kind, call.paths)))
        if code == 0 or -code in REFUSED:
            for path in call.paths:
                folder, name = os.path.split(path.rstrip("/"))
                self._report.tell(call.kind if code == 0 else "failed", os.path.normpath(os.path.join(os.path.realpath(folder), name)))

    def _know(self, key: int) -> None:
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        self._known.add(key)


def of_family(path: str, tid: int) -> str:
    """Returns a path below a process's own /proc folder under one name for all processes; paths of other processes keep their number."""
    if path.startswith("/proc/"):
        number, _, rest = path[6:].partition("/")
        if number.isdecimal() and (int(number) == tid or os.path.exists(f"/proc/{number}/task/{tid}")):
            return f"/proc/self/{rest}".rstrip("/")
    return path


def _flags(tid: int, name: str, stop: SyscallStop) -> int:
    if name == "creat":
        return os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    if name == "openat2":
        return number64(tid, stop.args[2])
    return stop.args[1 if name == "open" else 2]


def _path(tid: int, place: tuple[int | None, int], stop: SyscallStop) -> str:
    folder, path = place
    return absolute(tid, AT_FDCWD if folder is None else signed(stop.args[folder]), text(tid, stop.args[path]))


def _mode(path: str) -> int:
    try:
        return os.stat(path).st_mode
    except (OSError, ValueError):
        return 0
