"""repositories.py and apt_archive.py: the files for package repositories, read by the programs that they are for."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
import yaml

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "packaging"))


def module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "packaging" / f"{name}.py")
    assert spec
    assert spec.loader
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[name] = loaded
    spec.loader.exec_module(loaded)
    return loaded


apt_archive, repositories, tried = module("apt_archive"), module("repositories"), module("try_repositories")
release = repositories.release
VERSION, NOW = release.version(), 1_800_000_000
SITE, FILES = "https://tooltray.example/site", f"https://files.example/owner/project/download/v{VERSION}"


def deb(folder: Path, version: str, architecture: str = "amd64", content: str = "program") -> Path:
    tree = folder / f"tree {version} {architecture} {content}"
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "DEBIAN" / "control").write_text(repositories.debian.control(version, architecture, 1, libc="2.36"))
    (tree / "usr").mkdir()
    (tree / "usr" / "program").write_text(content)
    file = folder / f"tooltray_{version}_{architecture}.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "--build", tree, file], check=True, capture_output=True)
    return file


def archive_for_linux(folder: Path, processor: str) -> Path:
    name = f"tooltray-{VERSION}-linux-{processor}"
    tree = folder / f"tree of {name}" / name
    for file in ("LICENSE", "tooltray.desktop", "tooltray.svg", "tooltray/tooltray", "tooltray/install.json", "share/man/man1/tooltray.1"):
        (tree / file).parent.mkdir(parents=True, exist_ok=True)
        (tree / file).write_text(file)
    with tarfile.open(folder / f"{name}.tar.gz", "w:gz") as tar:
        tar.add(tree, name)
    return folder / f"{name}.tar.gz"


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A release, as release.py leaves it."""
    (tmp_path / "CHANGELOG.md").write_text(f"## {VERSION} (2026-12-01)\n\n- A thing: `tabs`.\n")
    monkeypatch.setattr(release, "CHANGELOG", tmp_path / "CHANGELOG.md")
    built = tmp_path / "built"
    built.mkdir()
    files = [deb(built, VERSION), deb(built, VERSION, "arm64"), archive_for_linux(built, "x86_64"), archive_for_linux(built, "aarch64")]
    for name in (f"Tooltray-{VERSION}-setup.exe", f"tooltray-{VERSION}-macos-arm64.dmg"):
        (built / name).write_text(name)
        files.append(built / name)
    (built / "SHA256SUMS").write_text("".join(f"{release.digest(file)}  {file.name}\n" for file in files))
    release.gather(f"v{VERSION}", tmp_path / "out", {"all": built})
    return tmp_path / "out"


@pytest.fixture
def made(out: Path, tmp_path: Path) -> Path:
    repositories.make(repositories.Release.read(out, SITE, FILES), tmp_path / "made", NOW)
    return tmp_path / "made"


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> int:
    monkeypatch.setattr("sys.argv", ["repositories.py", *map(str, arguments)])
    code: int = repositories.main()
    return code


@pytest.fixture
def key() -> Iterator[tried.Key]:
    with tried.Key() as key:
        yield key


class Published:
    """A signed apt repository on loopback."""

    def __init__(self, place: Path, address: str, key: tried.Key) -> None:
        self.place, self.archive, self._address, self._key = place, place / "apt", address, key
        self._apts = self._published = 0

    def publish(self, *debs: Path, **options: object) -> None:
        apt_archive.publish(self.archive, debs, **{"now_s": time.time(), **options})
        self._key.sign(self.archive, f"{self._address}/apt")
        self._published += 1
        second = time.time() + self._published  # a server tells versions of one second not apart
        os.utime(self.archive / "dists" / "stable" / "InRelease", (second, second))

    def apt(self, architecture: str = "amd64") -> tried.Apt:
        self._apts += 1
        return tried.Apt(self.place / f"apt {self._apts}", (self.archive / apt_archive.SOURCES).read_text(), architecture)

    def index(self, name: str = "Packages") -> Path:
        found: Path = self.archive / "dists" / "stable" / "main" / "binary-amd64" / name
        return found


@pytest.fixture
def published(tmp_path: Path, key: tried.Key) -> Iterator[Published]:
    with tried.served(tmp_path) as address:
        yield Published(tmp_path, address, key)


def test_apt_has_the_newest_version_first_and_can_go_back_to_older_ones(tmp_path: Path, published: Published) -> None:
    published.publish(deb(tmp_path, "1.9.0"), deb(tmp_path, "1.9.0", "arm64"))
    apt = published.apt()
    apt.update()
    assert apt.versions() == ["1.9.0"]
    newest = deb(tmp_path, "1.10.0")
    published.publish(newest)
    apt.update()
    assert apt.versions() == ["1.10.0", "1.9.0"]
    assert apt.download("1.10.0").read_bytes() == newest.read_bytes()
    assert apt.download("1.9.0").read_bytes() == (tmp_path / "tooltray_1.9.0_amd64.deb").read_bytes()
    other = published.apt("arm64")
    other.update()
    assert other.versions() == ["1.9.0"]


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-40])


def cut_index(published: Published) -> None:
    for file in (published.archive / "dists" / "stable" / "main").rglob("*"):
        if file.is_file():
            cut(file)


def sign_with_another_key(published: Published) -> None:
    sources = published.archive / apt_archive.SOURCES
    before = sources.read_bytes()
    with tried.Key() as other:
        other.sign(published.archive, "http://127.0.0.1/")
    sources.write_bytes(before)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda published: cut(published.archive / "dists" / "stable" / "InRelease"), "InRelease"),
        (cut_index, "unexpected size"),
        (sign_with_another_key, "signatures"),
        (lambda published: published.publish(now_s=time.time() - apt_archive.VALID_S - 3600), "expired"),
    ],
    ids=["the signed Release is cut off", "the indexes are cut off", "another key", "an old Release is offered again"],
)
def test_apt_refuses_a_repository_that_is_not_the_one_that_was_signed(
    tmp_path: Path, published: Published, damage: Callable[[Published], None], said: str
) -> None:
    published.publish(deb(tmp_path, "1.0.0"))
    damage(published)
    apt = published.apt()
    with pytest.raises(tried.Failed, match=said):
        apt.update()
    assert apt.versions() == []


def test_apt_refuses_a_package_that_was_changed_or_cut_off(tmp_path: Path, published: Published) -> None:
    published.publish(deb(tmp_path, "1.0.0"))
    apt = published.apt()
    apt.update()
    cut(published.archive / apt_archive.POOL / "tooltray_1.0.0_amd64.deb")
    with pytest.raises(tried.Failed, match="unexpected size"):
        apt.download("1.0.0")
    changed = bytearray((tmp_path / "tooltray_1.0.0_amd64.deb").read_bytes())
    changed[-20] ^= 1
    (published.archive / apt_archive.POOL / "tooltray_1.0.0_amd64.deb").write_bytes(changed)
    with pytest.raises(tried.Failed, match="Hash Sum mismatch"):
        apt.download("1.0.0")


def test_who_has_read_the_release_before_still_finds_its_indexes_until_the_one_after_the_next(tmp_path: Path, published: Published) -> None:
    signed = published.archive / "dists" / "stable" / "InRelease"
    published.publish(deb(tmp_path, "1.0.0"))
    first = signed.read_bytes()
    published.publish(deb(tmp_path, "1.1.0"))
    newest = signed.read_bytes()
    signed.write_bytes(first)
    apt = published.apt()
    apt.update()
    assert apt.versions() == ["1.0.0"]
    signed.write_bytes(newest)
    published.publish(deb(tmp_path, "1.2.0"))
    assert len([*published.index("by-hash/SHA256").iterdir()]) == 6


def test_a_package_that_was_published_is_not_replaced_by_another_one_of_its_version(tmp_path: Path) -> None:
    apt_archive.publish(tmp_path / "apt", [deb(tmp_path, "1.0.0")], now_s=NOW)
    before = (tmp_path / "apt" / apt_archive.POOL / "tooltray_1.0.0_amd64.deb").read_bytes()
    with pytest.raises(ValueError, match="is not the package that was published"):
        apt_archive.publish(tmp_path / "apt", [deb(tmp_path, "1.0.0", content="another")], now_s=NOW)
    assert (tmp_path / "apt" / apt_archive.POOL / "tooltray_1.0.0_amd64.deb").read_bytes() == before
    cut(tmp_path / "apt" / apt_archive.POOL / "tooltray_1.0.0_amd64.deb")
    with pytest.raises(ValueError, match="is not the package that was published"):
        apt_archive.publish(tmp_path / "apt", [deb(tmp_path, "1.1.0")], now_s=NOW)


def test_a_withdrawn_version_is_not_offered(tmp_path: Path) -> None:
    apt_archive.publish(tmp_path / "apt", [deb(tmp_path, "1.0.0"), deb(tmp_path, "1.1.0")], withdrawn=["1.1.0"], now_s=NOW)
    [index] = (tmp_path / "apt").glob("dists/*/*/*/Packages")
    assert re.findall("(?m)^Version: (.*)$", index.read_text()) == ["1.0.0"]


def test_the_same_release_has_the_same_files(tmp_path: Path) -> None:
    package = deb(tmp_path, "1.0.0")
    for name in ("first", "second"):
        apt_archive.publish(tmp_path / name, [package], now_s=NOW)
    assert (tmp_path / "first/dists/stable/Release").read_bytes() == (tmp_path / "second/dists/stable/Release").read_bytes()


def test_what_is_no_debian_package_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tooltray_1.0.0_amd64.deb").write_text("no package")
    with pytest.raises(ValueError, match="is not a Debian package"):
        apt_archive.publish(tmp_path / "apt", [tmp_path / "tooltray_1.0.0_amd64.deb"], now_s=NOW)


def test_all_files_are_made_and_signed_in_one_step(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], key: tried.Key
) -> None:
    monkeypatch.setenv("GNUPGHOME", key.environ["GNUPGHOME"])
    options = (out, tmp_path / "made", "--base-url", SITE + "/", "--files-url", FILES)
    assert run(monkeypatch, *options) == 0
    assert f"{tmp_path / 'made'} --base-url {SITE}/ --files-url {FILES} --sign KEY" in capsys.readouterr().out
    suite = tmp_path / "made" / "apt" / "dists" / "stable"
    assert not (suite / "InRelease").exists()
    assert run(monkeypatch, *options, "--sign", tried.KEY) == 0
    assert capsys.readouterr().out == ""
    sources = (tmp_path / "made" / "apt" / "tooltray.sources").read_text()
    assert sources.startswith(
        f"Types: deb\nURIs: {SITE}/apt\nSuites: stable\nComponents: main\nSigned-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n"
    )
    subprocess.run(["gpg", "--quiet", "--verify", suite / "Release.gpg", suite / "Release"], check=True, capture_output=True)
    release_before = (suite / "Release").read_text()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(NOW))
    assert run(monkeypatch, *options) == 0
    assert not (suite / "InRelease").exists()  # of another Release
    assert (suite / "Release").read_text() != release_before


def test_files_that_are_not_those_of_the_release_are_refused(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (out / f"Tooltray-{VERSION}-setup.exe").write_text("another")
    assert run(monkeypatch, out, tmp_path / "made", "--base-url", SITE, "--files-url", FILES) == 1
    assert f"Tooltray-{VERSION}-setup.exe is not what was built" in capsys.readouterr().err
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("name", [f"Tooltray-{VERSION}-setup.exe", f"tooltray-{VERSION}-macos-arm64.dmg"])
def test_a_release_without_a_system_is_refused_before_anything_is_written(out: Path, tmp_path: Path, name: str) -> None:
    sums = out / "SHA256SUMS"
    sums.write_text("".join(line for line in sums.read_text().splitlines(keepends=True) if name not in line))
    with pytest.raises(ValueError, match=f"the release has no {name}"):
        repositories.make(repositories.Release.read(out, SITE, FILES), tmp_path / "made", NOW)
    assert not (tmp_path / "made").exists()


def test_pre_releases_are_for_no_repository(out: Path) -> None:
    listed = json.loads((out / "releases.json").read_text())
    listed["releases"][0]["version"] = f"{VERSION}rc1"
    (out / "releases.json").write_text(json.dumps(listed))
    with pytest.raises(ValueError, match=f"{VERSION}rc1 is a pre-release"):
        repositories.Release.read(out, SITE, FILES)


def test_winget_is_told_what_the_setup_writes_into_the_registry(out: Path, made: Path) -> None:
    folder = made / "winget" / "manifests" / "t" / "Tooltray" / "Tooltray" / VERSION
    manifests = {file.name: yaml.safe_load(file.read_text()) for file in folder.iterdir()}
    assert manifests.keys() == {f"Tooltray.Tooltray{part}.yaml" for part in ("", ".installer", ".locale.en-US")}
    assert {(each["PackageIdentifier"], each["PackageVersion"]) for each in manifests.values()} == {("Tooltray.Tooltray", VERSION)}
    installer, about = manifests["Tooltray.Tooltray.installer.yaml"], manifests["Tooltray.Tooltray.locale.en-US.yaml"]
    setup = f"Tooltray-{VERSION}-setup.exe"
    digest = release.digest(out / setup).upper()
    assert installer["Installers"] == [{"Architecture": "x64", "InstallerUrl": f"{FILES}/{setup}", "InstallerSha256": digest}]
    script = "".join((ROOT / "packaging" / "windows" / name).read_text() for name in ("tooltray.nsi", "common.nsh"))
    [entry] = installer["AppsAndFeaturesEntries"]
    for name in ("DisplayName", "Publisher"):
        assert f'WriteRegStr HKCU "${{KEY}}" "{name}" "{entry[name]}"' in script
    assert f'Uninstall\\{entry["ProductCode"]}"' in script
    assert about["Publisher"] == entry["Publisher"]
    assert "RequestExecutionLevel user" in script  # Scope
    assert (about["PackageUrl"], about["ReleaseNotes"]) == (SITE, "- A thing: tabs.")


def test_ruby_reads_the_cask_as_homebrew_would(out: Path, made: Path) -> None:
    image = f"tooltray-{VERSION}-macos-arm64.dmg"
    said = tried.try_cask(made / "homebrew" / "Casks" / "tooltray.rb")
    assert ["version", VERSION] in said
    assert ["sha256", release.digest(out / image)] in said
    assert ["url", f"{FILES}/{image}", {"verified": "files.example/owner/project/"}] in said
    assert ["homepage", SITE + "/"] in said
    spec = (ROOT / "pyinstaller.spec").read_text()
    assert ["uninstall", {"quit": re.findall('bundle_identifier="(.*)"', spec)[0]}] in said
    assert '"LSMinimumSystemVersion": "15.0"' in spec  # whose name is Sequoia
    assert ["depends_on", {"macos": "sequoia"}] in said


def test_a_cask_of_the_same_site_needs_no_word_for_its_files(out: Path) -> None:
    assert "verified" not in repositories.cask(repositories.Release.read(out, SITE, f"{SITE}/v{VERSION}"))


@pytest.mark.parametrize(("before", "after"), [("\nend", "\n"), ("  app ", "  apps "), ('  name "Tooltray"\n', "")])
def test_a_cask_that_ruby_or_homebrews_style_refuses_is_found(made: Path, before: str, after: str) -> None:
    cask = made / "homebrew" / "Casks" / "tooltray.rb"
    text = cask.read_text()
    moved = 'name "Tooltray"\nend' if not after else "end"
    cask.write_text(text.replace(before, after, 1) if after else text.replace(before, "").replace("end", moved))
    with pytest.raises(tried.Failed):
        tried.try_cask(cask)


def test_makepkg_makes_the_package_for_arch_in_the_folders_of_the_debian_package(out: Path, made: Path, tmp_path: Path) -> None:
    tried.try_pkgbuild(made / "aur")
    processor = os.uname().machine
    shutil.copy(out / f"tooltray-{VERSION}-linux-{processor}.tar.gz", made / "aur")
    with tried.Makepkg(made / "aur") as makepkg:
        makepkg.run("--nodeps", "--noconfirm")
        shutil.copy(makepkg.folder / f"tooltray-bin-{VERSION}-1-{processor}.pkg.tar.gz", tmp_path / "package")
    with tarfile.open(tmp_path / "package") as package:
        names = {member.name for member in package if not member.isdir()}
        assert {"usr/share/applications/tooltray.desktop", "usr/share/man/man1/tooltray.1.gz", "usr/lib/tooltray/package/tooltray"} < names
        assert package.getmember("usr/bin/tooltray").linkname == "../lib/tooltray/current/tooltray"
        kind = package.extractfile("usr/lib/tooltray/package/install.json")
        assert kind
        assert json.load(kind) == {"kind": "pacman"}
        assert {(member.uid, member.gid) for member in package} == {(0, 0)}


def test_another_srcinfo_than_that_of_makepkg_is_found(made: Path) -> None:
    info = made / "aur" / ".SRCINFO"
    info.write_text(info.read_text().replace("pkgrel = 1", "pkgrel = 2"))
    with pytest.raises(tried.Failed, match=r"another \.SRCINFO"):
        tried.try_pkgbuild(made / "aur")


@pytest.mark.parametrize(
    ("hook", "script", "argument", "version"),
    [
        ("post_install", "postinst", "configure", "1.2.3-1"),
        ("post_upgrade", "postinst", "configure", "1.2.3-1"),
        ("pre_remove", "prerm", "remove", ""),
        ("post_remove", "postrm", "remove", ""),
    ],
)
def test_pacman_runs_the_scripts_of_the_debian_package(
    made: Path, tmp_path: Path, hook: str, script: str, argument: str, version: str
) -> None:
    shell = tmp_path / "bin" / "sh"
    shell.parent.mkdir()
    shell.write_text('#!/bin/bash\necho "$*|$TOOLTRAY_VERSION"\ncat\n')
    shell.chmod(0o755)
    environ = {"PATH": f"{shell.parent}:{os.environ['PATH']}"}
    command = ["bash", "-c", f". {made}/aur/tooltray-bin.install; {hook} 1.2.3-1 1.2.2-1"]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    assert done.stdout == f"-s {argument}|{version}\n" + (ROOT / "packaging" / "linux" / "debian" / script).read_text()


@pytest.mark.parametrize("is_signed", [False, True])
def test_a_release_is_tried_as_a_whole(
    made: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], key: tried.Key, is_signed: bool
) -> None:
    apt_archive.publish(made / "apt", [], now_s=time.time())
    if is_signed:
        key.sign(made / "apt", "https://nobody.invalid/apt")
    monkeypatch.setattr("sys.argv", ["try_repositories.py", str(made)])
    assert tried.main() == 0
    cut(made / "apt" / apt_archive.POOL / f"tooltray_{VERSION}_arm64.deb")
    assert tried.main() == 1
    assert "unexpected size" in capsys.readouterr().err
