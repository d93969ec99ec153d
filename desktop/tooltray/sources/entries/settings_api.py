"""The APIs about the settings besides the servers, the whole set-up, the secrets, and files with servers.

Values of secrets can be set, but are never returned.
"""

from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, get_args

from tooltray.config.secrets.secrets import BACKUP_SECRET, SecretStore
from tooltray.config.secrets.vaults import SecretBackend, SecretsAbsent
from tooltray.config.settings.expansion import secret_names
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.settings_edits import merge_patch, secret_backend, settings_document
from tooltray.config.settings.widening import settings_widen
from tooltray.consent.tokens.api_tokens import TRUSTED_SECRET
from tooltray.foundation.confirm_widening import confirm_widening, note_narrowing
from tooltray.foundation.errors import SecretsUnreachable, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.approvals import TrustedEntry, TrustRequest
from tooltray.foundation.snapshots.setup import (
    ReloadChange,
    ServerFileSnapshot,
    ServerRemoval,
    SettingsDocument,
    SetupChange,
    StoredSecrets,
)
from tooltray.foundation.verbs import JsonMapping, JsonObject, always, verb
from tooltray.servers.launch.npm_config import has_password, normalised

if TYPE_CHECKING:
    from tooltray.sources.doctor.remedies import Remedies
    from tooltray.sources.entries.proposals import Proposals
    from tooltray.sources.entries.server_entries import ServerStarts
    from tooltray.sources.entries.server_secrets import ServerSecrets
    from tooltray.sources.entries.setup import Setup
    from tooltray.sources.project_files.project_servers import ProjectServers
    from tooltray.sources.project_files.server_files import ServerFiles
    from tooltray.sources.project_files.trust_decisions import InMemoryTrust


class SettingsApi:
    def __init__(self, *, config: McpConfHelper) -> None:
        self._config = config

    async def get_settings(self) -> SettingsDocument:
        """Returns the settings without the servers."""
        return settings_document(self._config.document)

    async def change_settings(self, changes: JsonMapping, revision: str = "") -> SettingsDocument:
        """Changes the given settings, all or none; returns the settings afterwards, without the servers.

        Args:
            changes: the new values, in the spelling of the file; null removes a setting (JSON Merge Patch, RFC 7396).
            revision: of the settings to change; empty: any.

        Raises:
            Conflict: the settings have changed.
            TooltrayError: a value cannot be used, or is not to be changed here; or the settings cannot be written.
        """
        _check_registries(changes)
        if settings_widen(changes, self._config.own_settings):
            revision = revision or settings_document(self._config.document).revision  # the confirmation may come minutes later
            await confirm_widening(Phrase("Changing settings that allow more"), settings=list(changes))
        await self._config.edit(merge_patch(changes, revision))
        return settings_document(self._config.document)


def _check_registries(changes: JsonMapping) -> None:
    """Checks addresses of registries as if the user had typed them; the settings refuse values that are not texts.

    Raises:
        TooltrayError: an address is not valid, or would bring a password into the settings.
    """
    given = changes.get("npmRegistries")
    added = [each.get("url") for each in given if isinstance(each, Mapping)] if isinstance(given, list) else []
    for url in (changes.get("customNpmRegistry"), *added):
        if isinstance(url, str) and has_password(normalised(url)):
            reason = Phrase("its address contains a user name or password, which would be saved in the settings")
            raise TooltrayError(
                Phrase("this npm registry cannot be used"), reason, Phrase("Leave it out of the address, and let npm sign in.")
            )


HARMLESS_REMEDIES = frozenset({"start"})


def _changes_what_runs(part: "SetupApi", arguments: JsonMapping) -> bool:
    """Requires a trusted token for a remedy that may change what is run, or where its packages come from."""
    return arguments["kind"] not in HARMLESS_REMEDIES


class SetupApi:
    def __init__(self, *, setup: "Setup", remedies: "Remedies", starts: "ServerStarts") -> None:
        self._setup, self._remedies, self._starts = setup, remedies, starts

    async def export_setup(self) -> JsonObject:
        """Returns the servers and settings as one document, without secrets: a secret in plain text becomes `${secret:NAME}`."""
        return await self._setup.exported()

    async def preview_import(self, setup: JsonMapping, replace: bool = False) -> list[SetupChange]:
        """Returns the changes that `import_setup` would make.

        Raises:
            TooltrayError: this is not a set-up.
        """
        return await self._setup.preview_import(setup, replace=replace)

    @verb(trusted=always)
    async def import_setup(self, setup: JsonMapping, replace: bool = False) -> list[SetupChange]:
        """Imports an exported set-up, completely or not at all, and starts the servers that start with Tooltray; returns the changes.

        Args:
            setup: the result of `export_setup`, here or elsewhere.
            replace: whether servers of the same names are replaced; they are kept otherwise.

        Raises:
            TooltrayError: this is not a set-up, or the settings cannot be written.
        """
        changes = await self._setup.take_over(setup, replace=replace)
        await self._starts.start_all()
        return changes

    async def preview_reset(self) -> list[SetupChange]:
        """Returns the changes that `reset_to_default_servers` would make."""
        return await self._setup.preview_reset()

    @verb(trusted=always)
    async def reset_to_default_servers(self) -> list[SetupChange]:
        """Resets the starter servers that come with Tooltray; the user's own servers stay. Returns the changes.

        Raises:
            TooltrayError: the settings cannot be written.
        """
        changes = await self._setup.reset()
        await self._starts.start_all()
        return changes

    @verb(trusted=_changes_what_runs)
    async def apply_remedy(self, server: str, kind: str, value: str = "") -> str:
        """Applies a remedy that `diagnose` proposed, and returns a description of what was done.

        Args:
            kind, value: of the Remedy.

        Raises:
            TooltrayError: Tooltray cannot apply this remedy, or it did not work.
        """
        return await self._remedies.apply(server, kind, value)


async def _replaces_a_secret(part: "SecretsApi", arguments: JsonMapping) -> bool:
    """Requires a trusted token for a secret that exists or is used: it may be part of a command, and decides as whom a server acts."""
    name = arguments["name"]
    if name in await part.get_secret_names():
        return True
    return any(name in secret_names(server) for server in part._config.settings.mcp_servers.values())


async def _removes_a_used_secret(part: "SecretsApi", arguments: JsonMapping) -> bool:
    """Requires a trusted token to remove a secret in use: a program could set another value then."""
    name = arguments["name"]
    return name in await part.get_secret_names() and name not in await part.get_unused_secrets()


class SecretsApi:
    def __init__(self, *, config: McpConfHelper, secrets: SecretStore, server_secrets: "ServerSecrets", starts: "ServerStarts") -> None:
        self._config, self._secrets, self._server_secrets, self._starts = config, secrets, server_secrets, starts
        self._before: SecretBackend | None = None  # the place before the last choice

    async def get_secrets(self) -> StoredSecrets:
        """Returns which secrets are stored, which are used by what, and where they are kept. Values are not read, so that no keyring shows
        a prompt.
        """
        return await self._server_secrets.all()

    async def get_secret_names(self) -> list[str]:
        return sorted(await self._secrets.names())

    @verb(trusted=_replaces_a_secret)
    async def set_secret(self, name: str, value: str) -> None:
        if name in (TRUSTED_SECRET, BACKUP_SECRET):
            raise TooltrayError(Phrase("'{name}' is kept by Tooltray itself", name=name), hint=Phrase("Choose another name"))
        await self._secrets.set(name, value)
        self._starts.retry_failed()

    @verb(trusted=_removes_a_used_secret)
    async def remove_secret(self, name: str) -> None:
        """Deletes a secret; for half a minute `restore_secret` puts it back.

        Raises:
            NotFound: no secret has that name.
            TooltrayError: the secrets cannot be reached.
        """
        await self._secrets.remove(name)

    @verb(trusted=always)
    async def restore_secret(self, name: str) -> None:
        """Puts back a secret that was removed less than half a minute ago.

        Raises:
            NotFound: its value is not kept any more.
            Conflict: another secret of that name exists now.
            TooltrayError: the secrets cannot be reached.
        """
        await self._secrets.restore(name)
        self._starts.retry_failed()

    async def preview_removal(self, name: str) -> ServerRemoval:
        """Returns the secrets that would be deleted with a server, and those that would be kept since something else uses them."""
        return await self._server_secrets.of(name)

    async def get_unused_secrets(self) -> list[str]:
        """Returns the names of the secrets that no server uses, not even one of a known project or file.

        Raises:
            TooltrayError: the secrets cannot be read.
        """
        return await self._server_secrets.unused()

    async def remove_unused_secrets(self, names: list[str]) -> list[str]:
        """Deletes the given secrets except those that a server uses at this moment; returns the names of the deleted ones.

        Raises:
            TooltrayError: the secrets cannot be reached.
        """
        return await self._server_secrets.remove_unused(names)

    async def check_secrets(self) -> str:
        """Checks that the place of the secrets can be used; returns which one it is: `keyring`, `file` or `memory`.

        Raises:
            TooltrayError: it cannot be used; the error distinguishes absent, locked and denied.
        """
        await self._secrets.check()
        return self._secrets.kind

    async def unlock_secrets(self, passphrase: str) -> None:
        await self._secrets.unlock(passphrase)
        self._starts.retry_failed()

    async def _is_left(self, backend: SecretBackend) -> bool:
        """Reports whether the choice replaces a usable place. It does not without a keyring, or when returning to the former place from one
        that was just chosen and cannot be opened.
        """
        try:
            await self._secrets.check()
        except SecretsAbsent:
            return False
        except SecretsUnreachable:
            return backend != self._before
        return True

    async def set_secret_backend(self, kind: str) -> None:
        """Chooses where secrets are kept: `keyring`, `file` or `memory`; secrets in other places stay there.

        Raises:
            Denied: a person did not confirm the other place.
            TooltrayError: the name is not one of these, or the settings cannot be written.
        """
        backend, before = _backend(kind), self._secrets.kind
        if backend != before and await self._is_left(backend):
            await confirm_widening(Phrase("Keeping secrets in another place"), {"from": before}, to=backend)
        await self._config.edit(secret_backend(backend))
        self._before = before
        self._starts.use_secret_backend()


def _backend(kind: str) -> SecretBackend:
    for backend in get_args(SecretBackend):
        if kind == backend:
            return backend  # type: ignore[no-any-return]
    raise TooltrayError(
        Phrase("'{kind}' is not a place for secrets", kind=kind),
        hint=Phrase("Choose one of {secretbackend}.", secretbackend=", ".join(get_args(SecretBackend))),
    )


YES_TO_SERVERS = Phrase("Allowing a project's servers")
DIGEST_LENGTH = 16  # of a digest in the audit trail


class FilesApi:
    def __init__(
        self, *, files: "ServerFiles", project_servers: "ProjectServers", proposals: "Proposals", inmemory_trust: "InMemoryTrust"
    ) -> None:
        self._files, self._project_servers, self._proposals, self._inmemory_trust = files, project_servers, proposals, inmemory_trust

    async def get_server_files(self) -> list[ServerFileSnapshot]:
        """Returns the settings and all other files with servers, as last read."""
        return self._files.snapshots()

    async def get_trust_requests(self, project: str = "") -> list[TrustRequest]:
        """Returns the requests for a person's consent: entries of projects' own files, proposals of programs, and servers inside Tooltray.

        Args:
            project: a folder, whose file's entries are returned even if it is not in use; empty: all projects in use, and the other kinds.

        Raises:
            TooltrayError: this folder cannot be a project, or its file cannot be read; the error has the reason.
        """
        requests = await self._project_servers.trust_requests(project)
        return requests if project else [*requests, *await self._inmemory_trust.requests(), *await self._proposals.requests()]

    async def trust_entries(self, project: str, entries: Mapping[str, str]) -> list[str]:
        """Consents to entries of a project's own file, to proposals of programs, or to servers inside Tooltray; those in use start.

        Args:
            project: the folder; empty: proposals of programs, and servers of the settings that would run inside Tooltray.
            entries: the digest of the content that the person saw, by the entry's name in the file.

        Returns:
            The names of the servers here.

        Raises:
            Conflict: one of them has changed; none was trusted.
            TooltrayError: the entry does not exist, or the consent cannot be saved.
        """
        commands = commands_of(await known_requests(self.get_trust_requests(project)), entries)
        await confirm_widening(YES_TO_SERVERS, commands, project=project, **about_entries(entries))
        if project:
            return await self._project_servers.trust(project, entries)
        return await trust_others(entries, self._inmemory_trust, self._proposals)

    async def distrust_entries(self, project: str, entry: str = "") -> None:
        """Revokes a consent and stops the servers that run by it; declines a program's proposal.

        Args:
            project: the folder; empty: a program's proposal, or a server inside Tooltray.
            entry: its name in the file; empty: all entries of this project.

        Raises:
            NotFound: the consent does not exist.
        """
        if project:
            await self._project_servers.distrust(project, entry)
        else:
            await distrust_other(entry, self._inmemory_trust, self._proposals)
        await note_narrowing(YES_TO_SERVERS, project=project, entry=entry)

    async def restore_trust(self, project: str, entry: str) -> list[str]:
        """Undoes the last `distrust_entries` of one entry of a project's file, and restores the choices for its server.

        Returns:
            The server's name here.

        Raises:
            Conflict: its content has changed.
            NotFound: it is not the consent that was revoked last.
            TooltrayError: the consent cannot be saved.
        """
        await confirm_widening(YES_TO_SERVERS, project=project, entry=entry)
        return await self._project_servers.restore(project, entry)

    async def get_trusted_entries(self) -> list[TrustedEntry]:
        """Returns the entries that a person consented to, also of projects that are not in use."""
        return self._project_servers.trusted()

    async def preview_reload(self) -> list[ReloadChange]:
        """Returns the changes that `reload` would make."""
        return await self._files.preview_reload()

    async def reload(self) -> list[ReloadChange]:
        """Reads the settings and all files with servers again, applies the changes and returns them.

        A changed file is also reloaded automatically, unless `hotReload` is off.
        """
        return await self._files.reload()


async def known_requests(asked: Awaitable[list[TrustRequest]]) -> list[TrustRequest]:
    """Returns the waiting requests, to show in a confirmation; empty if they cannot be read, which the following step reports."""
    try:
        return await asked
    except TooltrayError:
        return []


def about_entries(entries: Mapping[str, str]) -> dict[str, object]:
    """Returns the facts that a consent to entries covers: each name, and the digest of the programs and files that the entry starts."""
    return {"entries": list(entries), "digests": [f"{name} {digest[:DIGEST_LENGTH]}" for name, digest in entries.items()]}


def commands_of(requests: Sequence[TrustRequest], entries: Mapping[str, str]) -> dict[str, object]:
    """Returns the commands of entries, to show in a confirmation."""
    return {"commands": [f"{each.entry}: {each.target}" for each in requests if each.entry in entries]}


async def trust_others(entries: Mapping[str, str], inmemory_trust: "InMemoryTrust", proposals: "Proposals") -> list[str]:
    """Consents to entries outside projects' files; if a proposal and a server have the same name, the proposal is accepted."""
    inside = {name: digest for name, digest in entries.items() if inmemory_trust.waits(name) and not proposals.waits(name)}
    proposed = {name: digest for name, digest in entries.items() if name not in inside}
    return [*(await inmemory_trust.trust(inside) if inside else []), *(await proposals.trust(proposed) if proposed else [])]


async def distrust_other(entry: str, inmemory_trust: "InMemoryTrust", proposals: "Proposals") -> None:
    """Declines or revokes one entry outside projects' files; if a proposal and a server have the same name, the proposal is declined."""
    if inmemory_trust.knows(entry) and not proposals.waits(entry):
        await inmemory_trust.distrust(entry)
    else:
        await proposals.withdraw(entry)
