"""What a person allows: calls that wait, grants, tools that changed, rules of a server."""

import contextlib
import re
import sys

from tests.end2end.verbs.hub_at_work import SERVERS, Checks


@contextlib.asynccontextmanager
async def notes(hub):
    """A server with one tool, which writes and is not approved; gives the file that says how it is defined."""
    file = hub.world.home / "notes.txt"
    file.write_text("Saves a note.")
    config = {"command": sys.executable, "args": [str(SERVERS / "notes.py"), str(file)], "autoApprove": []}
    await hub("add_mcp_server", name="notes", config=config, is_default=False)
    await hub("start_server", name="notes")
    try:
        yield file
    finally:
        await hub("remove_mcp_server", name="notes")
        file.unlink()


async def refused_note(hub, text="a", **arguments):
    """Calls the tool, which is refused; returns the id under which that is remembered."""
    said = await hub.refusal("call_tool", name="save_note", arguments={"text": text, **arguments})
    found = re.search(r"waits (?:in Tooltray )?as (\w+)", said)  # other calls, of checks before this one, are remembered, too
    assert found, said
    assert found[1] in [each["id"] for each in await hub("get_approvals")], said
    return found[1]


async def waiting_approvals(hub):
    async with notes(hub):
        id = await refused_note(hub, "never")
        await hub("answer_approval", id=id, answer="refuse")
        assert id not in [each["id"] for each in await hub("get_approvals")]
        again = await hub.refusal("call_tool", name="save_note", arguments={"text": "never"})
        assert "the user declined this call of 'save_note' a short while ago" in again
        await hub("answer_approval", id=await refused_note(hub, "never"), answer="refuse")


async def disk_diff(hub):
    path = hub.world.home / "overwritten.md"
    path.write_text("title\nold\n")
    async with notes(hub):
        id = await refused_note(hub, path=str(path), content="title\nnew\n")
        assert await hub("get_approval_diff", id=id) == [" title", "-old", "+new"]
        await hub("answer_approval", id=id, answer="refuse")
        assert await hub("get_approval_diff", id=id) == []


async def approve(hub):
    async with notes(hub):
        assert "waits no longer" in await hub.refusal("answer_approval", id="none", answer="once")
        await hub("answer_approval", id=await refused_note(hub), answer="once")
        assert (await hub("call_tool", name="save_note", arguments={"text": "a"}))["content"][0]["text"] == "saved a"
        await refused_note(hub)


async def grants(hub):
    async with notes(hub):
        made = await hub("add_grant", server="notes", tool="save_note", expires_in_s=60.0)
        assert made in await hub("get_grants")


async def preview_grant(hub):
    async with notes(hub):
        assert [each["name"] for each in await hub("preview_grant", server="notes", tool="save_note")] == ["save_note"]
        assert "has no tools that read" in await hub.refusal("preview_grant", server="notes", kind="reads")


async def add_grant(hub):
    async with notes(hub):
        assert "offers no tool 'gone'" in await hub.refusal("add_grant", server="notes", tool="gone")
        await hub("add_grant", server="notes", tool="save_note", client="other")
        await refused_note(hub)
        await hub("add_grant", server="notes", tool="save_note", client="tooltray")
        assert "content" in await hub("call_tool", name="save_note", arguments={"text": "a"})


async def remove_grant(hub):
    async with notes(hub):
        made = await hub("add_grant", server="notes", tool="save_note")
        await hub("remove_grant", id=made["id"])
        assert made not in await hub("get_grants")
        await refused_note(hub)


async def redefined(hub, file):
    """The server comes back with another definition; waits until the hub has seen it."""
    file.write_text("Sends a note.")
    await hub("restart_server", name="notes")
    while not await hub("get_tool_changes"):
        await hub.until(lambda kind, data: kind == "ToolListChanged")


async def tool_changes(hub):
    async with notes(hub) as file:
        await hub("add_grant", server="notes", tool="save_note")
        assert await hub("get_tool_changes") == []
        await redefined(hub, file)
        (change,) = await hub("get_tool_changes")
        assert {"-description: Saves a note.", "+description: Sends a note."} <= set(change["diff"])
        assert [each["is_held"] for each in await hub("get_tools", server="notes")] == [True]


async def accept_change(hub):
    async with notes(hub) as file:
        await hub("add_grant", server="notes", tool="save_note")
        await redefined(hub, file)
        await refused_note(hub)
        await hub("accept_tool_change", server="notes", tool="save_note")
        assert "content" in await hub("call_tool", name="save_note", arguments={"text": "a"})
        assert "has not changed" in await hub.refusal("accept_tool_change", server="notes", tool="save_note")


async def server_approvals(hub):
    assert "means nothing" in await hub.refusal("set_server_auto_approve", server="kit", rules=["hint:loud"])
    assert "no server 'nobody'" in await hub.refusal("set_server_auto_approve", server="nobody", rules=["read"])
    before = (await hub("get_server_entry", name="kit"))["entry"].get("autoApprove", ["read"])
    await hub("set_server_auto_approve", server="kit", rules=["names:get_*"])
    assert (await hub("get_server_entry", name="kit"))["counts"]["autoApprove"] == ["names:get_*"]
    await hub("set_server_auto_approve", server="kit", rules=before)


async def restore_grant(hub):
    async with notes(hub):
        made = await hub("add_grant", server="notes", tool="save_note")
        await hub("remove_grant", id=made["id"])
        assert await hub("restore_grant", id=made["id"]) == made
        assert made in await hub("get_grants")


async def screen_lock(hub):
    async with notes(hub):
        assert "hears when the screen locks" in await hub.refusal("tell_screen_lock", is_locked=False)
        await hub("tell_screen_lock", is_locked=True)
        assert "locked just now" in await hub.refusal("add_grant", server="notes", tool="save_note", until="lock")
        await hub("tell_screen_lock", is_locked=None)
        assert "nothing here can tell" in await hub.refusal("add_grant", server="notes", tool="save_note", until="lock")


RULE = {"tool": "save_note", "arguments": {"text": {"oneOf": ["a", "b"]}}}


async def rules_on_arguments(hub):
    async with notes(hub):
        id = await refused_note(hub)
        assert [each["answer"] for asked in await hub("get_approvals") if asked["id"] == id for each in asked["rules"]] == ["rule-1"]
        shown = await hub("preview_rule", server="notes", rule=RULE)
        assert shown["words"] == 'save_note, where text is "a" or "b"; no other arguments'
        assert [each["is_covered"] for each in shown["calls"]] == [True]
        assert "is not known" in await hub.refusal("add_rule", server="notes", rule={**RULE, "argument": {}})
        made = await hub("add_rule", server="notes", rule=RULE, client="tooltray")
        assert (made["kind"], made["words"]) == ("rule", shown["words"])
        assert (await hub("call_tool", name="save_note", arguments={"text": "b"}))["content"][0]["text"] == "saved b"
        await hub("answer_approval", id=await refused_note(hub, "c"), answer="refuse")


async def tool_approval(hub):
    async with notes(hub):
        await hub("set_tool_approval", server="notes", tool="save_note", approval="always")
        assert "content" in await hub("call_tool", name="save_note", arguments={"text": "a"})
        (said,) = [each for each in await hub("get_permissions") if each["server"] == "notes"]
        assert [(each["tool"], each["choice"], each["is_free"]) for each in said["tools"]] == [("save_note", "always", True)]
        await hub("set_tool_approval", server="notes", tool="save_note", approval="ask")
        await refused_note(hub)


CHECKS: Checks = {
    "get_approvals": waiting_approvals,
    "get_approval_diff": disk_diff,
    "answer_approval": approve,
    "get_grants": grants,
    "preview_grant": preview_grant,
    "add_grant": add_grant,
    "tell_screen_lock": screen_lock,
    "preview_rule": rules_on_arguments,
    "add_rule": rules_on_arguments,
    "remove_grant": remove_grant,
    "restore_grant": restore_grant,
    "get_permissions": tool_approval,
    "set_tool_approval": tool_approval,
    "get_tool_changes": tool_changes,
    "accept_tool_change": accept_change,
    "set_server_auto_approve": server_approvals,
}
