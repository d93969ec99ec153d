"""The audit trail: who allowed or refused what, when, and in which way, in a file that only grows.

`audit.jsonl` in the home has a line for each decision, each with the hash of the line before. A second file notes the last line, so that a
changed, removed or inserted line is noticed even at the end. A program with the user's rights can rewrite both; see the guide.
"""

import asyncio
import contextlib
import errno
import hashlib
import json
import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.files.atomic_file import read_own, write_atomically
from tooltray.foundation.home.home import hint_for
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.regular_file import open_regular
from tooltray.foundation.snapshots.approvals import AuditCheck, AuditEntry
from tooltray.foundation.tasks import finish_in_thread
from tooltray.foundation.verbs import verb

logger = logging.getLogger(__name__)
T = TypeVar("T")
LARGEST_FILE_BYTES = 2 * 2**20  # then another one is begun; some 5,000 decisions
MOST_FILES = 16  # older ones are removed
LONGEST_LINE_BYTES = 16_384  # names are bounded when they are recorded
MOST_PROBLEMS = 20  # in one report; one is enough to look closer
LONGEST_VALUE = 300  # characters of a name or of a value
MOST_VALUES = 40
MOST_READ = 1000  # entries at once
CHANGED_OUTSIDE = "The audit trail was changed by another program"


class _Noted(msgspec.Struct):
    """A note about the last line.

    Attributes:
        first: the oldest number that is stored.
        hash: of the last line.
    """

    first: int = 0
    last: int = 0
    hash: str = ""


class AuditFile:
    """The audit trail of one home. Blocks on the disk; one thread at a time appends.

    Args:
        path: of the file that is appended to; older ones and the note are beside it.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._note_path = path, path.with_suffix(".json")

    def append(self, entry: AuditEntry) -> None:
        """Writes a decision, which is on the disk when this returns.

        Args:
            entry: its number and the hash of the line before are filled in here.

        Raises:
            OSError: the decision cannot be written; no part of it is then in the file.
        """
        self._drop_cut_line()
        noted, last = self._noted(), self._last_line()
        if not _is_continuous(noted, last):  # this is recorded before the decision, and stays in the trail
            noted, last = self._write(AuditEntry(0, entry.at, CHANGED_OUTSIDE, "", ""), noted, last)
        self._write(entry, noted, last)

    def _write(self, entry: AuditEntry, noted: _Noted, last: bytes) -> tuple[_Noted, bytes]:
        number = max(noted.last, _number(last)) + 1
        entry = msgspec.structs.replace(entry, number=number, previous=_hash(last) if last else noted.hash)
        line = msgspec.json.encode(entry)
        first = noted.first or number
        if self._size() + len(line) > LARGEST_FILE_BYTES:
            first = self._begin_another(first)
        size = self._size()
        noted = _Noted(first, number, _hash(line))
        try:
            self._append_line(line)
            write_atomically(self._note_path, msgspec.json.encode(noted))
        except OSError:
            self._cut_to(size)
            raise
        return noted, line

    def _append_line(self, line: bytes) -> None:
        descriptor = open_regular(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        with open(descriptor, "r+b", buffering=0) as file:
            size = os.fstat(descriptor).st_size
            if size and not _ends_in_newline(descriptor, size):
                line = b"\n" + line  # a crash has cut the end of the line before, or another program has written to the file
            if file.write(line + b"\n") != len(line) + 1:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(descriptor)

    def _drop_cut_line(self) -> None:
        """Removes an incomplete last line after a crash: its decision has never taken effect."""
        content = _content(self._path)
        cut = content.rpartition(b"\n")[2]
        if cut and _entry(cut) is None:
            self._cut_to(len(content) - len(cut))

    def _cut_to(self, size: int) -> None:
        """Removes the part of a line that was written before the disk was full or the system crashed."""
        with contextlib.suppress(OSError):
            os.truncate(self._path, size)

    def _begin_another(self, first: int) -> int:
        """Renames the file, and removes the oldest; returns the oldest number that is still stored."""
        lines = _lines(self._path)
        begins = next((number for line in lines if (number := _number(line))), first)
        os.replace(self._path, self._path.with_name(f"{self._path.stem}-{begins:09}{self._path.suffix}"))
        older = self._older()
        for path in older[:-MOST_FILES]:
            path.unlink()
        return _number_of(older[-MOST_FILES:][0]) or first

    # reading

    def entries(self) -> Iterator[AuditEntry]:
        """Yields all readable entries, the newest first."""
        for path in reversed(self._files()):
            for line in reversed(_lines(path)):
                if entry := _entry(line):
                    yield entry

    def check(self) -> AuditCheck:
        """Reads the whole trail, and returns whether it is as it was written."""
        problems: list[str] = []
        noted, before, first, last = self._noted(), "", 0, 0
        for line in (line for path in self._files() for line in _lines(path)):
            entry = _entry(line)
            if entry is None:
                problems.append(Phrase("the line behind number {number} cannot be read", number=last))
            else:
                problems += _problems_of(entry, before, last)
                first, last = first or entry.number, entry.number
            before = _hash(line)
        problems += _problems_of_ends(noted, first, before)
        return AuditCheck(not problems, first, last, tuple(problems[:MOST_PROBLEMS]))

    def _files(self) -> list[Path]:
        """Returns the files, the oldest first."""
        return [*self._older(), *([self._path] if self._path.exists() else [])]

    def _older(self) -> list[Path]:
        return sorted(self._path.parent.glob(f"{self._path.stem}-*{self._path.suffix}"))

    def _noted(self) -> _Noted:
        try:
            return msgspec.json.decode(read_own(self._note_path, LONGEST_LINE_BYTES), type=_Noted)
        except FileNotFoundError:
            return _Noted()
        except ValueError:  # an empty note, which does not match the lines, so that the damage is noticed
            return _Noted()

    def _size(self) -> int:
        return self._path.stat().st_size if self._path.exists() else 0

    def _last_line(self) -> bytes:
        """Returns the last line of the trail; empty if it has no line."""
        return next((lines[-1] for path in reversed(self._files()) if (lines := _lines(path))), b"")


def _is_continuous(noted: _Noted, last: bytes) -> bool:
    """Returns whether the last line is the recorded one, or the next one, if a crash came before it was recorded."""
    if not last:
        return not noted.last
    entry = _entry(last)
    return _hash(last) == noted.hash or (entry is not None and entry.previous == noted.hash)


def _problems_of(entry: AuditEntry, before: str, last: int) -> Iterator[str]:
    if entry.what == CHANGED_OUTSIDE:
        yield Phrase("it was changed from outside before number {number}", number=entry.number)
    elif last and entry.number != last + 1:
        yield Phrase("behind number {last} comes number {number}", last=last, number=entry.number)
    elif last and entry.previous != before:
        yield Phrase("number {number} does not follow the line before it, which was changed", number=entry.number)


def _problems_of_ends(noted: _Noted, first: int, last_hash: str) -> Iterator[str]:
    if first != noted.first:
        yield Phrase("it begins with number {first}, and should with {noted}", first=first, noted=noted.first)
    if last_hash != noted.hash:
        yield Phrase("its last line is not the one that was written last")


def _lines(path: Path) -> list[bytes]:
    *lines, end = _content(path).split(b"\n")
    return [line for line in lines if line] + ([end] if _entry(end) else [])  # a crash may have left half a line, see `append`


def _content(path: Path) -> bytes:
    """Returns the content; empty if the file does not exist, or has more than Tooltray writes."""
    try:
        return read_own(path, LARGEST_FILE_BYTES + LONGEST_LINE_BYTES)
    except (FileNotFoundError, ValueError):
        return b""


def _ends_in_newline(descriptor: int, size: int) -> bool:
    os.lseek(descriptor, size - 1, os.SEEK_SET)
    return os.read(descriptor, 1) == b"\n"


def _entry(line: bytes) -> AuditEntry | None:
    try:
        return msgspec.convert(json.loads(line), type=AuditEntry)
    except (ValueError, RecursionError):
        return None


def _number(line: bytes) -> int:
    entry = _entry(line) if line else None
    return entry.number if entry else 0


def _number_of(path: Path) -> int:
    digits = path.stem.rpartition("-")[2]
    return int(digits) if digits.isdigit() else 0


def _hash(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()


class Decision(msgspec.Struct, frozen=True):
    """A decision to be recorded; see AuditEntry."""

    what: str
    answer: str
    way: str
    who: str = ""
    origin: str = ""
    verb: str = ""
    about: Mapping[str, str] = {}


class AuditTrail:
    """The audit trail of a hub. Belongs to one event loop."""

    def __init__(self, path: Path) -> None:
        self._file, self._lock = AuditFile(path), asyncio.Lock()

    async def record(self, decision: Decision) -> None:
        """Writes a decision, which is on the disk when this returns.

        Raises:
            TooltrayError: it cannot be written, so the decision must not take effect.
        """
        entry = _entry_of(decision)
        async with self._lock:
            try:
                await finish_in_thread(self._file.append, entry)
            except OSError as error:
                title = Phrase("Nothing was allowed, since it cannot be recorded")
                hint = hint_for(error, Phrase("Make it writable"))
                raise TooltrayError(title, Phrase("the audit trail: {reason}", reason=error.strerror or str(error)), hint) from None

    async def note(self, decision: Decision) -> None:
        """Writes a decision that allows nothing, and so takes effect even if the disk is full."""
        try:
            await self.record(decision)
        except TooltrayError as error:
            logger.warning("a decision was not recorded: %s", error.problem.message)

    async def entries(self, before: int = 0, limit: int = 200) -> list[AuditEntry]:
        """Returns decisions, the newest first.

        Args:
            before: only entries with a number smaller than this; 0: from the newest.
        """
        return await self._reading(lambda: self._some(before, min(limit, MOST_READ)))

    async def check(self) -> AuditCheck:
        """Checks that the whole trail is as it was written."""
        return await self._reading(self._file.check)

    def since(self, since: float, until: float) -> list[AuditEntry]:
        """Returns the decisions of a period, the oldest first, for an export; blocks. Unix seconds; `until` 0: up to now."""
        return [each for each in self._file.entries() if each.at >= since and (not until or each.at < until)][::-1]

    def _some(self, before: int, limit: int) -> list[AuditEntry]:
        found: list[AuditEntry] = []
        for entry in self._file.entries():
            if len(found) >= limit:
                break
            if not before or entry.number < before:
                found.append(entry)
        return found

    async def _reading(self, work: Callable[[], T]) -> T:
        async with self._lock:
            try:
                return await asyncio.to_thread(work)
            except OSError as error:
                raise TooltrayError(Phrase("The audit trail cannot be read"), error.strerror or str(error)) from None


def _entry_of(decision: Decision) -> AuditEntry:
    about = {_cut(name): _cut(value) for name, value in list(decision.about.items())[:MOST_VALUES]}
    what, who, origin = _cut(decision.what), _cut(decision.who), _cut(decision.origin)
    return AuditEntry(0, time.time(), what, decision.answer, decision.way, who, origin, decision.verb, about)


def _cut(text: str) -> str:
    plain = str(text).encode("utf-8", "replace").decode()  # half a surrogate pair in a name must not prevent a decision
    return plain if len(plain) <= LONGEST_VALUE else f"{plain[: LONGEST_VALUE - 1]}…"


class AuditApi:
    def __init__(self, *, trail: AuditTrail) -> None:
        self._trail = trail

    @verb("manage")
    async def get_audit(self, before: int = 0, limit: int = 200) -> list[AuditEntry]:
        """Returns who allowed, refused or revoked what, when and in which way, the newest first.

        Args:
            before: only entries with a number smaller than this; 0: from the newest.
            limit: at most 1,000.

        Raises:
            TooltrayError: the audit trail cannot be read.
        """
        return await self._trail.entries(before, limit)

    async def verify_audit(self) -> AuditCheck:
        """Checks that the audit trail is as it was written: no line was changed, removed or inserted.

        Raises:
            TooltrayError: the audit trail cannot be read.
        """
        return await self._trail.check()
