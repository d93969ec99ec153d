"""build.py: what stands in the packages besides the programs. The packages themselves are tried by `make package-test`."""

import importlib.util
import json
import re
import struct
import subprocess
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

from tooltray import __version__
from tooltray.foundation.installs.installation import KINDS

ROOT = Path(__file__).parents[3]
spec = importlib.util.spec_from_file_location("packaging_build", ROOT / "packaging" / "build.py")
assert spec
assert spec.loader
build = importlib.util.module_from_spec(spec)
spec.loader.exec_module(build)
debian = build.debian
CHANGES = """# Changes

## 2.0.0 (unreleased)

What it is.

- A first thing,
  over two lines.
- A second one.

## 1.0.0

- Long ago.
"""


@pytest.fixture(autouse=True)
def released(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")


def test_there_is_one_version() -> None:
    assert __version__ == build.VERSION
    assert f"\nVersion: {__version__}\n" in debian.control(__version__, "amd64", 1, libc="2.36")


def test_the_list_of_parts_names_each_with_its_licence_and_is_the_same_each_time() -> None:
    parts = json.loads(build.sbom())
    assert (parts["bomFormat"], parts["specVersion"], parts["metadata"]["timestamp"]) == ("CycloneDX", "1.5", "2023-11-14T22:13:20Z")
    by_name = {each["name"]: each for each in parts["components"]}
    assert by_name["aiohttp"]["purl"] == f"pkg:pypi/aiohttp@{by_name['aiohttp']['version']}"
    assert all(each["licenses"][0]["expression"] for each in parts["components"])
    assert build.sbom() == build.sbom()


DPKG_QUERY = """\
#!/bin/sh
case "$*" in
*libpng*) printf '%s\\n' 'zlib1g:amd64: /lib/x86_64-linux-gnu/libz.so.1' 'libpng16-16:amd64: /usr/lib/x86_64-linux-gnu/libpng16.so.16' ;;
--search*) printf '%s\\n' 'zlib1g:amd64: /lib/x86_64-linux-gnu/libz.so.1' 'steam: /opt/steam/lib/libz.so.1'; exit 1 ;;
--show*) [ "$4" = zlib1g:amd64 ] && [ $# = 4 ] && echo 'zlib1g 1:1.2.13+b1' ;;
esac
"""


@pytest.fixture
def dpkg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin" / "dpkg-query"
    program.parent.mkdir()
    program.write_text(DPKG_QUERY)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")


@pytest.mark.usefixtures("dpkg")
def test_libraries_of_debian_are_parts_by_their_packages(tmp_path: Path) -> None:
    (tmp_path / "_internal").mkdir()
    (tmp_path / "_internal" / "libz.so.1").touch()
    assert debian.system_libraries(tmp_path) == {"zlib1g": "1:1.2.13+b1"}
    found = json.loads(build.sbom(debian.system_libraries(tmp_path)))["components"][-1]
    assert (found["name"], found["purl"]) == ("zlib1g", "pkg:deb/debian/zlib1g@1%3A1.2.13%2Bb1")


@pytest.mark.usefixtures("dpkg")
def test_the_debian_package_leaves_debians_libraries_out_and_depends_on_those_it_links_against(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "frozen" / "_internal"
    inner.mkdir(parents=True)
    for name in ("libz.so.1", "libpng16.so.16", "libpython3.11.so.1.0", "libOurs.so.6", "_zlib.so"):
        (inner / name).touch()
    links = {"_zlib.so": {"libz.so.1", "libOurs.so.6"}, "libpng16.so.16": {"libz.so.1"}}
    monkeypatch.setattr(debian, "needed_by", lambda file: links.get(file.name, set()))
    needed = debian.leave_to_system(inner.parent)
    assert needed == ["zlib1g"]  # which what it links against needs, comes with it
    assert {file.name for file in inner.iterdir()} == {"libpython3.11.so.1.0", "libOurs.so.6", "_zlib.so"}
    assert f"\nDepends: libc6 (>= 2.36), {debian.DEPENDS}, zlib1g\n" in debian.control("1.0", "amd64", 1, needed, libc="2.36")


def test_a_programs_libraries_are_read_from_it() -> None:
    assert any(name.startswith("libc.so") for name in debian.needed_by(Path("/bin/sh")))
    assert debian.needed_by(Path(__file__)) == set()


def test_programs_without_libraries_of_debian_have_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debian.subprocess, "run", lambda *_, **__: SimpleNamespace(stdout=""))
    assert debian.system_libraries(tmp_path) == {}


def test_files_do_not_depend_on_who_builds_and_when(tmp_path: Path) -> None:
    for name, mode in (("program", 0o700), ("library.so.1", 0o700), ("text", 0o600)):
        (tmp_path / name).touch(mode)
    (tmp_path / "link").symlink_to("text")
    build.settle(tmp_path)
    found = {each.name: (each.stat().st_mode & 0o777, each.stat().st_mtime) for each in tmp_path.iterdir() if not each.is_symlink()}
    assert found == {"program": (0o755, 1700000000), "library.so.1": (0o644, 1700000000), "text": (0o644, 1700000000)}


@pytest.mark.parametrize("kind", ["deb", "archive"])
def test_a_package_says_a_kind_that_the_app_knows(tmp_path: Path, kind: str) -> None:
    (tmp_path / "frozen").mkdir()
    build.with_kind(tmp_path / "frozen", tmp_path / "made", kind)
    assert json.loads((tmp_path / "made" / "install.json").read_text())["kind"] in KINDS
    assert f'"{kind}")' in Path(build.__file__).read_text()


def test_the_fonts_are_those_that_the_theme_asks_for() -> None:
    tokens = json.loads((ROOT / "resources" / "themes" / "tokens.json").read_text())["type"]
    assert (tokens["families"][0], tokens["mono"][0]) == ("Inter", "JetBrains Mono")
    shipped = [name for _, names in build.FONTS.values() for name in names]
    assert {re.split("-", name)[0] for name in shipped} == {"Inter", "JetBrainsMono"}


def test_the_package_needs_the_newest_c_library_that_one_of_its_programs_names(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(b"\x7fELF\0GLIBC_2.9\0GLIBC_2.34\0")
    (tmp_path / "new").write_bytes(b"\x7fELF\0GLIBC_2.39\0GLIBC_2.4\0 it speaks of GLIBC_2.99")
    assert debian.needed_libc(tmp_path) == "2.39"
    assert "\nDepends: libc6 (>= 2.39), libegl1" in debian.control("1.0", "arm64", 1, libc=debian.needed_libc(tmp_path))


def test_software_centres_are_told_the_site_only_if_there_is_one() -> None:
    assert "Homepage" not in debian.control("1.0", "amd64", 1, libc="2.36")
    assert "\nHomepage: https://site.example\nDescription: " in debian.control(
        "1.0", "amd64", 1, libc="2.36", homepage="https://site.example"
    )
    assert not re.search("url|screenshot|http|@", build.metainfo(""))


def test_pictures_of_software_centres_are_those_of_the_documentation() -> None:
    images = ElementTree.fromstring(build.metainfo("https://site.example/docs")).findall("./screenshots/screenshot/image")
    assert len(images) == 4
    for image in images:
        file = ROOT / "docs" / str(image.text).removeprefix("https://site.example/docs/")
        size = struct.unpack(">II", file.read_bytes()[16:24])
        assert (image.get("width"), image.get("height")) == tuple(map(str, size))


@pytest.mark.parametrize("site", ["", "https://site.example/docs"])
def test_appstream_finds_nothing_wrong_with_what_software_centres_show(tmp_path: Path, site: str) -> None:
    file = tmp_path / "dev.tooltray.Tooltray.metainfo.xml"
    file.write_text(build.metainfo(site))
    done = subprocess.run(["appstreamcli", "validate", "--no-net", "--no-color", file], capture_output=True, text=True, timeout=60)
    found = [line for line in done.stdout.splitlines() if line.startswith(("E:", "W:", "I:"))]
    known = (
        "unknown-tag developer",
        "developer-name-tag-deprecated",
        *(() if site else ("url-homepage-missing",)),
    )  # old and new AppStream
    assert (done.returncode, [line for line in found if not line.endswith(known)]) == (0, [])


def test_the_desktop_entry_is_valid() -> None:
    entry = ROOT / "packaging" / "linux" / "tooltray.desktop"
    done = subprocess.run(["desktop-file-validate", "--warn-kde", entry], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "")


def test_debians_changelog_has_what_changed_in_this_version_alone() -> None:
    assert debian.changelog(CHANGES, "2.0.0", 1700000000).splitlines() == [
        "tooltray (2.0.0) unstable; urgency=medium",
        "",
        "  * A first thing, over two lines.",
        "  * A second one.",
        "",
        f" -- {debian.maintainer()}  Tue, 14 Nov 2023 22:13:20 +0000",
    ]
    assert "  * A new version.\n" in debian.changelog(CHANGES, "3.0.0", 1700000000)


def test_who_builds_for_debian_is_named_as_debians_tools_do() -> None:
    assert debian.maintainer({"DEBFULLNAME": "A B", "DEBEMAIL": "a@b.example"}) == "A B <a@b.example>"
    assert debian.maintainer({}).endswith(".invalid>")


def test_debians_copyright_names_each_part_with_its_licence_and_where_the_texts_are() -> None:
    text = debian.copyright_file("MIT\n\nDo what you like.", {"b": "Apache-2.0 OR MIT", "a": "BSD-3-Clause"})
    assert "\n  a: BSD-3-Clause\n  b: Apache-2.0 OR MIT\n" in text
    assert "\n  /usr/share/common-licenses/Apache-2.0\n" in text
    assert text.endswith("License: MIT\n MIT\n .\n Do what you like.\n")
    assert not re.search(r"(?m)^$", text.split("\nFiles:")[0].rstrip())


def test_every_part_of_the_app_has_a_licence() -> None:
    parts = build.licence_of_parts()
    assert {"aiohttp", "Python", "Qt", "fonts-inter"} <= parts.keys()
    assert all(parts.values())
