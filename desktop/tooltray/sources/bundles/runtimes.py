"""Finds out whether a bundle can run on this computer: the system, and the programs and versions that it needs and does not contain.

Versions are ranges as manifests write them: `>=16.0.0`, `>=3.8,<4.0`, `^1.2`, `~1.2.3`, `18.x`, `1 - 2`, `a || b`. A range that is not
understood excludes nothing: a mistake in a range must not keep a user from a server.
"""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping

from msgspec.structs import replace

from tooltray.foundation.errors import Problem
from tooltray.foundation.phrases import Phrase
from tooltray.servers.launch.child_environment import child_environment
from tooltray.servers.launch.command_lookup import look_up, not_found, program_name
from tooltray.sources.bundles.bundle_command import BundleCommand, BundlePlace
from tooltray.sources.bundles.manifest import Manifest

_VERSION = re.compile(r"(\d+)(?:\.(\d+))?(?:\.(\d+))?")
_TERM = re.compile(r"(>=|<=|==|=|>|<|\^|~=|~|!=)?\s*v?(\d+|[xX*])(?:\.(\d+|[xX*]))?(?:\.(\d+|[xX*]))?[^\s,|]*")
_HYPHEN = re.compile(r"(\S+)\s+-\s+(\S+)")

Version = tuple[int, int, int]
VERSION_S = 10.0  # Node.js answers in 50 ms; a version manager that looks for its own files on a busy disk in seconds
_SYSTEMS = {"darwin": "macOS", "win32": "Windows", "linux": "Linux"}

AskVersion = Callable[[str, Mapping[str, str]], str]
"""What a program prints when asked for its version; empty: nothing."""


def version_in(text: str) -> Version | None:
    """Returns the first version in a program's output; None without a version."""
    found = _VERSION.search(text)
    return (int(found[1]), int(found[2] or 0), int(found[3] or 0)) if found else None


def fits(version: Version, wanted: str) -> bool:
    """Returns whether a version is in a range."""
    return any(_fits_all(version, part.strip()) for part in wanted.split("||"))


def _fits_all(version: Version, wanted: str) -> bool:
    terms = list(_TERM.finditer(_HYPHEN.sub(r">=\1 <=\2", wanted)))
    return all(_fits_one(version, term) for term in terms)


def _fits_one(version: Version, term: re.Match[str]) -> bool:
    given = [int(part) for part in term.groups()[1:] if part is not None and part.isdigit()]
    if not given:
        return True
    low = (*given, 0, 0)[:3]
    match term[1] or "=":
        case ">=":
            return version >= low
        case "<":
            return version < low
        case ">":
            return version >= _above(given, len(given))
        case "<=":
            return version < _above(given, len(given))
        case "!=":
            return not low <= version < _above(given, len(given))
        case "^":
            return low <= version < _above(given, next((at for at, part in enumerate(given, 1) if part), len(given)))
        case "~":
            return low <= version < _above(given, min(len(given), 2))
        case "~=":
            return low <= version < _above(given, max(len(given) - 1, 1))
    return low <= version < _above(given, len(given))


def _above(given: list[int], kept: int) -> Version:
    """Returns the first version that is higher in the first so many parts."""
    first, second, third = (*given[: kept - 1], given[kept - 1] + 1, 0, 0)[:3]
    return first, second, third


def ask_version(program: str, environ: Mapping[str, str]) -> str:
    """Runs a program with `--version`. Blocks for VERSION_S at most."""
    try:
        done = subprocess.run(
            [program, "--version"], env=environ, stdin=subprocess.DEVNULL, capture_output=True, timeout=VERSION_S, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return (done.stdout or done.stderr).decode(errors="replace")


def with_python(command: BundleCommand, environ: Mapping[str, str], folder: str) -> BundleCommand:
    """Returns the command with `python3` if it has `python` and only the former exists, as on most Linux systems."""
    if command.command != "python" or look_up("python", env=environ, cwd=folder).resolved:
        return command
    return replace(command, command="python3") if look_up("python3", env=environ, cwd=folder).resolved else command


def why_not_here(
    manifest: Manifest, place: BundlePlace, command: BundleCommand, environ: Mapping[str, str], ask: AskVersion = ask_version
) -> Iterator[Problem]:
    """Yields what keeps a bundle from running here. Blocks: it may ask a program for its version.

    Args:
        environ: the user's.
    """
    platforms = manifest.compatibility.platforms
    if platforms is not None and place.platform not in platforms:
        named = ", ".join(_SYSTEMS.get(each, each) for each in platforms)
        yield Problem(Phrase("This bundle is not for this system"), Phrase("it is for {systems}", systems=named))
        return
    if command.inside or not command.command.strip():
        return
    env = child_environment(environ, {}, command.env)
    lookup = look_up(command.command, env=env, cwd=sys.prefix)
    if not lookup.resolved:
        yield not_found(lookup).problem
        return
    runtime, wanted = _wanted(manifest, command.command)
    if not wanted:
        return
    version = version_in(ask(lookup.resolved, env))
    if version and not fits(version, wanted):
        title = Phrase("{runtime} is of another version than this bundle needs", runtime=runtime)
        shown = ".".join(map(str, version))
        yield Problem(
            title,
            Phrase("it needs {wanted}, and {path} is {version}", wanted=wanted, path=lookup.resolved, version=shown),
            Phrase("Install another {runtime}.", runtime=runtime),
        )


def _wanted(manifest: Manifest, command: str) -> tuple[str, str]:
    """Returns the runtime's name and the versions that are good. uv installs a Python on its own."""
    name, runtimes = program_name(command), manifest.compatibility.runtimes
    if name == "node":
        return "Node.js", runtimes.node
    return ("Python", runtimes.python) if name.startswith("python") else (name, "")
