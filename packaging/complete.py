"""Looks for what the freezer has forgotten: `python packaging/complete.py FOLDER`, with the folder of the frozen programs, on any system.

The program itself imports every module of ours and what they import, also late, and reads every resource: its self-test does. The bridge
and the launcher have none: their archives are looked into.
"""

import ast
import hashlib
import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
DESKTOP, RESOURCES = ROOT / "desktop", ROOT / "resources"
OF_SYSTEMS = {"linux": "_linux", "darwin": "_macos", "win32": "_windows"}
NOT_FROZEN = {"copilot", "tooltray.records.telemetry.otlp_sender"}  # of the extras that only a Python package can have
LINUX_ONLY = {"PySide6.QtDBus", "tooltray_confine", "tooltray_watch"}
WINE = {"WINEPREFIX": str(ROOT / ".cache" / "windows" / "prefix"), "WINEDEBUG": "-all"}  # as in scripts/windows_python.sh
MOST_SHOWN = 2_000  # characters of what a failed program has written
FOR_ALL = "tooltray.ui.feedback.feedback_windows"  # windows of ours


class Failed(Exception):
    """What a package should do and does not."""


def check(folder: Path, platform: str = sys.platform) -> None:
    """Checks the frozen programs in a folder.

    Raises:
        Failed: something is missing or broken, or tokens are not counted.
    """
    compare(json.loads(run_frozen(folder, "tooltray.app.self_test", "\n".join(modules_to_import(platform=platform)))))
    packages = {"tooltray-bridge": "tooltray_bridge", **({"tooltray-confine": "tooltray_confine"} if platform == "linux" else {})}
    for name, package in packages.items():
        if missing := missing_in(program(folder, name), modules_to_import(package, platform=platform)):
            raise Failed(f"not in {name}: {missing}")
    if (counted := run_frozen(folder, "tooltray.catalogue.token_counts", '["hello world"]')) != "[2]":
        raise Failed(f"tokens of 'hello world': {counted}")


def compare(found: Mapping[str, Mapping[str, str]]) -> None:
    """Compares what the program's self-test has written with the checkout.

    Raises:
        Failed: a module cannot be imported, or a resource is missing or another one.
    """
    files = (path for path in RESOURCES.rglob("*") if path.is_file())
    wanted = {path.relative_to(RESOURCES).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    if wrong := [*found["failed"].items(), *(wanted.items() - found["resources"].items())]:
        raise Failed(f"not in the program, or broken there: {wrong}")


def program(folder: Path, name: str) -> Path:
    """Returns the path of a program, which has an ending on Windows."""
    plain = folder / name
    return plain if plain.exists() else plain.with_suffix(".exe")


def run_frozen(folder: Path, module: str, given: str) -> str:
    start = program(folder, "tooltray")
    is_for_wine = start.suffix == ".exe" and sys.platform != "win32"
    command = [*(["wine"] if is_for_wine else []), start, "run-module", module]
    environ = {**os.environ, **(WINE if is_for_wine else {})}
    done = subprocess.run(command, input=given, capture_output=True, text=True, env=environ, check=False)  # Wine 8 takes no regular file
    if done.returncode:
        raise Failed(f"{module} ended with {done.returncode}: {done.stderr[-MOST_SHOWN:]}")
    return done.stdout


def missing_in(frozen: Path, modules: Iterable[str]) -> list[str]:
    """Returns the modules that a frozen program has neither in its own archive nor in its interpreter nor beside it."""
    content = frozen.read_bytes()
    files = [*(frozen.parents[1] if frozen.parent.name == "MacOS" else frozen.parent).rglob("*")]
    with zipfile.ZipFile(next(file for file in files if file.name == "base_library.zip")) as library:
        beside = {name.rpartition(".")[0].removesuffix("/__init__").replace("/", ".") for name in library.namelist()}
    beside |= {file.name.partition(".")[0] for file in files if file.suffix in (".so", ".pyd")} | {*sys.builtin_module_names}
    return [name for name in modules if name not in beside and not any(each in content for each in in_archive(name.encode()))]


def in_archive(name: bytes) -> tuple[bytes, bytes]:
    """Returns how PyInstaller's two tables of contents have a module: marshalled behind its length; behind its type, with a zero byte."""
    return bytes([len(name)]) + name, b"m" + name + b"\0"


def modules_to_import(*packages: str, platform: str = sys.platform) -> list[str]:
    """Returns the modules of packages of ours, and those that they import anywhere, also late, in functions.

    Args:
        packages: those of the app if there are none.
        platform: for which system, as `sys.platform` names it.
    """
    packages = packages or ("tooltray", *(("tooltray_watch",) if platform == "linux" else ()))
    files = [path for name in packages for path in sorted(DESKTOP.glob(f"{name}/**/*.py")) if not is_for_others(path, platform)]
    found = {module_of(file) for file in files if file.name != "__main__.py"}
    others = set[str]().union(*(imported_by(file, platform) for file in files))
    if platform != "linux":  # what only some systems have is also imported in functions that are not called on others
        rest = {*sys.stdlib_module_names, *LINUX_ONLY}
        others = {name for name in others - LINUX_ONLY if name.partition(".")[0] not in rest and not name.startswith("_")}
    return sorted((found | others) - NOT_FROZEN)


def module_of(file: Path) -> str:
    return ".".join(file.relative_to(DESKTOP).with_suffix("").parts).removesuffix(".__init__")


def is_for_others(file: Path, platform: str) -> bool:
    """Whether a module is for another system, or one that a frozen app does not have."""
    others = tuple(ending for name, ending in OF_SYSTEMS.items() if name != platform) + (("_posix",) if platform == "win32" else ())
    is_theirs = file.stem.endswith(others) or ("win32" in file.parts and platform != "win32")
    return (is_theirs and module_of(file) != FOR_ALL) or module_of(file) in NOT_FROZEN


def imported_by(file: Path, platform: str) -> set[str]:
    """Returns the modules that a file imports on a system, wherever in it; not those of blocks for other systems or type checkers."""
    found = set[str]()
    ahead: list[ast.AST] = [ast.parse(file.read_text("utf-8"))]
    while ahead:
        node = ahead.pop()
        if isinstance(node, ast.Import):
            found.update(each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
        elif isinstance(node, ast.If) and (branch := branch_taken(ast.unparse(node.test), platform)) is not None:
            ahead.extend(node.body if branch else node.orelse)
        else:
            ahead.extend(ast.iter_child_nodes(node))
    return found


def branch_taken(test: str, platform: str) -> bool | None:
    """Returns whether a system takes the first branch of an `if`; None if the test is about something else."""
    if test == "TYPE_CHECKING":
        return False
    asked = re.fullmatch(r"sys\.platform (==|!=) '(\w+)'", test)
    return (asked[2] == platform) == (asked[1] == "==") if asked else None


def main() -> int:
    try:
        check(Path(sys.argv[1]))
    except Failed as failure:
        sys.stderr.write(f"FAILED: {failure}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
