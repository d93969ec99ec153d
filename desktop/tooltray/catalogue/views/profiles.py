"""Profiles: named sets of servers and tools; and overrides of single tools."""

from collections.abc import Hashable, Iterator, Mapping

from tooltray.catalogue.skill import Skill
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.views.known_clients import KnownClients
from tooltray.config.naming import tool_settings
from tooltray.config.settings import view_settings
from tooltray.config.settings.file_server import FileServer
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.settings import ClientSettings, ProfileSettings
from tooltray.config.settings.settings_reading import UNREADABLE_PROFILE
from tooltray.config.settings.tool_override import ToolOverride
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.clients import ProfileSnapshot
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.builtin.hub_server import NAME as HUB
from tooltray.servers.upstream.visibility import Visibility

LONGEST_NAME = 60  # characters of an invalid name in a message


class Profiles:
    """The profiles in the settings. Belongs to the engine's loop.

    Attributes:
        visibility: the servers that exist for a session, regardless of its profile.
    """

    def __init__(self, *, config: McpConfHelper, clients: KnownClients, tools: ToolManager, visibility: Visibility) -> None:
        self._config, self._clients, self._tools, self.visibility = config, clients, tools, visibility

    def includes(self, state: SessionState, server: str, tool: str | None = None) -> bool:
        """Reports whether a session sees a server and has it, or one of its tools by the server's own name, in its profile."""
        return self.visibility.sees(state, server) and self.has(self.of(state), server, tool)

    def of(self, state: SessionState) -> str:
        """Returns the name of a session's profile: the one it requested, else the one of its kind of client; empty: no profile."""
        return state.profile or self._clients.settings(state.client).profile or ""

    def has(self, profile: str, server: str, tool: str | None = None) -> bool:
        """Reports whether a profile has a server or tool. An unknown profile has nothing, so that a removed profile gives no access."""
        if not profile:
            return True
        found = self.find(profile)
        return found is not None and _includes(found, server, tool)

    def includes_skill(self, state: SessionState, server: str, skill: Skill) -> bool:
        """Reports whether a session has one skill of a server."""
        if not self.includes(state, server):
            return False
        found = self.find(profile) if (profile := self.of(state)) else None
        only = found.skills.get(server) if found else None
        return only is None or skill.uri in only or skill.name in only

    def names_tools(self, profile: str, server: str) -> bool:
        """Reports whether the profile of this name selects single tools of a server."""
        found = self.find(profile)
        return found is not None and server in found.tools

    def find(self, name: str) -> ProfileSettings | None:
        return self._config.settings.profiles.get(name)

    def content(self, name: str) -> Hashable:
        """Returns the contents of a profile as a value that can be compared."""
        found = self.find(name)
        return (found.servers, tuple(sorted(found.tools.items())), tuple(sorted(found.skills.items()))) if found else None

    def refusal(self, name: str) -> str:
        """Returns why a session cannot have this profile; empty if it can."""
        if not name or self.find(name):
            return ""
        return f"Tooltray has no profile '{name}'"

    def snapshots(self) -> list[ProfileSnapshot]:
        """Answers ViewsApi.get_profiles."""
        return [
            ProfileSnapshot(
                name, profile.servers, dict(profile.tools), profile.description, self._tool_count(profile), dict(profile.skills)
            )
            for name, profile in self._config.settings.profiles.items()
        ]

    def problems(self) -> Iterator[Problem]:
        """Yields problems of unknown names in profiles, and of unknown profiles in clients' settings."""
        settings = self._config.settings
        for name, profile in settings.profiles.items():
            if odd := list(self._oddities(profile)):
                yield Problem(
                    Phrase("The profile '{name}' names things that do not exist", name=name),
                    "; ".join(odd),
                    Phrase("Correct it: tooltray profiles set"),
                )
        for client, chosen in settings.publish.clients.items():
            if chosen.profile and chosen.profile not in (UNREADABLE_PROFILE, *settings.profiles):
                message = Phrase("profile '{profile}' not found, so its sessions see nothing", profile=chosen.profile)
                yield Problem(
                    Phrase("The profile of AI client '{client}' does not exist", client=client),
                    message,
                    Phrase("Choose another one for it."),
                )

    async def set_override(self, server: str, tool: str, shown: Mapping[str, object]) -> None:
        """Answers ViewsApi.set_tool_override.

        Args:
            shown: the given members of the override.
        """
        name = shown.get("name")
        if isinstance(name, str) and not tool_settings.NAME.fullmatch(name):
            raise TooltrayError(
                Phrase("{name} cannot be the name of a tool", name=repr(name[:LONGEST_NAME])),
                Phrase("a name has {name_in_words}", name_in_words=tool_settings.NAME_IN_WORDS),
            )
        override = view_settings.read_override(tool, shown)
        if file := self._config.file_server(server):
            await self._set_beside(file, server, tool, override)
        else:
            await self._config.edit(view_settings.tool_override(server, tool, shown))

    async def _set_beside(self, file: FileServer, server: str, tool: str, override: ToolOverride) -> None:
        """Sets an override for a server in another file: the settings need the whole set of overrides, because it replaces the file's."""
        now = {key: value for key, value in self._config.settings.mcp_servers[server].tool_overrides.items() if key != tool}
        before = self._config.settings.mcp_servers[server].tool_overrides.get(tool)
        if before:
            kept = {"result_limit": before.result_limit, "csv_tables": before.csv_tables, "flow": before.flow}
            override = override.model_copy(update=kept)
        if override != ToolOverride():
            now[tool] = override
        is_as_written = now == file.entry.config.tool_overrides
        await self._config.change_server(server, tool_overrides=None if is_as_written else now)

    async def set_for_results(self, field: str, value: object, server: str | None, tool: str | None, client: str | None) -> None:
        """Answers ViewsApi.set_result_limit and set_csv_tables.

        Args:
            field: of servers' entries, of overrides and of the settings of AI clients, as it is spelled in Python.
        """
        if bool(client) == bool(server) or (tool and not server):
            raise TooltrayError(Phrase("Name whose results you mean: those a server's (with or without a tool), or an AI client's"))
        if client:
            await self._config.edit(view_settings.client_field(client, ClientSettings.model_fields[field].alias, value))
        elif server and tool:
            await self._set_tool_field(server, tool, field, value)
        else:
            await self._config.change_server(server or "", **{field: value})

    async def _set_tool_field(self, server: str, tool: str, field: str, value: object) -> None:
        file = self._config.file_server(server)
        if file is None:
            await self._config.edit(view_settings.tool_member(server, tool, ToolOverride.model_fields[field].alias, value))
            return
        now = dict(self._config.settings.mcp_servers[server].tool_overrides)
        now[tool] = now.pop(tool, ToolOverride()).model_copy(update={field: value})
        if now[tool] == ToolOverride():
            del now[tool]
        await self._config.change_server(server, tool_overrides=None if now == file.entry.config.tool_overrides else now)

    def _tool_count(self, profile: ProfileSettings) -> int:
        """Returns how many tools of the user's servers a profile has; the hub's own are not counted, since every profile has them."""
        routes = (route for route in self._tools.all_routes() if route.server != HUB)
        return sum(_includes(profile, route.server, route.definition.name) for route in routes)

    def _oddities(self, profile: ProfileSettings) -> Iterator[str]:
        servers = self._tools.server_names
        for server in dict.fromkeys((*(profile.servers or ()), *profile.tools)):
            if server not in servers:
                yield f"server '{server}' not found"
        for server, tools in profile.tools.items():
            known = self._tools.known_names(server)
            yield from (f"'{server}' has no tool {tool[:LONGEST_NAME]!r}" for tool in tools if known and tool not in known)


def _includes(profile: ProfileSettings, server: str, tool: str | None) -> bool:
    """Reports whether a profile has a server or a tool. The hub's own tools are in every profile: with them a model reports to the user.
    Only a list of them leaves any out.
    """
    is_in = profile.servers is None or server in profile.servers or server == HUB
    return is_in and (tool is None or server not in profile.tools or tool in profile.tools[server])
