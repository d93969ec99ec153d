"""tokens.py, sign_ins.py: where the tokens of a sign-in are kept, and what becomes of them where they cannot be."""

from pathlib import Path
from typing import Any

import pytest
from tests.fakes.authorization_server import authorizing
from tests.fakes.hub_parts import HubParts, settled
from tests.fakes.sign_in_hub import ERROR, RUNNING, hub, problems, sign_in, snapshot, start, state, wants_sign_in, whoami

from tooltray.config.secrets.vaults import SecretsDenied, SecretsLocked
from tooltray.foundation.errors import TooltrayError


class Closed:
    """Secrets that cannot be reached, as long as `error` says so."""

    def __init__(self, parts: HubParts, error: TooltrayError) -> None:
        self.error: TooltrayError | None = error
        self._set, self._get = parts.secrets.set, parts.secrets.get
        parts.secrets.set = self.set  # type: ignore[method-assign]
        parts.secrets.get = self.get  # type: ignore[method-assign]

    async def set(self, name: str, value: str, **options: Any) -> None:
        if self.error:
            raise self.error
        await self._set(name, value, **options)

    async def get(self, name: str) -> str:
        if self.error:
            raise self.error
        return await self._get(name)


async def test_without_a_place_for_tokens_they_stay_in_memory_and_that_is_said_once(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        closed = Closed(parts, SecretsDenied("The keyring refused", "no access", "Allow it"))
        await sign_in(parts)
        server.end_access_tokens()
        assert await whoami(parts)
        await parts.heard.until(lambda: bool(parts.presenter.snapshot().notices))
        (notice,) = parts.presenter.snapshot().notices
        assert "will be lost" in notice.title
        assert len([each for each in problems(parts) if "will be lost" in each.problem.title]) == 1
        assert snapshot(parts).is_signed_in
        closed.error = None
        server.end_access_tokens()
        assert await whoami(parts)
        await parts.sign_ins.close()
        assert parts.presenter.snapshot().notices == ()


async def test_a_locked_keyring_is_said_and_the_server_starts_when_it_is_open(tmp_path: Path) -> None:
    async with authorizing() as server:
        async with hub(tmp_path, server) as parts:
            await sign_in(parts)
        async with hub(tmp_path, server) as parts:
            closed = Closed(parts, SecretsLocked("The keyring is locked", "", "Unlock it"))
            with pytest.raises(TooltrayError, match="locked"):
                await start(parts)
            assert parts.servers.get("far").state is ERROR
            closed.error = None
            await parts.presenter.unlock_secrets("")
            await state(parts, RUNNING)


async def test_one_can_sign_in_anew_while_what_is_kept_cannot_be_read(tmp_path: Path) -> None:
    async with authorizing() as server:
        async with hub(tmp_path, server) as parts:
            await sign_in(parts)
        async with hub(tmp_path, server) as parts:
            closed = Closed(parts, SecretsLocked("The keyring is locked", "", "Unlock it"))
            await sign_in(parts)
            closed.error = None


async def test_tokens_that_are_no_longer_where_they_were_kept_cost_a_sign_in(tmp_path: Path) -> None:
    async with authorizing() as server:
        async with hub(tmp_path, server) as parts:
            await sign_in(parts)
            await parts.presenter.remove_secret("oauth/far")
        async with hub(tmp_path, server) as parts:
            assert snapshot(parts).is_signed_in
            await wants_sign_in(parts)
            assert not snapshot(parts).is_signed_in


@pytest.mark.expected_warnings("could not be written")
async def test_a_list_that_cannot_be_written_does_not_end_the_sign_in(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        (tmp_path / "sign-ins.json").mkdir()
        await sign_in(parts)
        await parts.sign_ins.close()
        assert await whoami(parts)


async def test_tokens_that_could_not_be_kept_are_when_the_hub_ends_and_the_keyring_is_open(tmp_path: Path) -> None:
    async with authorizing() as server:
        async with hub(tmp_path, server) as parts:
            closed = Closed(parts, SecretsLocked("The secrets are locked", "nobody has typed the password", "Unlock them"))
            await sign_in(parts)
            await parts.heard.until(lambda: bool(parts.sign_ins.problems))
            closed.error = None
            await parts.sign_ins.close()
            assert not parts.sign_ins.problems
        async with hub(tmp_path, server) as parts:
            await start(parts)
            assert await whoami(parts)


async def test_tokens_that_cannot_be_deleted_are_said_to_be_there_and_go_when_they_can(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        await sign_in(parts)
        await settled()
        error: TooltrayError | None = SecretsLocked("The secrets are locked", "nobody has typed the password", "Unlock them")
        remove = parts.secrets.remove

        async def removed(name: str) -> None:
            if error:
                raise error
            await remove(name)

        parts.secrets.remove = removed  # type: ignore[method-assign]
        server.end_access_tokens()
        server.end_refresh_tokens()
        with pytest.raises(TooltrayError, match="sign"):
            await whoami(parts)
        await parts.heard.until(lambda: bool(parts.sign_ins.problems))
        assert [problem.title for problem in parts.sign_ins.problems] == ["the ended sign-in to 'far' is still stored"]
        assert not snapshot(parts).is_signed_in
        error = None
        await parts.sign_ins.close()
        assert await parts.presenter.get_secret_names() == []
        assert not parts.sign_ins.problems


async def test_a_renamed_server_is_still_signed_in_and_nothing_is_kept_under_its_old_name(tmp_path: Path) -> None:
    async with authorizing() as server:
        async with hub(tmp_path, server) as parts:
            await sign_in(parts)
            await parts.presenter.rename_mcp_server("far", "near")
            await state(parts, RUNNING, "near")
            assert await whoami(parts)
            assert await parts.secrets.names() == ["oauth/near"]
            await parts.presenter.rename_mcp_server("near", "far")
        async with hub(tmp_path, server) as parts:  # the tokens were not used yet: they are only stored
            await parts.presenter.rename_mcp_server("far", "near")
            await parts.presenter.start_server("near")
            assert await whoami(parts)
            assert list(parts.sign_ins.kept) == ["near"]


async def test_tokens_that_were_not_stored_yet_go_along_with_a_renamed_server(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        closed = Closed(parts, SecretsLocked("The keyring is locked", "", "Unlock it"))
        await sign_in(parts)
        await parts.heard.until(lambda: bool(parts.sign_ins.problems))
        closed.error = None
        await parts.presenter.rename_mcp_server("far", "near")
        assert parts.sign_ins.problems == ()
        await parts.sign_ins.close()
        assert await parts.secrets.names() == ["oauth/near"]


async def test_a_server_keeps_its_name_where_its_sign_in_cannot_get_the_new_one(tmp_path: Path) -> None:
    async with authorizing() as server, hub(tmp_path, server) as parts:
        await sign_in(parts)
        await parts.sign_ins.close()
        closed = Closed(parts, SecretsLocked("The keyring is locked", "", "Unlock it"))
        with pytest.raises(TooltrayError, match="locked"):
            await parts.presenter.rename_mcp_server("far", "near")
        closed.error = None
        assert (list(parts.conf.entries), await parts.secrets.names()) == (["far"], ["oauth/far"])
        assert await whoami(parts)


async def test_a_renamed_server_that_signs_in_itself_stores_no_tokens(tmp_path: Path) -> None:
    oauth = {"grant": "client_credentials", "clientId": "machine", "clientSecret": "dummy-machine"}
    async with authorizing() as server, hub(tmp_path, server, oauth=oauth) as parts:
        server.know("machine", secret="dummy-machine", method="client_secret_basic")
        await start(parts)
        await parts.presenter.rename_mcp_server("far", "near")
        await state(parts, RUNNING, "near")
        assert await parts.secrets.names() == []
