"""One installation of Tooltray: its kind, its version, and the command of its bridge.

A package names its kind in a file beside its programs; without that file it is a Python package or a checkout.
"""

import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

from tooltray import __version__
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.programs import bridge_command, is_frozen

ABOUT = "install.json"
"""Written by the packaging beside the frozen programs: `{"kind": "deb"}`; in an app for macOS into Contents/Resources."""
CHECKOUT, WHEEL, ARCHIVE = "checkout", "wheel", "archive"
KINDS: Mapping[str, str] = {
    "deb": Phrase("Debian package"),
    ARCHIVE: Phrase("portable archive"),
    WHEEL: Phrase("Python package"),
    CHECKOUT: Phrase("checkout of the source"),
    "windows-setup": Phrase("Windows installer"),
    "windows-portable": Phrase("portable folder"),
    "macos-app": Phrase("macOS app"),
}


class Installation(msgspec.Struct, frozen=True):
    """One installation of Tooltray.

    Attributes:
        kind: a key of KINDS.
        bridge: the program that AI clients start, and its arguments; absolute paths.
    """

    kind: str
    version: str
    bridge: tuple[str, ...]

    @property
    def is_there(self) -> bool:
        """Whether its programs still exist; reads the disk."""
        program, *arguments = self.bridge or ("",)
        return os.access(program, os.X_OK) and all(os.path.exists(each) for each in arguments if os.path.isabs(each))

    @property
    def is_packaged(self) -> bool:
        """Whether it may take the path of the bridge without being chosen. A checkout may not: it is for work on Tooltray itself."""
        return self.kind != CHECKOUT

    @property
    def age(self) -> tuple[tuple[int, ...], bool]:
        """A sort key by version, the newest last."""
        return age_of_version(self.version)

    @property
    def words(self) -> str:
        return Phrase("version {version}, {kind}", version=self.version, kind=KINDS.get(self.kind, self.kind))


def age_of_version(version: str) -> tuple[tuple[int, ...], bool]:
    """Returns a sort key of a version, the newest last; `1.2.0rc1` comes before `1.2.0`."""
    numbers, is_final = re.match(r"\d+(?:\.\d+)*", version), not re.search(r"[a-z]", version.partition("+")[0])
    return tuple(map(int, numbers[0].split("."))) if numbers else (), is_final


def this_installation() -> Installation:
    """Returns the installation that this process belongs to."""
    return Installation(_kind(), __version__, tuple(bridge_command()))


def _kind() -> str:
    if is_frozen():
        return _said_kind(_beside_programs(Path(sys.executable).parent) / ABOUT)
    return CHECKOUT if (Path(__file__).absolute().parents[4] / "pyproject.toml").exists() else WHEEL


def _beside_programs(folder: Path) -> Path:
    return folder.with_name("Resources") if folder.name == "MacOS" else folder  # codesign takes all that is in MacOS for code


def _said_kind(about: Path) -> str:
    try:
        kind = json.loads(about.read_bytes())["kind"]
    except (OSError, ValueError, KeyError, TypeError):
        return ARCHIVE
    return kind if kind in KINDS else ARCHIVE
