"""server_secrets.py: which servers use which secrets, and what goes with a removed server."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.file_hub import file_hub
from tests.fakes.hub_parts import HubParts, hub_parts

from tooltray.config.secrets.secrets import BACKUP_SECRET
from tooltray.config.secrets.vaults import SecretsLocked
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import Conflict
from tooltray.foundation.events import EventBus
from tooltray.foundation.files.atomic_file import set_aside
from tooltray.foundation.snapshots.setup import SecretSnapshot, ServerRemoval, SharedSecret, StoredSecrets
from tooltray.sources.entries.server_secrets import SecretUses, ServerSecrets, Uses, mentioned


def uses(*secrets: str, **more: Any) -> dict[str, Any]:
    """An entry that gets these secrets."""
    return {"command": "program", "disable": True, "env": {f"V{at}": f"${{secret:{name}}}" for at, name in enumerate(secrets)}, **more}


async def stored(parts: HubParts, *names: str) -> None:
    for name in names:
        await parts.presenter.set_secret(name, "dummy-value")


async def test_a_removed_servers_own_secrets_go_and_shared_ones_stay(tmp_path: Path) -> None:
    servers = {"git": uses("git/KEY", "team", "never stored"), "wiki": uses("team")}
    async with hub_parts(tmp_path, servers=servers) as parts:
        await stored(parts, "git/KEY", "git/OLD", "team", "other", "github/KEY")
        said = await parts.presenter.preview_removal("git")
        assert said == ServerRemoval("git", ("git/KEY", "git/OLD"), shared=(SharedSecret("team", ("wiki",)),))
        assert await parts.presenter.get_secret_names() == ["git/KEY", "git/OLD", "github/KEY", "other", "team"]
        assert await parts.presenter.remove_mcp_server("git") == said
        assert await parts.presenter.get_secret_names() == ["github/KEY", "other", "team"]
        assert (await parts.presenter.remove_mcp_server("wiki")).secrets == ("team",)


async def test_secrets_are_listed_with_their_users_also_those_that_are_missing(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"git": uses("git/KEY", "team"), "wiki": uses("team")}) as parts:
        await stored(parts, "team", "other", "oauth/wiki")
        await parts.secrets.set(BACKUP_SECRET, "dummy-value")
        said = await parts.presenter.get_secrets()
        assert said == StoredSecrets(
            "memory",
            True,
            None,
            (
                SecretSnapshot("git/KEY", False, ("git",)),
                SecretSnapshot("oauth/wiki", True, ("wiki",), kind="sign-in"),
                SecretSnapshot("other", True),
                SecretSnapshot("team", True, ("git", "wiki")),
                SecretSnapshot(BACKUP_SECRET, True, kind="own"),
            ),
        )


async def test_what_is_kept_elsewhere_is_listed_with_where_it_comes_from_and_what_is_missing(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"git": uses("keyring:a/b", "command:gone")}) as parts:
        command, keyring = (await parts.presenter.get_secrets()).secrets
        assert (command.origin, command.problem and command.problem.title) == ("your command 'gone'", "Command 'gone' not found")
        assert keyring == SecretSnapshot("keyring:a/b", None, ("git",), kind="provided", origin="the keyring, a/b")
        assert (await parts.presenter.preview_removal("git")).secrets == ()
        assert await parts.presenter.get_unused_secrets() == []


async def test_of_a_locked_file_it_is_not_known_what_is_stored(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"git": uses("git/KEY")}) as parts:
        await parts.presenter.set_secret_backend("file")
        await parts.presenter.unlock_secrets("correct horse")
    async with hub_parts(tmp_path, servers={"git": uses("git/KEY")}) as parts:
        await parts.presenter.set_secret_backend("file")
        said = await parts.presenter.get_secrets()
        assert said.secrets == (SecretSnapshot("git/KEY", None, ("git",)),)
        assert (said.is_proven, said.problem.title) == (False, "The secrets are locked")


async def test_nothing_goes_with_a_name_that_no_server_has(tmp_path: Path) -> None:
    """Nobody is to be asked about what happens to secrets when the answer is that there is no such server."""
    async with hub_parts(tmp_path, servers={"wiki": uses("git/KEY")}) as parts:
        await stored(parts, "git/KEY", "git/OLD", "hub/KEY")
        for name in ("git", "hub"):
            assert await parts.presenter.preview_removal(name) == ServerRemoval(name)


async def test_a_sign_in_of_a_served_files_server_is_in_use(tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text('{"mcpProxy": {}, "mcpServers": {"far": {"command": "program", "options": {"disabled": true}}}}')
    async with file_hub(tmp_path, configs=[config]) as hub:
        await stored(hub.parts, "oauth/far", "oauth/gone")
        assert await over(hub.parts, hub.parts.secrets, SignedIn("far", "gone")).unused() == ["oauth/gone"]


async def test_a_server_that_is_not_removed_keeps_its_secrets(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"git": uses("git/KEY")}) as parts:
        await stored(parts, "git/KEY")
        with pytest.raises(Conflict):
            await parts.presenter.remove_mcp_server("git", "another revision")
        assert await parts.presenter.get_secret_names() == ["git/KEY"]


async def test_what_may_come_back_keeps_its_secrets_until_nobody_wants_it(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"git": uses("git/KEY")}) as parts:
        await stored(parts, "git/KEY")
        entry = (await parts.presenter.get_server_entry("git")).entry
        gone = await parts.presenter.remove_mcp_server("git", keep_secrets=True)
        assert gone.secrets == ("git/KEY",)
        assert await parts.presenter.get_unused_secrets() == ["git/KEY"]
        await parts.presenter.add_mcp_server("git", entry)
        assert await parts.presenter.remove_unused_secrets(["git/KEY"]) == []
        await parts.presenter.remove_mcp_server("git", keep_secrets=True)
        assert await parts.presenter.remove_unused_secrets(["git/KEY", "never stored"]) == ["git/KEY"]
        assert await parts.presenter.get_secret_names() == []


async def test_a_hand_edit_and_a_reload_remove_no_secret(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"git": uses("git/KEY")}) as parts:
        await stored(parts, "git/KEY")
        for text, unused in (("{}", ["git/KEY"]), ('{"mcpServers": {"git": {"env": {"A": "${secret:git\\/KEY}"', [])):
            parts.conf.path.write_text(text)
            await parts.presenter.reload()
            assert await parts.presenter.get_secret_names() == ["git/KEY"]
            assert await parts.presenter.get_unused_secrets() == unused


async def test_a_project_on_which_nobody_works_still_uses_its_secrets(tmp_path: Path) -> None:
    servers = {"git": uses("team", "mine", "half", "hidden")}
    async with file_hub(tmp_path, servers=servers) as hub:
        folder = hub.project(one=uses("team", disable=False))
        await hub.session(folder, key="a")
        await hub.trusted(folder)
        hub.parts.states.disconnect("a")
        half = Path(hub.project("half", two=uses("half")))
        await hub.trusted(str(half))
        hub.write(str(half), '{"mcpServers": {"two": {"env": {"A": "${secret:half}"')
        hub.parts.conf.set_file_servers({})
        await stored(hub.parts, "team", "mine", "half")
        said = await hub.parts.presenter.preview_removal("git")
        assert said.secrets == ("mine",)
        assert said.shared == (SharedSecret("half", (str(half / ".mcp.json"),)), SharedSecret("team", ("one",)))
        half.joinpath(".mcp.json").unlink()
        half.joinpath(".mcp.json").mkdir()  # nobody can say what it uses
        said = await hub.parts.presenter.preview_removal("git")
        assert said.secrets == ()
        assert all(f"{half}/.mcp.json" in shared.users for shared in said.shared)


async def test_a_server_of_a_projects_own_file_is_removed_with_its_secrets_too(tmp_path: Path) -> None:
    async with file_hub(tmp_path, servers={"git": uses("team")}) as hub:
        folder = hub.project(one=uses("one/KEY", "team", disable=False))
        await hub.trusted(folder)
        await stored(hub.parts, "one/KEY", "team")
        gone = await hub.parts.presenter.remove_mcp_server("one")
        assert (gone.secrets, gone.shared) == (("one/KEY",), (SharedSecret("team", ("git",)),))
        assert await hub.parts.presenter.get_secret_names() == ["team"]


async def test_tokens_of_a_served_config_are_in_use(tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text(
        '{"mcpProxy": {"addr": ":0", "options": {"authTokens": ["${secret:door}"]}}, "mcpServers": {"a": {"command": "program"}}}'
    )
    async with file_hub(tmp_path, configs=[config]) as hub:
        await stored(hub.parts, "door", "other")
        assert await hub.parts.presenter.get_unused_secrets() == ["other"]
        config.write_text("{")
        assert await hub.parts.presenter.get_unused_secrets() == ["other"]
        config.unlink()
        config.mkdir()  # nobody can say what it uses
        assert await hub.parts.presenter.get_unused_secrets() == []


async def test_while_nobody_knows_the_projects_no_secret_counts_as_unused(tmp_path: Path) -> None:
    async with file_hub(tmp_path) as hub:
        folder = hub.project(one=uses("one/KEY", disable=False))
        await hub.trusted(folder)
        trust = hub.parts.home.trust
    trust.write_text('{"version": 1, "projects": {')
    async with file_hub(tmp_path, servers={"one": uses("one/KEY")}) as hub:
        (aside,) = trust.parent.glob("trust.json.broken-*")
        await stored(hub.parts, "one/KEY", "one/OLD")
        assert await hub.parts.presenter.get_unused_secrets() == []
        gone = await hub.parts.presenter.remove_mcp_server("one")
        assert (gone.secrets, gone.shared) == ((), (SharedSecret("one/KEY", (str(aside),)), SharedSecret("one/OLD", (str(aside),))))
        assert await hub.parts.presenter.get_secret_names() == ["one/KEY", "one/OLD"]
        aside.unlink()  # a person has seen to it
        assert await hub.parts.presenter.get_unused_secrets() == ["one/KEY", "one/OLD"]


class Slow:
    """A place of secrets, which takes its time to remove one. In the place of SecretStore."""

    def __init__(self, parts: HubParts, *names: str) -> None:
        self._parts, self.stored = parts, list(names)

    async def names(self, *, timeout_s: float | None = None) -> list[str]:
        return list(self.stored)

    async def remove(self, name: str) -> None:
        self.stored.remove(name)
        await self._parts.conf.set_server(f"s{len(self.stored)}", uses(*self.stored), is_default=False)


async def test_a_secret_that_is_used_while_another_is_removed_stays(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as parts:
        store = Slow(parts, "a", "b")
        assert await over(parts, store, SignedIn()).remove_unused(["a", "b"]) == ["a"]
        assert store.stored == ["b"]


async def test_a_sign_in_stays_although_the_list_of_sign_ins_is_lost(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"far": uses()}) as parts:
        await stored(parts, "oauth/far", "oauth/gone")
        held = over(parts, parts.secrets, SignedIn())
        assert await held.remove_unused(["oauth/far", "oauth/gone"]) == ["oauth/gone"]
        assert await parts.secrets.names() == ["oauth/far"]


async def test_a_secret_that_a_server_uses_by_now_stays_although_what_brought_it_fails(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as parts:

        async def half_done() -> None:
            async with parts.server_secrets.stored({"git/KEY": "dummy-value", "git/OTHER": "dummy-value"}):
                await parts.conf.set_server("git", uses("git/KEY"))
                raise Conflict("somebody was faster")

        with pytest.raises(Conflict):
            await half_done()
        assert await parts.secrets.names() == ["git/KEY"]


class Locked:
    """A place of secrets that lets nobody in. In the place of SecretStore."""

    def __init__(self, *names: str) -> None:
        self.stored = names

    async def names(self) -> list[str]:
        if not self.stored:
            raise SecretsLocked("The secrets are locked")
        return list(self.stored)

    async def remove(self, name: str) -> None:
        raise SecretsLocked("The secrets are locked")


class SignedIn:
    """In the place of SignIns."""

    def __init__(self, *servers: str) -> None:
        self.kept: Mapping[str, str] = dict.fromkeys(servers, "binding")
        self.forgotten: list[str] = []

    async def forget(self, server: str) -> None:
        self.forgotten.append(server)


def over(parts: HubParts, store: Any, sign_ins: SignedIn) -> ServerSecrets:
    return ServerSecrets(secrets=store, sign_ins=sign_ins, secret_uses=SecretUses(config=parts.conf, projects=dict))


async def test_secrets_that_cannot_be_reached_hold_up_no_removal_and_are_named(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"git": uses("git/KEY"), "plain": {"command": "program", "disable": True}}) as parts:
        nobody = SignedIn()
        said = await over(parts, Locked(), nobody).of("git")
        assert said.secrets == ("git/KEY",)
        assert said.problem
        assert said.problem.title == "The secrets are locked"
        assert await over(parts, Locked(), nobody).of("plain") == ServerRemoval("plain")
        await parts.conf.remove_server("git")
        left = await over(parts, Locked("git/KEY"), nobody).forget(said)
        assert (left.secrets, left.problem) == (said.secrets, said.problem)


async def test_a_sign_in_is_told_from_a_secret_of_a_server_called_oauth(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"oauth": uses(), "far": uses()}) as parts:
        await stored(parts, "oauth/far", "oauth/KEY", "oauth/gone")
        sign_ins = SignedIn("far", "gone")
        held = over(parts, parts.secrets, sign_ins)
        assert (await held.of("oauth")).secrets == ("oauth/KEY",)
        assert (await held.of("far")).sign_in == "oauth/far"
        assert await held.unused() == ["oauth/KEY", "oauth/gone"]
        assert await held.remove_unused(["oauth/gone", "oauth/far"]) == ["oauth/gone"]
        assert sign_ins.forgotten == ["gone"]
        assert await held.forget(await held.of("far")) == ServerRemoval("far", sign_in="oauth/far")
        assert sign_ins.forgotten == ["gone", "far"]


async def test_without_a_hub_nobody_asks_a_provider_whether_a_secret_can_be_had(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"git": uses("pass:git/token")}) as parts:
        kept = await over(parts, parts.secrets, SignedIn()).all()
        (listed,) = [each for each in kept.secrets if each.name == "pass:git/token"]
        assert (listed.kind, listed.problem) == ("provided", None)


SETTINGS = {
    "version": 1,
    "mcpServers": {
        "a": {"command": "x", "env": {"K": "${secret:one}"}},
        "odd": {"args": [{"k": "${secret:one} ${secret:two}"}]},
    },
    "customNpmRegistry": "https://${secret:npm}@registry.example/",
}


async def found_uses(folder: Path, settings: Mapping[str, Any] | str = SETTINGS, **asked: Any) -> Uses:
    """Of a set-up that has been loaded with SETTINGS, while the file has others."""
    path = folder / "settings.json"
    path.write_text(json.dumps(SETTINGS))
    config = McpConfHelper(path, EventBus())
    await config.load()
    path.write_text(settings if isinstance(settings, str) else json.dumps(settings))
    given = {name: (lambda value=value: value) for name, value in {"projects": {}, **asked}.items()}
    return await SecretUses(config=config, **given).all()


async def test_a_server_uses_what_its_entry_names_and_the_file_what_stands_beside(tmp_path: Path) -> None:
    found = await found_uses(tmp_path)
    assert (found.by("a"), found.by("odd")) == ({"one"}, {"one", "two"})
    assert found.of("npm") == (str(tmp_path / "settings.json"),)
    assert (found.of("one"), found.of("one", besides="a"), found.of("none")) == (("a", "odd"), ("odd",), ())
    assert not found.unreadable


async def test_what_is_loaded_counts_as_much_as_what_is_saved_by_now(tmp_path: Path) -> None:
    found = await found_uses(tmp_path, {"mcpServers": {"b": {"command": "${secret:new}"}}})
    assert (found.of("one"), found.of("new")) == (("a", "odd"), ("b",))


@pytest.mark.parametrize(
    "text",
    [
        *('{"mcpServers": {"b": "${secret:half}"', '["${secret:half}"]', "[" * 9_000 + "${secret:half}"),
        *(
            r'{"a": "$\u007bsecret:half}',
            r'{"a": "\u0024\u007bsecret:half\u007d',
            r'{"a": "${secret:h\u0061lf}',
            r'{"a": "\q${secret:half}',
        ),
    ],
)
async def test_in_a_file_that_cannot_be_parsed_each_placeholder_counts(tmp_path: Path, text: str) -> None:
    assert (await found_uses(tmp_path, text)).of("half") == (str(tmp_path / "settings.json"),)


async def test_settings_that_were_set_aside_may_come_back(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text("{${secret:old}")
    aside = set_aside(path)
    assert (await found_uses(tmp_path)).of("old") == (str(aside),)


async def test_a_project_s_server_is_called_as_in_the_hub_and_else_by_its_file(tmp_path: Path) -> None:
    file = tmp_path / ".mcp.json"
    entries = {"k": {"command": "${secret:known}"}, "u": {"command": "${secret:unknown}"}, "n": None}
    file.write_text(json.dumps({"mcpServers": entries}))
    found = await found_uses(tmp_path, projects={str(tmp_path): {"k": "k-shop"}})
    assert (found.of("known"), found.of("unknown")) == (("k-shop",), (str(file),))


@pytest.mark.parametrize("text", ['{"mcpServers": {"k": "${secret:half}"', '{"mcpServers": "${secret:half}"}'])
async def test_a_project_s_file_that_is_half_written_uses_what_is_in_it(tmp_path: Path, text: str) -> None:
    (tmp_path / ".mcp.json").write_text(text)
    found = await found_uses(tmp_path, projects={str(tmp_path): {"k": "k-shop"}})
    assert found.of("half") == (str(tmp_path / ".mcp.json"),)


async def test_where_no_object_is_the_file_itself_uses_what_is_in_it(tmp_path: Path) -> None:
    found = await found_uses(tmp_path, {"mcpServers": ["${secret:listed}"]})
    assert found.of("listed") == (str(tmp_path / "settings.json"),)


async def test_a_project_without_servers_or_without_a_file_uses_nothing(tmp_path: Path) -> None:
    for text in ("{}", '{"mcpServers": null}'):
        (tmp_path / ".mcp.json").write_text(text)
        found = await found_uses(tmp_path, projects={str(tmp_path): {}, str(tmp_path / "gone"): {}})
        assert set(found.users) == {"one", "two", "npm"}


async def test_a_file_that_the_hub_was_started_with_uses_what_is_in_its_text(tmp_path: Path) -> None:
    served = tmp_path / "served.json"
    served.write_text("{ // ${secret:served}\n}")
    assert (await found_uses(tmp_path, served=[str(served)])).of("served") == (str(served),)


async def test_what_waits_for_a_yes_will_use_its_secrets(tmp_path: Path) -> None:
    assert (await found_uses(tmp_path, proposed={"new": {"env": {"K": "${secret:wanted}"}}})).of("wanted") == ("new",)


async def test_a_file_that_cannot_be_read_may_use_any_secret(tmp_path: Path) -> None:
    folder, lost = tmp_path / "folder.json", tmp_path / "lost.json"
    folder.mkdir()
    lost.touch()
    found = await found_uses(tmp_path, served=[str(folder)], lost=[str(lost), str(tmp_path / "deleted")])
    assert found.unreadable == {str(folder), str(lost)}
    assert found.of("anything") == (str(folder), str(lost))


def test_names_are_found_wherever_a_value_has_them() -> None:
    assert list(mentioned({"a": ["${secret:x}${secret:y}", ({"b": "${secret:z}"},), 3, None, "${other:w}"]})) == ["x", "y", "z"]
