"""copilot_tools.py: real objects of github-copilot-sdk, and a hub that answers from a script."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from copilot import Tool, ToolBinaryResult, ToolInvocation, ToolResult
from copilot.tools import tool_result_to_external_tool_text_result_for_llm
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.fake_control_hub import FakeControlHub, HangUp, KeepSilent, hub_snapshot, server_snapshot

from tooltray.carriers.copilot import copilot_tools
from tooltray.carriers.copilot.copilot_tools import failed, tool_result
from tooltray.catalogue.formats.contents import NOTHING_SAID
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.snapshots.tools import MCPToolResponse

SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}},
    "required": ["path"],
    "$defs": {"odd": {"type": ["string", "null"]}},
}


def definition(name: str, **members: Any) -> dict[str, Any]:
    return {"name": name, "description": f"Does {name}.", "inputSchema": SCHEMA, **members}


def response(call: dict[str, Any], text: str, *, is_error: bool = False) -> dict[str, Any]:
    """An MCPToolResponse as the control channel carries it."""
    about = {"outcome": "error" if is_error else "ok", "duration_s": 0.1, "argument_bytes": 2, "result_bytes": 2}
    result = {"content": [{"type": "text", "text": text}], "isError": is_error}
    return {"tool": call["name"], "server": call["server"], "client": "t", **about, "tool_call_id": call["id"], "result": result}


class ScriptedHub(FakeControlHub):
    """Has servers with tools: by server, by published name, (the server's own name, definition)."""

    def __init__(self, home: Home, servers: dict[str, dict[str, tuple[str, dict[str, Any]]]]) -> None:
        super().__init__(home)
        self.servers = servers
        self.disabled: set[str] = set()
        self.stopped: set[str] = set()
        self.for_views: set[str] = set()
        self.answers |= {
            "get_snapshot": lambda: hub_snapshot(*map(server_snapshot, servers)),
            "get_tools": self._tools,
            "get_all_tool_definitions": self._definitions,
            "run_tool_call": self._run,
        }

    def _run(self, call: dict[str, Any]) -> dict[str, Any]:
        return response(call, f"{call['name']}({call['arguments']})")

    def _tools(self, server: str) -> list[dict[str, Any]]:
        if server not in self.servers:
            raise TooltrayError(f"server '{server}' not found")
        return [
            {
                "name": original if server in self.stopped or name in self.disabled else name,
                "server": server,
                "original_name": original,
                "is_enabled": name not in self.disabled,
                **({"is_for_views": True} if name in self.for_views else {}),
            }
            for name, (original, _) in self.servers[server].items()
        ]

    def _definitions(self, server: str) -> list[dict[str, Any]]:
        if server in self.stopped:
            return []
        return [{**each, "name": name} for name, (_, each) in self.servers[server].items() if name not in self.disabled]


@pytest.fixture
def hub(hub_home: Home) -> Iterator[ScriptedHub]:
    servers = {
        "fs": {"read_file": ("read_file", definition("read_file")), "fs_search": ("search", definition("search"))},
        "web": {"web_search": ("search", definition("search"))},
    }
    with ScriptedHub(hub_home, servers) as hub:
        yield hub


async def call(tool: Tool, arguments: Any = None) -> ToolResult:
    invocation = ToolInvocation(session_id="s", tool_call_id="c", tool_name=tool.name, arguments=arguments)
    assert tool.handler
    result = tool.handler(invocation)
    return result if isinstance(result, ToolResult) else await result


async def first(**options: Any) -> Tool:
    return (await copilot_tools(**options))[0]


async def test_every_tool_of_every_server_becomes_a_tool_with_the_definition_of_its_server(hub: ScriptedHub) -> None:
    tools = await copilot_tools()
    assert [tool.name for tool in tools] == ["mcp_fs_read_file", "mcp_fs_search", "mcp_web_search"]
    assert all(isinstance(tool, Tool) for tool in tools)
    assert tools[0].description == "Does read_file."
    assert tools[0].parameters == SCHEMA


async def test_only_the_servers_asked_for_give_tools(hub: ScriptedHub) -> None:
    assert [tool.name for tool in await copilot_tools(servers=["web", "web"])] == ["mcp_web_search"]
    assert await copilot_tools(servers=[]) == []
    with pytest.raises(TooltrayError, match="server 'wbe' not found"):
        await copilot_tools(servers=["wbe"])


async def test_what_is_switched_off_or_stopped_gives_no_tools(hub: ScriptedHub) -> None:
    hub.disabled, hub.stopped = {"read_file"}, {"web"}
    assert [tool.name for tool in await copilot_tools()] == ["mcp_fs_search"]


async def test_a_tool_for_views_alone_is_none_for_a_model(hub: ScriptedHub) -> None:
    hub.for_views, hub.stopped = {"read_file"}, {"web"}
    assert [tool.name for tool in await copilot_tools()] == ["mcp_fs_search"]


async def test_a_tool_that_is_switched_off_is_taken_for_no_other_that_has_its_name(hub: ScriptedHub) -> None:
    hub.servers = {"fs": {"get": ("get.it", definition("get.it")), "get_2": ("get", definition("get"))}}
    hub.disabled = {"get_2"}
    assert [tool.name for tool in await copilot_tools(servers=["fs"])] == ["mcp_fs_get_it"]


async def test_the_home_may_be_given(hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOOLTRAY_HOME")
    monkeypatch.setenv("HOME", "/nonexistent")
    assert await copilot_tools(home=hub.home.root)


@pytest.mark.parametrize("schema", [None, "odd", {}, {"type": "object"}])
async def test_a_tool_without_a_schema_takes_an_object_without_properties(hub: ScriptedHub, schema: Any) -> None:
    hub.servers = {"fs": {"now": ("now", definition("now", inputSchema=schema))}}
    hub.answers["get_snapshot"] = hub_snapshot(server_snapshot("fs"))
    assert (await first()).parameters == {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("members", "description"),
    [
        ({"description": "", "title": "Read a file"}, "Read a file"),
        ({"description": " ", "title": None, "annotations": {"title": "Reading"}}, "Reading"),
        ({"description": None, "annotations": "odd"}, "The tool now of the MCP server fs."),
    ],
)
async def test_a_tool_that_describes_itself_badly_is_described(hub: ScriptedHub, members: dict[str, Any], description: str) -> None:
    hub.servers = {"fs": {"now": ("now", definition("now", **members))}}
    assert (await first(servers=["fs"])).description == description


# calls


async def test_a_call_goes_to_the_hub_by_the_published_name(hub: ScriptedHub) -> None:
    _, search, _ = await copilot_tools()
    assert await call(search, {"path": "/tmp"}) == ToolResult(text_result_for_llm="fs_search({'path': '/tmp'})")
    assert hub.params_of("run_tool_call")["call"] == {"id": "c", "name": "fs_search", "arguments": {"path": "/tmp"}, "server": "fs"}


@pytest.mark.parametrize(
    ("given", "arguments"), [(None, {}), ("", {}), ({}, {}), ('{"a": 1}', {"a": 1}), ({"a": {"b": None}}, {"a": {"b": None}})]
)
async def test_arguments_may_be_absent_or_text(hub: ScriptedHub, given: Any, arguments: dict[str, Any]) -> None:
    assert (await call(await first(), given)).text_result_for_llm == f"read_file({arguments})"


@pytest.mark.parametrize("given", ["{", "[1]", [1], 7, "[" * 100_000])
async def test_arguments_that_are_no_object_are_a_failure_that_says_so(hub: ScriptedHub, given: Any) -> None:
    result = await call(await first(), given)
    assert result.result_type == "failure"
    assert "arguments" in result.text_result_for_llm
    assert "run_tool_call" not in hub.methods()


async def test_a_failed_call_is_a_failure_that_the_model_can_read(hub: ScriptedHub) -> None:
    hub.answers["run_tool_call"] = lambda call: response(call, "server 'fs' ended with exit code 7", is_error=True)
    result = await call(await first(), {})
    assert result.result_type == "failure"
    assert result.error == result.text_result_for_llm == "server 'fs' ended with exit code 7"


async def test_what_the_hub_refuses_is_a_failure_too(hub: ScriptedHub) -> None:
    def refuse(**params: Any) -> None:
        raise TooltrayError("the hub is ending", "call again")

    hub.answers["run_tool_call"] = refuse
    result = await call(await first(), {})
    assert (result.result_type, result.error) == ("failure", "the hub is ending: call again")


@pytest.mark.expected_warnings("the call of 'read_file' failed")
async def test_a_response_that_makes_no_sense_is_a_failure_too(hub: ScriptedHub) -> None:
    hub.answers["run_tool_call"] = []
    assert "Tooltray sent an answer that cannot be read: run_tool_call" in (await call(await first(), {})).text_result_for_llm


async def test_a_call_that_takes_too_long_is_a_timeout(hub: ScriptedHub) -> None:
    def keep_silent(**params: Any) -> None:
        raise KeepSilent

    hub.answers["run_tool_call"] = keep_silent
    result = await call(await first(timeout_s=0.1), {})
    assert (result.result_type, result.error) == ("timeout", "'read_file' returned no result within 0.1 s")


async def test_a_hub_that_ends_during_a_call_is_a_failure(hub: ScriptedHub) -> None:
    def hang_up(**params: Any) -> None:
        raise HangUp

    hub.answers["run_tool_call"] = hang_up
    result = await call(await first(), {})
    assert result.result_type == "failure"
    assert "Tooltray ended during the call" in result.text_result_for_llm


async def test_a_hub_that_is_gone_is_a_failure_and_one_that_comes_back_is_used(hub: ScriptedHub, hub_home: Home) -> None:
    tool = await first(may_start=False)
    hub.close()
    assert "Tooltray is not running" in (await call(tool, {})).text_result_for_llm
    with ScriptedHub(hub_home, hub.servers):
        assert (await call(tool, {})).result_type == "success"


@pytest.mark.expected_warnings("the call of 'read_file' failed")
async def test_a_bug_is_a_failure_too_and_is_logged(hub: ScriptedHub) -> None:
    result = await call(await first(), {"not JSON": object()})
    assert (result.result_type, result.text_result_for_llm) == ("failure", "'read_file' could not be called: NotImplementedError")


# merging


def own_tool(name: str) -> Tool:
    return Tool(name=name, description="own")


async def test_tools_are_merged_with_a_programs_own_in_one_call(hub: ScriptedHub) -> None:
    tools = await copilot_tools()
    own = own_tool("tell_time")
    assert tools.merge([own]) == [own, *tools]
    assert tools.merge([]) == list(tools)


@pytest.mark.expected_warnings("'mcp_fs_search' is left out")
async def test_a_programs_own_tool_wins_and_the_log_says_so(hub: ScriptedHub, caplog: pytest.LogCaptureFixture) -> None:
    tools = await copilot_tools()
    own = own_tool("mcp_fs_search")
    merged = tools.merge(iter([own]))
    assert [tool.name for tool in merged] == ["mcp_fs_search", "mcp_fs_read_file", "mcp_web_search"]
    assert merged[0] is own
    assert [record.levelname for record in caplog.records if "mcp_fs_search" in record.getMessage()] == ["WARNING"]


# the SDK


@pytest.mark.parametrize("missing", ["copilot", "another"])
async def test_without_the_sdk_it_says_what_to_install(hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    def refuse(name: str) -> None:
        raise ImportError(f"No module named '{missing}'", name=missing)

    monkeypatch.setattr("importlib.import_module", refuse)
    with pytest.raises(TooltrayError, match="pip install github-copilot-sdk") as error:
        await copilot_tools()
    assert ("is not installed" in error.value.problem.title) == (missing == "copilot")
    assert not hub.calls


def test_nothing_is_imported_before_it_is_needed() -> None:
    heavy = {"copilot", "pydantic", "aiohttp", "PySide6"}
    script = f"import sys, tooltray.carriers.copilot; assert not (found := sys.modules.keys() & {heavy}), found"
    found = subprocess.run([sys.executable, "-I", "-c", script], stderr=subprocess.PIPE, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")


TEXT = {"type": "text", "text": "hello"}
PNG = "iVBORw0KGgo="


def of_result(result: dict[str, Any]) -> ToolResult:
    return tool_result(MCPToolResponse("tool", "server", "client", "ok", 0.1, 2, 2, tool_call_id="c", result=result))


def of(*blocks: Any, **members: Any) -> ToolResult:
    return of_result({"content": list(blocks), **members})


def test_texts_are_joined_and_the_call_succeeded() -> None:
    assert of(TEXT, {"type": "text", "text": "there"}) == ToolResult(text_result_for_llm="hello\n\nthere", result_type="success")


def test_an_error_is_a_failure_with_its_text() -> None:
    assert of(TEXT, isError=True) == ToolResult(text_result_for_llm="hello", result_type="failure", error="hello")


@pytest.mark.parametrize("flag", [False, None, 0, "true"])
def test_only_the_flag_itself_makes_a_failure(flag: Any) -> None:
    assert of(TEXT, isError=flag).result_type == "success"


@pytest.mark.parametrize(
    ("block", "binary"),
    [
        ({"type": "image", "data": PNG, "mimeType": "image/png"}, ToolBinaryResult(PNG, "image/png", "image", "image")),
        ({"type": "audio", "data": "UklG", "mimeType": "audio/wav"}, ToolBinaryResult("UklG", "audio/wav", "resource", "audio")),
        ({"type": "image", "data": PNG}, ToolBinaryResult(PNG, "application/octet-stream", "resource", "image")),
        (
            {"type": "resource", "resource": {"uri": "file:///a.pdf", "mimeType": "application/pdf", "blob": "JVBE"}},
            ToolBinaryResult("JVBE", "application/pdf", "resource", "file:///a.pdf"),
        ),
        (
            {"type": "resource", "resource": {"blob": "JVBE", "uri": "a:b"}},
            ToolBinaryResult("JVBE", "application/octet-stream", "resource", "a:b"),
        ),
        (
            {"type": "resource", "resource": {"uri": "file:///a.png", "mimeType": "image/PNG; q=1", "blob": PNG}},
            ToolBinaryResult(PNG, "image/png", "image", "file:///a.png"),
        ),
    ],
)
def test_binary_data_goes_beside_the_text(block: dict[str, Any], binary: ToolBinaryResult) -> None:
    result = of(TEXT, block)
    assert (result.text_result_for_llm, result.binary_results_for_llm) == ("hello", [binary])
    assert of(block).text_result_for_llm == ""
    assert tool_result_to_external_tool_text_result_for_llm(result).binary_results_for_llm


def test_a_failure_keeps_its_pictures() -> None:
    result = of({"type": "image", "data": PNG, "mimeType": "image/png"}, isError=True)
    assert result.result_type == "failure"
    assert result.binary_results_for_llm


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ({"type": "resource", "resource": {"uri": "file:///a.txt", "text": "inside"}}, "file:///a.txt]\ninside"),
        ({"type": "resource_link", "uri": "file:///b", "name": "b"}, "file:///b"),
        ({"type": "image", "data": "no base64!", "mimeType": "image/png"}, "image/png"),
        ({"type": "hologram", "名": "x"}, "名"),
        ("just text", "just text"),
    ],
)
def test_what_is_no_text_and_no_data_is_put_into_words(block: Any, words: str) -> None:
    result = of(TEXT, block)
    assert result.text_result_for_llm.startswith("hello\n\n")
    assert words in result.text_result_for_llm
    assert result.binary_results_for_llm is None


def test_structured_content_is_given_where_there_is_no_other() -> None:
    assert of(structuredContent={"sum": 5}).text_result_for_llm == '{"sum": 5}'
    assert of(TEXT, structuredContent={"content": "hello"}).text_result_for_llm == "hello"
    assert of({"type": "text", "text": '{"sum":5}'}, structuredContent={"sum": 5}).text_result_for_llm == '{"sum":5}'


@pytest.mark.parametrize("result", [{}, {"content": []}, {"content": [{"type": "text", "text": ""}]}])
def test_a_result_of_nothing_says_so(result: dict[str, Any]) -> None:
    assert of_result(result) == ToolResult(text_result_for_llm=NOTHING_SAID, result_type="success")


def test_a_call_that_did_not_come_about_says_why() -> None:
    assert failed("no hub") == ToolResult(text_result_for_llm="no hub", result_type="failure", error="no hub")
    assert failed("too slow", "timeout").result_type == "timeout"


values = (
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.dictionaries(st.sampled_from(["text", "blob", "uri"]), st.text())
)
kinds = st.sampled_from(["text", "image", "audio", "resource", "resource_link"])
members = dict.fromkeys(("text", "data", "mimeType", "resource", "uri", "name"), values)
blocks = st.fixed_dictionaries({"type": kinds}, optional=members)


@given(content=st.lists(blocks | values), is_error=values)
def test_whatever_a_server_sends_becomes_a_result_that_the_sdk_can_send(content: list[Any], is_error: Any) -> None:
    result = of(*content, isError=is_error)
    assert tool_result_to_external_tool_text_result_for_llm(result).to_dict()["textResultForLlm"] == result.text_result_for_llm
    assert result.text_result_for_llm or result.binary_results_for_llm
