"""Whether a bundle can run on this computer: its system, and the programs that it needs and does not bring along.

Above it: bundle_offers. Below it: command_lookup, and the programs themselves, which are asked for their version.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping

from msgspec.structs import replace

from tooltray.foundation.errors import Problem
from tooltray.foundation.phrases import Phrase
from tooltray.servers.launch.child_environment import child_environment
from tooltray.servers.launch.command_lookup import look_up, not_found, program_name
from tooltray.sources.bundles.bundle_start import BundleCommand, BundlePlace
from tooltray.sources.bundles.manifest import Manifest
from tooltray.sources.bundles.version_ranges import fits, version_in

VERSION_S = 10.0  # Node.js answers in 50 ms; a version manager that looks for its own files on a busy disk in seconds
_SYSTEMS = {"darwin": "macOS", "win32": "Windows", "linux": "Linux"}

AskVersion = Callable[[str, Mapping[str, str]], str]
"""What a program prints when asked for its version; empty: nothing."""


def ask_version(program: str, environ: Mapping[str, str]) -> str:
    """Blocks for VERSION_S at most."""
    try:
        done = subprocess.run(
            [program, "--version"], env=environ, stdin=subprocess.DEVNULL, capture_output=True, timeout=VERSION_S, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return (done.stdout or done.stderr).decode(errors="replace")


def with_python(command: BundleCommand, environ: Mapping[str, str], folder: str) -> BundleCommand:
    """The command with `python3` where a manifest says `python` and there is none of that name, as on most Linux systems."""
    if command.command != "python" or look_up("python", env=environ, cwd=folder).resolved:
        return command
    return replace(command, command="python3") if look_up("python3", env=environ, cwd=folder).resolved else command


def why_not_here(
    manifest: Manifest, place: BundlePlace, command: BundleCommand, environ: Mapping[str, str], ask: AskVersion = ask_version
) -> Iterator[Problem]:
    """What keeps a bundle from running here. Blocks: it may ask a program for its version.

    Args:
        environ: the person's.
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
    """The runtime's name and the versions that do. uv gets a Python by itself."""
    name, runtimes = program_name(command), manifest.compatibility.runtimes
    if name == "node":
        return "Node.js", runtimes.node
    return ("Python", runtimes.python) if name.startswith("python") else (name, "")
