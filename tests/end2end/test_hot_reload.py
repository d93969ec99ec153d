"""Somebody edits settings.json while AI clients are at work: what they wrote counts within moments, and nothing else is disturbed."""

import contextlib
import json
import sys
from pathlib import Path

from tests.end2end.processes import is_running, wait_until
from tests.end2end.raw_client import RawClient

from tooltray.carriers.control.control_client import ControlClient
from tooltray.foundation.home.home import Home

SERVERS = Path(__file__).parent / "servers"
HABITS = {"command": sys.executable, "args": [str(SERVERS / "habits.py")], "autoApprove": ["all"]}
COUNTING = {"command": sys.executable, "args": [str(SERVERS / "counting.py")], "autoApprove": ["all"]}
BASE = {"version": 1, "mcpServers": {"busy": HABITS}, "defaultServers": ["busy"], "autoDetectNpmRegistry": False}
IN_FLIGHT_MS = 1500  # longer than an edit takes to count on an idle machine; on a busy one the call has ended before, and was not disturbed


class Person:
    """Edits the file by hand, and looks at what comes of it."""

    def __init__(self, world):
        self.world, self.path = world, world.root / "settings.json"
        world.root.mkdir(exist_ok=True)
        self.document = BASE
        self.save()

    def save(self, **fields):
        """Editors put a new file in the place of the old one."""
        self.document = self.document | fields
        new = self.path.with_name("settings.json~")
        new.write_text(json.dumps(self.document, indent=2))
        new.replace(self.path)

    def connect(self):
        self.hub = ControlClient.connect(Home(self.world.root))
        return contextlib.closing(self.hub)

    def servers(self):
        return {each["name"]: each for each in self.hub.call("get_snapshot")["servers"] if each["name"] != "hub"}

    def running(self, name):
        """The processes of a server, as soon as it runs."""
        found = wait_until(lambda: (one := self.servers().get(name)) and one["state"] == "running" and one, f"'{name}' to run")
        return set(found["pids"])

    def until(self, verb, is_so, **arguments):
        return wait_until(lambda: is_so(answer := self.hub.call(verb, **arguments)) and (answer or True), f"{verb} to say so")


def test_servers_come_change_and_go_under_a_client_whose_call_runs_on(world):
    person = Person(world)
    hub = world.start_hub()
    with person.connect():
        busy = person.running("busy")
        client = RawClient(world.start_bridge())
        client.until_tools(lambda tools: "echo" in tools)

        # one comes
        running = client.begin("slow", ms=IN_FLIGHT_MS)
        person.save(mcpServers={"busy": HABITS, "counting": COUNTING}, defaultServers=["busy", "counting"])
        client.until_tools(lambda tools: "add_numbers" in tools)
        assert client.call("add_numbers", a=1, b=2) == "3"
        first = person.running("counting")
        assert client.text(running) == "slow"

        # it changes: only that one is another process afterwards
        running = client.begin("slow", ms=IN_FLIGHT_MS)
        changed = {**COUNTING, "args": [*COUNTING["args"], "--other"]}
        person.save(mcpServers={"busy": HABITS, "counting": changed})
        wait_until(lambda: person.running("counting").isdisjoint(first), "another process")
        assert client.call("reverse_text", text="abc") == "cba"
        assert client.text(running) == "slow"

        # what does not change the process does not restart it
        second = person.running("counting")
        person.save(mcpServers={"busy": HABITS, "counting": {**changed, "disabledTools": ["add_numbers"]}})
        client.until_tools(lambda tools: "add_numbers" not in tools and "reverse_text" in tools)
        assert person.running("counting") == second

        # half a file changes nothing, and is told with its line; nobody touches it
        half = '{\n  "mcpServers": {"busy"'
        person.path.write_text(half)
        notices = person.until("get_snapshot", lambda found: any("cannot be read again" in each["title"] for each in found["notices"]))
        assert "line 2, column" in json.dumps(notices["notices"])
        assert (person.running("busy"), person.running("counting"), person.path.read_text()) == (busy, second, half)
        assert not list(world.root.glob("settings.json.*"))

        # it goes
        running = client.begin("slow", ms=IN_FLIGHT_MS)
        person.save(mcpServers={"busy": HABITS}, defaultServers=["busy"])
        client.until_tools(lambda tools: "reverse_text" not in tools)
        wait_until(lambda: not any(map(is_running, second)), "its process to go")
        assert client.text(running) == "slow"
        assert person.running("busy") == busy
        assert not [each for each in person.hub.call("get_snapshot")["notices"] if "read again" in each["title"]]
    told = [record for record in world.records() if "cannot be read again" in json.dumps(record)]
    assert len(told) == 1
    client.end()
    assert world.tooltray("stop").returncode == 0
    hub.wait()


def test_each_setting_counts_as_if_its_verb_had_been_called(world):
    person = Person(world)
    person.save(mcpServers={"busy": HABITS, "more": {**COUNTING, "disable": True}}, defaultServers=["busy", "more"])
    hub = world.start_hub()
    project = world.home / "shop"
    project.mkdir()
    with person.connect():
        busy = person.running("busy")
        person.until("get_all_tool_definitions", lambda found: "echo" in {each["name"] for each in found}, server=None)

        # on and off, for one server and for all; each by itself
        person.save(mcpServers={"busy": HABITS, "more": COUNTING}, publish={"naming": "always"})
        more = person.running("more")
        person.until(
            "get_all_tool_definitions", lambda found: {"echo", "more_add_numbers"} <= {each["name"] for each in found}, server=None
        )
        person.save(mcpEnabled=False)
        person.until("get_mcp_enabled", lambda enabled: not enabled)
        person.hub.call("stop_server", name="more")
        person.save(mcpEnabled=True)
        person.until("get_mcp_enabled", lambda enabled: enabled)
        assert person.servers()["more"]["state"] == "stopped"  # by a person, who alone starts it again
        person.hub.call("start_server", name="more")
        assert person.running("more") != more
        assert person.running("busy") == busy

        # where secrets are kept, who gets in, which folders are allowed, what models may do
        person.save(secrets={"backend": "memory"})
        person.until("get_settings", lambda found: "secrets" in found["settings"])
        assert person.hub.call("check_secrets") == "memory"
        http = {"enabled": True, "port": 0}
        person.save(allowedFolders=[str(project)], publish={"naming": "always", "feedback": False, "http": http})
        person.until("get_allowed_folders", lambda folders: folders == [str(project)])
        person.until("get_http_status", lambda status: status["url"])
        person.until("get_all_tool_definitions", lambda found: "collect_feedback" not in json.dumps(found), server=None)
        person.save(publish={"http": {**http, "enabled": False}}, readyAnswers=["Go on"], profiles={"few": {"servers": ["busy"]}})
        person.until("get_http_status", lambda status: not status["url"])
        person.until("get_all_tool_definitions", lambda found: "collect_feedback" in json.dumps(found), server=None)
        assert person.hub.call("get_ready_answers") == ["Go on"]
        assert [each["name"] for each in person.hub.call("get_profiles")] == ["few"]

        # what is not followed is read when somebody says so
        person.save(hotReload=False)
        person.until("get_settings", lambda found: found["settings"].get("hotReload") is False)
        person.save(mcpServers={"busy": HABITS})
        assert "more" in person.servers()
        done = world.tooltray("reload")
        assert (done.returncode, "removed" in done.stdout) == (0, True), done.stderr
        assert set(person.servers()) == {"busy"}
        person.save(hotReload=True)
        assert "hotReload" in world.tooltray("reload").stdout
        person.save(mcpServers={"busy": HABITS, "again": HABITS}, defaultServers=["again"])
        person.running("again")
    assert world.tooltray("stop").returncode == 0
    hub.wait()
