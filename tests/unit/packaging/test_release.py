"""release.py: the files of a release are those that each system's job has built."""

import importlib.util
import json
from pathlib import Path

import pytest

from tooltray.sources.releases.release_list import read_releases

ROOT = Path(__file__).parents[3]
spec = importlib.util.spec_from_file_location("packaging_release", ROOT / "packaging" / "release.py")
assert spec
assert spec.loader
release = importlib.util.module_from_spec(spec)
spec.loader.exec_module(release)
TAG = f"v{release.version()}"


CHANGES = """# Changes

## {version} (2026-12-01)

The first.

- The window: `tabs` and **cards**,
  also [small](docs/small.md) ones. With more
  about them.
- {long}
- Third.

## 0.0.1 (2020-01-01)

- Older.
"""


@pytest.fixture(autouse=True)
def changelog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A change log whose section of this version has a date."""
    (tmp_path / "CHANGELOG.md").write_text(CHANGES.format(version=release.version(), long="x" * 500))
    monkeypatch.setattr(release, "CHANGELOG", tmp_path / "CHANGELOG.md")
    return tmp_path / "CHANGELOG.md"


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
    assert names == ["SHA256SUMS", "a-linux.cdx.json", "a-macos.cdx.json", "a.deb", "a.dmg", "releases.json"]
    sums = (tmp_path / "out" / "SHA256SUMS").read_text().splitlines()
    assert sums == [f"{release.digest(tmp_path / 'out' / name)}  {name}" for name in names[1:-1]]


def test_the_list_of_releases_has_this_one_before_the_earlier_ones_and_tooltray_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier = [
        {"version": release.version(), "withdrawn": "a draft that was made once more"},
        *({"version": f"0.0.{number}", "withdrawn": "It loses settings" if number == 59 else None} for number in range(59, 0, -1)),
    ]
    (tmp_path / "releases.json").write_text(json.dumps({"releases": earlier}))
    monkeypatch.setattr(release, "EARLIER", tmp_path / "releases.json")
    release.gather(TAG, tmp_path / "out", {"linux": built(tmp_path / "linux", "a.deb")})
    text = (tmp_path / "out" / "releases.json").read_bytes()
    changes = ["The window: tabs and cards, also small ones", "x" * 199 + "…", "Third."]
    files = [{"name": "a.deb", "size": 5, "sha256": release.digest(tmp_path / "out" / "a.deb")}]
    this = {"version": release.version(), "date": "2026-12-01", "changes": changes, "withdrawn": None, "files": files}
    assert json.loads(text)["releases"] == [this, *earlier[1:50]]
    first, second, *_ = read_releases(text)
    assert (first.version, first.changes, first.withdrawn, first.has_file("a.deb")) == (release.version(), tuple(changes), "", True)
    assert second.withdrawn == "It loses settings"


def test_the_list_of_the_repository_is_one() -> None:
    assert read_releases(release.EARLIER.read_bytes()) == ()


def test_files_that_were_signed_are_summed_up_once_more(tmp_path: Path) -> None:
    out = tmp_path / "out"
    release.gather(TAG, out, {"linux": built(tmp_path / "linux", "a.deb")})
    (out / "a.deb").write_text("signed")
    (out / "SHA256SUMS.asc").touch()
    release.gather(TAG, out, {})
    sum = release.digest(out / "a.deb")
    assert (out / "SHA256SUMS").read_text() == f"{sum}  a.deb\n"
    assert json.loads((out / "releases.json").read_text())["releases"][0]["files"] == [{"name": "a.deb", "size": 6, "sha256": sum}]


def test_a_version_without_a_date_is_not_released(tmp_path: Path, changelog: Path) -> None:
    changelog.write_text(changelog.read_text().replace("2026-12-01", "unreleased"))
    with pytest.raises(ValueError, match="has no date"):
        release.gather(TAG, tmp_path / "out", {"linux": built(tmp_path / "linux", "a.deb")})


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
