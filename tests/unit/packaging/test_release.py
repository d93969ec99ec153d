"""release.py: the files of a release are those that each system's job has built."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
spec = importlib.util.spec_from_file_location("packaging_release", ROOT / "packaging" / "release.py")
assert spec
assert spec.loader
release = importlib.util.module_from_spec(spec)
spec.loader.exec_module(release)
TAG = f"v{release.version()}"


def built(folder: Path, *names: str) -> Path:
    """What a job leaves: its files, each with its name as content, and their sums."""
    folder.mkdir()
    for name in names:
        (folder / name).write_text(name)
    (folder / "SHA256SUMS").write_text("".join(f"{release.digest(folder / name)}  {name}\n" for name in names))
    return folder


def test_a_release_has_the_files_of_all_systems_and_their_sums(tmp_path: Path) -> None:
    linux, macos = built(tmp_path / "linux", "a.deb", "a.cdx.json"), built(tmp_path / "macos", "a.dmg", "a.cdx.json")
    (macos / "not summed up").touch()
    names = [file.name for file in release.gather(TAG, tmp_path / "out", {"linux": linux, "macos": macos})]
    assert names == ["SHA256SUMS", "a-linux.cdx.json", "a-macos.cdx.json", "a.deb", "a.dmg"]
    sums = (tmp_path / "out" / "SHA256SUMS").read_text().splitlines()
    assert sums == [f"{release.digest(tmp_path / 'out' / name)}  {name}" for name in names[1:]]


def test_a_file_that_was_changed_after_it_was_built_is_not_released(tmp_path: Path) -> None:
    linux = built(tmp_path / "linux", "a.deb")
    (linux / "a.deb").write_text("another")
    with pytest.raises(ValueError, match=r"a\.deb is not what was built"):
        release.gather(TAG, tmp_path / "out", {"linux": linux})


def test_files_of_two_systems_do_not_replace_each_other(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"two systems have made a\.zip"):
        release.gather(TAG, tmp_path / "out", {name: built(tmp_path / name, "a.zip") for name in ("linux", "macos")})


def test_a_system_without_files_stops_the_release(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nothing was made"):
        release.gather(TAG, tmp_path / "out", {"linux": built(tmp_path / "linux")})


@pytest.mark.parametrize(("tag", "code"), [(TAG, 0), ("v0.0.0", 1), (TAG.removeprefix("v"), 1)])
def test_the_tag_is_the_version_of_the_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tag: str, code: int
) -> None:
    monkeypatch.setattr("sys.argv", ["release.py", tag, str(tmp_path / "out"), f"linux={built(tmp_path / 'linux', 'a.deb')}"])
    assert release.main() == code
    assert (f"the tag is {tag}" in capsys.readouterr().err) is (code == 1)
