"""How this installation is updated and removed, and where its licences are.

Files of a package manager or an installer are removed by that program; only the portable archive has a script of ours for that.
"""

import contextlib
import importlib.metadata
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tooltray.foundation.installs.installation import ARCHIVE, CHECKOUT, WHEEL, Installation
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.programs import is_frozen

ROOT = Path(__file__).absolute().parents[4]  # of a checkout
LICENCES = "LICENCES.txt"
_UPDATE: Mapping[str, str] = {
    "deb": Phrase("Install the newer package: {command}", command="sudo apt install ./tooltray_VERSION_amd64.deb"),
    ARCHIVE: Phrase("Unpack the newer archive and run its {script}", script="install.sh"),
    CHECKOUT: Phrase("Run: {command}", command="git pull && make run"),
    "windows-setup": Phrase("Run the newer installer"),
    "windows-portable": Phrase("Unpack the newer archive over this folder"),
    "macos-app": Phrase("Drag the newer Tooltray into Applications"),
}
_REMOVE: Mapping[str, str] = {
    "deb": Phrase("Run: {command}", command="sudo apt purge tooltray"),
    "windows-setup": Phrase("Uninstall Tooltray in the Settings of Windows, below Apps"),
    "macos-app": Phrase("Move Tooltray from Applications to the Trash"),
}
# by the file that the tool leaves in the environment; the last one is for any
_OF_TOOLS = {
    "uv-receipt.toml": ("uv tool install --force tooltray-VERSION-py3-none-any.whl", "uv tool uninstall tooltray"),
    "pipx_metadata.json": ("pipx install --force tooltray-VERSION-py3-none-any.whl", "pipx uninstall tooltray"),
    "": ("pip install --upgrade tooltray-VERSION-py3-none-any.whl", "pip uninstall tooltray"),
}


def how_to_update(installation: Installation) -> str:
    if installation.kind == WHEEL:
        return Phrase("Run: {command}", command=_of_tool()[0])
    return _UPDATE[installation.kind]


def how_to_remove(installation: Installation) -> str:
    if installation.kind == WHEEL:
        return Phrase("Run: {command}", command=_of_tool()[1])
    folder = ROOT if installation.kind == CHECKOUT else Path(sys.executable).parent
    return _REMOVE.get(installation.kind) or Phrase("Delete the folder {folder}", folder=str(folder))


def uninstaller(installation: Installation) -> Path | None:
    """Returns the script that removes this program; None if it has none, as for an archive that was unpacked and not installed."""
    script = Path(sys.executable).parents[1] / "install.sh"
    is_installed = installation.kind == ARCHIVE and (script.parent / "current").is_symlink()
    return script if is_installed and script.is_file() else None


def licence_text() -> str:
    """Returns the licences of Tooltray and of everything shipped with it. If no others are shipped, returns Tooltray's own, and
    where the others are.
    """
    if is_frozen():
        return _first_text(_shipped_licences())
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
    yield ROOT / "LICENSE"
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        files = importlib.metadata.files("tooltray") or []
        yield from (Path(str(file.locate())) for file in files if file.name == "LICENSE")


def _of_tool() -> tuple[str, str]:
    prefix = Path(sys.prefix)
    return next(commands for name, commands in _OF_TOOLS.items() if not name or (prefix / name).is_file())
