"""Which servers here are from the registry, as the member `origin` of their entries has it; finds and installs newer versions of them.

The member was written by Tooltray, or by the user in an editor: a value of the wrong kind counts as absent. A version is pinned until the
user updates the server; the former answers are used for the new version. Tools that differ from what was approved are blocked until
reviewed, as after any change of definitions.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import msgspec

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.discovery import RegistryUpdate
from tooltray.foundation.snapshots.entries import FieldValue
from tooltray.foundation.verbs import JsonMapping, JsonObject
from tooltray.sources.discovery.registry_copy import RegistryCopy
from tooltray.sources.discovery.registry_json import Described
from tooltray.sources.discovery.server_forms import MADE, Choice, Made, choices_of, fingerprint, made_of
from tooltray.sources.entries.api import ServersApi
from tooltray.sources.entries.server_entries import ORIGIN

REGISTRY, STARTER = "registry", "starter"


class FromRegistry(msgspec.Struct, frozen=True):
    """
    Attributes:
        option, label: the id and the label of the chosen option.
        values: the answers for its fields; secrets as placeholders.
        made: the fingerprint of the entry made of them.
    """

    name: str
    version: str
    option: str = ""
    label: str = ""
    values: Mapping[str, FieldValue] = {}
    made: str = ""


class FromList(msgspec.Struct, frozen=True):
    """An origin in the list of well-known servers."""

    id: str


def with_origin(made: Made, choice: Choice, name: str, version: str) -> JsonObject:
    """Returns the entry with its origin in the registry, and with the answers that its next version needs."""
    origin = {"kind": REGISTRY, "name": name, "version": version, "option": choice.option.id, "label": choice.option.label}
    return {**made.entry, ORIGIN: {**origin, "values": made.answers, "made": fingerprint(made.entry)}}


def from_registry(entry: Mapping[str, object]) -> FromRegistry | None:
    """Returns which server of the registry an entry is; None if it is not from there."""
    origin: FromRegistry | None = _read(entry, REGISTRY, FromRegistry)
    return origin


def from_list(entry: Mapping[str, object]) -> str:
    """Returns the id of the well-known server that an entry is; empty if it is not from that list."""
    found = _read(entry, STARTER, FromList)
    return found.id if found else ""


def _read(entry: Mapping[str, object], kind: str, form: type[msgspec.Struct]) -> Any:
    origin = entry.get(ORIGIN)
    if not isinstance(origin, Mapping) or origin.get("kind") != kind:
        return None
    try:
        return msgspec.convert(dict(origin), form)
    except msgspec.ValidationError:
        return None


def names_here(entries: Mapping[str, Mapping[str, object]]) -> dict[str, str]:
    """Returns the servers here by their names in the registry; of several the first."""
    found: dict[str, str] = {}
    for server, entry in entries.items():
        if origin := from_registry(entry):
            found.setdefault(origin.name, server)
    return found


MOST_NAMED = 10  # tools in one line
_CANNOT = Phrase("The server cannot be updated")


class RegistryUpdates:
    """The updates of servers from the registry; belongs to the engine's loop."""

    def __init__(
        self, *, config: McpConfHelper, registry_copy: RegistryCopy, servers_api: ServersApi, known_tools: Callable[[str], Collection[str]]
    ) -> None:
        """
        Args:
            known_tools: returns the names of the tools that a server has listed last.
        """
        self._config, self._copy, self._servers, self._known_tools = config, registry_copy, servers_api, known_tools

    async def pending(self) -> list[RegistryUpdate]:
        """Implements DiscoveryApi.get_registry_updates: sorted by the servers' names."""
        origins = {server: origin for server, entry in sorted(self._config.entries.items()) if (origin := from_registry(entry))}
        latest = await self._copy.get_all({origin.name for origin in origins.values()})
        return [
            RegistryUpdate(server, origin.name, origin.version, newest.version, tuple(self._tool_lines(server, newest)))
            for server, origin in origins.items()
            if (newest := latest.get(origin.name)) and is_newer(newest.version, origin.version)
        ]

    async def update(self, server: str) -> None:
        """Implements DiscoveryApi.update_registry_server."""
        entry = self._config.entries.get(server)
        origin = from_registry(entry) if entry is not None else None
        if entry is None or origin is None:
            raise NotFound(Phrase("'{server}' was not added from the registry", server=server))
        newest = await self._copy.get(origin.name)
        if not is_newer(newest.version, origin.version):
            raise TooltrayError(Phrase("'{server}' has the newest version already", server=server), newest.version)
        await self._servers.update_mcp_server(server, _updated(server, entry, origin, newest))

    def _tool_lines(self, server: str, newest: Described) -> Iterator[str]:
        known, claimed = set(self._known_tools(server)), set(newest.tools)
        if known and claimed:
            if new := sorted(claimed - known):
                yield Phrase("new: {tools}", tools=_in_a_row(new))
            if gone := sorted(known - claimed):
                yield Phrase("no longer there: {tools}", tools=_in_a_row(gone))


def _in_a_row(names: list[str]) -> str:
    more = ", …" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _updated(server: str, entry: JsonMapping, origin: FromRegistry, newest: Described) -> JsonObject:
    choice = _same_way(origin, newest)
    if fingerprint(entry) != origin.made:
        return _pinned_anew(entry, origin, choice, newest)
    known = {field.key for field in choice.option.fields}
    made = made_of(choice, {key: value for key, value in origin.values.items() if key in known}, server=server)
    kept = {member: value for member, value in entry.items() if member not in MADE}
    return {**kept, **with_origin(made, choice, newest.name, newest.version)}


def _same_way(origin: FromRegistry, newest: Described) -> Choice:
    """Returns the option that was chosen, or one of the same kind."""
    kind = origin.option.partition("-")[0]
    same = [each for each in choices_of(newest) if each.option.kind == kind and each.option.problem is None]
    found = next((each for each in same if each.option.id == origin.option), next(iter(same), None))
    if found is None:
        raise TooltrayError(_CANNOT, Phrase("version {version} is no longer available as '{kind}'", version=newest.version, kind=kind))
    return found


def _pinned_anew(entry: JsonMapping, origin: FromRegistry, choice: Choice, newest: Described) -> JsonObject:
    """Changes only the version in a command that was changed by hand."""
    words = list(entry.get("args") or ())
    if origin.label not in words:
        hint = Phrase("Write the version into it by hand, or add the server again")
        raise TooltrayError(_CANNOT, Phrase("its command was changed by hand and has no '{word}' in it", word=origin.label), hint)
    words[words.index(origin.label)] = choice.option.label
    kept = entry[ORIGIN] | {"version": newest.version, "label": choice.option.label}
    return {**entry, "args": words, ORIGIN: kept}


def is_newer(version: str, than: str) -> bool:
    """Reports whether a version follows another one, by the rules of semantic versions as far as they apply."""
    return version != than and _order(version) > _order(than)


def _order(version: str) -> tuple[list[tuple[int, int, str]], bool, list[tuple[int, int, str]]]:
    main, dash, rest = version.lstrip("vV").partition("+")[0].partition("-")
    return _parts(main), not dash, _parts(rest)


def _parts(text: str) -> list[tuple[int, int, str]]:
    """Returns the parts of a version for comparison: numbers sort before words, as in semantic versions."""
    found = re.findall(r"\d{1,18}|[A-Za-z]+", text)
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in found]
