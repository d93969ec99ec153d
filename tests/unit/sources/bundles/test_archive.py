"""archive.py: hostile and broken archives are refused as a whole; what is unpacked is all there, or nothing."""

import io
import json
import ntpath
import os
import posixpath
import stat
import struct
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fakes.bundles import FILES, info, manifest, sum_of, write_bundle, write_zip
from tests.fakes.full_disk import full_disk

from tooltray.foundation.errors import Conflict, TooltrayError
from tooltray.sources.bundles import archive
from tooltray.sources.bundles import archive as module
from tooltray.sources.bundles.archive import MAX_DEPTH, BundleSources, clash_among, download, folded, read_archive, unpack, why_not
from tooltray.sources.bundles.manifest import read_manifest

MANIFEST = ("manifest.json", json.dumps(manifest()).encode())


@pytest.mark.parametrize(
    "name", ["a", "a/b.js", "node_modules/@scope/name/index.js", "a/", ".hidden", "é/ü.py", "comics.txt", "console.js"]
)
def test_usual_names_are_taken(name: str) -> None:
    assert why_not(name) == ""


@pytest.mark.parametrize(
    "name",
    [
        *(
            "../a",
            "a/../../b",
            "/etc/passwd",
            "a//b",
            "./a",
            "",
            "/",
            "a/.",
            "C:/a",
            "C:a",
            "a:stream",
            "\\\\host\\share",
            "a\\..\\b",
            "~/\0",
        ),
        *(
            "a\nb",
            "a\x7f",
            "a\x85",
            "con",
            "CON.txt",
            "a/nul",
            "lpt1.log",
            "com¹",
            "aux .js",
            "a.",
            "a ",
            "a./b",
            " a",
            "a?",
            "a*",
            'a"',
            "a|b",
        ),
        *("x" * 201, "a/" * MAX_DEPTH + "b", "/".join(["x" * 100] * 11), "\ud800"),
    ],
)
def test_names_that_lead_out_or_are_another_file_somewhere_are_refused(name: str) -> None:
    assert why_not(name)


@given(st.text(st.sampled_from("a.b/\\:C ~\0") | st.characters(), max_size=30))
@settings(max_examples=300)
def test_whatever_is_taken_stays_inside_its_folder_on_every_system(name: str) -> None:
    if not why_not(name):
        for path, root in ((posixpath, "/bundle/x"), (ntpath, "C:\\bundle\\x")):
            joined = path.normpath(path.join(root, name))
            assert joined.startswith(root + path.sep)
            assert not os.path.isabs(name)


def test_names_that_are_one_file_on_some_system_are_found() -> None:
    assert clash_among(["a/b", "a/c", "d"]) == ("", "")
    assert clash_among(["a/", "a/b"]) == ("", "")
    assert clash_among(["a/b", "a/"]) == ("", "")
    assert clash_among(["a/B", "a/b"]) == ("a/B", "a/b")
    assert clash_among(["A/x", "a/y"]) == ("A", "a")
    assert clash_among(["a", "a/b"]) == ("a", "a")
    assert clash_among(["a/b", "a"]) == ("a", "a")
    assert clash_among(["a", "a"]) == ("a", "a")
    assert clash_among(["\u00e9", "e\u0301"]) == ("\u00e9", "e\u0301")
    assert folded("ß") == folded("SS")


def refusal(path: Path) -> str:
    with pytest.raises(TooltrayError) as raised:
        read_archive(path)
    with pytest.raises(TooltrayError):
        unpack(path, path.parent / "home" / "name" / "one")
    home = path.parent / "home"
    assert not home.exists() or list(home.iterdir()) == []
    return str(raised.value)


def test_a_bundle_is_read_and_unpacked_with_executable_bits_where_they_are_needed(tmp_path: Path) -> None:
    members = [
        (info("bin/tool", 0o4755), b"#!/bin/sh\n"),
        (info("notes.txt", 0o755), b"text"),
        (info("bin/own"), b"anything"),
        ("empty/", b""),
    ]
    path = write_zip(tmp_path / "a.mcpb", MANIFEST, *members)
    found = read_archive(path)
    assert found.files == {"manifest.json", "bin/tool", "notes.txt", "bin/own"}
    assert (found.manifest, found.is_signed) == (MANIFEST[1], False)
    target = tmp_path / "home" / "name" / "one"
    unpack(path, target, programs=["bin/own"])
    assert (target / "bin/tool").read_bytes() == b"#!/bin/sh\n"
    assert (target / "empty").is_dir()
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["name"]
    if os.name == "posix":
        modes = {name: stat.S_IMODE((target / name).stat().st_mode) for name in ("bin/tool", "notes.txt", "bin/own", "manifest.json")}
        assert modes == {"bin/tool": 0o700, "notes.txt": 0o600, "bin/own": 0o700, "manifest.json": 0o600}


@pytest.mark.parametrize("name", ["../out", "/abs", "a\\b", "C:\\a", "con.txt", "a.", "x/../../y", "a\nb"])
def test_names_that_lead_out_are_refused(tmp_path: Path, name: str) -> None:
    assert "cannot be used" in refusal(write_zip(tmp_path / "a.mcpb", MANIFEST, (info(name), b"x")))


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFSOCK])
def test_links_and_devices_are_refused(tmp_path: Path, kind: int) -> None:
    member = info("link", external_attr=(kind | 0o777) << 16)
    assert "a link or a device" in refusal(write_zip(tmp_path / "a.mcpb", MANIFEST, (member, b"/etc/passwd")))


def test_a_link_of_windows_and_a_folder_that_says_it_is_a_file_are_refused(tmp_path: Path) -> None:
    assert "a link" in refusal(write_zip(tmp_path / "a.mcpb", MANIFEST, (info("j", external_attr=0x400), b"x")))
    assert "by one sign" in refusal(write_zip(tmp_path / "b.mcpb", MANIFEST, (info("d", external_attr=stat.S_IFDIR << 16), b"")))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_names_that_clash_on_some_system_are_refused(tmp_path: Path) -> None:
    for at, pair in enumerate((("A", "a"), ("b", "b"), ("c", "c/d"), ("manifest.JSON", "x"))):
        assert "one file on some systems" in refusal(write_zip(tmp_path / f"{at}.mcpb", MANIFEST, *((name, b"x") for name in pair)))


def test_what_fills_disks_is_refused_before_anything_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_zip(tmp_path / "a.mcpb", MANIFEST, ("zeros", bytes(3 * 2**20)))
    monkeypatch.setattr(archive, "SMALL_BYTES", 2**20)
    assert "made to fill disks" in refusal(path)
    monkeypatch.setattr(archive, "MAX_UNPACKED_BYTES", 2**20)
    assert "larger than" in refusal(path)
    monkeypatch.setattr(archive, "MAX_FILES", 1)
    assert "more than 1 files" in refusal(path)


def test_a_member_that_is_larger_than_it_says_is_refused(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.mcpb", MANIFEST, (info("a", compress_type=zipfile.ZIP_STORED), b"x" * 1000))
    data = bytearray(path.read_bytes())
    at = data.rfind(b"PK\x01\x02")
    struct.pack_into("<I", data, at + 24, 10)  # the size in the directory
    path.write_bytes(data)
    with pytest.raises(TooltrayError, match="damaged"):
        unpack(path, tmp_path / "home" / "name" / "one")
    assert list((tmp_path / "home").iterdir()) == []


def test_encrypted_and_unusual_members_are_refused(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.mcpb", MANIFEST, ("a", b"x"))
    data = bytearray(path.read_bytes())
    data[data.rfind(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    assert "encrypted" in refusal(path)
    assert "packed in a way" in refusal(write_zip(tmp_path / "b.mcpb", MANIFEST, (info("a", compress_type=zipfile.ZIP_LZMA), b"x")))


def test_without_a_manifest_or_with_a_huge_one_it_is_no_bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TooltrayError, match=r"no manifest\.json"):
        read_archive(write_zip(tmp_path / "a.mcpb", ("a", b"x")))
    monkeypatch.setattr(archive, "MAX_MANIFEST_BYTES", 10)
    with pytest.raises(TooltrayError, match="larger than"):
        read_archive(write_bundle(tmp_path / "b.mcpb"))


@pytest.mark.parametrize("data", [b"", b"PK", b"not a zip at all", b"PK\x03\x04" + b"\0" * 100, b"MZ" + b"\0" * 50])
def test_what_is_no_zip_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.mcpb"
    path.write_bytes(data)
    assert "not a ZIP file" in refusal(path)


def test_a_file_that_is_not_there_is_said_to_be_so(tmp_path: Path) -> None:
    with pytest.raises(TooltrayError, match="cannot be read"):
        read_archive(tmp_path / "none")


@given(st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_that_is_cut_off_or_changed_anywhere_is_unpacked_right_or_not_at_all(tmp_path: Path, data: st.DataObject) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in (MANIFEST, *FILES.items()):
            made.writestr(info(name), content)
    whole = bytearray(packed.getvalue())
    cut = data.draw(st.integers(0, len(whole) - 1))
    if data.draw(st.booleans()):
        whole = whole[:cut]
    else:
        whole[cut] ^= data.draw(st.integers(1, 255))
    path, home = tmp_path / "a.mcpb", tmp_path / "home"
    path.write_bytes(whole)
    target = home / "name" / "one"
    try:
        unpack(path, target)
    except TooltrayError:
        assert not home.exists() or list(home.iterdir()) == []
        return
    for file in target.rglob("*"):
        assert not file.is_symlink()
        assert not file.is_file() or file.read_bytes() in (MANIFEST[1], *FILES.values())
    os.rename(target, tmp_path / f"done-{cut}-{os.urandom(4).hex()}")
    target.parent.rmdir()


def test_a_signature_is_seen_and_the_rest_read_as_it_is(tmp_path: Path) -> None:
    path = write_bundle(tmp_path / "a.mcpb")
    plain = path.read_bytes()
    block = b"MCPB_SIG_V1" + (300).to_bytes(4, "little") + bytes(300) + b"MCPB_SIG_END"
    path.write_bytes(plain + block)
    assert read_archive(path).is_signed
    unpack(path, tmp_path / "home" / "name" / "one")
    assert (tmp_path / "home/name/one/server/main.py").read_bytes() == FILES["server/main.py"]
    for odd in (block[:-1], block.replace(b"\x2c\x01", b"\x2c\x02", 1), b"MCPB_SIG_V1"):
        path.write_bytes(plain + odd)
        assert not read_archive(path).is_signed


def test_what_the_disk_does_not_take_leaves_nothing(tmp_path: Path) -> None:
    path, home = write_bundle(tmp_path / "a.mcpb", {"server/main.py": os.urandom(100_000)}), tmp_path / "home"
    with full_disk(), pytest.raises(TooltrayError, match="could not be unpacked"):
        unpack(path, home / "name" / "one")
    assert list(home.iterdir()) == []


def test_a_second_version_that_fails_leaves_the_first(tmp_path: Path) -> None:
    path, home = write_bundle(tmp_path / "a.mcpb"), tmp_path / "home"
    unpack(path, home / "name" / "one")
    (home / "name" / "two").mkdir()
    (home / "name" / "two" / "file").touch()
    with pytest.raises(TooltrayError, match="could not be unpacked"):
        unpack(path, home / "name" / "two")
    assert sorted(each.name for each in (home / "name").iterdir()) == ["one", "two"]
    assert [each.name for each in home.iterdir()] == ["name"]


def test_a_bundle_that_the_reference_has_packed_and_signed_is_read(tmp_path: Path) -> None:
    """Recorded: `mcpb pack` and `mcpb sign` of @anthropic-ai/mcpb 2.1.2."""
    path = Path(__file__).with_name("reference.mcpb")
    found = read_archive(path)
    assert (found.files, found.is_signed) == ({"manifest.json", "server/main.py"}, True)
    assert read_manifest(found.manifest).name == "reference"
    unpack(path, tmp_path / "home" / "name" / "one")
    assert (tmp_path / "home/name/one/server/main.py").read_text().endswith('print("reference")\n')


async def environ() -> Mapping[str, str]:
    return {}


class Web:
    """An address behind which something is."""

    def __init__(self) -> None:
        self.data, self.asked = b"one", 0

    async def __call__(self, url: str, into: Callable[[bytes], None], *, environ: Mapping[str, str], most_bytes: int) -> None:
        self.asked += 1
        into(self.data)


def make(tmp_path: Path, web: Web | None = None) -> BundleSources:
    return BundleSources(folder=tmp_path / "home", environ=environ, fetch=web or Web())


def left(tmp_path: Path) -> list[str]:
    return [path.name for path in (tmp_path / "home").iterdir()]


async def test_a_file_is_copied_and_known_by_its_sum(tmp_path: Path) -> None:
    path, sources = write_bundle(tmp_path / "a b.mcpb"), make(tmp_path)
    for source in (str(path), path.as_uri(), f"file://localhost{path.as_uri().removeprefix('file://')}"):
        found = await sources.read(source)
        assert (found.sha256, found.size_bytes) == (sum_of(path), path.stat().st_size)
        assert found.path.read_bytes() == path.read_bytes()
    await sources.close()
    assert left(tmp_path) == []


async def test_what_was_read_is_installed_though_the_file_is_another_by_then(tmp_path: Path) -> None:
    path, sources = write_bundle(tmp_path / "a.mcpb"), make(tmp_path)
    found = await sources.read(str(path))
    path.write_bytes(b"another")
    assert (await sources.again(str(path), found.sha256)).path == found.path
    found.path.write_bytes(b"somebody was here")
    with pytest.raises(Conflict, match=sum_of(path)):
        await sources.again(str(path), found.sha256)


async def test_a_source_that_is_still_the_same_is_read_again(tmp_path: Path) -> None:
    path, sources = write_bundle(tmp_path / "a.mcpb"), make(tmp_path)
    found = await sources.read(str(path))
    await sources.forget(str(path), found.sha256)
    await sources.forget(str(path), found.sha256)
    assert left(tmp_path) == []
    assert (await sources.again(str(path), found.sha256)).sha256 == found.sha256
    (await sources.read(str(path))).path.unlink()
    assert (await sources.again(str(path), found.sha256)).path.exists()


async def test_few_copies_are_kept(tmp_path: Path) -> None:
    sources = make(tmp_path)
    for at in range(6):
        await sources.read(str(write_bundle(tmp_path / f"{at}.mcpb", version=str(at))))
    assert len(left(tmp_path)) == module.MOST_KEPT


async def test_an_address_is_downloaded_once(tmp_path: Path) -> None:
    web = Web()
    sources = make(tmp_path, web)
    found = await sources.read("https://example.com/a.mcpb")
    assert (await sources.again("https://example.com/a.mcpb", found.sha256)).size_bytes == 3
    assert web.asked == 1


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("a.mcpb", "a whole path"),
        ("/a\0b", "a whole path"),
        ("", "a whole path"),
        ("file://host/a", "another computer"),
        ("/none", "/none"),
    ],
)
async def test_what_is_no_source_is_refused(tmp_path: Path, source: str, reason: str) -> None:
    with pytest.raises(TooltrayError, match=reason):
        await make(tmp_path).read(source)
    assert left(tmp_path) == []


async def test_folders_and_pipes_are_no_bundles(tmp_path: Path) -> None:
    with pytest.raises(TooltrayError):
        await make(tmp_path).read(str(tmp_path))
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(TooltrayError, match="is not a file"):
            await make(tmp_path).read(str(tmp_path / "pipe"))
    assert left(tmp_path) == []


async def test_what_is_too_large_or_does_not_fit_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.mcpb"
    path.write_bytes(bytes(100_000))
    with full_disk(), pytest.raises(TooltrayError, match="cannot be read"):
        await make(tmp_path).read(str(path))
    monkeypatch.setattr(module, "MAX_BYTES", 99_999)
    with pytest.raises(TooltrayError, match="too large"):
        await make(tmp_path).read(str(path))
    assert left(tmp_path) == []


async def test_the_http_library_is_imported_for_an_address_alone() -> None:
    with pytest.raises(TooltrayError, match="over http, anyone in between could replace it"):
        await download("http://example.com/a", lambda data: None, environ={}, most_bytes=1)
