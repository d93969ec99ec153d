"""Reads npm's own configuration: its registry and who chose it, the scopes with other registries, how npm signs in, and the folder of its
logs. No registry's host is named here: mirrors are data. The log of a start is shown, since npx prints nothing while it downloads.

npm's own order counts: the environment (`npm_config_...`, in any case), the user's npmrc, the machine's, then npm's built-in defaults. The
first two are read here; npm is run only if neither names a registry, which takes as long as a start of Node.js.
"""

import base64
import binascii
import json
import logging
import os
import re
import subprocess
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import ClassVar
from urllib.parse import SplitResult, unquote, urlsplit

import msgspec

from tooltray.config.settings.server_config import shown_url
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.tasks import finish_in_thread
from tooltray.servers.launch.command_lookup import look_up, program_name
from tooltray.servers.launch.process_family import START_OPTIONS, ProcessFamily, command_line
from tooltray.servers.launch.program_launch import ScriptLine

NPM, MIRROR, SETTINGS, CUSTOM = "npm", "mirror", "settings", "custom"
"""How a registry became known: `origin` in RegistryMeasurement."""

MAX_URL_LENGTH = 2000
_CORRECT_IT = Phrase("It looks like this: https://registry.example.com/")
logger = logging.getLogger(__name__)

NPM_TIMEOUT_S = 5.0  # a start of Node.js takes 0.15 s, on a busy machine 2 s
MAX_FILE_BYTES = 2**20
REGISTRY_VARIABLE = "npm_config_registry"
_QUIET = {"npm_config_update_notifier": "false"}  # otherwise npm asks its registry for a newer npm
_PLACEHOLDER = lazy_pattern(r"\$\{([^${}?]+)(\?)?\}")
_FETCH = lazy_pattern(
    r"npm http \w+ (?:[A-Z]+ )?(?:\d+ )?(?:\S+@)?https?://(?:[^@/\s]*@)?(?P<host>[^/\s]+)/(?P<path>\S*)"
    r"(?: attempt (?P<attempt>\d+) failed with (?P<error>\S+))?"
)
_OUTPUT = lazy_pattern(r"^(registry|globalconfig)\s*=\s*(.+)$", re.MULTILINE)


def progress_variables(command: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the variable by which npm prints what it fetches and what it tries again, which it does not without it; empty for other
    programs, and where the user has chosen how much npm prints.
    """
    has_chosen = any(name.lower() == "npm_config_loglevel" for name in environ)
    return {} if has_chosen or program_name(command) not in ("npm", "npx") else {"npm_config_loglevel": "http"}


def is_fetch(line: bytes | bytearray) -> bool:
    """Reports whether a line of stderr is npm's, about something that it fetches."""
    return line.startswith(b"npm http ")


def fetch_in_words(line: str) -> str:
    """Returns a sentence for a line about a fetch; empty for any other line."""
    found = _FETCH.match(line)
    if found is None:
        return ""
    if found["attempt"]:
        return Phrase(
            "npm cannot reach {host} ({error}), attempt {attempt}", host=found["host"], error=found["error"], attempt=found["attempt"]
        )
    return Phrase("Fetched {package}", package=unquote(found["path"]).rpartition("/-/")[2].removesuffix(".tgz"))


class Registry(HidesFields, frozen=True):
    """One registry.

    Attributes:
        url: as `normalised` gives it; it may have a user name and a password in it.
        origin: see above.
        region: where its servers are, in words.
        pypi: the index for Python packages that the same operator runs; empty if it runs no index.
    """

    hidden: ClassVar = ("url",)

    url: str
    name: str
    origin: str
    region: str = ""
    pypi: str = ""

    @property
    def shown(self) -> str:
        """Returns the address as it may be shown, by which a registry is also recognised."""
        return shown_url(self.url)


class Answer(msgspec.Struct, frozen=True):
    """A registry's answer to the request for some packages.

    Attributes:
        milliseconds: the time until its last answer was complete; None: it has not answered for all packages.
        problem: why it cannot be used.
        latest: the newest version of each package that it has, by the package's name.
        has_python: whether its index for Python packages answers, too.
    """

    registry: Registry
    milliseconds: float | None = None
    problem: str = ""
    latest: Mapping[str, str] = msgspec.field(default_factory=dict)
    has_python: bool = False


class _Mirror(msgspec.Struct):
    name: str
    url: str
    region: str = ""
    pypi: str = ""


class _Mirrors(msgspec.Struct):
    registries: list[_Mirror]


def normalised(url: str) -> str:
    """Returns an address in the one spelling by which it is compared, stored and passed on: no space around it, a slash at its end.

    Raises:
        TooltrayError: it is not the address of a registry; gives the reason, and repeats nothing that may be a password.
    """
    text = url.strip()
    parts = _split(text)
    if not text.isprintable() or " " in text or len(text) > MAX_URL_LENGTH or parts is None:
        raise TooltrayError(
            Phrase("this is not the address of an npm registry"), Phrase("it has to begin with https:// or http:// and a host"), _CORRECT_IT
        )
    if parts.query or parts.fragment:
        raise TooltrayError(Phrase("this is not the address of an npm registry"), Phrase("it has a '?' or '#' in it"), _CORRECT_IT)
    user, at, host = parts.netloc.rpartition("@")
    return f"{parts.scheme}://{user}{at}{host.lower()}{parts.path.rstrip('/')}/"


def has_password(url: str) -> bool:
    return shown_url(url) != url


def host_of(url: str) -> str:
    """Returns host and port."""
    return urlsplit(url).netloc.rpartition("@")[2]


def read_mirrors(path: Path) -> tuple[Registry, ...]:
    """Returns the mirrors that come with Tooltray.

    Raises:
        OSError, ValueError: the installation is broken.
    """
    mirrors = msgspec.json.decode(path.read_bytes(), type=_Mirrors).registries
    return tuple(Registry(normalised(each.url), each.name, MIRROR, each.region, each.pypi) for each in mirrors)


def _split(text: str) -> SplitResult | None:
    try:
        parts = urlsplit(text)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is not a number, half of an IPv6 address
        return None
    return parts if is_usable else None


class NpmConfiguration(HidesFields, frozen=True):
    """The parts of npm's configuration that decide where packages come from.

    Attributes:
        registry: as `normalised` gives it; empty if it is named nowhere.
        is_chosen: the user, or the administrator of the computer, has chosen it; it is not npm's default.
        scopes_elsewhere: `@company` for each scope that has a registry of its own.
        entries: of npmrc for single registries, such as `//host/path/:_authToken`.
    """

    hidden: ClassVar = ("registry", "entries")

    registry: str = ""
    is_chosen: bool = False
    scopes_elsewhere: frozenset[str] = frozenset()
    entries: Mapping[str, str] = msgspec.field(default_factory=dict)

    def authorization(self, url: str) -> str:
        """Returns the header with which npm signs in to a registry; empty if it does not sign in."""
        place = f"//{host_of(url)}/{url.split('/', 3)[3]}"
        while len(place) > len("//"):
            if header := self._authorization_for(place):
                return header
            place = re.sub(r"(?:[^/]+|/)$", "", place)  # npm looks with and without the slash, from the longest path to the bare host
        return ""

    def _authorization_for(self, place: str) -> str:
        entries = self.entries
        if token := entries.get(f"{place}:_authToken"):
            return f"Bearer {token}"
        if basic := entries.get(f"{place}:_auth"):
            return f"Basic {basic}"
        user, password = entries.get(f"{place}:username"), _decoded(entries.get(f"{place}:_password", ""))
        return f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}" if user and password else ""


ReadConfiguration = Callable[[Mapping[str, str], str], Awaitable[NpmConfiguration]]


async def read_configuration(environ: Mapping[str, str], folder: str, *, timeout_s: float = NPM_TIMEOUT_S) -> NpmConfiguration:
    """Reads npm's configuration in a thread.

    Args:
        environ: the user's login-shell environment.
        folder: where npm is run; the user's own.
        timeout_s: seconds that npm may take.
    """
    return await finish_in_thread(_read, environ, folder, timeout_s)


def own_registry(environ: Mapping[str, str]) -> str:
    """Returns the registry that the user's environment or npmrc names, normalised; empty if neither does. Reads a file."""
    named = variable(environ, "registry") or _entries(_user_file(environ), environ).get("registry", "")
    return _normalised_or_none(named)


def logs_folder(environ: Mapping[str, str]) -> str:
    """Returns where npm keeps a log of each of its runs, as an absolute path; empty if that is not certain. Reads a file."""
    entries = _entries(_user_file(environ), environ)
    logs = variable(environ, "logs_dir") or entries.get("logs-dir", "")
    cache = variable(environ, "cache") or entries.get("cache", "") or _default_cache(environ)
    folder = logs or (os.path.join(cache, "_logs") if cache else "")
    if folder.startswith("~/"):
        folder = os.path.join(environ.get("HOME", ""), folder.removeprefix("~/"))
    return folder if os.path.isabs(folder) else ""


def _default_cache(environ: Mapping[str, str]) -> str:
    if local := environ.get("LOCALAPPDATA"):  # Windows
        return os.path.join(local, "npm-cache")
    return os.path.join(environ["HOME"], ".npm") if environ.get("HOME") else ""


def variable(environ: Mapping[str, str], option: str) -> str:
    """Returns an option of npm in an environment, in any spelling that npm understands."""
    wanted = f"npm_config_{option}"
    return next((value for name, value in environ.items() if name.lower() == wanted and value), "")


def _read(environ: Mapping[str, str], folder: str, timeout_s: float) -> NpmConfiguration:
    entries = _entries(_user_file(environ), environ)
    registry, is_chosen = own_registry(environ), True
    if not registry:
        said = _asked_npm(environ, folder, timeout_s)
        machine = _entries(Path(said["globalconfig"]), environ) if "globalconfig" in said else {}
        registry, is_chosen = _normalised_or_none(said.get("registry", "")), bool(machine.get("registry"))
        entries = {**machine, **entries}
    scopes = frozenset(key.removesuffix(":registry") for key in entries if key.startswith("@") and key.endswith(":registry"))
    return NpmConfiguration(registry, is_chosen, scopes, {key: value for key, value in entries.items() if key.startswith("//")})


def _user_file(environ: Mapping[str, str]) -> Path:
    return Path(variable(environ, "userconfig") or os.path.join(environ.get("HOME") or environ.get("USERPROFILE") or os.sep, ".npmrc"))


def read_npmrc(path: Path) -> dict[str, str]:
    """Returns the settings of one file as they are written, an option without a value as an empty one; empty if it cannot be read."""
    try:
        with path.open("rb") as file:
            text = file.read(MAX_FILE_BYTES).decode(errors="replace")
    except OSError:
        return {}
    lines = (line.strip() for line in text.splitlines())
    pairs = (line.partition("=") for line in lines if line and not line.startswith((";", "#", "[")))
    return {_unquoted(key.strip()).removesuffix("[]"): _unquoted(value.strip()) for key, _, value in pairs}


def _entries(path: Path, environ: Mapping[str, str]) -> dict[str, str]:
    return {key: _filled(value, environ) for key, value in read_npmrc(path).items()}


def _unquoted(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1]
    if text.startswith('"'):
        with suppress(ValueError):
            return str(json.loads(text))
    return text


def _filled(text: str, environ: Mapping[str, str]) -> str:
    """Fills in `${VAR}` as npm does: an unset variable stays as it is written, unless it is written `${VAR?}`."""
    return _PLACEHOLDER.sub(lambda found: environ.get(found[1], "" if found[2] else found[0]), text)


def _normalised_or_none(url: str) -> str:
    try:
        return normalised(url) if url else ""
    except TooltrayError:
        logger.info("a registry in npm's configuration is not a URL")  # the value is not logged, since it may contain a password
        return ""


def _decoded(password: str) -> str | None:
    try:
        return base64.b64decode(password, validate=True).decode()
    except (binascii.Error, ValueError):
        return None


def _asked_npm(environ: Mapping[str, str], folder: str, timeout_s: float) -> dict[str, str]:
    npm = look_up("npm", env=environ, cwd=folder).resolved
    if not npm:
        return {}
    try:
        output = _output_of([npm, "config", "get", "registry", "globalconfig"], environ, folder, timeout_s)
    except (OSError, subprocess.TimeoutExpired) as error:
        logger.info("the registry that npm uses is unknown: %s", type(error).__name__)
        return {}
    return {name: value.strip() for name, value in _OUTPUT.findall(output)}


def _output_of(command: list[str], environ: Mapping[str, str], folder: str, timeout_s: float) -> str:
    line = command_line(command[0], command[1:])
    is_script = isinstance(line[0], ScriptLine)
    process = subprocess.Popen(
        line[0] if is_script else line,
        shell=is_script,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env={**environ, **_QUIET},
        **START_OPTIONS,
    )
    family = ProcessFamily(process.pid)
    try:
        output: bytes = process.communicate(timeout=timeout_s)[0]
        return output.decode(errors="replace")
    finally:
        _end(process, family)


def _end(process: "subprocess.Popen[bytes]", family: ProcessFamily) -> None:
    """Ends a process and all that it started. Its number is not reused before `wait`; a process that was already waited for has exited."""
    if process.returncode is None:
        family.kill()
    assert process.stdout
    process.stdout.close()
    process.wait()


SILENT_LAUNCHERS = frozenset({"npx", "npm"})
HEAD_BYTES = 4096  # npm writes the package within its first lines
TAIL_BYTES = 32 * 1024  # of a log; npm writes a few lines after the script that failed
_FAILED_SCRIPT = lazy_pattern(r"^\d+ info run (\S+) (\w+) \{ code: [1-9]", re.MULTILINE)
CLOCK_SLACK_S = 2.0  # some file systems keep whole seconds


def newest_log(command: str, args: Sequence[str], env: Mapping[str, str], *, since: float) -> str:
    """Returns the newest log of a launcher's run for the same package that began at `since` (unix seconds) or later; empty if none did."""
    package = next((arg for arg in args if not arg.startswith("-") and arg not in ("exec", "x", "run")), "")
    folder = logs_folder(env) if program_name(command) in SILENT_LAUNCHERS and package else ""
    if not folder:
        return ""
    try:
        with os.scandir(folder) as entries:
            found = [(entry.stat().st_mtime, entry.path) for entry in entries if entry.name.endswith(".log")]
    except OSError:
        return ""
    return next((path for at, path in sorted(found, reverse=True) if at >= since - CLOCK_SLACK_S and _is_about(path, package)), "")


def failed_script(log: str) -> str:
    """Returns the script that failed in an installation of npm, and its package, as in npm's log; empty if no script failed.

    `npx` does not print this: it exits with 1 as if the program itself had failed.
    """
    try:
        with open(log, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL_BYTES))
            found = _FAILED_SCRIPT.findall(file.read(TAIL_BYTES).decode(errors="replace"))
    except OSError:
        return ""
    return f"{found[-1][1]} of {found[-1][0]}" if found else ""


def _is_about(path: str, package: str) -> bool:
    try:
        with open(path, "rb") as log:
            return package.encode() in log.read(HEAD_BYTES)
    except OSError:
        return False
