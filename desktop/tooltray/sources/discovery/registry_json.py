"""Reads `server.json`: one server as a registry describes it, of the schemas 2025-07-09 to 2025-12-11.

The entries are written by strangers: a member of the wrong kind counts as absent, a package that cannot be read is left out, and only an
entry without a valid name is refused. Older entries are in snake_case, newer ones in camelCase; both are read. What may run is decided in
server_forms, with the launchers here: the programs that start packages. No word is given to a shell, but a word may be an option of the
launcher, so texts of strangers must match the patterns of package names.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec

from tooltray.foundation.errors import Problem
from tooltray.foundation.phrases import Phrase

MAX_NAME = 200  # characters; the schema's own limit
MAX_TEXT = 2000  # characters of a title, a description, a label; the schema permits 100
MAX_WORD = 8192  # characters of a value, a default, an address
MAX_ITEMS = 100  # packages, arguments, variables, choices of one list; the largest published have some forty
MAX_TOOLS = 500  # names that a publisher claims
OFFICIAL, PUBLISHER = "io.modelcontextprotocol.registry/official", "io.modelcontextprotocol.registry/publisher-provided"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*/[A-Za-z0-9._-]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_STATUS: Mapping[str, Literal["deprecated", "deleted"]] = {"deprecated": "deprecated", "deleted": "deleted"}
_TYPES = dict.fromkeys(("streamable", "http", "streamableHttp", "streamable_http"), "streamable-http")


class Input(msgspec.Struct, frozen=True):
    """A value that the user gives, or a fixed one.

    Attributes:
        format: "string", "number", "boolean" or "filepath".
        value: the fixed value; `{name}` in it is replaced by one of the variables.
    """

    description: str = ""
    is_required: bool = False
    is_secret: bool = False
    format: str = "string"
    default: str | None = None
    placeholder: str = ""
    choices: tuple[str, ...] = ()
    value: str | None = None
    variables: tuple[tuple[str, "Input"], ...] = ()


class Argument(msgspec.Struct, frozen=True):
    """A word of a command line, or an option with its value.

    Attributes:
        name: of an option, with its dashes; empty: the argument is positional.
        hint: the name of a positional argument.
    """

    input: Input
    name: str = ""
    hint: str = ""
    is_repeated: bool = False


class Package(msgspec.Struct, frozen=True):
    """
    Attributes:
        kind: "npm", "pypi", "nuget", "oci", "mcpb", or another one.
        registry: the base URL of the package's registry; empty: the usual one.
        transport: "stdio", "streamable-http" or "sse".
        runtime: the program that starts it, according to the publisher.
    """

    kind: str
    identifier: str
    version: str = ""
    registry: str = ""
    sha256: str = ""
    transport: str = "stdio"
    runtime: str = ""
    runtime_arguments: tuple[Argument, ...] = ()
    package_arguments: tuple[Argument, ...] = ()
    environment: tuple[tuple[str, Input], ...] = ()


class Remote(msgspec.Struct, frozen=True):
    """A remote server; `{name}` in its URL is replaced by one of the variables."""

    type: str
    url: str
    headers: tuple[tuple[str, Input], ...] = ()
    variables: tuple[tuple[str, Input], ...] = ()


class Described(msgspec.Struct, frozen=True):
    """One version of one server.

    Attributes:
        updated: when the registry changed the entry, in the registry's spelling; these texts of one registry sort by time.
        tools: names that the publisher claims.
    """

    name: str
    title: str
    description: str
    version: str
    packages: tuple[Package, ...] = ()
    remotes: tuple[Remote, ...] = ()
    repository: str = ""
    website: str = ""
    status: Literal["active", "deprecated", "deleted"] = "active"
    updated: str = ""
    tools: tuple[str, ...] = ()

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of packages, and "remote" for a remote server, each once."""
        return tuple(dict.fromkeys((*(each.kind for each in self.packages), *(["remote"] if self.remotes else []))))


def read_described(item: object) -> Described | None:
    """Reads one entry of a registry's list.

    Args:
        item: `{"server": {...}, "_meta": {...}}`, or a server with `_meta` in it, as in older registries.

    Returns:
        The server; None if the entry has no valid name.
    """
    if not isinstance(item, Mapping):
        return None
    server = item["server"] if isinstance(item.get("server"), Mapping) else item
    name = _word(server, "name")
    if len(name) > MAX_NAME or not _NAME.fullmatch(name):
        return None
    official = {**_object(_object(item, "_meta"), OFFICIAL), **_object(_object(server, "_meta"), OFFICIAL)}
    detail = _object(server, "versionDetail")
    return Described(
        name=name,
        title=_text(server, "title"),
        description=_text(server, "description"),
        version=_word(server, "version") or _word(detail, "version"),
        packages=tuple(filter(None, map(_package, _objects(server, "packages")))),
        remotes=tuple(filter(None, map(_remote, _objects(server, "remotes")))),
        repository=_web_address(_word(_object(server, "repository"), "url")),
        website=_web_address(_word(server, "websiteUrl")),
        status=_STATUS.get(_word(official, "status") or _word(server, "status"), "active"),
        updated=_word(official, "updatedAt") or _word(official, "publishedAt"),
        tools=_tools(server, item),
    )


def _tools(*items: Mapping[str, object]) -> tuple[str, ...]:
    for item in items:
        listed = _member(_object(_object(item, "_meta"), PUBLISHER), "tools")
        if isinstance(listed, list):
            named = (each.get("name") if isinstance(each, Mapping) else each for each in listed[:MAX_TOOLS])
            return tuple(_shown(name) for name in named if isinstance(name, str) and name)
    return ()


def _package(item: Mapping[str, object]) -> Package | None:
    kind = (_word(item, "registryType") or _word(item, "registryName")).lower()
    identifier = _word(item, "identifier") or _word(item, "name")
    if not kind or not identifier:
        return None
    return Package(
        kind=_shown(kind),
        identifier=identifier,
        version=_word(item, "version"),
        registry=_word(item, "registryBaseUrl"),
        sha256=_word(item, "fileSha256").lower(),
        transport=_transport(_object(item, "transport")) or "stdio",
        runtime=_word(item, "runtimeHint"),
        runtime_arguments=tuple(map(_argument, _objects(item, "runtimeArguments"))),
        package_arguments=tuple(map(_argument, _objects(item, "packageArguments"))),
        environment=tuple(_keyed(item, "environmentVariables")),
    )


def _remote(item: Mapping[str, object]) -> Remote | None:
    if url := _word(item, "url"):
        return Remote(_transport(item) or "streamable-http", url, tuple(_keyed(item, "headers")), tuple(_variables(item)))
    return None


def _transport(item: Mapping[str, object]) -> str:
    said = _word(item, "type") or _word(item, "transportType")
    return _TYPES.get(said, said)


def _argument(item: Mapping[str, object]) -> Argument:
    is_named = _word(item, "type") == "named"
    return Argument(_input(item), _word(item, "name") if is_named else "", _text(item, "valueHint"), _member(item, "isRepeated") is True)


def _input(item: Mapping[str, object]) -> Input:
    kind = _word(item, "format")
    choices = _member(item, "choices")
    return Input(
        description=_text(item, "description"),
        is_required=_member(item, "isRequired") is True,
        is_secret=_member(item, "isSecret") is True,
        format=kind if kind in ("number", "boolean", "filepath") else "string",
        default=_scalar(_member(item, "default")),
        placeholder=_text(item, "placeholder"),
        choices=tuple(filter(None, map(_scalar, choices[:MAX_ITEMS]))) if isinstance(choices, list) else (),
        value=_scalar(_member(item, "value")),
        variables=tuple(_variables(item)),
    )


def _keyed(item: Mapping[str, object], name: str) -> Iterator[tuple[str, Input]]:
    """Yields inputs with their names: variables of the environment, and headers."""
    yield from ((_word(each, "name"), _input(each)) for each in _objects(item, name) if _word(each, "name"))


def _variables(item: Mapping[str, object]) -> Iterator[tuple[str, Input]]:
    for name, each in list(_object(item, "variables").items())[:MAX_ITEMS]:
        if isinstance(each, Mapping):
            yield name, _input({key: value for key, value in each.items() if key != "variables"})  # which has no variables itself


# members, in either spelling


def _member(item: Mapping[str, object], name: str) -> Any:
    return item[name] if name in item else item.get(_in_snake_case(name))


@cache
def _in_snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda found: f"_{found[1].lower()}", name)


def _object(item: Mapping[str, object], name: str) -> Mapping[str, object]:
    found = _member(item, name)
    return found if isinstance(found, Mapping) else {}


def _objects(item: Mapping[str, object], name: str) -> Sequence[Mapping[str, object]]:
    found = _member(item, name)
    return [each for each in found[:MAX_ITEMS] if isinstance(each, Mapping)] if isinstance(found, list) else []


def _word(item: Mapping[str, object], name: str) -> str:
    """Returns a text for programs, unchanged; empty for a text that is far too long."""
    found = _member(item, name)
    return found if isinstance(found, str) and len(found) <= MAX_WORD else ""


def _text(item: Mapping[str, object], name: str) -> str:
    """Returns a text for people: on one line, without characters that hide or reverse what is shown."""
    found = _member(item, name)
    return _shown(found) if isinstance(found, str) else ""


def _shown(text: str) -> str:
    return " ".join(_CONTROL.sub(" ", text[:MAX_TEXT]).split())


def _scalar(value: object) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    return value if isinstance(value, str) and len(value) <= MAX_WORD else None


def _web_address(text: str) -> str:
    """Returns an address that may be opened in a browser; empty for anything else."""
    return text if text.startswith(("https://", "http://")) and not _CONTROL.search(text) and " " not in text else ""


BUNDLE = "mcpb"
_REFUSED = Phrase("The registry's description of this server cannot be used")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+!_-]{0,254}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_BRACES = re.compile(r"\{")
_CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f]")
_PLACEHOLDER = re.compile(r"\$\{[^}]*\}")  # Tooltray's placeholders: in a stranger's text, one could name the secret of another server


class Launcher(msgspec.Struct, frozen=True):
    """The program that starts packages of one kind, with its words.

    Attributes:
        program: the command.
        hints: publishers' names for the program.
        name: the pattern of an identifier.
        usual: the last but one label of the usual place's host name; packages elsewhere are refused.
        flags: options of the program without a value that a publisher may use; with another option, or with a word behind one of these,
            another program than the package could run.
        valued: the same for options with a value.
        first: words before everything else; words that the publisher also has are not repeated.
        pin: between name and version.
        behind: words behind the package, before the package's arguments.
    """

    program: str
    hints: frozenset[str]
    name: re.Pattern[str]
    usual: frozenset[str]
    flags: frozenset[str]
    valued: frozenset[str] = frozenset()
    first: tuple[str, ...] = ()
    pin: str = "@"
    behind: tuple[str, ...] = ()


LAUNCHERS: Mapping[str, Launcher] = {
    "npm": Launcher(
        "npx",
        frozenset({"npx", "node", "npm"}),
        re.compile(r"(?:@[A-Za-z0-9~][\w.~-]*/)?[A-Za-z0-9~][\w.~-]*", re.ASCII),
        frozenset({"npmjs"}),
        flags=frozenset({"-y", "--yes", "-q", "--quiet", "--prefer-offline", "--ignore-scripts"}),
        first=("-y",),
    ),
    "pypi": Launcher(
        "uvx",
        frozenset({"uvx", "uv", "python", "python3", "pipx"}),
        re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"),
        frozenset({"pypi", "pythonhosted"}),
        flags=frozenset({"-q", "--quiet", "--isolated", "--no-cache", "-n", "--refresh", "--offline", "--native-tls", "--no-progress"}),
        valued=frozenset({"-p", "--python", "--prerelease"}),
        pin="==",
    ),
    "nuget": Launcher(
        "dnx",
        frozenset({"dnx", "dotnet"}),
        re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}"),
        frozenset({"nuget"}),
        flags=frozenset({"-y", "--yes", "--prerelease"}),
        behind=("--yes",),
    ),
    "oci": Launcher(
        "docker",
        frozenset({"docker", "podman"}),
        re.compile(r"[a-z0-9][a-z0-9._-]*(?::\d{1,5})?(?:/[a-z0-9][a-z0-9._-]*)*(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?", re.ASCII),
        frozenset({"docker"}),
        flags=frozenset({"-i", "--interactive", "--rm", "--init", "--read-only", "-a", "--no-healthcheck"}),
        valued=frozenset(
            [
                "-e",
                "--env",
                "-v",
                "--volume",
                "--mount",
                "--tmpfs",
                "-p",
                "--publish",
                "--network",
                "--net",
                "--add-host",
                "--pull",
                "--name",
                "-u",
                "--user",
                "-w",
                "--workdir",
                "-m",
                "--memory",
                "--cpus",
                "--platform",
                "-l",
                "--label",
                "--pids-limit",
                "--shm-size",
            ]
        ),
        first=("run", "-i", "--rm"),
        pin=":",
    ),
}


def problem_of(package: Package) -> Problem | None:
    """Returns why a package cannot be installed here; None if its description has no reason."""
    if package.kind == BUNDLE:
        return _bundle_problem(package)
    launcher = LAUNCHERS.get(package.kind)
    if launcher is None:
        return refused(Phrase("packages of the kind '{kind}' cannot be started", kind=package.kind[:40]))
    if not launcher.name.fullmatch(package.identifier):
        return refused(Phrase("'{text}' is not a package name", text=shown(package.identifier)))
    if package.version and not _VERSION.fullmatch(package.version):
        return refused(Phrase("'{text}' is not a version", text=shown(package.version)))
    if package.transport != "stdio":
        return refused(
            Phrase("the package listens on a port of its own; only packages that speak on standard input and output can be started")
        )
    if package.kind != "oci" and package.registry and not _is_usual(package.registry, launcher):
        return refused(
            Phrase("its package is on {host}, and not where packages of its kind are taken from", host=shown(host(package.registry)))
        )
    if package.runtime and package.runtime not in launcher.hints:
        return refused(Phrase("it wants to be started by '{text}'", text=shown(package.runtime)))
    if package.runtime not in ("", launcher.program) and package.runtime_arguments:
        return refused(
            Phrase("it has options for '{text}', and is started by {program}", text=shown(package.runtime), program=launcher.program)
        )
    return None


def _bundle_problem(package: Package) -> Problem | None:
    if not package.identifier.startswith("https://") or not host(package.identifier) or _CONTROL_CHARACTER.search(package.identifier):
        return refused(Phrase("'{text}' is not the address of a bundle", text=shown(package.identifier)))
    if not _SHA256.fullmatch(package.sha256):
        return refused(Phrase("the registry has no SHA-256 for its bundle"))
    return None


def refused(why: str) -> Problem:
    return Problem(_REFUSED, why, Phrase("Look at the server's own page, and add it by hand if you trust it"))


def check_words(texts: Sequence[str]) -> Problem | None:
    """Returns why a stranger's texts must not be used in an entry; None if they may."""
    for text in texts:
        if _CONTROL_CHARACTER.search(text):
            return refused(Phrase("'{text}' has a character in it that cannot be seen", text=shown(text)))
        if _PLACEHOLDER.search(text):
            return refused(Phrase("'{text}' has a placeholder of Tooltray in it", text=shown(text)))
    return None


def odd_runtime_word(package: Package) -> str:
    """Returns the first of a publisher's words for the launcher that is not a harmless option; empty if all are harmless.

    A word that is not an option, or a value behind an option without a value, would run as the package instead of the real one.
    """
    launcher, waits = LAUNCHERS[package.kind], False  # waits: for the value of the previous option
    for each in package.runtime_arguments:
        word = each.name or each.input.value
        if waits and not each.name:
            if word is None and not each.input.is_required:
                return each.hint or "?"
            waits = False
        elif not word or _BRACES.match(word):
            return each.hint or word or "?"
        elif each.name and word in launcher.valued:
            if (each.input.value, each.input.default, each.input.is_required) == (None, None, False) and not _is_asked(each):
                return word
        elif each.name and word in launcher.flags:
            if _is_asked(each) or each.input.value is not None:
                return word
        elif each.name or not (word in launcher.first or word in launcher.flags or word.partition("=")[0] in launcher.valued):
            return word
        else:
            waits = word in launcher.valued
    return "…" if waits else ""


def _is_asked(argument: Argument) -> bool:
    """Reports whether an option gets a value from the user."""
    value = argument.input
    says = (value.default, value.choices, value.placeholder, value.is_required, value.is_secret, argument.hint)
    return any(says) or value.format in ("number", "filepath")


def pinned(package: Package) -> str:
    """Returns the package in the launcher's spelling, with its version."""
    if package.kind != "oci":
        return f"{package.identifier}{LAUNCHERS[package.kind].pin}{package.version}" if package.version else package.identifier
    image = package.identifier
    if package.registry and not _is_usual(package.registry, LAUNCHERS["oci"]) and not image.startswith(f"{host(package.registry)}/"):
        image = f"{host(package.registry)}/{image}"
    has_tag = "@" in image or ":" in image.rpartition("/")[2]
    return image if has_tag or not package.version else f"{image}:{package.version}"


def is_pinned(package: Package) -> bool:
    return pinned(package) != package.identifier or (package.kind == "oci" and pinned(package) != pinned(_bare(package)))


def _bare(package: Package) -> Package:
    image = package.identifier.partition("@")[0]
    folder, slash, last = image.rpartition("/")
    return msgspec.structs.replace(package, identifier=f"{folder}{slash}{last.partition(':')[0]}", version="", registry="")


def _is_usual(url: str, launcher: Launcher) -> bool:
    labels = host(url).split(".")
    return len(labels) > 1 and labels[-2] in launcher.usual


def host(url: str) -> str:
    """Returns the host of an address, with its port; empty for any other text."""
    try:
        parts = urlsplit(url)
        return parts.netloc.rpartition("@")[2].lower() if parts.scheme in ("https", "http") else ""
    except ValueError:
        return ""


def shown(text: str) -> str:
    """Returns a stranger's text for a sentence: invisible characters are spelled out, and a text is cut after 80 characters."""
    spelled = "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text[:80])
    return f"{spelled}…" if len(text) > 80 else spelled
