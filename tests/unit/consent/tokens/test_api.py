"""api.py: switching the endpoints, and who may use them; through McpPresenter's verbs."""

import json
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.fakes.hub_parts import HubParts, entry, hub_parts
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.consent.tokens.api import AccessApi
from tooltray.consent.tokens.api_tokens import TRUSTED_SECRET, ApiToken, ApiTokens
from tooltray.consent.tokens.client_tokens import ClientTokens
from tooltray.foundation.confirm_widening import UNATTENDED, asked_by
from tooltray.foundation.errors import Denied, Problem, TooltrayError
from tooltray.foundation.snapshots.clients import HttpStatus
from tooltray.protocol.envelope import load


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
    with pytest.raises(TooltrayError, match="Port 70000 does not exist"):
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
        schema = parts.session_servers.tool_schema("get_it", server)
        assert schema
        assert load(schema) == {"type": "object", "x": 1}
    assert parts.session_servers.tool_schema("nothing", None) is None
    assert parts.session_servers.tool_schema("get_it", "nowhere") is None


# the REST interface


async def test_the_rest_interface_is_switched_on_with_a_token_and_with_http(parts: HubParts) -> None:
    parts.door.status = HttpStatus(True, True, "http://127.0.0.1:1/mcp", is_api_enabled=True)
    assert await parts.presenter.set_api_enabled(True) == parts.door.status
    assert json.loads(parts.home.settings.read_bytes())["publish"]["http"] == {"api": {"enabled": True}, "enabled": True}
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


@pytest.mark.posix
async def test_a_token_that_others_could_read_is_a_notice_until_there_is_another(tmp_path: Path) -> None:
    (tmp_path / "home" / "run").mkdir(mode=0o700, parents=True)
    (tmp_path / "home" / "run" / "http-token").write_text("tooltray_api_x")
    (tmp_path / "home").chmod(0o700)
    async with hub_parts(tmp_path / "home", servers={}) as parts:
        assert "REST" in parts.presenter.snapshot().notices[0].title
        await parts.presenter.get_api_token()
        assert parts.presenter.snapshot().notices == ()


# tokens of programs


async def test_tokens_are_made_listed_and_revoked_and_what_they_opened_ends(parts: HubParts) -> None:
    await parts.presenter.create_api_token("always")
    with asked_by(UNATTENDED):
        made = await parts.presenter.create_api_token("ci", "read", 60.0)
    assert (made.name, made.scope, made.is_trusted, made.is_lasting) == ("ci", "read", False, True)
    assert time.time() < made.expires_at <= time.time() + 60.0
    await parts.presenter.revoke_api_token("always")
    parts.door.calls.clear()
    assert made.token not in repr(made)
    assert parts.door.calls == []
    await parts.presenter.create_api_token("ci", "manage")
    assert parts.door.calls == [("forget_programs", None)]
    assert [(each.name, each.scope) for each in await parts.presenter.list_api_tokens()] == [("ci", "manage")]
    await parts.presenter.revoke_api_token("ci")
    assert parts.door.calls == [("forget_programs", None)] * 2
    assert await parts.presenter.list_api_tokens() == []


async def test_a_trusted_token_is_a_persons_and_takes_the_old_setting_out(parts: HubParts) -> None:
    await parts.conf.edit(lambda document: document.update(publish={"http": {"api": {"enabled": True, "trusted": True}}}))
    assert any(
        "Programs can no longer approve in your place because of a setting" in notice.title for notice in parts.presenter.snapshot().notices
    )
    with asked_by(UNATTENDED), pytest.raises(Denied, match="Creating a trusted token needs a person"):
        await parts.presenter.create_api_token("boss", trusted=True)
    with pytest.raises(TooltrayError, match="has the scope manage"):
        await parts.presenter.create_api_token("boss", "read", trusted=True)
    assert await parts.presenter.list_api_tokens() == []
    made = await parts.presenter.create_api_token("boss", trusted=True)
    assert (made.is_trusted, made.is_lasting) == (True, False)  # secrets are in memory here
    assert json.loads(parts.home.settings.read_bytes())["publish"]["http"]["api"] == {"enabled": True}
    assert not any(
        "Programs can no longer approve in your place because of a setting" in notice.title for notice in parts.presenter.snapshot().notices
    )
    assert await parts.trusted.has(parts.api_tokens.digest("boss"))


async def test_a_file_that_says_trusted_makes_no_token_trusted(parts: HubParts) -> None:
    await parts.presenter.create_api_token("ci")
    text = parts.home.api_tokens.read_text().replace('"isTrusted": false', '"isTrusted": true')
    parts.home.api_tokens.write_text(text)
    edited = ApiTokens(ApiToken(parts.home.http_token), parts.home.api_tokens)
    assert edited.has_trusted  # which only says that it is worth looking
    assert not await parts.trusted.has(edited.digest("ci"))
    access = AccessApi(
        config=parts.conf, tokens=ClientTokens(parts.home.clients), api_tokens=edited, trusted=parts.trusted, door=parts.door
    )  # type: ignore[arg-type]
    assert [each.is_trusted for each in await access.list_api_tokens()] == [False]


async def test_trust_is_taken_from_all_tokens_at_once_and_is_no_setting(parts: HubParts) -> None:
    await parts.presenter.create_api_token("boss", trusted=True)
    with pytest.raises(TooltrayError, match="trust belongs to a token"):
        await parts.presenter.set_api_enabled(True, True)
    digest = parts.api_tokens.digest("boss")
    await parts.presenter.set_api_enabled(True, False)
    assert [each.is_trusted for each in await parts.presenter.list_api_tokens()] == [False, False]
    assert not await parts.trusted.has(digest)


async def test_nobody_sets_the_secret_that_makes_tokens_trusted_and_it_counts_as_used(parts: HubParts) -> None:
    await parts.presenter.create_api_token("boss", trusted=True)
    with pytest.raises(TooltrayError, match="kept by Tooltray itself"):
        await parts.presenter.set_secret(TRUSTED_SECRET, "{}")
    assert await parts.presenter.get_secret_names() == [TRUSTED_SECRET]
    assert await parts.presenter.remove_unused_secrets([TRUSTED_SECRET]) == []
