"""A modern server's side of `subscriptions/listen`, for ScriptedServer, and the parts of a hub that keep the other side."""

from collections.abc import Callable
from typing import Any

from tests.fakes.scripted_server import Copy, ScriptedServer, never

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
