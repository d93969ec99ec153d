"""How servers are confined, at a real hub."""

from tests.end2end.verbs.hub_at_work import HABITS, Checks


async def confinement(hub):
    await hub("add_mcp_server", name="kept", config=HABITS, is_default=False)
    assert (await hub("get_confinement", server="kept"))["files"] == "open"
    await hub("set_confinement", server="kept", files="own", network="none", read=["/usr/share"])
    assert (await hub("get_mcp_servers"))["kept"]["confinement"] == {"files": "own", "network": "none", "read": ["/usr/share"]}
    assert (await hub.server("kept"))["confinement"]["network"] == "none"
    assert "read.0: must be the whole path" in await hub.refusal("set_confinement", server="kept", read=["share"])
    await hub("remove_mcp_server", name="kept")
    assert "no server 'kept'" in await hub.refusal("get_confinement", server="kept")


async def support(hub):
    assert (await hub("get_confinement_support")).keys() == {"files", "network", "hosts", "missing"}


CHECKS: Checks = {"get_confinement": confinement, "set_confinement": confinement, "get_confinement_support": support}
