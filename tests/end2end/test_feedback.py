"""A model reports through the real bridge, a person answers on the command line, and nothing that was said is lost."""

import base64
import json
import os
import sys

from tests.end2end.processes import wait_until
from tests.fakes.pictures import png

from tooltray.gateway.feedback.feedback_attachments import MOST_PICTURE_BYTES

FORM = {"elicitation": {}}  # its person is asked, and thinks
SUMMARY = "# Done\n\nThe invoice is **fixed**."


def report(bridge, id, summary=SUMMARY, **arguments):
    params = {"name": "collect_feedback", "arguments": {"work_summary": summary, **arguments}, "_meta": {"progressToken": id}}
    bridge.send_request("tools/call", params, id=id)


def texts(reply):
    return [block["text"] for block in reply["result"]["content"] if block["type"] == "text"]


def waiting(world, count=1):
    """The reports that wait, in their order."""

    def listed():
        reports = world.ask("get_feedback_requests")
        return (reports,) if len(reports) == count else None

    return wait_until(listed, f"{count} reports")[0]


def write_settings(world, **servers):
    world.root.mkdir(exist_ok=True)
    document = {"version": 1, "mcpServers": servers, "defaultServers": [], "autoDetectNpmRegistry": False}
    (world.root / "settings.json").write_text(json.dumps(document))


HABITS = os.path.join(os.path.dirname(__file__), "servers", "habits.py")


def test_a_report_is_answered_on_the_command_line_and_outlives_the_call_the_client_and_the_hub(world):
    project = world.home / "shop"
    project.mkdir()
    waits = {"command": sys.executable, "args": [HABITS, "tools:2", "note:{project_path}"], "deferredStartup": True}
    fails = {"command": "no-such-command-anywhere", "deferredStartup": True}
    write_settings(world, waits=waits, fails=fails)
    hub = world.start_hub()
    world.ask("allow_folder", path=str(project))
    bridge = world.start_bridge()
    bridge.initialize(capabilities=FORM)

    # text and a picture come back, with what became of the servers
    picture = world.home / "picture.png"
    picture.write_bytes(png())
    report(bridge, 1, project_path=str(project), timeout_s=5)
    (shown,) = waiting(world)
    assert (shown["client"], shown["project_name"], shown["summary"]) == ("end2end", "shop", SUMMARY)
    answered = world.tooltray("feedback", "answer", shown["id"], "Looks good", "--image", str(picture))
    assert answered.stdout == "Answered with 1 attachment.\n", answered.stderr
    reply, news = bridge.reply_and_before(1)
    progress = [message["params"] for message in news if message["method"] == "notifications/progress"]
    assert progress[0]["progressToken"] == 1
    assert f"waits as {shown['id']}" in progress[0]["message"]
    first, image, notes = reply["result"]["content"]
    assert first["text"] == "Looks good"
    assert (image["mimeType"], base64.b64decode(image["data"])) == ("image/png", png())
    for words in ("timeout_s was raised to 600", "'waits' has started", "tool_00000, tool_00001", "'fails' did not start", "not found"):
        assert words in notes["text"]

    # a call that is given up leaves the report, and its answer is there for the next one
    report(bridge, 2, "# Next")
    (shown,) = waiting(world)
    bridge.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}})
    assert bridge.request("ping", id=3)["result"] == {}
    assert waiting(world) == [{**shown, "is_client_there": False}]  # it has given up, and the report stays
    assert "the answer is kept for when it asks again" in world.tooltray("feedback", "answer", shown["id"], "Later").stdout
    report(bridge, 4, "# Next")
    reply = bridge.reply_to(4)
    assert texts(reply)[0] == "Later"
    assert "which you had stopped waiting for" in texts(reply)[-1]

    # as many large pictures as there may be
    picture.write_bytes(png(padding=MOST_PICTURE_BYTES - len(png())))
    report(bridge, 7, "# Pictures")
    (shown,) = waiting(world)
    assert world.tooltray("feedback", "answer", shown["id"], *["--image", str(picture)] * 5).returncode == 0
    sent = base64.b64encode(picture.read_bytes()).decode()
    assert [block["data"] == sent for block in bridge.reply_to(7)["result"]["content"] if block["type"] == "image"] == [True] * 5

    # the hub restarts: the call fails with a word on why, and asking again shows the report again
    report(bridge, 5, "# After")
    waiting(world)
    world.tooltray("stop")
    hub.wait()
    assert "call again" in bridge.reply_to(5)["error"]["message"]
    world.start_hub()
    report(bridge, 6, "# After")
    (shown,) = waiting(world)
    world.ask("dismiss_feedback", id=shown["id"])
    assert "without an answer" in texts(bridge.reply_to(6))[0]
    entries = world.ask("get_feedback_history")
    assert [(each["summary"], each["outcome"]) for each in entries] == [
        ("# After", "dismissed"),
        ("# After", "withdrawn"),
        ("# Pictures", "answered"),
        ("# Next", "answered"),
        (SUMMARY, "answered"),
    ]


def test_a_report_does_not_hold_up_another_hub_and_one_of_a_killed_hub_is_not_left_open(world):
    write_settings(world)
    first = world.start_hub()
    bridge = world.start_bridge()
    bridge.initialize(capabilities=FORM)
    report(bridge, 1, "# Open")
    waiting(world)
    second = world.start(sys.executable, "-m", "tooltray", "serve", "--replace")
    assert "Call collect_feedback again" in texts(bridge.reply_to(1))[0]
    first.wait()
    world.wait_for(second)
    report(bridge, 2, "# Again")
    wait_until(lambda: any(b"# Again" in path.read_bytes() for path in (world.root / "feedback").glob("*.json")), "the note of the report")
    world.kill_hub()
    second.wait()
    entries = json.loads(world.tooltray("feedback", "history", "--json").stdout)
    assert [(each["summary"], each["outcome"]) for each in entries] == [("# Again", "expired"), ("# Open", "withdrawn")]
    assert "call again" in bridge.reply_to(2)["error"]["message"]
    world.start_hub()
    assert world.ask("get_feedback_history") == entries
    assert waiting(world, 0) == []
