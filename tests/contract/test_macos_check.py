"""packaging/macos/check.py finds each thing that Apple would refuse, in bundles with real signatures, made by rcodesign."""

import plistlib
import shutil
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import apple_platform
import pytest

MACOS = Path(__file__).parents[2] / "packaging" / "macos"
with mock.patch.object(sys, "path", [*sys.path, str(MACOS.parent)]):
    from macos import check, macho, made_up

OF_AD_HOC = "CMS error: missing further values (at position 0)"  # rcodesign takes the empty place of the certificate for a broken one
BRIDGE, LIBRARY = Path("Contents/MacOS/tooltray-bridge"), Path("Contents/Frameworks/libssl.3.dylib")
MAIN, INFO = Path("Contents/MacOS/tooltray"), Path("Contents/Info.plist")


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """An app by the identity that it is signed with."""
    return {each: made_up.signed_app(tmp_path_factory.mktemp("made"), each) for each in (made_up.FOR_THIS_MACHINE, made_up.IDENTITY)}


@pytest.fixture
def app(signed: dict[str, Path], tmp_path: Path) -> Path:
    """An app as a maintainer signs it, to be broken."""
    return shutil.copytree(signed[made_up.IDENTITY], tmp_path / "Tooltray.app", symlinks=True)


@pytest.mark.parametrize("identity", [made_up.FOR_THIS_MACHINE, made_up.IDENTITY])
def test_nothing_is_to_be_refused_in_what_the_spec_and_the_script_make(signed: dict[str, Path], identity: str) -> None:
    assert check.problems(signed[identity]) == []


@pytest.mark.parametrize("identity", [made_up.FOR_THIS_MACHINE, made_up.IDENTITY])
def test_rcodesign_finds_all_signatures_right(signed: dict[str, Path], identity: str) -> None:
    code = [file for file in check.files(signed[identity]) if macho.slices(file.read_bytes())]
    found = {problem["description"] for file in code for problem in apple_platform.verify_macho(file)}
    assert len(code) == 5
    assert found == (set() if identity == made_up.IDENTITY else {OF_AD_HOC})


def test_rcodesign_finds_a_byte_that_was_changed_after_signing(app: Path) -> None:
    data = bytearray((app / BRIDGE).read_bytes())
    data[0x2000] ^= 1
    (app / BRIDGE).write_bytes(data)
    assert apple_platform.verify_macho(app / BRIDGE) != []


def with_about(**changed: object) -> Callable[[Path], None]:
    def change(app: Path) -> None:
        about = plistlib.loads((app / INFO).read_bytes()) | changed
        (app / INFO).write_bytes(plistlib.dumps({key: value for key, value in about.items() if value is not None}))

    return change


def with_file(name: str, data: bytes = b"data") -> Callable[[Path], None]:
    def add(app: Path) -> None:
        (app / name).parent.mkdir(parents=True, exist_ok=True)
        (app / name).write_bytes(data)

    return add


def with_link(name: str, target: str) -> Callable[[Path], None]:
    return lambda app: (app / name).symlink_to(target)


def without(name: str) -> Callable[[Path], None]:
    return lambda app: (app / name).unlink()


def signed_again(file: Path, data: bytes = b"", **options: object) -> Callable[[Path], None]:
    """Signs a file in another way than sign.sh does, and without an identity."""

    def sign(app: Path) -> None:
        if data:
            (app / file).write_bytes(data)
        apple_platform.sign(app / file, **{"binary_identifier": "dev.tooltray.other"} | options)

    return sign


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        (with_about(CFBundleVersion=None), "Info.plist: CFBundleVersion is None"),
        (with_about(CFBundleVersion="0.1.0rc1"), "Info.plist: CFBundleVersion is '0.1.0rc1'"),
        (with_about(CFBundleShortVersionString=1.0), "Info.plist: CFBundleShortVersionString is 1.0"),
        (with_about(CFBundleIdentifier="tooltray"), "Info.plist: CFBundleIdentifier is 'tooltray'"),
        (with_about(CFBundlePackageType="BNDL"), "Info.plist: CFBundlePackageType is 'BNDL'"),
        (with_about(CFBundleIconFile="other.icns"), "Info.plist: the file of CFBundleIconFile is not among the resources"),
        (with_about(CFBundleExecutable="other"), "Contents/MacOS/other: not there, or no program"),
        (with_about(LSBackgroundOnly=True), "Info.plist: LSBackgroundOnly, with which an app gets no icon and no window"),
        (with_about(LSMinimumSystemVersion="14.0"), f"{LIBRARY}: needs a newer macOS than LSMinimumSystemVersion"),
        (with_about(NSAppleEventsUsageDescription=None), "NSAppleEventsUsageDescription and the entitlement"),
        (with_file("Contents/MacOS/install.json"), "Contents/MacOS/install.json: data where codesign takes every file for code"),
        (with_file("Contents/Frameworks/tables/names.json"), "Contents/Frameworks/tables/names.json: data where"),
        (with_file("Contents/Frameworks/x.1/x.so", made_up.mach_o(made_up.LIBRARY)), "Contents/Frameworks/x.1: a directory with a dot"),
        (with_file("Contents/Resources/x.so", made_up.mach_o(made_up.LIBRARY)), "Contents/Resources/x.so: code among the resources"),
        (with_file("Contents/install.json"), "Contents/install.json: no place of a bundle"),
        (with_link("Contents/Resources/python", "/usr/bin/python3"), "Contents/Resources/python: a link that leads to no file of the app"),
        (with_link("Contents/Resources/gone", "../gone"), "Contents/Resources/gone: a link that leads to no file of the app"),
        (with_link("Contents/Resources/out", "../../.."), "Contents/Resources/out: a link that leads to no file of the app"),
        (without("Contents/Frameworks/QtCore.framework/Versions/Current"), "QtCore.framework: a framework without Versions/Current/QtCore"),
        (with_file(str(LIBRARY), made_up.mach_o(made_up.LIBRARY)), f"{LIBRARY}: not signed"),
        (signed_again(LIBRARY), "some code is signed with an identity, some without"),
        (signed_again(LIBRARY, made_up.mach_o(made_up.LIBRARY, made_up.INTEL)), f"{LIBRARY}: not for arm64"),
        (signed_again(LIBRARY, made_up.mach_o(made_up.LIBRARY, minimum=26)), f"{LIBRARY}: needs a newer macOS"),
        (
            signed_again(LIBRARY, made_up.mach_o(made_up.LIBRARY, library="/opt/homebrew/lib/libb2.1.dylib")),
            f"{LIBRARY}: loads /opt/homebrew/lib/libb2.1.dylib, which other Macs do not have",
        ),
        (
            signed_again(LIBRARY, made_up.mach_o(made_up.LIBRARY, library="@rpath/QtDBus")),
            f"{LIBRARY}: loads @rpath/QtDBus, which is not in the app",
        ),
        (signed_again(BRIDGE, code_signature_flags=["runtime"]), f"{BRIDGE}: hardened without an identity"),
        (signed_again(BRIDGE, binary_identifier="bridge"), f"{BRIDGE}: its identifier, bridge, is not unique in the world"),
        (signed_again(BRIDGE, entitlements_xml_file=check.ENTITLEMENTS), f"{BRIDGE}: has the entitlement {check.APPLE_EVENTS}"),
    ],
)
def test_each_fault_is_found(app: Path, broken: Callable[[Path], None], problem: str) -> None:
    broken(app)
    assert problem in "\n".join(check.problems(app))


def by_another_script(tmp_path: Path, identity: str, before: str, after: str) -> list[str]:
    """The problems of an app that was signed by a sign.sh in which a text is another one."""
    for name in ("sign.sh", "entitlements.plist"):
        text = (MACOS / name).read_text()
        (tmp_path / name).write_text(text.replace(before, after))
    with mock.patch.object(made_up, "SIGN", tmp_path / "sign.sh"):
        return check.problems(made_up.signed_app(tmp_path, identity))


@pytest.mark.parametrize(
    ("identity", "before", "after", "problem"),
    [
        (made_up.FOR_THIS_MACHINE, "options=(--force ", "options=(--force --options runtime ", "hardened without an identity"),
        (made_up.IDENTITY, "--options runtime --timestamp", "--timestamp", "not signed for the hardened runtime"),
        (made_up.IDENTITY, 'then codesign "${options[@]}" "$file"', "then true", "libssl.3.dylib: not signed"),
        (made_up.IDENTITY, '--identifier "dev.tooltray.Tooltray.$name"', "", "its identifier, tooltray-bridge, is not unique in the world"),
        (made_up.IDENTITY, '--entitlements "$entitlements"', "", "NSAppleEventsUsageDescription and the entitlement"),
        (made_up.IDENTITY, "cs.disable-library-validation", "get-task-allow", "has the entitlement com.apple.security.get-task-allow"),
    ],
)
def test_a_script_that_signs_otherwise_is_found_out(tmp_path: Path, identity: str, before: str, after: str, problem: str) -> None:
    assert before in (MACOS / "sign.sh").read_text() + (MACOS / "entitlements.plist").read_text()
    assert problem in "\n".join(by_another_script(tmp_path, identity, before, after))


def test_the_entitlements_are_what_apples_strict_parser_takes() -> None:
    assert list(check.of_entitlements_file(check.ENTITLEMENTS.read_bytes())) == []


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        (b"<dict>", b"<dict><!-- why -->", "entitlements: a comment"),
        (b"<dict>", b"<dict><!-- codesign --options -->", "entitlements: not well-formed"),
        (b"<true/>\n</dict>", b"<false/>\n</dict>", f"entitlements: {check.APPLE_EVENTS} is False"),
        (b"cs.disable-library-validation", b"get-task-allow", "entitlements: com.apple.security.get-task-allow is True"),
        (b"cs.disable-library-validation", b"automation.apple-events", "entitlements: a key twice"),
    ],
)
def test_other_entitlements_are_found(before: bytes, after: bytes, problem: str) -> None:
    data = check.ENTITLEMENTS.read_bytes()
    assert before in data
    assert problem in "\n".join(check.of_entitlements_file(data.replace(before, after)))


def test_a_library_of_the_app_is_loaded_by_its_name(app: Path) -> None:
    signed_again(LIBRARY, made_up.mach_o(made_up.LIBRARY, library="@rpath/QtCore"), code_signature_flags=[])(app)
    assert "loads" not in "\n".join(check.problems(app))


def test_of_a_file_for_two_processors_each_part_is_read() -> None:
    parts = [made_up.mach_o(made_up.LIBRARY, processor) for processor in (made_up.ARM, made_up.INTEL)]
    offsets = [0x4000, 0x4000 + len(parts[0])]
    entries = b"".join(struct.pack(">5I", 0, 0, offset, len(part), 14) for offset, part in zip(offsets, parts, strict=True))
    fat = (struct.pack(">II", 0xCAFEBABE, 2) + entries).ljust(offsets[0], b"\0") + b"".join(parts)
    assert [(each.processor, each.minimum) for each in macho.slices(fat)] == [("arm64", (15, 0)), ("x86_64", (15, 0))]


@pytest.mark.parametrize("data", [b"", b"#!/bin/sh\n", b"\xca\xfe\xba\xbe\x00\x00\x00\x34" + bytes(64)], ids=["empty", "script", "Java"])
def test_scripts_and_javas_classes_are_no_code_for_macos(data: bytes) -> None:
    assert macho.slices(data) == []
