"""Reads what a stopped thread passes to a system call: its strings, its structures, its folder, its open files. A process that has ended
meanwhile has empty strings and no folder."""

import os
import struct

from tooltray_watch.ptrace import PAGE_BYTES, read_memory

LONGEST_PATH_BYTES = 4096  # PATH_MAX; the kernel refuses more
AT_FDCWD = -100
DELETED = " (deleted)"
MOST_PARTS = 16  # of a message that is read in parts: DNS needs one or two
MOST_MESSAGE_BYTES = 4096


def text(tid: int, address: int) -> str:
    """Returns a string that ends with NUL, read page by page: the page after its own may not exist."""
    found = b""
    while len(found) <= LONGEST_PATH_BYTES:
        piece = read_memory(tid, address + len(found), PAGE_BYTES - (address + len(found)) % PAGE_BYTES)
        end = piece.find(b"\0")
        if end >= 0:
            return os.fsdecode(found + piece[:end])
        if not piece:
            return ""
        found += piece
    return ""


def number64(tid: int, address: int) -> int:
    """Returns eight bytes as a number; 0 if they cannot be read."""
    return int.from_bytes(read_memory(tid, address, 8), "little")


def signed(value: int) -> int:
    """Returns an argument of 64 bits as the `int` that it means."""
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value >= 1 << 31 else value


def result(value: int) -> int:
    """Returns the result of a call: below 0 it is an error's number."""
    return value - (1 << 64) if value >= 1 << 63 else value


def absolute(tid: int, folder: int, path: str) -> str:
    """Returns a path of a call as an absolute one, links not resolved; empty: it cannot be known.

    Args:
        folder: the number of an open folder that a relative path begins at, or AT_FDCWD.
    """
    if path.startswith("/") or not (path or folder != AT_FDCWD):
        return path
    base = link(f"/proc/{tid}/cwd" if folder == AT_FDCWD else f"/proc/{tid}/fd/{folder}")
    return (f"{base}/{path}" if path else base) if base.startswith("/") else ""


def link(path: str) -> str:
    """Returns where a link of /proc leads; empty: nowhere."""
    try:
        return os.readlink(path)
    except OSError:
        return ""


def opened(tid: int, fd: int, asked: str) -> str:
    """Returns the kernel's path of an open file: all links resolved. Empty for pipes, sockets and similar ones.

    Args:
        asked: the path that was opened; for a file that has been deleted since, the kernel's mark for that is not part of its name.
    """
    found = link(f"/proc/{tid}/fd/{fd}")
    if not found.startswith("/"):
        return ""
    return found.removesuffix(DELETED) if found.endswith(DELETED) and not asked.endswith(DELETED) else found


def parts(tid: int, address: int, count: int) -> bytes:
    """Returns the bytes of a list of `iovec`."""
    found = b""
    for i in range(min(count, MOST_PARTS)):
        base, length = struct.unpack("=QQ", read_memory(tid, address + 16 * i, 16).ljust(16, b"\0"))
        found += read_memory(tid, base, min(length, MOST_MESSAGE_BYTES))
    return found[:MOST_MESSAGE_BYTES]


def group_of(tid: int) -> int:
    """Returns the process that a thread belongs to; the thread's own number if that cannot be read."""
    try:
        with open(f"/proc/{tid}/status", "rb") as status:
            return int(status.read().partition(b"\nTgid:")[2].split(b"\n")[0])
    except (OSError, ValueError):
        return tid
