"""sources.py: what was read is what is installed."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.fakes.bundles import sum_of, write_bundle
from tests.fakes.full_disk import full_disk

from tooltray.foundation.errors import Conflict, TooltrayError
from tooltray.sources.bundles import sources as module
from tooltray.sources.bundles.sources import BundleSources, download


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
        with pytest.raises(TooltrayError, match="is no file"):
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
    with pytest.raises(TooltrayError, match="over http anybody"):
        await download("http://example.com/a", lambda data: None, environ={}, most_bytes=1)
