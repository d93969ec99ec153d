"""Makes the home of one version, with something in every file of it: `PYTHONPATH=desktop:. python tests/contract/homes/make.py OUT`.

Run it in a checkout of that version; copy it there where the version is older than this file. Its own command line, hub, bridge and
REST interface make the home, in a folder whose path says nothing of the machine, with secrets that are none. Beside it: `expected.json`,
what the commands print of it, and `answers.jsonl`, what the hub answers a bridge.
"""

import json
import shutil
import socket
import sys
import urllib.request
from pathlib import Path
from typing import Any

from tests.end2end.at_terminal import at_terminal
from tests.end2end.processes import World, wait_until
from tests.end2end.test_oauth import elsewhere

PLACE = Path("/tmp/tooltray-fixture")
NOTES = Path("tests/end2end/servers/notes.py")
DROPPED = ("*.lock", "*.sock", "hub.json", "desktop.json", "logs", "environment.json", "registries.json")  # of one run, or of this machine
READ = {  # commands that show what is kept, and start no hub
    "servers": ("servers", "list"),
    "clients": ("clients", "list"),
    "api_tokens": ("http", "api", "tokens"),
    "trust": ("trust", "list"),
    "projects": ("projects", "list"),
    "feedback": ("feedback", "history"),
}


OF_SERVER = (
    "name",
    "transport",
    "target",
    "is_default",
    "is_disabled",
    "auto_approve",
    "isolation",
    "is_lazy",
    "is_deferred",
    "origin",
    "tool_count",
)
INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "recorder", "version": "1"}}
ASKED = (
    ("initialize", INITIALIZE),
    ("tools/list", {}),
    ("tools/call", {"name": "list_servers", "arguments": {}}),
    ("tools/call", {"name": "no_such_tool", "arguments": {}}),
)


class Maker:
    """One person, who uses everything once."""

    def __init__(self, world: World) -> None:
        self.world = world

    def run(self, *words: str, input: str | None = None) -> str:
        done = self.world.tooltray(*words, input=input)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def confirm(self, *words: str) -> None:
        code, seen = at_terminal(self.world, *words, typed="y\n" * 9)
        assert code == 0, (words, seen)

    def read(self, *words: str) -> Any:
        return json.loads(self.run(*words, "--json"))

    def state(self, server: str, wanted: str) -> None:
        listed = lambda: {each["name"]: each["state"] for each in self.read("status")["servers"]}  # noqa: E731
        wait_until(lambda: listed()[server] == wanted, f"{server} to be {wanted}")


def settings(far_url: str) -> dict[str, Any]:
    notes = {"command": "python3", "args": ["-I", f"{PLACE}/notes.py", f"{PLACE}/description"], "autoApprove": []}
    far = {"url": far_url, "type": "http", "autoApprove": ["all"]}
    return {
        "version": 1,
        "mcpServers": {"notes": notes, "diary": {**notes, "env": {"DIARY_TOKEN": "${secret:DIARY_TOKEN}"}}, "far": far},
        "defaultServers": ["notes", "diary", "far"],
        "secrets": {"backend": "file"},
        "autoDetectNpmRegistry": False,
        "publish": {"http": {"port": 0}},
    }


def use(maker: Maker, far_url: str) -> dict[str, Any]:
    """Returns what can be seen once only."""
    world = maker.world
    shop = PLACE / "shop"
    shop.mkdir()
    (PLACE / "description").write_text("Saves a note.")
    shutil.copy(NOTES, PLACE / "notes.py")
    world.root.mkdir(mode=0o700)
    (world.root / "settings.json").write_text(json.dumps(settings(far_url), indent=2))
    hub = world.start_hub(environ={"TOOLTRAY_PASSPHRASE": "dummy passphrase"})
    maker.run("secrets", "set", "DIARY_TOKEN", input="dummy-diary-token\n")
    maker.run("servers", "restart", "diary")
    sign_in = world.start(sys.executable, "-m", "tooltray", "servers", "sign-in", "far", "--no-browser")
    sign_in.read_line()
    urllib.request.urlopen(sign_in.read_line().decode()).read()
    assert sign_in.wait() == 0
    for server in ("notes", "diary", "far"):
        maker.state(server, "running")
    maker.confirm("approve", "notes", "save_note")
    maker.confirm("approve", "diary", "save_note", "--client", "acme")
    bearer = ("--bearer-secret", "--secret-stdin")
    maker.run("servers", "add", "web", "--url", "https://mcp.example/mcp", "--on-demand", *bearer, input="dummy-bearer\n")
    maker.run("servers", "add", "resting", "--on-demand", "--", "python3", "-I", f"{PLACE}/notes.py", f"{PLACE}/description")
    maker.run("servers", "add", "worker", "--deferred", "--", "python3", "-I", f"{PLACE}/notes.py", "{project_path}/description")
    maker.run("servers", "stop", "diary")
    maker.run("servers", "lazy", "diary", "on")
    maker.confirm("projects", "allow", str(shop))
    maker.run("servers", "add", "till", "--project", str(shop), "--", "python3", "-I", f"{PLACE}/notes.py", f"{PLACE}/description")
    document = json.loads((shop / ".mcp.json").read_text())
    document["mcpServers"]["counter"] = {"command": "python3", "args": ["counter.py"]}
    (shop / ".mcp.json").write_text(json.dumps(document, indent=2))
    maker.confirm("trust", str(shop))
    maker.run("tools", "override", "notes", "save_note", "--description", "Keeps a note.")
    maker.run("profiles", "set", "work", "--server", "notes", "--tool", "far", "whoami")
    maker.run("clients", "mode", "acme", "lazy", "--profile", "work")
    maker.run("http", "on")
    token = maker.run("clients", "token", "cursor").strip().splitlines()[-1]
    maker.run("http", "api", "on")
    named = world.tooltray("http", "api", "token", "ci", "--scope", "read")  # the first version knows one token only
    api = (named.stdout if named.returncode == 0 else maker.run("http", "api", "token")).strip().splitlines()[-1]
    propose(maker)
    report(maker)
    (PLACE / "answers.jsonl").write_bytes(b"".join(answers(world.root / "run" / "hub.sock")))
    tools = {tool["name"]: tool["description"] for tool in maker.read("tools", "list") if tool["server"] != "hub"}
    states = {server["name"]: server["state"] for server in maker.read("status")["servers"]}
    shown = {"secrets": maker.read("secrets", "list"), "grants": maker.read("grants", "list")}
    world.tooltray("stop")
    hub.wait()
    return {"client_token": token, "api_token": api, "tools": tools, "states": states, **shown, "offline": offline(maker)}


def offline(maker: Maker) -> dict[str, Any]:
    """What the commands print without a hub."""
    found = {}
    for name, words in READ.items():
        done = maker.world.tooltray(*words, "--json")
        if done.returncode == 0:  # else this version does not know it
            found[name] = json.loads(done.stdout)
    found["servers"] = [{key: server[key] for key in OF_SERVER} for server in found["servers"]]
    return found


def propose(maker: Maker) -> None:
    """A program that is not trusted adds a server, which waits for a yes in versions that know of that."""
    status = maker.read("http", "status")
    token = maker.run("http", "api", "token").strip().splitlines()[-1]
    body = {"name": "proposed", "command": "python3", "args": ["-I", "proposed.py"], "env": {"KEY": "dummy-proposed-value"}}
    head = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    url = status["api_url"].partition("/api")[0] + "/api/mcp/servers"
    urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), head)).read()


def answers(place: Path) -> list[bytes]:
    """What the hub answers a bridge, line by line: to the requests of `ASKED`, in their order."""
    with socket.socket(socket.AF_UNIX) as hub, hub.makefile("rb") as lines:
        hub.connect(str(place))
        hub.sendall(b'{"tooltray":1,"role":"client","session":"%b","server":null,"profile":null,"cwd":"/"}\n' % (b"0" * 32))
        found = []
        for id, (method, params) in enumerate(ASKED):
            hub.sendall(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode() + b"\n")
            found.append(next(line for line in lines if line.startswith(b'{"jsonrpc":"2.0","id":%d' % id)))
        return found


def report(maker: Maker) -> None:
    bridge = maker.world.start_bridge("--no-start")
    bridge.initialize(capabilities={"elicitation": {}}, name="acme")
    arguments = {"work_summary": "# Done", "project_path": str(PLACE / "shop")}
    bridge.send_request("tools/call", {"name": "collect_feedback", "arguments": arguments}, id="report")
    listed = wait_until(lambda: maker.read("feedback", "list"), "the report")
    maker.run("feedback", "answer", listed[0]["id"], "Looks good")
    bridge.reply_to("report")
    bridge.end()


def main(out: Path) -> None:
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir(mode=0o700)
    world = World()
    world.home, world.root = PLACE, PLACE / ".tooltray"
    world.environ |= {"HOME": str(PLACE), "PYTHONPATH": str(Path("desktop").absolute())}
    try:
        with elsewhere(lifetime_s=10 * 365 * 24 * 3600) as far:
            expected = use(Maker(world), far.server.mcp_url)
            expected["sign_in"] = {"access": sorted(far.do(lambda server: server.access))[0]}
        shutil.copytree(world.root, out / "home", ignore=shutil.ignore_patterns(*DROPPED))
        shutil.copy(PLACE / "answers.jsonl", out)
        (out / "expected.json").write_text(json.dumps(expected, indent=1, ensure_ascii=False) + "\n")
    finally:
        world.end()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
