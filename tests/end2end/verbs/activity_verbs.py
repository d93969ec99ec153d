"""What happened, as the journal of a real hub has it."""

import json

from tests.end2end.verbs.hub_at_work import Checks

CALLS = {"kinds": ["call"]}


async def called(hub, name="about"):
    """Calls a tool, and waits until that is written; returns its row."""
    await hub("call_tool", name=name, arguments={})
    await hub.until(lambda kind, data: kind == "ActivityWritten")
    rows = []
    while not rows:
        rows = [row for row in await hub("get_activity", filter=CALLS, limit=5) if row["entry"]["published"] == name]
    return rows[0]


async def activity(hub):
    row = await called(hub)
    entry = row["entry"]
    assert (entry["server"], entry["tool"], entry["outcome"], entry["client"], row["count"]) == ("kit", "about", "ok", "tooltray", 1)
    joined = await hub("get_activity", filter=CALLS, collapsed=True)
    assert joined[0]["first_id"] <= entry["id"]
    assert await hub("get_activity", filter={"servers": ["nowhere"]}) == []


async def entry(hub):
    row = await called(hub)
    found = await hub("get_activity_entry", id=row["entry"]["id"])
    assert found["allowed_by"] == "rules"
    assert found["times"]["server_s"] > 0
    assert "no entry" in await hub.refusal("get_activity_entry", id=10**9)


async def series(hub):
    await called(hub)
    points = await hub("get_activity_series", bars=4)
    assert len(points) == 4
    assert points[-1]["calls"] >= 1


async def figures(hub):
    await called(hub)
    for by, name in (("server", "kit"), ("client", "tooltray"), ("tool", "kit/about")):
        assert name in [each["name"] for each in await hub("get_activity_figures", by=by)]
    assert "no figures" in await hub.refusal("get_activity_figures", by="day")


async def counts(hub):
    await called(hub)
    assert (await hub("count_activity"))["entries"] >= 1


async def choices(hub):
    await called(hub)
    assert "kit" in (await hub("get_activity_choices"))["servers"]


async def tool_use(hub):
    await called(hub)
    used = await hub("get_tool_use", days=1)
    assert ("kit", "about") in [(each["server"], each["tool"]) for each in used]


async def calls_now(hub):
    assert await hub("get_calls_now") == []


async def recent_calls(hub):
    await called(hub)
    (last,) = await hub("get_recent_calls", limit=1)
    assert (last["tool"], last["server"], last["outcome"]) == ("about", "kit", "ok")


async def status(hub):
    await called(hub)
    said = await hub("get_journal_status")
    assert (said["path"], said["lost"], said["problem"]) == (str(hub.world.root / "activity.db"), 0, "")
    assert said["entries"] > 0


async def export(hub):
    await called(hub)
    path = hub.world.root / "activity.jsonl"
    written = await hub("export_activity", path=str(path), filter=CALLS)
    assert len(lines := path.read_text().splitlines()) == written
    assert json.loads(lines[-1])["kind"] == "call"
    path.unlink()


async def clear(hub):
    await called(hub)
    await hub("clear_activity")
    assert await hub("get_activity") == []
    await hub("undo_clear_activity")


async def undo_clear(hub):
    await called(hub)
    before = await hub("get_activity", limit=1)
    await hub("clear_activity")
    await hub("undo_clear_activity")
    assert await hub("get_activity", filter={"until": before[0]["entry"]["at"] + 0.001}, limit=1)
    assert "nothing to bring back" in await hub.refusal("undo_clear_activity")


CHECKS: Checks = {
    "get_activity": activity,
    "get_activity_entry": entry,
    "get_activity_series": series,
    "get_activity_figures": figures,
    "count_activity": counts,
    "get_activity_choices": choices,
    "get_tool_use": tool_use,
    "get_calls_now": calls_now,
    "get_recent_calls": recent_calls,
    "get_journal_status": status,
    "export_activity": export,
    "clear_activity": clear,
    "undo_clear_activity": undo_clear,
}
