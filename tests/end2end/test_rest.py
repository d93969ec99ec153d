"""The REST interface at a real hub, as a program uses it: the seed's scenarios by name, who is kept out, and what happens at once."""

import contextlib
import http.client
import json
import socket
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.end2end.at_terminal import at_terminal
from tests.end2end.processes import BRIDGE, World, is_running, new_world, wait_until
from tests.end2end.processes import Program as HubProcess
from tests.fakes.ports import free_port

from tooltray.carriers.control.control_client import ControlClient
from tooltray.foundation.home.home import Home

HABITS = Path(__file__).parent / "servers" / "habits.py"
ENTRY = {"command": sys.executable, "args": [str(HABITS)], "autoApprove": ["all"]}
SERVERS = "/api/mcp/servers"
SOON_S = 60.0  # for what starts a real server on a busy machine


class Answer:
    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status, self.headers, self.body = response.status, response.headers, response.read()

    @property
    def json(self):
        return json.loads(self.body)


class Events:
    """The stream of events, read in a thread of its own."""

    def __init__(self, connection: http.client.HTTPConnection, response: http.client.HTTPResponse) -> None:
        self.status, self.text, self.is_ended = response.status, "", False
        self._connection, self._response = connection, response
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
            while chunk := self._response.read1(65536):
                self.text += chunk.decode()
        self.is_ended = True

    def until(self, text: str) -> None:
        wait_until(lambda: text in self.text, f"{text} in the events", SOON_S)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._connection.sock.shutdown(socket.SHUT_RDWR)
        self.until_ended()

    def until_ended(self) -> None:
        wait_until(lambda: self.is_ended, "the end of the events", SOON_S)
        self._thread.join()
        self._connection.close()


class Program:
    """Another program of the person's, which has the token."""

    def __init__(self, world: World, hub: HubProcess) -> None:
        self.world, self.hub = world, hub
        status = json.loads(self.cli("http", "status", "--json"))
        self.place = status["api_url"].removeprefix("http://").partition("/")[0]
        self.token = self.new_token()

    def new_token(self, name: str = "panel") -> str:
        """A trusted one, as the person makes it in the window."""
        with ControlClient.connect(Home(self.world.root), is_at_terminal=True) as person:
            return person.call("create_api_token", name=name, trusted=True)["token"]

    def cli(self, *words: str) -> str:
        done = self.world.tooltray(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def ask(self, method, path, body=None, headers=None) -> http.client.HTTPConnection:
        """Sends a request."""
        connection = http.client.HTTPConnection(self.place, timeout=SOON_S)
        given = {"Authorization": f"Bearer {self.token}", **({} if body is None else {"Content-Type": "application/json"})}
        given = {name: value for name, value in {**given, **(headers or {})}.items() if value is not None}
        connection.request(method, path, None if body is None else json.dumps(body), given)
        return connection

    def __call__(self, method, path, body=None, **headers) -> Answer:
        with contextlib.closing(self.ask(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})) as asked:
            return Answer(asked.getresponse())

    def events(self, seen: str | None = None) -> Events:
        asked = self.ask("GET", "/api/events", headers={"Last-Event-ID": seen})
        return Events(asked, asked.getresponse())

    def server(self, name: str) -> dict:
        return self("GET", f"{SERVERS}/{name}").json

    def until_connected(self, name: str) -> dict:
        wait_until(lambda: self.server(name)["status"] == "connected", f"{name} to be connected", SOON_S)
        return self.server(name)

    def settings(self) -> dict:
        return json.loads((self.world.root / "settings.json").read_bytes())


@pytest.fixture(scope="module")
def program() -> Iterator[Program]:
    """A hub with the REST interface on, a program with a trusted token, and a server that runs."""
    with new_world() as world:
        world.root.mkdir(mode=0o700)
        http = {"enabled": True, "port": 0, "api": {"enabled": True}}
        document = {"version": 1, "mcpServers": {"old-server": ENTRY, "broken": {"command": "no-such-command-anywhere"}}}
        document |= {"defaultServers": ["old-server"], "autoDetectNpmRegistry": False}
        document |= {"publish": {"http": http}, "secrets": {"backend": "memory"}}
        (world.root / "settings.json").write_text(json.dumps(document))
        made = Program(world, world.start_hub())
        made.until_connected("old-server")
        yield made


# the scenarios of the seed


def test_列出所有_servers(program):
    answer = program("GET", SERVERS)
    assert answer.status == 200
    assert isinstance(answer.json, list)
    found = {server["name"]: server for server in answer.json}
    old = found["old-server"]
    assert (old["transport"], old["status"], old["toolCount"]) == ("stdio", "connected", 6)
    assert {tool["originalName"] for tool in old["tools"]} == {"echo", "hang", "pids", "die", "slow", "big"}
    program("POST", "/api/servers/start_server", {"name": "broken"})
    wait_until(lambda: program.server("broken")["status"] == "error", "the error to show", SOON_S)
    assert "no-such-command-anywhere" in program.server("broken")["reason"]


def test_新增_server_透過_api(program):
    body = {"name": "new-server", "command": sys.executable, "args": [str(HABITS)], "transport": "stdio"}
    answer = program("POST", SERVERS, body)
    assert answer.status == 201, answer.body
    assert answer.headers["Location"] == f"{SERVERS}/new-server"
    assert program.until_connected("new-server")["toolCount"] == 6
    assert program.settings()["mcpServers"]["new-server"]["args"] == [str(HABITS)]
    assert program("POST", SERVERS, body).status == 409


def test_新增_server_透過_api_寫入專案的_mcp_json(program):
    project = program.world.home / "shop"
    project.mkdir()
    assert at_terminal(program.world, "projects", "allow", str(project))[0] == 0
    bridge = program.world.start(sys.executable, "-I", "-S", str(BRIDGE), cwd=project)
    bridge.initialize()  # a session works on it
    body = {"name": "of-the-shop", "command": sys.executable, "args": [str(HABITS)], "transport": "stdio", "project": str(project)}
    body["env"] = {"API_KEY": "sk-ant-dummy9876543210zyxwvutsrqponmlkjihgfedcba"}
    answer = program("POST", SERVERS, body)
    assert answer.status == 201, answer.body
    written = json.loads((project / ".mcp.json").read_bytes())["mcpServers"]["of-the-shop"]
    assert (written["command"], written["env"]) == (sys.executable, {"API_KEY": "${secret:of-the-shop/API_KEY}"})
    name = answer.headers["Location"].rpartition("/")[2]
    assert program.server(name)["project"] == str(project)
    assert program("DELETE", f"{SERVERS}/{name}").status == 204
    assert json.loads((project / ".mcp.json").read_bytes())["mcpServers"] == {}
    bridge.end()
    kiosk = program.world.home / "kiosk"  # nobody works on it
    kiosk.mkdir()
    assert program("POST", SERVERS, {**body, "project": str(kiosk)}).status in (403, 422)
    assert at_terminal(program.world, "projects", "allow", str(kiosk))[0] == 0
    answer = program("POST", SERVERS, {**body, "project": str(kiosk)})
    assert answer.status == 201, answer.body
    name = answer.headers["Location"].rpartition("/")[2]
    assert (program.server(name)["project"], program.server(name)["file"]) == (str(kiosk), str(kiosk / ".mcp.json"))
    assert program("DELETE", f"{SERVERS}/{name}").status == 204


def test_刪除_server(program):
    program("POST", SERVERS, {"name": "goes", **ENTRY})
    program.until_connected("goes")
    result = program("POST", "/api/tools/call_tool", {"name": tool_of(program, "goes", "pids"), "arguments": {}}).json
    (pid,) = json.loads(result["content"][0]["text"])
    answer = program("DELETE", f"{SERVERS}/goes")
    assert (answer.status, answer.body) == (204, b"")
    wait_until(lambda: not is_running(pid), "its process to go")
    assert "goes" not in program.settings()["mcpServers"]
    assert program("DELETE", f"{SERVERS}/goes").status == 404


def test_手動重啟_server(program):
    answer = program("POST", f"{SERVERS}/old-server/restart")
    assert (answer.status, answer.json) == (202, {"state": "restarting"})
    program.until_connected("old-server")
    assert program("POST", "/api/servers/stop_server", {"name": "old-server"}).status == 204
    assert program.server("old-server")["status"] == "disconnected"
    assert program("POST", "/api/servers/start_server", {"name": "old-server"}).status == 204
    assert program.server("old-server")["status"] == "connected"
    assert program("POST", f"{SERVERS}/nowhere/restart").status == 404


def test_取得特定_server_的_tool_列表(program):
    tools = program("GET", f"{SERVERS}/old-server/tools").json
    assert {tool["originalName"] for tool in tools} == {"echo", "hang", "pids", "die", "slow", "big"}
    assert program("GET", f"{SERVERS}/nowhere/tools").status == 404


def tool_of(program, server, tool):
    return next(each["name"] for each in program("GET", f"{SERVERS}/{server}/tools").json if each["originalName"] == tool)


# at once


def test_a_server_is_deleted_while_a_call_of_it_runs(program):
    program("POST", SERVERS, {"name": "busy", **ENTRY})
    program.until_connected("busy")
    events = program.events()
    names = {tool: tool_of(program, "busy", tool) for tool in ("hang", "echo")}
    calling = program.ask("POST", "/api/tools/call_tool", {"name": names["hang"], "arguments": {}})
    with contextlib.closing(calling):
        program("POST", "/api/tools/call_tool", {"name": names["echo"], "arguments": {"text": "behind it"}})
        assert program("DELETE", f"{SERVERS}/busy").status == 204
        answer = Answer(calling.getresponse())
    assert 400 <= answer.status < 500, answer.body
    assert answer.headers["Content-Type"] == "application/problem+json"
    events.until('{"name":"busy"}')
    assert "event: ServerRemoved" in events.text
    events.close()


def test_of_two_writers_at_once_one_learns_that_it_was_too_late(program):
    program("POST", SERVERS, {"name": "shared", **ENTRY, "disable": True})
    seen = program("GET", f"{SERVERS}/shared").headers["ETag"]
    with ThreadPoolExecutor(2) as threads:
        writing = [
            threads.submit(program, "PUT", f"{SERVERS}/shared", {**ENTRY, "disable": True, "descriptions": text}, If_Match=seen)
            for text in "ab"
        ]
        assert sorted(each.result(SOON_S).status for each in writing) == [200, 412]
        adding = [threads.submit(program, "POST", SERVERS, {"name": f"n{each}", **ENTRY, "disable": True}) for each in range(8)]
        assert {each.result(SOON_S).status for each in adding} == {201}
        again = [threads.submit(program, "POST", SERVERS, {"name": "same", **ENTRY, "disable": True}) for _ in range(2)]
        assert sorted(each.result(SOON_S).status for each in again) == [201, 409]
    assert {f"n{each}" for each in range(8)} | {"same", "shared"} <= program.settings()["mcpServers"].keys()
    before = program("GET", "/api/settings/get_settings").json["revision"]
    for status in (200, 412):
        changed = program("POST", "/api/settings/change_settings", {"changes": {"readyAnswers": [str(status)]}}, If_Match=f'"{before}"')
        assert changed.status == status, changed.body


# who


def test_without_the_token_nothing_is_told(program):
    client = program.cli("clients", "token", "an AI client").strip()
    wrong = (None, "Bearer", "Bearer x", f"Bearer {program.token}x", f"Basic {program.token}", program.token, f"Bearer {client}")
    for authorization in wrong:
        for path in (SERVERS, "/api/events", "/api/openapi.json", "/api/nothing"):
            answer = program("GET", path, Authorization=authorization)
            assert answer.status == 401, (authorization, path)
            assert b"old-server" not in answer.body
    assert program("GET", f"{SERVERS}?token={program.token}", Authorization=None).status == 401
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    accept = "application/json, text/event-stream"
    assert program("POST", "/mcp", body, Accept=accept).status == 401  # it opens nothing of AI clients


def test_pages_of_others_are_kept_out_also_with_the_token(program):
    port = program.place.rpartition(":")[2]
    refused = [
        {"Host": f"evil.test:{port}"},
        {"Host": "evil.test"},
        {"Host": ""},
        {"Origin": "https://evil.test"},
        {"Origin": "null"},
        {"Origin": f"http://127.0.0.1.evil.test:{port}"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ]
    for headers in refused:
        assert program("GET", SERVERS, **headers).status == 403, headers
        assert program("POST", "/api/servers/stop_server", {"name": "old-server"}, **headers).status == 403, headers
    for headers in ({"Host": f"localhost:{port}"}, {"Origin": f"http://localhost:{port}"}, {"Sec_Fetch_Site": "same-origin"}):
        answer = program("GET", SERVERS, **headers)
        assert answer.status == 200
        assert not [name for name in answer.headers if name.lower().startswith("access-control")]
    asking = program("OPTIONS", SERVERS, Origin=f"http://localhost:{port}", Access_Control_Request_Method="POST")
    assert not [name for name in asking.headers if name.lower().startswith("access-control")]


@contextlib.contextmanager
def untrusted(program: Program) -> Iterator[str]:
    """The same program with the default token, which is not trusted."""
    before, program.token = program.token, program.cli("http", "api", "token").strip()
    try:
        yield program.token
    finally:
        program.token = before


def test_what_a_person_has_to_allow_is_denied_to_a_token_that_is_not_trusted(program):
    project = program.world.home / "denied"
    project.mkdir()
    program("POST", SERVERS, {"name": "asking", **ENTRY, "autoApprove": []})
    program.until_connected("asking")
    call = {"name": tool_of(program, "asking", "echo"), "arguments": {"text": "x"}}
    assert "needs the user's approval" in program("POST", "/api/tools/call_tool", call).body.decode()
    (waiting,) = (each["id"] for each in program("GET", "/api/approvals/get_approvals").json if each["server"] == "asking")
    denied = [
        ("POST", "/api/projects/allow_folder", {"path": str(project)}),
        ("POST", "/api/approvals/add_grant", {"server": "old-server", "kind": "reads"}),
        ("POST", "/api/approvals/answer_approval", {"id": waiting, "answer": "once"}),
        ("POST", "/api/settings/change_settings", {"changes": {"publish": {"http": {"host": "0.0.0.0"}}}}),
        ("POST", "/api/settings/change_settings", {"changes": {"allowedFolders": [str(project)]}}),
    ]
    with untrusted(program):
        for method, path, body in denied:
            answer = program(method, path, body)
            assert answer.status == 403, (path, answer.body)
            assert "trusted" in answer.body.decode()
        assert program("POST", "/api/settings/change_settings", {"changes": {"publish": {"http": {"api": {"trusted": True}}}}}).status in (
            403,
            422,
        )
        assert program("GET", SERVERS).status == 200
    assert program("POST", "/api/projects/allow_folder", {"path": str(project)}).status == 200


def test_a_command_that_a_program_sends_reads_no_secret_and_no_file_before_a_person_says_yes(program):
    spoils = program.world.home / "spoils.txt"
    program("POST", "/api/secrets/set_secret", {"name": "bank/PIN", "value": "dummy-pin-0815"})
    script = f'cat ~/.profile > {spoils}; echo "$PIN" >> {spoils}'
    body = {"name": "thief", "command": "sh", "args": ["-c", script], "env": {"PIN": "${secret:bank/PIN}"}}
    with untrusted(program):
        answer = program("POST", SERVERS, body)
        assert (answer.status, answer.json["status"], answer.json["waiting"]) == (201, "disconnected", True)
        assert program("PUT", f"{SERVERS}/old-server", {**ENTRY, "command": "sh", "args": ["-c", script]}).json["waiting"]
        written = program.world.root / "settings.json"
        document = json.loads(written.read_bytes())
        document["publish"]["http"]["api"]["trusted"] = True  # as any program of the person's could write
        written.write_text(json.dumps(document))
        wait_until(
            lambda: (
                "an older version" not in program.cli("status")
                and "Programs can no longer approve in your place because of a setting" in program.cli("status")
            ),
            "the notice",
            SOON_S,
        )
        assert program("POST", "/api/servers/start_server", {"name": "thief"}).status == 403
        assert program("POST", "/api/approvals/add_grant", {"server": "old-server", "kind": "reads"}).status == 403
    assert program.server("old-server")["status"] == "connected"
    assert "thief" not in program.settings()["mcpServers"]
    assert not spoils.exists()
    assert "needs a person at a terminal" in program.world.tooltray("trust").stderr
    assert "thief: it waits for your approval" in program.cli("status")
    code, seen = at_terminal(program.world, "trust", typed="n\nn\n")
    assert (code, "cat ~/.profile" in seen, "bank/PIN" in seen, "Asked for by the program: default" in seen) == (1, True, True, True)
    for name in ("thief", "old-server"):
        program.cli("trust", "decline", name)
    assert not [server for server in program("GET", SERVERS).json if server["waiting"]]
    assert not spoils.exists()


def test_a_person_at_a_terminal_lets_a_server_run_that_a_program_wants(program):
    with untrusted(program):
        body = {"name": "wanted", "command": sys.executable, "args": [str(HABITS)]}
        assert program("POST", SERVERS, body).json["waiting"]
    code, seen = at_terminal(program.world, "trust")
    assert (code, "Trusted as 'wanted'" in seen) == (0, True), seen
    assert program.until_connected("wanted")["waiting"] is False
    assert program("DELETE", f"{SERVERS}/wanted").status == 204


def test_events_are_resumed_end_with_their_token_and_with_the_interface(program):
    events = program.events()
    program("POST", f"{SERVERS}/old-server/restart")
    events.until("event: ServerStarted")
    seen = events.text.split("id: ")[1].split("\n")[0]
    program.cli("http", "api", "revoke", "panel")
    events.until_ended()
    assert program("GET", SERVERS).status == 401
    program.token = program.new_token()
    again = program.events(seen)
    again.until("event: ServerStarted")
    assert "event: reset" not in again.text
    program.cli("http", "api", "off")
    again.until_ended()
    for path in (SERVERS, "/api/events", "/api", "/api/openapi.json"):
        assert program("GET", path).status == 404
    program.cli("http", "api", "on")
    after = program.events(seen)
    after.until("event: reset")
    program.cli("http", "api", "off")
    after.until_ended()
    program.cli("http", "api", "on")


def test_the_address_moves_under_the_program_that_moves_it_and_gets_its_answer(program):
    events = program.events()
    port = free_port()
    answer = program("POST", "/api/access/set_http_enabled", {"enabled": True, "port": port})
    assert (answer.status, answer.json["isEnabled"]) == (200, True)
    events.until_ended()
    program.place = f"127.0.0.1:{port}"

    def is_there() -> bool:
        with contextlib.suppress(OSError):
            return program("GET", "/api/mcp").status == 200
        return False

    wait_until(is_there, "the other port to open", SOON_S)
    seen = program.events(str(events.text.rpartition("id: ")[2].partition("\n")[0]))
    assert program("POST", f"{SERVERS}/old-server/restart").status == 202
    seen.until("event: ServerStarted")
    assert "event: reset" not in seen.text
    seen.close()


def test_the_token_is_the_same_after_a_restart_of_the_hub_and_secrets_stand_nowhere(program):
    """The last: what was said by then is searched."""
    secret, events = "sk-ant-dummy0123456789abcdefghijklmnopqrstuvwxyz", program.events()
    leaky = program.world.home / "leaky.py"
    leaky.write_text(HABITS.read_text().replace('print("out of cheese"', 'print("out of", os.environ["API_KEY"]'))
    body = {"name": "leaky", "command": sys.executable, "args": [str(leaky)], "env": {"API_KEY": secret}, "autoApprove": ["all"]}
    said = [program("POST", SERVERS, body)]
    assert said[0].status == 201, said[0].body
    program.until_connected("leaky")
    assert program.settings()["mcpServers"]["leaky"]["env"] == {"API_KEY": "${secret:leaky/API_KEY}"}
    assert "leaky/API_KEY" in program("GET", "/api/secrets/get_secret_names").body.decode()
    program.cli("servers", "restart", "leaky")
    said.append(program("POST", "/api/secrets/set_secret", {"name": "leaky/API_KEY", "value": secret}))
    said.append(program("POST", "/api/tools/call_tool", {"name": tool_of(program, "leaky", "die"), "arguments": {}}))
    document = program("GET", "/api/openapi.json").json
    paths = [path for path, methods in document["paths"].items() if "get" in methods and "{" not in path and path != "/api/events"]
    paths += [f"{SERVERS}/leaky", f"{SERVERS}/leaky/entry"]
    paths += ["/api/servers/get_server_log?name=leaky", "/api/hub/diagnose?server=leaky"]
    said += [program("GET", path) for path in paths]
    assert {each.status for each in said} <= {200, 201, 204, 422}, [(each.status, each.body[:200]) for each in said]
    assert program("GET", "/api/mcp/http-token").status == 404
    token = program.cli("http", "api", "token").strip()
    # what a program says itself is masked in the log
    program("POST", "/api/tools/call_tool", {"name": token, "arguments": {"key": secret}})
    program.cli("stop")
    program.hub.wait()
    events.until_ended()
    again = Program(program.world, program.world.start_hub())
    assert again.cli("http", "api", "token").strip() == token
    again.token, named = program.token, again.token
    assert again("GET", SERVERS).status == 401  # the name has another token by now
    for again.token in (token, named):
        assert again("GET", SERVERS).status == 200
    again.cli("stop")
    kept = [path for path in program.world.root.rglob("*") if path.is_file() and path.name != "http-token"]
    texts = (
        [path.read_bytes().decode("utf-8", "replace") for path in kept]
        + [each.body.decode() for each in said]
        + [events.text, program.hub.error_text]
    )
    assert not [text[:300] for text in texts if secret in text or token in text or named in text]
