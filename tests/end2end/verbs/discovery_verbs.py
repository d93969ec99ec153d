"""Servers to find: a registry on the loopback, and the list of well-known ones."""

from tests.end2end.verbs.hub_at_work import NOWHERE, Checks
from tests.fakes.mcp_registry import server

NAME = "a/far"
FAR = {"type": "streamable-http", "url": f"{NOWHERE}/mcp", "headers": [{"name": "X-Mode", "default": "calm"}]}


def published(version):
    return server(NAME, version, remotes=[FAR])


async def refresh(hub):
    if NAME not in hub.mcp_registry.servers:
        hub.mcp_registry.put(published("1.0.0"))
    status = await hub("refresh_registry")
    assert (status["problem"], status["is_updating"]) == (None, False)
    assert status["servers"] == len(hub.mcp_registry.servers)


async def search(hub):
    await refresh(hub)
    found = await hub("search_registry", text="far", limit=5)
    assert ([hit["name"] for hit in found["hits"]], found["total"]) == ([NAME], 1)
    assert (await hub("search_registry", text="nothing of the kind"))["hits"] == []


async def show(hub):
    await refresh(hub)
    found = await hub("get_registry_server", name=NAME)
    (option,) = found["options"]
    assert (option["id"], option["kind"], option["problem"]) == ("remote-1", "remote", None)
    assert "no version" in await hub.refusal("get_registry_server", name=NAME, version="9.9.9")


async def preview(hub):
    await refresh(hub)
    given = {"name": NAME, "version": "", "option": "", "values": {"X-Mode": "wild"}}
    new = await hub("preview_registry_server", **given)
    assert (new["name"], new["url"], new["entry"]["headers"]) == ("far", f"{NOWHERE}/mcp", {"X-Mode": "wild"})
    assert "far" not in await hub("get_mcp_servers")
    assert "asks for" in await hub.refusal("preview_registry_server", **{**given, "values": {"other": "x"}})


async def add(hub):
    await refresh(hub)
    assert await hub("add_registry_server", name=NAME, version="1.0.0", option="remote-1", values={}, server="afar") == "afar"
    entry = (await hub("get_mcp_servers"))["afar"]
    assert (entry["url"], entry["headers"], entry["origin"]["version"]) == (f"{NOWHERE}/mcp", {"X-Mode": "calm"}, "1.0.0")
    assert "already" in await hub.refusal("add_registry_server", name=NAME, version="", option="", values={}, server="afar")
    await hub("remove_mcp_server", name="afar")


async def updates(hub):
    await refresh(hub)
    await hub("add_registry_server", name=NAME, version="", option="", values={}, server="afar")
    assert await hub("get_registry_updates") == []
    hub.mcp_registry.put(published("1.1.0"))
    await refresh(hub)
    (update,) = await hub("get_registry_updates")
    assert (update["server"], update["version"], update["newest"]) == ("afar", "1.0.0", "1.1.0")
    await hub("remove_mcp_server", name="afar")
    await again(hub)


async def update(hub):
    await refresh(hub)
    await hub("add_registry_server", name=NAME, version="", option="", values={}, server="afar")
    hub.mcp_registry.put(published("1.1.0"))
    await refresh(hub)
    await hub("update_registry_server", server="afar")
    assert (await hub("get_mcp_servers"))["afar"]["origin"]["version"] == "1.1.0"
    assert "newest version already" in await hub.refusal("update_registry_server", server="afar")
    await hub("remove_mcp_server", name="afar")
    await again(hub)


async def again(hub):
    """The registry as it was before."""
    hub.mcp_registry.put(published("1.0.0"))
    await refresh(hub)


async def starters(hub):
    listed = {each["id"]: each for each in await hub("get_starter_servers")}
    assert (listed["time"]["target"], listed["time"]["here"]) == ("uvx mcp-server-time", "")


async def add_starter(hub):
    await hub("set_mcp_enabled", enabled=False)  # so that nothing is downloaded
    assert await hub("add_starter_server", id="filesystem", values={"folders": ["/nowhere"]}, server="disk") == "disk"
    assert (await hub("get_mcp_servers"))["disk"]["args"][-1] == "/nowhere"
    assert "missing" in await hub.refusal("add_starter_server", id="filesystem", values={})
    await hub("remove_mcp_server", name="disk")
    await hub("set_mcp_enabled", enabled=True)


CHECKS: Checks = {
    "refresh_registry": refresh,
    "search_registry": search,
    "get_registry_server": show,
    "preview_registry_server": preview,
    "add_registry_server": add,
    "get_registry_updates": updates,
    "update_registry_server": update,
    "get_starter_servers": starters,
    "add_starter_server": add_starter,
}
