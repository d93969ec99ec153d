"""A secret goes into the server that needs it, and nowhere else: no file, no answer, no log, no message."""

import json
import sys
from pathlib import Path

from tests.end2end.processes import World, wait_until
from tests.end2end.test_approvals import approval_id, at_terminal, bridge_of, write_settings

SECRET = 'dummy-s3cr3t/val"ue-\\n+%41'
LEAKY = """
import json, os, sys
print("starting with key", os.environ["API_KEY"], file=sys.stderr, flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "leaky", "version": "1"}}
    elif message.get("method") == "tools/list":
        result = {"tools": [{"name": "key_length", "inputSchema": {"type": "object"}}, {"name": "die", "inputSchema": {"type": "object"}}]}
    elif message.get("method") == "tools/call":
        if message["params"]["name"] == "die":
            sys.exit("dying with key " + os.environ["API_KEY"])
        result = {"content": [{"type": "text", "text": str(len(os.environ["API_KEY"]))}]}
    elif "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
        continue
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


REPEATING = """
import http.server

class Repeating(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = ("no access with " + self.headers["X-Api-Key"] + " at " + self.path).encode()
        self.send_response(500)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST

    def log_message(self, *arguments):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Repeating)
print(server.server_port, flush=True)
server.serve_forever()
"""


def forms_of(secret: str) -> set[str]:
    return {secret, json.dumps(secret)[1:-1], repr(secret)[1:-1]}


def test_a_secret_reaches_its_server_and_nothing_else(world: World):
    said = []

    def tooltray(*arguments, input=None, code=0):
        done = world.tooltray(*arguments, input=input)
        said.append(done.stdout + done.stderr)
        assert code in (None, done.returncode), said[-1]
        return done.stdout

    server = world.home / "leaky.py"
    server.write_text(LEAKY)
    hub = world.start_hub(environ={"TOOLTRAY_PASSPHRASE": "dummy passphrase"})
    tooltray("secrets", "backend", "file", input="dummy passphrase\n")
    tooltray("servers", "add", "leaky", "--secret", "API_KEY", "--", sys.executable, str(server), input=SECRET + "\n")
    world.trust("leaky")
    called = json.loads(tooltray("tools", "call", "key_length", "--json"))
    assert called["content"][0]["text"] == str(len(SECRET))
    tooltray("tools", "call", "die", code=1)
    tooltray("doctor", "leaky", code=None)  # it is being restarted, or is up again
    tooltray("doctor", "leaky", "--json", code=None)
    for command in (["status", "--json"], ["servers", "list", "--json"], ["servers", "logs", "leaky"], ["tools", "list", "--json"]):
        tooltray(*command)
    assert "leaky/API_KEY" in tooltray("secrets", "list")
    entry = json.loads((world.root / "settings.json").read_bytes())["mcpServers"]["leaky"]
    assert entry["env"] == {"API_KEY": "${secret:leaky/API_KEY}"}
    tooltray("stop")
    hub.wait()
    said.append(hub.error_text)
    said += [path.read_bytes().decode("utf-8", "replace") for path in world.root.rglob("*") if path.is_file() and path != server]
    leaked = [text[:300] for text in said if any(form in text for form in forms_of(SECRET) | {"dummy passphrase"})]
    assert not leaked


def test_without_a_keyring_a_secret_is_refused_in_words_and_never_stored_in_plain_text(world: World):
    world.start_hub()
    done = world.tooltray("secrets", "set", "KEY", input=SECRET + "\n")
    assert done.returncode == 1
    assert "keyring" in (done.stderr + done.stdout).lower()
    assert "Traceback" not in done.stderr
    for path in Path(world.root).rglob("*"):
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes()


def test_what_a_server_over_http_repeats_of_its_secrets_is_shown_to_nobody(world: World):
    in_header, in_path = "dummy-h3ader/key", "dummy-p4th-key"
    far = world.start(sys.executable, "-c", REPEATING)
    far.heeds_stdin = False
    port = int(far.read_line())
    hub = world.start_hub(environ={"TOOLTRAY_PASSPHRASE": "dummy passphrase"})
    said = []

    def tooltray(*arguments, input=None):
        done = world.tooltray(*arguments, input=input)
        said.append(done.stdout + done.stderr)
        return done.stdout

    tooltray("secrets", "backend", "memory")
    tooltray("secrets", "set", "PATH_KEY", input=in_path + "\n")
    url = f"http://127.0.0.1:{port}/${{secret:PATH_KEY}}/mcp"
    tooltray("servers", "add", "far", "--url", url, "--header-secret", "X-Api-Key", input=in_header + "\n")
    for command in (["servers", "start", "far"], ["status", "--json"], ["doctor", "far"], ["servers", "logs", "far"]):
        tooltray(*command)
    assert "HTTP 500" in "".join(said)
    tooltray("http", "on", "--port", "0")
    token = world.tooltray("clients", "token", "laptop", "--json")
    secret_token = json.loads(token.stdout)["token"]
    for command in (["clients", "list"], ["http", "status", "--json"]):
        tooltray(*command)
    tooltray("stop")
    hub.wait()
    said.append(hub.error_text)
    said += [path.read_bytes().decode("utf-8", "replace") for path in world.root.rglob("*") if path.is_file()]
    secrets = {in_header, in_path, secret_token}
    assert not [text[:300] for text in said if any(form in text for secret in secrets for form in forms_of(secret))]


def test_a_secret_in_what_a_model_asks_a_person_is_shown_and_kept_nowhere(world: World):
    server = world.home / "leaky.py"
    server.write_text(LEAKY)
    env = {"API_KEY": "${secret:leaky/API_KEY}"}
    write_settings(world, leaky={"command": sys.executable, "args": ["-I", str(server)], "env": env, "autoApprove": []})
    hub = world.start_hub(environ={"TOOLTRAY_PASSPHRASE": "dummy passphrase"})
    said = []

    def tooltray(*arguments, input=None):
        done = world.tooltray(*arguments, input=input)
        assert done.returncode == 0, done.stderr
        said.append(done.stdout + done.stderr)
        return done.stdout

    tooltray("secrets", "backend", "memory")
    tooltray("secrets", "set", "leaky/API_KEY", input=SECRET + "\n")
    tooltray("servers", "start", "leaky")
    client = bridge_of(world, "acme", {})
    call = {"name": "key_length", "arguments": {"path": "x", "content": f"a\n{SECRET}", SECRET: 1}}
    refused = client.request("tools/call", call, id="a")
    said.append(json.dumps(refused))
    tooltray("approve", "list", "--json")
    code, seen = at_terminal(world, "approve", approval_id(refused), "--always")
    assert (code, "  +***" in seen) == (0, True), seen
    said.append(seen)
    assert client.request("tools/call", call, id="b")["result"]["content"][0]["text"] == str(len(SECRET))
    client.send(
        {"jsonrpc": "2.0", "id": "f", "method": "tools/call", "params": {"name": "collect_feedback", "arguments": {"work_summary": SECRET}}}
    )
    wait_until(lambda: world.ask("get_feedback_requests"), "the report")
    [report] = json.loads(tooltray("feedback", "list", "--json"))
    for command in (
        ["feedback", "show", report["id"]],
        ["grants", "list"],
        ["sessions"],
        ["status"],
    ):
        tooltray(*command)
    tooltray("feedback", "dismiss", report["id"])
    tooltray("feedback", "history")
    client.end()
    tooltray("stop")
    hub.wait()
    said.append(hub.error_text)
    said += [path.read_bytes().decode("utf-8", "replace") for path in world.root.rglob("*") if path.is_file()]
    assert not [text[:300] for text in said if any(form in text for form in forms_of(SECRET))]
