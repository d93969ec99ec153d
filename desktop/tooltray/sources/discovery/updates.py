"""Finds and installs newer versions of servers that were added from the registry.

A version is pinned until the user updates the server; the former answers are used for the new version. Tools that differ from what was
approved are blocked until reviewed, as after any change of definitions.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.discovery import RegistryUpdate
from tooltray.sources.discovery.registry_copy import RegistryCopy
from tooltray.sources.discovery.registry_json import Described
from tooltray.sources.discovery.server_forms import MADE, Choice, choices_of, fingerprint, made_of
from tooltray.sources.discovery.server_origins import FromRegistry, from_registry, with_origin
from tooltray.sources.entries.api import ServersApi
from tooltray.sources.entries.server_entries import ORIGIN

MOST_NAMED = 10  # tools in one line
_CANNOT = Phrase("The server cannot be brought to the newest version")


class RegistryUpdates:
    """The updates of servers from the registry; belongs to the engine's loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        registry_copy: RegistryCopy,
        servers_api: ServersApi,
        known_tools: Callable[[str], Collection[str]],
    ) -> None:
        """
        Args:
            known_tools: returns the names of the tools that a server has listed last.
        """
        self._config, self._copy, self._servers, self._known_tools = config, registry_copy, servers_api, known_tools

    async def pending(self) -> list[RegistryUpdate]:
        """Returns the available updates, sorted by the servers' names."""
        origins = {server: origin for server, entry in sorted(self._config.entries.items()) if (origin := from_registry(entry))}
        latest = await self._copy.get_all({origin.name for origin in origins.values()})
        return [
            RegistryUpdate(server, origin.name, origin.version, newest.version, tuple(self._tool_lines(server, newest)))
            for server, origin in origins.items()
            if (newest := latest.get(origin.name)) and is_newer(newest.version, origin.version)
        ]

    async def update(self, server: str) -> None:
        """
        Raises:
            NotFound: the server does not exist, or it is not from the registry.
            TooltrayError: the registry has no newer version, the new one needs a value that was not given, or the file cannot be written.
        """
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


def _updated(server: str, entry: Mapping[str, Any], origin: FromRegistry, newest: Described) -> dict[str, Any]:
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
        raise TooltrayError(_CANNOT, Phrase("version {version} cannot be had as '{kind}' any more", version=newest.version, kind=kind))
    return found


def _pinned_anew(entry: Mapping[str, Any], origin: FromRegistry, choice: Choice, newest: Described) -> dict[str, Any]:
    """Changes only the version in a command that was changed by hand."""
    words = list(entry.get("args") or ())
    if origin.label not in words:
        hint = Phrase("Write the version into it by hand, or add the server anew")
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
