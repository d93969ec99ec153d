"""Which project a server works on."""

import asyncio
import contextlib
import json
import sys

from tests.end2end.verbs.hub_at_work import SERVERS, Checks


@contextlib.asynccontextmanager
async def in_project(hub, **fields):
    """A server `here` that starts for a project; gives a folder that may be one."""
    folder = hub.world.home / "a project"
    folder.mkdir()
    config = {"command": sys.executable, "args": [str(SERVERS / "in_project.py")], "autoApprove": ["all"], "deferredStartup": True}
    await hub("add_mcp_server", name="here", config={**config, **fields}, is_default=False)
    yield str(folder.resolve())
    await hub("remove_mcp_server", name="here")
    folder.rmdir()


async def allowed_folders(hub):
    assert await hub("get_allowed_folders") == []


async def allow_folder(hub):
    async with in_project(hub) as folder:
        assert await hub("allow_folder", path=folder) == folder
        assert await hub("get_allowed_folders") == [folder]
        assert "the root of everything" in await hub.refusal("allow_folder", path="/")
        await hub("disallow_folder", path=folder)


async def disallow_folder(hub):
    async with in_project(hub) as folder:
        assert "not allowed" in await hub.refusal("disallow_folder", path=folder)
        await hub("start_for_project", server="here", path=folder)
        await hub("disallow_folder", path=folder)
        assert ((await hub.server("here"))["copies"], await hub("get_allowed_folders")) == ([], [])


async def start_for_project(hub):
    async with in_project(hub, startupArgsTemplate=[str(SERVERS / "in_project.py"), "{project_name}"]) as folder:
        await hub("start_for_project", server="here", path=folder)
        said = await hub("call_tool", name="where", arguments={})
        assert json.loads(said["content"][0]["text"])["args"] == ["a project"]
        assert [copy["path"] for copy in (await hub.server("here"))["copies"]] == [folder]
        assert "no server that starts for a project" in await hub.refusal("start_for_project", server="kit", path=folder)
        await hub("disallow_folder", path=folder)


async def start_without_project(hub):
    async with in_project(hub):
        assert "waits for a project" in await hub.refusal("start_server", name="here")
        await hub("start_without_project", server="here")
        assert (await hub.server("here"))["state"] == "running"


async def session_project(hub):
    async with in_project(hub) as folder:
        bridge = hub.world.start_bridge("--no-start")
        await asyncio.to_thread(bridge.initialize)
        (session,) = [each for each in await hub("get_sessions") if each["client"] == "end2end" and each["is_connected"]]
        await hub("set_session_project", session=session["id"], path=folder)
        (session,) = [each for each in await hub("get_sessions") if each["id"] == session["id"]]
        assert session["project"] == {"path": folder, "name": "a project", "source": "person"}
        await asyncio.to_thread(bridge.end)
    assert "there is no session" in await hub.refusal("set_session_project", session="nobody", path="/")


async def reset_deferred(hub):
    async with in_project(hub):
        await hub("start_without_project", server="here")
        await hub("reset_deferred_state")
        assert ((await hub.server("here"))["state"], (await hub.server("here"))["copies"]) == ("waiting", [])


async def defer(hub):
    async with in_project(hub):
        await hub("set_deferred", server="here", deferred=True, template=["{project_path}"])
        assert (await hub("get_mcp_servers"))["here"]["startupArgsTemplate"] == ["{project_path}"]
        await hub("set_deferred", server="here", deferred=False)
        assert (await hub.server("here"))["is_deferred"] is False


CHECKS: Checks = {
    "get_allowed_folders": allowed_folders,
    "allow_folder": allow_folder,
    "disallow_folder": disallow_folder,
    "start_for_project": start_for_project,
    "start_without_project": start_without_project,
    "set_session_project": session_project,
    "reset_deferred_state": reset_deferred,
    "set_deferred": defer,
}
