"""The API about the settings besides the servers."""

from collections.abc import Mapping
from typing import Any

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.settings_edits import merge_patch, settings_document
from tooltray.config.settings.widening import settings_widen
from tooltray.foundation.confirmation import confirm_widening
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.setup import SettingsDocument
from tooltray.servers.launch.npm_config import has_password, normalised


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
