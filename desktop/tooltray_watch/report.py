"""The report: one JSON line for each thing that a watched program did, written once. The numbers are bounded: a program may open a million
files."""

import json
import os

MOST_FILES = 100_000  # beyond them one line reports that there were more
MOST_OTHERS = 10_000  # addresses, names and sockets, counted apart: files must not hide them
MOST_BYTES = 32 << 20  # a path may have 4,096 characters
FILE_KINDS = ("read", "list", "write", "create", "exec", "failed")


class Report:
    """The things that were seen, by kind:

    read, list, write, create, exec: an absolute path as the kernel knows it, links resolved; `list` is a folder that was listed, `create`
        a name that was made or removed.
    failed: a path that was to be written and could not be, or that the system refuses anyway.
    connect, dgram, bind: "address:port"; `dgram` is a destination over UDP.
    name: a name that was looked up in DNS, with the addresses in the answers, as far as they were seen.
    unix: the path of a socket, "@name" of an abstract one.
    socket: another kind of socket, in words. setuid, ptrace: the program that tried it. full: some things are not reported.
    """

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._seen: set[int] = set()  # hashes: a hundred thousand paths themselves would be much
        self._files = self._others = self._bytes = 0
        self._is_full_said = False

    def tell(self, kind: str, name: str, addresses: tuple[str, ...] = ()) -> None:
        """Writes one line, unless the report already has it or is full."""
        key = hash((kind, name, addresses))
        if key in self._seen:
            return
        if not self._has_room(kind):
            self._say_full()
            return
        self._seen.add(key)
        self._write({"kind": kind, "name": name, **({"addresses": addresses} if addresses else {})})

    @property
    def has_room_for_files(self) -> bool:
        """Reports whether another file would be written."""
        return self._files < MOST_FILES and self._bytes <= MOST_BYTES

    def _has_room(self, kind: str) -> bool:
        if self._bytes > MOST_BYTES:
            return False
        if kind in FILE_KINDS:
            self._files += 1
            return self._files <= MOST_FILES
        self._others += 1
        return self._others <= MOST_OTHERS

    def _say_full(self) -> None:
        if not self._is_full_said:
            self._is_full_said = True
            self._write({"kind": "full", "name": ""})

    def _write(self, fact: dict[str, object]) -> None:
        line = json.dumps(fact, separators=(",", ":")).encode() + b"\n"  # ASCII: a name that is not UTF-8 becomes lone surrogates
        self._bytes += len(line)
        try:
            os.write(self._file, line)
        except OSError:  # the disk is full: the program is more important than its report
            self._bytes = MOST_BYTES + 1

    def close(self) -> None:
        os.close(self._file)
