"""Makes the packages for Linux in `dist/`: `make package`, or `python packaging/build.py [--only deb|archive|python ...]`.

Runs with the Python of .cache/package; uses pyinstaller.spec, Debian's dpkg-deb, hatchling, and the files in packaging/linux.

What it makes of one version: a Debian package, a portable archive with install.sh, wheel and sdist, a list of the parts (SBOM, CycloneDX),
and SHA256SUMS. Times in them are that of the last commit (SOURCE_DATE_EPOCH), so that the same source gives the same files.
"""

import argparse
import gzip
import hashlib
import importlib.metadata
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from urllib.parse import quote

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

sys.path.insert(0, str(ROOT / "packaging"))
sys.path.insert(0, str(ROOT / "desktop"))

import debian  # noqa: E402
import icu_data  # noqa: E402
import manual  # noqa: E402
from scripts.licences import licence, shipped  # noqa: E402

from tooltray.cli.commands.completion_command import (  # noqa: E402
    command_tree,
    for_bash,
    for_fish,
    for_zsh,
)

LINUX = ROOT / "packaging" / "linux"
BUILD = Path(os.environ.get("TOOLTRAY_BUILD") or ROOT / "build" / "package")
DIST = Path(os.environ.get("TOOLTRAY_DIST") or ROOT / "dist")
VERSION = re.search(r'__version__ = "(.+)"', (ROOT / "desktop" / "tooltray" / "__init__.py").read_text())[1]  # type: ignore[index]
SITE = os.environ.get("TOOLTRAY_SITE", "").rstrip("/")
"""The address of the documentation, whose pictures the packages name for software centres; without it they name neither."""
DEBIAN = Path(os.environ.get("TOOLTRAY_DEBIAN") or "/")
"""Where Debian's fonts and licences lie; on other systems a folder that they were copied into."""
FONTS = {  # by Debian's package; only the weights that the theme uses
    "fonts-inter": ("opentype/inter", ("Inter-Regular.otf", "Inter-Medium.otf", "Inter-SemiBold.otf", "Inter-Bold.otf")),
    "fonts-jetbrains-mono": (
        "truetype/jetbrains-mono",
        ("JetBrainsMono-Regular.ttf", "JetBrainsMono-Medium.ttf", "JetBrainsMono-Bold.ttf"),
    ),
}
OF_QT = ("LGPL-3", "GPL-3")  # the first refers to the second
COMPILING = {"PYTHONHASHSEED": "1", "PYTHONNODEBUGRANGES": "1"}
"""For the freezer's Python: code without columns, which tracebacks show only beside a source. They were a quarter of the archive."""
LICENCE_FILE = re.compile(r"(licen[cs]e|copying|notice|authors)", re.IGNORECASE)


def epoch() -> int:
    """The time that all files get, in seconds: SOURCE_DATE_EPOCH, else that of the last commit."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    return int(run("git", "log", "-1", "--format=%ct"))


def run(*command: str, **environ: str) -> str:
    """What a command prints; its errors go to ours."""
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **environ}, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def freeze() -> Path:
    """The folder with both programs, without the file that says what kind of installation it is."""
    shutil.rmtree(BUILD, ignore_errors=True)
    fixed = {"TOOLTRAY_VERSION": VERSION, "SOURCE_DATE_EPOCH": str(epoch()), **COMPILING}
    options = ("--noconfirm", "--log-level", "WARN", "--distpath", str(BUILD), "--workpath", str(BUILD / "work"))
    run(sys.executable, "-m", "PyInstaller", *options, "pyinstaller.spec", **fixed)
    frozen = BUILD / "tooltray"
    add_fonts(frozen / "_internal" / "tooltray" / "_resources" / "fonts")
    (frozen / "LICENCES.txt").write_text(licences(of_system(frozen)))
    if sys.platform == "linux":
        [data] = (frozen / "_internal" / "PySide6" / "Qt" / "lib").glob("libicudata.so.*")
        icu_data.shrink(data)
        debian.without_build_paths(frozen)
    return frozen


def add_fonts(place: Path) -> None:
    place.mkdir()
    for package, (folder, names) in FONTS.items():
        for name in names:
            shutil.copyfile(DEBIAN / "usr/share/fonts" / folder / name, place / name)
        shutil.copyfile(DEBIAN / "usr/share/doc" / package / "copyright", place / f"{package}.txt")


def of_system(frozen: Path) -> dict[str, str]:
    """The packages of Debian whose libraries are in the frozen programs, with their versions; other systems' own are not shipped."""
    return debian.system_libraries(frozen) if sys.platform == "linux" else {}


def licences(libraries: Iterable[str] = ()) -> str:
    """The licences of Tooltray, of all packages in it, of Python, Qt and the fonts, and of these packages of Debian, as one text."""
    parts = {"Tooltray": (ROOT / "LICENSE").read_text()}
    for name in parts_of_app():
        parts[name] = "\n".join(licence_texts(name)) or licence(importlib.metadata.metadata(name))
    for name in OF_QT:
        parts[f"Qt, PySide6: {name}"] = (DEBIAN / "usr/share/common-licenses" / name).read_text()
    parts["tiktoken"] = (ROOT / "resources/tokenizer/LICENCE.txt").read_text()
    for package in (*FONTS, *libraries):
        parts[package] = (DEBIAN / "usr/share/doc" / package / "copyright").read_text()
    parts["Python"] = "\n".join(
        map(str, [sys.copyright, "Python is under the PSF License Agreement: https://docs.python.org/3/license.html"])
    )
    return "\n\n".join(f"{'=' * 100}\n{name}\n{'=' * 100}\n\n{text.strip()}" for name, text in parts.items()) + "\n"


def licence_of_parts() -> dict[str, str]:
    """The SPDX expression of each part of the app."""
    fonts = dict.fromkeys(FONTS, "OFL-1.1")
    return (
        {name: licence(importlib.metadata.metadata(name)) for name in parts_of_app()}
        | fonts
        | {"tiktoken": "MIT", "Python": "PSF-2.0", "Qt": "LGPL-3.0-only"}
    )


def licence_texts(name: str) -> Iterator[str]:
    for file in importlib.metadata.files(name) or ():
        if ".dist-info" in str(file) and LICENCE_FILE.search(file.name) and (path := Path(str(file.locate()))).is_file():
            yield path.read_text(errors="replace")


def parts_of_app() -> list[str]:
    """The packages that are installed here of those that are shipped: others are for other systems."""
    installed = {canonical(each.name) for each in importlib.metadata.distributions()}
    return [name for name in shipped((ROOT / "requirements" / "run.txt").read_text()) if canonical(name) in installed]


def canonical(name: str) -> str:
    """A package's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def sbom(libraries: Mapping[str, str] = MappingProxyType({})) -> str:
    """The list of parts in CycloneDX 1.5, JSON: https://cyclonedx.org/docs/1.5/json/

    Args:
        libraries: Debian's packages whose libraries are in the programs, with their versions, by name.
    """

    def part(name: str) -> dict[str, object]:
        about = importlib.metadata.metadata(name)
        version = about["Version"]
        return {
            "type": "library",
            "name": name,
            "version": version,
            "licenses": [{"expression": licence(about)}],
            "purl": f"pkg:pypi/{name}@{version}",
        }

    python = {"type": "framework", "name": "python", "version": platform.python_version(), "licenses": [{"expression": "PSF-2.0"}]}
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch()))
    about = {"timestamp": when, "component": {"type": "application", "name": "tooltray", "version": VERSION}}
    system = [
        {"type": "library", "name": name, "version": version, "purl": f"pkg:deb/debian/{name}@{quote(version, safe='')}"}
        for name, version in libraries.items()
    ]
    components = [python, *map(part, parts_of_app()), *system]
    content = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": about, "components": components}
    return json.dumps(content, indent=2) + "\n"


def with_kind(frozen: Path, place: Path, kind: str) -> None:
    shutil.copytree(frozen, place, symlinks=True)
    (place / "install.json").write_text(json.dumps({"kind": kind}) + "\n")


def icon(size: int, place: Path) -> None:
    """The app's icon as PNG, drawn by Qt as the app draws it."""
    draw = (
        "import sys; from PySide6.QtGui import QGuiApplication, QIcon; app = QGuiApplication([]);"
        "source, size, place = sys.argv[1], int(sys.argv[2]), sys.argv[3];"
        "sys.exit(not QIcon(source).pixmap(size, size).save(place))"
    )
    run(sys.executable, "-c", draw, str(ROOT / "resources/icons/tooltray.svg"), str(size), str(made(place)), QT_QPA_PLATFORM="offscreen")


def make_deb(frozen: Path) -> Path:
    tree, share = BUILD / "deb", BUILD / "deb" / "usr" / "share"
    programs = tree / "usr/lib/tooltray/package"
    with_kind(frozen, programs, "deb")
    needed = debian.leave_to_system(programs)
    (tree / "usr/bin").mkdir()
    for name in ("tooltray", "tooltray-bridge"):
        (tree / "usr/bin" / name).symlink_to(f"../lib/tooltray/current/{name}")  # `current` is made by postinst
    put(LINUX / "tooltray.desktop", share / "applications/tooltray.desktop")
    put(ROOT / "resources/icons/tooltray.svg", share / "icons/hicolor/scalable/apps/tooltray.svg")
    for size in (48, 128):
        icon(size, share / f"icons/hicolor/{size}x{size}/apps/tooltray.png")
    write(share / "metainfo/dev.tooltray.Tooltray.metainfo.xml", metainfo(SITE))
    add_shell_words(share, zsh="vendor-completions")
    for page in manual.write_pages(BUILD / "man", VERSION, epoch()):
        made(share / "man/man1" / f"{page.name}.gz").write_bytes(gzip.compress(page.read_bytes(), mtime=0))
    add_debians_own(share)
    size_kb = sum(path.lstat().st_size for path in tree.rglob("*") if not path.is_dir()) // 1024
    architecture = run("dpkg", "--print-architecture").strip()
    about = debian.control(VERSION, architecture, size_kb, needed, libc=debian.needed_libc(programs), homepage=SITE)
    write(tree / "DEBIAN/control", about)
    for script in ("postinst", "prerm", "postrm"):
        put(LINUX / "debian" / script, tree / "DEBIAN" / script)
    settle(tree)
    deb = DIST / f"tooltray_{VERSION}_{architecture}.deb"
    run("dpkg-deb", "--root-owner-group", "-Zxz", "-z9", "--build", str(tree), str(deb), SOURCE_DATE_EPOCH=str(epoch()))
    return deb


def metainfo(site: str) -> str:
    """Returns what software centres show (AppStream), without addresses if there is no site."""
    text = (LINUX / "dev.tooltray.Tooltray.metainfo.xml").read_text()
    if not site:
        text = re.sub(r"(?s)  <(url|screenshots)\b.*?</\1>\n", "", text)
    day = time.strftime("%Y-%m-%d", time.gmtime(epoch()))
    return text.replace("@SITE@", site).replace("@VERSION@", VERSION).replace("@DATE@", day)


def add_debians_own(share: Path) -> None:
    write(share / "doc/tooltray/copyright", debian.copyright_file((ROOT / "LICENSE").read_text(), licence_of_parts()))
    changes = debian.changelog((ROOT / "CHANGELOG.md").read_text(), VERSION, epoch())
    made(share / "doc/tooltray/changelog.gz").write_bytes(gzip.compress(changes.encode(), mtime=0))
    write(share / "lintian/overrides/tooltray", debian.OVERRIDES)


def add_shell_words(share: Path, *, zsh: str) -> None:
    """The completions, where the shells look for them below a folder `share`."""
    tree = command_tree()
    write(share / "bash-completion/completions/tooltray", for_bash(tree))
    write(share / "zsh" / zsh / "_tooltray", for_zsh(tree))
    write(share / "fish/vendor_completions.d/tooltray.fish", for_fish(tree))


def make_archive(frozen: Path) -> Path:
    name = f"tooltray-{VERSION}-linux-{platform.machine()}"
    tree = BUILD / "archive" / name
    with_kind(frozen, tree / "tooltray", "archive")
    for source in (LINUX / "install.sh", LINUX / "tooltray.desktop", ROOT / "resources/icons/tooltray.svg", ROOT / "LICENSE"):
        put(source, tree / source.name)
    write(tree / "version", VERSION + "\n")
    add_shell_words(tree / "share", zsh="site-functions")
    for page in manual.write_pages(BUILD / "man", VERSION, epoch()):
        put(page, tree / "share/man/man1" / page.name)
    settle(tree)
    archive = DIST / f"{name}.tar.gz"
    owner = ("--owner=0", "--group=0", "--numeric-owner", "--sort=name", f"--mtime=@{epoch()}")
    run("tar", *owner, "--use-compress-program", "gzip -n", "-cf", str(archive), "-C", str(tree.parent), name)
    return archive


def make_python() -> list[Path]:
    """Wheel and sdist."""
    run(sys.executable, "-m", "hatchling", "build", "-d", str(DIST), "-t", "wheel", "-t", "sdist", SOURCE_DATE_EPOCH=str(epoch()))
    return [*DIST.glob("*.whl"), *DIST.glob(f"tooltray-{VERSION}.tar.gz")]


def put(source: Path, target: Path) -> None:
    shutil.copy2(source, made(target))


def write(path: Path, text: str) -> None:
    made(path).write_text(text)


def made(path: Path) -> Path:
    """A path whose folder is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def settle(tree: Path) -> None:
    """The modes and times that do not depend on who builds, and when."""
    for path in (tree, *tree.rglob("*")):
        if path.is_symlink():
            continue
        is_program = path.is_dir() or (path.stat().st_mode & 0o100 and ".so" not in path.name)
        path.chmod(0o755 if is_program else 0o644)
        os.utime(path, (epoch(), epoch()))


def main() -> int:
    parser = argparse.ArgumentParser(description="Makes the packages for Linux in dist/.")
    parser.add_argument("--only", action="append", choices=("deb", "archive", "python"), help="may be repeated")
    parser.add_argument("--frozen", type=Path, help="programs that are there already, in the place of new ones")
    asked = parser.parse_args()
    wanted = set(asked.only or ("deb", "archive", "python"))
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    if "python" in wanted:
        make_python()
    libraries: Mapping[str, str] = {}
    if wanted != {"python"}:
        frozen = asked.frozen or freeze()
        libraries = of_system(frozen)
        for name, make in (("deb", make_deb), ("archive", make_archive)):
            if name in wanted:
                make(frozen)
    finish(list(DIST.iterdir()), libraries)
    return 0


def finish(made_files: list[Path], libraries: Mapping[str, str] = MappingProxyType({})) -> None:
    """Writes the list of parts and the checksums beside what was made, and prints what there is. `libraries`: see `sbom`."""
    parts = DIST / f"tooltray-{VERSION}.cdx.json"
    parts.write_text(sbom(libraries))
    files = sorted([*made_files, parts])
    (DIST / "SHA256SUMS").write_text("".join(f"{hashlib.sha256(each.read_bytes()).hexdigest()}  {each.name}\n" for each in files))
    sys.stdout.writelines(f"{each.stat().st_size / 1e6:7.1f} MB  {each.name}\n" for each in files)


if __name__ == "__main__":
    sys.exit(main())
