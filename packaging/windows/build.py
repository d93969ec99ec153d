"""Makes the installer and the portable folder for Windows: `make package-windows`, or on Windows `python packaging/windows/build.py`.

Shares texts and lists with packaging/build.py; runs pyinstaller.spec, gcc on launcher.c, and NSIS on tooltray.nsi. On Linux the Windows
Python runs under Wine (scripts/windows_python.sh).
"""

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

WINDOWS, BUILD = Path(__file__).parent, build.ROOT / "build" / "windows"
ON_WINDOWS = sys.platform == "win32"
PYTHON = [sys.executable] if ON_WINDOWS else [str(build.ROOT / "scripts" / "windows_python.sh")]
COMPILER = "gcc" if ON_WINDOWS else "x86_64-w64-mingw32-gcc"
ICON_SIZES = (16, 20, 24, 32, 40, 48, 64, 256)
SETUP, PORTABLE = "windows-setup", "windows-portable"  # kinds, as in foundation/installs/installation.py


def freeze(icon: Path) -> Path:
    """The folder with all programs, without the file that says what kind of installation it is."""
    shutil.rmtree(BUILD, ignore_errors=True)
    fixed = {"TOOLTRAY_VERSION": build.VERSION, "TOOLTRAY_ICON": str(icon), "PYTHONHASHSEED": "1", "SOURCE_DATE_EPOCH": str(build.epoch())}
    options = ("--noconfirm", "--log-level", "WARN", "--distpath", "build/windows", "--workpath", "build/windows/work")
    subprocess.run([*PYTHON, "-m", "PyInstaller", *options, "pyinstaller.spec"], cwd=build.ROOT, env={**os.environ, **fixed}, check=True)
    frozen = BUILD / "tooltray"
    build.add_fonts(frozen / "_internal" / "tooltray" / "_resources" / "fonts")
    compile_launcher(frozen / "_internal" / "tooltray" / "_resources" / "windows" / "tooltray-bridge.exe")
    (frozen / "LICENCES.txt").write_text(build.licences(), encoding="utf-8")
    return frozen


def compile_launcher(place: Path) -> None:
    """The program that AI clients start, which starts the bridge of an installation."""
    options = ("-Os", "-s", "-mwindows", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wl,--no-insert-timestamp")
    subprocess.run([COMPILER, *options, "-o", str(build.made(place)), str(WINDOWS / "launcher.c")], check=True)


def make_icon(place: Path) -> Path:
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
    return place


def with_kind(frozen: Path, place: Path, kind: str) -> Path:
    shutil.copytree(frozen, place)
    (place / "install.json").write_text(json.dumps({"kind": kind}) + "\n")
    return place


def make_installer(frozen: Path, icon: Path) -> Path:
    source = with_kind(frozen, BUILD / "setup", SETUP)
    installer = build.DIST / f"Tooltray-{build.VERSION}-setup.exe"
    sign = "/D" if ON_WINDOWS else "-D"
    defined = {"VERSION": build.VERSION, "SOURCE": source, "OUTPUT": installer, "ICON": icon}
    options = [f"{sign}{name}={value}" for name, value in defined.items()]
    charset = ["/INPUTCHARSET", "UTF8"] if ON_WINDOWS else ["-INPUTCHARSET", "UTF8"]
    # Debian's NSIS makes stubs of 32 bits unless told otherwise; Wine without them, and Windows on ARM, run those of 64
    targets = [] if ON_WINDOWS else ["-XTarget amd64-unicode"]
    verbose = "/V2" if ON_WINDOWS else "-V2"
    subprocess.run(["makensis", verbose, *charset, *targets, *options, str(WINDOWS / "tooltray.nsi")], check=True)
    return installer


def make_portable(frozen: Path) -> Path:
    name = f"Tooltray-{build.VERSION}-windows-portable"
    folder = with_kind(frozen, BUILD / name, PORTABLE)
    archive = build.DIST / f"{name}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as made:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                made.write(path, Path("Tooltray", path.relative_to(folder)))
    return archive


def main() -> int:
    if not ON_WINDOWS:
        subprocess.run(PYTHON, check=True)
        build.DIST /= "windows"  # beside those for Linux
        sys.path.append(str(build.ROOT / ".cache" / "windows" / "site"))  # whose packages are shipped, for their licences
    shutil.rmtree(build.DIST, ignore_errors=True)
    build.DIST.mkdir(parents=True)
    icon = make_icon(build.ROOT / "build" / "tooltray.ico")
    frozen = freeze(icon)
    build.finish([make_installer(frozen, icon), make_portable(frozen)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
