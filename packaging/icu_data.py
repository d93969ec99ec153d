"""Makes the data of ICU smaller, which Qt's own build brings along whole: 32 MB of them, of which QtCore reads a tenth.

QtCore asks ICU for the order of texts (QCollator), for upper and lower case, for time zones' names, and for text in encodings of old. The
window has no use for the last two. Format of the data: unicode/udata.h and ucmndata.h of ICU; needs `as` and `ld`.
"""

import struct
import subprocess
import tempfile
from pathlib import Path

FORMAT = b"CmnD"
_FORMAT_AT = 12  # in the header
_ALIGNMENT = 16
USED_FOLDER = "coll"  # the order of texts, of all languages
USED = frozenset(
    {"cnvalias.icu", "keyTypeData.res", "likelySubtags.res", "pool.res", "res_index.res", "root.res", "supplementalData.res"}
    | {"timezoneTypes.res", "zoneinfo64.res"}
)
_SOURCE = """\
.section .rodata
.globl {symbol}
.type {symbol}, %object
.balign 16
{symbol}: .incbin "data"
.size {symbol}, . - {symbol}
.section .note.GNU-stack, "", %progbits
"""


def is_used(name: str) -> bool:
    """Whether Qt reads an item, e.g. `icudt73l/coll/zh.res`."""
    _, *folders, file = name.split("/")
    return folders == [USED_FOLDER] if folders else file in USED


def without_unused(data: bytes) -> bytes:
    """A package of data with only those items that Qt reads."""
    [size] = struct.unpack_from("<H", data)
    header, body = data[:size], data[size:]
    [count] = struct.unpack_from("<I", body)
    contents = [struct.unpack_from("<II", body, 4 + 8 * index) for index in range(count)]  # where name and item begin
    ends = [begin for _, begin in contents[1:]] + [len(body)]
    items = [(body[name : body.index(b"\0", name) + 1], body[begin:end]) for (name, begin), end in zip(contents, ends, strict=True)]
    used = [(name, item) for name, item in items if is_used(name[:-1].decode())]
    names = b"".join(name for name, _ in used)
    name_at = 4 + 8 * len(used)
    item_at = name_at + len(names) + -(size + name_at + len(names)) % _ALIGNMENT
    table, made = struct.pack("<I", len(used)), b""
    for name, item in used:
        made += b"\0" * (-len(made) % _ALIGNMENT)
        table += struct.pack("<II", name_at, item_at + len(made))
        name_at += len(name)
        made += item
    return header + (table + names).ljust(item_at, b"\0") + made


def shrink(library: Path) -> None:
    """Replaces libicudata.so.VERSION by one with the data that Qt reads."""
    whole = library.read_bytes()
    version = library.name.rpartition(".")[2]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "data").write_bytes(without_unused(whole[whole.index(FORMAT) - _FORMAT_AT :]))
        Path(folder, "source").write_text(_SOURCE.format(symbol=f"icudt{version}_dat"))
        subprocess.run(["as", "-o", "object", "source"], cwd=folder, check=True)
        link = ("ld", "-shared", "-s", "-z", "noexecstack", "--build-id=none", "-soname", library.name, "-o", library.resolve(), "object")
        subprocess.run(link, cwd=folder, check=True)
