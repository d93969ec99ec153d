"""The API about servers to find: in the official registry, and in the list of well-known ones that comes with Tooltray.

That list is written in the spelling of the registry. Packages in it are not pinned, as people start these servers: each start takes the
newest version.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec.structs import replace

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import shown_url
from tooltray.consent.approvals.new_access import NewAccess
from tooltray.foundation.errors import NotFound
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.shell_words import joined
from tooltray.foundation.snapshots.discovery import RegistrySearch, RegistryServer, RegistryStatus, RegistryUpdate, StarterServer
from tooltray.foundation.snapshots.entries import FieldValue, NewServer
from tooltray.foundation.snapshots.servers import AccessChoice
from tooltray.foundation.verbs import JsonObject, verb
from tooltray.sources.discovery.registry_copy import RegistryCopy
from tooltray.sources.discovery.registry_json import BUNDLE, Described, Package, read_described
from tooltray.sources.discovery.server_forms import Choice, Made, choices_of, find_choice, made_of, place_of
from tooltray.sources.discovery.updates import STARTER, RegistryUpdates, from_list, names_here, with_origin
from tooltray.sources.entries.api import ServersApi
from tooltray.sources.entries.pasted_parts import guess_name
from tooltray.sources.entries.server_entries import ORIGIN, free_name


class Starter(msgspec.Struct, frozen=True, rename="camel"):
    """A server of the file.

    Attributes:
        package, remote: how it is installed, as in server.json; one of the two is given.
        trial: values with which it starts without an account, for the script that tries it; `{folder}` in them is an empty folder. None:
            it needs an account, or a program that is not installed everywhere.
    """

    id: str
    title: str
    good_for: str
    category: str
    needs: str = ""
    package: JsonObject | None = None
    remote: JsonObject | None = None
    trial: JsonObject | None = None

    @property
    def described(self) -> Described:
        """The server as if it came from a registry."""
        parts = {"packages": [self.package] if self.package else [], "remotes": [self.remote] if self.remote else []}
        found = read_described({"name": f"starters/{self.id}", "title": self.title, "description": self.good_for, **parts})
        assert found, self.id  # the file comes with Tooltray; a test reads all of it
        return found

    @property
    def choice(self) -> Choice:
        return choices_of(self.described)[0]


class _File(msgspec.Struct):
    servers: list[Starter]


class Starters:
    """The servers of the file, which do not change."""

    def __init__(self, path: Path) -> None:
        """
        Args:
            path: `starter-servers.json`.
        """
        self._by_id = {each.id: each for each in msgspec.json.decode(path.read_bytes(), type=_File).servers}

    def all(self) -> tuple[Starter, ...]:
        return tuple(self._by_id.values())

    def get(self, id: str) -> Starter:
        """
        Raises:
            NotFound: the list has no such server.
        """
        if id not in self._by_id:
            raise NotFound(Phrase("'{id}' is not a well-known server", id=id), "", Phrase("See: tooltray discover starters"))
        return self._by_id[id]

    def snapshots(self, entries: Mapping[str, Mapping[str, object]]) -> list[StarterServer]:
        """Returns the whole list.

        Args:
            entries: the servers here.
        """
        return [_starter_snapshot(each, next(_here(each, entries), "")) for each in self._by_id.values()]


def _here(starter: Starter, entries: Mapping[str, Mapping[str, object]]) -> Iterator[str]:
    """Yields the servers here that are this one: added from the list, or with the same package or address."""
    what = starter.package["identifier"] if starter.package else (starter.remote or {})["url"]
    for server, entry in entries.items():
        words = entry.get("args")
        has_package = isinstance(words, list) and any(isinstance(word, str) and _is_package(word, what) for word in words)
        if from_list(entry) == starter.id or has_package or what in (entry.get("url"), entry.get("baseUrl")):
            yield server


def _is_package(word: str, name: str) -> bool:
    """Reports whether a word is a package, with its version or without."""
    return word == name or word.startswith((f"{name}@", f"{name}=="))


def _starter_snapshot(starter: Starter, here: str) -> StarterServer:
    choice = starter.choice
    target = shown_url(str((starter.remote or {}).get("url", ""))) if starter.remote else joined(_command(choice))
    return StarterServer(starter.id, starter.title, starter.good_for, starter.category, target, starter.needs, choice.option.fields, here)


def _command(choice: Choice) -> list[str]:
    """Returns the command, with names in the place of values that the user has to give."""
    assert isinstance(choice.what, Package)
    words = ["npx", "-y"] if choice.option.needs == "npx" else [choice.option.needs]
    words.append(choice.option.label)
    required = {field.key for field in choice.option.fields if field.is_required and not field.is_secret}
    for each in choice.what.package_arguments:
        is_asked = each.input.value is None and each.input.is_required
        key = each.name.lstrip("-") or each.hint
        words += [each.name] if each.name and (is_asked or each.input.value is not None) else []
        words += [f"<{key}>"] if is_asked and key in required else [each.input.value] if each.input.value is not None else []
    return words


def with_list_origin(entry: Mapping[str, object], starter: Starter) -> JsonObject:
    """Returns the entry with its origin in the list."""
    return {**entry, ORIGIN: {"kind": STARTER, "id": starter.id}}


MOST_HITS = 200  # of one search; more than a user reads
LISTED = Phrase("The list of well-known servers that comes with Tooltray")


class Bundles(Protocol):
    """The installation of bundles from their addresses."""

    async def preview_bundle(self, source: str, sha256: str, values: Mapping[str, FieldValue]) -> NewServer: ...
    async def install_bundle(
        self, source: str, sha256: str, values: Mapping[str, FieldValue], server: str = "", access: AccessChoice | None = None
    ) -> str: ...


class DiscoveryApi:
    def __init__(
        self,
        *,
        config: McpConfHelper,
        registry_copy: RegistryCopy,
        registry_updates: RegistryUpdates,
        starters: Starters,
        servers_api: ServersApi,
        bundles_api: Bundles,
        new_access: NewAccess,
    ) -> None:
        self._config, self._copy, self._updates = config, registry_copy, registry_updates
        self._starters, self._servers, self._bundles, self._access = starters, servers_api, bundles_api, new_access

    # the registry

    async def search_registry(self, text: str, limit: int = 50) -> RegistrySearch:
        """Returns matching servers of the official registry, the best first, from the copy on this disk. Does not wait for the network.

        Args:
            text: words or their beginnings, as the user types them; empty: all.
            limit: how many at most.
        """
        found = await self._copy.search(text, max(0, min(limit, MOST_HITS)))
        here = names_here(self._config.entries)
        hits = tuple(replace(hit, here=here.get(hit.name, "")) for hit in found.hits)
        return RegistrySearch(hits, found.total, await self._copy.status())

    async def get_registry_server(self, name: str, version: str = "") -> RegistryServer:
        """Returns one server of the registry, and the options to install it. For the fields of a bundle, pass the option's label to
        `read_bundle`.

        Args:
            version: empty: the latest; any other version is fetched from the registry.

        Raises:
            NotFound: the server or the version does not exist.
            TooltrayError: the registry does not answer.
        """
        return _snapshot(await self._copy.get(name, version))

    @verb("manage")
    async def preview_registry_server(self, name: str, version: str, option: str, values: Mapping[str, FieldValue]) -> NewServer:
        """Returns the server as it would be added. Nothing is stored.

        Args:
            option: the option to install; empty: the first that works here.
            values: by the keys of the option's fields.

        Raises:
            NotFound: the server or the version does not exist.
            TooltrayError: the option cannot be installed, or a value is missing or not allowed; the error names the value.
        """
        described = await self._copy.get(name, version)
        choice = find_choice(described, option)
        if bundle := _bundle(choice):
            return await self._bundles.preview_bundle(bundle.identifier, bundle.sha256, values)
        here, entry, made = self._made(described, choice, values, "")
        return self._preview(here, entry, made, f"{described.name} {described.version} ({place_of(choice)})")

    async def add_registry_server(
        self,
        name: str,
        version: str,
        option: str,
        values: Mapping[str, FieldValue],
        server: str = "",
        access: AccessChoice | None = None,
    ) -> str:
        """Adds a server of the registry, pinned to the version; its secrets are stored among the secrets. A server that a program adds
        waits for a person's consent, unless the program's token is trusted.

        Args:
            version, option, values: as in the preview.
            server: its name here; empty: the proposed one.
            access: as of `add_mcp_server`.

        Returns:
            Its name here.

        Raises:
            NotFound, Conflict, TooltrayError: as in the preview, or the name is taken, or it cannot be stored.
        """
        described = await self._copy.get(name, version)
        choice = find_choice(described, option)
        if bundle := _bundle(choice):
            return await self._bundles.install_bundle(bundle.identifier, bundle.sha256, values, server, access)
        here, entry, made = self._made(described, choice, values, server)
        return await self._add(here, entry, made, access)

    async def refresh_registry(self) -> RegistryStatus:
        """Fetches the registry's changes now; an error is in `problem` of the result."""
        return await self._copy.refresh()

    async def get_registry_updates(self) -> list[RegistryUpdate]:
        """Returns the servers here for which the copy of the registry has a newer version."""
        return await self._updates.pending()

    async def update_registry_server(self, server: str) -> None:
        """Pins a server to the newest version and keeps the values given for the former one. Changed tools are blocked until reviewed. A
        program's update waits for a person's consent, unless the program's token is trusted.

        Raises:
            NotFound: the server does not exist, or it is not from the registry.
            TooltrayError: the registry has no newer version, or the new version requires a value that was not given.
        """
        await self._updates.update(server)

    # well-known servers

    async def get_starter_servers(self) -> list[StarterServer]:
        """Returns the well-known servers, by category."""
        return self._starters.snapshots(self._config.entries)

    @verb("manage")
    async def preview_starter_server(self, id: str, values: Mapping[str, FieldValue]) -> NewServer:
        """Returns a well-known server as it would be added. Nothing is stored.

        Raises:
            NotFound: the list has no such server.
            TooltrayError: a value is missing or not allowed; the error names the value.
        """
        here, entry, made = self._made_of_starter(id, values, "")
        return self._preview(here, entry, made, LISTED)

    async def add_starter_server(
        self, id: str, values: Mapping[str, FieldValue], server: str = "", access: AccessChoice | None = None
    ) -> str:
        """Adds a well-known server, as `add_registry_server`.

        Raises:
            NotFound: the list has no such server.
            Conflict: the name is taken.
            TooltrayError: a value is missing or not allowed, or the server cannot be stored.
        """
        return await self._add(*self._made_of_starter(id, values, server), access)

    async def _add(self, server: str, entry: JsonObject, made: Made, access: AccessChoice | None) -> str:
        entry = self._access.entry(server, entry, chosen=access, is_found=True)
        return await self._servers.add_mcp_server(server, entry, secrets=made.secrets, access=access)

    def _preview(self, server: str, entry: JsonObject, made: Made, origin: str) -> NewServer:
        entry = self._access.entry(server, entry, is_found=True)
        access, lacking = self._access.shown(server, entry)
        command = (entry["command"], *entry["args"]) if "command" in entry else ()
        secrets = tuple(secret.rpartition("/")[2] for secret in made.secrets)
        return NewServer(server, entry, command, entry.get("url", ""), secrets, origin, (*made.warnings, *lacking), access)

    def _made_of_starter(self, id: str, values: Mapping[str, FieldValue], server: str) -> tuple[str, JsonObject, Made]:
        """Returns what `_made` does, for a well-known server."""
        starter, here = self._starters.get(id), server or self._free_name(id)
        made = made_of(starter.choice, values, server=here)
        return here, with_list_origin(made.entry, starter), made

    def _made(self, described: Described, choice: Choice, values: Mapping[str, FieldValue], server: str) -> tuple[str, JsonObject, Made]:
        """Returns the name of the server here, its entry, and what the entry was made of."""
        here = server or self._free_name(_short_name(described.name))
        made = made_of(choice, values, server=here)
        return here, with_origin(made, choice, described.name, described.version), made

    def _free_name(self, wanted: str) -> str:
        return free_name(wanted, {*self._config.settings.mcp_servers, *self._config.names})


def _bundle(choice: Choice) -> Package | None:
    """Returns the bundle of a choice; None for any other kind."""
    return choice.what if isinstance(choice.what, Package) and choice.what.kind == BUNDLE else None


def _short_name(name: str) -> str:
    """Returns a name for a server here, without the namespace."""
    last = name.rpartition("/")[2]
    short = guess_name(["npx", last])
    return short if short not in ("npx", "server") else last


def _snapshot(server: Described) -> RegistryServer:
    return RegistryServer(
        name=server.name,
        title=server.title,
        description=server.description,
        version=server.version,
        options=tuple(each.option for each in choices_of(server)),
        repository=server.repository,
        website=server.website,
        is_deprecated=server.status == "deprecated",
    )
