"""Reads programs and libraries for macOS (Mach-O) on any system, as far as their signatures and the libraries that they load go.

The formats are those of Apple's headers: mach-o/loader.h and mach-o/fat.h; kern/cs_blobs.h of XNU for signatures.
"""

import plistlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass

PROGRAM = 2  # a slice's file type, MH_EXECUTE; libraries have others
AD_HOC, RUNTIME = 0x2, 0x10000  # a signature's flags: no identity; the hardened runtime
_THIN, _FAT, _FAT_64 = b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\xca\xfe\xba\xbf"
_FIRST_JAVA = 45  # classes begin with the bytes of _FAT, and have their format's version in the place of the count
_PROCESSORS = {0x0100000C: "arm64", 0x01000007: "x86_64"}
_VERSION_MIN, _BUILD_VERSION, _CODE_SIGNATURE = 0x24, 0x32, 0x1D  # load commands
_LOADS = (0xC, 0x8000001F, 0x80000023)  # the same, for libraries; 0x80000018 names one that may be missing
_CODE_DIRECTORY, _ENTITLEMENTS, _CMS = 0, 5, 0x10000  # slots of a signature
_BLOB_HEAD_BYTES = 8  # magic and length; a signature without an identity may have such a CMS blob with nothing in it


@dataclass(frozen=True)
class Signature:
    """A slice's signature.

    Attributes:
        has_identity: whether somebody's certificate has signed it.
    """

    identifier: str
    flags: int
    entitlements: dict[str, object]
    has_identity: bool


@dataclass(frozen=True)
class Slice:
    """The part of a file that is for one processor.

    Attributes:
        minimum: the oldest macOS that loads it, major and minor version.
        loads: the paths of the libraries that it cannot do without.
    """

    processor: str
    file_type: int
    minimum: tuple[int, int]
    loads: tuple[str, ...]
    signature: Signature | None


def slices(data: bytes) -> list[Slice]:
    """Returns the slices of a file; none if it is no Mach-O file of 64 bits."""
    if data[:4] == _THIN:
        return [_slice(data)]
    count = int.from_bytes(data[4:8], "big")
    if data[:4] not in (_FAT, _FAT_64) or count >= _FIRST_JAVA:
        return []
    entry = struct.Struct(">IIIII" if data[:4] == _FAT else ">IIQQII")
    entries = [entry.unpack_from(data, 8 + number * entry.size) for number in range(count)]
    parts = [data[offset : offset + size] for _, _, offset, size, *_ in entries]
    return [_slice(part) for part in parts if part[:4] == _THIN]  # another part is an archive for linkers


def _slice(data: bytes) -> Slice:
    processor, file_type, count = struct.unpack_from("<4xI4xII", data)
    minimum, signature, at = 0, None, 32
    loads = list[str]()
    for _ in range(count):
        command, size, first, second = struct.unpack_from("<IIII", data, at)
        if command in (_BUILD_VERSION, _VERSION_MIN):
            minimum = second if command == _BUILD_VERSION else first
        elif command == _CODE_SIGNATURE:
            signature = _signature(data[first : first + second])
        elif command in _LOADS:
            loads.append(data[at + first : at + size].partition(b"\0")[0].decode())
        at += size
    return Slice(_PROCESSORS.get(processor, hex(processor)), file_type, (minimum >> 16, minimum >> 8 & 0xFF), tuple(loads), signature)


def _signature(data: bytes) -> Signature:
    blobs = dict(_blobs(data))
    directory = blobs[_CODE_DIRECTORY]
    flags, name_at = struct.unpack_from(">12xI4xI", directory)
    return Signature(
        identifier=directory[name_at:].partition(b"\0")[0].decode(),
        flags=flags,
        entitlements=plistlib.loads(blobs[_ENTITLEMENTS][_BLOB_HEAD_BYTES:]) if _ENTITLEMENTS in blobs else {},
        has_identity=len(blobs.get(_CMS, b"")) > _BLOB_HEAD_BYTES,
    )


def _blobs(data: bytes) -> Iterator[tuple[int, bytes]]:
    [count] = struct.unpack_from(">I", data, 8)
    for number in range(count):
        slot, offset = struct.unpack_from(">II", data, 12 + 8 * number)
        [size] = struct.unpack_from(">I", data, offset + 4)
        yield slot, data[offset : offset + size]
