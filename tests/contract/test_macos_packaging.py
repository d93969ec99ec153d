"""The scripts that sign, pack and notarise the app for macOS, with doubles of Apple's programs; the real ones were never run here."""

import os
import plistlib
import subprocess
from pathlib import Path

import pytest

MACOS = Path(__file__).parents[2] / "packaging" / "macos"
MACH_O, UNIVERSAL = b"\xcf\xfa\xed\xfe rest", b"\xca\xfe\xba\xbe rest"
IDENTITY = "Developer ID Application: A Name (TEAM)"


class Mac:
    """A folder with doubles of Apple's programs, which write down how they were called."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.calls_file = folder, folder / "calls"
        programs = folder / "bin"
        programs.mkdir()
        for name in ("codesign", "hdiutil", "xcrun", "spctl"):
            (programs / name).write_text('#!/bin/sh\necho "$(basename "$0")|$(printf "%s|" "$@")" >> "$CALLS"\n')
            (programs / name).chmod(0o755)
        self.environ = {"PATH": f"{programs}:{os.environ['PATH']}", "CALLS": str(self.calls_file), "TMPDIR": str(folder)}

    def run(self, script: str, *arguments: str) -> list[list[str]]:
        """The calls that a script makes."""
        subprocess.run(["bash", str(MACOS / script), *arguments], check=True, env=self.environ, cwd=self.folder, timeout=30)
        return [line.rstrip("|").split("|") for line in self.calls_file.read_text().splitlines()]


@pytest.fixture
def mac(tmp_path: Path) -> Mac:
    return Mac(tmp_path)


@pytest.fixture
def app(mac: Mac) -> str:
    contents = mac.folder / "Tooltray.app" / "Contents"
    framework = contents / "Frameworks" / "QtCore.framework"
    for path, data in {
        contents / "MacOS" / "tooltray": MACH_O,
        contents / "MacOS" / "tooltray-bridge": UNIVERSAL,
        contents / "Info.plist": b"<plist/>",
        contents / "Frameworks" / "libssl.dylib": UNIVERSAL,
        contents / "Frameworks" / "a folder" / "deep" / "x.so": MACH_O,
        framework / "Versions" / "A" / "QtCore": MACH_O,
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return "Tooltray.app"


def test_all_code_is_signed_from_the_inside_out(mac: Mac, app: str) -> None:
    *signed, verified = mac.run("sign.sh", app + "/", IDENTITY)
    order = [call[-1].removeprefix("Tooltray.app/Contents/") for call in signed]
    assert set(order[:3]) == {"Frameworks/QtCore.framework/Versions/A/QtCore", "Frameworks/a folder/deep/x.so", "Frameworks/libssl.dylib"}
    assert order[3:] == ["Frameworks/QtCore.framework", "MacOS/tooltray", "MacOS/tooltray-bridge", "Tooltray.app"]
    assert verified[:4] == ["codesign", "--verify", "--strict", "--deep"]


def test_a_signature_can_be_notarised_and_only_programs_have_entitlements(mac: Mac, app: str) -> None:
    *signed, _ = mac.run("sign.sh", app, IDENTITY)
    for call in signed:
        assert call[:7] == ["codesign", "--force", "--options", "runtime", "--sign", IDENTITY, "--timestamp"]
        assert "--deep" not in call
    assert ["--entitlements" in call for call in signed] == [False] * 4 + [True] * 3


def test_a_signature_for_this_machine_needs_no_time_stamp(mac: Mac, app: str) -> None:
    assert not any("--timestamp" in call for call in mac.run("sign.sh", app, "-"))


def test_the_entitlements_are_a_property_list_without_what_opens_more(mac: Mac) -> None:
    assert plistlib.loads((MACOS / "entitlements.plist").read_bytes()) == {"com.apple.security.cs.allow-unsigned-executable-memory": True}


def test_the_disk_image_is_made_of_the_app_and_a_link_and_is_signed(mac: Mac, app: str) -> None:
    (mac.folder / "bin" / "hdiutil").write_text('#!/bin/sh\nls "$5" > listed\necho "hdiutil|$*" >> "$CALLS"\n')
    made, signed = mac.run("dmg.sh", app, "tooltray.dmg", IDENTITY)
    assert (mac.folder / "listed").read_text().split() == ["Applications", "Tooltray.app"]
    assert made[1].startswith("create -volname Tooltray -srcfolder ")
    assert made[1].endswith("-format UDZO -ov tooltray.dmg")
    assert signed == ["codesign", "--force", "--timestamp", "--sign", IDENTITY, "tooltray.dmg"]
    assert sorted(path.name for path in mac.folder.iterdir()) == ["Tooltray.app", "bin", "calls", "listed"]


def test_a_notarised_image_has_its_ticket(mac: Mac) -> None:
    calls = mac.run("notarize.sh", "tooltray.dmg", "profile")
    assert [call[:3] for call in calls] == [
        ["xcrun", "notarytool", "submit"],
        ["xcrun", "stapler", "staple"],
        ["xcrun", "stapler", "validate"],
        ["spctl", "--assess", "--type"],
    ]
    assert calls[0][3:] == ["tooltray.dmg", "--keychain-profile", "profile", "--wait"]


def test_what_apple_refuses_gets_no_ticket(mac: Mac) -> None:
    (mac.folder / "bin" / "xcrun").write_text('#!/bin/sh\necho "xcrun|$2" >> "$CALLS"\nexit 69\n')
    with pytest.raises(subprocess.CalledProcessError):
        mac.run("notarize.sh", "tooltray.dmg", "profile")
    assert mac.calls_file.read_text() == "xcrun|submit\n"
