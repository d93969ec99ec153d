"""What pyinstaller.spec and packaging/macos/build.py make of Tooltray.app, with doubles of PyInstaller and Apple's programs."""

import importlib.util
import json
import plistlib
import re
import struct
import sys
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import pytest
from PySide6.QtCore import QBuffer, QByteArray
from PySide6.QtGui import QImageReader

from tooltray import __version__
from tooltray.foundation.installs.installation import KINDS

MACOS = Path(__file__).parents[2] / "packaging" / "macos"
with mock.patch.object(sys, "path", [*sys.path, str(MACOS.parent)]):
    from macos import made_up


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


@pytest.fixture
def spec() -> tuple[made_up.Freezer, dict[str, Any]]:
    """What the spec asks of PyInstaller on macOS, and its names."""
    return made_up.read_spec(__version__)


def test_the_bundle_is_a_tray_app_that_opens_our_addresses(spec: tuple[made_up.Freezer, dict[str, Any]]) -> None:
    bundle = spec[0].bundle
    about = bundle["info_plist"]
    assert (bundle["name"], bundle["version"], bundle["icon"]) == ("Tooltray.app", __version__, "/icons/tooltray.icns")
    assert (about["CFBundleExecutable"], about["LSUIElement"]) == ("tooltray", True)
    assert about["LSBackgroundOnly"] is False, "an app that is only in the background gets no tray icon"
    assert about["CFBundleURLTypes"][0]["CFBundleURLSchemes"] == ["tooltray"]
    assert plistlib.loads(plistlib.dumps(about)) == about


def test_qt_is_not_loaded_before_the_guardian_forks(spec: tuple[made_up.Freezer, dict[str, Any]]) -> None:
    assert [name for name, *_ in spec[0].programs[0]["scripts"]] == []


@pytest.mark.parametrize(("version", "numbers"), [("0.2.0", "0.2.0"), ("1.0.0rc1", "1.0.0"), ("1.2", "1.2")])
def test_the_versions_of_a_bundle_are_numbers(version: str, numbers: str) -> None:
    bundle = made_up.read_spec(version)[0].bundle
    assert (bundle["version"], bundle["info_plist"]["CFBundleVersion"]) == (numbers, numbers)


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
def test_of_qt_only_what_the_window_uses_is_in_it(spec: tuple[made_up.Freezer, dict[str, Any]], name: str, is_used: bool) -> None:
    assert spec[1]["is_used"](name) is is_used


@pytest.mark.parametrize(
    ("name", "target", "belongs"),
    [
        ("QtCore", "PySide6/Qt/lib/QtCore.framework/Versions/A/QtCore", True),
        ("PySide6/Qt/lib/QtCore.framework/Versions/Current", "A", True),
        ("QtQuick", "PySide6/Qt/lib/QtQuick.framework/Versions/A/QtQuick", False),
        ("PySide6/Qt/lib/QtQuick.framework/Versions/Current", "A", False),
    ],
)
def test_a_link_goes_with_what_it_leads_to(spec: tuple[made_up.Freezer, dict[str, Any]], name: str, target: str, belongs: bool) -> None:
    assert spec[1]["belongs"]((name, target, "SYMLINK")) is belongs


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


@pytest.fixture
def steps(macos: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The scripts that a build runs, with their arguments, and the files that are in the app when it is signed."""
    steps = list[tuple[str, ...]]()

    def run(*command: str) -> str:
        steps.append((Path(command[1]).name, *command[2:]))
        if steps[-1][0] == "sign.sh":
            steps.append(tuple(sorted(str(file.relative_to(command[2])) for file in Path(command[2]).rglob("*") if file.is_file())))
        return ""

    monkeypatch.setattr(macos, "make_icon", lambda: tmp_path / "tooltray.icns")
    monkeypatch.setattr(macos, "problems", lambda app: [])
    monkeypatch.setattr(macos.build, "freeze", lambda: frozen_at(tmp_path / "build"))
    monkeypatch.setattr(macos.build, "run", run)
    monkeypatch.setattr(macos.build, "finish", lambda files: None)
    monkeypatch.setenv("TOOLTRAY_ICON", "of before")
    return steps


def test_what_is_added_to_the_app_is_among_the_resources_and_there_before_it_is_signed(
    macos: ModuleType, steps: list[tuple[str, ...]]
) -> None:
    app = macos.make_app(made_up.IDENTITY)
    assert steps == [
        ("sign.sh", str(app), made_up.IDENTITY),
        (
            "Contents/MacOS/tooltray",
            *(f"Contents/Resources/{name}" for name in ("LICENCES.txt", "install.json", "tooltray/_resources/fonts/Inter.otf")),
        ),
    ]
    assert json.loads((app / "Contents/Resources/install.json").read_text())["kind"] in KINDS


def test_an_app_that_was_tried_is_signed_and_packed_as_it_is(
    macos: ModuleType, steps: list[tuple[str, ...]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = made_up.make_app(tmp_path, "1.2.3")
    monkeypatch.setattr(macos.build, "freeze", lambda: pytest.fail("built"))
    monkeypatch.setattr(macos.build, "finish", lambda files: pytest.fail("lists the parts of this machine"))
    monkeypatch.setattr(sys, "argv", ["build.py", "--app", str(tried), "--identity", "ME"])
    assert macos.main() == 0
    inside = sorted(str(file.relative_to(tried)) for file in tried.rglob("*") if file.is_file())
    assert [*steps[1]] == inside
    assert [step[0] for step in steps if step[0].endswith(".sh")] == ["sign.sh", "dmg.sh"]


def test_an_app_that_apple_would_refuse_is_not_packed(
    macos: ModuleType, steps: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(macos, "problems", lambda app: ["not signed", "no version"])
    monkeypatch.setattr(sys, "argv", ["build.py"])
    with pytest.raises(SystemExit, match="not signed\nno version"):
        macos.main()
    assert [step[0] for step in steps if step[0].endswith(".sh")] == ["sign.sh"]


@pytest.mark.parametrize(
    ("words", "scripts"),
    [
        ([], ["sign.sh Tooltray.app -", "dmg.sh Tooltray.app IMAGE -"]),
        (["--identity", "ME"], ["sign.sh Tooltray.app ME", "dmg.sh Tooltray.app IMAGE ME"]),
        (
            ["--identity", "ME", "--profile", "KEYS"],
            ["sign.sh Tooltray.app ME", "notarize.sh Tooltray.app KEYS", "dmg.sh Tooltray.app IMAGE ME", "notarize.sh IMAGE KEYS"],
        ),
    ],
)
def test_the_image_is_made_of_an_app_that_has_its_ticket(
    macos: ModuleType, steps: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch, words: list[str], scripts: list[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["build.py", *words])
    assert macos.main() == 0
    short = [[re.sub(r".*\.dmg$", "IMAGE", word.rpartition("/")[2]) for word in step] for step in steps if step[0].endswith(".sh")]
    assert [" ".join(each) for each in short] == scripts


def test_apple_checks_only_what_has_an_identity(macos: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["build.py", "--profile", "KEYS"])
    with pytest.raises(SystemExit, match="2"):
        macos.main()
