"""A modern server's side of `subscriptions/listen`, for ScriptedServer, and the parts of a hub that keep the other side."""

from collections.abc import Callable
from typing import Any

from msgspec import Raw
from tests.fakes.heard import Record
from tests.fakes.hub_parts import HubParts, loaded
from tests.fakes.scripted_server import Copy, ScriptedServer, never

from tooltray.calls.subscriptions import Subscriptions
from tooltray.upstream.mcp_client import McpClient
from tooltray.upstream.server_listen import ServerListens

SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"
LISTENED = "subscriptions/listen"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
ALL = {kind: {"listChanged": True} for kind in ("tools", "prompts", "resources")}


def listenable(*tools: Any, capabilities: dict[str, Any] | None = None, eras: tuple[str, ...] = ("modern",)) -> ScriptedServer:
    """A server that can be listened to, and acknowledges everything."""
    server = ScriptedServer(*tools, eras=eras)
    declared = ALL if capabilities is None else capabilities
    server.handlers["server/discover"] = lambda copy, params: {"supportedVersions": ["2026-07-28"], "capabilities": declared}
    server.handlers[LISTENED] = acknowledging()
    return server


def acknowledging(honored: Callable[[Any], Any] = lambda wanted: wanted) -> Any:
    """Answers a listen with what `honored` makes of what is wanted, and keeps it open."""

    async def listen(copy: Copy, params: Any) -> Any:
        acknowledge(copy, honored(params["notifications"]), copy.server.asked.all[-1].id)
        await never(copy, params)

    return listen


def acknowledge(copy: Copy, honored: Any, id: Any) -> None:
    copy.notify(ACKNOWLEDGED, {"notifications": honored, "_meta": {SUBSCRIPTION_ID: id}})


def wanted(server: ScriptedServer) -> list[Any]:
    """What each listen so far asked for."""
    return [asked.params["notifications"] for asked in server.asked.all if asked.method == LISTENED]


class Following:
    """Listens and subscriptions of a hub's parts.

    Attributes:
        told: what the hub takes for said by servers although they did not say it.
    """

    def __init__(self, parts: HubParts) -> None:
        self.parts = parts
        self.told: Record[tuple[str, Any]] = Record()
        self.listens = ServerListens(spawn=parts.keeper.spawn, tell=self._tell)
        self.subscriptions = Subscriptions(servers=parts.servers, listens=self.listens, spawn=parts.keeper.spawn)
        parts.servers.listen(on_changed=lambda name: None, on_notification=self.listens.on_notification)
        parts.servers.listen_running(self.listens.on_running)
        parts.servers.listen_running(self.subscriptions.on_running)

    def _tell(self, client: McpClient, method: str, params: Raw) -> None:
        self.told.add((method, loaded(params)))
