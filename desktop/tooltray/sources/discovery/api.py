"""The API about servers to find: in the official registry, and in the list of well-known ones.

Below it: the copy of the registry, the forms, and ServerAddition, through which everything goes that is added.
"""

from collections.abc import Mapping
from typing import Protocol

from msgspec.structs import replace

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.remote import JsonObject
from tooltray.foundation.snapshots.discovery import RegistrySearch, RegistryServer, RegistryStatus, RegistryUpdate, StarterServer
from tooltray.foundation.snapshots.forms import FieldValue, NewServer
from tooltray.foundation.verbs import verb
from tooltray.servers.confinement.new_servers import as_new
from tooltray.sources.discovery import starters as starter_list
from tooltray.sources.discovery.package_words import BUNDLE
from tooltray.sources.discovery.registry_copy import RegistryCopy
from tooltray.sources.discovery.registry_json import Described, Package
from tooltray.sources.discovery.server_forms import Choice, Made, choices_of, find_choice, made_of, place_of
from tooltray.sources.discovery.server_origins import names_here, with_origin
from tooltray.sources.discovery.starters import Starters
from tooltray.sources.discovery.updates import RegistryUpdates
from tooltray.sources.entries.api import ServersApi
from tooltray.sources.entries.pasted_names import guess_name
from tooltray.sources.entries.server_entries import free_name

NO_BUNDLES = Problem(Phrase("Bundles cannot be installed here"))
MOST_HITS = 200  # of one search; nobody reads more


class Bundles(Protocol):
    """What installs bundles, which are had by their address."""

    async def preview(self, source: str, sha256: str, values: Mapping[str, FieldValue]) -> NewServer: ...
    async def install(self, source: str, sha256: str, values: Mapping[str, FieldValue], server: str = "") -> str: ...


class DiscoveryApi:
    def __init__(
        self,
        *,
        config: McpConfHelper,
        registry_copy: RegistryCopy,
        registry_updates: RegistryUpdates,
        starters: Starters,
        servers_api: ServersApi,
        bundles: Bundles | None = None,
    ) -> None:
        """
        Args:
            bundles: None: they cannot be had.
        """
        self._config, self._copy, self._updates = config, registry_copy, registry_updates
        self._starters, self._servers, self._bundles = starters, servers_api, bundles

    # the registry

    async def search_registry(self, text: str, limit: int = 50) -> RegistrySearch:
        """Servers of the official registry that match, the best first, from the copy on this disk. Waits for no network.

        Args:
            text: words or their beginnings, as a person types them; empty: all.
            limit: how many at most.
        """
        found = await self._copy.search(text, max(0, min(limit, MOST_HITS)))
        here = names_here(self._config.entries)
        hits = tuple(replace(hit, here=here.get(hit.name, "")) for hit in found.hits)
        return RegistrySearch(hits, found.total, await self._copy.status())

    async def get_registry_server(self, name: str, version: str = "") -> RegistryServer:
        """One server of the registry, and the ways to have it. What a bundle asks for, `read_bundle` says of the option's label.

        Args:
            version: empty: the latest; another one than the latest is asked for at the registry.

        Raises:
            NotFound: there is no such server, or no such version of it.
            TooltrayError: the registry does not answer.
        """
        return _snapshot(await self._copy.get(name, version), has_bundles=self._bundles is not None)

    @verb("manage")
    async def preview_registry_server(self, name: str, version: str, option: str, values: Mapping[str, FieldValue]) -> NewServer:
        """The server as it would be added. Nothing is stored.

        Args:
            option: which way to have it; empty: the first that works here.
            values: by the keys of the option's fields.

        Raises:
            NotFound: there is no such server, or no such version of it.
            TooltrayError: it cannot be had so, or a value is missing or is none that can be given; says which.
        """
        described = await self._copy.get(name, version)
        choice = find_choice(described, option)
        if bundle := _bundle(choice):
            return await self._installer().preview(bundle.identifier, bundle.sha256, values)
        here = self._free_name(_short_name(described.name))
        made = made_of(choice, values, server=here)
        entry = as_new(with_origin(made, choice, described.name, described.version))
        return _new_server(here, entry, made, choice, f"{described.name} {described.version}")

    async def add_registry_server(self, name: str, version: str, option: str, values: Mapping[str, FieldValue], server: str = "") -> str:
        """Adds a server of the registry, pinned to the version; its secrets go among the secrets. What a program adds waits for a
        person's yes, unless its token is trusted.

        Args:
            version, option, values: as of the preview.
            server: its name here; empty: the proposed one.

        Returns:
            Its name here.

        Raises:
            NotFound, Conflict, TooltrayError: as of the preview, or the name is taken, or it cannot be stored.
        """
        described = await self._copy.get(name, version)
        choice = find_choice(described, option)
        if bundle := _bundle(choice):
            return await self._installer().install(bundle.identifier, bundle.sha256, values, server)
        here = server or self._free_name(_short_name(described.name))
        made = made_of(choice, values, server=here)
        entry = as_new(with_origin(made, choice, described.name, described.version))
        return await self._servers.add_mcp_server(here, entry, secrets=made.secrets)

    async def refresh_registry(self) -> RegistryStatus:
        """Asks the registry for what has changed, now; what goes wrong stands in `problem`."""
        return await self._copy.refresh()

    async def get_registry_updates(self) -> list[RegistryUpdate]:
        """The servers here whose registry has a newer version, as far as the copy knows."""
        return await self._updates.pending()

    async def update_registry_server(self, server: str) -> None:
        """Pins a server to the newest version; what was given for the one before counts for it. Tools that are others then are held until
        a person has looked at them. What a program asks for waits for a person's yes, unless its token is trusted.

        Raises:
            NotFound: there is no such server, or it is not from the registry.
            TooltrayError: there is nothing newer, or the new version asks for something that was not given.
        """
        await self._updates.update(server)

    # well-known servers

    async def get_starter_servers(self) -> list[StarterServer]:
        """Well-known servers, by category."""
        return self._starters.snapshots(self._config.entries)

    async def add_starter_server(self, id: str, values: Mapping[str, FieldValue], server: str = "") -> str:
        """Adds a well-known server, as `add_registry_server`.

        Raises:
            NotFound: there is no such server in the list.
            Conflict: the name is taken.
            TooltrayError: a value is missing or is none that can be given, or it cannot be stored.
        """
        starter = self._starters.get(id)
        here = server or self._free_name(id)
        made = made_of(starter.choice, values, server=here)
        entry = as_new(starter_list.with_origin(made.entry, starter))
        return await self._servers.add_mcp_server(here, entry, secrets=made.secrets)

    def _free_name(self, wanted: str) -> str:
        return free_name(wanted, self._config.settings.mcp_servers)

    def _installer(self) -> Bundles:
        if self._bundles is None:
            raise TooltrayError(NO_BUNDLES.title)
        return self._bundles


def _bundle(choice: Choice) -> Package | None:
    """The bundle that a choice is; None if it is something else."""
    return choice.what if isinstance(choice.what, Package) and choice.what.kind == BUNDLE else None


def _short_name(name: str) -> str:
    """How a server may be called here, without the namespace."""
    last = name.rpartition("/")[2]
    short = guess_name(["npx", last])
    return short if short not in ("npx", "server") else last


def _snapshot(server: Described, *, has_bundles: bool) -> RegistryServer:
    options = [each.option for each in choices_of(server)]
    if not has_bundles:
        options = [replace(each, problem=each.problem or NO_BUNDLES) if each.kind == BUNDLE else each for each in options]
    return RegistryServer(
        name=server.name,
        title=server.title,
        description=server.description,
        version=server.version,
        options=tuple(options),
        repository=server.repository,
        website=server.website,
        is_deprecated=server.status == "deprecated",
    )


def _new_server(name: str, entry: JsonObject, made: Made, choice: Choice, what: str) -> NewServer:
    command = (entry["command"], *entry["args"]) if "command" in entry else ()
    secrets = tuple(secret.rpartition("/")[2] for secret in made.secrets)
    return NewServer(name, entry, command, entry.get("url", ""), secrets, f"{what} ({place_of(choice)})", made.warnings)
