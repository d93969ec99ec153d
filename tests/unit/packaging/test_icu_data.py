"""icu_data.py, with a small package of data."""

import importlib.util
import struct
import subprocess
import sys
from pathlib import Path

import pytest

spec = importlib.util.spec_from_file_location("packaging_icu_data", Path(__file__).parents[3] / "packaging" / "icu_data.py")
assert spec
assert spec.loader
icu_data = importlib.util.module_from_spec(spec)
spec.loader.exec_module(icu_data)

HEADER = struct.pack("<HBB", 32, 0xDA, 0x27) + bytes(8) + icu_data.FORMAT + bytes(16)
ITEMS = {
    "icudt73l/brkitr/cjdict.dict": b"words",
    "icudt73l/cnvalias.icu": b"names",
    "icudt73l/coll/zh.res": b"order of Chinese",
    "icudt73l/de.res": b"months",
    "icudt73l/gb18030.cnv": b"an encoding",
    "icudt73l/root.res": b"root",
}
USED = ["icudt73l/cnvalias.icu", "icudt73l/coll/zh.res", "icudt73l/root.res"]


def package(items: dict[str, bytes]) -> bytes:
    names, contents, table = b"", b"", struct.pack("<I", len(items))
    name_at = 4 + 8 * len(items)
    item_at = name_at + sum(len(name) + 1 for name in items)
    for name, item in items.items():
        table += struct.pack("<II", name_at + len(names), item_at + len(contents))
        names += name.encode() + b"\0"
        contents += item
    return HEADER + table + names + contents


def read(data: bytes) -> dict[str, bytes]:
    body = data[len(HEADER) :]
    places = [struct.unpack_from("<II", body, 4 + 8 * index) for index in range(struct.unpack_from("<I", body)[0])]
    ends = [begin for _, begin in places[1:]] + [len(body)]
    assert not any((len(HEADER) + begin) % 16 for _, begin in places)
    return {body[name : body.index(b"\0", name)].decode(): body[begin:end] for (name, begin), end in zip(places, ends, strict=True)}


def test_only_what_qt_reads_is_left() -> None:
    data = icu_data.without_unused(package(ITEMS))

    assert data.startswith(HEADER)
    assert {name: item.rstrip(b"\0") for name, item in read(data).items()} == {name: ITEMS[name] for name in USED}


@pytest.mark.skipif(sys.platform != "linux", reason="makes a library of ELF; other systems' packages have no ICU of Qt's")
def test_the_library_has_the_data_under_its_own_name(tmp_path: Path) -> None:
    library = tmp_path / "libicudata.so.73"
    library.write_bytes(b"\x7fELF and what precedes the data" + package(ITEMS))

    icu_data.shrink(library)

    assert icu_data.without_unused(package(ITEMS)) in library.read_bytes()
    seen = subprocess.run(["readelf", "-W", "--dynamic", "--dyn-syms", library], capture_output=True, text=True, check=True).stdout
    assert "soname: [libicudata.so.73]" in seen
    assert " icudt73_dat\n" in seen
