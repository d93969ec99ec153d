"""Decides which packages are requested from registries, and which registries can be used, judged by all answers together. A registry that
answers quickly is not yet a good one: it may lack packages that others have, or have old copies."""

import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import PurePosixPath, PureWindowsPath

from msgspec.structs import replace

from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.snapshots.registries import RegistryMeasurement
from tooltray.servers.launch.npm_registry import NPM, Answer

NODE_COMMANDS = frozenset({"npx", "npm", "pnpm", "pnpx", "yarn", "bun", "bunx"})
PYTHON_COMMANDS = frozenset({"uvx", "uv", "pip", "pip3", "pipx"})
SDK = "@modelcontextprotocol/sdk"  # what almost every server on Node.js needs, so each useful registry has it
MAX_OWN_PACKAGES = 3  # enough to notice a mirror that lacks what this user needs; each is one more request to each registry

_ENDINGS = (".exe", ".cmd", ".bat", ".ps1")  # of Windows
_RUNNERS = frozenset({"npx", "pnpx", "bunx"})
_SWITCHES = frozenset({"-y", "--yes", "-q", "--quiet", "--silent", "--bun", "--prefer-offline", "--prefer-online", "--offline"})
# a name and perhaps a version; not a path or an address
_SPEC = re.compile(r"((?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*)(?:@[^/:]*)?")


def command_name(command: str) -> str:
    """Returns the bare name of a command: without its folder, and without the ending that Windows requires."""
    name = PureWindowsPath(PurePosixPath(command).name).name
    stem, ending = name[:-4], name[-4:].lower()
    return stem if ending in _ENDINGS else name


def is_downloaded(config: MCPServerConfig) -> bool:
    """Reports whether a server's command downloads packages."""
    return config.transport == "stdio" and command_name(config.command or "") in NODE_COMMANDS | PYTHON_COMMANDS


def is_python(config: MCPServerConfig) -> bool:
    """Reports whether a server's command downloads packages from an index for Python."""
    return config.transport == "stdio" and command_name(config.command or "") in PYTHON_COMMANDS


def package_of(config: MCPServerConfig) -> str:
    """Returns the npm package that a server is started from, without its version; empty if the arguments do not show it plainly."""
    if command_name(config.command or "") not in _RUNNERS:
        return ""
    words = iter(config.arguments)
    for word in words:
        name, mark, value = word.partition("=")
        if name in ("-p", "--package"):
            return _name_in(value if mark else next(words, ""))
        if not word.startswith("-"):
            return _name_in(word)
        if word not in _SWITCHES and not mark:
            return ""  # the next word may be this option's value
    return ""


def probed_packages(servers: Iterable[MCPServerConfig], *, scopes_elsewhere: Collection[str], may_name_own: bool) -> tuple[str, ...]:
    """Returns the packages that are requested from registries.

    Args:
        servers: the enabled servers of the settings.
        scopes_elsewhere: npm gets the packages of these scopes (`@company`) from their own registries; their names are sent to no other.
        may_name_own: whether the user's packages may be named; not where they come from a registry that the user chose, which may
            have packages whose names must stay private.
    """
    names = dict.fromkeys(package_of(config) for config in servers if not config.disable) if may_name_own else {}
    own = [name for name in names if name not in ("", SDK) and name.partition("/")[0] not in scopes_elsewhere]
    return (SDK, *own[:MAX_OWN_PACKAGES])


def _name_in(spec: str) -> str:
    found = _SPEC.fullmatch(spec)
    return found[1] if found and not spec.startswith(".") else ""


_VERSION = re.compile(r"v?(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+.*)?")


def judged(answers: Iterable[Answer], *, packages: Sequence[str]) -> list[Answer]:
    """Returns the answers with what is wrong with them: those that can be used first, fastest first.

    Args:
        packages: what was requested.
    """
    every = list(answers)
    existing = {package for answer in every for package in answer.latest}  # a package that no registry has is mistyped
    checked = [_with_missing(answer, packages, existing) for answer in every]
    reference = next((answer for answer in checked if answer.registry.origin == NPM and not answer.problem), None)
    checked = [_with_age(answer, reference) for answer in checked]
    return sorted(checked, key=lambda answer: (bool(answer.problem), answer.milliseconds is None, answer.milliseconds or 0.0))


def measurement(answer: Answer) -> RegistryMeasurement:
    """Returns the answer in the form that users see."""
    registry = answer.registry
    return RegistryMeasurement(registry.shown, registry.name, registry.origin, registry.region, answer.milliseconds, answer.problem)


def is_older(version: str, than: str) -> bool:
    """Reports whether one version comes before another; false where either is not a version."""
    ours, theirs = _VERSION.fullmatch(version), _VERSION.fullmatch(than)
    return bool(ours and theirs) and _rank(ours) < _rank(theirs)


def _with_missing(answer: Answer, packages: Sequence[str], existing: set[str]) -> Answer:
    missing = [package for package in packages if package not in answer.latest and (package in existing or not answer.latest)]
    return _refused(answer, f"it does not have {missing[0]}") if missing else answer


def _with_age(answer: Answer, reference: Answer | None) -> Answer:
    if reference is None or answer is reference:
        return answer
    for package, version in answer.latest.items():
        if is_older(version, newest := reference.latest.get(package, "")):
            return _refused(answer, f"its copy of {package} is old: {version}, and npm has {newest}")
    return answer


def _refused(answer: Answer, problem: str) -> Answer:
    return answer if answer.problem else replace(answer, problem=problem)


def _rank(found: "re.Match[str] | None") -> tuple[object, ...]:
    assert found
    numbers = tuple(int(number) for number in found.groups()[:3])
    parts = found[4].split(".") if found[4] else []
    return numbers, not parts, [(not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]
