"""Reads `server.json`: one server as a registry describes it, of the schemas 2025-07-09 to 2025-12-11.

The entries are written by strangers: a member of the wrong kind counts as absent, a package that cannot be read is left out, and only an
entry without a valid name is refused. Older entries are in snake_case, newer ones in camelCase; both are read. What may run is decided in
server_forms.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal

import msgspec

MAX_NAME = 200  # characters; the schema's own limit
MAX_TEXT = 2000  # characters of a title, a description, a label; the schema permits 100
MAX_WORD = 8192  # characters of a value, a default, an address
MAX_ITEMS = 100  # packages, arguments, variables, choices of one list; the largest published have some forty
MAX_TOOLS = 500  # names that a publisher claims
OFFICIAL, PUBLISHER = "io.modelcontextprotocol.registry/official", "io.modelcontextprotocol.registry/publisher-provided"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*/[A-Za-z0-9._-]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_TYPES = {
    "streamable": "streamable-http",
    "http": "streamable-http",
    "streamableHttp": "streamable-http",
    "streamable_http": "streamable-http",
}


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
    official = _official(item) | _official(server)
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
        status=_status(_word(official, "status") or _word(server, "status")),
        updated=_word(official, "updatedAt") or _word(official, "publishedAt"),
        tools=_tools(server, item),
    )


def _status(said: str) -> Literal["active", "deprecated", "deleted"]:
    return "deprecated" if said == "deprecated" else "deleted" if said == "deleted" else "active"


def _official(item: Mapping[str, object]) -> dict[str, object]:
    return dict(_object(_object(item, "_meta"), OFFICIAL))


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
    url = _word(item, "url")
    if not url:
        return None
    return Remote(_transport(item) or "streamable-http", url, tuple(_keyed(item, "headers")), tuple(_variables(item)))


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
            yield name, _plain(each)


def _plain(item: Mapping[str, object]) -> Input:
    """Reads a variable, which cannot have variables itself."""
    return _input({key: value for key, value in item.items() if key != "variables"})


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
