"""Servers that start for a project, as AI clients, models and people meet them: Serena for two folders at once, and a small server for the
rest."""

import json
import re
import signal
import sys
from pathlib import Path

import pytest
from tests.end2end.at_terminal import at_terminal
from tests.end2end.processes import BRIDGE, is_running, wait_until
from tests.end2end.steered import signed, text_of

IN_PROJECT = Path(__file__).parent / "servers" / "in_project.py"
SERENA_TOOLS = {"activate_project", "initial_instructions", "serena_repl"}
SERENA_START_S = 60.0  # it imports for seconds, and two of them start at once
SMALL = {
    "command": sys.executable,
    "args": [str(IN_PROJECT), "nowhere"],
    "startupArgsTemplate": [str(IN_PROJECT), "{project_path}", "{project_name}"],
    "env": {"PROJECT": "{project_path}"},
    "cwd": "{project_path}",
    "deferredStartup": True,
    "autoApprove": ["all"],
}


def write_settings(world, **servers):
    world.root.mkdir(mode=0o700)
    document = {"version": 1, "mcpServers": servers, "defaultServers": list(servers), "autoDetectNpmRegistry": False}
    (world.root / "settings.json").write_text(json.dumps(document))


def project(world, name):
    folder = world.home / name
    folder.mkdir()
    (folder / "who.txt").write_text(f"this is {name}\n")
    return folder.resolve()


def client_in(world, folder, *, roots=None):
    """An AI client that was started in a folder; its handshake is done, and its roots are told."""
    client = world.start(sys.executable, "-I", "-S", str(BRIDGE), "--no-start", cwd=folder)
    capabilities = {} if roots is None else {"roots": {}}
    client.initialize(capabilities=capabilities)
    if roots is not None:
        asked = client.next_of("roots/list")
        client.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": [{"uri": root.as_uri()} for root in roots]}})
    return client


def names(client):
    return {tool["name"] for tool in client.request("tools/list", id="list")["result"]["tools"]}


def call(client, name, arguments=None, *, timeout_s=SERENA_START_S):
    return client.request("tools/call", {"name": name, "arguments": arguments or {}}, id=f"call {name}", timeout_s=timeout_s)


def text(reply):
    assert "result" in reply, reply
    assert not reply["result"].get("isError"), reply
    return reply["result"]["content"][0]["text"]


def where(client):
    return json.loads(text(call(client, "where")))


def server(world):
    return world.servers()["s"]


def read_who(client):
    """Whose project Serena reads in."""
    session = re.search(r"session id is `(\w+)`", text(call(client, "initial_instructions")))[1]
    read = text(call(client, "serena_repl", {"session": session, "code": 's.fs.read_file("who.txt")'}))
    return re.findall("this is (one|two)", read)


@pytest.mark.timeout(300)
def test_serena_shows_one_tool_until_it_is_activated_and_then_works_for_two_folders_at_once(world, serena):
    command = {"command": serena, "args": ["start-mcp-server", "--enable-web-dashboard", "false"]}
    template = {"startupArgsTemplate": [*command["args"], "--project", "{project_path}"]}
    write_settings(world, serena={**command, **template, "deferredStartup": True, "lazyLoad": True, "autoApprove": ["all"]})
    folders = [project(world, "one"), project(world, "two")]
    world.start_hub()
    clients = [client_in(world, folder) for folder in folders]
    for client in clients:
        assert "activate_serena" in names(client)
        assert not SERENA_TOOLS & names(client)
    for number, client in enumerate(clients):  # both are starting before the first is asked for its answer
        client.send_request("tools/call", {"name": "activate_serena", "arguments": {}}, id=number)
    for number, client in enumerate(clients):
        reply = client.reply_to(number, SERENA_START_S)
        assert set(signed(text_of(reply["result"]))) == SERENA_TOOLS, reply
        assert names(client) >= {"activate_serena", *SERENA_TOOLS}
    assert [read_who(client) for client in clients] == [["one"], ["two"]]
    copies = json.loads(world.tooltray("projects", "list", "--json").stdout)["copies"]
    assert {copy["path"]: copy["session_count"] for copy in copies} == {str(folder): 1 for folder in folders}
    pids = [pid for copy in copies for pid in copy["pids"]]
    assert len(set(pids)) == len(pids) >= 2
    for client in clients:
        client.end()
    world.stop_hub()
    assert not any(map(is_running, pids))


def test_a_server_runs_once_for_each_project_and_never_for_another(world):
    write_settings(world, s=SMALL)
    one, two, odd = project(world, "one"), project(world, "two"), project(world, "it's $(odd); &")
    world.start_hub()
    assert server(world)["state"] == "waiting"
    here, again, there, by_root = (client_in(world, one), client_in(world, one), client_in(world, two), client_in(world, one, roots=[odd]))
    wait_until(lambda: "where" in names(here), "the first list")
    said = [where(client) for client in (here, again, there, by_root)]
    assert [each["args"][0] for each in said] == [each["cwd"] for each in said] == [str(folder) for folder in (one, one, two, odd)]
    assert [each["variable"] for each in said] == [each["cwd"] for each in said]
    assert said[0]["pid"] == said[1]["pid"]
    assert said[3]["args"] == [str(odd), "it's $(odd); &"]
    nobody = client_in(world, world.home)
    assert "the home folder itself" in call(nobody, "where")["error"]["message"]
    code, seen = at_terminal(world, "projects", "allow", ".")  # the home folder
    assert (code, "home folder" in seen) == (1, True)
    assert "needs a person at a terminal" in world.tooltray("projects", "start", "s", str(two)).stderr
    assert at_terminal(world, "projects", "start", "s", str(two))[0] == 0
    assert where(nobody)["pid"] == said[2]["pid"]
    assert str(two) in world.tooltray("projects", "list").stdout
    called = world.tooltray("tools", "call", "where", "--project", str(two))  # which was allowed thereby
    assert json.loads(called.stdout)["pid"] == said[2]["pid"]
    assert "it is not allowed" in world.tooltray("tools", "call", "where", "--project", str(one)).stderr
    assert f"two ({two}): running" in world.tooltray("doctor", "s").stdout
    assert world.tooltray("projects", "reset").returncode == 0
    assert not any(is_running(each["pid"]) for each in said)
    assert "ok: s: waits for a project, 1 tool known from its last run" in world.tooltray("doctor", "s").stdout  # as of its last run
    assert "error" in call(nobody, "where")
    assert where(there)["args"][0] == str(two)
    written = json.loads((world.root / "settings.json").read_text())["mcpServers"]["s"]
    assert written == SMALL  # what was filled in is not written back


def test_nothing_is_left_of_a_copy_whose_hub_was_killed_and_a_folder_that_became_a_link_is_not_followed(world):
    write_settings(world, s=SMALL)
    one, two = project(world, "one"), project(world, "two")
    hub = world.start_hub()
    client = client_in(world, one)
    wait_until(lambda: "where" in names(client), "the first list")
    pid = where(client)["pid"]
    hub.signal(signal.SIGKILL)
    hub.wait()
    wait_until(lambda: not is_running(pid), "the end of what it had started")
    one.rename(f"{one} moved")
    one.symlink_to(two)
    world.start_hub()
    later = client_in(world, two)
    assert where(later)["args"][0] == str(two)
    assert "it has become a link" in call(client, "where")["error"]["message"]
    assert len(json.loads(world.tooltray("projects", "list", "--json").stdout)["copies"]) == 1
