"""secrets_api.py, through McpPresenter's verbs"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NoReturn

import pytest
from tests.fakes.hub_parts import HubParts, entry, hub_parts
from tests.fakes.refusal import refusal
from tests.fakes.scripted_server import ScriptedServer

from tooltray.config.secrets.secrets import BACKUP_SECRET, SecretStore
from tooltray.config.secrets.vaults import SecretsAbsent, SecretsLocked
from tooltray.consent.tokens.api_tokens import TRUSTED_SECRET
from tooltray.foundation.confirmation import UNATTENDED, asked_by
from tooltray.foundation.errors import Denied, SecretsUnreachable
from tooltray.foundation.events import ServerStarted
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.sources.entries.secrets_api import SecretsApi
from tooltray.sources.entries.server_starts import ServerStarts


async def test_secrets_are_stored_named_and_removed(parts: HubParts) -> None:
    p = parts.presenter
    await p.set_secret("s/KEY", "value")
    await p.set_secret("a", "value")
    assert await p.get_secret_names() == ["a", "s/KEY"]
    await p.remove_secret("a")
    assert await p.get_secret_names() == ["s/KEY"]
    assert "There is no secret 'a'" in await refusal(p.remove_secret("a"))
    await p.set_secret("a", "value")
    await p.remove_secret("a")
    await p.restore_secret("a")
    assert await p.get_secret_names() == ["a", "s/KEY"]
    assert await p.check_secrets() == "memory"


async def test_a_server_that_failed_for_a_secret_is_tried_again_when_it_is_there(tmp_path: Path, program: ScriptedServer) -> None:
    servers = {"s": entry("program", env={"KEY": "${secret:s/KEY}"}), "other": entry("program", env={"KEY": "${NOT_SET}"})}
    async with hub_parts(tmp_path, servers=servers, programs={"program": program}) as parts:
        for name in servers:
            parts.servers.get(name).start()
            await parts.heard.state(name, ServerState.ERROR)
        await parts.presenter.set_secret("s/KEY", "value")
        await parts.heard.event(ServerStarted, server_name="s")
        assert parts.launches[0].env["KEY"] == "value"
        assert parts.servers.get("other").state is ServerState.ERROR


async def test_a_server_that_failed_for_a_locked_file_is_tried_again_when_that_is_open(tmp_path: Path, program: ScriptedServer) -> None:
    servers = {"s": entry("program", env={"KEY": "${secret:s/KEY}"})}
    async with hub_parts(tmp_path, servers=servers, programs={"program": program}) as parts:
        await parts.presenter.set_secret_backend("file")
        assert parts.settings_on_disk["secrets"] == {"backend": "file"}
        parts.servers.get("s").start()
        await parts.heard.state("s", ServerState.ERROR)
        await parts.presenter.unlock_secrets("correct horse")
        await parts.heard.state("s", ServerState.ERROR, count=2)  # it is open, and there is no such secret
        await parts.presenter.set_secret("s/KEY", "value")
        await parts.heard.event(ServerStarted, server_name="s")


@asynccontextmanager
async def with_keyring(parts: HubParts, failure: SecretsUnreachable) -> AsyncIterator[SecretsApi]:
    def open_keyring() -> NoReturn:
        raise failure

    store = SecretStore(parts.home, "memory", open_keyring=open_keyring)
    starts = ServerStarts(
        config=parts.conf,
        servers=parts.servers,
        tools=parts.tools,
        secrets=store,
        registries=parts.registries,
        sign_ins=parts.sign_ins,
        spawn=parts.spawn,
    )
    try:
        yield SecretsApi(config=parts.conf, secrets=store, server_secrets=parts.server_secrets, starts=starts)
    finally:
        await store.close()


async def test_who_has_chosen_a_place_that_does_not_open_goes_back_without_a_question(parts: HubParts) -> None:
    async with with_keyring(parts, SecretsLocked("the keyring is locked")) as api:
        await api.set_secret_backend("keyring")
        with asked_by(UNATTENDED):
            with pytest.raises(Denied, match="Keeping secrets in another place"):
                await api.set_secret_backend("file")
            await api.set_secret_backend("memory")
        assert parts.settings_on_disk["secrets"] == {"backend": "memory"}


async def test_a_keyring_that_is_not_there_is_left_without_a_question(parts: HubParts) -> None:
    async with with_keyring(parts, SecretsAbsent("there is no keyring here")) as api:
        await api.set_secret_backend("keyring")
        with asked_by(UNATTENDED):
            await api.set_secret_backend("file")
        assert parts.settings_on_disk["secrets"] == {"backend": "file"}


async def test_secrets_are_kept_nowhere_else(parts: HubParts) -> None:
    said = await refusal(parts.presenter.set_secret_backend("plain"))
    assert said == "'plain' is no place for secrets. Choose one of keyring, file, memory"
    assert "secrets" not in parts.settings_on_disk


async def test_the_secrets_of_the_hub_itself_are_not_anybodys_to_set(parts: HubParts) -> None:
    for name in (TRUSTED_SECRET, BACKUP_SECRET):
        assert "is kept by Tooltray itself" in await refusal(parts.presenter.set_secret(name, "value"))
    assert await parts.presenter.get_secret_names() == []
