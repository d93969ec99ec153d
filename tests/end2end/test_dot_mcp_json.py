"""A project's own `.mcp.json`, as it is, with real servers and clients; each scenario of its requirements is a test of that name."""

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from copilot import CopilotClient, RuntimeConnection, Tool, ToolInvocation, ToolResult
from copilot.session import PermissionHandler
from tests.end2end.processes import BRIDGE, Program, World, is_running, new_world, wait_until
from tests.end2end.raw_client import RawClient
from tests.fakes.copilot_runtime import CopilotRuntime

from tooltray.carriers.control.control_client import ControlClient
from tooltray.carriers.copilot import copilot_tools
from tooltray.carriers.rest.server_operations import status_of
from tooltray.foundation.home.home import Home
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.servers.upstream.start_limits import RESTART_AFTER_S

SERVERS = Path(__file__).parent / "servers"
SOON_S = 60.0  # for what starts a real server on a busy machine
BAD_FILE = '{"mcpServers": {\n  "fs": {"command": "npx",\n}'
PROJECT_ENVIRONMENT = "export GITHUB_TOKEN=abc123\n"


def python(name: str, *args: str, **fields: Any) -> dict[str, Any]:
    """The entry of one of the tests' own servers."""
    return {"command": sys.executable, "args": [str(SERVERS / name), *args], "autoApprove": ["all"], **fields}


class Shop:
    """A project with a `.mcp.json`, and a hub."""

    def __init__(self, world: World, folder: Path) -> None:
        self.world, self.folder, self.file = world, folder, folder / ".mcp.json"
        folder.mkdir()
        world.root.mkdir(mode=0o700)
        (world.root / "settings.json").write_text(
            json.dumps({"version": 1, "autoDetectNpmRegistry": False, "secrets": {"backend": "memory"}})
        )
        (world.home / ".profile").write_text(PROJECT_ENVIRONMENT)

    def write(self, **entries: Any) -> None:
        self.file.write_text(json.dumps({"mcpServers": entries}, indent=2))

    def start_hub(self, *arguments: str) -> None:
        self.world.start_hub(*arguments)
        channel = ControlClient.connect(Home(self.world.root), is_at_terminal=True)
        assert channel
        self.channel = channel

    def verb(self, verb: str, /, **arguments: Any) -> Any:
        return self.channel.call(verb, timeout_s=SOON_S, **arguments)

    def trust(self) -> list[str]:
        """A person says yes to what waits, as they were shown it."""
        requests = self.verb("get_trust_requests", project=str(self.folder))
        return list(self.verb("trust_entries", project=str(self.folder), entries={each["entry"]: each["digest"] for each in requests}))

    def servers(self) -> dict[str, dict[str, Any]]:
        return {each["name"]: each for each in self.verb("get_snapshot")["servers"] if each["name"] != "hub"}

    def wait_for(self, **states: str) -> None:
        def are_so() -> bool:
            now = {name: server["state"] for name, server in self.servers().items()}
            return all(now.get(name) == state for name, state in states.items())

        wait_until(are_so, f"{states}", SOON_S)

    def told_file(self) -> dict[str, Any]:
        """What the hub says of the file."""
        return dict(next(each for each in self.verb("get_server_files") if each["path"] == str(self.file)))

    def log(self) -> list[dict[str, Any]]:
        return [each for each in self.world.records() if each.get("level") in ("warning", "error")]


@contextlib.contextmanager
def shop_in(world: World) -> Iterator[Shop]:
    shop = Shop(world, world.home.resolve() / "shop")
    try:
        yield shop
    finally:
        shop.channel.close()


@pytest.fixture(scope="module")
def shop(npm_server: Callable[..., list[str]]) -> Iterator[Shop]:
    """A project that every session has: a real server from npm, one over HTTP, and others that do well or badly."""
    with new_world() as world, shop_in(world) as shop:
        command, *args = npm_server("filesystem", "${CLAUDE_PROJECT_DIR}")
        remote = world.start(sys.executable, str(SERVERS / "remote.py"), "streamable", "0")
        shop.write(
            fs={"command": command, "args": args, "transport": "stdio", "autoApprove": ["all"]},
            api={"url": f"http://127.0.0.1:{int(remote.read_line())}/mcp", "transport": "http", "autoApprove": ["all"]},
            here=python("in_project.py", "--token", "${GITHUB_TOKEN}", "${NOT_SET:-otherwise}", env={"PROJECT": "${CLAUDE_PROJECT_DIR}"}),
            habits=python("habits.py"),
            missing={"command": "no-such-program-anywhere", "args": []},
            broken={"args": ["neither a command nor a URL"]},
        )
        (shop.folder / "test.txt").write_text("remember the milk")
        shop.start_hub("--project", str(shop.folder))
        assert set(shop.servers()) == set()  # nobody said yes yet
        assert sorted(shop.trust()) == ["api", "fs", "habits", "here", "missing"]
        shop.wait_for(fs="running", api="running", here="running", habits="running", missing="error")
        yield shop


def text_of(result: dict[str, Any]) -> str:
    return str(result["content"][0]["text"])


# what the file says


@pytest.fixture
def written(world: World) -> Iterator[Shop]:
    """A project whose file says what a test wants, and nothing of it runs; every session would have it."""
    with shop_in(world) as shop:
        yield shop


def test_解析有效的_stdio_server_設定(written: Shop) -> None:
    entry = {"command": "npx", "args": ["-y", "@anthropic/mcp-server-filesystem", "/tmp"], "transport": "stdio"}
    written.write(fs=entry, api={"url": "http://localhost:3001/mcp", "transport": "http"})
    written.start_hub("--project", str(written.folder))
    parsed = {each["entry"]: each for each in written.verb("get_trust_requests")}
    assert parsed["fs"]["transport"] == "stdio"
    assert parsed["fs"]["target"] == "npx -y @anthropic/mcp-server-filesystem /tmp"
    assert (parsed["api"]["transport"], parsed["api"]["target"]) == ("http", "http://localhost:3001/mcp")
    assert written.servers() == {}


def test_解析有效的_http_server_設定(shop: Shop) -> None:
    api = shop.servers()["api"]
    assert api["transport"] == "http"
    assert api["target"] == json.loads(shop.file.read_text())["mcpServers"]["api"]["url"]
    assert (api["origin"], api["file"]) == ("project", str(shop.file))


def test_環境變數展開(shop: Shop) -> None:
    here = json.loads(text_of(shop.verb("call_tool", name="where", arguments={})))
    assert here["args"] == ["--token", "abc123", "otherwise"]
    assert (here["cwd"], here["variable"]) == (str(shop.folder), str(shop.folder))


def test_a_variable_that_serve_is_started_with_is_filled_in_and_the_doctor_says_where_it_is_from(written: Shop) -> None:
    env = {"PROJECT": "${GITHUB_TOKEN}"}
    written.write(here=python("in_project.py", "${ONLY_TYPED}", "${GITHUB_TOKEN}", "${FROM_PROFILE}", "${NOT_SET:-otherwise}", env=env))
    (written.world.home / ".profile").write_text(f"{PROJECT_ENVIRONMENT}export FROM_PROFILE=profile\n")
    written.world.environ |= {"ONLY_TYPED": "typed-1", "GITHUB_TOKEN": "typed-2"}
    written.start_hub("--project", str(written.folder))
    assert written.trust() == ["here"]
    written.wait_for(here="running")
    here = json.loads(text_of(written.verb("call_tool", name="where", arguments={})))
    assert (here["args"], here["variable"]) == (["typed-1", "typed-2", "profile", "otherwise"], "typed-2")
    doctor = written.world.tooltray("doctor", "here")
    said = [line.removeprefix("  variables:").strip() for line in doctor.stdout.splitlines()]
    assert {
        f"PROJECT comes from the entry in {written.file}, with GITHUB_TOKEN filled in",
        "ONLY_TYPED comes from the environment that Tooltray was started with",
        "GITHUB_TOKEN comes from the environment that Tooltray was started with",
        "FROM_PROFILE comes from the login shell",
        "NOT_SET: not set; the entry's default is used",
    } <= set(said)
    assert not [value for value in ("typed-1", "typed-2") if value in doctor.stdout]


def test_設定檔不存在(written: Shop) -> None:
    written.start_hub("--project", str(written.folder))
    assert written.told_file()["exists"] is False
    assert written.told_file()["problems"] == []
    assert (written.servers(), written.log()) == ({}, [])
    assert written.verb("get_snapshot")["notices"] == []


def test_設定檔格式錯誤(shop: Shop) -> None:
    problem = next(each for each in shop.told_file()["problems"] if each["entry"] == "broken")
    lines = shop.file.read_text().splitlines()
    assert '"broken": {' in lines[problem["line"] - 1]
    assert "command" in str(problem)
    assert any("broken" in str(each) for each in shop.log())
    assert "broken" not in shop.servers()
    before = shop.file.read_text()
    shop.file.write_text(BAD_FILE)
    wait_until(lambda: any(each["line"] >= 2 for each in shop.told_file()["problems"]), "the problem with its line", SOON_S)
    assert shop.servers()["fs"]["state"] == "running"  # what ran goes on
    shop.file.write_text(before)
    wait_until(lambda: [each["entry"] for each in shop.told_file()["problems"]] == ["broken"], "the file to be read again", SOON_S)


# connections


def test_stdio_server_正常連線(shop: Shop) -> None:
    server = shop.servers()["fs"]
    assert (server["transport"], server["state"]) == ("stdio", "running")
    assert server["tool_count"] > 5
    (pid,) = server["pids"]
    assert str(shop.folder) in psutil.Process(pid).cmdline()
    assert psutil.Process(pid).cwd() == str(shop.folder)


def test_http_server_正常連線(shop: Shop) -> None:
    server = shop.servers()["api"]
    assert (server["transport"], server["state"]) == ("http", "running")
    assert {each["original_name"] for each in shop.verb("get_tools", server="api")} >= {"echo", "big"}
    assert text_of(shop.verb("call_tool", name=published(shop, "api", "echo"), arguments={"text": "hi"})) == "hi"


def published(shop: Shop, server: str, tool: str) -> str:
    return str(next(each["name"] for each in shop.verb("get_tools", server=server) if each["original_name"] == tool))


def test_server_連線失敗(shop: Shop) -> None:
    servers = shop.servers()
    assert servers["missing"]["state"] == "error"
    assert "no-such-program-anywhere" in str(servers["missing"]["problem"])
    assert any("no-such-program-anywhere" in str(each) for each in shop.log())
    before = shop.file.read_text()
    written = json.loads(before)
    written["mcpServers"]["unreachable"] = {"url": "http://127.0.0.1:9/mcp", "transport": "http"}
    shop.file.write_text(json.dumps(written))
    wait_until(lambda: shop.verb("get_trust_requests"), "the new entry to be asked about", SOON_S)
    shop.trust()
    wait_until(lambda: shop.servers()["unreachable"]["problem"], "the server that nobody reaches to have failed", SOON_S)
    assert {servers[name]["state"] for name in ("fs", "api", "here", "habits")} == {"running"}
    shop.file.write_text(before)
    wait_until(lambda: "unreachable" not in shop.servers(), "it to be gone again", SOON_S)


def test_server_子程序_crash(shop: Shop) -> None:
    (pid,) = shop.servers()["habits"]["pids"]
    with ControlClient.connect(Home(shop.world.root), with_events=True) as channel:  # type: ignore[union-attr]
        channel.call("get_mcp_enabled", timeout_s=SOON_S)
        psutil.Process(pid).kill()
        said = [data["server"] for kind, data in until_running(channel) if kind == "ServerChanged"]
    states = [each["state"] for each in said if each["name"] == "habits"]
    assert (states[0], states[-1]) == ("restarting", "running")
    assert status_of(ServerState.RESTARTING) == "disconnected"
    assert [after_s / RESTART_AFTER_S[0] for after_s in RESTART_AFTER_S] == [1, 2, 4]  # and then somebody has to act
    assert shop.servers()["habits"]["pids"] != [pid]


def until_running(channel: ControlClient) -> Iterator[tuple[str, dict[str, Any]]]:
    for kind, data in channel.events():
        yield kind, data
        if kind == "ServerChanged" and (data["server"]["name"], data["server"]["state"]) == ("habits", "running"):
            return


# tools of the Copilot SDK


async def tools_of(shop: Shop, **options: Any) -> dict[str, Tool]:
    return {tool.name: tool for tool in await copilot_tools(home=shop.world.root, **options)}


async def ran(tool: Tool, **arguments: Any) -> ToolResult:
    assert tool.handler
    result = tool.handler(ToolInvocation(session_id="s1", tool_call_id="c1", tool_name=tool.name, arguments=arguments))
    return result if isinstance(result, ToolResult) else await result


async def test_MCP_tool_成功轉接(shop: Shop) -> None:
    tool = (await tools_of(shop))["mcp_fs_read_file"]
    own = next(each for each in shop.verb("get_all_tool_definitions", server="fs") if each["name"].endswith("read_file"))
    assert tool.parameters
    assert tool.parameters["properties"] == own["inputSchema"]["properties"]
    assert own["description"] in tool.description


async def test_Tool_執行成功(shop: Shop) -> None:
    found = await ran((await tools_of(shop))["mcp_fs_read_file"], path=str(shop.folder / "test.txt"))
    assert (found.result_type, found.text_result_for_llm) == ("success", "remember the milk")


async def test_Tool_執行失敗(shop: Shop) -> None:
    tools, impatient = await tools_of(shop), await tools_of(shop, timeout_s=1.0)
    failed = await ran(tools["mcp_fs_read_file"], path="/etc/passwd")
    assert (failed.result_type, "denied" in failed.text_result_for_llm) == ("failure", True)
    assert (await ran(impatient["mcp_habits_hang"])).result_type == "timeout"
    assert (await ran(tools["mcp_habits_echo"], text="goes on")).text_result_for_llm == "goes on"


async def test_Tool_合併至串流(shop: Shop) -> None:
    own = Tool(name="self_control", description="Its own.", handler=lambda invocation: ToolResult(text_result_for_llm="calm"))
    tools = await copilot_tools(home=shop.world.root)
    async with (
        CopilotRuntime() as runtime,
        CopilotClient(connection=RuntimeConnection.for_uri(runtime.address)) as client,
        await client.create_session(tools=tools.merge([own]), on_permission_request=PermissionHandler.approve_all),
    ):
        declared = {tool["name"] for tool in runtime.created["tools"]}
        assert declared >= {"self_control", "mcp_fs_read_file", "mcp_api_echo", "mcp_here_where", "mcp_habits_echo"}
        spoken = await runtime.call_tool("mcp_habits_echo", text="in the stream")
        assert spoken["result"]["textResultForLlm"] == "in the stream"


# edited while an AI client uses it


def bridge_in(world: World, folder: Path, *arguments: str) -> Program:
    return world.start(sys.executable, "-I", "-S", str(BRIDGE), "--no-start", *arguments, cwd=folder)


def client_in(world: World, folder: Path, *arguments: str) -> RawClient:
    """An AI client whose bridge runs in a folder."""
    return RawClient(bridge_in(world, folder, *arguments), patience_s=SOON_S)


@pytest.fixture(scope="module")
def workshop() -> Iterator[Shop]:
    """A project that tests edit, and a hub."""
    with new_world() as world, shop_in(world) as shop:
        shop.start_hub()
        yield shop


@pytest.fixture
def edited(workshop: Shop) -> Iterator[tuple[Shop, RawClient]]:
    """A client in the folder of a project with one server, which is trusted and carries out a call that takes a while."""
    with workshop.world.visit():
        workshop.write(habits=python("habits.py"))
        client = client_in(workshop.world, workshop.folder)

        def is_as_at_first() -> bool:
            if workshop.verb("get_trust_requests", project=str(workshop.folder)):
                workshop.trust()
            return "echo" in (names := client.names()) and not any(name.endswith(("where", "tool_00002")) for name in names)

        wait_until(is_as_at_first, "the client's tools", SOON_S)
        yield workshop, client


def test_新增_移除_修改_server_while_a_call_runs_on_another(edited: tuple[Shop, RawClient]) -> None:
    """All three in one life of one client, as a person edits; the next tests tell them apart."""
    shop, client = edited
    habits = python("habits.py")
    (pid,) = json.loads(client.call("pids"))
    slow = client.begin("slow", ms=3000)
    shop.write(habits=habits, here=python("in_project.py", "one"))
    wait_until(lambda: shop.verb("get_trust_requests"), "the new entry to be asked about", SOON_S)
    assert shop.trust() == ["here"]
    wait_until(lambda: "where" in client.names(), "the new tool", SOON_S)
    first = json.loads(client.call("where"))
    assert (first["args"], first["cwd"]) == (["one"], str(shop.folder))
    (replaced,) = shop.servers()["here"]["pids"]  # a confined server may know itself by another number

    shop.write(habits=habits, here=python("in_project.py", "two"))
    wait_until(lambda: shop.verb("get_trust_requests"), "the changed entry to be asked about", SOON_S)
    assert json.loads(client.call("where")) == first  # until somebody says yes, the old one goes on
    shop.trust()
    wait_until(lambda: json.loads(client.call("where"))["args"] == ["two"], "the new server", SOON_S)
    assert not is_running(replaced)

    shop.write(habits=habits)
    wait_until(lambda: "where" not in client.names(), "the tool to be gone", SOON_S)
    assert set(shop.servers()) == {"habits"}
    assert client.text(slow) == "slow"
    assert json.loads(client.call("pids")) == [pid]


def test_新增_server(edited: tuple[Shop, RawClient]) -> None:
    shop, client = edited
    shop.write(habits=python("habits.py"), here=python("in_project.py"))
    wait_until(lambda: shop.verb("get_trust_requests"), "the new entry to be asked about", SOON_S)
    shop.trust()
    client.until_tools(lambda names: "where" in names)


def test_移除_server(edited: tuple[Shop, RawClient]) -> None:
    shop, client = edited
    (pid,) = shop.servers()["habits"]["pids"]
    shop.write()
    client.until_tools(lambda names: "echo" not in names)
    wait_until(lambda: not is_running(pid), "its process to end", SOON_S)
    assert shop.servers() == {}


def test_修改_server_設定(edited: tuple[Shop, RawClient]) -> None:
    shop, client = edited
    (pid,) = shop.servers()["habits"]["pids"]
    shop.write(habits=python("habits.py", "tools:3"))
    wait_until(lambda: shop.verb("get_trust_requests"), "the changed entry to be asked about", SOON_S)
    assert shop.servers()["habits"]["pids"] == [pid]
    shop.trust()
    wait_until(lambda: "tool_00002" in client.names(), "the new tools", SOON_S)
    assert not is_running(pid)


def test_what_the_command_line_writes_into_the_file_is_trusted_at_once(edited: tuple[Shop, RawClient]) -> None:
    shop, client = edited
    own = [sys.executable, str(SERVERS / "in_project.py"), "own"]
    done = shop.world.tooltray("servers", "add", "own", "--project", str(shop.folder), "--", *own)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(shop.file.read_text())["mcpServers"].keys() == {"habits", "own"}
    # a server of another test may have had the tool's plain name, which stays its own
    where = wait_until(lambda: next((name for name in client.names() if name.endswith("where")), ""), "its tool", SOON_S)
    assert json.loads(client.call(where))["args"] == ["own"]
    assert shop.verb("get_trust_requests") == []


# for whom


def test_a_project_is_its_own_sessions_business(edited: tuple[Shop, RawClient]) -> None:
    shop, client = edited
    elsewhere = shop.world.home / "elsewhere"
    elsewhere.mkdir()
    other, alone = client_in(shop.world, elsewhere), client_in(shop.world, shop.folder, "--server", "habits")
    assert "echo" not in other.names()
    assert "Unknown tool" in other.reply(other.begin("echo", text="x"))["error"]["message"]
    assert alone.call("echo", text="alone") == "alone"
    stranger = bridge_in(shop.world, elsewhere, "--server", "habits")
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "end2end", "version": "1"}}
    assert "Tooltray has no server 'habits'" in stranger.request("initialize", params)["error"]["message"]
    assert "habits" not in other.call("list_servers")
    assert "habits" in client.call("list_servers")


def test_a_client_goes_on_calling_when_the_hub_was_started_anew(edited: tuple[Shop, RawClient]) -> None:
    shop, client = edited  # the last of these tests: the hub ends with it
    shop.channel.close()
    shop.world.tooltray("stop")
    shop.start_hub()
    assert client.call("echo", text="by heart") == "by heart"
