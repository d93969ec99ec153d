"""The settings with verbs for single servers: what the user, the API and the command line change."""

import copy
from collections.abc import Mapping
from itertools import dropwhile
from pathlib import Path

from tooltray.config.settings import server_edits
from tooltray.config.settings.given_entries import BUILTIN_NAMES, check_name, read_entry
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.config.settings.settings import FileServerSettings
from tooltray.config.settings.settings_store import SettingsStore
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import EventBus
from tooltray.foundation.files.file_history import FileHistory
from tooltray.foundation.phrases import Phrase


class McpConfHelper(SettingsStore):
    """A SettingsStore that also adds, changes and removes single servers. For any other change use `edit`.

    Each verb raises TooltrayError if the settings cannot be written.
    """

    def __init__(self, path: Path, bus: EventBus, *, history: FileHistory | None = None) -> None:
        super().__init__(path, bus, history=history)
        self._followed_by: dict[str, tuple[str, ...]] = {}  # by the name of a removed server: its place, for an undo

    async def set_server(
        self,
        name: str,
        entry: Mapping[str, object] | MCPServerConfig,
        *,
        is_default: bool | None = None,
        revision: str = "",
        is_new: bool = False,
    ) -> None:
        """Adds a server, or replaces its entry. A server that was removed returns to its place.

        Args:
            entry: a mapping goes into the file unchanged.
            is_default: whether it starts with the hub; None leaves that unchanged.
            revision: of the entry that is replaced; empty: any.
            is_new: refuse to replace an entry, unless that entry cannot be used.

        Raises:
            Conflict: the entry has changed, or the name is taken.
            TooltrayError: the name or the entry cannot be used.
        """
        check_name(name, BUILTIN_NAMES)
        new = entry.to_entry() if isinstance(entry, MCPServerConfig) else copy.deepcopy(dict(entry))
        read_entry(name, new)
        before = self._followed_by.get(name, ())
        await self.edit(server_edits.entry(name, new, is_default=is_default, revision=revision, is_new=is_new, before=before))

    async def change_server(self, name: str, **fields: object) -> None:
        """Changes single fields of an entry, and leaves the rest as it was written. The entry of a server of another file is not changed:
        the choice is kept in the settings, beside it.

        Args:
            **fields: attributes of MCPServerConfig; None removes a field.

        Raises:
            TooltrayError: the server does not exist, the result cannot be used, or the field can only be changed in the other file.
        """
        if unknown := fields.keys() - MCPServerConfig.model_fields:
            raise TypeError(f"MCPServerConfig has no {', '.join(sorted(unknown))}")
        server = self.file_server(name)
        if server is None:
            return await self.edit(server_edits.fields(name, fields))
        if others := sorted(fields.keys() - FileServerSettings.model_fields):
            spelled = ", ".join(MCPServerConfig.model_fields[field].alias or field for field in others)
            raise TooltrayError(
                Phrase("'{name}' is not changed", name=name),
                Phrase("its entry is in {file}", file=server.file),
                Phrase("Change {spelled} there", spelled=spelled),
            )
        return await self.edit(server_edits.choices(name, fields))

    async def remove_server(self, name: str, *, revision: str = "") -> None:
        """Removes a server, also one whose entry cannot be used.

        Args:
            revision: as in `set_server`.

        Raises:
            NotFound: the server does not exist.
            Conflict: the entry has changed.
        """
        names = list(self.own_settings.mcp_servers)
        await self.edit(server_edits.without_entry(name, revision))
        self._followed_by[name] = tuple(dropwhile(lambda each: each != name, names))

    async def set_default(self, name: str, is_default: bool) -> None:
        """Decides whether a server starts with the hub.

        Raises:
            NotFound: the server does not exist.
        """
        if self.file_server(name):
            await self.edit(server_edits.choices(name, {"is_default": is_default}))
        else:
            await self.edit(server_edits.default(name, is_default, is_known=name in BUILTIN_NAMES))

    async def set_enabled(self, enabled: bool, *, paused_until: float = 0.0) -> None:
        """Switches all servers on or off (`mcpEnabled`).

        Args:
            paused_until: unix seconds at which they resume automatically; 0: when the user resumes them.
        """
        await self.edit(server_edits.enabled(enabled, paused_until))
