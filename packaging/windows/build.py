"""Makes the installer and the portable folder for Windows: `make package-windows`, or on Windows
`python packaging/windows/build.py [--only freeze|pack]`.

Freezing makes all programs in build/windows; packing puts them into the files of dist/. A maintainer signs the programs between the two.
Shares texts and lists with packaging/build.py; runs pyinstaller.spec, gcc on launcher.c, and NSIS on uninstaller.nsi and tooltray.nsi. On
Linux the Windows Python runs under Wine (scripts/windows_python.sh).
"""

import argparse
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import build
import nsis

WINDOWS, BUILD = Path(__file__).parent, build.ROOT / "build" / "windows"
FROZEN, UNINSTALLER, ICON, HEADER, FINISH = (
    BUILD / each for each in ("tooltray", "uninstall.exe", "tooltray.ico", "header.bmp", "finish.bmp")
)
LAUNCHER = FROZEN / "_internal" / "tooltray" / "_resources" / "windows" / "tooltray-bridge.exe"
ON_WINDOWS = sys.platform == "win32"
PYTHON = [sys.executable] if ON_WINDOWS else [str(build.ROOT / "scripts" / "windows_python.sh")]
COMPILER = "gcc" if ON_WINDOWS else "x86_64-w64-mingw32-gcc"
ICON_SIZES = (16, 20, 24, 32, 40, 48, 64, 256)
SETUP, PORTABLE = "windows-setup", "windows-portable"  # kinds, as in foundation/installs/installation.py


def freeze() -> list[Path]:
    """Makes the folder with all programs, without the file that says what kind of installation it is, and the uninstaller.

    Returns:
        The programs, for a signature.
    """
    shutil.rmtree(BUILD, ignore_errors=True)
    make_icon(ICON)
    build.run(sys.executable, str(WINDOWS / "pictures.py"), str(BUILD), QT_QPA_PLATFORM="offscreen")
    fixed = {"TOOLTRAY_VERSION": build.VERSION, "TOOLTRAY_ICON": str(ICON), "SOURCE_DATE_EPOCH": str(build.epoch()), **build.COMPILING}
    options = ("--noconfirm", "--log-level", "WARN", "--distpath", "build/windows", "--workpath", "build/windows/work")
    subprocess.run([*PYTHON, "-m", "PyInstaller", *options, "pyinstaller.spec"], cwd=build.ROOT, env={**os.environ, **fixed}, check=True)
    build.add_fonts(FROZEN / "_internal" / "tooltray" / "_resources" / "fonts")
    compile_launcher(LAUNCHER)
    (FROZEN / "LICENCES.txt").write_text(build.licences(), encoding="utf-8")
    make_uninstaller()
    return [*sorted(FROZEN.glob("*.exe")), LAUNCHER, UNINSTALLER]


def make_uninstaller() -> None:
    with tempfile.TemporaryDirectory() as folder:
        defined = {"VERSION": build.VERSION, "OUTPUT": Path(folder, "around.exe"), "ICON": ICON, "HEADER": HEADER}
        nsis.compile_script("uninstaller.nsi", **defined, COPY=nsis.copy_command(UNINSTALLER))


def compile_launcher(place: Path) -> None:
    """The program that AI clients start, which starts the bridge of an installation."""
    options = ("-Os", "-s", "-mwindows", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wl,--no-insert-timestamp")
    subprocess.run([COMPILER, *options, "-o", str(build.made(place)), str(WINDOWS / "launcher.c")], check=True)


def make_icon(place: Path) -> None:
    """The app's icon with all sizes, as PNGs in the container of Windows (ICONDIR)."""
    pictures = []
    with tempfile.TemporaryDirectory() as folder:
        for size in ICON_SIZES:
            build.icon(size, Path(folder, f"{size}.png"))
            pictures.append(Path(folder, f"{size}.png").read_bytes())
    offset = 6 + 16 * len(pictures)
    entries = b""
    for size, picture in zip(ICON_SIZES, pictures, strict=True):
        entries += struct.pack("<BBBBHHII", size % 256, size % 256, 0, 0, 1, 32, len(picture), offset)
        offset += len(picture)
    build.made(place).write_bytes(struct.pack("<HHH", 0, 1, len(pictures)) + entries + b"".join(pictures))


def with_kind(place: Path, kind: str) -> Path:
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(FROZEN, place)
    (place / "install.json").write_text(json.dumps({"kind": kind}) + "\n")
    return place


def make_installer() -> Path:
    installer = build.DIST / f"Tooltray-{build.VERSION}-setup.exe"
    made = {"SOURCE": with_kind(BUILD / "setup", SETUP), "OUTPUT": installer, **({"SITE": build.SITE} if build.SITE else {})}
    nsis.compile_script("tooltray.nsi", VERSION=build.VERSION, UNINSTALLER=UNINSTALLER, ICON=ICON, HEADER=HEADER, PICTURE=FINISH, **made)
    return installer


def make_portable() -> Path:
    name = f"Tooltray-{build.VERSION}-windows-portable"
    folder = with_kind(BUILD / name, PORTABLE)
    archive = build.DIST / f"{name}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as made:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                made.write(path, Path("Tooltray", path.relative_to(folder)))
    return archive


def pack() -> list[Path]:
    """Makes the installer and the portable folder of what is in build/windows."""
    shutil.rmtree(build.DIST, ignore_errors=True)
    build.DIST.mkdir(parents=True)
    return [make_installer(), make_portable()]


def main() -> int:
    parser = argparse.ArgumentParser(description="Makes the installer and the portable folder for Windows.")
    parser.add_argument("--only", choices=("freeze", "pack"), help="one of the two steps, so that the programs can be signed between them")
    only = parser.parse_args().only
    if not ON_WINDOWS:
        subprocess.run(PYTHON, check=True)
        build.DIST /= "windows"  # beside those for Linux
        sys.path.append(str(build.ROOT / ".cache" / "windows" / "site"))  # whose packages are shipped, for their licences
    if only != "pack":
        programs = freeze()
        sys.stdout.writelines(f"{each.relative_to(build.ROOT)}\n" for each in programs if only)
    if only != "freeze":
        build.finish(pack())
    return 0


if __name__ == "__main__":
    sys.exit(main())
