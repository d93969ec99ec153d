"""settings_api.py: the verbs of settings, of the set-up, and of remedies."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest
from tests.fakes.file_hub import file_hub
from tests.fakes.hub_parts import HubParts, entry, hub_parts
from tests.fakes.refusal import refusal
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.config.secrets.secrets import BACKUP_SECRET, SecretStore
from tooltray.config.secrets.vaults import SecretsAbsent, SecretsLocked
from tooltray.consent.askers import decision_of
from tooltray.consent.tokens.api_tokens import TRUSTED_SECRET
from tooltray.foundation.confirm_widening import UNATTENDED, Person, Wish, asked_by
from tooltray.foundation.errors import Conflict, Denied, NotFound, SecretsUnreachable, TooltrayError
from tooltray.foundation.events import ServerStarted
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.sources.entries.server_entries import ServerStarts
from tooltray.sources.entries.settings_api import SecretsApi


@pytest.fixture
async def parts(tmp_path: Path) -> AsyncIterator[HubParts]:
    program = ScriptedServer(tool("echo"))
    servers = {"s": entry("program", autoApprove=["all"])}
    async with hub_parts(tmp_path / "home", servers=servers, programs={"program": program}) as parts:
        yield parts


async def test_settings_are_what_the_file_says_besides_the_servers(parts: HubParts) -> None:
    said = await parts.presenter.get_settings()
    assert not {"mcpServers", "defaultServers", "version"} & said.settings.keys()
    changed = await parts.presenter.change_settings({"hotReload": False}, said.revision)
    assert changed.settings == {**said.settings, "hotReload": False}
    assert changed == await parts.presenter.get_settings()
    with pytest.raises(Conflict):
        await parts.presenter.change_settings({"hotReload": True}, said.revision)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"customNpmRegistry": "ftp://npm.test"}, "this is not the address of an npm registry"),
        ({"customNpmRegistry": "https://me:hunter2@npm.test/"}, "user name or password"),
        ({"npmRegistries": [{"url": "https://me:hunter2@npm.test/"}]}, "user name or password"),
        ({"npmRegistries": ["https://npm.test/"]}, "must be an object"),
        ({"npmRegistries": 5}, "must be a list"),
        ({"customNpmRegistry": 5}, "must be text"),
    ],
)
async def test_an_address_of_a_registry_is_looked_at_first(parts: HubParts, changes: dict[str, Any], reason: str) -> None:
    before = parts.home.settings.read_bytes()
    with pytest.raises(TooltrayError, match=reason) as raised:
        await parts.presenter.change_settings(changes)
    assert "hunter2" not in str(raised.value)
    assert parts.home.settings.read_bytes() == before


async def test_addresses_that_can_be_used_are_taken(parts: HubParts) -> None:
    await parts.presenter.change_settings({"customNpmRegistry": "https://a.test/", "npmRegistries": [{"url": "https://b.test/"}]})
    assert json.loads(parts.home.settings.read_bytes())["customNpmRegistry"] == "https://a.test/"


@pytest.mark.parametrize("changes", [{"contents": True}, {"line": False}, {"days": 1}, None])
async def test_what_the_journal_keeps_is_a_persons_to_say(parts: HubParts, changes: Any) -> None:
    with asked_by(UNATTENDED), pytest.raises(Denied):
        await parts.presenter.change_settings({"activity": changes})
    await parts.presenter.change_settings({"activity": changes})
    with pytest.raises(TooltrayError, match=r"activity: days: must be more than 0"):
        await parts.presenter.change_settings({"activity": {"days": 0}})


PROGRAMS = {"program": ScriptedServer()}
SETUP = {"version": 1, "mcpServers": {"new": {"command": "program"}}, "defaultServers": ["new"]}


async def test_what_is_taken_over_starts_if_it_starts_with_the_hub_and_not_when_it_is_only_looked_at(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={}, programs=PROGRAMS) as parts:
        seen = await parts.presenter.preview_import(SETUP)
        assert parts.conf.entries == {}
        assert await parts.presenter.import_setup(SETUP) == seen
        await parts.heard.event(ServerStarted, server_name="new")
        assert (await parts.presenter.export_setup())["mcpServers"].keys() == {"new"}


async def test_the_servers_that_come_with_tooltray_start_when_they_are_put_back(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={}, programs=PROGRAMS) as parts:
        parts.shipped_setup = json.loads(json.dumps(SETUP))
        seen = await parts.presenter.preview_reset()
        assert parts.conf.entries == {}
        assert await parts.presenter.reset_to_default_servers() == seen
        await parts.heard.event(ServerStarted, server_name="new")


async def test_a_remedy_is_carried_out_and_one_that_nobody_proposes_is_refused(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"s": entry("program")}, programs=PROGRAMS) as parts:
        assert await parts.presenter.apply_remedy("s", "start")
        assert parts.servers.get("s").state in (ServerState.STARTING, ServerState.RUNNING)
        assert await refusal(parts.presenter.apply_remedy("s", "pray"))


async def test_secrets_are_stored_named_and_removed(parts: HubParts) -> None:
    p = parts.presenter
    await p.set_secret("s/KEY", "value")
    await p.set_secret("a", "value")
    assert await p.get_secret_names() == ["a", "s/KEY"]
    await p.remove_secret("a")
    assert await p.get_secret_names() == ["s/KEY"]
    assert "Secret 'a' not found" in await refusal(p.remove_secret("a"))
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
    async with with_keyring(parts, SecretsAbsent("no keyring found here")) as api:
        await api.set_secret_backend("keyring")
        with asked_by(UNATTENDED):
            await api.set_secret_backend("file")
        assert parts.settings_on_disk["secrets"] == {"backend": "file"}


async def test_secrets_are_kept_nowhere_else(parts: HubParts) -> None:
    said = await refusal(parts.presenter.set_secret_backend("plain"))
    assert said == "'plain' is not a place for secrets. Choose one of keyring, file, memory"
    assert "secrets" not in parts.settings_on_disk


async def test_the_secrets_of_the_hub_itself_are_not_anybodys_to_set(parts: HubParts) -> None:
    for name in (TRUSTED_SECRET, BACKUP_SECRET):
        assert "is kept by Tooltray itself" in await refusal(parts.presenter.set_secret(name, "value"))
    assert await parts.presenter.get_secret_names() == []


class Asked(Person):
    """Says yes, and keeps what was asked."""

    def __init__(self) -> None:
        self.wishes: list[Wish] = []

    async def confirm(self, wish: Wish) -> None:
        self.wishes.append(wish)


async def test_a_yes_that_nobody_said_cannot_be_taken_back(parts: HubParts, tmp_path: Path) -> None:
    for project in (str(tmp_path), ""):
        with pytest.raises(NotFound):
            await parts.presenter.distrust_entries(project, "gone")
    assert await parts.presenter.get_trusted_entries() == []


async def test_a_reload_is_shown_before_it_is_done(parts: HubParts) -> None:
    settings = parts.settings_on_disk
    settings["mcpServers"]["new"] = {"command": "program"}
    parts.home.settings.write_text(json.dumps(settings))
    planned = await parts.presenter.preview_reload()
    assert [(each.kind, each.name) for each in planned] == [("add", "new")]
    assert "new" not in parts.conf.settings.mcp_servers
    assert await parts.presenter.reload() == planned
    assert "new" in parts.conf.settings.mcp_servers


async def test_a_yes_to_the_servers_of_a_project_is_a_persons_alone(tmp_path: Path) -> None:
    async with file_hub(tmp_path) as hub:
        presenter, folder = hub.parts.presenter, hub.project(one={"command": "program"})
        await hub.session(folder)
        [waits] = await presenter.get_trust_requests(folder)
        with asked_by(UNATTENDED), pytest.raises(Denied):
            await presenter.trust_entries(folder, {"one": waits.digest})
        assert await presenter.trust_entries(folder, {"one": waits.digest}) == ["one"]
        assert [each.entry for each in await presenter.get_trusted_entries()] == ["one"]
        assert [each.kind for each in await presenter.get_server_files()] == ["settings", "mcp.json"]


async def test_what_is_started_is_shown_and_a_key_in_it_is_not_recorded(tmp_path: Path) -> None:
    async with file_hub(tmp_path) as hub:
        asked, folder = Asked(), hub.project(one={"command": "program", "args": ["--key", "hunter2"]})
        [waits] = await hub.parts.presenter.get_trust_requests(folder)
        with asked_by(asked):
            await hub.parts.presenter.trust_entries(folder, {"one": waits.digest})
        [wish] = asked.wishes
        assert wish.shown == {"commands": "one: program --key hunter2"}
        assert dict(decision_of(wish, "yes", "window").about) == {
            "project": folder,
            "entries": "one",
            "digests": f"one {waits.digest[:16]}",
        }
