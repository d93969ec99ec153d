"""Makes a Tooltray.app without a Mac, to be checked: from pyinstaller.spec and sign.sh, with doubles of PyInstaller and codesign.

Programs and libraries are small Mach-O files; their signatures are real ones, made by rcodesign. What a bundle's signature says of its
resources is left out.
"""

import argparse
import os
import plistlib
import runpy
import struct
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest import mock

import apple_platform

ROOT = Path(__file__).parents[2]
SIGN = Path(__file__).with_name("sign.sh")
FOR_THIS_MACHINE, IDENTITY = "-", "Developer ID Application: A Name (TEAM)"
ARM, INTEL = 0x0100000C, 0x01000007
PROGRAM, LIBRARY = 2, 6
PAGE = 0x4000


class Freezer:
    """The names that PyInstaller gives to a spec; each remembers what it was given."""

    def __init__(self) -> None:
        self.programs: list[dict[str, Any]] = []
        self.bundle: dict[str, Any] = {}

    def names(self) -> dict[str, Any]:
        parts = SimpleNamespace(binaries=[], datas=[], pure=[], scripts=[("pyi_rth_pyside6", "", "PYSOURCE")])
        return {
            "SPECPATH": str(ROOT),
            "Analysis": lambda *_, **__: parts,
            "PYZ": lambda *_: None,
            "EXE": lambda _, scripts, *__, **given: self.programs.append(given | {"scripts": scripts}),
            "COLLECT": lambda *_, **__: None,
            "BUNDLE": lambda *_, **given: self.bundle.update(given),
        }


def read_spec(version: str) -> tuple[Freezer, dict[str, Any]]:
    """Returns what the spec asks of PyInstaller on macOS, and its names."""
    hooks = ModuleType("PyInstaller.utils.hooks")
    hooks.collect_submodules = hooks.copy_metadata = hooks.collect_data_files = lambda *_, **__: []  # type: ignore[attr-defined]
    modules = {name: ModuleType(name) for name in ("PyInstaller", "PyInstaller.utils")} | {hooks.__name__: hooks}
    environ = {"TOOLTRAY_VERSION": version, "TOOLTRAY_ICON": "/icons/tooltray.icns"}
    freezer = Freezer()
    with (
        mock.patch.dict(sys.modules, modules),
        mock.patch.dict(os.environ, environ),
        mock.patch.object(sys, "path", [*sys.path]),
        mock.patch.object(sys, "platform", "darwin"),
    ):
        return freezer, runpy.run_path(str(ROOT / "pyinstaller.spec"), init_globals=freezer.names())


def signed_app(place: Path, identity: str, version: str = "1.2.3") -> Path:
    """Makes the bundle in a folder.

    Args:
        identity: FOR_THIS_MACHINE, or another name, for which a certificate is made.
    """
    app = make_app(place, version)
    sign(app, identity)
    return app


def make_app(place: Path, version: str) -> Path:
    freezer, _ = read_spec(version)
    bundle = freezer.bundle
    app = place / bundle["name"]
    contents, framework = app / "Contents", app / "Contents" / "Frameworks" / "QtCore.framework"
    icon = Path(bundle["icon"]).name
    # as PyInstaller's building/osx.py fills it
    about = {
        "CFBundleDisplayName": app.stem,
        "CFBundleName": app.stem,
        "CFBundleIdentifier": bundle["bundle_identifier"],
        "CFBundleExecutable": freezer.programs[0]["name"],
        "CFBundleIconFile": icon,
        "CFBundleInfoDictionaryVersion": "6.0",
        "CFBundlePackageType": "APPL",
        "CFBundleShortVersionString": bundle["version"],
        "LSBackgroundOnly": True,
    }
    library = mach_o(LIBRARY)
    for file, data in {
        contents / "Info.plist": plistlib.dumps(about | bundle["info_plist"]),
        **{contents / "MacOS" / each["name"]: mach_o(PROGRAM) for each in freezer.programs},
        contents / "Frameworks" / "libssl.3.dylib": library,
        contents / "Frameworks" / "python3__dot__13" / "lib-dynload" / "_ctypes.so": library,
        framework / "Versions" / "A" / "QtCore": library,
        framework / "Versions" / "A" / "Resources" / "Info.plist": plistlib.dumps({"CFBundleIdentifier": "org.qt-project.QtCore"}),
        contents / "Resources" / icon: b"icns",
        contents / "Resources" / "tooltray" / "_resources" / "verbs.json": b"{}",
    }.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    for link, target in {
        framework / "Versions" / "Current": "A",
        framework / "QtCore": "Versions/Current/QtCore",
        contents / "Frameworks" / "python3.13": "python3__dot__13",
        contents / "Frameworks" / "tooltray": "../Resources/tooltray",
        contents / "Resources" / "libssl.3.dylib": "../Frameworks/libssl.3.dylib",
    }.items():
        link.symlink_to(target)
    return app


def mach_o(file_type: int, processor: int = ARM, minimum: int = 15, library: str = "/usr/lib/libSystem.B.dylib") -> bytes:
    """Returns the smallest file that rcodesign signs: a page with a section of code, and an empty end for the signature.

    Args:
        library: the one that it loads.
    """
    start = 0x1_0000_0000
    code = struct.pack("<16s16sQQ8I", b"__text", b"__TEXT", start + 0x1000, 16, 0x1000, 2, 0, 0, 0x80000400, 0, 0, 0)
    text = struct.pack("<II16sQQQQIIII", 0x19, 72 + len(code), b"__TEXT", start, PAGE, 0, PAGE, 5, 5, 1, 0) + code
    end = struct.pack("<II16sQQQQIIII", 0x19, 72, b"__LINKEDIT", start + PAGE, PAGE, PAGE, 16, 1, 1, 0, 0)
    built = struct.pack("<6I", 0x32, 24, 1, minimum << 16, 15 << 16, 0)
    name = library.encode().ljust(len(library) // 8 * 8 + 8, b"\0")
    commands = text + end + built + struct.pack("<6I", 0xC, 24 + len(name), 24, 0, 0, 0) + name
    head = struct.pack("<8I", 0xFEEDFACF, processor, 0, file_type, 4, len(commands), 0x200085, 0)
    return (head + commands).ljust(PAGE, b"\0") + bytes(16)


def sign(app: Path, identity: str) -> None:
    """Runs sign.sh, with this module as `codesign`."""
    programs = app.parent / "bin"
    programs.mkdir(exist_ok=True)
    (programs / "codesign").write_text(f'#!/bin/sh\nexec "{sys.executable}" "{Path(__file__).resolve()}" "$@"\n')
    (programs / "codesign").chmod(0o755)
    certificate = app.parent / "certificate.pem"
    apple_platform.certificates.generate_self_signed("A Name", algorithm="ecdsa", team_id="TEAM").write_pem_bundle(certificate)
    environ = {"PATH": f"{programs}:{os.environ['PATH']}", "CERTIFICATE": str(certificate)}
    subprocess.run(["bash", str(SIGN), str(app), identity], env=environ, check=True)


def codesign() -> int:
    """Does what codesign would do with the options that sign.sh gives it; others are errors."""
    parser = argparse.ArgumentParser()
    for flag in ("--force", "--timestamp", "--verify", "--strict", "--deep"):
        parser.add_argument(flag, action="store_true")
    for option in ("--sign", "--options", "--entitlements", "--identifier", "--verbose"):
        parser.add_argument(option)
    parser.add_argument("path", type=Path)
    asked = parser.parse_args()
    if asked.verify:
        return 0
    is_of_machine = asked.sign == FOR_THIS_MACHINE
    file, name = main_file(asked.path)
    apple_platform.sign(
        file,
        signer=None if is_of_machine else apple_platform.Signer(pem=apple_platform.PemKey([os.environ["CERTIFICATE"]])),
        binary_identifier=asked.identifier or name,
        entitlements_xml_file=asked.entitlements,
        code_signature_flags=[asked.options] if asked.options else None,
        timestamp_url="none",
    )
    return 0


def main_file(path: Path) -> tuple[Path, str]:
    """Returns the file that carries a path's signature, and the identifier that it gets if none is given."""
    if path.suffix == ".framework":
        return path / "Versions" / "Current" / path.stem, path.stem
    if path.suffix == ".app":
        about = plistlib.loads((path / "Contents" / "Info.plist").read_bytes())
        return path / "Contents" / "MacOS" / str(about["CFBundleExecutable"]), str(about["CFBundleIdentifier"])
    return path, path.stem


if __name__ == "__main__":
    sys.exit(codesign())
