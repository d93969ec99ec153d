"""The API about bundles: servers packed as `.mcpb` or `.dxt` files are shown, installed, updated and removed.

A bundle is identified by its SHA-256: exactly what the user has seen is installed. A newer bundle of the same name updates the server of
the older one; its settings stay, and so do the user's changes to the entry.
"""

import time
from collections.abc import Mapping
from typing import ClassVar

from tooltray.config.settings.given_entries import FORBIDDEN_IN_NAMES
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_edits import name_is_taken
from tooltray.consent.approvals.new_access import NewAccess
from tooltray.foundation.confirm_widening import must_wait
from tooltray.foundation.errors import Denied, NotFound, TooltrayError
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.discovery import BundleOffer, BundleSnapshot
from tooltray.foundation.snapshots.entries import FieldValue, NewServer
from tooltray.foundation.snapshots.servers import AccessChoice
from tooltray.foundation.tasks import finish_in_thread
from tooltray.foundation.verbs import JsonMapping, JsonObject, always, verb
from tooltray.sources.bundles.archive import BundleSources
from tooltray.sources.bundles.bundle_offers import BundleReader, BundleReading
from tooltray.sources.bundles.bundle_store import BundleFolders, BundleRecord, ServerChoices, plain_values
from tooltray.sources.bundles.manifest import BundleCommand, answers_to
from tooltray.sources.entries.api import ServersApi
from tooltray.sources.entries.pasted_parts import clean_name
from tooltray.sources.entries.server_entries import ORIGIN, free_name
from tooltray.sources.entries.server_secrets import ServerSecrets

LONGEST_DESCRIPTION = 300  # characters on a card
_OF_BUNDLE = ("command", "args", "env", "cwd", ORIGIN)


class _Plan(HidesFields, frozen=True):
    """The changes that an installation would make.

    Attributes:
        secrets: values to store, by the secrets' names.
        old: the record of the installed version; None for a new bundle.
    """

    hidden: ClassVar = ("secrets",)

    server: str
    entry: JsonObject
    command: BundleCommand
    secrets: dict[str, str]
    record: BundleRecord
    old: BundleRecord | None
    is_update: bool


class BundlesApi:
    """The API about bundles: servers packed as `.mcpb` or `.dxt` files. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        sources: BundleSources,
        reader: BundleReader,
        folders: BundleFolders,
        config: McpConfHelper,
        server_secrets: ServerSecrets,
        servers_api: ServersApi,
        new_access: NewAccess,
    ) -> None:
        self._sources, self._reader = sources, reader
        self._store, self._folders = folders.store, folders
        self._config, self._server_secrets = config, server_secrets
        self._servers, self._access = servers_api, new_access

    @verb(trusted=always)
    async def read_bundle(self, source: str) -> BundleOffer:
        """Reads a bundle, and installs nothing.

        Args:
            source: an absolute path, or an address that begins with `file:`, `https:` or, on this computer, `http:`.

        Raises:
            TooltrayError: it cannot be read, or is not a usable bundle; the error has the reason.
        """
        file = await self._sources.read(source)
        reading = await self._reader.read(file)
        here = self._here(reading.manifest.name)
        fields = self._reader.form(reading, self._kept(here), await self._stored(here))
        return await self._reader.offer(reading, source, fields, here, _origin(self._config.entries.get(here, {})).get("version", ""))

    @verb("manage", trusted=always)
    async def preview_bundle(self, source: str, sha256: str, values: Mapping[str, FieldValue]) -> NewServer:
        """Returns the server that a bundle would add, for the user to review.

        Args:
            sha256: of the bundle that was read.
            values: the answers for its fields, by their keys; a field without an answer has its default.

        Raises:
            Conflict: the source has another bundle now.
            TooltrayError: a value is missing or wrong.
        """
        reading = await self._reader.read(await self._sources.again(source, sha256))
        plan = await self._plan(reading, source, values, "")
        manifest, (access, lacking) = reading.manifest, self._access.shown(plan.server, plan.entry)
        return NewServer(
            name=plan.server,
            entry=plan.entry,
            command=plan.command.words,
            secrets=tuple(plan.secrets),
            origin=Phrase(
                "the bundle {name} {version} of {author}", name=manifest.title, version=manifest.version, author=manifest.author.name
            ),
            warnings=(*self._reader.warnings(reading, plan.command), *(() if plan.is_update else lacking)),
            access=None if plan.is_update else access,
        )

    @verb(trusted=always)
    async def install_bundle(
        self, source: str, sha256: str, values: Mapping[str, FieldValue], server: str = "", access: AccessChoice | None = None
    ) -> str:
        """Installs a bundle and adds and starts its server; or updates the server of an older bundle with the same name.

        Args:
            sha256, values: as in `preview_bundle`; a secret that is not given stays unchanged.
            server: the name of a new server, or of the one to update; empty: the existing one, else a new one with the bundle's name.
            access: of a new server, as of `add_mcp_server`; an updated one keeps its own.

        Returns:
            The server's name.

        Raises:
            Conflict: the source has another bundle now, or the name is taken.
            Denied: the caller is a program, not the user.
            TooltrayError: it cannot run here, a value is missing or wrong, or something cannot be written. Then
                nothing is left on the disk.
        """
        if await must_wait():
            hint = Phrase("Add it in the window, or with: tooltray bundle install")
            raise Denied(Phrase("A bundle is installed by a person"), Phrase("it brings a program along, and starts it"), hint)
        reading = await self._reader.read(await self._sources.again(source, sha256))
        plan = await self._plan(reading, source, values, server)
        for problem in await self._reader.problems(reading, plan.command):
            raise TooltrayError(problem.title, problem.message, problem.hint)
        async with self._folders.changing:
            await self._carry_out(plan, reading, access)
        await self._sources.forget(source, sha256)
        if plan.old is not None and plan.old.folder != plan.record.folder:
            await self._folders.retire([self._store.path(plan.old)])
        return plan.server

    async def get_bundles(self) -> list[BundleSnapshot]:
        """Returns the servers that came as bundles."""
        origins = {name: (_origin(entry), entry) for name, entry in self._config.entries.items()}
        return [self._snapshot(name, origin, entry) for name, (origin, entry) in origins.items() if origin]

    async def remove_bundle(self, server: str) -> None:
        """Removes a bundle's server, its secrets, and its folder as soon as nothing runs from it.

        Raises:
            NotFound: the server does not come from a bundle.
            TooltrayError: it cannot be removed.
        """
        if not _origin(self._config.entries.get(server, {})):
            raise NotFound(Phrase("Bundle '{name}' not found", name=server), hint=Phrase("See which there are: tooltray bundle list"))
        removal = await self._servers.remove_mcp_server(server)
        if removal.problem:
            raise TooltrayError(removal.problem.title, removal.problem.message, removal.problem.hint)

    # inside

    async def _plan(self, reading: BundleReading, source: str, values: Mapping[str, FieldValue], wanted: str) -> _Plan:
        manifest, origin = reading.manifest, {"kind": "bundle", "name": reading.manifest.name, "version": reading.manifest.version}
        server, is_update = self._target(manifest.name, wanted)
        before = server if is_update else ""
        stored = await self._stored(before)
        answers = answers_to(self._reader.form(reading, self._kept(before), stored), values)
        hidden = {key for key, each in manifest.user_config.items() if each.sensitive and (key in answers.secrets or key in stored)}
        command = await self._reader.command(reading, {**answers.values, **{key: f"${{secret:{server}/{key}}}" for key in hidden}})
        entry: JsonObject = {"command": command.command, "args": list(command.args)}
        entry |= {"env": dict(command.env)} if command.env else {}
        entry |= {"cwd": reading.place.folder, ORIGIN: {**origin, "sha256": reading.file.sha256}}
        description = manifest.description[:LONGEST_DESCRIPTION]
        old = self._store.of_server(before) if before else None
        return _Plan(
            server=server,
            entry=self._merged(before, entry, old)
            if before
            else self._access.entry(server, {**entry, "descriptions": description}, is_found=True),
            command=command,
            secrets={f"{server}/{key}": value for key, value in answers.secrets.items()},
            record=self._record(reading, source, server, ServerChoices(plain_values(answers.given), tuple(command.env))),
            old=old,
            is_update=is_update,
        )

    def _target(self, bundle: str, wanted: str) -> tuple[str, bool]:
        """Returns the name of the server, and whether the server exists already.

        Raises:
            Conflict: another server has the name.
        """
        found = wanted or self._here(bundle)
        if found in self._config.settings.mcp_servers:
            if _origin(self._config.entries.get(found, {})).get("name") != bundle:
                raise name_is_taken(found)
            return found, True
        plain = clean_name("".join(" " if sign in FORBIDDEN_IN_NAMES else sign for sign in bundle)) or "bundle"
        return found or free_name(plain, {*self._config.settings.mcp_servers, *self._config.names}), False

    def _here(self, bundle: str) -> str:
        return next((name for name, entry in self._config.entries.items() if _origin(entry).get("name") == bundle), "")

    def _kept(self, server: str) -> Mapping[str, FieldValue]:
        record = self._store.of_server(server) if server else None
        return record.servers[server].values if record else {}

    async def _stored(self, server: str) -> set[str]:
        """Returns the keys whose secrets are stored."""
        return {name.removeprefix(f"{server}/") for name in await self._server_secrets.named_for(server)} if server else set()

    def _merged(self, server: str, entry: JsonObject, old: BundleRecord | None) -> JsonObject:
        """Returns the new entry with the user's own choices: rules, time-outs, variables."""
        before = self._config.server_entry(server).entry
        variables = dict(before.get("env") or {})
        ours = old.servers[server].variables if old else tuple(variables)
        env = {name: value for name, value in variables.items() if name not in ours} | entry.get("env", {})
        kept = {key: value for key, value in before.items() if key not in _OF_BUNDLE}
        return {**entry, **({"env": env} if env else {}), **kept}

    def _record(self, reading: BundleReading, source: str, server: str, choices: ServerChoices) -> BundleRecord:
        manifest, there = reading.manifest, [each for each in self._store.records if each.folder == reading.folder]
        servers = dict(there[0].servers) if there else {}
        return BundleRecord(
            folder=reading.folder,
            sha256=reading.file.sha256,
            name=manifest.name,
            title=manifest.title,
            version=manifest.version,
            author=manifest.author.name,
            source=source,
            installed_at=time.time(),
            servers={**servers, server: choices},
        )

    async def _carry_out(self, plan: _Plan, reading: BundleReading, access: AccessChoice | None) -> None:
        """Unpacks the bundle and adds its server to the settings; if one of these fails, nothing is changed."""
        before = next((each for each in self._store.records if each.folder == plan.record.folder), None)
        programs = {plan.command.inside} - {""}
        is_new = await finish_in_thread(self._store.place, plan.record, reading.file.path, programs)
        try:
            await finish_in_thread(self._store.save, plan.record)
            if plan.is_update:
                unneeded = await self._server_secrets.named_for(plan.server)
                await self._servers.update_mcp_server(plan.server, plan.entry, secrets=plan.secrets)
                await self._server_secrets.remove_unused(unneeded)
            else:
                await self._servers.add_mcp_server(plan.server, plan.entry, secrets=plan.secrets, access=access)
        except TooltrayError:
            if is_new:
                await finish_in_thread(self._store.remove, self._store.path(plan.record))
            elif before:
                await finish_in_thread(self._store.save, before)
            raise
        if plan.is_update:
            await finish_in_thread(self._store.drop_server, plan.server, plan.record.folder)

    def _snapshot(self, server: str, origin: Mapping[str, str], entry: JsonMapping) -> BundleSnapshot:
        found = next((each for each in self._store.records if each.sha256 == origin.get("sha256")), None)
        if found is None:  # the list of bundles was lost; the entry has the same facts
            name, version, folder = origin.get("name", ""), origin.get("version", ""), str(entry.get("cwd", ""))
            return BundleSnapshot(server, name, name, version, "", origin.get("sha256", ""), "", folder, 0.0)
        return BundleSnapshot(
            server=server,
            name=found.name,
            title=found.title,
            version=found.version,
            author=found.author,
            sha256=found.sha256,
            source=found.source,
            folder=str(self._store.path(found)),
            installed_at=found.installed_at,
        )


def _origin(entry: JsonMapping) -> Mapping[str, str]:
    """Returns the origin in an entry; empty if the origin is not a bundle."""
    origin = entry.get(ORIGIN)
    if not isinstance(origin, dict) or origin.get("kind") != "bundle":
        return {}
    return {key: value for key, value in origin.items() if isinstance(value, str)}
