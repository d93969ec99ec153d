"""mcp_conf_helper.py, settings_file.py: somebody edits settings.json by hand while Tooltray runs."""

import asyncio
import json
import threading
import time
from pathlib import Path

import pytest
from tests.fakes.file_servers import file_server
from tests.fakes.heard import PATIENCE_S
from tests.unit.conftest import Heard, put

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.events import ConfigChanged, EventBus, ProblemReported

ONE = {"version": 1, "mcpServers": {"a": {"command": "x"}}, "publish": {"naming": "conflict"}}
TWO = {**ONE, "mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "settings.json"
    put(path, ONE)
    return path


def others(path: Path) -> list[Path]:
    return [each for each in path.parent.iterdir() if each != path]


async def refused(conf: McpConfHelper) -> str:
    with pytest.raises(TooltrayError) as error:
        await conf.reload()
    return str(error.value)


async def test_what_somebody_has_written_counts_and_is_told_once(conf: McpConfHelper, path: Path, heard: Heard) -> None:
    put(path, TWO)
    await conf.reload()
    await conf.reload()
    assert list(conf.settings.mcp_servers) == ["a", "b"]
    assert [type(each) for each in heard] == [ConfigChanged]
    assert list(heard[0].mcp_servers) == ["a", "b"]


async def test_what_was_written_here_is_no_news(conf: McpConfHelper, heard: Heard) -> None:
    await conf.set_enabled(False)
    heard.clear()
    await conf.reload()
    assert heard == []


async def test_another_layout_of_the_same_is_no_news(conf: McpConfHelper, path: Path, heard: Heard) -> None:
    path.write_text(json.dumps(ONE, indent=8))
    await conf.reload()
    assert heard == []


@pytest.mark.parametrize(
    ("content", "reason", "line"),
    [
        ('{"mcpServers": {\n  "a": {"command": "x"', "line 2, column 23", 2),
        ("", "it is empty", 0),
        ("[]", "the file must be an object", 0),
        ('{"mcpServers": {}}\0', "line 1", 1),
    ],
)
async def test_of_half_a_file_nothing_is_taken_and_the_file_stays_as_it_is(
    conf: McpConfHelper, path: Path, heard: Heard, content: str, reason: str, line: int
) -> None:
    path.write_text(content)
    for _ in range(2):
        said = await refused(conf)
        assert ("cannot be read again" in said, reason in said) == (True, True)
    assert (list(conf.settings.mcp_servers), path.read_text(), others(path)) == (["a"], content, [])
    assert [type(each) for each in heard] == [ProblemReported, ConfigChanged]
    assert [(each.problem, each.line) for each in conf.file_problems] == [(heard[0].problem, line)]
    put(path, ONE)
    await conf.reload()
    assert (conf.problems, type(heard[-1]), len(heard)) == ((), ConfigChanged, 3)


async def test_what_cannot_be_read_has_no_line(conf: McpConfHelper, path: Path) -> None:
    path.unlink()
    path.mkdir()
    assert "it is a folder" in await refused(conf)
    assert [each.line for each in conf.file_problems] == [0]


async def test_a_first_look_tells_nobody(conf: McpConfHelper, path: Path, heard: Heard) -> None:
    path.write_text("{")
    with pytest.raises(TooltrayError):
        await conf.reload(is_last_look=False)
    assert (heard, conf.problems) == ([], ())


async def test_a_file_that_is_gone_takes_nothing_with_it(conf: McpConfHelper, path: Path) -> None:
    path.unlink()
    assert "it is gone" in await refused(conf)
    assert (list(conf.settings.mcp_servers), path.exists()) == (["a"], False)
    await conf.set_enabled(False)
    assert (json.loads(path.read_text())["mcpServers"], conf.problems) == (ONE["mcpServers"], ())


async def test_where_there_was_no_file_there_may_be_none(tmp_path: Path) -> None:
    conf = McpConfHelper(tmp_path / "settings.json", EventBus())
    await conf.load()
    await conf.reload()
    put(tmp_path / "settings.json", ONE)
    await conf.reload()
    assert list(conf.settings.mcp_servers) == ["a"]


async def test_settings_of_a_newer_tooltray_are_used_as_far_as_they_go_and_not_written(conf: McpConfHelper, path: Path) -> None:
    put(path, {**TWO, "version": 99})
    await conf.reload()
    assert (list(conf.settings.mcp_servers), conf.problems[0].title) == (["a", "b"], "The settings come from a newer Tooltray")
    with pytest.raises(TooltrayError, match="not changed"):
        await conf.set_enabled(False)
    assert json.loads(path.read_text())["version"] == 99


async def test_older_settings_are_understood_and_written_with_the_next_change_after_a_copy(conf: McpConfHelper, path: Path) -> None:
    put(path, {"mcpServers": {"old": {"command": "z"}}})
    content = path.read_bytes()
    await conf.reload()
    assert (list(conf.settings.mcp_servers), path.read_bytes()) == (["old"], content)
    await conf.set_enabled(False)
    assert [each.read_bytes() for each in others(path)] == [content]


async def test_a_slip_in_the_entry_of_a_server_is_told_and_the_server_goes_on(conf: McpConfHelper, path: Path, heard: Heard) -> None:
    put(path, {**ONE, "mcpServers": {"a": {"command": ["x"]}, "b": {"args": []}}})
    await conf.reload()
    assert {name: config.command for name, config in conf.settings.mcp_servers.items()} == {"a": "x"}
    assert ["'a'" in each.problem.title for each in heard if isinstance(each, ProblemReported)] == [True, False]
    await conf.set_enabled(False)
    assert (list(conf.settings.mcp_servers), conf.entries) == (["a"], {"a": {"command": ["x"]}})
    put(path, {**ONE, "mcpServers": {"b": {"args": []}}})
    await conf.reload()
    assert conf.settings.mcp_servers == {}


async def test_a_server_that_goes_on_with_an_entry_that_cannot_be_read_asks_for_each_call(conf: McpConfHelper, path: Path) -> None:
    put(path, {**ONE, "mcpServers": {"a": {"command": "x", "autoApprove": ["all"], "callRules": [{"tool": "t"}]}}})
    await conf.reload()
    put(path, {**ONE, "mcpServers": {"a": {"command": "x", "autoApprove": "none", "callRules": []}}})
    await conf.reload()
    await conf.set_enabled(False)
    going_on = conf.settings.mcp_servers["a"]
    assert (going_on.command, going_on.auto_approve, going_on.call_rules) == ("x", (), ())


async def test_looking_what_the_file_says_changes_nothing(conf: McpConfHelper, path: Path, heard: Heard) -> None:
    put(path, TWO)
    assert list((await conf.read_again()).reading.settings.mcp_servers) == ["a", "b"]
    assert (list(conf.settings.mcp_servers), heard) == (["a"], [])
    path.write_text("{")
    with pytest.raises(TooltrayError):
        await conf.read_again()
    assert conf.problems == ()


async def test_reading_again_and_changing_at_once_lose_nothing(conf: McpConfHelper) -> None:
    for number in range(20):
        await asyncio.gather(conf.set_server(f"s{number}", {"command": "x"}), conf.reload())
    assert len(conf.settings.mcp_servers) == 21


async def test_whoever_handles_a_change_sees_the_same_settings_all_the_time_though_the_next_one_is_written_meanwhile(path: Path) -> None:
    bus = EventBus()
    conf = McpConfHelper(path, bus)
    await conf.load()
    seen: list[list[str]] = []

    def handle(event: ConfigChanged) -> None:
        before = conf.settings
        deadline = time.monotonic() + PATIENCE_S
        while not {"b", "c"} <= json.loads(path.read_bytes())["mcpServers"].keys():
            assert time.monotonic() < deadline
        threading.Event().wait(0.01)  # long enough for the thread to come back from the disk; without the fault any time is good
        assert conf.settings is before
        seen.append(list(event.mcp_servers))

    bus.subscribe(ConfigChanged, handle)
    await asyncio.gather(*(conf.set_server(name, {"command": "x"}) for name in ("b", "c")))
    assert sorted(map(len, seen)) in ([2, 3], [3, 3])
    assert sorted(conf.settings.mcp_servers) == ["a", "b", "c"]


async def test_an_entry_that_cannot_be_used_is_told_once_wherever_it_stands(conf: McpConfHelper, path: Path, heard: Heard) -> None:
    path.write_text('{"mcpServers": {"a": {"command": "x"},\n "b": {}}}')
    await conf.reload()
    assert [str(each.problem) for each in heard if isinstance(each, ProblemReported)] == [
        "The entry of server 'b' cannot be used: line 2: it has neither a command nor a URL. Correct it in settings.json"
    ]
    heard.clear()
    path.write_text('{"mcpServers": {"a": {"command": "x"},\n\n "b": {}}}')
    await conf.reload()
    assert [type(each) for each in heard] == [ConfigChanged]
    assert [(each.line, each.entry) for each in conf.file_problems] == [(3, "b")]
    heard.clear()
    await conf.set_enabled(False)
    assert [type(each) for each in heard] == [ConfigChanged]
    written = path.read_text().splitlines()
    assert '"b"' in written[conf.file_problems[0].line - 1]


async def test_news_of_servers_of_other_files_are_told_once(conf: McpConfHelper, heard: Heard) -> None:
    for servers in ({"theirs": file_server("y")}, {"theirs": file_server("y")}):
        conf.set_file_servers(servers)
    assert heard == [ConfigChanged(conf.entries, ("theirs",), True)]
    assert conf.file_servers == {"theirs": file_server("y")}
    assert (conf.file_server("theirs"), conf.file_server("a")) == (file_server("y"), None)


async def test_an_entry_is_shown_as_it_stands_in_the_file_and_is_the_callers_own(conf: McpConfHelper) -> None:
    conf.set_file_servers({"theirs": file_server("y", note=1)})
    own, theirs = conf.server_entry("a"), conf.server_entry("theirs")
    assert (own.name, own.entry, own.counts) == ("a", {"command": "x"}, {"command": "x"})
    assert (theirs.name, theirs.entry["note"], theirs.counts["command"]) == ("y", 1, "y")
    own.entry["command"] = "changed"
    assert conf.server_entry("a").entry == {"command": "x"}
    with pytest.raises(NotFound):
        conf.server_entry("gone")


async def test_a_revision_changes_with_its_entry_whichever_file_that_stands_in(conf: McpConfHelper, path: Path) -> None:
    conf.set_file_servers({"theirs": file_server("y")})
    own, theirs = conf.revision("a"), conf.revision("theirs")
    assert "" not in (own, theirs)
    assert conf.revision("gone") == ""
    put(path, {**ONE, "mcpServers": {"a": {"command": "z"}}})
    await conf.reload()
    assert (conf.revision("a") != own, conf.revision("theirs")) == (True, theirs)
    conf.set_file_servers({"theirs": file_server("y", note=1)})
    assert conf.revision("theirs") not in ("", theirs)
