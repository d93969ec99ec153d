"""`tooltray tools ...`, with a running hub."""

import os
from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub, KeepSilent, hub_snapshot, server_snapshot, whole
from tests.unit.cli.conftest import Tooltray

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home


def tool(name: str, **changes: Any) -> dict[str, Any]:
    values = {"name": name, "server": "files", "original_name": name, "description": "does it", "category": "read"}
    return values | {"is_enabled": True, "is_approved": True} | changes


def calling(home: Home, result: Any, properties: dict[str, Any] | None = None) -> FakeControlHub:
    definition: dict[str, Any] = {"name": "echo", "inputSchema": {"type": "object", "properties": properties or {}}}
    return FakeControlHub(home, {"call_tool": result, "get_all_tool_definitions": [{"name": "other"}, definition]})


def texts(*lines: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": line} for line in lines]} | more


def test_tools_are_listed_with_what_happens_to_their_calls(tooltray: Tooltray, hub_home: Home) -> None:
    tools = [
        tool("read_file", description="Reads\n\x1b[1ma file"),
        tool("write_file", category="write", is_approved=False),
        tool("off", is_enabled=False),
        tool("refresh", is_for_views=True),
    ]
    with FakeControlHub(hub_home, {"get_tools": tools, "get_snapshot": hub_snapshot()}) as hub:
        result = tooltray("tools", "list")
        in_json = tooltray("tools", "list", "--server", "files", "--json")
    assert result.out.splitlines() == [
        "NAME        SERVER  KIND             CALLS       DESCRIPTION",
        "read_file   files   read             approved    Reads a file",
        "write_file  files   write            asks first  does it",
        "off         files   read             off         does it",
        "refresh     files   read, for views  approved    does it",
    ]
    assert in_json.json == whole("get_tools", tools)
    assert [params for verb, params in hub.calls if verb == "get_tools"] == [{"server": None}, {"server": "files"}]


def test_no_tools_is_said(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_tools": [], "get_snapshot": hub_snapshot()}):
        assert tooltray("tools", "list").out == "No tools found.\n"
        assert tooltray("tools", "list", "--server", "files").out == "files has no tools.\n"


def test_what_is_mended_or_left_out_of_a_servers_definitions_stands_below_the_list(tooltray: Tooltray, hub_home: Home) -> None:
    servers = [server_snapshot("files", flaws=["tool 'a': x (left out)"]), server_snapshot("other", flaws=["tool 2 is left out"])]
    with FakeControlHub(hub_home, {"get_tools": [tool("a")], "get_snapshot": hub_snapshot(*servers)}):
        whole_list, of_one = tooltray("tools", "list"), tooltray("tools", "list", "--server", "files")
    assert whole_list.err == "files: tool 'a': x (left out)\nother: tool 2 is left out\n"
    assert of_one.err == "files: tool 'a': x (left out)\n"


READER = {"name": "read_file", "server": "files", "signature": "read_file(path: str) - Reads a file", "why": "name: read"}
RUNNER = {"name": "run", "server": "shell", "signature": "run()", "why": ""}


def test_tools_are_found_by_what_they_do(tooltray: Tooltray, hub_home: Home) -> None:
    found = [{"query": "read", "tools": [READER, RUNNER], "starting": ["late", "later"]}]
    with FakeControlHub(hub_home, {"find_tools": found}) as hub:
        result = tooltray("tools", "find", "read")
        in_json = tooltray("tools", "find", "read", "--limit", "3", "--json")
    assert result.out.splitlines() == [
        "SERVER  FOUND BY    TOOL",
        "files   name: read  read_file(path: str) - Reads a file",
        "shell   -           run()",
        "",
        "Not searched, since they are still starting: late, later",
    ]
    assert in_json.json == found
    assert hub.calls == [("find_tools", {"queries": ["read"], "limit": 5}), ("find_tools", {"queries": ["read"], "limit": 3})]


def test_several_needs_are_searched_for_at_once(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"find_tools": [{"query": "a\x1b[1m b", "tools": [RUNNER]}, {"query": "c", "tools": []}]}):
        result = tooltray("tools", "find", "a b", "c")
    assert result.out == "# a b\nSERVER  FOUND BY  TOOL\nshell   -         run()\n\n# c\nNo tools found.\n"


def test_a_tool_is_described_with_its_arguments(tooltray: Tooltray, hub_home: Home) -> None:
    properties = {"head": {"type": "integer"}, "path": {"type": "string", "description": "Where\nit is"}}
    schema = {"type": "object", "properties": properties, "required": ["path"]}
    definitions = [{"name": "read_file", "description": "Reads\na file", "inputSchema": schema}, {"name": "run"}]
    with FakeControlHub(hub_home, {"describe_tools": definitions}) as hub:
        result = tooltray("tools", "describe", "read_file", "run")
        in_json = tooltray("tools", "describe", "read_file", "run", "--json")
    assert result.out.splitlines() == [
        "read_file",
        "Reads",
        "a file",
        "ARGUMENT  TYPE  DESCRIPTION",
        "path      str   Where it is",
        "head?     int",
        "",
        "run",
        "",
    ]
    assert in_json.json == definitions
    assert hub.params_of("describe_tools") == {"names": ["read_file", "run"]}


def test_text_is_printed_plainly_and_harmless(tooltray: Tooltray, hub_home: Home) -> None:
    with calling(hub_home, texts("one\n  two \x1b[31mred", "three")):
        result = tooltray("tools", "call", "echo")
    assert (result.code, result.out, result.err) == (0, "one\n  two red\nthree\n", "")


def test_the_raw_result_is_printed_in_json(tooltray: Tooltray, hub_home: Home) -> None:
    answer = texts("x", isError=False, _meta={"a": 2**70})
    with calling(hub_home, answer):
        assert tooltray("tools", "call", "echo", "--json").json == answer


def test_a_tool_that_failed_gives_exit_code_1(tooltray: Tooltray, hub_home: Home) -> None:
    with calling(hub_home, texts("it broke", isError=True)):
        result = tooltray("tools", "call", "echo")
        in_json = tooltray("tools", "call", "echo", "--json")
    assert (result.code, result.out) == (1, "it broke\n")
    assert in_json.code == 1


def test_a_call_that_is_refused_says_why(tooltray: Tooltray, hub_home: Home) -> None:
    def refuse(**params: Any) -> None:
        raise TooltrayError("'echo' could not be called", "not approved", "Allow it")

    with calling(hub_home, refuse):
        result = tooltray("tools", "call", "echo")
    assert (result.code, result.err) == (1, "tooltray: 'echo' could not be called: not approved. Allow it\n")


def test_content_that_is_no_text_is_named_with_its_size(tooltray: Tooltray, hub_home: Home) -> None:
    content = [
        {"type": "image", "mimeType": "image/png", "data": "AAAA"},
        {"type": "audio", "data": "AAE="},
        {"type": "resource_link", "uri": "file:///x"},
        {"type": "resource", "resource": {"uri": "a:b", "text": "inside"}},
        {"type": "resource", "resource": {"uri": "a:c", "blob": "AA=="}},
        {"type": "hologram"},
    ]
    with calling(hub_home, {"content": content}):
        result = tooltray("tools", "call", "echo")
    assert result.out.splitlines() == [
        "[image: image/png, 3 bytes]",
        "[audio: unknown type, 2 bytes]",
        "[link: file:///x]",
        "inside",
        "[resource: a:c, 1 byte]",
        "[hologram: unknown type, 0 bytes]",
    ]


def test_a_result_of_structure_alone_is_printed_as_json(tooltray: Tooltray, hub_home: Home) -> None:
    with calling(hub_home, {"content": [], "structuredContent": {"a": [1]}}):
        assert tooltray("tools", "call", "echo").json == {"a": [1]}


def test_arguments_may_be_one_json_object(tooltray: Tooltray, hub_home: Home) -> None:
    with calling(hub_home, texts()) as hub:
        tooltray("tools", "call", "echo", ' {"a": [1, "2"], "b": null}')
    assert hub.calls == [("call_tool", {"name": "echo", "arguments": {"a": [1, "2"], "b": None}})]


def test_arguments_may_be_words_whose_kind_the_tool_declares(tooltray: Tooltray, hub_home: Home) -> None:
    properties = {"zip": {"type": "string"}, "count": {"type": "integer"}, "odd": True}
    with calling(hub_home, texts(), properties) as hub:
        tooltray("tools", "call", "echo", "zip=12345", "count=5", "flag=true", "text=just words", 'list=["a"]', "empty=", "eq=a=b", "odd=1")
    assert hub.params_of("call_tool")["arguments"] == {
        "zip": "12345",
        "count": 5,
        "flag": True,
        "text": "just words",
        "list": ["a"],
        "empty": "",
        "eq": "a=b",
        "odd": 1,
    }


@pytest.mark.parametrize("definitions", [[], [{"name": "echo"}], [{"name": "echo", "inputSchema": {"properties": 5}}]])
def test_words_work_for_a_tool_that_declares_nothing(tooltray: Tooltray, hub_home: Home, definitions: list[dict[str, Any]]) -> None:
    with FakeControlHub(hub_home, {"call_tool": texts(), "get_all_tool_definitions": definitions}) as hub:
        assert tooltray("tools", "call", "echo", "a=1").code == 0
    assert hub.params_of("call_tool")["arguments"] == {"a": 1}


def test_the_project_of_a_call_is_named_by_its_whole_path(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"call_tool": texts("yes"), "get_all_tool_definitions": []}) as hub:
        tooltray("tools", "call", "echo", "--project", ".")
    assert hub.params_of("call_tool") == {"name": "echo", "arguments": {}, "project": os.getcwd()}


@pytest.mark.parametrize("words", [["just words"], ["a=1", "b"], ["=1"], ["{broken"], ["[1]"]])
def test_arguments_that_are_neither_are_refused_before_anything_is_called(tooltray: Tooltray, hub_home: Home, words: list[str]) -> None:
    with calling(hub_home, texts()) as hub:
        result = tooltray("tools", "call", "echo", *words)
    assert result.code == 1
    assert "arguments" in result.err
    assert hub.calls == []


def test_no_arguments_ask_for_no_definitions(tooltray: Tooltray, hub_home: Home) -> None:
    with calling(hub_home, texts()) as hub:
        tooltray("tools", "call", "echo")
    assert hub.calls == [("call_tool", {"name": "echo", "arguments": {}})]


def test_a_call_that_takes_too_long_is_given_up(tooltray: Tooltray, hub_home: Home) -> None:
    def keep_silent(**params: Any) -> None:
        raise KeepSilent

    with calling(hub_home, keep_silent):
        result = tooltray("tools", "call", "echo", "--timeout", "0.05")
    assert result.code == 1
    assert "echo gave no result within 0.05 s" in result.err
    assert "--timeout" in result.err


def test_names_are_forgotten(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"reset_tool_names": None}) as hub:
        assert "Tool names were reset" in tooltray("tools", "names", "reset").out
        assert tooltray("tools", "names", "reset", "--json").json == {"reset": True}
    assert hub.methods() == ["reset_tool_names", "reset_tool_names"]


READ = {"name": "read", "tokens": 10, "is_shown": False}
WRITE = {"name": "write", "tokens": 90, "is_shown": True}
FILES = {"server": "files", "tokens": 100, "shown_tokens": 95, "tools": [READ, WRITE], "skill_tokens": 0, "compact_tokens": 20}
WEB = {"server": "web", "tokens": 7, "shown_tokens": 7, "tools": [], "skill_tokens": 0, "compact_tokens": None}


def costs(**changes: Any) -> dict[str, Any]:
    return {
        "tokenizer": "o200k_base",
        "tokens": 107,
        "shown_tokens": 102,
        "servers": [FILES, WEB],
        "client": "",
        "skill_tokens": 0,
        "search_tokens": 190,
    } | changes


def rows(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def test_costs_are_told_by_server_and_in_all(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_tool_costs": costs()}) as hub:
        printed = rows(tooltray("tools", "cost").out)
        in_json = tooltray("tools", "cost", "--json").json
    assert printed[:3] == ["SERVER TOOLS TOKENS SHOWN AT FIRST", "files 2 100 95", "web 0 7 7"]
    said = "The tools cost 107 tokens; what an AI client without settings of its own is shown at first costs 102 (counted with o200k_base;"
    assert printed[3].startswith(said)
    assert in_json == costs()
    assert hub.calls[0] == ("get_tool_costs", {"client": None})


def test_the_tools_of_one_server_are_told_the_dearest_first(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_tool_costs": costs(client="acme", tokenizer="estimate")}) as hub:
        printed = rows(tooltray("tools", "cost", "--server", "files", "--client", "acme").out)
        in_json = tooltray("tools", "cost", "--server", "files", "--json").json
    assert printed == [
        "TOKENS SHOWN AT FIRST TOOL",
        "90 yes write",
        "10 - read",
        "The tools cost 100 tokens; what acme is shown at first costs 95 (estimated by size).",
    ]
    assert (in_json["servers"], in_json["tokens"]) == ([FILES], 100)
    assert hub.calls[0] == ("get_tool_costs", {"client": "acme"})


def test_the_costs_of_a_session_are_those_of_now(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_tool_costs": costs(client="acme")}) as hub:
        printed = rows(tooltray("tools", "cost", "--session", "s1").out)
        refused = tooltray("tools", "cost", "--session", "s1", "--client", "acme")
    assert printed[0] == "SERVER TOOLS TOKENS SHOWN NOW"
    assert printed[3].startswith("The tools cost 107 tokens; what acme is shown now costs 102 (")
    assert (hub.calls, refused.code) == ([("get_tool_costs", {"client": None, "session": "s1"})], 2)


def test_a_server_without_tools_is_said(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_tool_costs": costs()}):
        result = tooltray("tools", "cost", "--server", "gone")
    assert result.code == 1
    assert "'gone' offers no tools" in result.err


GIT = "skill://git-workflow/SKILL.md"


def skill(name: str, **changes: Any) -> dict[str, Any]:
    uri = f"skill://{name}/SKILL.md"
    return {"name": name, "server": "s", "uri": uri, "own_uri": uri, "description": f"About {name}", **changes}


def test_skills_are_listed_with_what_happens_to_them(tooltray: Tooltray, hub_home: Home) -> None:
    skills = [
        skill("git-workflow", description="One\nline \x1b[31mred"),
        skill("refunds", is_held=True),
        skill("notes", is_enabled=False, is_held=True),
    ]
    with FakeControlHub(hub_home, {"get_skills": skills}) as hub:
        lines = tooltray("skills", "list").out.splitlines()
        assert tooltray("skills", "list", "--server", "s", "--json").json == whole("get_skills", skills)
    assert lines == [
        "NAME          SERVER  STATE                   URI                            DESCRIPTION",
        f"git-workflow  s       offered                 {GIT}  One line red",
        "refunds       s       blocked until reviewed  skill://refunds/SKILL.md       About refunds",
        "notes         s       off                     skill://notes/SKILL.md         About notes",
    ]
    assert hub.calls == [("get_skills", {"server": None}), ("get_skills", {"server": "s"})]


def test_no_skills_is_said(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_skills": []}):
        assert tooltray("skills", "list").out == "No skills found.\n"


def test_the_text_of_a_skill_is_printed_plainly_and_harmless(tooltray: Tooltray, hub_home: Home) -> None:
    got = {"uri": GIT, "server": "s", "text": "---\nname: git\n---\n\n# Do \x1b[31mit\x07\n"}
    with FakeControlHub(hub_home, {"get_skill": got}) as hub:
        assert tooltray("skills", "show", "git-workflow").out == "---\nname: git\n---\n\n# Do it\n\n"
        assert tooltray("skills", "show", GIT, "--json").json == got
    assert hub.calls == [("get_skill", {"skill": "git-workflow"}), ("get_skill", {"skill": GIT})]


@pytest.mark.parametrize(
    ("word", "is_on", "said"), [("enable", True, "git of s is offered.\n"), ("disable", False, "git of s is off.\n")], ids=["on", "off"]
)
def test_a_skill_is_switched(tooltray: Tooltray, hub_home: Home, word: str, is_on: bool, said: str) -> None:
    with FakeControlHub(hub_home, {"set_skill_enabled": None}) as hub:
        assert tooltray("skills", word, "s", "git").out == said
        assert tooltray("skills", word, "s", "git", "--json").json == {"server": "s", "skill": "git", "enabled": is_on}
    assert hub.calls == [("set_skill_enabled", {"server": "s", "skill": "git", "enabled": is_on})] * 2


TASK = {
    "id": "s:abc",
    "server": "s",
    "tool": "slow",
    "client": "one\x1b[1m",
    "status": "input_required",
    "created_at": 1.0,
    "ttl_s": 60.0,
}


def test_tasks_are_listed(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_server_tasks": [TASK, TASK | {"client": "", "status": "made up"}]}):
        lines = tooltray("tasks", "list").out.splitlines()
        assert lines[1].startswith("s:abc  s       slow  one     waits for an answer  19")
        assert "-       made up" in lines[2]
        assert tooltray("tasks", "list", "--json").json[0] == TASK
    with FakeControlHub(hub_home, {"get_server_tasks": []}):
        assert tooltray("tasks", "list").out == "No server has a task of an AI client.\n"


def test_one_is_cancelled(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"cancel_server_task": None}) as hub:
        assert tooltray("tasks", "cancel", "s:abc").out == "The server was notified that task s:abc is cancelled.\n"
        assert hub.calls[-1] == ("cancel_server_task", {"id": "s:abc"})
