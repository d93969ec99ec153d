"""sources/bundles/api.py: bundles as servers of a hub; nothing is left of what fails or goes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.bundles import SERVER, write_bundle
from tests.fakes.full_disk import full_disk
from tests.fakes.hub_parts import HubParts, Shell, hub_parts, settled, started
from tests.fakes.scripted_server import ScriptedServer
from tests.fakes.unconfirmed import Program

from tooltray.foundation.confirm_widening import asked_by
from tooltray.foundation.errors import Conflict, Denied, NotFound, TooltrayError
from tooltray.foundation.snapshots.servers import ServerState

ASKS = {
    "key": {"type": "string", "title": "A key", "sensitive": True, "required": True},
    "folder": {"type": "directory", "multiple": True},
    "level": {"type": "string", "default": "low"},
}
CONFIG = {
    "command": "python3",
    "args": ["${__dirname}/server/main.py", "${user_config.folder}"],
    "env": {"KEY": "${user_config.key}", "LEVEL": "${user_config.level}"},
}
VALUE, NEWER = "dummy-value-of-a-key", "dummy-newer-value"


def bundle(tmp_path: Path, version: str = "1.0.0", **more: Any) -> str:
    more = {"user_config": ASKS, "server": {**SERVER, "mcp_config": CONFIG}, **more}
    return str(write_bundle(tmp_path / f"notes-{version}.mcpb", version=version, **more))


@asynccontextmanager
async def hub(tmp_path: Path, **options: Any) -> AsyncIterator[HubParts]:
    folder = tmp_path / "programs"
    folder.mkdir(exist_ok=True)
    (folder / "python3").write_text("#!/bin/sh\n")
    (folder / "python3").chmod(0o755)
    options = {"programs": {"python3": ScriptedServer()}, "shell": Shell(PATH=str(folder)), "servers": {}, **options}
    async with hub_parts(tmp_path / "home", **options) as parts:
        yield parts


async def install(parts: HubParts, source: str, server: str = "", **values: Any) -> str:
    offer = await parts.bundles_api.read_bundle(source)
    return await parts.bundles_api.install_bundle(source, offer.sha256, values, server)


def folders(parts: HubParts) -> list[str]:
    root = parts.home.bundles
    return sorted(path.relative_to(root).as_posix() for path in root.glob("*/*")) if root.exists() else []


async def test_it_is_shown_as_what_it_would_be_and_installed_as_that(tmp_path: Path) -> None:
    source = bundle(tmp_path)
    async with hub(tmp_path) as parts:
        sha256 = (await parts.bundles_api.read_bundle(source)).sha256
        values = {"key": VALUE, "folder": ["/a", "/b"]}
        shown = await parts.bundles_api.preview_bundle(source, sha256, values)
        folder = parts.home.bundles / "notes" / f"1.0.0-{sha256[:12]}"
        assert shown.command == ("python3", f"{folder}/server/main.py", "/a", "/b")
        assert (shown.name, shown.secrets, "Somebody" in shown.origin, shown.warnings) == ("notes", ("notes/key",), True, ())
        assert VALUE not in str(shown)
        assert not folder.exists()
        assert await parts.bundles_api.install_bundle(source, sha256, values) == "notes"
        entry = parts.config.entries["notes"]
        assert entry == {"autoApprove": ["read"], **shown.entry}
        assert (entry["env"], entry["confinement"]) == ({"KEY": "${secret:notes/key}", "LEVEL": "low"}, {"files": "own"})
        assert entry["origin"] == {"kind": "bundle", "name": "notes", "version": "1.0.0", "sha256": sha256}
        assert await parts.secrets.get("notes/key") == VALUE
        assert (folder / "server/main.py").exists()
        [there] = await parts.bundles_api.get_bundles()
        assert (there.server, there.source, there.folder, there.installed_at > 0) == ("notes", source, str(folder), True)
        assert VALUE not in (parts.home.bundles / "installed.json").read_text()
        assert not list(parts.home.bundles.glob(".*"))


async def test_a_program_installs_nothing(tmp_path: Path) -> None:
    source = bundle(tmp_path)
    async with hub(tmp_path) as parts:
        sha256 = (await parts.bundles_api.read_bundle(source)).sha256
        with asked_by(Program()), pytest.raises(Denied, match="by a person"):
            await parts.bundles_api.install_bundle(source, sha256, {"key": VALUE})
        assert (folders(parts), parts.config.entries, await parts.secrets.names()) == ([], {}, [])


async def test_what_cannot_run_here_is_not_installed(tmp_path: Path) -> None:
    source = bundle(tmp_path, compatibility={"platforms": ["amiga"]})
    async with hub(tmp_path) as parts:
        assert [problem.title for problem in (await parts.bundles_api.read_bundle(source)).problems]
        with pytest.raises(TooltrayError, match="not for this system"):
            await install(parts, source, key=VALUE)
        lies = bundle(tmp_path, server={**SERVER, "entry_point": "../../x"})
        with pytest.raises(TooltrayError, match="does not have what it starts"):
            await install(parts, lies, key=VALUE)
        assert folders(parts) == []


async def test_a_failed_install_leaves_nothing(tmp_path: Path) -> None:
    async with hub(tmp_path, servers={"taken": {"command": "x", "disable": True}}) as parts:
        with pytest.raises(Conflict, match="taken"):
            await install(parts, bundle(tmp_path), "taken", key=VALUE)
        with pytest.raises(TooltrayError, match="missing"):
            await install(parts, bundle(tmp_path))
        with pytest.raises(TooltrayError, match="name of a server"):
            await install(parts, bundle(tmp_path), "a/b", key=VALUE)
        assert (folders(parts), await parts.secrets.names(), list(parts.config.entries)) == ([], [], ["taken"])
        with full_disk(2000), pytest.raises(TooltrayError):
            await install(parts, str(write_bundle(tmp_path / "big.mcpb", {"server/main.py": bytes(5000)})))
        assert folders(parts) == []


async def test_two_servers_of_one_bundle_share_its_folder(tmp_path: Path) -> None:
    source = bundle(tmp_path)
    async with hub(tmp_path) as parts:
        await install(parts, source, key=VALUE)
        assert await install(parts, source, "second", key=NEWER) == "second"
        assert len(folders(parts)) == 1
        with pytest.raises(TooltrayError, match="name of a server"):
            await install(parts, source, "a/b", key=VALUE)
        [record] = parts.bundle_store.records
        assert set(record.servers) == {"notes", "second"}
        await parts.bundles_api.remove_bundle("notes")
        await parts.ended()
        assert len(folders(parts)) == 1
        await parts.bundles_api.remove_bundle("second")
        await parts.ended()
        assert (folders(parts), await parts.secrets.names()) == ([], [])


async def test_an_update_keeps_what_was_given_and_what_a_person_changed(tmp_path: Path) -> None:
    async with hub(tmp_path) as parts:
        await install(parts, bundle(tmp_path), key=VALUE, folder=["/a"], level="high")
        [before] = folders(parts)
        entry = parts.config.entries["notes"]
        entry["env"]["OWN"] = "mine"
        await parts.servers_api.update_mcp_server("notes", {**entry, "autoApprove": ["read"], "callTimeout": 9})
        asks = {**{key: ASKS[key] for key in ("key", "folder", "level")}, "new": {"type": "string", "required": True}}
        config = {**CONFIG, "env": {"KEY": "${user_config.key}"}, "args": ["${__dirname}/server/main.py", "${user_config.new}"]}
        source = bundle(tmp_path, "2.0.0", user_config=asks, server={**SERVER, "mcp_config": config})
        offer = await parts.bundles_api.read_bundle(source)
        fields = {field.key: field for field in offer.fields}
        assert (offer.here, offer.here_version) == ("notes", "1.0.0")
        assert (fields["level"].default, fields["folder"].default, fields["key"].is_required) == ("high", ("/a",), False)
        with pytest.raises(TooltrayError, match="'new' is missing"):
            await install(parts, source)
        assert (await parts.bundles_api.preview_bundle(source, offer.sha256, {"new": "n"})).name == "notes"
        assert await install(parts, source, new="n") == "notes"
        now = parts.config.entries["notes"]
        assert (now["env"], now["autoApprove"], now["callTimeout"]) == ({"KEY": "${secret:notes/key}", "OWN": "mine"}, ["read"], 9)
        assert (now["args"][1], now["origin"]["version"]) == ("n", "2.0.0")
        assert await parts.secrets.get("notes/key") == VALUE
        await parts.ended()
        assert [name.startswith("notes/2.0.0-") for name in folders(parts)] == [True]
        assert before not in folders(parts)


async def test_the_folder_of_a_server_that_runs_stays_until_it_has_ended(tmp_path: Path) -> None:
    program = ScriptedServer()
    async with hub(tmp_path, programs={"python3": program}) as parts:
        await install(parts, bundle(tmp_path), key=VALUE)
        await started(parts, "notes")
        program.may_end.clear()
        await install(parts, bundle(tmp_path, "2.0.0"), key=NEWER)
        assert len(folders(parts)) == 2
        program.may_end.set()
        await settled()
        assert not parts.servers.is_being_replaced("notes")
        await parts.bundle_folders.retire([])
        assert [name.startswith("notes/2.0.0-") for name in folders(parts)] == [True]
        assert await parts.secrets.get("notes/key") == NEWER


async def test_an_update_that_cannot_be_written_changes_nothing(tmp_path: Path) -> None:
    async with hub(tmp_path) as parts:
        await install(parts, bundle(tmp_path), key=VALUE)
        before, there = parts.config.entries["notes"], folders(parts)
        source = bundle(tmp_path, "2.0.0", user_config={**ASKS, "more": {"type": "string", "sensitive": True}})
        offer = await parts.bundles_api.read_bundle(source)
        parts.home.settings.unlink()
        parts.home.settings.mkdir()
        with pytest.raises(TooltrayError):
            await parts.bundles_api.install_bundle(source, offer.sha256, {"key": NEWER, "more": NEWER})
        with pytest.raises(TooltrayError):
            await install(parts, bundle(tmp_path), key=NEWER)
        assert (parts.config.entries["notes"], folders(parts)) == (before, there)
        assert await parts.secrets.get("notes/key") == VALUE
        [record] = parts.bundle_store.records
        assert record.version == "1.0.0"


async def test_secrets_that_a_newer_version_does_not_ask_for_go(tmp_path: Path) -> None:
    async with hub(tmp_path) as parts:
        await install(parts, bundle(tmp_path), key=VALUE)
        await install(parts, bundle(tmp_path, "2.0.0", user_config={}, server=SERVER))
        assert await parts.secrets.names() == []


async def test_a_removal_can_be_undone_until_the_next_start(tmp_path: Path) -> None:
    async with hub(tmp_path) as parts:
        await install(parts, bundle(tmp_path), key=VALUE)
        entry = parts.config.entries["notes"]
        await parts.servers_api.remove_mcp_server("notes", keep_secrets=True)
        assert len(folders(parts)) == 1
        await parts.servers_api.add_mcp_server("notes", entry)
        await parts.bundle_folders.tidy()
        assert len(folders(parts)) == 1
        await parts.servers_api.remove_mcp_server("notes", keep_secrets=True)
        await parts.ended()
        await parts.bundle_folders.tidy()
        assert folders(parts) == []


async def test_bundles_are_known_though_their_list_was_lost(tmp_path: Path) -> None:
    async with hub(tmp_path) as parts:
        await install(parts, bundle(tmp_path), key=VALUE)
    (tmp_path / "home/bundles/installed.json").unlink()
    async with hub(tmp_path, servers=None) as parts:
        [found] = await parts.bundles_api.get_bundles()
        assert (found.name, found.version, Path(found.folder).is_dir()) == ("notes", "1.0.0", True)
        await install(parts, bundle(tmp_path, "2.0.0"), key=VALUE)
        assert parts.config.entries["notes"]["env"] == {"KEY": "${secret:notes/key}", "LEVEL": "low"}


async def test_what_is_no_bundle_is_not_removed_as_one(tmp_path: Path) -> None:
    async with hub(tmp_path, servers={"s": {"command": "x", "disable": True, "origin": {"kind": "link"}}}) as parts:
        with pytest.raises(NotFound, match="Bundle 's' not found"):
            await parts.bundles_api.remove_bundle("s")
        assert await parts.bundles_api.get_bundles() == []


@pytest.mark.parametrize("there", [{"command": "x", "disable": True}, {"command": "x", "callRules": "cannot be read"}])
async def test_a_bundle_gets_a_name_that_is_free_and_can_be_one(tmp_path: Path, there: dict[str, Any]) -> None:
    async with hub(tmp_path, servers={"my notes": there}) as parts:
        server = await install(parts, bundle(tmp_path, name="my/notes"), key=VALUE)
        assert server == "my notes-2"
        assert parts.servers.get(server).state is not ServerState.ERROR


async def test_what_stays_of_a_removed_bundle_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with hub(tmp_path) as parts:
        await install(parts, bundle(tmp_path), key=VALUE)

        async def fails(names: object) -> list[str]:
            raise TooltrayError("the keyring is locked")

        monkeypatch.setattr(parts.server_secrets, "remove_unused", fails)
        with pytest.raises(TooltrayError, match="keyring is locked"):
            await parts.bundles_api.remove_bundle("notes")
        assert "notes" not in parts.config.entries


async def test_a_folder_that_is_there_already_stays_though_the_install_fails(tmp_path: Path) -> None:
    source = bundle(tmp_path)
    async with hub(tmp_path) as parts:
        await install(parts, source, key=VALUE)
        parts.bundle_store.remove(tmp_path / "nowhere")
        (parts.home.bundles / "installed.json").write_text('{"bundles": []}')
    async with hub(tmp_path, servers=None) as parts:
        offer = await parts.bundles_api.read_bundle(source)
        with pytest.raises(TooltrayError, match="name of a server"):
            await parts.bundles_api.install_bundle(source, offer.sha256, {"key": VALUE}, "a/b")
        assert len(folders(parts)) == 1
