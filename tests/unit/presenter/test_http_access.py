"""presenter/http_access.py: switching the endpoints, and who may use them; through McpPresenter's verbs."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.fakes.hub_parts import HubParts, entry, hub_parts
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.errors import Problem, TooltrayError
from tooltray.snapshots.http import HttpStatus
from tooltray.wire.envelope import load


@pytest.fixture
async def parts(tmp_path: Path) -> AsyncIterator[HubParts]:
    program = ScriptedServer(tool("get_it", inputSchema={"type": "object", "x": 1}))
    async with hub_parts(tmp_path / "home", servers={"s": entry("program")}, programs={"program": program}) as parts:
        yield parts


async def test_switching_is_written_first_and_then_done(parts: HubParts) -> None:
    parts.door.status = HttpStatus(True, True, "http://127.0.0.1:1/mcp")
    assert await parts.presenter.set_http_enabled(True, 1) == parts.door.status == await parts.presenter.get_http_status()
    assert json.loads(parts.home.settings.read_bytes())["publish"]["http"] == {"enabled": True, "port": 1}
    assert parts.door.calls == [("follow", True)]


async def test_what_cannot_be_opened_is_an_error_and_a_notice(parts: HubParts) -> None:
    parts.door.status = HttpStatus(True, problem=Problem("not open", "the port is taken", "take another"))
    with pytest.raises(TooltrayError, match="the port is taken"):
        await parts.presenter.set_http_enabled(True)
    assert parts.door.status.problem in parts.presenter.snapshot().notices


async def test_a_port_that_there_is_not_changes_nothing(parts: HubParts) -> None:
    with pytest.raises(TooltrayError, match="no port 70000"):
        await parts.presenter.set_http_enabled(True, 70000)
    assert parts.door.calls == []


async def test_a_new_token_and_a_removed_one_end_what_the_old_one_opened(parts: HubParts) -> None:
    assert await parts.presenter.create_client_token("a")
    assert [client.name for client in await parts.presenter.list_client_tokens()] == ["a"]
    await parts.presenter.remove_client_token("a")
    assert await parts.presenter.list_client_tokens() == []
    assert parts.door.calls == [("forget_client", "a"), ("forget_client", "a")]


async def test_tokens_that_cannot_be_read_are_a_notice(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir(mode=0o700)
    (tmp_path / "home" / "clients.json").write_text("{")
    async with hub_parts(tmp_path / "home", servers={}) as parts:
        assert "tokens" in parts.presenter.snapshot().notices[0].title


async def test_the_schema_of_a_tool_is_found_by_the_name_that_clients_use(parts: HubParts) -> None:
    await parts.presenter.start_server("s")
    await parts.listed()
    for server in (None, "s"):
        schema = parts.presenter.tool_schema("get_it", server)
        assert schema
        assert load(schema) == {"type": "object", "x": 1}
    assert parts.presenter.tool_schema("nothing", None) is None
    assert parts.presenter.tool_schema("get_it", "nowhere") is None


# the REST interface


async def test_the_rest_interface_is_switched_on_with_a_token_and_with_http(parts: HubParts) -> None:
    parts.door.status = HttpStatus(True, True, "http://127.0.0.1:1/mcp", is_api_enabled=True)
    assert await parts.presenter.set_api_enabled(True, True) == parts.door.status
    assert json.loads(parts.home.settings.read_bytes())["publish"]["http"] == {"api": {"enabled": True, "trusted": True}, "enabled": True}
    assert parts.door.calls == [("follow", True)]
    assert parts.home.http_token.read_text().strip() == await parts.presenter.get_api_token()


async def test_the_rest_interface_is_switched_off_and_http_stays(parts: HubParts) -> None:
    await parts.presenter.set_api_enabled(True)
    token = await parts.presenter.get_api_token()
    await parts.presenter.set_api_enabled(False)
    assert json.loads(parts.home.settings.read_bytes())["publish"]["http"] == {"api": {"enabled": False}, "enabled": True}
    assert await parts.presenter.get_api_token() == token


async def test_a_rest_interface_that_cannot_be_opened_is_an_error(parts: HubParts) -> None:
    parts.door.status = HttpStatus(True, problem=Problem("not open", "the port is taken", "take another"))
    with pytest.raises(TooltrayError, match="the port is taken"):
        await parts.presenter.set_api_enabled(True)
    await parts.presenter.set_api_enabled(False)


async def test_another_token_of_the_rest_interface_ends_what_the_one_before_opened(parts: HubParts) -> None:
    first = await parts.presenter.get_api_token()
    second = await parts.presenter.rotate_api_token()
    assert first != second == await parts.presenter.get_api_token()
    assert parts.door.calls == [("forget_programs", None)]


async def test_without_a_token_the_rest_interface_is_not_switched_on(parts: HubParts) -> None:
    parts.home.http_token.mkdir()
    with pytest.raises(TooltrayError, match="cannot be kept"):
        await parts.presenter.set_api_enabled(True)
    assert "publish" not in json.loads(parts.home.settings.read_bytes())
    with pytest.raises(TooltrayError, match="cannot be kept"):
        await parts.presenter.rotate_api_token()
    assert parts.door.calls == []


async def test_a_token_that_others_could_read_is_a_notice_until_there_is_another(tmp_path: Path) -> None:
    (tmp_path / "home" / "run").mkdir(mode=0o700, parents=True)
    (tmp_path / "home" / "run" / "http-token").write_text("tooltray_api_x")
    (tmp_path / "home").chmod(0o700)
    async with hub_parts(tmp_path / "home", servers={}) as parts:
        assert "REST" in parts.presenter.snapshot().notices[0].title
        await parts.presenter.get_api_token()
        assert parts.presenter.snapshot().notices == ()
