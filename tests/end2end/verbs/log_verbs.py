"""Logs: of the hub, of a server, and the protocol messages with one."""

from tests.end2end.verbs.hub_at_work import Checks


async def log(hub):
    await hub("start_server", name="habits")
    assert "out of cheese" in await hub.refusal("call_tool", name="die", arguments={})
    wanted = {"text": "Cheese", "levels": [], "since": 0, "until": 0}
    page = await hub("get_log", source="server:habits", wanted=wanted)
    assert [line["text"] for line in page["lines"] if line["kind"] == "output"][-1] == "out of cheese"
    assert any(line["kind"] == "mark" for line in (await hub("get_log", source="server:habits"))["lines"])
    records = (await hub("get_log", source="hub"))["lines"]
    assert any("habits" in record["detail"] for record in records)
    assert "no log 'nowhere'" in await hub.refusal("get_log", source="nowhere")


async def messages(hub):
    await hub("set_protocol_log", server="kit", for_s=60.0)
    await hub("get_tools", server="kit")
    await hub("restart_server", name="kit")
    said = [(line["direction"], line["text"]) for line in (await hub("get_log", source="messages:kit"))["lines"]]
    assert any(direction == "out" and text.startswith("tools/list") for direction, text in said)
    await hub("set_protocol_log", server="kit", for_s=0.0)
    assert (await hub("get_log", source="messages:kit"))["lines"] == []


CHECKS: Checks = {"get_log": log, "set_protocol_log": messages}
