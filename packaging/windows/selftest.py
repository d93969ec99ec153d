"""Installs and uses what packaging/windows/build.py has made: `python packaging/windows/selftest.py [--quick]`, on Windows or under Wine.

`make package-windows-test` and the release workflow run tests/windows against the frozen programs, and against the installer, which one of
a newer version updates. That is made here of the same programs, with another version and another layout.
"""

import argparse
import json
import marshal
import os
import re
import subprocess
import sys
import tempfile
import zipfile
import zlib
from pathlib import Path

import nsis

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "packaging"))

import complete  # noqa: E402

ON_WINDOWS = sys.platform == "win32"
DIST = ROOT / "dist" if ON_WINDOWS else ROOT / "dist" / "windows"
PYTHON = [sys.executable] if ON_WINDOWS else [str(ROOT / "scripts" / "windows_python.sh")]
PYTEST = ("-m", "pytest", "-rP", "-c", "tests/windows/pytest.ini", "--rootdir", ".", "--confcutdir", "tests/windows", "tests/windows")
BUILT = ROOT / "build" / "windows"  # has the uninstaller and the pictures
OLD_LAYOUT, NEW_LAYOUT = "_internal", "_contents"  # as long as each other: names stand in the programs
QUICK = ("-k", "carries_calls or hub_is_killed or after_the_update or launcher_which or keeps_the_home")


def main() -> int:
    parser = argparse.ArgumentParser(description="Installs and uses the packages for Windows.")
    parser.add_argument("--quick", action="store_true", help="the main flows alone")
    quick = QUICK if parser.parse_args().quick else ()
    (portable,), (setup,) = DIST.glob("*-portable.zip"), DIST.glob("*-setup.exe")
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(portable) as archive:
            archive.extractall(folder)
            archive.extractall(Path(folder, "newer"))
        try:
            complete.check(Path(folder, "Tooltray"), "win32")
        except complete.Failed as failure:
            sys.stderr.write(f"FAILED: {failure}\n")
            return 1
        newer = newer_setup(Path(folder, "newer", "Tooltray"), setup.name.split("-")[1])
        files = {"PROGRAMS": Path(folder, "Tooltray"), "SETUP": setup, "NEWER_SETUP": newer}
        environ = {**os.environ, **{f"TOOLTRAY_{name}": windows_path(path) for name, path in files.items()}}
        done = subprocess.run([*PYTHON, *PYTEST, *quick], cwd=ROOT, env=environ, stdout=subprocess.PIPE, text=True, check=False)
    sys.stdout.write(done.stdout)
    return 0 if has_passed(done.stdout) else 1


def has_passed(written: str) -> bool:
    """Reports whether pytest's last line names tests that have passed, and none that failed; Wine loses its exit code."""
    last = [line for line in written.splitlines() if re.match(r"\d+ .* in \d+\.\d+s", line)][-1:]
    return bool(last) and " passed" in last[0] and " failed" not in last[0] and " error" not in last[0]


def newer_setup(programs: Path, version: str) -> Path:
    """Makes an installer of a newer version.

    Args:
        programs: a folder of frozen programs, which is changed.
        version: of these programs.
    """
    major, dot, rest = version.partition(".")
    newer = f"{int(major) + 1}{dot}{rest}"
    for program in programs.glob("*.exe"):
        program.write_bytes(with_version(program.read_bytes().replace(OLD_LAYOUT.encode(), NEW_LAYOUT.encode()), version, newer))
    (programs / OLD_LAYOUT).rename(programs / NEW_LAYOUT)
    (programs / "install.json").write_text(json.dumps({"kind": "windows-setup"}))
    setup = programs.with_name(f"Tooltray-{newer}-setup.exe")
    pictures = {"ICON": BUILT / "tooltray.ico", "HEADER": BUILT / "header.bmp", "PICTURE": BUILT / "finish.bmp"}
    defined = {"VERSION": newer, "SOURCE": programs, "UNINSTALLER": BUILT / "uninstall.exe", "OUTPUT": setup}
    nsis.compile_script("tooltray.nsi", "SetCompressor /FINAL zlib", **defined, **pictures)
    return setup


def with_version(program: bytes, version: str, newer: str) -> bytes:
    """Returns a frozen program whose package `tooltray` has another version, as long as its own; unchanged if it has no such package.

    Its modules are in PyInstaller's archive: `PYZ`, four bytes, the offset of the contents; these are `(name, (kind, offset, length))`.
    """
    start = program.rindex(b"PYZ\0")
    contents = dict(marshal.loads(program[start + int.from_bytes(program[start + 8 : start + 12], "big") :]))
    if "tooltray" not in contents:
        return program
    _, offset, length = contents["tooltray"]
    place = slice(start + offset, start + offset + length)
    changed = zlib.compress(zlib.decompress(program[place]).replace(version.encode(), newer.encode()), 9)
    if len(changed) > length:
        raise ValueError(f"version {newer} does not fit in the place of {version}")
    return program[: place.start] + changed.ljust(length, b"\0") + program[place.stop :]


def windows_path(path: Path) -> str:
    return str(path) if ON_WINDOWS else "Z:" + str(path).replace("/", "\\")


if __name__ == "__main__":
    sys.exit(main())
