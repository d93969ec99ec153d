"""How servers are confined, at a real hub."""

from tests.end2end.verbs.hub_at_work import HABITS, Checks


async def confinement(hub):
    await hub("add_mcp_server", name="kept", config=HABITS, is_default=False)
    assert (await hub("get_confinement", server="kept"))["files"] == "open"
    await hub("set_confinement", server="kept", files="own", network="none", read=["/usr/share"])
    assert (await hub("get_mcp_servers"))["kept"]["confinement"] == {"files": "own", "network": "none", "read": ["/usr/share"]}
    assert (await hub.server("kept"))["confinement"]["network"] == "none"
    assert "'share' is no whole path" in await hub.refusal("set_confinement", server="kept", read=["share"])
    assert "was not refused to 'kept'" in await hub.refusal("allow_refused", server="kept", kind="host", name="example.org:443")
    await hub("remove_mcp_server", name="kept")
    assert "no server 'kept'" in await hub.refusal("get_confinement", server="kept")


async def support(hub):
    assert (await hub("get_confinement_support")).keys() == {"files", "network", "hosts", "missing"}


async def watch(hub):
    await hub("add_mcp_server", name="watched", config=HABITS, is_default=False)
    assert (await hub("get_watch", server="watched"))["state"] == "off"
    assert "is not being watched" in await hub.refusal("stop_watching", server="watched")
    assert "Nothing is proposed" in await hub.refusal("apply_proposal", server="watched")
    assert (await hub("watch_server", server="watched", duration_s=60.0))["state"] == "watching"
    assert "already" in await hub.refusal("watch_server", server="watched")
    ended = await hub("stop_watching", server="watched")
    assert (ended["state"], ended["proposal"]["network"]) == ("done", "none")
    confined = await hub("apply_proposal", server="watched")
    assert confined["files"] != "open"
    assert (await hub.server("watched"))["confinement"]["network"] == "none"
    await hub("remove_mcp_server", name="watched")


CHECKS: Checks = {
    "allow_refused": confinement,
    "get_confinement": confinement,
    "set_confinement": confinement,
    "get_confinement_support": support,
    "watch_server": watch,
    "get_watch": watch,
    "stop_watching": watch,
    "apply_proposal": watch,
}
