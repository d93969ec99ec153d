"""What pyinstaller.spec and packaging/macos/build.py make of Tooltray.app, with doubles of PyInstaller and Apple's programs."""

import importlib.util
import json
import plistlib
import runpy
import struct
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import QBuffer, QByteArray
from PySide6.QtGui import QImageReader

from tooltray import __version__
from tooltray.foundation.installs.installation import KINDS

ROOT = Path(__file__).parents[2]
MACOS = ROOT / "packaging" / "macos"


def module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"macos_{path.stem}", path)
    assert spec
    assert spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.fixture
def macos(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    monkeypatch.setattr(sys, "path", [*sys.path])
    macos_build = module(MACOS / "build.py")
    monkeypatch.setattr(macos_build.build, "DIST", tmp_path / "dist")
    monkeypatch.setattr(macos_build.build, "BUILD", tmp_path / "build")
    monkeypatch.setattr(macos_build, "ICON", tmp_path / "icons" / "tooltray.icns")
    return macos_build


class Freezer:
    """The names that PyInstaller gives to a spec; each remembers what it was given."""

    def __init__(self) -> None:
        self.programs: list[dict[str, Any]] = []
        self.bundle: dict[str, Any] = {}

    def names(self) -> dict[str, Any]:
        parts = SimpleNamespace(binaries=[], datas=[], pure=[], scripts=[])
        return {
            "SPECPATH": str(ROOT),
            "Analysis": lambda *_, **__: parts,
            "PYZ": lambda *_: None,
            "EXE": lambda *_, **given: self.programs.append(given),
            "COLLECT": lambda *_, **__: None,
            "BUNDLE": lambda *_, **given: self.bundle.update(given),
        }


@pytest.fixture
def spec(monkeypatch: pytest.MonkeyPatch) -> tuple[Freezer, dict[str, Any]]:
    """What the spec asks of PyInstaller on macOS, and its names."""
    hooks = ModuleType("PyInstaller.utils.hooks")
    hooks.collect_submodules = hooks.copy_metadata = hooks.collect_data_files = lambda *_, **__: []  # type: ignore[attr-defined]
    for name in ("PyInstaller", "PyInstaller.utils"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "PyInstaller.utils.hooks", hooks)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setenv("TOOLTRAY_VERSION", __version__)
    monkeypatch.setenv("TOOLTRAY_ICON", "/icons/tooltray.icns")
    freezer = Freezer()
    return freezer, runpy.run_path(str(ROOT / "pyinstaller.spec"), init_globals=freezer.names())


def test_the_bundle_is_a_tray_app_that_opens_our_addresses(spec: tuple[Freezer, dict[str, Any]]) -> None:
    bundle = spec[0].bundle
    about = bundle["info_plist"]
    assert (bundle["name"], bundle["version"], bundle["icon"]) == ("Tooltray.app", __version__, "/icons/tooltray.icns")
    assert (about["CFBundleExecutable"], about["LSUIElement"]) == ("tooltray", True)
    assert about["LSBackgroundOnly"] is False, "an app that is only in the background gets no tray icon"
    assert about["CFBundleURLTypes"][0]["CFBundleURLSchemes"] == ["tooltray"]
    assert plistlib.loads(plistlib.dumps(about)) == about


def test_both_programs_have_the_entitlements(spec: tuple[Freezer, dict[str, Any]]) -> None:
    given = {each["name"]: each["entitlements_file"] for each in spec[0].programs}
    assert given == dict.fromkeys(("tooltray", "tooltray-bridge"), str(MACOS / "entitlements.plist"))


@pytest.mark.parametrize(
    ("name", "is_used"),
    [
        ("PySide6/Qt/lib/QtWidgets.framework/Versions/A/QtWidgets", True),
        ("PySide6/Qt/plugins/platforms/libqcocoa.dylib", True),
        ("PySide6/Qt/lib/QtQuick.framework/Versions/A/QtQuick", False),
        ("PySide6/Qt/lib/QtQuick.framework/Versions/A/Resources/Info.plist", False),
        ("PySide6/Qt/plugins/platforms/libqminimal.dylib", False),
        ("PySide6/Qt/translations/qtbase_de.qm", False),
    ],
)
def test_of_qt_only_what_the_window_uses_is_in_it(spec: tuple[Freezer, dict[str, Any]], name: str, is_used: bool) -> None:
    assert spec[1]["is_used"](name) is is_used


def test_the_icon_has_all_sizes_and_can_be_read(qapp: object, macos: ModuleType) -> None:
    data = macos.make_icon().read_bytes()
    assert (data[:4], struct.unpack(">I", data[4:8])) == (b"icns", (len(data),))
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    reader = QImageReader(buffer, b"icns")
    sizes = set()
    for picture in range(reader.imageCount()):
        assert reader.jumpToImage(picture)
        image = reader.read()
        assert image.pixelColor(image.width() // 2, image.height() // 4).alpha() == 255
        assert image.pixelColor(0, 0).alpha() == 0
        sizes.add(image.width())
    assert sizes == {32, 64, 128, 256, 512, 1024}


def frozen_at(place: Path) -> Path:
    """What PyInstaller leaves, as far as the build looks at it."""
    for path in ("tooltray/_internal/tooltray/_resources/fonts/Inter.otf", "tooltray/LICENCES.txt", "Tooltray.app/Contents/MacOS/tooltray"):
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(path)
    (place / "Tooltray.app/Contents/Resources/tooltray/_resources").mkdir(parents=True)
    return place / "tooltray"


def test_what_is_added_to_the_app_is_among_the_resources_and_there_before_it_is_signed(
    macos: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    icon, signed = tmp_path / "tooltray.icns", []

    def sign(*command: str) -> str:
        app = Path(command[2])
        signed.append((Path(command[1]).name, command[3], sorted(str(each.relative_to(app)) for each in app.rglob("*") if each.is_file())))
        return ""

    monkeypatch.setattr(macos, "make_icon", lambda: icon)
    monkeypatch.setattr(macos.build, "freeze", lambda: frozen_at(tmp_path / "build"))
    monkeypatch.setattr(macos.build, "run", sign)
    monkeypatch.setenv("TOOLTRAY_ICON", "of before")
    app = macos.make_app("Developer ID Application: A Name (TEAM)")
    files = [
        "Contents/MacOS/tooltray",
        *(f"Contents/Resources/{name}" for name in ("LICENCES.txt", "install.json", "tooltray/_resources/fonts/Inter.otf")),
    ]
    assert signed == [("sign.sh", "Developer ID Application: A Name (TEAM)", files)]
    assert json.loads((app / "Contents/Resources/install.json").read_text())["kind"] in KINDS
