"""Our own programs as commands and our data in `resources/`, in a checkout, an installed wheel and a frozen app; and the environment that
other programs get.

Standard library only. The bridge has its own copy of `tooltray_command` (tooltray_bridge/start.py), since it imports nothing of tooltray; a
contract test checks that both agree.
"""

import gc
import importlib
import os
import sys
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from pathlib import Path

RUN_MODULE = "run-module"
"""The first argument of a frozen `tooltray` that is to run one of MODULES: it has no interpreter that takes `-m`."""
MODULES = (
    "tooltray.app.self_test",
    "tooltray.catalogue.token_counts",
    "tooltray.cli.hubs",
    "tooltray.foundation.platform.win32.ctrl_break",
    "tooltray_watch.watching",
)
"""What may be run that way, each with `main() -> int`."""

CURRENT = "current"
"""The link beside the versions' folders, in the portable archive and the Debian package."""

PACKAGE = Path(__file__).resolve().parents[1]
IN_WHEEL = "_resources"  # pyproject.toml and pyinstaller.spec put the folder there, inside the package
_PACKAGES = Path(__file__).absolute().parents[2]
_BRIDGE, _WATCH, _LAUNCHER = (_PACKAGES / name / "__main__.py" for name in ("tooltray_bridge", "tooltray_watch", "tooltray_confine"))
_ORIGINAL = "_ORIG"
_SEARCH_PATHS = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FRAMEWORK_PATH", "LIBPATH")
# the bootloader's own, and what its run-time hooks set for Qt; only inside a frozen app
_OF_FREEZER = ("_MEIPASS2", "_PYI_APPLICATION_HOME_DIR", "_PYI_ARCHIVE_FILE", "_PYI_PARENT_PROCESS_LEVEL", "_PYI_SPLASH_IPC")
_OF_QT = ("QT_PLUGIN_PATH", "QT_QPA_PLATFORM_PLUGIN_PATH", "QML2_IMPORT_PATH", "QML_IMPORT_PATH", "QTWEBENGINEPROCESS_PATH")


@contextmanager
def importing() -> Iterator[None]:
    """Keeps the garbage collector away from the imports of the block, and what they made out of all its later passes.

    Modules stay until the process ends. Passes while they were imported took a sixth of a hub's start, and found nothing.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()


def is_frozen() -> bool:
    """Returns whether this program was made by PyInstaller."""
    return bool(getattr(sys, "frozen", False))


def tooltray_command(*arguments: str) -> list[str]:
    """Returns the command `tooltray` of this installation, which needs no shell and no PATH."""
    if is_frozen():
        return [lasting_path(_beside("tooltray")), *arguments]
    return [sys.executable, "-I", "-m", "tooltray", *arguments]


def desktop_command(*arguments: str) -> list[str]:
    """Returns the command that starts the desktop app at login. On Windows it is a program without a console, whose window would flash."""
    if sys.platform != "win32":
        return tooltray_command(*arguments)
    if is_frozen():
        return [_beside("tooltray-app"), *arguments]
    return [str(Path(sys.executable).with_name("pythonw.exe")), "-I", "-m", "tooltray", *arguments]


def bridge_command() -> list[str]:
    """Returns the command of this installation's bridge. Its interpreter reads no environment variables and no site-packages, which halves
    its start.
    """
    if is_frozen():
        return [lasting_path(_beside("tooltray-bridge"))]
    return [os.path.abspath(sys.executable), "-I", "-S", str(_BRIDGE)]


def watch_command(report: str = "", *command: str) -> list[str]:
    """Returns the command that runs a program under the tracer, which writes its actions into the file `report`; without a report the
    tracer only checks that it works here.

    Args:
        command: the program's absolute path, and its arguments.
    """
    arguments = (report, "--", *command) if report else ("--check",)
    if is_frozen():
        return [_beside("tooltray"), RUN_MODULE, "tooltray_watch.watching", *arguments]
    return [os.path.abspath(sys.executable), "-I", "-S", "-B", str(_WATCH), *arguments]


def launcher_command() -> list[str]:
    """Returns the command of the launcher of sandboxed servers. Its interpreter reads no environment variables and no site-packages."""
    if is_frozen():
        return [_beside("tooltray-confine")]
    return [os.path.abspath(sys.executable), "-I", "-S", str(_LAUNCHER)]


def launcher_folders() -> list[str]:
    """Returns the folders that the launcher needs to start: its own, and its interpreter's."""
    if is_frozen():
        return [os.path.dirname(_beside("tooltray-confine"))]
    return [sys.prefix, sys.base_prefix, str(_LAUNCHER.parent)]


def module_command(module: str, *arguments: str) -> list[str]:
    """Returns the command that runs one of MODULES as a program.

    Raises:
        ValueError: it is another module, which a frozen app could not run.
    """
    if module not in MODULES:
        raise ValueError(module)
    return [_beside("tooltray"), RUN_MODULE, module, *arguments] if is_frozen() else [sys.executable, "-I", "-m", module, *arguments]


def run_module(arguments: Sequence[str]) -> int:
    """Runs one of MODULES, for a frozen `tooltray` whose first argument is RUN_MODULE.

    Args:
        arguments: the module, and its own.

    Returns:
        The exit code; 2: it is another module.
    """
    module, *own = arguments or ("",)
    if module not in MODULES:
        return 2
    sys.argv[1:] = own
    code: int = importlib.import_module(module).main()
    return code


def environment_before_freezing(environ: Mapping[str, str]) -> dict[str, str]:
    """Returns an environment without the changes of the frozen program's bootloader and hooks.

    The bootloader puts its folder in front of the search path of libraries and keeps the old value under a name with `_ORIG`: a server or
    browser that were started with it would load our OpenSSL or Qt instead of the system's.
    """
    own = {*_OF_FREEZER, *_OF_QT, *_SEARCH_PATHS, *(name + _ORIGINAL for name in _SEARCH_PATHS)}
    before = {name: environ[name + _ORIGINAL] for name in _SEARCH_PATHS if environ.get(name + _ORIGINAL)}
    return {name: value for name, value in environ.items() if name not in own} | before


def restore_environment(environ: MutableMapping[str, str] = os.environ) -> None:
    """Removes the bootloader's changes from this process's own environment, so that the programs it starts get the system's; does nothing
    if not frozen.

    Its libraries are still found: the loader reads the search path once, when the process starts.
    """
    if not is_frozen():
        return
    before = environment_before_freezing(environ)
    for name in environ.keys() - before.keys():
        del environ[name]
    environ.update(before)


def lasting_path(program: str) -> str:
    """Returns a program's path that an update does not change, if versions have folders of their own; otherwise its own path.

    The link `current` beside those folders leads to the newest version; after a removal it leads nowhere.

    Args:
        program: the absolute path in this version's folder.
    """
    folder, name = os.path.split(program)
    current = os.path.join(os.path.dirname(folder), CURRENT)
    return os.path.join(current, name) if os.path.islink(current) else program


def _beside(program: str) -> str:
    frozen = Path(sys.executable)
    return str(frozen.with_name(program + frozen.suffix))


def resource(*parts: str) -> Path:
    """Returns the path of a file in `resources/`, e.g. `resource("themes", "tokens.json")`.

    Raises:
        FileNotFoundError: the folder is in none of the three places: the installation is broken.
    """
    return find_resources().joinpath(*parts)


def find_resources(package: Path = PACKAGE, frozen: str | None = getattr(sys, "_MEIPASS", None)) -> Path:
    """Returns the folder that holds the resources.

    Args:
        package: the folder of the package `tooltray`.
        frozen: where a frozen app has unpacked itself; None outside one.

    Raises:
        FileNotFoundError: it is in none of the three places.
    """
    places = [package / IN_WHEEL, package.parent.parent / "resources"]  # a wheel, a checkout
    if frozen is not None:
        places.insert(0, Path(frozen) / "tooltray" / IN_WHEEL)
    for place in places:
        if place.is_dir():
            return place
    raise FileNotFoundError(f"no resources in {', '.join(map(str, places))}")
