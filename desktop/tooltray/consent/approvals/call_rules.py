"""Applies rules on arguments to calls: rules of the settings, and rules that the user has made of calls.

For a tool without a rule this costs a look into two lists.
"""

import asyncio
import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from tooltray.catalogue.approval import is_excepted
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.views.modes import Modes
from tooltray.config.settings.call_rule import CallRule
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.rule_values import PROJECT
from tooltray.config.settings.settings import Settings
from tooltray.consent.approvals.asked_call import AskedCall
from tooltray.consent.approvals.grant_book import GrantBook
from tooltray.consent.approvals.grants import rule_of
from tooltray.consent.approvals.rule_coverage import Place, covers, covers_read, folder_of, is_for, needs_disk, read_arguments
from tooltray.consent.approvals.rule_words import folder_words, words
from tooltray.consent.approvals.suspicion import visible
from tooltray.foundation.errors import Problem
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.tasks import Spawn
from tooltray.protocol.sessions.call_timings import FROM_GRANT, FROM_RULES
from tooltray.servers.upstream.server_manager import ServerManager


class CallRules:
    """The rules on arguments of settings and grants. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        servers: ServerManager,
        tools: ToolManager,
        modes: Modes,
        grants: GrantBook,
        user_folder: Path,
        spawn: Spawn,
    ) -> None:
        """
        Args:
            user_folder: the user's own folder.
        """
        self._config, self._servers, self._tools, self._modes, self._grants = config, servers, tools, modes, grants
        self._home, self._spawn = str(user_folder), spawn
        self._looked_at: Settings | None = None  # the settings whose folders were checked last
        self._missing: frozenset[str] = frozenset()  # folders of its rules that do not exist

    async def allowed_by(self, call: AskedCall) -> str:
        """Returns which kind of rule allows a call, as the record names it; empty if none does."""
        of_settings, of_grants = list(self._of_settings(call)), list(self._of_grants(call))
        if not of_settings and not of_grants:
            return ""
        arguments = read_arguments(bytes(call.arguments))
        if arguments is None:
            return ""
        place = self.place(call.project)

        def found() -> str:
            if any(covers_read(rule, arguments, place) for rule in of_settings):
                return FROM_RULES
            return FROM_GRANT if any(covers_read(rule, arguments, place) for rule in of_grants) else ""

        return await asyncio.to_thread(found) if any(map(needs_disk, (*of_settings, *of_grants))) else found()

    def _of_settings(self, call: AskedCall) -> Iterator[CallRule]:
        """Yields the settings' rules for the tool, unless the user chose that it always asks."""
        of_client = self._modes.call_rules(call.state)
        server, tool = call.route.server, call.route.definition.name
        rules = self._servers.get(server).config.call_rules if of_client is None else of_client
        if rules and not (call.decision.is_excepted or call.route.decision.is_excepted):
            yield from (rule for rule in rules if rule.server in ("", server) and is_for(rule, tool))

    def _of_grants(self, call: AskedCall) -> Iterator[CallRule]:
        """Yields the grants' rules; for a tool that always asks, only rules made for this tool by its name."""
        tool, asks_always = call.route.definition.name, call.decision.is_excepted or call.route.decision.is_excepted
        for grant in self._grants.rules(call.route, call.client):
            if asks_always and not grant.tool:
                continue
            if (rule := rule_of(grant)) and is_for(rule, tool):
                yield rule

    def place(self, project: str) -> Place:
        """Returns the place of a session that works on a project."""
        return Place(project, self._home)

    async def is_plain_for(self, rule: CallRule, arguments: bytes, project: str) -> bool:
        """Returns whether a rule made of a call covers the call, and none of its folders is a link: then it is as wide as it reads."""
        place = self.place(project)

        def is_plain() -> bool:
            return covers(rule, arguments, place) and not any(led_to(folder, place) for folder in folders_of(rule))

        return await asyncio.to_thread(is_plain)

    # rules that no call can satisfy

    def problems(self) -> Iterator[Problem]:
        """Yields the problems of the rules on arguments in the settings, as of the last check of their folders."""
        self._look_soon()
        for server in self._servers:
            names, rules = self._tools.known_names(server.name), server.config.auto_approve
            for rule in server.config.call_rules:
                yield from (_problem(server.name, rule, why) for why in (*_why_no_tool(rule, names, rules), *self._why_no_path(rule)))
        for client, settings in self._config.settings.publish.clients.items():
            for rule in settings.call_rules or ():
                yield from (_problem(client, rule, why) for why in self._why_no_path(rule))

    def _why_no_path(self, rule: CallRule) -> list[str]:
        return [_no_folder(folder) for folder in folders_of(rule) if folder in self._missing]

    def _look_soon(self) -> None:
        """Checks the folders in the background if the settings have changed; the result is in later calls of `problems`."""
        if self._config.settings is not self._looked_at:
            self._looked_at, self._missing = self._config.settings, frozenset()
            if any(self._folders()):
                self._spawn(self.look(), name="folders of rules on arguments")

    async def look(self) -> None:
        """Checks whether the folders of the rules in the settings exist."""
        self._looked_at = self._config.settings
        self._missing = frozenset(await asyncio.to_thread(missing, list(self._folders()), self.place("")))

    def _folders(self) -> Iterator[str]:
        settings = self._config.settings
        servers = (rule for server in settings.mcp_servers.values() for rule in server.call_rules)
        clients = (rule for client in settings.publish.clients.values() for rule in client.call_rules or ())
        return (folder for rule in (*servers, *clients) for folder in folders_of(rule))


def folders_of(rule: CallRule) -> list[str]:
    """Returns the folders of a rule that have to exist, whatever project a session works on."""
    listed = (folder for condition in rule.arguments.values() for folder in condition.inside or ())
    return [folder for folder in listed if not folder.startswith(PROJECT)]


def missing(folders: Iterable[str], place: Place) -> list[str]:
    """Returns the folders that do not exist. Reads the disk."""
    return [folder for folder in folders if not os.path.isdir(folder_of(folder, place))]


def led_to(folder: str, place: Place) -> str:
    """Returns where a folder of a rule leads, if it is a link or lies behind one; empty for any other. Reads the disk."""
    whole = folder_of(folder, place)
    real = os.path.realpath(whole)
    return "" if real == whole else real


async def why_nothing(rule: CallRule, place: Place) -> tuple[str, ...]:
    """Returns why a rule cannot allow any call at present."""
    return tuple(map(_no_folder, await asyncio.to_thread(missing, folders_of(rule), place)))


def _no_folder(folder: str) -> str:
    return Phrase("there is no folder {folder}", folder=folder_words(folder))


def _why_no_tool(rule: CallRule, names: Collection[str], auto_approve: Collection[str]) -> Iterator[str]:
    """Yields why a rule applies to no tool; `names`: the known tools, empty if they are unknown."""
    known = [name for name in names if is_for(rule, name)]
    if names and not known:
        yield Phrase("there is no such tool")
    elif known and all(is_excepted(name, auto_approve) for name in known):
        yield Phrase("you chose that this tool asks always")


def _problem(owner: str, rule: CallRule, why: str) -> Problem:
    title = Phrase("A rule on arguments of '{name}' lets no call through", name=visible(owner))
    return Problem(title, Phrase("{why} ({rule})", why=why, rule=words(rule)), Phrase("Correct it in settings.json"))
