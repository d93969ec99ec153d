"""sign_ins.py: what ends a sign-in and what does not: a person, settings, edits by hand, a server that is removed."""

import json
from pathlib import Path

import pytest
from tests.fakes.authorization_server import authorizing, says
from tests.fakes.sign_in_hub import STOPPED, entry, hub, sign_in, snapshot, start, whoami

from tooltray.foundation.errors import TooltrayError


async def test_signing_out_forgets_the_tokens_here_and_there_and_stops_the_server(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        await sign_in(parts)
        await parts.presenter.sign_out("far")
        assert (parts.servers.get("far").state, snapshot(parts).is_signed_in) == (STOPPED, False)
        assert len(server.at("/revoke")) == 2
        assert (server.access, server.refresh) == ({}, {})
        assert await parts.presenter.get_secret_names() == []
        with pytest.raises(TooltrayError, match="you are not signed in to '"):
            await parts.presenter.sign_out("far")


async def test_after_a_restart_one_can_sign_out_without_starting_the_server(tmp_path: Path) -> None:
    async with authorizing() as server:
        async with hub(tmp_path, server) as parts:
            await sign_in(parts)
        async with hub(tmp_path, server) as parts:
            await parts.presenter.sign_out("far")
            assert server.refresh == {}
            assert not snapshot(parts).is_signed_in


async def test_one_can_sign_out_of_a_server_whose_settings_cannot_be_filled_in(tmp_path: Path) -> None:
    async with authorizing() as server:
        async with hub(tmp_path, server) as parts:
            await sign_in(parts)
        async with hub(tmp_path, server, headers={"X": "${NOT_SET}"}) as parts:
            await parts.presenter.sign_out("far")
            assert not snapshot(parts).is_signed_in
            assert await parts.presenter.get_secret_names() == []


async def test_an_authorization_server_that_does_not_answer_holds_up_no_sign_out(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        await sign_in(parts)
        server.answers["/revoke"] = says("<h1>down</h1>", 503)
        await parts.presenter.sign_out("far")
        assert not snapshot(parts).is_signed_in


@pytest.mark.parametrize("change", ["url", "oauth", "removed"])
async def test_other_settings_or_none_end_the_sign_in(tmp_path: Path, change: str) -> None:
    async with authorizing() as server, authorizing() as other, hub(tmp_path, server) as parts:
        await sign_in(parts)
        await parts.presenter.begin_sign_in("far")  # and one that waits
        match change:
            case "url":
                await parts.presenter.update_mcp_server("far", entry(other))
            case "oauth":
                await parts.presenter.update_mcp_server("far", entry(server, oauth={"scopes": ["notes:read"]}))
            case _:
                await parts.presenter.remove_mcp_server("far")
        await server.asked.wait(lambda asked: asked.path == "/revoke", count=2)
        await parts.sign_ins.close()
        assert await parts.presenter.get_secret_names() == []
        assert not parts.sign_ins.is_signed_in("far")
        assert not parts.sign_ins.has_page("far")
        sent = [hit.headers.get("Authorization") for hit in other.mcp.hits.all]
        assert not any(sent)


async def test_a_server_that_is_another_one_meanwhile_gets_no_token_and_the_old_one_finds_its_own_again(tmp_path: Path) -> None:
    async with authorizing() as server:
        async with hub(tmp_path, server) as parts:
            await sign_in(parts)
        async with hub(tmp_path, server, url=server.mcp_url + "/other") as parts:
            assert not snapshot(parts).is_signed_in
            assert await parts.presenter.get_unused_secrets() == []
        async with hub(tmp_path, server) as parts:
            await start(parts)
            assert snapshot(parts).is_signed_in


@pytest.mark.parametrize("meanwhile", ["", "other"])
async def test_an_edit_of_the_file_ends_no_sign_in(tmp_path: Path, meanwhile: str) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        await sign_in(parts)
        await parts.presenter.begin_sign_in("far")  # and one that waits
        written = parts.conf.path.read_text()
        parts.conf.path.write_text(written.replace(server.mcp_url, f"{server.mcp_url}/{meanwhile}") if meanwhile else "{}")
        await parts.presenter.reload()
        await parts.presenter.set_mcp_enabled(True)  # something is changed here
        assert not parts.sign_ins.is_signed_in("far") or not meanwhile
        assert not parts.sign_ins.has_page("far")
        assert await parts.presenter.get_secret_names() == ["oauth/far"]
        assert await parts.presenter.get_unused_secrets() == ([] if meanwhile else ["oauth/far"])
        parts.conf.path.write_text(written)
        await parts.presenter.reload()
        await start(parts)
        assert snapshot(parts).is_signed_in
        assert not server.at("/revoke")


async def test_a_server_that_has_not_run_since_the_start_leaves_no_sign_in_behind(tmp_path: Path) -> None:
    async with authorizing() as server:
        async with hub(tmp_path, server) as parts:
            await sign_in(parts)
        async with hub(tmp_path, server) as parts:
            assert (await parts.presenter.remove_mcp_server("far")).sign_in == "oauth/far"
            assert not parts.sign_ins.is_signed_in("far")
        assert "far" not in (tmp_path / "sign-ins.json").read_text()


async def test_a_removed_server_can_come_back_signed_in_for_a_while(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        await sign_in(parts)
        gone = await parts.presenter.remove_mcp_server("far", keep_secrets=True)
        assert gone.sign_in == "oauth/far"
        await parts.presenter.add_mcp_server("far", entry(server))
        await start(parts)
        assert snapshot(parts).is_signed_in
        await parts.presenter.remove_mcp_server("far", keep_secrets=True)
        assert await parts.presenter.remove_unused_secrets([gone.sign_in]) == ["oauth/far"]
        await server.asked.wait(lambda asked: asked.path == "/revoke", count=2)
        assert await parts.presenter.get_secret_names() == []


async def test_a_slip_in_the_settings_ends_no_sign_in(tmp_path: Path) -> None:
    async with authorizing() as server:
        async with hub(tmp_path, server) as parts:
            await sign_in(parts)
        async with hub(tmp_path, server, disable="perhaps") as parts:
            assert parts.servers.find("far") is None
        async with hub(tmp_path, server) as parts:
            await start(parts)
            assert snapshot(parts).is_signed_in


async def test_a_url_with_another_secret_in_it_gets_no_token_of_the_old_one(tmp_path: Path) -> None:
    async with authorizing() as server:
        url = server.mcp_url.replace("/mcp", "/${secret:PATH}")
        async with hub(tmp_path, server, url=url) as parts:
            await parts.presenter.set_secret("PATH", "mcp")
            await sign_in(parts)
            await parts.presenter.set_secret("PATH", "other")
            with pytest.raises(TooltrayError):
                await parts.presenter.restart_server("far")
            assert [asked.headers.get("Authorization") for asked in server.at("/other")] == [None] * len(server.at("/other"))


async def test_a_slip_made_by_hand_while_the_hub_runs_ends_no_sign_in(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        await sign_in(parts)
        document = json.loads(parts.home.settings.read_text())
        document["mcpServers"]["far"]["disable"] = "perhaps"
        parts.home.settings.write_text(json.dumps(document))
        await parts.presenter.set_mcp_enabled(True)
        with pytest.raises(TooltrayError, match="asked"):  # it runs on, but each of its calls asks
            await whoami(parts)
        del document["mcpServers"]["far"]["disable"]
        parts.home.settings.write_text(json.dumps(document))
        await parts.presenter.set_mcp_enabled(True)
        await start(parts)
        assert await whoami(parts)
        assert server.at("/revoke") == []
