"""One installation of Tooltray: its kind and version, how it is updated and removed, and whether its programs were replaced.

A package names its kind in a file beside its programs; without that file it is a Python package or a checkout. Files of a package manager
or an installer are removed by that program; only the portable archive has a script of ours for that.
"""

import contextlib
import json
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

import tooltray
from tooltray import __version__
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.programs import CURRENT, bridge_command, is_frozen, lasting_path

ABOUT = "install.json"
"""Written by the packaging beside the frozen programs: `{"kind": "deb"}`; in an app for macOS into Contents/Resources."""
CHECKOUT, WHEEL, ARCHIVE, WINDOWS_SETUP = "checkout", "wheel", "archive", "windows-setup"
KINDS: Mapping[str, str] = {
    "deb": Phrase("Debian package"),
    ARCHIVE: Phrase("portable archive"),
    WHEEL: Phrase("Python package"),
    CHECKOUT: Phrase("checkout of the source"),
    WINDOWS_SETUP: Phrase("Windows installer"),
    "windows-portable": Phrase("portable folder"),
    "macos-app": Phrase("macOS app"),
    "pacman": Phrase("Arch package"),
}
SETTLED_S = 10.0  # a package manager has then renamed all files of the package; it does so one after the other
ROOT = Path(__file__).absolute().parents[4]  # of a checkout
LICENCES = "LICENCES.txt"
_UPDATE: Mapping[str, Phrase] = {
    "deb": Phrase("Install the newer package: {command}", command="sudo apt install ./tooltray_VERSION_amd64.deb"),
    ARCHIVE: Phrase("Unpack the newer archive and run its {script}", script="install.sh"),
    CHECKOUT: Phrase("Run: {command}", command="git pull && make run"),
    WINDOWS_SETUP: Phrase("Run the newer installer"),
    "windows-portable": Phrase("Unpack the newer archive over this folder"),
    "macos-app": Phrase("Drag the newer Tooltray into Applications"),
    "pacman": Phrase("In your clone of tooltray-bin from the AUR, run: {command}", command="git pull && makepkg -si"),
}
_FILE = {  # by kind, as the packaging names them
    "deb": "tooltray_VERSION_amd64.deb",
    ARCHIVE: "tooltray-VERSION-linux-x86_64.tar.gz",
    WHEEL: "tooltray-VERSION-py3-none-any.whl",
    "windows-setup": "Tooltray-VERSION-setup.exe",
    "windows-portable": "Tooltray-VERSION-windows-portable.zip",
    "macos-app": "tooltray-VERSION-macos-arm64.dmg",
}
_ON_ARM = {"amd64": "arm64", "x86_64": "aarch64"}  # Debian's name of the processor, and the kernel's
_REMOVE: Mapping[str, str] = {
    "deb": Phrase("Run: {command}", command="sudo apt purge tooltray"),
    WINDOWS_SETUP: Phrase("Uninstall Tooltray in the Settings of Windows, below Apps"),
    "macos-app": Phrase("Move Tooltray from Applications to the Trash"),
    "pacman": Phrase("Run: {command}", command="sudo pacman -R tooltray-bin"),
}
# by the file that the tool leaves in the environment; the last one is for any
_OF_TOOLS = {
    "uv-receipt.toml": ("uv tool install --force tooltray-VERSION-py3-none-any.whl", "uv tool uninstall tooltray"),
    "pipx_metadata.json": ("pipx install --force tooltray-VERSION-py3-none-any.whl", "pipx uninstall tooltray"),
    "": ("pip install --upgrade tooltray-VERSION-py3-none-any.whl", "pip uninstall tooltray"),
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
    return CHECKOUT if (ROOT / "pyproject.toml").exists() else WHEEL


def _beside_programs(folder: Path) -> Path:
    return folder.with_name("Resources") if folder.name == "MacOS" else folder  # codesign takes all that is in MacOS for code


def _said_kind(about: Path) -> str:
    try:
        kind = json.loads(about.read_bytes())["kind"]
    except (OSError, ValueError, KeyError, TypeError):
        return ARCHIVE
    return kind if kind in KINDS else ARCHIVE


class OwnProgram:
    """The program's file as it was when this object was made, to notice that a package manager has replaced it. Blocks on the disk.

    A process whose program was replaced should end soon: its later imports come from the newer version's files, and a frozen program reads
    its modules from its own file. Where each version has a folder of its own, it only is not the newest any more.

    Args:
        file: the program's path that an update does not change; None: the program never counts as replaced.
        own: the program that runs, if each version has a folder of its own.
    """

    def __init__(self, file: Path | None, own: Path | None = None) -> None:
        self._file = file
        self._before = file and _identity(own or file)

    @classmethod
    def of(cls, installation: Installation) -> "OwnProgram":
        """Makes the object for an installation. A checkout never counts as replaced: its developer restarts by hand. Windows replaces no
        running program.
        """
        if installation.kind == CHECKOUT or sys.platform == "win32":
            return cls(None)
        own = Path(sys.executable if is_frozen() else tooltray.__file__)
        return cls(Path(lasting_path(str(own))) if is_frozen() else own, own)

    def is_replaced(self) -> bool:
        """Returns whether another file has had the same path for a while. A program that no longer exists was removed, not replaced."""
        if self._file is None or self._before is None:
            return False
        now = _identity(self._file)
        return now not in (None, self._before) and time.time() - os.stat(self._file).st_ctime >= SETTLED_S


def _identity(file: Path) -> tuple[int, int, int] | None:
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_mtime_ns


def how_to_update(installation: Installation, version: str = "VERSION") -> Phrase:
    """Returns how a newer version is installed, in words; a command is the field `command`."""
    words = Phrase("Run: {command}", command=_of_tool()[0]) if installation.kind == WHEEL else _UPDATE[installation.kind]
    return words.filled(**{name: _in_release(str(value), version) for name, value in words.fields.items()})


def file_of(installation: Installation, version: str) -> str:
    """Returns the name of the release's file for this kind of installation; empty for a checkout and where a release has none."""
    return _in_release(_FILE.get(installation.kind, ""), version)


def _in_release(name: str, version: str) -> str:
    """Fills in the version, and the processor's name, which names of files for Linux have."""
    import platform  # only who looks for a newer version needs it

    for usual, on_arm in _ON_ARM.items() if platform.machine() == "aarch64" else ():
        name = name.replace(usual, on_arm)
    return name.replace("VERSION", version)


def how_to_remove(installation: Installation) -> str:
    if installation.kind == WHEEL:
        return Phrase("Run: {command}", command=_of_tool()[1])
    folder = ROOT if installation.kind == CHECKOUT else Path(sys.executable).parent
    return _REMOVE.get(installation.kind) or Phrase("Delete the folder {folder}", folder=str(folder))


def uninstaller(installation: Installation) -> Path | None:
    """Returns the script that removes this program; None if it has none, as for an archive that was unpacked and not installed."""
    script = Path(sys.executable).parents[1] / "install.sh"
    is_installed = installation.kind == ARCHIVE and (script.parent / CURRENT).is_symlink()
    return script if is_installed and script.is_file() else None


def licence_text() -> str:
    """Returns the licences of Tooltray and of everything shipped with it. If no others are shipped, returns Tooltray's own, and
    where the others are.
    """
    if is_frozen():
        return _first_text(_shipped_licences())
    import sysconfig

    folder = sysconfig.get_path("purelib")
    others = f"Each package that Tooltray uses has its licence in its own folder, below {folder}."
    return f"{_first_text(_own_licence()).rstrip()}\n\n{others}"


def _first_text(places: Iterable[Path]) -> str:
    return next((place.read_text("utf-8", "replace") for place in places if place.is_file()), "Tooltray: MIT")


def _shipped_licences() -> Iterator[Path]:
    program = Path(sys.executable)
    yield program.with_name(LICENCES)
    yield program.parents[1] / "Resources" / LICENCES  # of an app for macOS


def _own_licence() -> Iterator[Path]:
    import importlib.metadata  # 20 ms, which only a look at the licences costs

    yield ROOT / "LICENSE"
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        files = importlib.metadata.files("tooltray") or []
        yield from (Path(str(file.locate())) for file in files if file.name == "LICENSE")


def _of_tool() -> tuple[str, str]:
    prefix = Path(sys.prefix)
    return next(commands for name, commands in _OF_TOOLS.items() if not name or (prefix / name).is_file())
