"""The scripts that sign, pack and notarise the app for macOS, with doubles of Apple's programs; the real ones were never run here."""

import os
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
        for name in ("codesign", "ditto", "hdiutil", "sleep", "spctl"):
            (programs / name).write_text('#!/bin/sh\necho "$(basename "$0")|$(printf "%s|" "$@")" >> "$CALLS"\n')
            (programs / name).chmod(0o755)
        self.answer("Accepted")
        self.environ = {"PATH": f"{programs}:{os.environ['PATH']}", "CALLS": str(self.calls_file), "TMPDIR": str(folder)}

    def answer(self, status: str, *, code: int = 0, stapled_at: int = 1) -> None:
        """Has Apple answer a submission.

        Args:
            status: empty: there is no answer.
            code: notarytool's exit code, which is 0 also when Apple refuses.
            stapled_at: the try at which the ticket is there.
        """
        submitted = f'{{"id": "submission-1",\n "status": "{status}"}}' if status else ""
        (self.folder / "bin" / "xcrun").write_text(
            f"""#!/bin/sh
echo "xcrun|$(printf '%s|' "$@")" >> "$CALLS"
case $2 in
submit) echo '{submitted}' && exit {code} ;;
staple) [ "$(grep -c 'stapler|staple' "$CALLS")" -ge {stapled_at} ] || exit 65 ;;
esac
"""
        )
        (self.folder / "bin" / "xcrun").chmod(0o755)

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
    assert order[3:] == ["Frameworks/QtCore.framework", "MacOS/tooltray-bridge", "Tooltray.app"]
    assert verified[:4] == ["codesign", "--verify", "--strict", "--deep"]


def test_a_signature_can_be_notarised_and_only_the_app_has_entitlements(mac: Mac, app: str) -> None:
    *signed, _ = mac.run("sign.sh", app, IDENTITY)
    for call in signed:
        assert call[:7] == ["codesign", "--force", "--sign", IDENTITY, "--options", "runtime", "--timestamp"]
        assert "--deep" not in call
    assert ["--entitlements" in call for call in signed] == [False] * 5 + [True]


def test_a_signature_for_this_machine_is_not_hardened_and_has_no_time_stamp(mac: Mac, app: str) -> None:
    *signed, _ = mac.run("sign.sh", app, "-")
    assert {tuple(call[1:4]) for call in signed} == {("--force", "--sign", "-")}
    assert not any({"--timestamp", "--options", "runtime"} & set(call) for call in signed)


def test_the_disk_image_is_made_of_the_app_and_a_link_and_is_signed(mac: Mac, app: str) -> None:
    (mac.folder / "bin" / "hdiutil").write_text('#!/bin/sh\nls "$5" > listed\necho "hdiutil|$*" >> "$CALLS"\n')
    made, signed = mac.run("dmg.sh", app, "tooltray.dmg", IDENTITY)
    assert (mac.folder / "listed").read_text().split() == ["Applications", "Tooltray.app"]
    assert made[1].startswith("create -volname Tooltray -srcfolder ")
    assert made[1].endswith("-format UDZO -ov tooltray.dmg")
    assert signed == [
        "codesign",
        "--force",
        "--timestamp",
        "--sign",
        IDENTITY,
        "--identifier",
        "dev.tooltray.Tooltray.image",
        "tooltray.dmg",
    ]
    assert sorted(path.name for path in mac.folder.iterdir()) == ["Tooltray.app", "bin", "calls", "listed"]


@pytest.mark.parametrize(("busy", "is_made"), [(4, True), (5, False)])
def test_an_image_that_cannot_be_made_now_is_tried_again(mac: Mac, app: str, busy: int, is_made: bool) -> None:
    tries = mac.folder / "tries"
    (mac.folder / "bin" / "hdiutil").write_text(f'#!/bin/sh\necho >> "{tries}"\n[ $(wc -l < "{tries}") -gt {busy} ]\n')
    command = ["bash", str(MACOS / "dmg.sh"), app, "tooltray.dmg", "-"]
    assert (subprocess.run(command, env=mac.environ, cwd=mac.folder, timeout=30).returncode == 0) is is_made
    assert len(tries.read_text()) == 5


@pytest.mark.parametrize(
    ("thing", "sent", "kind"),
    [
        ("Tooltray.app/", "app.zip", ["execute"]),
        ("tooltray.dmg", "tooltray.dmg", ["open", "--context", "context:primary-signature"]),
    ],
)
def test_what_apple_accepts_has_its_ticket(mac: Mac, thing: str, sent: str, kind: list[str]) -> None:
    calls = mac.run("notarize.sh", thing, "profile")
    if sent == "app.zip":
        packed = calls.pop(0)
        assert packed[:-1] == ["ditto", "-c", "-k", "--keepParent", "Tooltray.app"]
    submitted, *others = calls
    assert submitted[3].rpartition("/")[2] == sent
    assert submitted[4:] == ["--keychain-profile", "profile", "--wait", "--output-format", "json"]
    stapled = thing.rstrip("/")
    assert others == [
        ["xcrun", "stapler", "staple", stapled],
        ["xcrun", "stapler", "validate", stapled],
        ["spctl", "--assess", "--type", *kind, "--verbose=2", stapled],
    ]
    assert sorted(path.name for path in mac.folder.iterdir()) == ["bin", "calls"]


@pytest.mark.parametrize(("stapled_at", "is_stapled"), [(10, True), (11, False)])
def test_a_ticket_that_is_not_there_yet_is_waited_for(mac: Mac, stapled_at: int, is_stapled: bool) -> None:
    mac.answer("Accepted", stapled_at=stapled_at)
    command = ["bash", str(MACOS / "notarize.sh"), "tooltray.dmg", "profile"]
    assert (subprocess.run(command, env=mac.environ, cwd=mac.folder, timeout=30).returncode == 0) is is_stapled
    calls = mac.calls_file.read_text()
    assert (calls.count("stapler|staple"), calls.count("sleep|30")) == (10, 9)
    assert ("stapler|validate" in calls) is is_stapled


def test_where_apple_does_not_answer_there_is_no_list_of_reasons(mac: Mac) -> None:
    mac.answer("", code=69)
    with pytest.raises(subprocess.CalledProcessError):
        mac.run("notarize.sh", "tooltray.dmg", "profile")
    assert [call.split("|")[2] for call in mac.calls_file.read_text().splitlines()] == ["submit"]


@pytest.mark.parametrize("code", [0, 1])
def test_what_apple_refuses_gets_no_ticket_and_its_reasons_are_shown(mac: Mac, code: int) -> None:
    mac.answer("Invalid", code=code)
    with pytest.raises(subprocess.CalledProcessError):
        mac.run("notarize.sh", "tooltray.dmg", "profile")
    calls = mac.calls_file.read_text().splitlines()
    assert [call.split("|")[2] for call in calls] == ["submit", "log"]
    assert calls[1] == "xcrun|notarytool|log|submission-1|--keychain-profile|profile|"
