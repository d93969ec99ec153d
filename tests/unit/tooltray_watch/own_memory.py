"""System calls as a stopped thread would have them, made of this process's own memory."""

import ctypes
import json
import struct
from pathlib import Path

from tooltray_watch.ptrace import SECCOMP, SyscallStop

KEPT: list[object] = []  # buffers, for as long as the tests run


def at(data: bytes) -> int:
    """The address of these bytes."""
    buffer = ctypes.create_string_buffer(data, len(data))
    KEPT.append(buffer)
    return ctypes.addressof(buffer)


def path_at(path: str | bytes) -> int:
    return at((path.encode() if isinstance(path, str) else path) + b"\0")


def stop(*args: int) -> SyscallStop:
    return SyscallStop(SECCOMP, 0, tuple(each & (1 << 64) - 1 for each in args) + (0,) * (6 - len(args)))


def header_at(*pieces: bytes, address: bytes = b"") -> int:
    """A `msghdr`."""
    vectors = b"".join(struct.pack("=QQ", at(each), len(each)) for each in pieces)
    return at(struct.pack("=QQQQQQQ", at(address) if address else 0, len(address), at(vectors), len(pieces), 0, 0, 0) + bytes(8))


def facts(report: Path) -> list[tuple[str, ...]]:
    """What stands in a report: kind, name, and addresses if there are any."""
    lines = [json.loads(line) for line in report.read_bytes().splitlines()]
    return [(each["kind"], each["name"], *each.get("addresses", ())) for each in lines]
