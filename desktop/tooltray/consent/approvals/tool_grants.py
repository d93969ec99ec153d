"""Tools that a person allows by name, or all of a server that read: which a grant would be for, and the grant.

Above it: ApprovalsApi. Below it: GrantBook, which keeps grants, and ToolManager. Rules on arguments are RuleGrants' matter.
"""

from collections.abc import Mapping

from msgspec.structs import asdict

from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.tool_routes import Route
from tooltray.consent.approvals import suspicion
from tooltray.consent.approvals.approval_questions import mark, named_with_mark
from tooltray.consent.approvals.grant_book import GrantBook
from tooltray.consent.approvals.grant_ends import GrantEnd, check_end
from tooltray.consent.approvals.lasting_yeses import reads
from tooltray.foundation.errors import Conflict, NotFound, TooltrayError
from tooltray.foundation.files.json_text import revision_of
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.approvals import GrantSnapshot
from tooltray.foundation.snapshots.tools import CoveredTool
from tooltray.servers.upstream.server_manager import ServerManager


class ToolGrants:
    """Has no state of its own."""

    def __init__(self, *, servers: ServerManager, tools: ToolManager, grants: GrantBook) -> None:
        self._servers, self._tools, self._grants = servers, tools, grants

    async def preview(self, server: str, kind: str, tool: str) -> list[CoveredTool]:
        """See ApprovalsApi.preview_grant."""
        routes = await self._routes_for(server, kind, tool)
        revision = _revision(routes)
        listed = [(each, routes.get(each.original_name)) for each in await self._tools.snapshots(server)]
        return [
            CoveredTool(**asdict(each), warnings=suspicion.warnings(route.definition), revision=revision) for each, route in listed if route
        ]

    async def allow(self, server: str, kind: str, tool: str, client: str, end: GrantEnd, seen: str) -> GrantSnapshot:
        """See ApprovalsApi.add_grant."""
        check_end(end)
        routes = await self._routes_for(server, kind, tool)
        if seen and seen != _revision(routes):
            raise Conflict(Phrase("the tools have changed since they were shown"), hint=Phrase("Look at them once more."))
        return await self._grants.allow(server, "tool" if kind == "tool" else "reads", routes, client=client, end=end)

    async def definitions(self, server: str, kind: str, tool: str) -> list[str]:
        """The tools that a grant would be for as they are defined now, each with the beginning of its mark."""
        await self._tools.published(server)  # one that was never listed would be another one after the yes
        routes = reads(self._tools, server) if kind == "reads" else self._tools.routes(server)
        wanted = routes if kind == "reads" else {tool: routes[tool]} if tool in routes else {}
        return [named_with_mark(name, mark(route)) for name, route in wanted.items()]

    async def _routes_for(self, server: str, kind: str, tool: str) -> dict[str, Route]:
        """The tools that a grant would be for.

        Raises:
            TooltrayError: there is no such server, tool or kind, or nothing that it would allow.
        """
        self._servers.get(server)
        await self._tools.published(server)  # waits for one that was never listed
        if kind not in ("tool", "reads"):
            raise TooltrayError(
                Phrase("'{kind}' is no kind of grant", kind=suspicion.visible(kind)), hint=Phrase("It is 'tool' or 'reads'.")
            )
        if kind == "reads":
            routes = reads(self._tools, server)
            if not routes:
                raise NotFound(
                    Phrase("'{server}' has no tools that read", server=server), hint=Phrase("See them with `tooltray tools list`.")
                )
            return routes
        found = self._tools.routes(server).get(tool)
        if found is None:
            shown = suspicion.visible(tool)
            raise NotFound(
                Phrase("'{server}' offers no tool '{shown}'", server=server, shown=shown),
                hint=Phrase("The server's own name is wanted; see `tooltray tools list --json`."),
            )
        return {tool: found}


def _revision(routes: Mapping[str, Route]) -> str:
    """Changes with each of some tools, and with which these are."""
    return revision_of({name: mark(route) for name, route in routes.items()})
