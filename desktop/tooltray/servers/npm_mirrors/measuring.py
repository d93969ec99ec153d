"""Measures npm registries, several at once: chooses the packages to request, judges the registries by all answers together, and keeps the
results over restarts. A quick answer does not prove a good registry: it may lack packages, or have old copies. `probe` is imported in a
thread at the first measurement, so that a hub without servers from npm does not load the HTTP library.
"""

import asyncio
import importlib
import logging
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.files.atomic_file import write_atomically
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.regular_file import open_regular
from tooltray.foundation.snapshots.hub import RegistryMeasurement
from tooltray.servers.launch.command_lookup import program_name
from tooltray.servers.launch.npm_config import NPM, Answer, NpmConfiguration, ReadConfiguration, Registry, read_configuration

logger = logging.getLogger(__name__)

NODE_COMMANDS = frozenset({"npx", "npm", "pnpm", "pnpx", "yarn", "bun", "bunx"})
PYTHON_COMMANDS = frozenset({"uvx", "uv", "pip", "pip3", "pipx"})
SDK = "@modelcontextprotocol/sdk"  # almost every server on Node.js needs it, so each useful registry has it
MAX_OWN_PACKAGES = 3  # enough to notice a mirror that lacks what this user needs; each is one more request to each registry

_RUNNERS = frozenset({"npx", "pnpx", "bunx"})
_SWITCHES = frozenset({"-y", "--yes", "-q", "--quiet", "--silent", "--bun", "--prefer-offline", "--prefer-online", "--offline"})
# a name and perhaps a version; not a path or an address
_SPEC = lazy_pattern(r"((?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*)(?:@[^/:]*)?")
MAX_FILE_BYTES = 2**20  # a round of ten registries has 2 kB
NO_TIME_LATER_S = 2.0**35  # a thousand years from now: a date outside the calendar cannot be shown


def is_downloaded(config: MCPServerConfig) -> bool:
    """Reports whether a server's command downloads packages."""
    return config.transport == "stdio" and program_name(config.command or "") in NODE_COMMANDS | PYTHON_COMMANDS


def is_python(config: MCPServerConfig) -> bool:
    """Reports whether a server's command downloads packages from an index for Python."""
    return config.transport == "stdio" and program_name(config.command or "") in PYTHON_COMMANDS


def package_of(config: MCPServerConfig) -> str:
    """Returns the npm package from which a server is started, without its version; empty if the arguments do not clearly show it."""
    if program_name(config.command or "") not in _RUNNERS:
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
        servers: of the settings, without the disabled ones.
        scopes_elsewhere: scopes (`@company`) with registries of their own; the names of their packages are sent to no other registry.
        may_name_own: whether registries may see the names of the user's packages; False if the user chose their registry, since it may have
            packages whose names must stay private.
    """
    names = dict.fromkeys(package_of(config) for config in servers if not config.disable) if may_name_own else {}
    own = [name for name in names if name not in ("", SDK) and name.partition("/")[0] not in scopes_elsewhere]
    return (SDK, *own[:MAX_OWN_PACKAGES])


def _name_in(spec: str) -> str:
    found = _SPEC.fullmatch(spec)
    return found[1] if found and not spec.startswith(".") else ""


_VERSION = lazy_pattern(r"v?(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+.*)?")


def judged(answers: Iterable[Answer], *, packages: Sequence[str]) -> list[Answer]:
    """Returns the answers, each with its problem, if any: usable ones first, fastest first.

    Args:
        packages: the requested packages.
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


class Measured(msgspec.Struct, frozen=True):
    """One round of measuring.

    Attributes:
        at: unix seconds.
        measurements: usable registries first, fastest first.
        candidates: the addresses to choose from besides npm's own; if they change, all are measured again.
        python: the addresses of registries whose index for Python packages answers, too.
        may_be_mirror: whether a mirror may be chosen automatically; False if the user has chosen a registry in npm's own configuration.
    """

    at: float
    measurements: tuple[RegistryMeasurement, ...]
    candidates: tuple[str, ...] = ()
    python: tuple[str, ...] = ()
    may_be_mirror: bool = True

    @property
    def is_success(self) -> bool:
        """Reports whether any registry can be used."""
        return any(not each.problem for each in self.measurements)


class RegistryCache:
    """The file of measurements.

    Attributes:
        known: the measurements of an earlier hub; None if they cannot be read.
    """

    def __init__(self, path: Path) -> None:
        """Reads the file."""
        self._path = path
        self.known: Measured | None = None
        try:
            self.known = _read(path)
        except FileNotFoundError:
            pass
        except (OSError, ValueError, RecursionError) as error:
            logger.info("the saved measurements of npm registries cannot be read; they are repeated: %s", error)

    def save(self, measured: Measured) -> None:
        """Stores the registries that answered. Not for the loop's thread. A file that cannot be written costs a measurement at the next
        start."""
        answered = tuple(each for each in measured.measurements if each.milliseconds is not None)
        try:
            write_atomically(self._path, msgspec.json.encode(replace(measured, measurements=answered)))
        except OSError as error:
            logger.info("the measurements of npm registries could not be saved: %s", error)

    def forget(self) -> None:
        """Deletes the file. Not for the loop's thread."""
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            logger.info("the measurements of npm registries could not be deleted: %s", error)


def _read(path: Path) -> Measured:
    with open(path, "rb", opener=open_regular) as file:
        measured = msgspec.json.decode(file.read(MAX_FILE_BYTES), type=Measured)
    if not 0 <= measured.at < NO_TIME_LATER_S:
        raise ValueError("it has no time of measurement")
    return measured


async def measure_registries(
    registries: Sequence[Registry],
    packages: tuple[str, ...],
    *,
    environ: Mapping[str, str],
    configuration: NpmConfiguration,
    with_python: bool,
) -> list[Answer]:
    """Measures all registries at the same time, each within ten seconds. Never fails: errors are in the answers.

    Args:
        packages: requested from each registry.
        environ: the user's login-shell environment, for proxies and certificate authorities.
        configuration: how npm signs in to each.
        with_python: whether the registries' indexes for Python packages are measured as well.
    """
    for module in ("tooltray.servers.npm_mirrors.probe", "tooltray.servers.transports.http.certificate_trust"):
        await asyncio.to_thread(importlib.import_module, module)
    from tooltray.servers.npm_mirrors.probe import RegistryProbe
    from tooltray.servers.transports.http.certificate_trust import tls_context

    trust = await asyncio.to_thread(tls_context, environ)
    async with RegistryProbe(environ=environ, trust=trust) as probe:
        asked = (
            probe.ask(each, packages, authorization=configuration.authorization(each.url), with_python=with_python) for each in registries
        )
        return list(await asyncio.gather(*asked))


class RegistrySources(msgspec.Struct, frozen=True, kw_only=True):
    """The inputs of NpmRegistries.

    Attributes:
        environ: returns the user's login-shell environment.
        folder: where npm is run for its configuration; the user's own.
        mirrors: those that come with Tooltray.
        measure, read: measure registries, and read npm's configuration.
    """

    environ: Callable[[], Awaitable[Mapping[str, str]]]
    folder: str
    mirrors: tuple[Registry, ...]
    measure: Callable[..., Awaitable[list[Answer]]] = measure_registries
    read: ReadConfiguration = read_configuration

    async def configuration(self) -> NpmConfiguration:
        """Returns how npm is configured for the user."""
        return await self.read(await self.environ(), self.folder)
