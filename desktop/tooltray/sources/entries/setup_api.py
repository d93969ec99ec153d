"""The APIs about the settings besides the servers, and about the whole set-up and the remedies that the doctor proposes."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.settings_edits import merge_patch, settings_document
from tooltray.config.settings.widening import settings_widen
from tooltray.foundation.confirmation import confirm_widening
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.setup import SettingsDocument, SetupChange
from tooltray.foundation.verbs import always, verb
from tooltray.servers.launch.npm_config import has_password, normalised

if TYPE_CHECKING:
    from tooltray.sources.doctor.remedies import Remedies
    from tooltray.sources.entries.server_starts import ServerStarts
    from tooltray.sources.entries.setup import Setup


class SettingsApi:
    def __init__(self, *, config: McpConfHelper) -> None:
        self._config = config

    async def get_settings(self) -> SettingsDocument:
        """Returns the settings without the servers."""
        return settings_document(self._config.document)

    async def change_settings(self, changes: Mapping[str, Any], revision: str = "") -> SettingsDocument:
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


def _check_registries(changes: Mapping[str, Any]) -> None:
    """Checks addresses of registries as if the user had typed them; the settings refuse values that are not texts.

    Raises:
        TooltrayError: an address is not valid, or would bring a password into the settings.
    """
    given = changes.get("npmRegistries")
    added = [each.get("url") for each in given if isinstance(each, Mapping)] if isinstance(given, list) else []
    for url in (changes.get("customNpmRegistry"), *added):
        if isinstance(url, str) and has_password(normalised(url)):
            reason = Phrase("its address has a user name or password in it, which would stand in the settings")
            raise TooltrayError(
                Phrase("this npm registry cannot be used"), reason, Phrase("Leave it out of the address, and let npm sign in.")
            )


HARMLESS_REMEDIES = frozenset({"start"})


def _changes_what_runs(part: "SetupApi", arguments: Mapping[str, Any]) -> bool:
    """Requires a trusted token for a remedy that may change what is run, or where its packages come from."""
    return arguments["kind"] not in HARMLESS_REMEDIES


class SetupApi:
    def __init__(self, *, setup: "Setup", remedies: "Remedies", starts: "ServerStarts") -> None:
        self._setup, self._remedies, self._starts = setup, remedies, starts

    async def export_setup(self) -> dict[str, Any]:
        """Returns the servers and settings as one document, without secrets: a secret in plain text becomes `${secret:NAME}`."""
        return await self._setup.exported()

    async def preview_import(self, setup: Mapping[str, Any], replace: bool = False) -> list[SetupChange]:
        """Returns the changes that `import_setup` would make.

        Raises:
            TooltrayError: this is not a set-up.
        """
        return await self._setup.preview_import(setup, replace=replace)

    @verb(trusted=always)
    async def import_setup(self, setup: Mapping[str, Any], replace: bool = False) -> list[SetupChange]:
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
