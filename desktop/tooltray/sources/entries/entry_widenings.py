"""Finds what widens by a server's entry that is added, replaced or imported, and has a person confirm it; a program's proposal waits as a
whole instead.

An entry is compared with the existing one, else with the last removed one of its name, so that nothing is gained by removing a server and
adding it again. Any other entry is compared with UNTOLD.
"""

from collections.abc import AsyncIterator, Mapping
from typing import NamedTuple

from tooltray.config.settings.expansion import secret_names
from tooltray.config.settings.given_entries import read_entry
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.config.settings.widening import calls_widen, words_mislead
from tooltray.consent.approvals.rule_words import words
from tooltray.foundation.confirmation import OTHER_WORDS, YES_TO_CALLS, confirm_widening
from tooltray.foundation.phrases import Phrase
from tooltray.sources.entries.server_secrets import ServerSecrets

UNTOLD = MCPServerConfig(command="any")
"""A server that was added without a choice of permissions: it asks before it changes something."""
MORE, SECRETS = Phrase("Letting a server do more"), Phrase("Giving a server secrets of others")
MOST_REMOVED = 1000  # more than a user removes while Tooltray runs; beyond that the oldest is dropped


class Widening(NamedTuple):
    """The arguments of `confirm_widening`."""

    what: str
    about: Mapping[str, object]


class EntryWidenings:
    """The check of new and changed entries for wider permissions; belongs to the engine's loop."""

    def __init__(self, *, config: McpConfHelper, server_secrets: ServerSecrets) -> None:
        self._config, self._secrets = config, server_secrets
        self._removed: dict[str, MCPServerConfig] = {}

    def note_removed(self, name: str, entry: MCPServerConfig | None) -> None:
        """
        Args:
            entry: as it was in force; None: unknown.
        """
        if entry is None:
            return
        self._removed.pop(name, None)
        if len(self._removed) >= MOST_REMOVED:
            del self._removed[next(iter(self._removed))]
        self._removed[name] = entry

    async def confirm_new(self, name: str, entry: Mapping[str, object], like: MCPServerConfig | None = None) -> None:
        """Requests the user's confirmation of what a new server may do beyond the last server of its name, or else beyond the defaults.

        Args:
            like: the server that the new one copies; if given, the entry is compared with this server.

        Raises:
            Denied: the person did not confirm.
            TooltrayError: the entry is not valid.
        """
        await self._confirm(name, entry, like)

    async def confirm(self, name: str, entry: Mapping[str, object], revision: str) -> str:
        """Requests the user's confirmation of what a server may do only by its new entry; without an existing entry as `confirm_new`.

        Args:
            revision: of the entry to replace; empty: the revision at the time of the question.

        Returns:
            The revision of the entry that may be replaced; empty: no question was needed, and no revision was given.

        Raises:
            Denied: the person did not confirm.
            TooltrayError: the entry is not valid.
        """
        there = self._config.settings.mcp_servers.get(name)
        seen = self._config.revision(name) if there else ""
        return (revision or seen) if await self._confirm(name, entry, there) else revision

    async def told(self, name: str, entry: Mapping[str, object]) -> list[str]:
        """Returns what a person would have to confirm, each the beginning of a sentence; empty if nothing widens."""
        return [each.what for each in await self._found(name, entry, self._config.settings.mcp_servers.get(name))]

    async def _confirm(self, name: str, entry: Mapping[str, object], before: MCPServerConfig | None) -> bool:
        found = await self._found(name, entry, before)
        for each in found:
            await confirm_widening(each.what, server=name, **each.about)
        return bool(found)

    async def _found(self, name: str, entry: Mapping[str, object], before: MCPServerConfig | None) -> list[Widening]:
        was = before or self._removed.get(name, UNTOLD)
        return [each async for each in self._widenings(name, was, read_entry(name, entry))]

    async def _widenings(self, name: str, was: MCPServerConfig, now: MCPServerConfig) -> AsyncIterator[Widening]:
        if calls_widen(was, now):
            yield Widening(YES_TO_CALLS, {"rules": _rules(now), "rules_before": _rules(was)})
        if tools := [tool for tool, each in now.tool_overrides.items() if words_mislead(was.tool_overrides.get(tool), each)]:
            yield Widening(OTHER_WORDS, {"tools": tools})
        if now.confinement.widens(was.confinement):
            yield Widening(MORE, now.confinement.beyond(was.confinement))
        wanted = set(secret_names(now)) - set(secret_names(was))
        if owners := await self._secrets.owners(wanted, besides=name):
            yield Widening(SECRETS, {"secrets": [f"{secret} ({', '.join(owners[secret])})" for secret in sorted(owners)]})


def _rules(config: MCPServerConfig) -> list[str]:
    return [*config.auto_approve, *map(words, config.call_rules)]
