"""Makes Tooltray.app and a disk image of it in `dist/`, on macOS:
`python packaging/macos/build.py [--app TRIED] [--identity NAME [--profile NAME]]`.

A maintainer or the release workflow runs it with the Python of .cache/package. packaging/build.py freezes, pyinstaller.spec makes the
bundle; then sign.sh, check.py, notarize.sh for the app, dmg.sh, notarize.sh for the image.

What comes after the bundle was made goes into Contents/Resources, where it is sealed by the signature; beside programs, in Contents/MacOS,
codesign takes every file for code.
"""

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import build
from macos.check import problems
from macos.icns import icns

MACOS, ICON = Path(__file__).parent, build.ROOT / "build" / "tooltray.icns"
FOR_THIS_MACHINE = "-"  # codesign's name for a signature without an identity


def make_icon() -> Path:
    """The icon file, of the app's SVG."""
    with tempfile.TemporaryDirectory() as folder:

        def png(size: int) -> bytes:
            place = Path(folder, f"{size}.png")
            build.icon(size, place)
            return place.read_bytes()

        build.made(ICON).write_bytes(icns(png))
    return ICON


def complete(app: Path, frozen: Path) -> None:
    """Adds fonts, licences and the kind of installation to a bundle.

    Args:
        frozen: the folder that was frozen beside it, which has fonts and licences.
    """
    resources = app / "Contents" / "Resources"
    fonts = Path("tooltray", "_resources", "fonts")
    shutil.copytree(frozen / "_internal" / fonts, resources / fonts)
    shutil.copy(frozen / "LICENCES.txt", resources)
    (resources / "install.json").write_text(json.dumps({"kind": "macos-app"}) + "\n")


def make_app(identity: str, tried: Path | None = None) -> Path:
    """Makes the signed app.

    Args:
        tried: an app that is there already, which gets other signatures and remains as it is otherwise; None: it is built.
    """
    app = build.DIST / "Tooltray.app"
    if tried:
        shutil.copytree(tried, app, symlinks=True)
    else:
        os.environ["TOOLTRAY_ICON"] = str(make_icon())
        frozen = build.freeze()
        shutil.copytree(build.BUILD / "Tooltray.app", app, symlinks=True)
        complete(app, frozen)
    build.run("bash", str(MACOS / "sign.sh"), str(app), identity)
    if found := problems(app):
        raise SystemExit("\n".join(found))
    return app


def pack(app: Path, identity: str, profile: str | None) -> Path:
    """Makes the disk image of a signed app.

    Args:
        profile: the keychain's profile for Apple's notary service; None: neither app nor image is sent to it.
    """
    image = build.DIST / f"tooltray-{build.VERSION}-macos-{platform.machine()}.dmg"
    if profile:
        build.run("bash", str(MACOS / "notarize.sh"), str(app), profile)
    build.run("bash", str(MACOS / "dmg.sh"), str(app), str(image), identity)
    if profile:
        build.run("bash", str(MACOS / "notarize.sh"), str(image), profile)
    return image


def main() -> int:
    parser = argparse.ArgumentParser(description="Makes Tooltray.app and its disk image in dist/.")
    parser.add_argument(
        "--identity", default=FOR_THIS_MACHINE, help="'Developer ID Application: NAME (TEAM)'; without it, for this machine alone"
    )
    parser.add_argument("--app", type=Path, help="an app that is there already, such as that of a disk image, is only signed and packed")
    parser.add_argument("--profile", help="the keychain's profile for notarytool; needs an identity")
    asked = parser.parse_args()
    if asked.profile and asked.identity == FOR_THIS_MACHINE:
        parser.error("--profile needs --identity")
    shutil.rmtree(build.DIST, ignore_errors=True)
    build.DIST.mkdir()
    image = pack(make_app(asked.identity, asked.app), asked.identity, asked.profile)
    if not asked.app:
        build.finish([image])
    return 0


if __name__ == "__main__":
    sys.exit(main())
