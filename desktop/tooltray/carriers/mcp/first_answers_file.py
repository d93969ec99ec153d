"""The file of answers that a hub leaves in its home for bridges that come before the next hub.

A bridge reads it without parsing JSON (tooltray_bridge/first_answers.py has its own copy of these rules; a contract test compares them).
The first line has the format, the checksum of the index and the size of the index. The index follows, with a line for each of these:

- `program SIGNATURE`: the installed program of the hub that wrote it
- `input SIGNATURE PATH`: a file or folder that has decided about the answers, as it was; behind a `kind`, one that decides about that kind
- `kind FACTS`: what the hello of a bridge has to be for the answers that follow
- `answer METHOD`, and the places of the introduction, the params and the result in the texts behind the index, and the result's checksum

Paths and facts are in hexadecimal digits. Each text is there once, since many folders share one list.
"""

import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from zlib import crc32

import msgspec

from tooltray.foundation import programs

FORMAT = b"tooltray first answers 1"
ABSENT = b"absent"
MAX_BYTES = 8 << 20  # of all texts
OTHERS_MAY_WRITE = 0o022
StrPath = str | os.PathLike[str]


class Asked(msgspec.Struct, frozen=True):
    """A request, and the introduction of its session: the params of `initialize`. Both are as they are written; empty for none."""

    introduction: bytes
    method: str
    params: bytes


class Kind(msgspec.Struct):
    """The answers for bridges with equal facts.

    Attributes:
        inputs: the files that have decided about them, and their signatures, besides the inputs of all answers.
        answers: results, the last noted ones last.
    """

    inputs: dict[str, bytes] = msgspec.field(default_factory=dict)
    answers: dict[Asked, bytes] = msgspec.field(default_factory=dict)


def checksum(result: bytes) -> bytes:
    """Returns the checksum of a result, which a bridge gives back with the request that the result has answered."""
    return b"%08x" % crc32(result)


def signature(path: StrPath) -> bytes:
    """Returns metadata of a file or folder that is different after every change. Blocks on the disk."""
    try:
        status = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    return b"%d.%d.%d" % (status.st_mtime_ns, status.st_size, status.st_ino)


def changed_at(path: StrPath) -> float:
    """Returns when a file or folder was last changed, in unix seconds; 0 if it does not exist. Blocks on the disk."""
    with suppress(OSError):
        status = os.stat(path)
        return max(status.st_mtime, status.st_ctime)
    return 0.0


def program_file() -> Path:
    """Returns a file that every version of this program has replaced."""
    return Path(programs.tooltray_command()[0]) if programs.is_frozen() else programs.PACKAGE / "__init__.py"


def encode(program: bytes, inputs: Mapping[str, bytes], kinds: Mapping[bytes, Kind]) -> bytes:
    """Returns the content of the file.

    Args:
        program: the signature of the program of this hub.
        inputs: the files and folders that decide about all answers, and their signatures.
        kinds: by the facts about a bridge.
    """
    texts = _Texts()
    lines = [b"program %b" % program, *map(_input, inputs.items())]
    for facts, kind in kinds.items():
        lines += [b"kind %b" % facts.hex().encode(), *map(_input, kind.inputs.items())]
        for asked, result in kind.answers.items():
            places = b" ".join(map(texts.place, (asked.introduction, asked.params, result)))
            lines.append(b"answer %b %b %b" % (asked.method.encode(), places, checksum(result)))
    index = b"".join(line + b"\n" for line in lines)
    return b"%b %b %d\n%b%b" % (FORMAT, checksum(index), len(index), index, texts.joined)


def decode(content: bytes) -> tuple[bytes, dict[str, bytes], dict[bytes, Kind]]:
    """Returns what `encode` was given.

    Raises:
        ValueError: the content is damaged, or has another format.
    """
    head, _, rest = content.partition(b"\n")
    *words, crc, size = head.split(b" ")
    index, texts = rest[: int(size)], rest[int(size) :]
    if b" ".join(words) != FORMAT or checksum(index) != crc:
        raise ValueError("damaged, or another format")
    program, kinds = b"", dict[bytes, Kind]()
    kind = of_all = Kind()
    for line in index.splitlines():
        match line.split(b" "):
            case [b"program", of]:
                program = of
            case [b"input", of, path]:
                kind.inputs[os.fsdecode(bytes.fromhex(path.decode()))] = of
            case [b"kind", facts]:
                kind = kinds.setdefault(bytes.fromhex(facts.decode()), Kind())
            case answer:
                _, method, *places, crc = answer
                introduction, params, result = _texts_at(texts, places)
                if checksum(result) != crc:
                    raise ValueError("damaged")
                kind.answers[Asked(introduction, method.decode(), params)] = result
    return program, of_all.inputs, kinds


def is_own(path: Path) -> bool:
    """Reports whether only this user can have written a file. Blocks on the disk."""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    is_ours = sys.platform == "win32" or (status.st_uid == os.getuid() and not status.st_mode & OTHERS_MAY_WRITE)
    return stat.S_ISREG(status.st_mode) and is_ours


def size_of(kind: Kind) -> int:
    """Returns how many bytes the texts of a kind have, if no other kind has them."""
    return sum(len(asked.introduction) + len(asked.params) + len(result) for asked, result in kind.answers.items())


class _Texts:
    """Texts behind one another, each once."""

    def __init__(self) -> None:
        self._places: dict[bytes, bytes] = {}
        self._size = 0

    @property
    def joined(self) -> bytes:
        return b"".join(self._places)

    def place(self, text: bytes) -> bytes:
        if text not in self._places:
            self._places[text] = b"%d %d" % (self._size, len(text))
            self._size += len(text)
        return self._places[text]


def _input(signed: tuple[str, bytes]) -> bytes:
    path, of = signed
    return b"input %b %b" % (of, os.fsencode(path).hex().encode())


def _texts_at(texts: bytes, places: list[bytes]) -> Iterator[bytes]:
    numbers = iter(map(int, places))
    return (texts[at : at + size] for at, size in zip(numbers, numbers, strict=True))
